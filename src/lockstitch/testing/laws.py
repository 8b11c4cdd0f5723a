"""The laws every window must keep, as functions that list what was broken.

    round trip         dump(load(x)) == x; an untouched message is the very object that went in
    order              kept messages are the caller's own, in the given order
    whole              every group is kept or dropped entirely
    size               the window is within the limit, or CannotFit says what it would need
    no new violation   no rule is broken that was not broken before, at the same place
    accounting         the edits cover every message once, each with a known reason
    determinism        the same question gives the same answer
    idempotence        trimming the result again changes nothing
    input unchanged    the caller's messages are as they were
    plan               apply(plan(x), x) is trim(x); plans serialise, and refuse other messages

Each returns failures as strings, `law: detail`; an empty list is a pass. The corpus runner and the
property tests share them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.errors import CannotFit, PlanMismatch
from lockstitch.grouping import ORPHAN
from lockstitch.history import apply, dump, load, plan, trim
from lockstitch.measure.limits import CHARS, TOKENS
from lockstitch.plan import REASONS, Plan
from lockstitch.rules.catalog import RULES
from lockstitch.rules.profiles import get_profile
from lockstitch.testing.subject import HIDDEN, LIST_LEVEL, Subject

if TYPE_CHECKING:
    from lockstitch.grouping import Group
    from lockstitch.testing.asks import Ask

__all__ = ["round_trip", "same_kind", "window"]


def round_trip(source: Any, *, format: str | None = None) -> list[str]:
    """Law one: what was loaded is written back as it was, and every message can be looked into.

    >>> round_trip('[{"role": "user", "content": "1.10"}]')
    []
    """
    failures: list[str] = []
    transcript = load(source, format=format)
    back = dump(transcript)
    if isinstance(source, (str, bytes)):
        if back != source:
            failures.append("round trip: the text differs")
    elif isinstance(source, Mapping):
        if back != source:
            failures.append("round trip: the request body differs")
    elif isinstance(source, Sequence):
        same = len(back) == len(source) and all(map(_is, back, source))  # pyright: ignore[reportUnknownArgumentType]
        if not same:
            failures.append("round trip: the messages are not the same objects")
    if not all(message.role for message in transcript):
        failures.append("round trip: a message has no role")
    return failures


def _is(one: object, other: object) -> bool:
    return one is other


def same_kind(source: Any, subject: Subject, ask: Ask) -> list[str]:
    """Trim what the caller handed over, and compare with the same window over its messages.

    Text comes back as text, a body as a body, and either opens again as the kept messages.
    """
    try:
        kept = _plan(subject, ask).kept
    except CannotFit:
        return []
    window = trim(source, format=subject.format, **ask.arguments())
    if type(window) is not type(source) and not isinstance(source, (tuple, Mapping)):
        return [f"same kind: {type(source).__name__} became {type(window).__name__}: {ask}"]
    expected = [load(source, format=subject.format).natives[at] for at in kept]
    if not kept and isinstance(window, (str, bytes)):
        return []
    found = list(load(window, format=subject.format).natives)
    if list(map(_plain, found)) != list(map(_plain, expected)):
        return [f"same kind: the window of {type(source).__name__} holds other messages: {ask}"]
    return []


def _plain(native: Any) -> Any:
    return bytes(native) if type(native).__name__ == "Raw" else native


def _plan(subject: Subject, ask: Ask, positions: Sequence[int] | None = None) -> Plan:
    return plan(subject.source(positions), format=subject.format, **ask.arguments())


def _trim(subject: Subject, ask: Ask) -> Sequence[Any]:
    return subject.listed(trim(subject.source(), format=subject.format, **ask.arguments()))


def window(subject: Subject, ask: Ask) -> list[str]:
    """Try one window on a history, and list every law it breaks.

    >>> from lockstitch.testing import call, result, user
    >>> from lockstitch.testing.asks import Ask
    >>> window(Subject.of([user(), call("a"), result("a"), user()]), Ask(limit=2))
    []
    """
    try:
        decision = _plan(subject, ask)
    except CannotFit as error:
        found = _cannot_fit(subject, ask, error)
    else:
        found = [
            *_decided(subject, ask, decision, _trim(subject, ask)),
            *_again(subject, ask, decision),
            *_as_data(subject, decision),
        ]
    if not subject.is_unchanged():
        found.append("input unchanged: the caller's messages were changed")
    return [f"{failure}: {ask}" for failure in found]


def _cannot_fit(subject: Subject, ask: Ask, error: CannotFit) -> list[str]:
    failures: list[str] = []
    if ask.on_overflow != "raise":
        failures.append(f'size: CannotFit although on_overflow="{ask.on_overflow}"')
    if error.needed <= error.limit:
        failures.append(f"size: CannotFit needs {error.needed} of {error.limit}")
    if error.limit != ask.limit or error.unit != ask.unit:
        failures.append(f"size: CannotFit speaks of {error.limit} {error.unit}")
    try:
        _trim(subject, ask)
        failures.append("plan: plan raised CannotFit and trim did not")
    except CannotFit as again:
        if str(again) != str(error):
            failures.append("determinism: CannotFit says something else the second time")
    whole = tuple(range(len(subject)))
    if subject.breaches(ask.profile, "open", whole):
        # What a cut may leave of a damaged history is known only once something fits.
        return failures
    enough = msgspec.structs.replace(ask, limit=error.needed, trim_to=None)
    try:
        _trim(subject, enough)
    except CannotFit as still:
        failures.append(f"size: CannotFit needs {error.needed}, and with that {still.needed}")
    return failures


def _decided(subject: Subject, ask: Ask, decision: Plan, window: Sequence[Any]) -> list[str]:
    kept = decision.kept
    failures = _accounting(subject, ask, decision)
    if len(window) != len(kept) or any(
        one is not subject.natives[at] for one, at in zip(window, kept, strict=False)
    ):
        failures.append("order: the window is not the planned messages, or not the same objects")
    chosen = set(kept)
    for unit in subject.groups(ask.profile):
        inside = chosen.intersection(unit.members)
        if inside and len(inside) != len(unit.members):
            failures.append(f"whole: of the group {unit.members} only {sorted(inside)} stay")
    failures += _size(subject, ask, kept)
    failures += _no_new_violation(subject, ask, tuple(kept))
    return failures


def _accounting(subject: Subject, ask: Ask, decision: Plan) -> list[str]:
    failures: list[str] = []
    at = 0
    for edit in decision.edits:
        if edit.start != at or edit.stop <= edit.start:
            failures.append(f"accounting: an edit covers [{edit.start}, {edit.stop}) after {at}")
        if edit.reason not in REASONS:
            failures.append(f"accounting: unknown reason {edit.reason!r}")
        at = edit.stop
    if at != len(subject) or decision.length != len(subject):
        failures.append(f"accounting: the edits end at {at} of {len(subject)}")
    kept = decision.kept
    if decision.before.messages != len(subject) or decision.after.messages != len(kept):
        failures.append("accounting: the sizes in the plan are wrong")
    shifted = next((at for at, position in enumerate(kept) if at != position), len(kept))
    if decision.changed_from != shifted:
        failures.append(f"accounting: changed_from is {decision.changed_from}, not {shifted}")
    stated = {TOKENS: decision.after.tokens, CHARS: decision.after.chars}.get(ask.unit)
    if stated is not None and stated != subject.size(ask.unit, ask.counter, kept):
        failures.append(f"accounting: the plan states {stated} {ask.unit}")
    return failures


def _size(subject: Subject, ask: Ask, kept: Sequence[int]) -> list[str]:
    reserve = ask.reserve if ask.unit in {TOKENS, CHARS} else 0
    if ask.limit == 0:
        return ["size: a limit of 0 keeps something"] if kept else []
    size = subject.size(ask.unit, ask.counter, kept) + reserve
    if size > ask.limit and kept and ask.on_overflow != "smallest":
        return [f"size: {size} {ask.unit} are over the limit"]
    whole = subject.size(ask.unit, ask.counter) + reserve
    sheds = ask.cut == "prefix" and not ask.floor
    if whole <= ask.limit and not sheds and len(kept) != len(subject):
        return [f"size: all of it fits ({whole}), and still something went"]
    return []


def _no_new_violation(subject: Subject, ask: Ask, kept: tuple[int, ...]) -> list[str]:
    failures: list[str] = []
    # Nothing, or nothing but what is pinned, is what was asked for, or all there was are results
    # without their calls; no message is left to answer.
    units = subject.groups(ask.profile)
    pinned = {at for unit in units for at in unit.members if _has(unit, ask)}
    asked = ask.limit == 0 or ask.on_overflow == "empty" or not ask.floor
    asked = asked or all(unit.state == ORPHAN for unit in units)
    emptied = asked and pinned.issuperset(kept)
    demanding = get_profile(ask.profile).start == "user"
    for tail in ("open", "closed"):
        before = subject.breaches(ask.profile, tail, tuple(range(len(subject))))
        for breach, times in subject.breaches(ask.profile, tail, kept).items():
            rule = RULES[breach[0]]
            if emptied and rule.check == "no_messages":
                continue
            # What a profile only warns of, it does not ask of a window's start.
            if rule.check in LIST_LEVEL and rule.severity == "warning" and not demanding:
                continue
            if rule.check in HIDDEN and breach[1] in subject.unpaired():
                continue
            # Of two pinned turns that only damage kept apart, neither can go.
            if len(ask.pins) > 1 and before and breach[1] in pinned:
                continue
            if times > before[breach]:
                place = f" at {breach[1]}{breach[2]}" if breach[1] >= 0 else ""
                failures.append(f"no new violation: {breach[0]}{place} (tail {tail})")
    return failures


def _has(unit: Group, ask: Ask) -> bool:
    return any(pin in unit.members for pin in ask.pins)


def _again(subject: Subject, ask: Ask, decision: Plan) -> list[str]:
    failures: list[str] = []
    if _plan(subject, ask) != decision:
        failures.append("determinism: a second plan differs")
    kept = decision.kept
    try:
        second = _plan(subject, ask.after(kept), kept)
    except CannotFit as error:
        return [*failures, f"idempotence: the window itself cannot fit (needs {error.needed})"]
    if second.dropped:
        failures.append(f"idempotence: {len(second.dropped)} more go when the window is trimmed")
    return failures


def _as_data(subject: Subject, decision: Plan) -> list[str]:
    failures: list[str] = []
    read = Plan.from_json(decision.to_json())
    if read != decision:
        failures.append("plan: it is another one after a trip through JSON")
    applied = subject.listed(apply(read, subject.source(), format=subject.format))
    expected = [subject.natives[at] for at in decision.kept]
    if len(applied) != len(expected) or not all(map(_is, applied, expected)):
        failures.append("plan: applying it gives another window than trim")
    if len(subject):
        try:
            apply(decision, subject.source(range(len(subject) - 1)), format=subject.format)
            failures.append("plan: it was applied to fewer messages than it was made for")
        except PlanMismatch:
            pass
    return failures
