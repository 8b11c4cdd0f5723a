"""Checks of Gemini contents: call turns, response turns, parts without data, thought signatures.

Neighbouring contents of one role are one turn, so what belongs to a turn is judged over a run of
contents, never over one of them.

Each takes a `View` and yields `Finding`s. Must not know: rule ids, texts, sources.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from typing import TYPE_CHECKING, Any, Final

from lockstitch.facts import ASSISTANT, CLIENT_FAMILIES, FUNCTION, OTHER, SYSTEM, USER
from lockstitch.formats.base import mapping
from lockstitch.rules.view import Finding, View
from lockstitch.transcript import Opaque, Text, ToolCall, ToolResult
from lockstitch.writing import inside

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lockstitch.facts import Link
    from lockstitch.pairing import Occurrence

__all__ = [
    "call_after_model_text",
    "call_leads",
    "dangling_call",
    "ends_with_model",
    "part_without_data",
    "response_astray",
    "response_count",
    "response_name",
    "signature_corrupt",
    "signature_missing",
    "signature_of",
    "strange_role",
]

_ROLES = ("user", "model")
_SIGNATURE = ("thoughtSignature", "thought_signature")
# What Google documents for calls whose signature is gone; some send it as it is, some encoded.
_STAND_INS = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
BYPASS: Final = b64encode(_STAND_INS[0].encode()).decode()
"""The value that stands for a signature that is gone."""
_NEVER_ISSUED = frozenset({*_STAND_INS, *(b64encode(one.encode()).decode() for one in _STAND_INS)})


# --- turns ----------------------------------------------------------------------------------------


def call_leads(view: View) -> Iterator[Finding]:
    """Find calls that no turn of the user's comes before.

    A response whose call is gone is no turn that a call may follow.
    """
    for index, fact in enumerate(view.facts):
        if fact.role == USER:
            return
        if fact.role == ASSISTANT and fact.calls:
            yield Finding(
                index,
                "a call opens the conversation: bring back the user turn before it, or start later",
            )
            return


def call_after_model_text(view: View) -> Iterator[Finding]:
    """Find contents with a call that stand behind another content of the model without one."""
    before = ""
    called = True
    for index, fact in enumerate(view.facts):
        if fact.role in {SYSTEM, OTHER}:
            continue
        calls = fact.calls
        if fact.role == before == ASSISTANT and calls and not called:
            yield Finding(
                index,
                "a call stands in a second content of the model's: merge it into the one before",
            )
        before, called = fact.role, calls


def ends_with_model(view: View) -> Iterator[Finding]:
    """Find a conversation in which the model has the last word.

    While nobody is about to call the model that is how a stored history looks.
    """
    last = next(
        (at for at in range(len(view.facts) - 1, -1, -1) if _speaks(view.facts[at].role)), None
    )
    if last is None or view.facts[last].role != ASSISTANT:
        return
    calls = view.groups.pairing.calls
    if calls and calls[-1].message == last and calls[-1].answer < 0:
        return
    yield Finding(
        last,
        "the model has the last word: end with a user turn or a response",
        maybe=not view.closed,
    )


def _speaks(role: str) -> bool:
    return role not in {SYSTEM, OTHER}


def strange_role(view: View) -> Iterator[Finding]:
    """Find contents under a role other than user and model."""
    for index, native in enumerate(view.transcript.natives):
        role = mapping(native).get("role")
        if role is not None and role not in _ROLES:
            yield Finding(index, f"the role {role} is not user or model: write it so", "role")


# --- calls and responses --------------------------------------------------------------------------


def _client_calls(view: View) -> Iterator[Occurrence]:
    return (call for call in view.groups.pairing.calls if call.link.family in CLIENT_FAMILIES)


def _shown(call: Occurrence) -> str:
    return call.link.name or call.link.id or "without a name"


def response_count(view: View) -> Iterator[Finding]:
    """Find turns of calls that are answered in part, or over several contents."""
    answered: dict[int, int] = {}
    for call in _client_calls(view):
        if call.answer >= 0:
            answered.setdefault(call.run, call.answer)
    due = {id(call) for call in view.unanswered()}
    for call in _client_calls(view):
        first = answered.get(call.run)
        if first is None:
            continue
        if call.answer < 0:
            yield Finding(
                call.message,
                f"the call {_shown(call)} has no response while others of its turn have",
                view.place(call.message, call.ordinal),
                maybe=id(call) not in due,
            )
        elif call.answer != first and view.transcript.format.joins:
            yield Finding(
                call.answer,
                "the responses to one turn of calls stand in several contents: merge them",
                related=(first,),
                maybe=True,
            )


def dangling_call(view: View) -> Iterator[Finding]:
    """Find turns of calls that were not answered at all."""
    answered = {call.run for call in _client_calls(view) if call.answer >= 0}
    for call in view.unanswered():
        if call.run not in answered and call.link.family in CLIENT_FAMILIES:
            yield Finding(
                call.message,
                f"the call {_shown(call)} has no response: give it one, or drop the call",
                view.place(call.message, call.ordinal),
            )


def response_astray(view: View) -> Iterator[Finding]:
    """Find responses that answer nothing where they stand, and whose call waits elsewhere.

    A response without an id goes to a call of its name: the nearest before it, else the next.
    """
    waiting: dict[tuple[str | None, str | None], list[Occurrence]] = {}
    for call in _client_calls(view):
        if call.answer < 0:
            waiting.setdefault(_asked(call.link), []).append(call)
    for tie in view.results():
        open_calls = waiting.get(_asked(tie.link)) if tie.call is None else None
        if not open_calls:
            continue
        call = _nearest(open_calls, tie.message)
        open_calls.remove(call)
        yield Finding(
            tie.message,
            f"the response {tie.link.id or tie.link.name} stands apart from its call: move it",
            view.place(tie.message, tie.ordinal),
            (call.message,),
        )


def _asked(link: Link) -> tuple[str | None, str | None]:
    return link.id, None if link.id is not None else link.name


def _nearest(calls: list[Occurrence], position: int) -> Occurrence:
    """Return the first call of the nearest run before a position, else the first behind it."""
    before = [call.run for call in calls if call.message < position]
    run = before[-1] if before else calls[0].run
    return next(call for call in calls if call.run == run)


def response_name(view: View) -> Iterator[Finding]:
    """Find responses that do not name the function that was called."""
    for tie in view.results():
        if tie.link.family != FUNCTION:
            continue
        given = _function(view, tie.message, tie.ordinal)
        called = _function(view, tie.call.message, tie.call.ordinal) if tie.call else None
        # A response to a call that is gone can only be asked for some name.
        if given is None or (called is not None and called != given):
            yield Finding(
                tie.message,
                f"the response does not name its function: call it {called or 'as its call'}",
                view.place(tie.message, tie.ordinal),
            )


def _function(view: View, index: int, ordinal: int) -> str | None:
    """Return the name at one end; facts do not hold it where there is an id to pair by."""
    part = view.end(index, ordinal)
    return part.name if isinstance(part, (ToolCall, ToolResult)) else None


# --- parts ----------------------------------------------------------------------------------------


def part_without_data(view: View) -> Iterator[Finding]:
    """Find parts that hold nothing, and empty text, which counts as nothing beside responses.

    Recorded requests show empty text taken where it stands alone or behind a call.
    """
    for index, fact in enumerate(view.facts):
        if fact.role == OTHER:
            continue
        parts = view.parts(index)
        answers = any(isinstance(part, ToolResult) for part in parts)
        for part in parts:
            if isinstance(part, Opaque) and part.type == "empty":
                yield Finding(index, "the part holds nothing: remove it", part.path)
            elif isinstance(part, Text) and part.text == "":
                yield Finding(index, "the text is empty: remove it", part.path, maybe=not answers)


# --- signatures -----------------------------------------------------------------------------------


def signature_of(native: Any, path: str) -> Any:
    """Return the thought signature of a part, `None` where it has none."""
    part = mapping(inside(mapping(native), path))
    return part.get(_SIGNATURE[0]) or part.get(_SIGNATURE[1])


def signature_missing(view: View) -> Iterator[Finding]:
    """Find steps of the current turn whose first call has no signature.

    The current turn is what follows the newest message of the user's own; a step is what the model
    said in one go.
    """
    start = len(view.facts)
    while start > 0 and view.facts[start - 1].role != USER:
        start -= 1
    run = -1
    for call in view.groups.pairing.calls:
        if call.message < start or call.run == run or call.link.family != FUNCTION:
            continue
        run = call.run
        path = view.place(call.message, call.ordinal)
        if not signature_of(view.transcript.natives[call.message], path):
            yield Finding(
                call.message,
                f"the call {_shown(call)} opens a step and has no thought signature: bring it back",
                path,
            )


def signature_corrupt(view: View) -> Iterator[Finding]:
    """Find signatures that are not as they were issued, nor the value that stands for one.

    Certain where the text is no base64, or differs from the record; a signature of nothing but zero
    bytes is likely a placeholder.
    """
    issued = _issued(view)
    for index, fact in enumerate(view.facts):
        if fact.role != ASSISTANT or not fact.calls:
            continue
        native = view.transcript.natives[index]
        for part in view.parts(index):
            if not isinstance(part, ToolCall):
                continue
            signature = signature_of(native, part.path)
            if not isinstance(signature, str) or signature in _NEVER_ISSUED:
                continue
            if (state := _state(signature)) != "sound" or _differs(issued, part, signature):
                yield Finding(
                    index,
                    "the thought signature is not one that was issued: bring the original back",
                    part.path,
                    maybe=state == "blank" and not _differs(issued, part, signature),
                )


def _state(signature: str) -> str:
    plain = signature.replace("-", "+").replace("_", "/")
    try:
        value = b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (NotBase64, ValueError):
        return "broken"
    return "sound" if any(value) else "blank"


def _issued(view: View) -> dict[tuple[str | None, str | None, str], list[Any]]:
    """Return the signatures of every call in the record."""
    found: dict[tuple[str | None, str | None, str], list[Any]] = {}
    record = view.record
    if record is None:
        return found
    for native in record.natives:
        for part in record.format.parts(native):
            if isinstance(part, ToolCall):
                found.setdefault(_named(part), []).append(signature_of(native, part.path))
    return found


def _differs(
    issued: Mapping[tuple[str | None, str | None, str], list[Any]], call: ToolCall, signature: str
) -> bool:
    known = issued.get(_named(call))
    return known is not None and signature not in known


def _named(call: ToolCall) -> tuple[str | None, str | None, str]:
    return call.id, call.name, repr(call.arguments)
