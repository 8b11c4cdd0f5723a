"""A TCP proxy that counts what passes and fails on request, at any byte.

    with TcpProxy((host, port)) as proxy:
        with proxy.counting() as seen:
            ...                           # a client that talks to proxy.host, proxy.port
        assert seen.round_trips == 1
        proxy.cut_after(received=10)      # the answer breaks off after ten bytes, once

A round trip begins whenever a client speaks after the server did, or first; what a client sends
in one go, and all that comes back, is one. The bytes of handshakes count like any others.
"""

import contextlib
import dataclasses
import socket
import struct
import threading
import time
from collections.abc import Iterator
from typing import Self
from urllib.parse import urlsplit, urlunsplit

from servers.processes import HOST, give_port_back, take_port

_CHUNK = 65_536


@dataclasses.dataclass
class Traffic:
    """What passed: bytes and round trips as the client sees them, and connections it opened."""

    round_trips: int = 0
    sent: int = 0
    received: int = 0
    connections: int = 0
    cuts: int = 0

    def since(self, before: "Traffic") -> "Traffic":
        pairs = zip(dataclasses.astuple(self), dataclasses.astuple(before), strict=True)
        return Traffic(*(now - then for now, then in pairs))


class _Connection:
    def __init__(self, client: socket.socket, server: socket.socket):
        self.sockets = (client, server)
        self.speaker = "server"
        self.closed = False
        self.severed = False  # the last bytes that pass are on their way

    def close(self, *, reset: bool = False) -> None:
        if self.closed:
            return
        self.closed = True
        for end in self.sockets:
            with contextlib.suppress(OSError):
                if reset:  # closing it will send RST, and what is on its way is lost
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                # Wakes the thread that waits for it, which then closes it.
                end.shutdown(socket.SHUT_RD if reset else socket.SHUT_RDWR)


class TcpProxy:
    """Stands before a server on a port of its own, from the moment it is made until `close()`."""

    def __init__(self, target: tuple[str, int]):
        self.target = target
        self.host, self.port = HOST, take_port()
        self.url = ""  # whoever knows the target by its URL writes here what leads through
        self.traffic = Traffic()  # since it was made
        self.delay = 0.0  # seconds, once a round trip, before the client's words go on
        self._lock = threading.RLock()
        self._flowing = threading.Event()
        self._flowing.set()
        self._left: dict[str, int] = {}
        self._reset = self._refuse_after = False
        self._connections: set[_Connection] = set()
        self._threads: list[threading.Thread] = []
        self._listener: socket.socket | None = None
        self.restore()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def through(self, url: str) -> str:
        """The same URL, but through this proxy."""
        parts = urlsplit(url)
        login, at, _ = parts.netloc.rpartition("@")
        return urlunsplit(parts._replace(netloc=f"{login}{at}{self.host}:{self.port}"))

    @contextlib.contextmanager
    def counting(self) -> Iterator[Traffic]:
        """What passes inside the block; the numbers are there when it is left."""
        with self._lock:
            before, seen = dataclasses.replace(self.traffic), Traffic()
        yield seen
        with self._lock:
            vars(seen).update(vars(self.traffic.since(before)))

    # --- failing ---------------------------------------------------------------------------------

    def cut_after(
        self,
        *,
        sent: int | None = None,
        received: int | None = None,
        reset: bool = False,
        refuse: bool = False,
    ) -> None:
        """Lets that many bytes more pass in that direction, over all connections, and then cuts.

        Exactly so many arrive, and no answer to them passes. The connection they arrive on is cut,
        once; with `refuse`, all are, and no new one is taken until `restore()`.
        """
        limits = {"sent": sent, "received": received}
        with self._lock:
            self._left = {way: left for way, left in limits.items() if left is not None}
            self._reset, self._refuse_after = reset, refuse

    def cut(self, *, reset: bool = False) -> None:
        """Cuts every connection now; new ones are welcome."""
        with self._lock:
            for connection in list(self._connections):
                self._cut(connection, reset=reset)

    def refuse(self, *, reset: bool = False) -> None:
        """Cuts all connections and refuses new ones, as a machine does where nothing listens."""
        with self._lock:
            listener, self._listener = self._listener, None
            if listener is not None:
                with contextlib.suppress(OSError):
                    listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits in accept()
                listener.close()
            self.cut(reset=reset)

    def stall(self) -> None:
        """Connections stay open and new ones are taken, but nothing passes until `restore()`."""
        self._flowing.clear()

    def restore(self) -> None:
        """Passes everything on again: no cut to come, no delay, no stalling, connections taken."""
        with self._lock:
            self._left, self.delay = {}, 0.0
            self._flowing.set()
            if self._listener is None:
                self._listener = socket.create_server((self.host, self.port), backlog=256)
                self._run(self._accept, self._listener)

    def close(self) -> None:
        if self.port:
            self.refuse()
            self._flowing.set()
            for thread in self._threads:
                thread.join(5)
            give_port_back(self.port)
            self.port = 0

    # --- passing on ------------------------------------------------------------------------------

    def _run(self, work, *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True, name="proxy")
        with self._lock:
            self._threads = [old for old in self._threads if old.is_alive()] + [thread]
            thread.start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            self._run(self._serve, client)

    def _serve(self, client: socket.socket) -> None:
        with contextlib.ExitStack() as stack:
            stack.enter_context(contextlib.suppress(OSError))
            stack.callback(client.close)
            server = stack.enter_context(socket.create_connection(self.target, timeout=10))
            server.settimeout(None)
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = _Connection(client, server)
            with self._lock:
                if self._listener is None:  # refused meanwhile
                    return
                self._connections.add(connection)
                self.traffic.connections += 1
            back = threading.Thread(
                target=self._pump, args=(connection, server, client, "received"), daemon=True
            )
            back.start()
            self._pump(connection, client, server, "sent")
            back.join()
            with self._lock:
                self._connections.discard(connection)

    def _pump(
        self, connection: _Connection, source: socket.socket, to: socket.socket, way: str
    ) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(_CHUNK):
                self._flowing.wait()
                passes, cut, new_trip = self._count(connection, way, data)
                if new_trip and self.delay:
                    time.sleep(self.delay)
                to.sendall(data[:passes])
                if cut:
                    with self._lock:
                        if self._refuse_after:
                            self.refuse(reset=self._reset)
                        self._cut(connection, reset=self._reset)
        connection.close()

    def _count(self, connection: _Connection, way: str, data: bytes) -> tuple[int, bool, bool]:
        """How many bytes pass, whether the connection is cut after them, and if a trip begins."""
        with self._lock:
            if connection.closed or connection.severed:
                return 0, False, False
            passes = len(data)
            cut = way in self._left and self._left[way] <= passes
            if way in self._left:
                passes = min(passes, self._left[way])
                self._left[way] -= passes
            if cut:
                self._left, connection.severed = {}, True
            new_trip = way == "sent" and connection.speaker == "server"
            connection.speaker = "client" if way == "sent" else "server"
            self.traffic.round_trips += new_trip
            setattr(self.traffic, way, getattr(self.traffic, way) + passes)
            return passes, cut, new_trip

    def _cut(self, connection: _Connection, *, reset: bool) -> None:
        if not connection.closed:
            self.traffic.cuts += 1
            connection.close(reset=reset)
