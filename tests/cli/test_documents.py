"""What the pages say about the command is what it does."""

import contextlib
import doctest
import io
import json
import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from lockstitch.cli import main

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", sorted(main.commands))
def test_every_command_and_option_is_in_the_reference(name):
    page = (DOCS / "reference" / "command-line.md").read_text(encoding="utf-8")
    section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    assert section
    command = main.commands[name]
    inner = command.commands if isinstance(command, click.Group) else {}
    assert all(f"lockstitch {name} {one}" in section for one in inner)
    for parameter in (*command.params, *(one for each in inner.values() for one in each.params)):
        if isinstance(parameter, click.Option):
            for option in (*parameter.opts, *parameter.secondary_opts):
                assert f"`{option}" in section, option


@pytest.mark.parametrize("name", ["tutorial/index.md", "how-to/work-on-a-store.md"])
def test_a_page_shows_what_the_command_prints(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    page = (DOCS / name).read_text(encoding="utf-8")
    same = doctest.OutputChecker().check_output
    shown = 0
    for language, block in BLOCK.findall(page):
        if language == "python" and not block.startswith(">>>"):
            with contextlib.redirect_stdout(io.StringIO()):
                exec(block, {})  # noqa: S102 - our own page
        for one in block.split("$ lockstitch ")[1:] if language == "console" else ():
            command, _, expected = one.partition("\n")
            ended = CliRunner().invoke(main, shlex.split(command))
            printed = (ended.stdout + ended.stderr).strip()
            assert same(expected.strip(), printed, doctest.ELLIPSIS), f"{command}\n{printed}"
            shown += 1
    assert shown >= 5


def test_the_readme_shows_what_repair_prints(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "how-to" / "mend-a-broken-session.md").read_text(encoding="utf-8")
    names: dict = {}
    exec(BLOCK.search(page)[2], names)  # noqa: S102 - our own page
    Path("session.json").write_text(json.dumps(names["session"]))
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    command, _, expected = re.search(r"\$ lockstitch (.*?)\n```", readme, re.DOTALL)[1].partition(
        "\n"
    )
    ended = CliRunner().invoke(main, shlex.split(command))
    # The README leaves out what was there before and after each change.
    printed = [line for line in ended.stderr.splitlines() if not line.startswith(" " * 14)]
    assert printed == expected.splitlines()
    assert ended.exit_code == 0
