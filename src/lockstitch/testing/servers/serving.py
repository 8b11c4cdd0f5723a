"""Serving: any ASGI application on a free port of this machine, in a thread.

Knows: enough of HTTP/1.1 for the SDKs' clients, from the standard library alone: fixed-length and
chunked requests, kept connections, chunked answers.

Must not know: what is served.
"""

from __future__ import annotations

import asyncio
import threading
import traceback
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from concurrent.futures import Future
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, TypeAlias
from urllib.parse import unquote

__all__ = ["Application", "serve"]

Application: TypeAlias = Callable[[MutableMapping[str, Any], Any, Any], Awaitable[None]]
Header: TypeAlias = tuple[bytes, bytes]

_START_SECONDS = 30


@contextmanager
def serve(app: Application) -> Iterator[str]:
    """Serve an ASGI application while the block runs; yield its base URL.

    Args:
        app: the application; one of the strict servers, or any other.

    >>> from lockstitch.testing.servers import MistralServer
    >>> with serve(MistralServer()) as url:
    ...     print(url)
    http://127.0.0.1:...
    """
    started: Future[tuple[int, Callable[[], None]]] = Future()
    thread = threading.Thread(target=lambda: asyncio.run(_run(app, started)), daemon=True)
    thread.start()
    port, stop = started.result(_START_SECONDS)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        stop()
        thread.join()


async def _run(app: Application, started: Future[tuple[int, Callable[[], None]]]) -> None:
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    connections: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        task.add_done_callback(connections.discard)
        try:
            while await _exchange(app, reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the client, or `serve`, has closed the connection
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    port: int = server.sockets[0].getsockname()[1]

    def stop() -> None:
        loop.call_soon_threadsafe(stopping.set)

    started.set_result((port, stop))
    await stopping.wait()
    server.close()
    for task in tuple(connections):
        task.cancel()
    await asyncio.gather(*connections, return_exceptions=True)


async def _exchange(
    app: Application, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bool:
    """Read one request and answer it; say whether the connection stays open."""
    line = await reader.readline()
    if not line.strip():
        return False
    method, target, _ = line.decode("latin-1").split(" ", 2)
    headers = await _headers(reader)
    fields = dict(headers)
    if fields.get(b"expect", b"").lower() == b"100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    body = await _body(reader, fields)
    path, _, query = target.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode("latin-1"),
        "query_string": query.encode("latin-1"),
        "root_path": "",
        "headers": headers,
    }
    await _respond(app, scope, body, writer)
    return fields.get(b"connection", b"").lower() != b"close"


async def _headers(reader: asyncio.StreamReader) -> list[Header]:
    headers = []
    while line := (await reader.readline()).rstrip(b"\r\n"):
        name, _, value = line.partition(b":")
        headers.append((name.strip().lower(), value.strip()))
    return headers


async def _body(reader: asyncio.StreamReader, fields: dict[bytes, bytes]) -> bytes:
    if fields.get(b"transfer-encoding", b"").lower() != b"chunked":
        return await reader.readexactly(int(fields.get(b"content-length", b"0")))
    body = b""
    while length := int((await reader.readline()).split(b";")[0], 16):
        body += await reader.readexactly(length)
        await reader.readline()
    await _headers(reader)
    return body


async def _respond(
    app: Application, scope: MutableMapping[str, Any], body: bytes, writer: asyncio.StreamWriter
) -> None:
    begun = False

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        nonlocal begun
        if message["type"] == "http.response.start":
            begun = True
            status = HTTPStatus(message["status"])
            writer.write(f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode())
            for name, value in message["headers"]:
                writer.write(name + b": " + value + b"\r\n")
            writer.write(b"transfer-encoding: chunked\r\n\r\n")
            return
        if chunk := message.get("body", b""):
            writer.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
        if not message.get("more_body"):
            writer.write(b"0\r\n\r\n")
        await writer.drain()

    try:
        await app(scope, receive, send)
    except Exception:
        if begun:
            raise
        # A fault of the application is shown to the client: it is a test that looks at it.
        text = traceback.format_exc().encode()
        start = {"type": "http.response.start", "status": 500}
        await send({**start, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": text})
