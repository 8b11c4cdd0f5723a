"""OpenAI Responses items: messages, calls, outputs, reasoning, approvals, each an item of its own.

Knows: which item types ask for an output, which answer, which are run by the provider and complete
in themselves, and under which id each pairs. An item type nobody has seen yet is read by its name:
`x_call` asks, `x_call_output` or `x_output` answers.

Must not know: other formats, any rule. All items of one response are bound together; grouping does
that from `whole_response`.

Source for ids: the types of the openai SDK, release 3.57 (a `local_shell_call_output` names its
call in `id`, everything else in `call_id`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.facts import (
    ANSWER,
    ASSISTANT,
    ASSISTANT_FACTS,
    CALL,
    CHILD,
    FINAL,
    FUNCTION,
    INTERIM,
    OTHER_FACTS,
    REJECTED,
    REQUEST,
    RESULT,
    SYSTEM_FACTS,
    TOOL,
    USER_FACTS,
    Facts,
    Link,
    facts_with,
)
from lockstitch.formats.base import DEFINITE, FITS, NO, Format, blocks_of, identifier, mapping, said
from lockstitch.transcript import (
    Approval,
    ApprovalRequest,
    Media,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FORMAT"]

_PLAIN = {
    "user": USER_FACTS,
    "system": SYSTEM_FACTS,
    "developer": SYSTEM_FACTS,
    "assistant": ASSISTANT_FACTS,
}
# Run by the provider inside its own response; the item carries its outcome.
_ASKING = "mcp_approval_request"
_HOSTED = frozenset({"web_search", "file_search", "code_interpreter", "image_generation", "mcp"})
_TEXT_BLOCKS = frozenset({"input_text", "output_text", "text", "refusal", "summary_text"})
_OWN_BLOCKS = frozenset({"input_text", "output_text", "input_image", "input_file", "input_audio"})
_OWN_TYPES = frozenset(
    {"reasoning", "compaction", "item_reference", "mcp_list_tools", "additional_tools", "program"}
)


def facts(native: Any) -> Facts:
    """Return the facts of one item."""
    item = native if type(native) is dict else mapping(native)
    kind = item.get("type")
    if kind is None or kind == "message":
        role = item.get("role")
        return _PLAIN.get(role, OTHER_FACTS) if type(role) is str else OTHER_FACTS
    if kind == "function_call":
        call_id = item.get("call_id")
        if type(call_id) is str and call_id and "caller" not in item:
            return Facts(ASSISTANT, (), (call_id,))
        link = Link(CALL, FUNCTION, identifier(call_id), item.get("name"))
        return facts_with(ASSISTANT, (link, *_children(item)))
    if kind == "function_call_output":
        call_id = item.get("call_id")
        if type(call_id) is str and call_id and item.get("status") != "in_progress":
            return Facts(TOOL, (), (), (call_id,))
        return facts_with(TOOL, (_result(item, FUNCTION),))
    if kind == "reasoning":
        return Facts(ASSISTANT, reasoning=True)
    return _other(item, str(kind))


def _other(item: Mapping[str, Any], kind: str) -> Facts:
    if kind == _ASKING:
        return Facts(
            ASSISTANT, (Link(REQUEST, "mcp", identifier(item.get("id")), item.get("name")),)
        )
    if kind == "mcp_approval_response":
        state = FINAL if item.get("approve", True) else REJECTED
        request = identifier(item.get("approval_request_id"))
        return Facts(TOOL, (Link(ANSWER, "mcp", request, state=state),))
    family = _answered_family(kind)
    if family:
        if family == "program" or _on_server(item):
            return (
                Facts(ASSISTANT, (_result(item, family),))
                if family == "program"
                else ASSISTANT_FACTS
            )
        return Facts(TOOL, (_result(item, family),))
    family = _asking_family(item, kind)
    links = (*_call(item, family), *_children(item))
    if links:
        return Facts(ASSISTANT, links)
    role = item.get("role")
    return _PLAIN.get(role, ASSISTANT_FACTS) if type(role) is str else ASSISTANT_FACTS


def _answered_family(kind: str) -> str | None:
    if kind.endswith("_call_output"):
        return kind[: -len("_call_output")]
    return kind[: -len("_output")] if kind.endswith("_output") else None


def _asking_family(item: Mapping[str, Any], kind: str) -> str | None:
    """Name the family of a call that waits for an output in the list."""
    if kind == "program":
        return kind
    if not kind.endswith("_call"):
        return None
    family = kind[: -len("_call")]
    return None if family in _HOSTED or _on_server(item) else family


def _on_server(item: Mapping[str, Any]) -> bool:
    return item.get("execution") == "server"


def _call(item: Mapping[str, Any], family: str | None) -> tuple[Link, ...]:
    if family is None:
        return ()
    # A local shell call answers to both of its ids: outputs were documented with either.
    alias = identifier(item.get("id")) if family == "local_shell" else None
    call_id = identifier(item.get("call_id")) or (alias if family == "local_shell" else None)
    return (Link(CALL, family, call_id, item.get("name"), alias if alias != call_id else None),)


def _result(item: Mapping[str, Any], family: str) -> Link:
    call_id = identifier(item.get("call_id"))
    if call_id is None and family == "local_shell":
        call_id = identifier(item.get("id"))
    state = INTERIM if item.get("status") == "in_progress" else FINAL
    return Link(RESULT, family, call_id, item.get("name"), None, state)


def _children(item: Mapping[str, Any]) -> tuple[Link, ...]:
    """Tie an item to the approval or the program that it came from."""
    found: list[Link] = []
    request = identifier(item.get("approval_request_id"))
    if request:
        found.append(Link(CHILD, "mcp", request))
    caller = item.get("caller")
    if isinstance(caller, dict) and caller.get("type") == "program":
        found.append(Link(CHILD, "program", identifier(caller.get("caller_id"))))
    return tuple(found)


def asks(native: Any) -> bool:
    """Tell whether an item asks a person for approval, at the least cost."""
    if type(native) is dict:
        return native.get("type") == _ASKING
    if isinstance(native, msgspec.Raw) and _ASKING.encode() not in bytes(native):
        return False
    return mapping(native).get("type") == _ASKING


def parts(native: Any) -> tuple[Part, ...]:
    """Return the parts of one item."""
    item = mapping(native)
    kind = item.get("type")
    if kind is None or kind == "message":
        return _content(item.get("content"), "content") if "content" in item else ()
    if kind == "reasoning":
        return (_reasoning(item),)
    if kind == _ASKING:
        return (
            ApprovalRequest(
                identifier(item.get("id")), None, item.get("name"), item.get("arguments")
            ),
        )
    if kind == "mcp_approval_response":
        request = identifier(item.get("approval_request_id"))
        return (Approval(request, bool(item.get("approve", True))),)
    kind = str(kind)
    family = _answered_family(kind)
    if family:
        link = _result(item, family)
        output = item.get("output", item.get("tools"))
        return (ToolResult(family, link.id, output, path="output", state=link.state),)
    if kind.endswith("_call") or kind == "program":
        return (_tool_call(item, kind),)
    return (Opaque(kind, item),)


def _reasoning(item: Mapping[str, Any]) -> Reasoning:
    pieces = [*(item.get("summary") or ()), *(item.get("content") or ())]
    text = "\n".join(str(block.get("text") or "") for block in blocks_of(pieces))
    return Reasoning(text, item.get("encrypted_content"), identifier(item.get("id")))


def _tool_call(item: Mapping[str, Any], kind: str) -> ToolCall:
    family = _asking_family(item, kind)
    link = _call(item, family)[0] if family else None
    arguments = next(
        (item[key] for key in ("arguments", "input", "action", "operation", "code") if key in item),
        None,
    )
    return ToolCall(
        family or kind.removesuffix("_call"),
        link.id if link else identifier(item.get("id")),
        item.get("name"),
        arguments,
        "arguments",
        link.alias if link else None,
        hosted=family is None,
    )


def _content(content: Any, path: str) -> tuple[Part, ...]:
    if isinstance(content, (list, tuple)):
        return tuple(
            _block(block, f"{path}[{index}]") for index, block in enumerate(blocks_of(content))
        )
    if content is None or isinstance(content, str):
        return (Text(content, path),)
    return (Opaque(type(content).__name__, content, path),)


def _block(block: Mapping[str, Any], path: str) -> Part:
    kind = str(block.get("type"))
    if kind in _TEXT_BLOCKS:
        return said(block.get("text", block.get("refusal")), path)
    if kind in {"input_image", "input_file", "input_audio"}:
        url: Any = block.get("image_url") or block.get("file_data") or ""
        return Media(
            kind[len("input_") :],
            encoded=len(url) if str(url).startswith("data:") else 0,
            path=path,
        )
    return Opaque(kind, block, path)


def evidence(native: Any) -> int:
    """Say how strongly one item speaks for this format."""
    item = mapping(native)
    kind = item.get("type")
    if kind is not None and kind != "message":
        known = isinstance(kind, str) and (
            kind.endswith(("_call", "_output")) or kind in _OWN_TYPES or kind.startswith("mcp_")
        )
        return DEFINITE if known else NO
    role = item.get("role")
    if type(role) is not str or role not in _PLAIN or item.get("tool_calls"):
        return NO
    content = item.get("content")
    if isinstance(content, str):
        return FITS if kind is None else DEFINITE
    if not isinstance(content, (list, tuple)):
        return NO
    kinds = {str(block.get("type")) for block in blocks_of(content)}
    if kinds & _OWN_BLOCKS:
        return DEFINITE
    return NO if kinds - {"refusal"} else FITS


FORMAT = Format(
    name="openai-responses",
    title="OpenAI Responses",
    keys=("input",),
    facts=facts,
    parts=parts,
    evidence=evidence,
    system_keys=("instructions",),
    whole_response=True,
    asks=asks,
    joins=True,
)
