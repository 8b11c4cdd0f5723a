"""What the reference says is what the library is: pages are generated, or compared with it."""

import inspect
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

import lockstitch
from lockstitch import errors
from lockstitch.formats import FORMATS
from lockstitch.plan import INSERTED, REASONS, REPLACED
from lockstitch.rules.catalog import RULES
from lockstitch.rules.models import FACTS, MODELS
from lockstitch.rules.profiles import PROFILES
from lockstitch.stores.values import EventKind, State
from lockstitch.strategies import PRESETS, HistoryDirective, Step, named

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
SCRIPT = runpy.run_path(str(ROOT / "docs" / "render_reference.py"))
ERRORS = [
    name
    for name in errors.__all__
    if name != "LockstitchError" and issubclass(getattr(errors, name), lockstitch.LockstitchError)
]
FUNCTIONS = [name for name in lockstitch.__all__ if inspect.isroutine(getattr(lockstitch, name))]
STEPS = {str(step.__struct_config__.tag): step for step in get_args(Step)}
STRATEGIES = [name for name in named.__all__ if hasattr(getattr(named, name), "__struct_fields__")]
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


@pytest.mark.parametrize("name", STEPS)
def test_a_step_has_its_section_with_every_setting_and_the_reasons_it_leaves(name: str):
    step = STEPS[name]
    section = _section(_page("strategies.md"), name)
    assert section.startswith(f"\n\n`{step.__name__}`. ")
    assert _rows(section) == [*step.__struct_fields__, *SCRIPT["LEAVES"][step]]


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_named_strategy_has_its_section_with_every_setting(name: str):
    fields = getattr(named, name).__struct_fields__
    assert _rows(_section(_page("strategies.md"), name)) == list(fields)


def test_every_setting_of_a_directive_and_every_way_to_pin_is_listed():
    page = _page("strategies.md")
    assert _rows(_section(page, "The directive")) == list(HistoryDirective.__struct_fields__)
    assert _rows(_section(page, "Pins")) == list(lockstitch.Pin.__struct_fields__)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_says_what_it_keeps_and_gives_up_and_links_its_steps(name: str):
    page = _page("strategies.md")
    held = PRESETS[name]
    assert f"| `{name}` | {held.keeps} | {held.gives_up} |" in page
    linked = re.findall(r"^\d+\. \[.*\]\(#([\w-]+)\)$", _section(page, name), re.MULTILINE)
    assert [STEPS[tag] for tag in linked] == [type(step) for step in held.directive.steps]


def test_whatever_is_put_into_a_window_is_told_of_a_step():
    told = {reason for reasons in SCRIPT["LEAVES"].values() for reason in reasons}
    assert {*REPLACED, *INSERTED} <= told <= set(REASONS)


def _rows(section: str) -> list[str]:
    """Return what the rows of the tables in a section begin with."""
    return re.findall(r"^\| `([\w-]+)` \|", section, re.MULTILINE)


def test_every_repair_and_every_status_is_explained():
    rules = RULES.values()
    assert {word for rule in rules for word in rule.repairs} <= set(SCRIPT["REPAIRS"])
    assert {rule.status for rule in rules} <= set(SCRIPT["STATUS"])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_is_documented_with_each_of_its_arguments(name: str):
    section = _section(_page("functions.md"), name) or _section(_page("stores.md"), name)
    told = _told_beside_the_signature(section, name, getattr(lockstitch, name))
    assert ">>> " in section
    if name == "open_async_store":  # what it takes is told of open_store
        told = _section(_page("stores.md"), "open_store")
    signature = inspect.signature(getattr(lockstitch, name))
    assert [one for one in signature.parameters if f"`{one}`" not in told and one != "source"] == []


def _told_beside_the_signature(section: str, name: str, function: Callable[..., object]) -> str:
    """Return a section without the signature in it, which must be that of the function."""
    written = re.search(rf"```py\n{name}\((.*?)\)(?: -> \w+)?\n```", section, re.DOTALL)
    assert written is not None
    assert re.sub(r"\s+", " ", written[1]) == _arguments(inspect.signature(function))
    return section.replace(written[0], "")


METHODS = [
    (kind, name)
    for kind in (lockstitch.Store, lockstitch.Session)
    for name, one in vars(kind).items()
    if inspect.isfunction(one) and not name.startswith("_") and name != "run"
]


@pytest.mark.parametrize(("kind", "name"), METHODS, ids=lambda one: getattr(one, "__name__", one))
def test_a_method_of_a_store_or_a_session_is_documented_with_each_of_its_arguments(
    kind: type, name: str
):
    section = _section(_section(_page("stores.md"), kind.__name__), name)
    method = getattr(kind, name)
    told = _told_beside_the_signature(section, name, method)
    assert [one for one in inspect.signature(method).parameters if f"`{one}`" not in told] == [
        "self"
    ]


def test_a_store_that_is_awaited_has_the_methods_of_one_that_waits():
    for waits, awaited in (
        (lockstitch.Session, lockstitch.AsyncSession),
        (lockstitch.Store, lockstitch.AsyncStore),
    ):
        methods = {name for name in vars(waits) if not name.startswith("_")}
        assert methods - {"close"} == {n for n in vars(awaited) if not n.startswith("_")} - {
            "aclose"
        }


def test_every_kind_of_event_and_every_state_is_listed():
    page = _page("stores.md")
    assert _rows(_section(page, "SessionEvent"))[-len(get_args(EventKind)) :] == [
        *get_args(EventKind)
    ]
    assert [one for one in get_args(State) if f"`{one}`" not in _section(page, "Recorded")] == []


def _arguments(signature: inspect.Signature) -> str:
    """Write the arguments as the reference does: without their types."""
    bare = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
    ]
    bare = [parameter for parameter in bare if parameter.name != "self"]
    plain = str(inspect.Signature(bare))[1:-1].replace("'", '"')
    # A function that is a default is written by its name.
    return re.sub(r"<function (\w+) at 0x[0-9a-f]+>", r"\1", plain)


@pytest.mark.parametrize("name", VALUES)
def test_a_public_value_is_documented_with_an_example(name: str):
    section = _section(_page("functions.md"), name) or _section(_page("stores.md"), name)
    assert ">>> " in section


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
