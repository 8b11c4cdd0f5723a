"""Groups in the shape of agent-framework's `group_messages`, by our pairing.

Knows: the spans that the framework makes of neighbours (reasoning, a message with calls, the tool
messages behind it) and its four kinds. Spans that one of our groups reaches into are one group
here, so no pair is split: not one whose id came back, nor approvals, nor the results of hosted
calls. What the framework holds together stays together, since its strategies count on it.

Must not know: the framework. Messages are read as the format `agent-framework` reads them, objects
or dicts, and nothing is written into them; a group is named by the position of its first message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict

import msgspec

from lockstitch.facts import ASSISTANT
from lockstitch.history import load
from lockstitch.pairing import pair
from lockstitch.transcript import Reasoning, ToolCall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstitch.transcript import Message, Transcript

__all__ = ["Kind", "Span", "group_messages", "group_names"]

Kind = Literal["system", "user", "assistant_text", "tool_call"]

_FORMAT: Final = "agent-framework"
# A search is told as text by the framework; its call and its result are linked here all the same.
_TOLD_AS_TEXT: Final = "search_tool_call"


class Span(TypedDict):
    """A stretch of neighbours in one group; `end_index` is its last message."""

    group_id: str
    kind: Kind
    start_index: int
    end_index: int
    has_reasoning: bool


class _Row:
    """What grouping asks of one message."""

    __slots__ = ("asks", "reasoned", "role", "thinks", "tool")

    def __init__(self, message: Message, role: str, *, searches: bool) -> None:
        self.role = role
        self.tool = role == "tool"
        self.thinks = any(isinstance(part, Reasoning) for part in message.parts)
        assistant = role == "assistant"
        self.reasoned = (
            assistant
            and bool(message.parts)
            and all(isinstance(part, Reasoning) for part in message.parts)
        )
        calls = any(isinstance(part, ToolCall) for part in message.parts)
        self.asks = assistant and calls and not searches


def group_messages(messages: Sequence[Any]) -> list[Span]:
    """Return the groups of messages as agent-framework has them: spans, in order.

    Args:
        messages: `Message` objects, or their dicts.

    Returns:
        Spans `{group_id, kind, start_index, end_index, has_reasoning}`. Those of one group share
        its id, and whether it has reasoning.

    Raises:
        FormatError: something among them is no message.

    >>> def said(role, **content):
    ...     return {"role": role, "contents": [content]}
    >>> call = said("assistant", type="function_call", call_id="c1", name="f", arguments="{}")
    >>> result = said("tool", type="function_result", call_id="c1", result="ok")
    >>> [span["group_id"] for span in group_messages([call, said("user", type="text"), result])]
    ['group_0', 'group_1', 'group_0']
    """
    transcript = load(list(messages), format=_FORMAT)
    rows = _rows(transcript)
    spans = _spans(rows)
    of = [at for at, span in enumerate(spans) for _ in range(span["start_index"], _past(span))]
    roots = list(range(len(spans)))
    for one, other in _ties(transcript, rows):
        a, b = _root(roots, of[one]), _root(roots, of[other])
        roots[max(a, b)] = min(a, b)
    thinking = {_root(roots, at) for at, span in enumerate(spans) if span["has_reasoning"]}
    for at, span in enumerate(spans):
        root = _root(roots, at)
        span["group_id"] = f"group_{spans[root]['start_index']}"
        span["has_reasoning"] = root in thinking
    return spans


def group_names(messages: Sequence[Any]) -> list[int]:
    """Return for each message the position of the first one of its group.

    >>> group_names([{"role": "user", "contents": []}, {"role": "user", "contents": []}])
    [0, 1]
    """
    names: list[int] = []
    for span in group_messages(messages):
        name = int(span["group_id"].removeprefix("group_"))
        names += [name] * (_past(span) - span["start_index"])
    return names


def _past(span: Span) -> int:
    return span["end_index"] + 1


def _root(roots: list[int], at: int) -> int:
    while roots[at] != at:
        roots[at] = at = roots[roots[at]]
    return at


def _rows(transcript: Transcript) -> list[_Row]:
    rows: list[_Row] = []
    for message in transcript:
        native = message.native
        held = native if isinstance(native, dict) else vars(native)
        kinds = [_kind_of(content) for content in held.get("contents") or ()]
        calls = [kind for kind in kinds if kind.endswith("_call")]
        searches = bool(calls) and all(kind == _TOLD_AS_TEXT for kind in calls)
        rows.append(_Row(message, str(held.get("role")), searches=searches))
    return rows


def _kind_of(content: Any) -> str:
    held = content.get("type") if isinstance(content, dict) else getattr(content, "type", None)
    return str(held)


def _spans(rows: Sequence[_Row]) -> list[Span]:
    """Make the framework's spans: what stands beside each other and belongs together."""
    spans: list[Span] = []
    at = 0
    while at < len(rows):
        end = _end_of_calls(rows, at)
        kind: Kind = "tool_call"
        if end == at:
            end = at + 1
            kind = _kind(rows[at].role)
        alone = rows[at].tool
        spans.append(
            Span(
                group_id="",
                kind=kind,
                start_index=at,
                end_index=end - 1,
                has_reasoning=not alone and any(row.thinks for row in rows[at:end] if not row.tool),
            )
        )
        at = end
    return spans


def _kind(role: str) -> Kind:
    if role == "system":
        return "system"
    return "user" if role == "user" else "assistant_text"


def _end_of_calls(rows: Sequence[_Row], start: int) -> int:
    """Return where a span with calls that begins here ends; the start itself where none does."""
    at = _past_all(rows, start, "reasoned")
    if at < len(rows) and rows[at].asks:
        return _past_all(rows, _past_all(rows, at + 1, "reasoned"), "tool")
    return _past_all(rows, start, "tool")


def _past_all(rows: Sequence[_Row], at: int, what: str) -> int:
    while at < len(rows) and getattr(rows[at], what):
        at += 1
    return at


def _ties(transcript: Transcript, rows: Sequence[_Row]) -> list[tuple[int, int]]:
    """Return pairs of positions that belong together beyond their spans."""
    # What calls is the model's, whatever role it was given.
    pairing = pair(
        [
            msgspec.structs.replace(fact, role=ASSISTANT) if fact.calls else fact
            for fact in transcript.facts_from(0)
        ]
    )
    ties = [*enumerate(pairing.names), *pairing.edges]
    for at in range(1, len(rows)):
        before = rows[at - 1]
        # Reasoning led to what the model said next, whatever it said beside the reasoning.
        if before.thinks and not before.asks and before.role == rows[at].role == "assistant":
            ties.append((at - 1, at))
    return ties
