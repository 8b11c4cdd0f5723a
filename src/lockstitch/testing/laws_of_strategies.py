"""Laws of strategies: what holds for any steps, in any order, under every profile.

lossless      what nothing was done to is the caller's own object; the input is unchanged
whole         a group stays or goes as one, but for reasoning that goes alone
accepted      a history that its target takes is taken afterwards
nothing silent  every message of the input is accounted for, with a reason
same          the same again gives the same, and once more changes nothing
limits        hold, pins and open calls stay, and no stub is larger than what it stands for
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from lockstitch.accepting import check
from lockstitch.errors import CannotFit, PinLost
from lockstitch.grouping import OPEN
from lockstitch.history import apply, load, plan, trim
from lockstitch.measure.counters import sizer_for
from lockstitch.plan import DROPPED, REASONS, Plan
from lockstitch.rules.catalog import RULES
from lockstitch.strategies.pins import where
from lockstitch.strategies.steps import KeepLast
from lockstitch.summarizing import summarize
from lockstitch.testing.subject import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lockstitch.strategies.directive import HistoryDirective
    from lockstitch.testing.subject import Subject

__all__ = ["managed"]

# Reasoning goes without the call that it led to.
_ALONE = frozenset({"thoughts", "unbound"})


def managed(
    subject: Subject, directive: HistoryDirective, profile: str, model: str | None = None
) -> list[str]:
    """Try one directive on a history, and list every law it breaks.

    >>> from lockstitch.strategies import ClearResults, StepsHistoryStrategy
    >>> from lockstitch.testing import call, result, user
    >>> from lockstitch.testing.subject import Subject
    >>> subject = Subject.of([user(), call("a"), result("a", "x" * 900), user()])
    >>> strategy = StepsHistoryStrategy(steps=(ClearResults(keep_groups=0),), max_chars=500)
    >>> managed(subject, strategy.directive(), "portable")
    []
    """
    try:
        done = summarize(
            subject.source(),
            strategy=directive,
            profile=profile,
            format=subject.format,
            model=model,
        )
    except PinLost:
        # Fail closed: where nothing is kept, a pin cannot be.
        nothing = directive.limits().nothing or any(
            isinstance(step, KeepLast) and 0 in (step.turns, step.groups)
            for step in directive.steps
        )
        found = [] if nothing else ["limits: a pin is lost"]
    except CannotFit as error:
        found = [] if error.needed > error.limit else [f"limits: {error}"]
        if directive.on_overflow != "raise":
            found.append(f"limits: CannotFit although on_overflow is {directive.on_overflow}")
    else:
        decision, window = done.plan, subject.listed(done.messages)
        found = [
            *_accounted(subject, decision, window),
            *_whole(subject, decision, profile),
            *_within(subject, directive, decision, window),
            *_accepted(subject, decision, profile, model, window),
            *_same(subject, directive, decision, (profile, model), window),
        ]
    if not subject.is_unchanged():
        found.append("input unchanged: the caller's messages were changed")
    return [f"{failure}: {directive.to_json().decode()} for {profile}" for failure in found]


def _plan(subject: Subject, directive: HistoryDirective, profile: str, model: str | None) -> Plan:
    return plan(subject.source(), directive, profile=profile, format=subject.format, model=model)


def _trim(
    subject: Subject, source: Any, directive: HistoryDirective, profile: str, model: str | None
) -> Sequence[Any]:
    return subject.listed(
        trim(source, strategy=directive, profile=profile, format=subject.format, model=model)
    )


def _accounted(subject: Subject, decision: Plan, window: Sequence[Any]) -> Iterator[str]:
    at = place = 0
    for edit in decision.edits:
        if edit.start != at or edit.stop < edit.start:
            yield f"nothing silent: an edit covers [{edit.start}, {edit.stop}) after {at}"
        if edit.reason not in REASONS or (edit.action == "drop") != (edit.reason in DROPPED):
            yield f"nothing silent: {edit.action} for the reason {edit.reason!r}"
        at = edit.stop
        if edit.action == "keep":
            natives = subject.natives[edit.start : edit.stop]
            same = zip(window[place : place + edit.count], natives, strict=False)
            if any(one is not other for one, other in same):
                yield f"lossless: [{edit.start}, {edit.stop}) are not the caller's objects"
        place += edit.count if edit.action != "drop" else 0
        place += edit.action == "insert"
    if at != len(subject):
        yield f"nothing silent: the edits end at {at} of {len(subject)}"
    if place != len(window):
        yield f"nothing silent: the plan comes to {place} messages, {len(window)} came out"


def _whole(subject: Subject, decision: Plan, profile: str) -> Iterator[str]:
    dropped = {
        at: edit.reason
        for edit in decision.edits
        if edit.action == "drop"
        for at in range(edit.start, edit.stop)
    }
    for unit in subject.groups(profile):
        gone = [at for at in unit.members if at in dropped and dropped[at] not in _ALONE]
        left = [at for at in unit.members if at not in dropped]
        if gone and left:
            yield f"whole: of the group {unit.members} only {left} stay"
        emptied = {"zero", "overflow"}.intersection(dropped.values())
        if gone and unit.state == OPEN and not emptied:
            yield f"limits: the open group {unit.members} went"


def _within(
    subject: Subject, directive: HistoryDirective, decision: Plan, window: Sequence[Any]
) -> Iterator[str]:
    limits = directive.limits()
    for edit in decision.edits:
        if edit.reason in {"cleared", "repeated", "offloaded", "media"}:
            before = len(str(load([subject.natives[edit.start]], format=subject.format).message(0)))
            if sum(len(put.text) for put in edit.puts) > before:
                yield f"limits: the stub in message {edit.start} is larger than what it replaces"
    if limits.nothing:
        if window:
            yield "limits: a limit of 0 keeps something"
        return
    lost = where(subject.transcript(), directive.pins) - set(decision.kept)
    if lost and directive.on_overflow != "empty":
        yield f"limits: the pinned {sorted(lost)} went"
    result = load(subject.as_source(window), format=subject.format)
    for unit in limits.units:
        sizer = sizer_for(result, unit)
        total = sizer.around + sum(map(sizer.size, range(len(window))))
        if total > limits.bounds(unit)[1] and directive.on_overflow == "raise":
            yield f"limits: {total} {unit} are over {limits.bounds(unit)[1]}"


def _accepted(
    subject: Subject, decision: Plan, profile: str, model: str | None, window: Sequence[Any]
) -> Iterator[str]:
    if not window:
        return
    for tail in ("open", "closed"):
        before = _errors(subject, subject.source(), profile, model, tail)
        if before:
            continue
        after = _errors(subject, subject.as_source(window), profile, model, tail)
        # Ids answer for each other where a rule counts them; what that hid may come to light.
        for rule in (rule for rule in after if RULES[rule].check not in HIDDEN):
            yield f"accepted ({tail}): {rule} was not broken before, and now is"


def _errors(
    subject: Subject, source: Any, profile: str, model: str | None, tail: Any
) -> Counter[str]:
    report = check(source, profile=profile, format=subject.format, model=model, tail=tail)
    return Counter(found.rule for found in report.errors)


def _same(
    subject: Subject,
    directive: HistoryDirective,
    decision: Plan,
    target: tuple[str, str | None],
    window: Sequence[Any],
) -> Iterator[str]:
    profile, model = target
    first, second = (_plan(subject, directive, profile, model) for _ in range(2))
    if first != second:
        yield "same: the plan is another the second time"
    trimmed = _trim(subject, subject.source(), directive, profile, model)
    if list(trimmed) != list(window):
        yield "same: trim returns another window than summarize"
    if Plan.from_json(decision.to_json()) != decision:
        yield "same: the plan does not come back from JSON"
    applied = subject.listed(apply(decision, subject.source(), format=subject.format))
    if list(applied) != list(window):
        yield "same: the plan applied is not what trim returns"
    # A position names another message once messages before it are gone.
    if directive.on_overflow == "raise" and not directive.pins:
        once_more = _trim(subject, subject.as_source(window), directive, profile, model)
        if list(once_more) != list(window):
            yield "same: a second cut changes the window"
