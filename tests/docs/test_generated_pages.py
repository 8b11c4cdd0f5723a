"""What the reference says is what the library is: pages are generated, or compared with it."""

import inspect
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import lockstitch
from lockstitch import errors
from lockstitch.formats import FORMATS
from lockstitch.plan import REASONS
from lockstitch.rules.catalog import RULES
from lockstitch.rules.models import FACTS, MODELS
from lockstitch.rules.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
SCRIPT = runpy.run_path(str(ROOT / "docs" / "render_reference.py"))
ERRORS = [
    name
    for name in errors.__all__
    if name != "LockstitchError" and issubclass(getattr(errors, name), lockstitch.LockstitchError)
]
FUNCTIONS = [name for name in lockstitch.__all__ if inspect.isroutine(getattr(lockstitch, name))]
VALUES = [
    name for name in lockstitch.__all__ if name not in {*FUNCTIONS, *ERRORS, "LockstitchError"}
]


def _page(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


def _section(page: str, title: str) -> str:
    """Return what stands under a heading, its sub-headings included; empty if there is none."""
    found = re.search(rf"^(##+) `?{re.escape(title)}`?$", page, re.MULTILINE)
    if found is None:
        return ""
    level = len(found[1])
    rest = page[found.end() :]
    after = re.search(rf"^#{{2,{level}}} ", rest, re.MULTILINE)
    return rest[: after.start()] if after else rest


@pytest.mark.parametrize("name", SCRIPT["PAGES"])
def test_a_generated_page_is_what_the_script_writes(name: str):
    render: Callable[[], str] = SCRIPT["PAGES"][name]
    assert _page(name) == render(), "run: python docs/render_reference.py"


@pytest.mark.parametrize("name", FACTS)
def test_a_fact_about_models_is_listed_with_the_rules_that_depend_on_it(name: str):
    (row,) = re.findall(rf"^\| `{name}` \|.*$", _page("models.md"), re.MULTILINE)
    assert FACTS[name] in row
    for rule in RULES.values():
        assert (f"[{rule.id}](" in row) == (rule.scope == name)


def test_every_row_about_models_is_listed():
    for row in MODELS:
        assert f"| {row.profile} | `{row.pattern}` |" in _page("models.md")


@pytest.mark.parametrize("name", RULES)
def test_a_rule_has_its_section(name: str):
    section = _section(_page("rules.md"), name)
    assert RULES[name].statement in section
    assert RULES[name].error in section


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_lists_exactly_its_rules(name: str):
    listed = re.findall(
        r"^\| \[([\w-]+)\]", _section(_page("rules.md"), f"Profile `{name}"), re.MULTILINE
    )
    assert listed == [rule.id for rule in RULES.values() if name in rule.profiles]


@pytest.mark.parametrize("reason", REASONS)
def test_a_plan_reason_is_listed(reason: str):
    assert f"| `{reason}` |" in _section(_page("rules.md"), "Plan reasons")


def test_every_repair_and_every_status_is_explained():
    rules = RULES.values()
    assert {word for rule in rules for word in rule.repairs} <= set(SCRIPT["REPAIRS"])
    assert {rule.status for rule in rules} <= set(SCRIPT["STATUS"])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_is_documented_with_each_of_its_arguments(name: str):
    section = _section(_page("functions.md"), name)
    signature = inspect.signature(getattr(lockstitch, name))
    written = re.search(rf"```py\n{name}\((.*?)\)(?: -> \w+)?\n```", section, re.DOTALL)
    assert written is not None
    assert re.sub(r"\s+", " ", written[1]) == _arguments(signature)
    assert ">>> " in section
    # A word beside the signature for each: what it is good for.
    told = section.replace(written[0], "")
    assert [one for one in signature.parameters if f"`{one}`" not in told and one != "source"] == []


def _arguments(signature: inspect.Signature) -> str:
    """Write the arguments as the reference does: without their types."""
    bare = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
    ]
    plain = inspect.Signature(bare)
    return str(plain)[1:-1].replace("'", '"')


@pytest.mark.parametrize("name", VALUES)
def test_a_public_value_is_documented_with_an_example(name: str):
    assert ">>> " in _section(_page("functions.md"), name)


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_says_what_to_do_about_it(name: str):
    assert f"`{name}`" in _page("functions.md")
    assert "**What to do**" in _section(_page("errors.md"), name)


def test_the_tree_of_errors_is_drawn_in_full():
    drawn = re.search(r"```text\n(.*?)```", _page("errors.md"), re.DOTALL)
    assert drawn is not None
    words = re.findall(r"^[ │├└─]*(\w+)", drawn[1], re.MULTILINE)
    assert sorted(words) == sorted(errors.__all__)
    assert set(words) <= set(lockstitch.__all__)


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_has_its_section(name: str):
    assert _section(_page("formats.md"), name)


def test_the_documentation_builds_without_a_warning(tmp_path: Path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    assert (tmp_path / "reference" / "rules.html").is_file()
