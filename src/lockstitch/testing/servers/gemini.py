"""Gemini's generateContent endpoints, strict.

Knows: what Gemini refuses in `contents`, judged on turns joined by role; the thought signatures it
issues and wants back; and the words it uses. Both spellings of keys are read.

Must not know: the library's own rules.
"""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec

from lockstitch.testing.servers.base import (
    Refused,
    Reply,
    Request,
    StrictServer,
    digest,
    json_reply,
    size,
)
from lockstitch.testing.servers.script import Action, Call, Say, Script, Think
from lockstitch.testing.servers.shapes import GeminiBody

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["GeminiServer"]

_ROUTE = re.compile(
    r"/v1(?:beta|beta1|alpha)?/(?:.*/)?models/(?P<model>[^/:]+):(?P<how>(stream)?[gG]enerateContent)"
)
_BYPASS = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
_DATA = (
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
)

Part = dict[str, Any]


class _Turn(msgspec.Struct):
    """Neighbouring contents of one role, joined."""

    role: str
    contents: list[tuple[int, list[Part]]]

    def parts(self) -> list[Part]:
        return [part for _, parts in self.contents for part in parts]

    def holding(self, key: str) -> list[Part]:
        return [part for part in self.parts() if key in part]


class GeminiServer(StrictServer):
    """`POST /v1beta/models/{model}:generateContent` and `:streamGenerateContent`.

    Args:
        script: decides what the model answers; a short text if it is not given.
        signatures: `issued` refuses a thought signature that this server did not issue for that
            call; `any` takes it, which a recorded request needs.
        signing: the beginnings of the names of models that sign calls and demand it.

    >>> server = GeminiServer()
    >>> server.ask({"contents": [{"role": "model", "parts": [{"text": "a"}]}]}).status
    400
    """

    path: ClassVar[str] = "/v1beta/models/gemini-3-pro-preview:generateContent"
    shape: ClassVar[Any] = GeminiBody

    def __init__(
        self,
        *,
        script: Script | None = None,
        signatures: Literal["issued", "any"] = "issued",
        signing: Sequence[str] = ("gemini-3",),
    ) -> None:
        super().__init__(script=script)
        self.signatures = signatures
        self.signing = tuple(signing)
        self._issued: dict[str, str] = {}

    def answer(self, request: Request) -> Reply:
        """Judge a request and answer it, or raise `Refused`."""
        route = _ROUTE.fullmatch(request.path)
        if route is None:
            raise Refused(f"Not found: {request.path}", status=404, kind="NOT_FOUND")
        body = request.body
        turns = _turns(body)
        _judge_turns(turns)
        signs = route["model"].startswith(self.signing)
        self._judge_signatures(turns, demanded=signs)
        declared = _declared(body.get("tools") or ())
        actions = self.decide(body, tools=declared, answered=_answered(turns), thinks=signs)
        parts = self._parts(actions, signs=signs)
        used = {"promptTokenCount": size(body), "candidatesTokenCount": size(parts)}
        usage = {**used, "totalTokenCount": sum(used.values())}
        head = {
            "usageMetadata": usage,
            "modelVersion": route["model"],
            "responseId": self.mint("response-"),
        }
        if route["how"] == "generateContent":
            return json_reply({"candidates": [_candidate(parts, last=True)], **head})
        chunks = [
            {"candidates": [_candidate([part], last=at == len(parts) - 1)], **head}
            for at, part in enumerate(parts)
        ]
        if request.query.get("alt") != "sse":
            return json_reply(chunks)
        return Reply(
            chunks=[b"data: " + msgspec.json.encode(chunk) + b"\r\n\r\n" for chunk in chunks],
            content_type="text/event-stream",
        )

    def refusal(self, refused: Refused) -> Reply:
        """Word a refusal in Google's shape."""
        status = refused.kind or "INVALID_ARGUMENT"
        error = {"code": refused.status, "message": refused.text, "status": status}
        return json_reply({"error": error}, status=refused.status)

    def signed(self, contents: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Copy contents with the signatures this server would have issued for their calls.

        For a history that was made up: the first call of each step gets its signature, the others
        get none.
        """
        made: list[dict[str, Any]] = msgspec.json.decode(msgspec.json.encode(contents))
        for turn in _turns({"contents": made}):
            for at, part in enumerate(turn.holding("functionCall")):
                for key in ("thoughtSignature", "thought_signature"):
                    part["raw"].pop(key, None)
                if at == 0:
                    part["raw"]["thoughtSignature"] = self._sign(part["functionCall"])
        return made

    def _sign(self, call: Mapping[str, Any]) -> str:
        seal = _seal(call)
        signature = base64.b64encode(digest("thought", seal).encode()).decode()
        self._issued[signature] = seal
        return signature

    def _parts(self, actions: Sequence[Action], *, signs: bool) -> list[Part]:
        parts: list[Part] = []
        called = False
        for action in actions:
            if isinstance(action, Say):
                parts.append({"text": action.text})
            elif isinstance(action, Think):
                parts.append({"text": action.text, "thought": True})
            else:
                parts.append(self._call(action, signs=signs and not called))
                called = True
        return parts

    def _call(self, action: Call, *, signs: bool) -> Part:
        call = {"id": self.mint("call-", 8), "name": action.name, "args": dict(action.arguments)}
        return {
            "functionCall": call,
            **({"thoughtSignature": self._sign(call)} if signs else {}),
        }

    def _judge_signatures(self, turns: Sequence[_Turn], *, demanded: bool) -> None:
        current = max(
            (
                at
                for at, turn in enumerate(turns)
                if turn.role == "user" and not turn.holding("functionResponse")
            ),
            default=0,
        )
        for at, turn in enumerate(turns):
            for position, part in enumerate(turn.holding("functionCall")):
                call, signature = part["functionCall"], part.get("thoughtSignature")
                if not signature:
                    if demanded and position == 0 and at > current:
                        raise Refused(_MISSING.format(call.get("name"), turn.contents[0][0] + 1))
                elif self.signatures == "issued" and signature not in _BYPASS:
                    self._judge_signature(str(signature), call)

    def _judge_signature(self, signature: str, call: Mapping[str, Any]) -> None:
        # SDKs write bytes in the URL-safe alphabet.
        plain = signature.replace("-", "+").replace("_", "/")
        try:
            bypass = base64.b64decode(plain + "==").decode("utf-8", "replace")
        except ValueError:
            bypass = ""
        if bypass in _BYPASS:
            return
        if self._issued.get(plain) != _seal(call):
            raise Refused("Corrupted thought signature.")


_MISSING = (
    "Function call is missing a thought_signature in functionCall parts. This is required for "
    "tools to work correctly, and missing thought_signature may lead to degraded model "
    "performance. Additional data, function call `default_api:{}` , position {}. Please refer to "
    "https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
)


def _seal(call: Mapping[str, Any]) -> str:
    """What a signature is bound to: the call as the model made it, without its id."""
    return digest(call.get("name"), call.get("args") or {})


def _candidate(parts: Sequence[Part], *, last: bool) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    return {**candidate, "finishReason": "STOP"} if last else candidate


def _camel(key: str) -> str:
    head, *rest = key.split("_")
    return head + "".join(word.title() for word in rest)


def _turns(body: dict[str, Any]) -> list[_Turn]:
    """Read the contents, judge each on its own, and join neighbours of one role."""
    contents = body.get("contents")
    if not contents:
        raise Refused("* GenerateContentRequest.contents: contents is not specified")
    if not isinstance(contents, list) or not all(isinstance(one, dict) for one in contents):
        raise Refused('Invalid value at "contents": expected a list of objects')
    turns: list[_Turn] = []
    for index, content in enumerate(contents):
        role = content.get("role") or "user"
        if role not in {"user", "model"}:
            raise Refused("Please use a valid role: user, model.")
        parts = list(_content_parts(index, content))
        if turns and turns[-1].role == role:
            turns[-1].contents.append((index, parts))
        else:
            turns.append(_Turn(role, [(index, parts)]))
    return turns


def _content_parts(index: int, content: Mapping[str, Any]) -> Iterator[Part]:
    where = f"GenerateContentRequest.contents[{index}].parts"
    parts = content.get("parts")
    if not isinstance(parts, list) or not parts:
        raise Refused(f"* {where}: contents.parts must not be empty.")
    for at, raw in enumerate(parts):
        part = {_camel(key): value for key, value in raw.items()} if isinstance(raw, dict) else {}
        if not any(part.get(key) is not None for key in _DATA) and not part.get("thought"):
            raise Refused(
                f"* {where}[{at}].data: required oneof field 'data' must have one initialized field"
            )
        for key in ("functionCall", "functionResponse"):
            if key in part and not isinstance(part[key], dict):
                raise Refused(f'Invalid value at "contents[{index}].parts[{at}].{key}"')
        response = part.get("functionResponse")
        if response is not None and not response.get("name"):
            raise Refused(f"* {where}[{at}].function_response.name: Name cannot be empty.")
        yield {**part, "raw": raw}


def _judge_turns(turns: Sequence[_Turn]) -> None:
    calls = 0
    for at, turn in enumerate(turns):
        if turn.role == "user":
            _judge_responses(turn, calls)
            calls = 0
            continue
        calls = len(turn.holding("functionCall"))
        begins = [any("functionCall" in part for part in parts) for _, parts in turn.contents]
        # A call turn that follows a model turn of text alone is refused; calls behind calls are
        # joined.
        if calls and (at == 0 or not begins[0]):
            raise Refused(
                "Please ensure that function call turn comes immediately after a user turn or "
                "after a function response turn."
            )
    if turns[-1].role == "model":
        if calls:
            raise Refused(_UNEQUAL)
        raise Refused(
            "Please ensure that multiturn requests ends with a user role or a function response."
        )


_UNEQUAL = (
    "Please ensure that the number of function response parts is equal to the number of function "
    "call parts of the function call turn."
)


def _judge_responses(turn: _Turn, calls: int) -> None:
    """All responses stand in one content, directly behind their calls; text may follow."""
    counts = [sum("functionResponse" in part for part in parts) for _, parts in turn.contents]
    if calls and counts[0] != calls:
        raise Refused(_UNEQUAL)
    if sum(counts) > calls:
        raise Refused(
            "Please ensure that function response turn comes immediately after a function call "
            "turn."
        )


def _declared(tools: Any) -> list[Any]:
    """Name the functions of a request's `tools`: a list of tools, or one."""
    return [
        function.get("name")
        for tool in (tools if isinstance(tools, list) else [tools] if tools else [])
        for key in ("functionDeclarations", "function_declarations")
        for function in tool.get(key) or ()
    ]


def _answered(turns: Sequence[_Turn]) -> int:
    count = 0
    for turn in turns:
        responses = len(turn.holding("functionResponse"))
        if turn.role == "user":
            count = count + responses if responses else 0
    return count
