"""Running the command: in this process, as a process of its own, and on a terminal."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lockstitch import open_store
from lockstitch.cli import main

DATA = Path(__file__).parent / "data"
SAMPLES = sorted(path.name for path in DATA.iterdir())


@pytest.fixture
def data() -> Path:
    return DATA


@pytest.fixture(params=SAMPLES)
def sample(request) -> Path:
    """One file of each format."""
    return DATA / request.param


@pytest.fixture
def run():
    """Run the command in this process."""

    def run(*arguments, stdin: bytes | None = None) -> Result:
        result = CliRunner().invoke(main, [str(one) for one in arguments], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def write(tmp_path):
    """Write a file and return its path."""

    def write(content, name: str = "history.json") -> Path:
        path = tmp_path / name
        if isinstance(content, str):
            content = content.encode()
        elif not isinstance(content, bytes):
            content = json.dumps(content).encode()
        path.write_bytes(content)
        return path

    return write


@pytest.fixture
def url(tmp_path) -> str:
    """Return the address of a store in a file that is not there yet."""
    return f"sqlite:///{tmp_path / 'chat.db'}"


@pytest.fixture
def chat(url):
    """Return a handle on the session `s` of that store."""
    with open_store(url) as store:
        yield store.session("s")


@pytest.fixture
def process():
    """Run the command as a process of its own."""

    def process(*arguments, **options) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "lockstitch", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, check=False, timeout=60, **options)

    return process


@pytest.fixture
def terminal():
    """Run the command on a terminal of its own and return what it shows there."""
    pty = pytest.importorskip("pty")

    def terminal(*arguments, columns: int = 120, **environment: str) -> str:
        near, far = pty.openpty()
        unset = {"NO_COLOR", "TERM", "FORCE_COLOR"}
        inherited = {name: value for name, value in os.environ.items() if name not in unset}
        started = subprocess.Popen(
            [sys.executable, "-m", "lockstitch", *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=far,
            stderr=far,
            env=inherited | {"TERM": "xterm-256color", "COLUMNS": str(columns)} | environment,
        )
        os.close(far)
        shown = b""
        try:
            while piece := os.read(near, 65_536):
                shown += piece
        except OSError:  # Linux says so when the other side is closed
            pass
        finally:
            os.close(near)
        started.wait(timeout=60)
        return shown.decode()

    return terminal
