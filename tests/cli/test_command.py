"""The command as a whole: help, version, pipes, terminals, colour, bugs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import lockstitch
from lockstitch.cli import check as check_module
from lockstitch.testing import result, user

EXECUTABLE = Path(sys.executable).with_name("lockstitch")


def test_the_version_is_that_of_the_package(run):
    assert run("--version").stdout == f"lockstitch {lockstitch.__version__}\n"


@pytest.mark.parametrize(
    "command", ["check", "repair", "export", "trim", "stats", "rules", "store", "demo"]
)
def test_every_command_explains_itself(run, command):
    assert command in run("--help").stdout
    assert run(command, "--help").exit_code == 0


def test_no_command_at_all_shows_what_there_is(run):
    ended = run()
    assert "trim" in ended.stdout + ended.stderr
    assert ended.exit_code == 2


def test_the_installed_executable_runs(data):
    ended = subprocess.run(
        [EXECUTABLE, "check", data / "anthropic.json", "--json"], capture_output=True, check=True
    )
    assert json.loads(ended.stdout)["ok"] is True


def test_the_module_runs_as_a_program(process, data):
    with (data / "openai_chat.json").open("rb") as stdin:
        ended = process("trim", "-", "--max-messages", 9, stdin=stdin)
    assert ended.returncode == 0
    assert len(json.loads(ended.stdout)) <= 9
    assert ended.stderr == b""


def test_a_reader_that_leaves_early_ends_in_no_traceback(tmp_path):
    path = tmp_path / "broken.json"
    path.write_text(json.dumps([user("hi"), *[result(f"r{at}") for at in range(3_000)]]))
    for command in (["check", path], ["check", "--json", path, path], ["trim", path]):
        limit = ["--max-messages", "9000", "--explain"] if command[0] == "trim" else []
        words = " ".join(map(str, [sys.executable, "-m", "lockstitch", *command, *limit]))
        ended = subprocess.run(
            ["/bin/sh", "-c", f"{words} | head -c 1"], capture_output=True, check=False
        )
        assert b"Traceback" not in ended.stderr
        assert b"BrokenPipe" not in ended.stderr
        assert b"bug in lockstitch" not in ended.stderr


def test_text_that_the_terminal_cannot_encode_is_escaped(process, write):
    path = write([user("caf\u00e9 \u2603"), result("\u2603")])
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    ended = process("check", path, env=environment)
    assert ended.returncode == 1
    assert b"\\u2603" in ended.stdout


def test_a_terminal_gets_colour_and_a_pipe_does_not(terminal, process, data):
    assert "\x1b[" in terminal("stats", data / "langchain.json")
    assert b"\x1b" not in process("stats", data / "langchain.json").stdout


def test_no_color_is_honoured_on_a_terminal(terminal, data, write):
    broken = write([user("hi"), result("x")])
    for arguments in (("stats", broken), ("check", broken), ("demo",)):
        shown = terminal(*arguments, NO_COLOR="1")
        assert "\x1b[" not in shown
        assert "hi" in shown or "406" in shown or "messages" in shown


def test_violations_are_a_tree_on_a_terminal(terminal, write):
    shown = terminal("check", write([user("hi"), result("[red]x[/red]")]), columns=200)
    assert "messages[1]" in shown
    assert "source: " in shown
    assert "[red]x[/red]" in shown


def test_an_explanation_is_a_table_on_a_terminal(terminal, data, tmp_path):
    arguments = ("--max-messages", 9, "--explain", "-o", tmp_path / "out")
    shown = terminal("trim", data / "openai_chat.json", *arguments, columns=160)
    assert "the newest user message stays" in shown
    assert "Go on, please." in shown


def test_a_document_on_a_terminal_ends_in_a_line_end(terminal, write):
    shown = terminal("trim", write('[{"role":"user","content":"hi"}]'), "--max-messages", 9)
    assert shown.endswith("}]\r\n")


def test_several_files_get_a_bar_that_leaves_the_results_alone(terminal, data, write):
    shown = terminal("check", data / "anthropic.json", data / "langchain.json", write("?"))
    assert "\x1b[?25l" in shown  # the cursor is hidden while a bar is drawn
    assert shown.count("accepted by portable") == 2
    assert "Error: " in shown


def test_a_bug_is_called_one_and_shows_no_traceback(run, data, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.delenv("LOCKSTITCH_DEBUG", raising=False)
    monkeypatch.setattr(check_module, "check", fail)
    ended = run("check", data / "langchain.json")
    assert ended.exit_code == 3
    assert "This is a bug in lockstitch (ZeroDivisionError: by zero)" in ended.stderr
    assert "LOCKSTITCH_DEBUG=1" in ended.stderr
    monkeypatch.setenv("LOCKSTITCH_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run("check", data / "langchain.json")
