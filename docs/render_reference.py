"""Write the pages of `docs/reference` that are made from data: rules, models, strategies, stores.

From the profiles, the catalogue, the facts about models, the reasons of plans, and the structs and
docstrings of strategies; `render_stores.py` has the page of stores. Run
`python docs/render_reference.py` after a change to one of them. A test compares the pages with what
this script writes.
"""
# ruff: noqa: INP001, E501  a script beside the pages it writes; a sentence of a page is one line

from __future__ import annotations

import inspect
import re
import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from lockstitch.formats import FORMATS
from lockstitch.plan import DROPPED, INSERTED, KEPT, REASONS, REPLACED, STRIPPED
from lockstitch.rules.account import LOSSLESS
from lockstitch.rules.catalog import RULES, Rule
from lockstitch.rules.models import FACTS, MODELS, phrase
from lockstitch.rules.profiles import PROFILES, Profile
from lockstitch.strategies import PRESETS, HistoryDirective, Pin, named, steps
from lockstitch.strategies.managed import BETAS, MANAGED, managed_for, request_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lockstitch.strategies import Preset

FOLDER = Path(__file__).parent / "reference"

HEAD = """\
# Profiles and rules

<!-- Written by docs/render_reference.py. Change the source, then run the script. -->

A profile is what one target demands.
`check` reports what breaks its rules, `repair` mends it, and `export` writes a history the way the target wants it.
For `trim` and `plan` it is an input, since it decides where a window may start.

The address of a rule on this page is its id: `rules.html#po-valid-text`.
`lockstitch rules show ID` prints the same at a terminal.
"""
KNOWN = "Each rule says how it is known, its status:\n"
STATUS = {
    "docs": "the provider's documentation",
    "issue": "requests that were refused, and reported",
    "code": "the provider's own client or server",
    "inferred": "other rules, so it is a warning until someone confirms it",
}
MENDING = """\
The provider refuses what breaks a rule of severity `error`, and may refuse what breaks a `warning`.
`repair` mends errors.
A rule lists what would mend a breach, the least loss first, and the first that can be done is done:
"""
ALWAYS = """\
Those that lose and add nothing are always allowed; the others can be forbidden with `allow`.
Why they stand in this order is told in [How a repair is decided](../discussion/how-a-repair-is-decided.md).
"""
REPAIRS = {
    "restore": "bring the missing half back from the full history",
    "move": "put a message or a block where it belongs",
    "merge": "make one of two",
    "rename": "give one of two calls, and its result, another id",
    "replace": "put something valid in the place of what cannot be sent",
    "synthesize": "add a result that says the outcome is unknown",
    "demote": "keep what it says as a quoted note",
    "drop": "leave it out",
}
STARTS = {
    "user": "the first message after the system part is a user's",
    "any": "a window may start with any message",
}
ADJACENCY = {
    "message": "only other results stand between a call and its result",
    "run": "only other results stand between the assistant's joined turn and a result",
    "order": "a result stands anywhere after its call",
}
WHOLE_RESPONSE = "all messages of one response stay or go together"
BOUND_SYSTEM = (
    "a system message inside the list stays or goes with its neighbours, in formats where it has "
    "a place of its own"
)
MODELS_HEAD = """\
# Models

<!-- Written by docs/render_reference.py. Change the source, then run the script. -->

Some rules hold for some models of a target only.
A rule that names such a fact is an error where the fact is known to hold for the model, is left out where it is known not to, and is a warning where nothing is known, or no model is named.

The model is the `model` argument, `--model` on the command line, or what the request body says.
`ModelFacts` of your own, in the argument `models`, overrule what is listed here:

```python
>>> import lockstitch as ls
>>> mine = ls.ModelFacts(
...     profile="anthropic", pattern="my-proxy-*", facts={"no_prefill": True},
...     date="2026-01-31", source="our gateway",
... )
>>> report = ls.check(
...     [{"role": "user", "content": "hi"}], profile="anthropic", model="my-proxy-1", models=[mine]
... )
>>> report.ok
True

```

## The facts
"""
MODELS_ROWS = """\
## What is known

A pattern has `*` for any characters and `?` for one.
It is compared with the name in lower case, without what stands before the last `/`.
Where two rows fit, the later one counts.
"""
WHY = """\
Every edit of a plan has one of these, and so has every item in the floor of `CannotFit`.
No word stands for two kinds of edit, so a reason says what became of the messages.
"""
STANDS_FOR = (
    (KEPT, "kept messages"),
    (STRIPPED, "messages kept without the reasoning in them"),
    (REPLACED, "messages kept with something put in the place of a part"),
    (DROPPED, "dropped messages"),
    (INSERTED, "messages that were put in"),
)
BESIDE = "what is no message, in a floor"
STRATEGIES_HEAD = """\
# Strategies

<!-- Written by docs/render_reference.py. Change the source, then run the script. -->

A strategy is anything with a method `directive()`, which answers with a `HistoryDirective`: limits, steps, pins.
A directive is data. It is a strategy too, and so is every preset.
`trim`, `plan`, `summarize` and `asummarize` take one; limits in the call overrule its own.

A limit of `None` is none, and one of 0 keeps nothing, here as everywhere.
How to use all this is told in [Keep a long agent inside its window](../how-to/keep-an-agent-inside-its-window.md), and why it is so in [Strategies](../discussion/strategies.md).
"""
PRESETS_HEAD = """\
## Presets

`lockstitch.preset(name)` returns the directive of a preset, and `--strategy NAME` takes one at a terminal.
None of them has a limit: give one in the call.
A cut stops at half of it (`low_water=0.5`).
Settings are shown where they are not the step's default.
"""
NAMED_HEAD = """\
## Named strategies

Each is a frozen value in `lockstitch`, and answers with a directive.
"""
DIRECTIVE_HEAD = """\
## The directive

`to_json`, `from_json`, `to_toml` and `from_toml` write and read it; of these settings, those at their default are left out.
In a file for `--strategy`, `kind` may be left out, and is `steps` then.
"""
STEPS_HEAD = """\
## Steps

They are in `lockstitch.strategies`.
The title is the name of the step in a directive that was written down, in `Plan.steps` and in `Event.steps`.
A directive's steps are taken in order; each is passed over once the limits hold, and one that would break a rule of the target is taken back.
What each came to, or why it did nothing, is in `Plan.steps`.
"""
PINS_HEAD = """\
## Pins

`lockstitch.Pin` says which messages stay, by exactly one of these:
"""
# The reasons that a step leaves in a plan.
LEAVES = {
    steps.ClearResults: ("cleared",),
    steps.OffloadResults: ("offloaded",),
    steps.ClearRepeats: ("repeated",),
    steps.ClearMedia: ("media",),
    steps.DropReasoning: ("thinking", "thoughts", "unled"),
    steps.Summarize: ("summary", "summarized", "superseded", "reply"),
    steps.DropOldest: (
        "oldest",
        "too-large",
        "start",
        "joined",
        "neighbour",
        "damaged",
        "zero",
        "overflow",
    ),
    steps.KeepLast: ("last", "beyond"),
    steps.AnthropicEditing: ("compacted",),
    steps.AnthropicCompaction: ("compacted",),
    steps.OpenAICompaction: ("compacted",),
    steps.OpenAITruncation: (),
}


def render() -> str:
    """Return the page."""
    blocks = [HEAD, KNOWN, _table(("status", "known from"), _named(STATUS))]
    blocks += [MENDING, _table(("repair", "means", "allowed"), _repairs()), ALWAYS]
    blocks += map(_profile, PROFILES.values())
    blocks.append("## The rules\n")
    blocks += ("\n".join(_rule(rule)) for rule in RULES.values())
    blocks += ["## Plan reasons\n", WHY, _table(("reason", "stands for", "says"), _reasons())]
    return "\n".join(blocks)


def render_models() -> str:
    """Return the page of models."""
    facts = ((f"`{name}`", meaning, _rules_about(name)) for name, meaning in sorted(FACTS.items()))
    rows = (
        (row.profile, f"`{row.pattern}`", _facts_of(row.facts), row.date, row.source)
        for row in MODELS
    )
    blocks = [MODELS_HEAD, _table(("fact", "says", "rules that depend on it"), facts)]
    titles = ("profile", "models", "known", "date", "source")
    return "\n".join([*blocks, MODELS_ROWS, _table(titles, rows)])


def render_strategies() -> str:
    """Return the page of strategies."""
    presets = ((f"`{one.name}`", one.keeps, one.gives_up) for one in PRESETS.values())
    strategies = (one for name, one in vars(named).items() if name in named.__all__)
    blocks = [STRATEGIES_HEAD, PRESETS_HEAD, _table(("preset", "keeps", "gives up"), presets)]
    blocks += map(_preset, PRESETS.values())
    blocks.append(NAMED_HEAD)
    blocks += (
        _struct(one.__name__, one) for one in strategies if hasattr(one, "__struct_fields__")
    )
    blocks += [DIRECTIVE_HEAD, _settings(HistoryDirective)]
    blocks.append(STEPS_HEAD)
    blocks += map(_step, get_args(steps.Step))
    blocks += [PINS_HEAD, _settings(Pin)]
    return "\n".join(blocks)


def _preset(preset: Preset) -> str:
    taken = (f"{at}. {_call(step)}" for at, step in enumerate(preset.directive.steps, 1))
    return "\n".join([f"### {preset.name}\n", *taken, ""])


def _call(step: Any) -> str:
    """Write a step as it is made, with the settings that are not at their default."""
    held = zip(msgspec.structs.fields(step), msgspec.structs.astuple(step), strict=True)
    given = ", ".join(f"{field.name}={value!r}" for field, value in held if value != field.default)
    name = step.__class__.__name__
    return f"[`{name}({given})`](#{step.__struct_config__.tag})"


def _step(kind: type[msgspec.Struct]) -> str:
    blocks = [_struct(str(kind.__struct_config__.tag), kind, made=f"`{kind.__name__}`. ")]
    if issubclass(kind, MANAGED):
        blocks += [*map("- {}".format, _managed(kind())), ""]
    if LEAVES[kind]:
        rows = ((f"`{word}`", REASONS[word]) for word in LEAVES[kind])
        blocks += ["What it does has these reasons in a plan:\n", _table(("reason", "says"), rows)]
    return "\n".join(blocks)


def _managed(step: Any) -> Iterator[str]:
    """Say for which histories a step of the provider's is, and which header it wants."""
    (target,) = (name for name in FORMATS if not managed_for(step, name, ""))
    yield f"For the target `{target}`, or histories in its format; passed over for others"
    fields = request_fields([step], _History(target), target)
    yield f"In `Plan.request`: {', '.join(f'`{name}`' for name in fields)}"
    betas = {beta for edit, beta in BETAS.items() if edit in str(fields)}
    if betas:
        yield f"The request wants the header `anthropic-beta: {', '.join(sorted(betas))}`"


class _History:
    """As much of a transcript as `request_fields` looks at."""

    def __init__(self, format: str) -> None:
        self.format = FORMATS[format]
        self.context: dict[str, Any] = {}


def _struct(title: str, kind: type[msgspec.Struct], *, made: str = "") -> str:
    paragraphs, _ = _told(kind)
    paragraphs[0] = f"{made}{paragraphs[0]}"
    blocks = [f"### {title}\n", *(f"{paragraph}\n" for paragraph in paragraphs)]
    return "\n".join([*blocks, _settings(kind)])


def _settings(kind: type[msgspec.Struct]) -> str:
    fields = msgspec.structs.fields(kind)
    if not fields:
        return "It has no settings.\n"
    meanings = _told(kind)[1]
    rows = (
        (f"`{field.name}`", _default(field), _meaning(field.name, meanings)) for field in fields
    )
    return _table(("setting", "default", "means"), rows)


def _default(field: msgspec.structs.FieldInfo) -> str:
    return "must be given" if field.required else f"`{_shown(field.default)}`"


def _shown(value: Any) -> str:
    return f"{value:_}" if type(value) is int else repr(value)


def _meaning(name: str, meanings: Mapping[str, str]) -> str:
    """Return what a setting means; one that is told with another is looked for there."""
    if name in meanings:
        return meanings[name]
    (told,) = (other for other, meaning in meanings.items() if f"`{name}`" in meaning)
    return f"see `{told}`"


def _told(kind: type) -> tuple[list[str], dict[str, str]]:
    """Read a docstring: its paragraphs, and what it says of each setting."""
    paragraphs: list[str] = []
    meanings: dict[str, str] = {}
    for block in (inspect.getdoc(kind) or "").split("\n\n"):
        if block.startswith(">>>"):
            break
        if block.startswith("Args:"):
            entries = re.split(r"\n {4}(?=\w+: )", block)[1:]
            pairs = (_joined(entry).split(": ", 1) for entry in entries)
            meanings = {name: meaning.removesuffix(".") for name, meaning in pairs}
        elif not block.startswith("Raises:"):
            paragraphs.append(_joined(block))
    return paragraphs, meanings


def _joined(text: str) -> str:
    return " ".join(text.split())


def _rules_about(fact: str) -> str:
    return ", ".join(
        f"[{rule.id}](rules.md#{rule.id})" for rule in RULES.values() if rule.scope == fact
    )


def _facts_of(facts: Mapping[str, bool]) -> str:
    return ", ".join(f"`{name}`" if holds else f"not `{name}`" for name, holds in facts.items())


def _repairs() -> Iterator[tuple[str, str, str]]:
    for word, meaning in REPAIRS.items():
        yield f"`{word}`", meaning, "always" if word in LOSSLESS else f'`"{word}"`'


def _reasons() -> Iterator[tuple[str, str, str]]:
    for words, messages in STANDS_FOR:
        for word, why in words.items():
            yield f"`{word}`", BESIDE if word == "request" else messages, why


def _named(words: dict[str, str]) -> Iterator[tuple[str, str]]:
    return ((f"`{word}`", meaning) for word, meaning in words.items())


def _table(titles: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [titles, ("---",) * len(titles), *rows]
    # A bar inside a cell would end it.
    safe = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in safe) + "\n"


def _profile(profile: Profile) -> str:
    demands = [STARTS[profile.start], ADJACENCY[profile.adjacency]]
    demands += [WHOLE_RESPONSE] * profile.whole_response
    demands += [BOUND_SYSTEM] * profile.bound_system
    rows = (
        (f"[{rule.id}](#{rule.id})", rule.title, rule.severity, rule.status)
        for rule in RULES.values()
        if profile.name in rule.profiles
    )
    return "\n".join(
        [
            f"## Profile `{profile.name}`\n",
            f"{profile.title[0].upper()}{profile.title[1:]}.\nIt says of a window:\n",
            *(f"- {demand}" for demand in demands),
            "",
            _table(("rule", "demands", "severity", "status"), rows),
        ]
    )


def _rule(rule: Rule) -> Iterator[str]:
    yield f"### {rule.id}\n"
    yield f"{rule.statement}\n"
    if rule.error:
        yield f"The provider answers:\n\n```text\n{rule.error}\n```\n"
    yield f"- Profiles: {', '.join(f'`{name}`' for name in rule.profiles)}"
    if rule.formats:
        yield f"- Can be broken in: {', '.join(f'`{name}`' for name in rule.formats)}"
    yield f"- Severity: {rule.severity}"
    if rule.scope:
        yield f"- For models where [`{rule.scope}`](models.md) holds: {phrase(rule.scope)}"
    if not rule.check:
        yield "- Cannot be seen in messages alone, so `check` does not look for it"
    yield f"- Known from ({rule.status}): {rule.source}"
    if rule.repairs:
        yield f"- Repairs: {', '.join(rule.repairs)}"
    if rule.target_only:
        yield "- Mended by `export` too"
    yield ""


PAGES = {
    "rules.md": render,
    "models.md": render_models,
    "strategies.md": render_strategies,
    "stores.md": runpy.run_path(str(Path(__file__).with_name("render_stores.py")))["render"],
}

if __name__ == "__main__":
    for name, write in PAGES.items():
        (FOLDER / name).write_text(write(), encoding="utf-8")
