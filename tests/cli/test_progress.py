"""The bar: when it shows, and what waits for it."""

import contextlib
import io
import time

import pytest

from lockstitch.cli.progress import Bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def on_terminal(monkeypatch):
    """Put a terminal in the place of standard error, inside the test: pytest swaps it before."""

    def on_terminal() -> Terminal:
        stream = Terminal()
        monkeypatch.setattr("sys.stderr", stream)
        monkeypatch.setenv("TERM", "xterm")
        return stream

    return on_terminal


def _wait_for(bar: Bar) -> None:
    deadline = time.monotonic() + 10
    while bar._bar is None and time.monotonic() < deadline:
        time.sleep(0.005)


def test_one_step_that_takes_long_gets_a_bar(on_terminal):
    stderr = on_terminal()
    with Bar(total=1, patience=0.01) as bar:
        bar.step("deciding")
        _wait_for(bar)
        bar.step("writing")
    assert "deciding" in stderr.getvalue() or "writing" in stderr.getvalue()


def test_one_step_that_is_quick_gets_none(on_terminal):
    stderr = on_terminal()
    with Bar(total=1, patience=60) as bar:
        bar.step("deciding")
    assert stderr.getvalue() == ""


def test_what_is_said_waits_until_the_bar_is_gone(on_terminal):
    on_terminal()
    said = []
    with Bar(total=3) as bar:
        bar.step("one")
        bar.say(lambda: said.append("one"))
        assert said == []
    assert said == ["one"]


def test_what_was_said_is_not_lost_when_the_work_fails(on_terminal):
    on_terminal()
    said = []
    bar = Bar(total=3)
    with contextlib.suppress(RuntimeError), bar:
        bar.say(lambda: said.append("one"))
        raise RuntimeError
    assert said == ["one"]


def test_a_timer_that_fires_late_shows_nothing(on_terminal):
    on_terminal()
    with Bar(total=1, patience=60) as bar:
        bar.step("deciding")
    bar._show()
    assert bar._bar is None


def test_a_pipe_gets_no_bar(capsys):
    with Bar(total=9) as bar:
        bar.step("one")
    assert bar._bar is None
    assert capsys.readouterr().err == ""
