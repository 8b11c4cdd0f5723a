"""The facade: what a caller does with a history, in one call each.

Knows: how to open what the caller handed over, find its format, ask the layers below, and hand back
the caller's own kind of thing. Checks every argument before anything is read.

Must not know: how anything is decided; what a target takes (`accepting`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from lockstitch.events import Event, heard, telling
from lockstitch.formats import ALL, ENOUGH
from lockstitch.grouping import Groups, group, ties_for
from lockstitch.measure.limits import TOKENS, Limits
from lockstitch.opening import Opened
from lockstitch.plan import Plan, Size, apply_plan, fingerprint, kept_natives
from lockstitch.rules.models import known_of
from lockstitch.rules.profiles import get_profile
from lockstitch.strategies.planner import Request
from lockstitch.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from lockstitch.blobs import BlobStore
    from lockstitch.directing import Direction
    from lockstitch.rules.models import ModelFacts
    from lockstitch.strategies.asking import Summarizer
    from lockstitch.strategies.named import HistoryStrategy
    from lockstitch.strategies.pins import Pinning

__all__ = ["apply", "dump", "groups", "load", "plan", "trim"]

Cut = Literal["groups", "prefix"]
Overflow = Literal["raise", "smallest", "empty"]


def load(source: Any, *, format: str | None = None) -> Transcript:
    """Open a history in any of the known formats.

    Args:
        source: a list of messages (dicts, SDK objects, LangChain messages), a request body that
            holds one, JSON text or bytes of these, JSON lines, a path or an open file.
        format: the name of the format; found by shape when it is not given.

    Returns:
        A transcript. Nothing is copied; a message is looked into when something is asked of it.

    Raises:
        FormatError: the source holds no list of messages; `UnknownFormat` and `AmbiguousFormat`
            when no format or more than one fits.

    >>> [message.role for message in load([{"role": "user", "content": "hi"}])]
    ['user']
    """
    return Opened(source, format, look=ENOUGH).transcript


def dump(transcript: Transcript) -> Any:
    """Write a history back as what it was loaded from: law one, `dump(load(x)) == x`.

    Text comes back as text, bytes as bytes, a request body as a request body, byte for byte.

    >>> dump(load('[ {"role":"user","content":"1.10"} ]'))
    '[ {"role":"user","content":"1.10"} ]'
    """
    if not isinstance(transcript, Transcript):
        raise TypeError(f"dump takes what load returned, got {type(transcript).__name__}")
    return transcript.document.rebuild(transcript.natives)


def groups(source: Any, *, format: str | None = None, profile: str = "portable") -> Groups:
    """Return the atomic units of a history: what is kept or dropped together, as a sequence.

    Args:
        source: as for `load`, or a transcript.
        format: as for `load`.
        profile: some targets bind more together than others.

    >>> from lockstitch.testing import call, result, user
    >>> [unit.members for unit in groups([user("hi"), call("c1"), result("c1")])]
    [(0,), (1, 2)]
    """
    transcript = Opened(source, format, look=ALL).transcript
    rules = get_profile(profile)
    ties = ties_for(
        transcript, whole_response=rules.whole_response, bound_system=rules.bound_system
    )
    return group(transcript.facts_from(0), 0, ties, detail=False)


def trim(
    source: Any,
    *,
    strategy: HistoryStrategy | None = None,
    max_messages: int | None = None,
    max_tokens: int | None = None,
    max_chars: int | None = None,
    trim_to: int | None = None,
    profile: str = "portable",
    format: str | None = None,
    cut: Cut = "groups",
    pins: Collection[Pinning] = (),
    counter: Any = None,
    reserve: int = 0,
    floor: bool = True,
    on_overflow: Overflow = "raise",
    model: str | None = None,
    models: Iterable[ModelFacts] = (),
    summarizer: Summarizer | None = None,
    blobs: BlobStore | None = None,
) -> Any:
    """Cut a history to a limit so that the target accepts what is kept.

    Whole groups go, oldest first. The system part, pins, the newest user message, calls that still
    wait for a result and the newest complete group stay. Nothing is changed in place; kept messages
    are the caller's own objects. A strategy may do more before groups go: clear old results, leave
    old reasoning out, put a summary in.

    Args:
        source: as for `load`.
        strategy: what decides; limits in the call overrule its own. Without one, the limits do.
        max_messages: most messages in all, the system part included. `None` is unlimited, 0 keeps
            nothing; likewise for the other limits.
        max_tokens: most tokens, counted by `counter`; `system` and `tools` of a request body count.
        max_chars: most characters of text.
        trim_to: once the limit is passed, cut to this instead; keeps the prompt prefix stable for
            longer.
        profile: the acceptance rules of the target.
        format: as for `load`.
        cut: `groups` drops whole groups and may leave holes; `prefix` drops everything before one
            legal boundary.
        pins: positions that stay, with what belongs to them; or `Pin`s, or functions of a message.
        counter: `None` for the upper edge of a calibrated estimate, `"bytes"` for the sure bound,
            an object with `count(text)`, a callable over one message, or a list of sizes.
        reserve: tokens kept free for the completion.
        floor: `False` protects nothing but the pins.
        on_overflow: what to do when the floor is over the limit: `raise`, return the `smallest`
            window anyway, or an `empty` one.
        model: the name of the model, where it is not in the request body. On some models thinking
            is valid only behind the very messages it was made from: there the oldest thinking goes
            first, and when messages must go, what stays goes without thinking. Keep the result and
            append to it; thinking that is made after the cut is valid.
        models: facts about models beside those that come with Lockstitch; they overrule them.
        summarizer: who writes a summary that the strategy asks for; the built-in `digest` by
            default. Where it fails, the history is cut without one, as far as limits demand.
        blobs: where results go that the strategy offloads.

    Returns:
        What was handed over with fewer messages: a list for a list, a request body for a request
        body, text for text.

    Raises:
        CannotFit: the floor is over the limit; it carries `needed`, `limit` and `floor`.
        PinLost: a phrase that must survive would not.
        ConversationServiceError: the strategy is none.
        FormatError: as for `load`.
        TypeError, ValueError: an argument is not what it must be.

    >>> from lockstitch.testing import assistant, call, result, user
    >>> history = [user("1"), call("a"), result("a"), assistant("2"), user("3"), assistant("4")]
    >>> [message["role"] for message in trim(history, max_messages=5)]
    ['user', 'assistant']
    """
    limits = (max_messages, max_tokens, max_chars, trim_to)
    pins = tuple(pins)
    if strategy is None and _plain(pins):
        ask = _request(*limits, profile, cut, _pin_tuple(pins), reserve, floor, on_overflow)
        opened = Opened(source, format)
        bound = _is_bound(opened, profile, model, models)
        if heard():
            return _heard("trim", opened, ask, counter, bound=bound)[1]
        outcome, _ = opened.decide(ask, counter, bound=bound)
        return opened.document.rebuild(kept_natives(outcome.edits, opened.transcript))
    with telling("trim", failing=True) as told:
        way = _direction(
            source,
            strategy,
            _overrides(*limits, reserve, cut, on_overflow),
            profile=profile,
            format=format,
            pins=pins,
            counter=counter,
            floor=floor,
            model=model,
            models=models,
        )
        return way.carried_out(told, "trim", summarizer, blobs)[0]


def plan(
    source: Any,
    strategy: HistoryStrategy | None = None,
    *,
    max_messages: int | None = None,
    max_tokens: int | None = None,
    max_chars: int | None = None,
    trim_to: int | None = None,
    profile: str = "portable",
    format: str | None = None,
    cut: Cut = "groups",
    pins: Collection[Pinning] = (),
    counter: Any = None,
    reserve: int = 0,
    floor: bool = True,
    on_overflow: Overflow = "raise",
    model: str | None = None,
    models: Iterable[ModelFacts] = (),
) -> Plan:
    """Decide what `trim` would do, as data: what stays, what goes, and why.

    Takes the arguments of `trim` and raises what it raises. A summary that the strategy asks for is
    `pending` in the plan: put its text in with `summarized`, then apply it.

    >>> from lockstitch.testing import assistant, user
    >>> decision = plan([user("1"), assistant("2"), user("3")], max_messages=1)
    >>> decision.kept, decision.dropped, decision.edits[0].reason
    ([2], [0, 1], 'oldest')
    """
    limits = (max_messages, max_tokens, max_chars, trim_to)
    pins = tuple(pins)
    if strategy is None and _plain(pins):
        ask = _request(*limits, profile, cut, _pin_tuple(pins), reserve, floor, on_overflow)
        opened = Opened(source, format)
        bound = _is_bound(opened, profile, model, models)
        if heard():
            return _heard("plan", opened, ask, counter, bound=bound)[0]
        return _as_plan(opened, ask, counter, bound=bound)
    with telling("plan") as told:
        way = _direction(
            source,
            strategy,
            _overrides(*limits, reserve, cut, on_overflow),
            profile=profile,
            format=format,
            pins=pins,
            counter=counter,
            floor=floor,
            model=model,
            models=models,
        )
        decision = way.plan()
        told.event = way.event(told, "plan", decision)
        return decision


def apply(
    decision: Plan, source: Any, *, format: str | None = None, blobs: BlobStore | None = None
) -> Any:
    """Carry out a plan on the messages it was made for.

    Args:
        decision: the plan.
        source: the messages, as for `load`.
        format: as for `load`; the plan's by default.
        blobs: where results go that the plan offloads.

    Returns:
        What was handed over with the messages that the plan keeps.

    Raises:
        PlanMismatch: these are other messages.
        ValueError: the summary of the plan has not been written.
        TypeError: the plan offloads results, and there is nowhere to put them.

    >>> from lockstitch.testing import assistant, user
    >>> history = [user("1"), assistant("2"), user("3")]
    >>> apply(plan(history, max_messages=1), history) == history[2:]
    True
    """
    opened = Opened(source, format or decision.format)
    natives = apply_plan(decision, opened.transcript)
    if decision.strategy:
        from lockstitch.blobs import write_blobs

        write_blobs(decision, opened.transcript, blobs)
    return opened.document.rebuild(natives, decision.request)


def _direction(
    source: Any, strategy: Any, overrides: dict[str, Any], *, format: str | None, **rest: Any
) -> Direction:
    """Bring a strategy, or bare limits, to a history."""
    # Most callers cut to a limit; what carries out strategies is loaded with the first of them.
    from lockstitch.directing import Direction
    from lockstitch.strategies.directive import HistoryDirective

    chosen = HistoryDirective(kind="null") if strategy is None else strategy
    return Direction(Opened(source, format, look=ALL), chosen, overrides, **rest)


def _overrides(
    max_messages: int | None,
    max_tokens: int | None,
    max_chars: int | None,
    trim_to: int | None,
    reserve: int,
    cut: Cut,
    on_overflow: Overflow,
) -> dict[str, Any]:
    """Return what a call says itself; what it leaves at its default is the strategy's to say."""
    return {
        "window_messages": max_messages,
        "max_tokens": max_tokens,
        "max_chars": max_chars,
        "trim_to": trim_to,
        "reserve": reserve or None,
        "cut": None if cut == "groups" else cut,
        "on_overflow": None if on_overflow == "raise" else on_overflow,
    }


def _heard(
    operation: str, opened: Opened, ask: Request, counter: Any, *, bound: bool
) -> tuple[Plan, Any]:
    """Do what somebody listens to: the same, and an event of it."""
    from lockstitch.directing import groups_gone

    with telling(operation) as told:
        decision = _as_plan(opened, ask, counter, bound=bound)
        told.event = Event.of(
            operation,
            decision,
            groups=groups_gone(opened.transcript, decision) if told.counts else None,
            model=opened.model(None) or "",
        )
        kept = kept_natives(decision.edits, opened.transcript) if operation == "trim" else []
        return decision, opened.document.rebuild(kept)


def _plain(pins: Collection[Any]) -> bool:
    """Whether pins are positions, or nonsense: anything but a `Pin` or a function."""
    return not pins or not any(callable(pin) or hasattr(pin, "role") for pin in pins)


def _is_bound(
    opened: Opened, profile: str, model: str | None, models: Iterable[ModelFacts]
) -> bool:
    """Whether thinking is valid only behind the very messages it was made from."""
    named = opened.model(model)
    return named is not None and known_of(profile, named, models).get("preserved_thinking", False)


def _pin_tuple(pins: Collection[Any]) -> tuple[int, ...]:
    pinned = tuple(pins)
    for pin in pinned:
        if type(pin) is not int:
            raise TypeError(f"pins must be positions, Pins or functions of a message, got {pin!r}")
    return pinned


def _request(*arguments: Any) -> Request:
    """Check the arguments; those that were checked before are not checked again."""
    try:
        return _checked(*arguments)
    except TypeError:
        # What cannot be hashed is wrong somewhere; the plain check says where.
        return _checked.__wrapped__(*arguments)


@lru_cache(maxsize=256, typed=True)
def _checked(
    max_messages: int | None,
    max_tokens: int | None,
    max_chars: int | None,
    trim_to: int | None,
    profile: str,
    cut: Cut,
    pins: tuple[int, ...],
    reserve: int,
    floor: bool,
    on_overflow: Overflow,
) -> Request:
    if cut not in ("groups", "prefix"):
        raise ValueError(f'cut must be "groups" or "prefix", got {cut!r}')
    if on_overflow not in ("raise", "smallest", "empty"):
        raise ValueError(f'on_overflow must be "raise", "smallest" or "empty", got {on_overflow!r}')
    if type(floor) is not bool:
        raise TypeError(f"floor must be True or False, got {floor!r}")
    return Request(
        limits=Limits(
            max_messages=max_messages,
            max_tokens=max_tokens,
            max_chars=max_chars,
            trim_to=trim_to,
            reserve=reserve,
        ),
        profile=get_profile(profile),
        cut=cut,
        pins=frozenset(pins),
        floor=floor,
        on_overflow=on_overflow,
    )


def _as_plan(opened: Opened, ask: Request, counter: Any, *, bound: bool) -> Plan:
    outcome, sizers = opened.decide(ask, counter, bound=bound)
    transcript = opened.transcript
    kept = sum(edit.count for edit in outcome.edits if edit.action != "drop")
    changed_from = next((edit.start for edit in outcome.edits if edit.action != "keep"), kept)
    after = dict(outcome.after)
    if not after and kept:
        after = {s.unit: s.around + sum(map(s.size, range(len(transcript)))) for s in sizers}
    tokens = next((sizer for sizer in sizers if sizer.unit == TOKENS), None)
    limits = ask.limits
    cut = any(edit.action != "keep" for edit in outcome.edits)
    return Plan(
        format=transcript.format.name,
        profile=ask.profile.name,
        length=len(transcript),
        edits=tuple(outcome.edits),
        before=Size(len(transcript)),
        after=Size(kept, after.get("tokens"), after.get("chars")),
        limit={unit: limit for unit in limits.units if (limit := limits.limit(unit)) is not None},
        changed_from=changed_from,
        counter=tokens.counter if tokens else None,
        counter_kind=tokens.kind if tokens else None,
        fingerprint=fingerprint(transcript, outcome.edits),
        # How far it is passed is known of messages alone; the rest is counted as far as it is kept.
        fired=tuple(f"over {limits.limit(unit):,} {unit}" for unit in limits.units) if cut else (),
    )
