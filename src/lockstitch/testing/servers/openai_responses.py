"""OpenAI's Responses endpoints, strict.

Knows: how requests are routed and answered, what is stored, and when a compaction is written.

Must not know: the library's own rules. What the items show is judged in `responses_checks`, what
the server holds in `responses_ledger`; the events are in `responses_wire`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec

from lockstitch.testing.servers.base import Refused, Reply, Request, StrictServer, json_reply, size
from lockstitch.testing.servers.openai_chat import openai_refusal
from lockstitch.testing.servers.responses_checks import (
    Item,
    items,
    judge_items,
    judge_pairs,
    kind,
)
from lockstitch.testing.servers.responses_ledger import ResponsesLedger
from lockstitch.testing.servers.responses_wire import CREATED, stream
from lockstitch.testing.servers.script import Action, Say, Script, Think
from lockstitch.testing.servers.shapes import ResponsesBody

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["OpenAIResponsesServer"]

_REASONING_MODELS = ("gpt-5", "gpt-6", "o1", "o3", "o4")
_ENCRYPTED = "reasoning.encrypted_content"


class OpenAIResponsesServer(StrictServer):
    """`POST /v1/responses` and `/v1/responses/compact`.

    Args:
        script: decides what the model answers; a short text if it is not given.
        strangers: `refuse` what refers to a response, reasoning or sealed content that this server
            never issued; `accept` takes it, which a recorded request needs.
        reasoning_models: the beginnings of the names of models that reason.
        adjacent: refuse a message between a call and its output, as stricter endpoints of this
            shape do; OpenAI's own is not known to.

    >>> server = OpenAIResponsesServer()
    >>> call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    >>> server.ask({"model": "gpt-5", "input": [call]}).json()["error"]["message"]
    'No tool output found for function call c.'
    """

    path: ClassVar[str] = "/v1/responses"
    shape: ClassVar[Any] = ResponsesBody

    def __init__(
        self,
        *,
        script: Script | None = None,
        strangers: Literal["refuse", "accept"] = "refuse",
        reasoning_models: Sequence[str] = _REASONING_MODELS,
        adjacent: bool = False,
    ) -> None:
        super().__init__(script=script)
        self.strangers = strangers
        self.reasoning_models = tuple(reasoning_models)
        self.adjacent = adjacent
        self._ledger = ResponsesLedger(strangers)

    def answer(self, request: Request) -> Reply:
        """Judge a request and answer it, or raise `Refused`."""
        path = request.path.rstrip("/")
        compacting = path == f"{self.path}/compact"
        if path != self.path and not compacting:
            raise Refused(f"Invalid URL (POST {request.path})", status=404)
        body = request.body
        if not isinstance(body.get("model"), str):
            raise Refused("you must provide a model parameter")
        held, given = self._judge(body)
        if compacting:
            return json_reply(self._compacted(body, given))
        output = self._output(body, [*held, *given])
        response = self._response(body, output)
        storing = _stores(body)
        self._ledger.issue(output, stored=storing)
        if storing:
            self._ledger.store(response["id"], _before(body), [*given, *output])
        if body.get("stream"):
            return Reply(chunks=list(stream(response)), content_type="text/event-stream")
        return json_reply(response)

    def refusal(self, refused: Refused) -> Reply:
        """Word a refusal in OpenAI's shape."""
        return openai_refusal(refused)

    def adopt(self, given: Iterable[Item], *, stored: bool = True) -> None:
        """Take items for issued, each bound to the reasoning in front of it.

        For a history that was made up: all that its ids and sealed contents stand for is known from
        then on.
        """
        self._ledger.issue(given, stored=stored)

    def _judge(self, body: dict[str, Any]) -> tuple[list[Item], list[Item]]:
        given = items(body)
        before = _before(body)
        if not given and before is None:
            raise Refused(
                "Missing required parameter: 'input'.",
                param="input",
                code="missing_required_parameter",
            )
        judge_items(given)
        storing = _stores(body)
        held, known = self._ledger.chain(before)
        self._ledger.judge_duplicates(held, given)
        given = self._ledger.resolve(given, storing=storing)
        self._ledger.judge_seals(given)
        self._ledger.judge_reasoning(held, given, storing=storing)
        judge_pairs(held, given, known=known, adjacent=self.adjacent)
        return held, given

    def _output(self, body: dict[str, Any], context: Sequence[Item]) -> list[dict[str, Any]]:
        if context and kind(context[-1]) == "compaction_trigger":
            return [self._compaction()]
        output = [self._compaction()] if _is_over_threshold(body) else []
        actions = self.decide(
            body,
            tools=[tool.get("name") for tool in body.get("tools") or ()],
            answered=_answered(context),
            thinks=body["model"].startswith(self.reasoning_models),
        )
        sealing = _ENCRYPTED in (body.get("include") or ())
        return output + [self._item(action, sealing=sealing) for action in actions]

    def _item(self, action: Action, *, sealing: bool) -> dict[str, Any]:
        if isinstance(action, Think):
            name = self.mint("rs_", 50)
            summary = [{"type": "summary_text", "text": action.text}]
            item = {"type": "reasoning", "id": name, "summary": summary}
            return {**item, "encrypted_content": self._ledger.seal(name)} if sealing else item
        if isinstance(action, Say):
            part = {"type": "output_text", "text": action.text, "annotations": []}
            return {
                "type": "message",
                "id": self.mint("msg_", 50),
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
        return {
            "type": "function_call",
            "id": self.mint("fc_", 50),
            "call_id": self.mint("call_"),
            "name": action.name,
            "arguments": msgspec.json.encode(action.arguments).decode(),
            "status": "completed",
        }

    def _compaction(self) -> dict[str, Any]:
        name = self.mint("cmp_", 50)
        return {"type": "compaction", "id": name, "encrypted_content": self._ledger.seal(name)}

    def _compacted(self, body: dict[str, Any], given: Sequence[Item]) -> dict[str, Any]:
        kept = [_written_out(item) for item in given if item.get("role") == "user"]
        output = [*kept, self._compaction()]
        self._ledger.issue(output[-1:], stored=True)
        return {
            "id": self.mint("resp_", 50),
            "object": "response.compaction",
            "created_at": CREATED,
            "output": output,
            "usage": _usage(body, output),
        }

    def _response(self, body: dict[str, Any], output: Sequence[Item]) -> dict[str, Any]:
        return {
            "id": self.mint("resp_", 50),
            "object": "response",
            "created_at": CREATED,
            "status": "completed",
            "error": None,
            "incomplete_details": None,
            "instructions": body.get("instructions"),
            "metadata": body.get("metadata") or {},
            "model": body["model"],
            "output": output,
            "parallel_tool_calls": body.get("parallel_tool_calls", True),
            "previous_response_id": body.get("previous_response_id"),
            "store": _stores(body),
            "temperature": 1.0,
            "tool_choice": body.get("tool_choice") or "auto",
            "tools": body.get("tools") or [],
            "top_p": 1.0,
            "usage": _usage(body, output),
        }


def _stores(body: dict[str, Any]) -> bool:
    return body.get("store") is not False


def _before(body: dict[str, Any]) -> str | None:
    """What the request goes on from: a response, or a conversation that is held elsewhere."""
    conversation = body.get("conversation")
    if isinstance(conversation, dict):
        conversation = conversation.get("id")
    before = body.get("previous_response_id") or conversation
    return before if isinstance(before, str) else None


def _is_over_threshold(body: dict[str, Any]) -> bool:
    limits = [
        entry.get("compact_threshold")
        for entry in body.get("context_management") or ()
        if entry.get("type") == "compaction"
    ]
    return any(isinstance(limit, int) and size(body["input"]) > limit for limit in limits)


def _written_out(message: Item) -> dict[str, Any]:
    """A user message in its long form."""
    content = message["content"]
    if isinstance(content, str):
        content = [{"type": "input_text", "text": content}]
    return {**message, "type": "message", "content": content}


def _answered(context: Sequence[Item]) -> int:
    count = 0
    for item in context:
        if item.get("role") == "user":
            count = 0
        elif kind(item).endswith("_call_output"):
            count += 1
    return count


def _usage(body: dict[str, Any], output: Sequence[Item]) -> dict[str, Any]:
    given, made = size(body), size(output)
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": given + made,
    }
