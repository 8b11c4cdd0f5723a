"""What every server needs: a folder, a port that stays its own, and to die when its starter dies.

Nothing outlives the process that started it. The kernel sends a server its signal when the thread
that started it ends (PR_SET_PDEATHSIG, through setpriv, which Debian always has), and one thread
that lives as long as the process starts them all, so that a test may start a server from any
thread. Folders of processes that died are found by their lock, which the kernel lets go of, and
are removed by whoever starts a server next.
"""

import atexit
import contextlib
import fcntl
import functools
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HOST = "127.0.0.1"
PORTS = range(20_000, 32_000)  # below those that Linux gives to outgoing connections

_OURS = Path(tempfile.gettempdir()) / f"lockstitch-servers-{os.getuid()}"
_starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="starts-servers")
_lock = threading.Lock()
_counter = iter(range(1_000_000))
_port_locks: dict[int, int] = {}


def _begin_anew() -> None:
    """A fork has no thread that starts servers, and a folder that is not its own."""
    global _starter, _lock  # noqa: PLW0603 -- there is one of each in a process
    _starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="starts-servers")
    _lock = threading.Lock()
    _home.cache_clear()


os.register_at_fork(after_in_child=_begin_anew)


class NotStarted(RuntimeError):
    """A server ended, or did not answer in time; the message holds the end of its log."""


def wait_until(true: Callable[[], object], what: str, *, seconds: float = 20) -> None:
    """Asks every 20 ms until it is true; fails after `seconds` with `what` was waited for."""
    until = time.monotonic() + seconds
    while not true():
        if time.monotonic() > until:
            raise TimeoutError(f"after {seconds} seconds still not: {what}")
        time.sleep(0.02)


def _try_lock(path: Path) -> int | None:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle


def sweep() -> None:
    """Removes the folders of processes that died before they could."""
    for lock in (_OURS / "runs").glob("*.lock"):
        with contextlib.suppress(OSError):  # another process sweeps the same folders
            handle = _try_lock(lock)
            if handle is not None:
                shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
                lock.unlink(missing_ok=True)
                os.close(handle)


@functools.cache
def _home() -> Path:
    """The folder of this process, locked while it lives."""
    runs = _OURS / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    sweep()
    while True:
        home = runs / f"{os.getpid()}-{secrets.token_hex(2)}"
        lock = home.with_suffix(".lock")
        handle = _try_lock(lock)
        # A sweep may have come between making the lock file and locking it.
        if handle is not None and lock.exists() and os.fstat(handle).st_ino == lock.stat().st_ino:
            break
    home.mkdir()
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # and not a fork of it
            shutil.rmtree(home, ignore_errors=True)
            lock.unlink(missing_ok=True)

    atexit.register(remove)
    return home


def package_folder(package: str) -> Path | None:
    """Where a package lies; importing one that carries a server would already do things."""
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent if spec is not None and spec.origin is not None else None


def new_folder(name: str) -> Path:
    with _lock:
        folder = _home() / f"{name}-{next(_counter)}"
    folder.mkdir()
    return folder


def take_port() -> int:
    """A port that no other test process takes until this one ends or gives it back."""
    folder = _OURS / "ports"
    folder.mkdir(parents=True, exist_ok=True)
    # Not `random`: Hypothesis seeds that, and then all test processes try the same ports.
    first = secrets.randbelow(len(PORTS))
    for port in (*PORTS[first:], *PORTS[:first]):
        with _lock:
            if port in _port_locks or (handle := _try_lock(folder / str(port))) is None:
                continue
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind((HOST, port))
                except OSError:
                    os.close(handle)
                    continue
            _port_locks[port] = handle
        return port
    raise NotStarted(f"no port is free between {PORTS[0]} and {PORTS[-1]}")


def give_port_back(port: int) -> None:
    with _lock:
        os.close(_port_locks.pop(port))


@functools.cache
def _setpriv() -> str | None:
    found = shutil.which("setpriv")
    if found is None:
        return None
    told = subprocess.run([found, "--help"], capture_output=True, text=True, check=False)
    return found if "--pdeathsig" in told.stdout else None


@functools.cache
def _closed_to_others(folder: Path) -> bool:
    return any(not place.stat().st_mode & 0o001 for place in (folder, *folder.parents))


def _becoming(user: str, program: Path) -> list[str]:
    """The arguments of setpriv to run as that user, even if the program lies in a closed folder.

    A checkout below /root is closed to everyone else. Opening it is not ours to do, and copying
    the program takes longer than starting it, so the process keeps one capability: to go where
    its files are. The secure bit lets `access()` see that capability too.
    """
    arguments = ["--reuid", user, "--regid", _group_of(user), "--clear-groups"]
    if _closed_to_others(program.resolve().parent):
        arguments += ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
        arguments += ["--securebits=+no_setuid_fixup"]
    return arguments


def _group_of(user: str) -> str:
    return str(pwd.getpwnam(user).pw_gid)


class Process:
    """A program that runs until it is told to stop, or until this process ends."""

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        log: Path,
        folder: Path,
        user: str | None = None,
        on_our_death: signal.Signals = signal.SIGKILL,
        environment: Mapping[str, str] | None = None,
    ):
        self.log = log
        full = [str(part) for part in command]
        setpriv = _setpriv()
        if setpriv is not None:
            become = _becoming(user, Path(full[0])) if user is not None else []
            full = [setpriv, "--pdeathsig", on_our_death.name.removeprefix("SIG"), *become, *full]
        elif user is not None:
            raise NotStarted(f"{full[0]} cannot run as {user}: there is no setpriv (util-linux)")

        def start() -> subprocess.Popen[bytes]:
            with log.open("ab") as written:
                return subprocess.Popen(
                    full,
                    stdin=subprocess.DEVNULL,
                    stdout=written,
                    stderr=subprocess.STDOUT,
                    cwd=folder,
                    env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", **(environment or {})},
                )

        self._popen = _starter.submit(start).result()
        self.pid = self._popen.pid

    @property
    def running(self) -> bool:
        return self._popen.poll() is None

    def send(self, number: signal.Signals) -> None:
        self._popen.send_signal(number)

    def end(self, number: signal.Signals, *, seconds: float = 10) -> None:
        """Sends the signal and waits; what has not ended after `seconds` is killed."""
        self.send(signal.SIGCONT)  # a paused process hears nothing but SIGKILL
        self.send(number)
        try:
            self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()

    def wait(self, seconds: float) -> int:
        """The exit code of what ends by itself; it is killed if that takes longer."""
        try:
            return self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            self.end(signal.SIGKILL)
            raise

    def wait_until_up(self, up: Callable[[], bool], *, seconds: float = 20) -> None:
        until = time.monotonic() + seconds
        while not up():
            if not self.running or time.monotonic() > until:
                state = "is not up" if self.running else f"ended with {self._popen.returncode}"
                self.end(signal.SIGKILL)
                raise NotStarted(f"{self._popen.args} {state}:\n{tail(self.log)}")
            time.sleep(0.005)


def tail(log: Path, lines: int = 30) -> str:
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])
