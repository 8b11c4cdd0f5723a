"""Write the pages of `docs/reference` that are made from data: `rules.md` and `models.md`.

From the profiles, the catalogue, the facts about models and the reasons of plans. Run
`python docs/render_reference.py` after a change to one of them. A test compares the pages with what
this script writes.
"""
# ruff: noqa: INP001, E501  a script beside the pages it writes; a sentence of a page is one line

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lockstitch.plan import DROPPED, REASONS
from lockstitch.rules.account import LOSSLESS
from lockstitch.rules.catalog import RULES, Rule
from lockstitch.rules.models import FACTS, MODELS, phrase
from lockstitch.rules.profiles import PROFILES, Profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

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
No word stands for both kept and dropped messages.
"""
BESIDE = "what is no message, in a floor"


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
    for word, why in REASONS.items():
        messages = "dropped messages" if word in DROPPED else "kept messages"
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


PAGES = {"rules.md": render, "models.md": render_models}

if __name__ == "__main__":
    for name, write in PAGES.items():
        (FOLDER / name).write_text(write(), encoding="utf-8")
