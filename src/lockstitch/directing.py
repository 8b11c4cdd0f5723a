"""Directing: from a strategy and what a call says besides to a plan.

Knows: that a call's own limits overrule the strategy's, how a directive becomes the request that
the steps are given, and how the outcome becomes a plan; how a summary is had, and what is done
where none is.

Must not know: how steps are carried out, what a summarizer does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.blobs import write_blobs
from lockstitch.errors import SummaryFailed
from lockstitch.events import Event
from lockstitch.grouping import group, ties_for
from lockstitch.plan import Plan, Size, fingerprint, kept_natives
from lockstitch.rules.models import known_of
from lockstitch.rules.profiles import get_profile
from lockstitch.strategies.asked import Asked
from lockstitch.strategies.asking import Summarizer, SummaryPrompt, answered, asking
from lockstitch.strategies.compose import Composed, compose
from lockstitch.strategies.digesting import digest
from lockstitch.strategies.named import HistoryStrategy, resolve_history
from lockstitch.strategies.pins import survivors, where
from lockstitch.strategies.working import Working

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping

    from lockstitch.blobs import BlobStore
    from lockstitch.events import telling
    from lockstitch.opening import Opened
    from lockstitch.plan import PendingSummary
    from lockstitch.rules.models import ModelFacts
    from lockstitch.strategies.directive import HistoryDirective
    from lockstitch.transcript import Transcript

__all__ = ["ATTEMPTS", "Direction", "groups_gone"]

ATTEMPTS = 2
"""How often a summarizer is asked for one summary."""
HALVED = 120
"""From so many characters on, a summary that did not fit is asked for at half of its length."""


class Direction:
    """A strategy, brought to one history.

    Args:
        opened: the history.
        strategy: what decides.
        overrides: fields of the directive that the call gives itself.
        profile: the target.
        model: the name of the model, and `models` facts about models, as for `trim`.
        pins: what stays, beside the directive's.
        counter: as for `trim`.
        floor: as for `trim`.
        now: act, whether or not a limit is passed.

    Raises:
        ConversationServiceError: the strategy is none.
        TypeError, ValueError: what the call gives does not go with it.
    """

    def __init__(
        self,
        opened: Opened,
        strategy: HistoryStrategy | None,
        overrides: Mapping[str, Any],
        *,
        profile: str,
        model: str | None = None,
        models: Iterable[ModelFacts] = (),
        pins: Iterable[Any] = (),
        counter: Any = None,
        floor: bool = True,
        now: bool = False,
    ) -> None:
        self.transcript = opened.transcript
        self.directive = _overruled(resolve_history(strategy), overrides)
        self.profile = get_profile(profile)
        self.model = opened.model(model) or ""
        self.known = known_of(profile, self.model or None, models)
        self.pins = where(self.transcript, [*self.directive.pins, *pins])
        self.pins |= survivors(self.transcript, self.directive.must_survive)
        self.counter = counter
        self.floor = floor
        self.now = now

    def plan(self, unsummarized: str = "") -> Plan:
        """Decide.

        Args:
            unsummarized: why no summary can be had, where that is so.
        """
        limits = self.directive.limits()
        asked = Asked(
            self.profile,
            self.known,
            limits,
            self.pins,
            bound=self.known.get("preserved_thinking", False),
        )
        composed = compose(
            self.transcript,
            self.directive,
            asked,
            self.counter,
            floor=self.floor,
            unsummarized=unsummarized,
            now=self.now,
        )
        return self._as_plan(composed)

    def finished(self, summarizer: Summarizer | None) -> tuple[Plan, SummaryFailed | None]:
        """Decide, have the summary written where there is one, and return what can be applied."""
        return answered(self.finishing(), summarizer or digest)

    def finishing(self) -> Generator[SummaryPrompt, Any, tuple[Plan, SummaryFailed | None]]:
        """Decide, yield what a summarizer is to be asked, and return what can be applied.

        Where no summary can be had the history is cut without one, as far as limits demand.
        """
        decision = self.plan()
        if decision.pending is None:
            return decision, None
        rounds = 0
        try:
            for pending in self._rooms(decision.pending):
                rounds += 1
                done = self._with_summary(decision, (yield from asking(pending, ATTEMPTS)))
                if done is not None:
                    return done, None
        except SummaryFailed as error:
            return self.plan(unsummarized=error.brief), error
        failure = SummaryFailed("with it the window is over its limit", attempts=rounds)
        return self.plan(unsummarized=failure.brief), failure

    def _rooms(self, pending: PendingSummary) -> Iterator[PendingSummary]:
        """Yield what is asked for, and then for half of its length.

        How many tokens so many characters are is known only once they are written.
        """
        yield pending
        if pending.room > HALVED:
            yield msgspec.structs.replace(pending, max_chars=pending.max_chars - pending.room // 2)

    def _with_summary(self, decision: Plan, text: str) -> Plan | None:
        """Put the text of the summary into a plan; `None` where its limit does not hold then."""
        done = decision.summarized(text)
        after = self._measured(done)
        for unit in done.limit:
            room = self.directive.limits().bounds(unit)[1]
            if getattr(after, unit) > room:
                return None
        return msgspec.structs.replace(done, after=after)

    def _measured(self, decision: Plan) -> Size:
        """Measure what a plan comes to, its summary as it was written."""
        work = Working(self.transcript, self.directive.limits().units, self.counter)
        around = {sizer.unit: sizer for sizer in work.sizers()}
        gone = dict.fromkeys(decision.dropped, "oldest")
        for edit in decision.edits:
            if edit.action == "replace":
                work.put(edit.start, edit.puts, edit.reason)
            elif edit.action == "strip":
                for at in range(edit.start, edit.stop):
                    work.strip(at, edit.reason)
        work.drop(gone)
        for edit in decision.edits:
            if edit.action == "insert":
                work.insert(0, edit.role, edit.text, edit.reason, {})
        sizes = {unit: work.total(unit) for unit in around}
        return Size(len(work.rows), sizes.get("tokens"), sizes.get("chars"))

    def _as_plan(self, composed: Composed) -> Plan:
        limits = self.directive.limits()
        edits = composed.edits
        count = sum(edit.count for edit in edits if edit.action != "drop")
        kept = count + sum(edit.action == "insert" for edit in edits)
        name, kind = composed.counter or (None, None)
        before, after = composed.before, composed.after
        return Plan(
            format=self.transcript.format.name,
            profile=self.profile.name,
            length=len(self.transcript),
            edits=tuple(edits),
            before=Size(len(self.transcript), before.get("tokens"), before.get("chars")),
            after=Size(kept, after.get("tokens"), after.get("chars")),
            limit={unit: limits.bounds(unit)[0] for unit in limits.units},
            changed_from=_changed_from(edits),
            counter=name,
            counter_kind=kind,
            fingerprint=fingerprint(self.transcript, edits),
            strategy=self.directive.kind,
            fired=composed.fired,
            steps=composed.steps,
            pending=composed.pending,
            request=composed.request,
        )

    # --- carried out -----------------------------------------------------------------------------

    def carried_out(
        self, told: telling, operation: str, summarizer: Summarizer | None, blobs: BlobStore | None
    ) -> tuple[Any, Plan, SummaryFailed | None]:
        """Decide, have the summary written, and return what was handed over as the plan has it."""
        decision, failure = self.finished(summarizer)
        return self.applied(told, operation, decision, failure, blobs), decision, failure

    def applied(
        self,
        told: telling,
        operation: str,
        decision: Plan,
        failure: SummaryFailed | None,
        blobs: BlobStore | None,
    ) -> Any:
        """Carry a finished plan out; what it offloads is written before anything refers to it."""
        write_blobs(decision, self.transcript, blobs)
        told.event = self.event(told, operation, decision, failure)
        natives = kept_natives(decision.edits, self.transcript)
        return self.transcript.document.rebuild(natives, decision.request)

    def event(
        self, told: telling, operation: str, decision: Plan, failure: SummaryFailed | None = None
    ) -> Event:
        """Return the event of a plan."""
        return Event.of(
            operation,
            decision,
            groups=groups_gone(self.transcript, decision) if told.counts else None,
            model=self.model,
            failure=failure.brief if failure else "",
        )


def _overruled(directive: HistoryDirective, overrides: Mapping[str, Any]) -> HistoryDirective:
    """Let what a call says itself overrule what a strategy decided."""
    given = {name: value for name, value in overrides.items() if value is not None}
    if given.get("trim_to") is not None:
        given["low_water"] = None
    return msgspec.structs.replace(directive, **given) if given else directive


def _changed_from(edits: Iterable[Any]) -> int:
    """Return the first position of the result whose bytes differ from the input's there."""
    at = 0
    for edit in edits:
        if edit.action != "keep":
            return at
        at += edit.count
    return at


def groups_gone(transcript: Transcript, plan: Plan) -> int:
    """Count the groups of which nothing stays."""
    profile = get_profile(plan.profile)
    ties = ties_for(
        transcript, whole_response=profile.whole_response, bound_system=profile.bound_system
    )
    gone = set(plan.dropped)
    units = group(transcript.facts_from(0), 0, ties, detail=False)
    return sum(gone.issuperset(unit.members) for unit in units)
