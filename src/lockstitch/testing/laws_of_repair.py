"""The laws of repair and export, as functions that list what was broken.

    left               what remains is what a check finds, and nothing remains that was not there
    whole              a history without an error comes back as it is, its own objects
    accounting         what is gone, what is new and what moved is explained by the changes
    idempotence        doing it again changes nothing
    determinism        the same question gives the same answer; a dry run says what would be done
    input unchanged    the caller's messages are as they were

Each returns failures as strings, `law: detail`; an empty list is a pass. The corpus runner and the
property tests share them. Must not know: how anything is mended.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from lockstitch.accepting import check, export, repair
from lockstitch.errors import CannotFit
from lockstitch.history import trim
from lockstitch.rules.catalog import RULES
from lockstitch.testing.accounts import unaccounted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lockstitch.rules.account import Repair
    from lockstitch.rules.report import Violation
    from lockstitch.testing.subject import Subject

__all__ = ["cuts", "exported", "remaining", "repaired"]

# How much of a history is left by the cuts that repairs are tried on.
_TAILS = (1, 2, 3, 5, 8, 13)
_WINDOWS = (4, 9)


def cuts(subject: Subject, profile: str) -> Iterator[tuple[int, ...]]:
    """Yield what repairs are tried on: the whole, windows as trimmed, and tails as sliced.

    A slice cuts through groups, as a naive window does; no other damage is as common.
    """
    count = len(subject)
    seen = {tuple(range(count))}
    yield tuple(range(count))
    where = {id(native): at for at, native in enumerate(subject.natives)}
    for limit in (*_WINDOWS, count // 2):
        try:
            window = trim(
                subject.source(), max_messages=limit, profile=profile, format=subject.format
            )
        except CannotFit:
            continue
        kept = tuple(where[id(native)] for native in subject.listed(window))
        if kept not in seen:
            seen.add(kept)
            yield kept
    for length in (*_TAILS, count // 2):
        tail = tuple(range(max(count - length, 0), count))
        if tail not in seen:
            seen.add(tail)
            yield tail


def repaired(subject: Subject, profile: str, positions: Sequence[int] | None = None) -> list[str]:
    """Mend a history, or some of its messages, and list every law that is broken.

    >>> from lockstitch.testing import call, user
    >>> from lockstitch.testing.subject import Subject
    >>> repaired(Subject.of([user(), call("a"), user()]), "portable")
    []
    """
    return _tried(subject, profile, positions, "repair")


def exported(subject: Subject, profile: str, positions: Sequence[int] | None = None) -> list[str]:
    """Write a history, or some of its messages, for a target, and list every law broken."""
    return _tried(subject, profile, positions, "export")


def remaining(subject: Subject, profile: str) -> list[str]:
    """Return the rules whose breaches a repair of a history leaves."""
    return [found.rule for found in _run("repair", subject, subject.source(), profile).remaining]


def _run(operation: str, subject: Subject, source: Any, profile: str, **told: Any) -> Repair:
    run = repair if operation == "repair" else export
    return run(source, profile=profile, format=subject.format, **told)


def _errors(subject: Subject, source: Any, profile: str) -> tuple[Violation, ...]:
    return check(source, profile=profile, tail="closed", format=subject.format).errors


def _disputed(subject: Subject, source: Any, profile: str) -> bool:
    """Whether there is something that a repair mends although it only warns of it."""
    report = check(source, profile=profile, tail="closed", format=subject.format)
    return any(RULES[one.rule].disputed for one in report.violations)


def _tried(
    subject: Subject, profile: str, positions: Sequence[int] | None, operation: str
) -> list[str]:
    source = subject.source(positions)
    given = list(subject.listed(source))
    before = _errors(subject, source, profile)
    mended = _run(operation, subject, source, profile)
    result = list(subject.listed(mended.messages))
    after = _errors(subject, mended.messages, profile)
    found = [
        *_left(before, after, mended),
        *(
            f"accounting: {said}"
            for said in unaccounted(given, result, mended.changes, subject.format)
        ),
        *_again(operation, subject, source, profile, mended),
    ]
    if type(mended.messages) is not type(source):
        found.append(f"same kind: {type(source).__name__} became {type(mended.messages).__name__}")
    untouched = len(result) == len(given) and all(map(_is, result, given))
    sound = not before and not _disputed(subject, source, profile)
    if operation == "repair" and sound and (mended.changes or not untouched):
        said = [change.message for change in mended.changes]
        found.append(f"whole: there was no error, and still it was changed: {said}")
    if not mended.changes and not untouched:
        found.append("accounting: it was changed and no change is reported")
    if not subject.is_unchanged():
        found.append("input unchanged: the caller's messages were changed")
    at = "all" if positions is None else _spelled(positions)
    return [f"{failure}: {operation} of {at} for {profile}" for failure in found]


def _spelled(positions: Sequence[int]) -> str:
    solid = list(positions) == list(range(positions[0], positions[-1] + 1)) if positions else False
    return f"[{positions[0]}..{positions[-1]}]" if solid else str(list(positions))


def _is(one: object, other: object) -> bool:
    return one is other


def _left(before: Sequence[Violation], after: Sequence[Violation], mended: Repair) -> Iterator[str]:
    said = Counter(one.rule for one in mended.remaining)
    there = Counter(one.rule for one in after)
    if said != there:
        yield f"left: the report says {dict(said)} remains, a check finds {dict(there)}"
    was = Counter(one.rule for one in before)
    for rule, times in (there - was).items():
        yield f"no new violation: {rule} is broken {times} times more"


def _again(
    operation: str, subject: Subject, source: Any, profile: str, mended: Repair
) -> Iterator[str]:
    second = _run(operation, subject, mended.messages, profile)
    if second.changes:
        yield f"idempotence: a second time {[one.message for one in second.changes]}"
    elif not all(map(_is, subject.listed(second.messages), subject.listed(mended.messages))):
        yield "idempotence: a second time gives other objects"
    if operation == "repair" and mended.changes:
        dry = _run(operation, subject, source, profile, dry_run=True)
        if dry.changes != mended.changes or dry.remaining != mended.remaining:
            yield "determinism: a dry run says something else"
        if not all(map(_is, subject.listed(dry.messages), subject.listed(source))):
            yield "determinism: a dry run changes the messages"
