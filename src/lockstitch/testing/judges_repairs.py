"""Judges of repairs: what stayed as it was, what was made, and what the report says of it.

They hold for every operation, judged on the messages it came to: for a window that is the kept
part of the input, for a validation the input itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from lockstitch.formats.base import mapping
from lockstitch.testing.accounts import unaccounted
from lockstitch.testing.pieces import Piece, made_results, pairs_of, pieces, strings
from lockstitch.transcript import Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from lockstitch.testing.judges_windows import Judge
    from lockstitch.testing.trials import Trial

__all__ = ["JUDGES_OF_REPAIRS", "conventions"]

# Formats in which a result has a field that says it is an error. In the others the text says it.
_FLAGGED: Final = frozenset({"anthropic", "bedrock", "gemini", "langchain"})
_SAYS_ERROR: Final = re.compile(r"(?i)error|unknown|interrupt|missing|no result|not recorded|fail")


def conventions(trial: Trial) -> Iterator[str]:
    """Judge what holds for every repair, stated or not."""
    if trial.mended is None:
        return
    given = trial.natives[: trial.count]
    yield from unaccounted(given, trial.result(), trial.mended.changes, trial.format)
    if not trial.is_unchanged():
        yield "the input was changed"


# --- what stayed ---------------------------------------------------------------------------------


def places(trial: Trial) -> dict[int, int]:
    """Return where each input message that is still the same stands in the result."""
    result = trial.result()
    where: dict[int, int] = {}
    free = set(range(len(result)))
    for same in (_is, _equals):
        for at in range(trial.count):
            if at in where:
                continue
            match = next((to for to in sorted(free) if same(trial.natives[at], result[to])), None)
            if match is not None:
                where[at] = match
                free.discard(match)
    return where


def _is(one: Any, other: Any) -> bool:
    return one is other


def _equals(one: Any, other: Any) -> bool:
    return bool(one == other)


def _unchanged(trial: Trial, value: Sequence[int]) -> Iterator[str]:
    gone = [at for at in value if at not in places(trial)]
    if gone:
        yield f"the messages {gone} are not in the result as they were"


def _result_equals_input(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    given = trial.natives[: trial.count]
    same = trial.result() == given and trial.is_unchanged()
    if value and not same:
        yield f"the result is not the input: {_said(trial)}"
    if value and trial.mended is not None and trial.mended.changes:
        yield f"changes are reported: {_said(trial)}"


def _nothing_lost(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    """Every part is there, or its text inside a longer one."""
    left = Counter(piece.key for piece in pieces(trial.result(), trial.format))
    said = [
        piece.part.text or ""
        for piece in pieces(trial.result(), trial.format)
        if isinstance(piece.part, Text)
    ]
    for piece in pieces(trial.natives[: trial.count], trial.format) if value else ():
        if left[piece.key]:
            left[piece.key] -= 1
        elif not (isinstance(piece.part, Text) and any((piece.part.text or "") in t for t in said)):
            yield f"a part of message {piece.message} is lost: {piece.part}"


def _groups_atomic(trial: Trial, value: list[list[int]]) -> Iterator[str]:
    """The messages of a group are one group in the result too, where they are all there."""
    if trial.mended is None:
        return
    where = places(trial)
    result = trial.as_source(trial.result())
    linked = [
        {pair.call_at, pair.result_at} for pair in pairs_of(result, trial.format, trial.profile)
    ]
    for group in value:
        if all(at in where for at in group) and len(group) > 1:
            members = {where[at] for at in group}
            if not any(pair <= members for pair in linked):
                yield f"{group} is no group in the result"


def _pair_kept(trial: Trial, value: Sequence[str]) -> Iterator[str]:
    """The call and its own result are linked in the result, whatever they are called there."""
    given = list(pieces(trial.natives[: trial.count], trial.format))
    found = pairs_of(trial.as_source(trial.result()), trial.format, trial.profile)
    for name in value:
        calls = [
            one.part.arguments
            for one in given
            if isinstance(one.part, ToolCall) and name in {one.part.id, one.part.name}
        ]
        results = [
            set(strings(one.part.content))
            for one in given
            if isinstance(one.part, ToolResult) and name in {one.part.id, one.part.name}
        ]
        if not any(
            pair.call.arguments in calls
            and any(said <= set(strings(pair.result.content)) for said in results)
            for pair in found
        ):
            yield f"the call {name} and its result are not both there"


def _pairs(trial: Trial, value: Sequence[Sequence[str]]) -> Iterator[str]:
    found = [
        (pair.call.name, pair.result.content)
        for pair in pairs_of(trial.as_source(trial.result()), trial.format, trial.profile)
    ]
    for name, text in value:
        if not any(name == one and text in set(strings(content)) for one, content in found):
            yield f"no call of {name} is answered with {text!r}"


# --- what was made -------------------------------------------------------------------------------


def _made(trial: Trial) -> list[Piece]:
    return made_results(trial.natives[: trial.count], trial.result(), trial.format)


def _name(piece: Piece) -> str:
    return str(piece.part.id or piece.part.name)


def _synthetic_results_for(trial: Trial, value: Sequence[str]) -> Iterator[str]:
    made = [(piece.part.id, piece.part.name) for piece in _made(trial)]
    wanted = list(value)
    for id, name in made:
        known = next((one for one in wanted if one in {id, name}), None)
        if known is None:
            yield f"a result was made for {id or name}"
        else:
            wanted.remove(known)
    if wanted:
        yield f"no result was made for {wanted}"


def _no_synthetic_results(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    if value and _made(trial):
        yield f"results were made for {[_name(piece) for piece in _made(trial)]}"


def _synthetic_must_be_error(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    for piece in _made(trial):
        flagged = piece.part.is_error or _says_error(mapping(trial.result()[piece.message]))
        worded = any(_SAYS_ERROR.search(text) for text in strings(piece.part.content))
        if value is not (flagged or (trial.format not in _FLAGGED and worded)):
            yield f"the result made for {_name(piece)} is {'no' if value else 'an'} error"


def _says_error(fields: Mapping[str, Any]) -> bool:
    return fields.get("status") in {"error", "incomplete", "failed"}


def _synthetic_must_not_match(trial: Trial, value: str | Sequence[str]) -> Iterator[str]:
    for piece, pattern, text in _matched(trial, value):
        if re.search(pattern, text):
            yield f"the result made for {_name(piece)} matches {pattern!r}: {text!r}"


def _synthetic_must_match(trial: Trial, value: str | Sequence[str]) -> Iterator[str]:
    for pattern in [value] if isinstance(value, str) else value:
        for piece in _made(trial):
            if not any(re.search(pattern, text) for text in strings(piece.part.content)):
                yield f"the result made for {_name(piece)} does not match {pattern!r}"


def _matched(trial: Trial, value: str | Sequence[str]) -> list[tuple[Piece, str, str]]:
    patterns = [value] if isinstance(value, str) else value
    return [
        (piece, pattern, text)
        for piece in _made(trial)
        for pattern in patterns
        for text in strings(piece.part.content)
    ]


def _synthetic_results_in_one_message(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    holders = {piece.message for piece in _made(trial)}
    if value is not (len(holders) <= 1):
        yield f"the made results stand in the messages {sorted(holders)}"


def _new_messages_between(trial: Trial, value: Any) -> Iterator[str]:
    spans = value if value and not isinstance(value[0], int) else [value]
    where = places(trial)
    old = set(where.values())
    for first, last in spans:
        if first not in where or last not in where:
            yield f"the messages {first} and {last} are not both in the result"
            continue
        between = range(where[first] + 1, where[last])
        if not between or any(at in old for at in between):
            yield f"no new message stands between {first} and {last}"


def _no_user_tool_result_for(trial: Trial, value: Sequence[str]) -> Iterator[str]:
    for piece in pieces(trial.result(), trial.format):
        part = piece.part
        if isinstance(part, ToolResult) and (part.id in value or part.name in value):
            role = mapping(trial.result()[piece.message]).get("role")
            if role != "assistant":
                yield f"{part.id} is answered by the message {piece.message} of the {role}"


# --- what is there -------------------------------------------------------------------------------


def _part_count(trial: Trial, value: Any) -> Iterator[str]:
    for stated in [value] if isinstance(value, Mapping) else value:
        at = stated["index"]
        result = trial.result()
        if at >= len(result):
            yield f"there is no message {at}"
            continue
        for kind, times in stated.items():
            if kind != "index" and (count := _count(mapping(result[at]), kind)) != times:
                yield f"message {at} holds {count} of {kind}, expected {times}"


def _count(fields: Mapping[str, Any], kind: str) -> int:
    held = fields.get(kind)
    if isinstance(held, (list, tuple)):
        return len(held)
    blocks = fields.get("parts") if fields.get("parts") is not None else fields.get("content")
    listed = blocks if isinstance(blocks, (list, tuple)) else []
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", kind).lower()
    return sum(
        _is_kind(mapping(block), kind) or _is_kind(mapping(block), snake)
        for block in listed
        if not isinstance(block, str)
    )


def _is_kind(block: Mapping[str, Any], kind: str) -> bool:
    return block.get(kind) is not None or block.get("type") == kind


def _tool_names_match(trial: Trial, value: str) -> Iterator[str]:
    for piece in pieces(trial.result(), trial.format):
        named = isinstance(piece.part, (ToolCall, ToolResult)) and piece.part.name
        if named and not re.search(value, named):
            yield f"the tool of message {piece.message} is called {named!r}"


# --- what the report says ------------------------------------------------------------------------


def _said(trial: Trial) -> list[str]:
    mended = trial.mended
    return [f"{one.kind} {one.path}: {one.message}" for one in mended.changes] if mended else []


def named(trial: Trial) -> set[int]:
    """Return the input positions that the report names."""
    mended = trial.mended
    if mended is None:
        found = {*trial.steps[0].dropped} if trial.steps else set[int]()
        return found | {
            at
            for one in (trial.findings() if trial.op == "validate" else ())
            for at in (one.index, *one.related)
        }
    where = {to: at for at, to in places(trial).items()}
    left = {where[one.index] for one in mended.remaining if one.index in where}
    return {one.index for one in mended.changes} | left


def _mentions(trial: Trial, value: Sequence[Any]) -> list[bool]:
    """Tell of each position, or name, whether the report speaks of it."""
    said = " ".join(_said(trial))
    return [one in named(trial) if isinstance(one, int) else str(one) in said for one in value]


def _report_mentions(trial: Trial, value: Sequence[Any]) -> Iterator[str]:
    if not all(_mentions(trial, value)):
        yield f"the report names {sorted(named(trial))}, expected {value} among them"


def _report_mentions_any_of(trial: Trial, value: Sequence[Any]) -> Iterator[str]:
    if not any(_mentions(trial, value)):
        yield f"the report names {sorted(named(trial))}, expected one of {value}"


def _never_silent(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    if value and trial.mended is not None:
        yield from conventions(trial)


def _idempotent(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    if not value or trial.mended is None:
        return
    again = trial.repaired(trial.mended.messages)
    if again.changes or again.messages != trial.mended.messages:
        yield f"a second repair changes more: {[one.message for one in again.changes]}"


JUDGES_OF_REPAIRS: Final[dict[str, Judge]] = {
    "groups_atomic": _groups_atomic,
    "idempotent": _idempotent,
    "never_silent": _never_silent,
    "new_messages_between": _new_messages_between,
    "no_synthetic_results": _no_synthetic_results,
    "no_user_tool_result_for": _no_user_tool_result_for,
    "nothing_lost": _nothing_lost,
    "pair_kept": _pair_kept,
    "pairs": _pairs,
    "part_count": _part_count,
    "report_mentions": _report_mentions,
    "report_mentions_any_of": _report_mentions_any_of,
    "result_equals_input": _result_equals_input,
    "synthetic_must_be_error": _synthetic_must_be_error,
    "synthetic_must_match": _synthetic_must_match,
    "synthetic_must_not_match": _synthetic_must_not_match,
    "synthetic_results_for": _synthetic_results_for,
    "synthetic_results_in_one_message": _synthetic_results_in_one_message,
    "tool_names_match": _tool_names_match,
    "unchanged": _unchanged,
}
