"""Composing: the steps of a directive, one after another, until the limits hold.

Knows: when a directive fires, when it is done, that a step which breaks a rule of the target is
taken back, and that pins and phrases are in the window in the end.

    fired?      a limit, the trigger of a summary, or a number of turns is passed
    thinking    bound to what stands before it: the oldest goes first, all of it once messages go
    steps       in order; each is skipped once everything holds
    groups      whole groups go, oldest first: the last resort

Must not know: formats, how a step is carried out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from lockstitch.errors import CannotFit, PinLost
from lockstitch.measure.limits import CHARS
from lockstitch.plan import Edit, StepReport
from lockstitch.strategies import clearing
from lockstitch.strategies.keeping import drop_oldest, head_of, is_over, keep_last
from lockstitch.strategies.managed import (
    MANAGED,
    drop_compacted,
    managed_for,
    newest_compaction,
    request_fields,
)
from lockstitch.strategies.pins import said_around, sayings
from lockstitch.strategies.planner import Request
from lockstitch.strategies.reasoning import drop_reasoning, strip_all, strip_oldest
from lockstitch.strategies.steps import (
    AnthropicCompaction,
    ClearMedia,
    ClearRepeats,
    ClearResults,
    DropOldest,
    DropReasoning,
    KeepLast,
    OffloadResults,
    OpenAICompaction,
    OpenAITruncation,
    Step,
    Summarize,
)
from lockstitch.strategies.summaries import part_from_user, summarize
from lockstitch.strategies.working import Working
from lockstitch.writing import WRITERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lockstitch.plan import PendingSummary
    from lockstitch.strategies.asked import Asked
    from lockstitch.strategies.directive import HistoryDirective
    from lockstitch.transcript import Transcript

__all__ = ["Composed", "compose"]

# A trigger alone does not call for a summary of less than this share of it: it would fire at every
# message where what must stay is over it.
_WORTH = 8


class Composed(NamedTuple):
    """What the steps came to."""

    edits: list[Edit]
    before: dict[str, int]
    after: dict[str, int]
    fired: tuple[str, ...]
    steps: tuple[StepReport, ...]
    pending: PendingSummary | None
    request: dict[str, Any]
    counter: tuple[str, str] | None


def compose(
    transcript: Transcript,
    directive: HistoryDirective,
    asked: Asked,
    counter: Any,
    *,
    floor: bool = True,
    unsummarized: str = "",
    now: bool = False,
) -> Composed:
    """Carry out the steps of a directive on a working copy.

    Args:
        transcript: the messages.
        directive: what was decided.
        asked: the target, the limits and the pins.
        counter: what counts tokens, as for `trim`.
        floor: as for `trim`.
        unsummarized: why no summary can be had, where that is so; summaries are passed over then.
        now: fire, whether or not a limit is passed: the caller asked.

    Raises:
        CannotFit: what must stay is over a limit and `on_overflow` is `raise`.
        PinLost: a phrase that must survive would not.
    """
    run = _Run(transcript, directive, asked, counter, floor=floor, unsummarized=unsummarized)
    before = run.work.totals()
    fired = run.fired(now=now)
    if fired:
        asked.begin(run.work)
        run.carry_out()
    run.verify()
    return Composed(
        edits=run.work.edits(),
        before=before,
        after=run.work.totals(),
        fired=fired,
        steps=tuple(run.reports),
        pending=run.pending,
        request=request_fields(run.steps, transcript, asked.profile.name),
        counter=run.counter(),
    )


class _Run:
    """One directive, carried out on one history."""

    def __init__(
        self,
        transcript: Transcript,
        directive: HistoryDirective,
        asked: Asked,
        counter: Any,
        *,
        floor: bool,
        unsummarized: str,
    ) -> None:
        self.directive = directive
        self.asked = asked
        self.limits = asked.limits
        self.steps = directive.planned_steps()
        self.trigger = directive.trigger_chars
        self.floor = floor
        self.unsummarized = unsummarized
        units = list(self.limits.units)
        if self.trigger is not None and CHARS not in units:
            units.append(CHARS)
        self.work = Working(transcript, units, counter)
        self.reports: list[StepReport] = []
        self.pending: PendingSummary | None = None
        # How things stood before the summary.
        self._unsummarized: Any = None

    def counter(self) -> tuple[str, str] | None:
        """Return the name of what counted tokens, and how sure it is."""
        tokens = next((sizer for sizer in self.work.sizers() if sizer.unit == "tokens"), None)
        return None if tokens is None else (tokens.counter, tokens.kind)

    # --- whether anything is to be done ----------------------------------------------------------

    def fired(self, *, now: bool) -> tuple[str, ...]:
        """Say what is passed."""
        return tuple(self._passed(now=now))

    def _passed(self, *, now: bool) -> Iterator[str]:
        if now:
            yield "asked for"
        for unit in self.limits.units:
            limit, room, _ = self.limits.bounds(unit)
            total = self.work.total(unit)
            if total > room or limit == 0:
                beside = f" less {limit - room:,} kept free" if room < limit else ""
                yield f"{total:,} {unit}, {limit:,}{beside} are allowed"
        if self.trigger is not None and self.work.total(CHARS) > self.trigger:
            yield f"{self.work.total(CHARS):,} chars, a summary is made above {self.trigger:,}"
        for step in self.steps:
            if isinstance(step, KeepLast):
                over = is_over(self.work, step, self.asked)
                if over:
                    yield over

    def over(self) -> dict[str, int]:
        """Return by how much each limit is above where a cut is to stop."""
        return {
            unit: self.work.total(unit) - self.limits.bounds(unit)[2] for unit in self.limits.units
        }

    def holds(self) -> bool:
        """Whether every limit holds, down to where a cut stops."""
        return all(excess <= 0 for excess in self.over().values())

    def _calls_for_summary(self) -> bool:
        return self.trigger is not None and self.work.total(CHARS) > self.trigger

    # --- carrying it out -------------------------------------------------------------------------

    def carry_out(self) -> None:
        """Take the steps, in order, and drop whole groups where that is still called for."""
        self.asked.hold_to(self.work)
        self._hold_compaction()
        if self.limits.nothing:
            self._drop(DropOldest(cut=self.directive.cut))
            return
        if self.asked.bound and not self._loosened():
            return
        for step in self.steps:
            self._take(step)
        if not self.holds():
            self._drop(DropOldest(cut=self.directive.cut))
        part_from_user(self.work, self.asked)
        self._label()

    def _label(self) -> None:
        """Say of what nothing was done to why it stays, where a cut was called for."""
        head = head_of(self.work)
        for at, row in enumerate(self.work.rows):
            if row.reason == "all" and not row.changed:
                pinned = row.origin in self.asked.pinned
                row.reason = "pinned" if pinned else "system" if at < head else "recent"

    def _hold_compaction(self) -> None:
        """Keep the newest compaction: it is all that is left of what it stands for."""
        if any(isinstance(step, (AnthropicCompaction, OpenAICompaction)) for step in self.steps):
            at = newest_compaction(self.work.transcript)
            if at >= 0:
                self.asked.pins |= {at}

    def _loosened(self) -> bool:
        """Leave bound thinking out, oldest first; say whether more is to be done.

        What is done to messages makes all thinking behind it void, so then all of it goes.
        """
        over = self.over()
        changed = strip_oldest(self.work, over)
        if over and all(excess <= 0 for excess in over.values()):
            self._report("drop-reasoning", changed)
            return False
        changed += strip_all(self.work)
        self._report("drop-reasoning", changed)
        return True

    def _take(self, step: Step) -> None:
        name = step.__struct_config__.tag
        if isinstance(step, MANAGED):
            self._managed(step, str(name))
        elif isinstance(step, KeepLast):
            over = is_over(self.work, step, self.asked)
            changed = keep_last(self.work, step, self.asked) if over else 0
            self._report(str(name), changed, "" if over else "there are no more than are kept")
        elif isinstance(step, DropOldest):
            self._drop(step)
        elif self.work.source.format.name not in WRITERS:
            unwritten = f"histories in the format {self.work.source.format.name} are only read"
            self._report(str(name), 0, unwritten)
        elif isinstance(step, Summarize):
            self._summarize(step, str(name))
        elif self.holds() and not self._calls_for_summary():
            self._report(str(name), 0, "the limits hold")
        else:
            self._tried(str(name), lambda: self._changed_by(step))

    def _changed_by(
        self, step: ClearResults | OffloadResults | ClearRepeats | ClearMedia | DropReasoning
    ) -> int:
        work, asked = self.work, self.asked
        if isinstance(step, ClearResults):
            return clearing.clear_results(work, step, asked)
        if isinstance(step, OffloadResults):
            return clearing.offload_results(work, step, asked)
        if isinstance(step, ClearRepeats):
            return clearing.clear_repeats(work, step, asked)
        if isinstance(step, ClearMedia):
            return clearing.clear_media(work, step, asked)
        return drop_reasoning(work, step, asked)

    def _tried(self, name: str, act: Any) -> bool:
        """Take a step, and take it back where the target would refuse what comes of it."""
        held = self.work.snapshot()
        changed = act()
        broken = self.asked.breaks(self.work) if changed else ""
        if broken:
            self.work.restore(held)
            self._report(name, 0, f"the target would refuse it: {broken}")
            return False
        self._report(name, changed, "" if changed else "nothing is old or large enough")
        return bool(changed)

    def _managed(self, step: Step, name: str) -> None:
        unfit = managed_for(step, self.work.source.format.name, self.asked.profile.name)
        if unfit:
            self._report(name, 0, unfit)
        elif isinstance(step, OpenAITruncation):
            self._report(name, 0, "done by the provider")
        elif self.holds():
            self._report(name, 0, "the limits hold; asked of the provider")
        elif newest_compaction(self.work.transcript) < 0:
            self._report(name, 0, "no compaction stands yet; asked of the provider")
        else:
            self._tried(name, lambda: drop_compacted(self.work, self.asked))

    def _summarize(self, step: Summarize, name: str) -> None:
        if self.unsummarized:
            self._report(name, 0, self.unsummarized)
            return
        called = self._calls_for_summary()
        if self.holds() and not called and self.limits.units:
            self._report(name, 0, "the limits hold")
            return
        least = (self.trigger or 0) // _WORTH if called and self.holds() else 0
        held = self.work.snapshot()
        covered, pending, why_not = self._summarized(step, least)
        keep = step.keep_recent
        while pending is not None and keep and not self.holds():
            # What would go as too much is better told in the summary.
            keep //= 2
            self.work.restore(held)
            fewer = msgspec.structs.replace(step, keep_recent=keep)
            covered, pending, why_not = self._summarized(fewer, least)
        if pending is not None:
            self.pending, self._unsummarized = pending, held
        self._report(name, covered, why_not)

    def _summarized(self, step: Summarize, least: int) -> tuple[int, PendingSummary | None, str]:
        """Summarise, and take it back where the target would refuse what comes of it."""
        held = self.work.snapshot()
        covered, pending, why_not = summarize(self.work, step, self.asked, least=least)
        broken = "" if pending is None else self._broken_by_summary()
        if not broken:
            return covered, pending, why_not
        self.work.restore(held)
        return 0, None, f"the target would refuse it: {broken}"

    def _broken_by_summary(self) -> str:
        """Say what rule a summary would break, with the reply behind it that will be put in."""
        held = self.work.snapshot()
        part_from_user(self.work, self.asked)
        broken = self.asked.breaks(self.work)
        self.work.restore(held)
        return broken

    def _drop(self, step: DropOldest) -> None:
        if self.holds() and not self.limits.nothing:
            self._report("drop-oldest", 0, "the limits hold")
            return
        request = Request(
            limits=self.limits,
            profile=self.asked.profile,
            cut=step.cut,
            floor=self.floor,
            on_overflow="raise" if self.pending else self.directive.on_overflow,
            cutting=True,
        )
        try:
            self._report("drop-oldest", drop_oldest(self.work, request, self.asked))
        except CannotFit:
            if self.pending is None:
                raise
            # What must stay leaves no room for a summary: then there is none.
            self.work.restore(self._unsummarized)
            self.pending = None
            self._report("summarize", 0, "what must stay leaves no room for a summary")
            self._drop(step)

    def _report(self, name: str, changed: int, why_not: str = "") -> None:
        self.reports.append(StepReport(name, changed, self.work.totals(), why_not))

    # --- what must be in the window --------------------------------------------------------------

    def verify(self) -> None:
        """Refuse a window without what must be in it.

        Raises:
            PinLost: a pinned message or a phrase is not there.
        """
        if self.limits.nothing and not self.directive.must_survive:
            return
        emptied = "overflow" in self.work.gone.values()
        gone = set() if emptied else self.asked.pins & self.work.gone.keys()
        lost = [f"the pinned message {at}" for at in sorted(gone)]
        lost += [f"the phrase {phrase!r}" for phrase in self._unsaid()]
        if lost:
            raise PinLost(lost)

    def _unsaid(self) -> Sequence[str]:
        phrases = self.directive.must_survive
        if not phrases:
            return ()
        transcript = self.work.transcript
        said = [
            *said_around(transcript),
            *(text for at in range(len(transcript)) for text in sayings(transcript, at)),
        ]
        return [phrase for phrase in phrases if not any(phrase in text for text in said)]
