"""What every strict server shares: the ASGI callable, what it writes down, and how it refuses.

Knows: ASGI, JSON, server-sent events.

Must not know: any provider. It judges nothing, and neither it nor any server here may use the
library's own rules, pairing or formats: the two must be able to disagree.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping, Sequence
from typing import Any, ClassVar, TypeAlias
from urllib.parse import parse_qs

import msgspec

from lockstitch.testing.servers.script import Action, Prompt, Script, Think, reply
from lockstitch.testing.servers.shapes import misfit

__all__ = [
    "Refusal",
    "Refused",
    "Reply",
    "Request",
    "StrictServer",
    "digest",
    "event",
    "json_reply",
    "size",
]

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_NUMBERS_END = 400


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request as it came: where to, with what."""

    path: str
    body: dict[str, Any]
    query: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """A refusal as it was sent.

    Args:
        status: the HTTP status.
        text: the provider's error text.
        request: which of the server's `requests` it answers; None where the body was no JSON.
    """

    status: int
    text: str
    request: int | None = None


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """An HTTP answer, in one piece or in several."""

    chunks: Sequence[bytes]
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = {}

    @property
    def ok(self) -> bool:
        """Whether the request was accepted."""
        return self.status < _NUMBERS_END

    def json(self) -> Any:
        """Decode the body of an answer that is JSON."""
        return msgspec.json.decode(b"".join(self.chunks))


class Refused(Exception):
    """A request that the provider would refuse.

    Args:
        text: the provider's error text.
        status: the HTTP status.
        kind: the provider's name for this kind of error.
        param: what it is about, where the provider names that.
        code: the provider's code, where it has one.
    """

    def __init__(
        self,
        text: str,
        *,
        status: int = 400,
        kind: str = "",
        param: str | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(text)
        self.text = text
        self.status = status
        self.kind = kind
        self.param = param
        self.code = code


class StrictServer:
    """One provider's endpoint as an ASGI application.

    Args:
        script: decides what the model answers.

    Attributes:
        requests: every request whose body was JSON, in order.
        refusals: every refusal, in order.
    """

    path: ClassVar[str] = "/"
    """Where `ask` sends a body if it is told nothing else."""
    shape: ClassVar[Any] = dict[str, Any]
    """The types of the fields that are read."""
    misfit_status: ClassVar[int] = 400
    """How a field of another type is refused."""

    def __init__(self, *, script: Script | None = None) -> None:
        self.script: Script = script or reply()
        self.requests: list[Request] = []
        self.refusals: list[Refusal] = []
        self._minted: Counter[str] = Counter()
        self._answered = 0

    # What a provider's server says.

    def answer(self, request: Request) -> Reply:
        """Judge a request and answer it, or raise `Refused`."""
        raise NotImplementedError

    def refusal(self, refused: Refused) -> Reply:
        """Word a refusal in the provider's shape."""
        raise NotImplementedError

    # What it may use for that.

    def mint(self, prefix: str, length: int = 24) -> str:
        """Make the next id with a prefix: by counter, the same in every run.

        >>> StrictServer().mint("call_", 4)
        'call_0001'
        """
        self._minted[prefix] += 1
        return f"{prefix}{self._minted[prefix]:0{length}d}"

    def decide(
        self,
        body: Mapping[str, Any],
        *,
        tools: Iterable[Any],
        answered: int,
        thinks: bool = False,
    ) -> list[Action]:
        """Ask the script what the model does."""
        prompt = Prompt(
            body=body,
            tools=tuple(name for name in tools if isinstance(name, str)),
            number=self._answered,
            answered=answered,
            thinks=thinks,
        )
        actions: list[Action] = list(self.script(prompt))
        self._answered += 1
        if not thinks:
            actions[:] = [action for action in actions if not isinstance(action, Think)]
        elif not any(isinstance(action, Think) for action in actions):
            actions.insert(0, Think(f"Thought {self._answered}."))
        if not actions:
            raise ValueError("the script gave no action to answer with")
        return actions

    # How it is asked.

    def ask(self, body: Any, *, path: str | None = None) -> Reply:
        """Answer a request body without a network, as it would be answered over one."""
        return self._take(path or self.path, {}, {}, msgspec.json.encode(body))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        raw = await _read(receive)
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        reply = self._take(
            scope["path"],
            {name: values[-1] for name, values in query.items()},
            {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]},
            raw,
            method=scope["method"],
        )
        headers = {"content-type": reply.content_type, **reply.headers}
        await send(
            {
                "type": "http.response.start",
                "status": reply.status,
                "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            }
        )
        for chunk in reply.chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _answer(self, request: Request) -> Reply:
        try:
            return self.answer(request)
        except (AttributeError, KeyError, TypeError, ValueError):
            # A body whose fields have the wrong types is the client's fault; any other is ours.
            wrong = misfit(request.body, self.shape)
            if wrong is None:
                raise
            raise Refused(wrong, status=self.misfit_status) from None

    def _take(
        self,
        path: str,
        query: Mapping[str, str],
        headers: Mapping[str, str],
        raw: bytes,
        *,
        method: str = "POST",
    ) -> Reply:
        number: int | None = None
        try:
            body = _decode(method, raw)
            number = len(self.requests)
            request = Request(path=path, body=body, query=query, headers=headers)
            self.requests.append(request)
            return self._answer(request)
        except Refused as refused:
            self.refusals.append(Refusal(status=refused.status, text=refused.text, request=number))
            return self.refusal(refused)


def json_reply(value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """Answer with a JSON document."""
    return Reply(chunks=[msgspec.json.encode(value)], status=status, headers=headers or {})


def event(data: Any, *, name: str | None = None) -> bytes:
    r"""Write one server-sent event.

    >>> event({"a": 1}, name="ping")
    b'event: ping\ndata: {"a":1}\n\n'
    """
    line = b"data: " + (data.encode() if isinstance(data, str) else msgspec.json.encode(data))
    return (f"event: {name}\n".encode() if name else b"") + line + b"\n\n"


def size(value: Any) -> int:
    """Count "tokens": a fixed share of the bytes. For usage fields, not for measuring."""
    return len(msgspec.json.encode(value)) // 4 + 1


def digest(*parts: Any) -> str:
    """Hash JSON values in their canonical form, for seals that only this server can check."""
    hasher = hashlib.sha256()
    for part in parts:
        hasher.update(msgspec.json.encode(part, order="sorted") + b"\0")
    return hasher.hexdigest()


def _decode(method: str, raw: bytes) -> dict[str, Any]:
    if method != "POST":
        raise Refused("Method Not Allowed", status=405)
    try:
        body = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(f"We could not parse the JSON body of your request: {error}") from None
    if not isinstance(body, dict):
        raise Refused("The body of the request must be a JSON object.")
    return body


async def _read(receive: Receive) -> bytes:
    raw = b""
    while True:
        message = await receive()
        raw += bytes(message.get("body", b""))
        if not message.get("more_body"):
            return raw


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
