"""Anthropic's Messages endpoints, strict.

Knows: how requests are routed and answered, whole and as events, and what becomes of thinking
blocks that no longer stand where they were made.

Must not know: the library's own rules. The checks of the messages are in `anthropic_checks`, the
signatures in `thinking_ledger`.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec

from lockstitch.testing.servers.anthropic_checks import judge
from lockstitch.testing.servers.base import (
    Refused,
    Reply,
    Request,
    StrictServer,
    event,
    json_reply,
    size,
)
from lockstitch.testing.servers.script import Action, Call, Say, Script, Think
from lockstitch.testing.servers.shapes import AnthropicBody
from lockstitch.testing.servers.thinking_ledger import (
    THINKING,
    Bound,
    Prefix,
    ThinkingLedger,
    blocks,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["AnthropicServer"]

_BOUND_MODELS = (
    "claude-fable-5-[12]*",
    "claude-mythos-5-2*",
    "claude-opus-5-5*",
    "claude-sonnet-5-5*",
    "claude-haiku-5-5*",
)
_KINDS = {404: "not_found_error", 405: "invalid_request_error", 413: "request_too_large"}

Mode = Literal["reject", "drop", "record"]
_ASKED: dict[str, Mode] = {"error": "reject", "drop_block": "drop"}


class AnthropicServer(StrictServer):
    """`POST /v1/messages` and `/v1/messages/count_tokens`.

    Args:
        script: decides what the model answers; a short text if it is not given.
        mode: what becomes of a thinking block that stands behind another conversation than the one
            it was made in: `reject` the request, `drop` the block and list it in
            `input_transformations`, or only `record` it in `mismatches`. A request may ask for one
            of the first two itself, with `thinking.block_binding.prefix_mismatch_behavior`.
        bound_models: patterns of the names of the models that check this.
        signatures: `issued` refuses thinking that this server never issued; `any` takes it, which a
            recorded request needs.
        tools_required: refuse tool blocks where the request defines no tools, as is reported of the
            API; one recorded request of that kind was answered.
        key: what thinking is signed with.

    Attributes:
        mismatches: for each block that failed the check and was dropped or recorded, the index of
            its request in `requests` and its entry as `input_transformations` has it.

    >>> server = AnthropicServer()
    >>> server.ask({"model": "claude-sonnet-5", "max_tokens": 9, "messages": []}).status
    400
    >>> server.refusals[0].text
    'messages: at least one message is required'
    """

    path: ClassVar[str] = "/v1/messages"
    shape: ClassVar[Any] = AnthropicBody

    def __init__(
        self,
        *,
        script: Script | None = None,
        mode: Mode = "reject",
        bound_models: Sequence[str] = _BOUND_MODELS,
        signatures: Literal["issued", "any"] = "issued",
        tools_required: bool = True,
        key: bytes = b"lockstitch",
    ) -> None:
        super().__init__(script=script)
        self.mode: Mode = mode
        self.bound_models = tuple(bound_models)
        self.signatures = signatures
        self.tools_required = tools_required
        self.mismatches: list[tuple[int, dict[str, str]]] = []
        self._ledger = ThinkingLedger(key)

    def answer(self, request: Request) -> Reply:
        """Judge a request and answer it, or raise `Refused`."""
        counting = request.path == f"{self.path}/count_tokens"
        if request.path != self.path and not counting:
            raise Refused("Not found", status=404)
        body = request.body
        judge(body, counting=counting, tools_required=self.tools_required)
        prefix, dropped = self._judge_thinking(body)
        if counting:
            return json_reply({"input_tokens": size(body)}, headers=self._headers())
        actions = self.decide(
            body,
            tools=[tool.get("name") for tool in body.get("tools") or () if "input_schema" in tool],
            answered=_answered(body["messages"]),
            thinks=self._thinks(body),
        )
        content = self._content(prefix, actions)
        called = any(block["type"] == "tool_use" for block in content)
        message = {
            "id": self.mint("msg_"),
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": "tool_use" if called else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": size(body), "output_tokens": size(content)},
            **({"input_transformations": dropped} if dropped else {}),
        }
        if body.get("stream"):
            return Reply(
                chunks=list(_events(message)),
                content_type="text/event-stream",
                headers=self._headers(),
            )
        return json_reply(message, headers=self._headers())

    def refusal(self, refused: Refused) -> Reply:
        """Word a refusal in Anthropic's shape."""
        kind = refused.kind or _KINDS.get(refused.status, "invalid_request_error")
        headers = self._headers()
        return json_reply(
            {
                "type": "error",
                "error": {"type": kind, "message": refused.text},
                "request_id": headers["request-id"],
            },
            status=refused.status,
            headers=headers,
        )

    def signed(self, body: dict[str, Any]) -> dict[str, Any]:
        """Copy a request with the signatures that this server would have issued for its thinking.

        For a history that was made up: each thinking block is signed where it stands.
        """
        made: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(body))
        prefix = Prefix(self._ledger.key, made)
        for message in made["messages"]:
            prefix.turn(message["role"])
            issued = []
            for block in blocks(message):
                if block.get("type") not in THINKING:
                    prefix.block(block)
                    continue
                text = block.get("thinking", "")
                signature = self._ledger.sign(prefix, text)
                issued.append(signature)
                name = "signature" if block["type"] == "thinking" else "data"
                block[name] = signature
            self._ledger.keep_together(issued)
        return made

    def checks_prefix(self, model: str) -> bool:
        """Tell whether a model checks what its thinking stands behind."""
        return any(fnmatchcase(model, pattern) for pattern in self.bound_models)

    def _headers(self) -> dict[str, str]:
        return {"request-id": self.mint("req_")}

    def _thinks(self, body: dict[str, Any]) -> bool:
        asked: str | None = (body.get("thinking") or {}).get("type")
        if asked is None:
            return self.checks_prefix(body["model"])  # these think unless told not to
        return asked != "disabled"

    def _judge_thinking(self, body: dict[str, Any]) -> tuple[Prefix, list[dict[str, str]]]:
        binding = (body.get("thinking") or {}).get("block_binding") or {}
        mode = _ASKED.get(binding.get("prefix_mismatch_behavior") or "", self.mode)
        found, prefix = self._ledger.read(
            body, dropping=mode == "drop", bound=self.checks_prefix(body["model"])
        )
        listed = []
        latest = _latest_assistant(body["messages"])
        for bound in found:
            if bound.verdict == "moved":
                listed.append(_transformation(bound, mode))
            elif bound.verdict != "fine":
                self._judge_stranger(body, bound, latest)
        self._judge_latest(found, latest, gone={entry["path"] for entry in listed})
        number = len(self.requests) - 1
        self.mismatches += [(number, entry) for entry in listed]
        return prefix, listed if mode == "drop" else []

    def _judge_stranger(self, body: dict[str, Any], bound: Bound, latest: range) -> None:
        if bound.verdict == "unknown" and self.signatures == "any":
            return
        if bound.verdict == "edited" and bound.message in latest:
            raise Refused(f"{bound.path}: {_MODIFIED}")
        block = body["messages"][bound.message]["content"][bound.at]
        name = "signature" if block["type"] == "thinking" else "data"
        raise Refused(f"{bound.path}: Invalid `{name}` in `{block['type']}` block")

    def _judge_latest(self, found: Sequence[Bound], latest: range, gone: set[str]) -> None:
        """The thinking of the newest assistant turn is given back whole, or not at all."""
        mine = [bound for bound in found if bound.message in latest and bound.path not in gone]
        given = [bound.signature for bound in mine]
        for bound in mine:
            whole = self._ledger.companions(bound.signature)
            if not gone and tuple(one for one in given if one in whole) != whole:
                raise Refused(f"{bound.path}: {_MODIFIED}")

    def _content(self, prefix: Prefix, actions: Sequence[Action]) -> list[dict[str, Any]]:
        prefix.turn("assistant")
        content: list[dict[str, Any]] = []
        issued = []
        for action in actions:
            if isinstance(action, Think):
                text = "" if action.hidden else action.text
                signature = self._ledger.sign(prefix, text)
                issued.append(signature)
                content.append(
                    {"type": "redacted_thinking", "data": signature}
                    if action.hidden
                    else {"type": "thinking", "thinking": text, "signature": signature}
                )
                continue
            block = self._block(action)
            prefix.block(block)
            content.append(block)
        self._ledger.keep_together(issued)
        return content

    def _block(self, action: Say | Call) -> dict[str, Any]:
        if isinstance(action, Say):
            return {"type": "text", "text": action.text}
        named = {"id": self.mint("toolu_"), "name": action.name}
        return {"type": "tool_use", **named, "input": dict(action.arguments)}


_MODIFIED = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. "
    "These blocks must remain as they were in the original response."
)


def _transformation(bound: Bound, mode: Mode) -> dict[str, str]:
    if mode == "reject":
        raise Refused(
            f"{bound.path}: Invalid `signature` in `thinking` block. The block is bound to a "
            "different conversation. Remove the block, or set "
            '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
        )
    kind = "thinking_dropped" if mode == "drop" else "thinking_mismatch_allowed"
    return {"type": kind, "path": bound.path, "reason": "prefix_binding_mismatch"}


def _latest_assistant(messages: Sequence[dict[str, Any]]) -> range:
    """The indices of the newest assistant turn."""
    end = len(messages)
    while end and messages[end - 1]["role"] != "assistant":
        end -= 1
    begin = end
    while begin and messages[begin - 1]["role"] == "assistant":
        begin -= 1
    return range(begin, end)


def _answered(messages: Sequence[dict[str, Any]]) -> int:
    count = 0
    for message in messages:
        results = sum(block.get("type") == "tool_result" for block in blocks(message))
        if message["role"] == "user":
            count = count + results if results else 0
    return count


def _events(message: dict[str, Any]) -> Iterator[bytes]:
    def send(kind: str, **fields: Any) -> bytes:
        return event({"type": kind, **fields}, name=kind)

    usage = message["usage"]
    begin = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield send("message_start", message=begin)
    for index, block in enumerate(message["content"]):
        empty, deltas = _pieces(block)
        yield send("content_block_start", index=index, content_block=empty)
        for delta in deltas:
            yield send("content_block_delta", index=index, delta=delta)
        yield send("content_block_stop", index=index)
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield send("message_delta", delta=end, usage={"output_tokens": usage["output_tokens"]})
    yield send("message_stop")


def _pieces(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block as it begins, and what is added to it."""
    kind = block["type"]
    if kind == "text":
        half = len(block["text"]) // 2
        pieces = (block["text"][:half], block["text"][half:])
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces if piece]
        return {**block, "text": ""}, deltas
    if kind == "thinking":
        return {**block, "thinking": "", "signature": ""}, [
            {"type": "thinking_delta", "thinking": block["thinking"]},
            {"type": "signature_delta", "signature": block["signature"]},
        ]
    if kind == "tool_use":
        text = msgspec.json.encode(block["input"]).decode()
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": text}]
    return block, []
