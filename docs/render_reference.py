"""Write `docs/reference/rules.md` from the profiles, the catalogue and the reasons of plans.

Run `python docs/render_reference.py` after a change to one of them. A test compares the page with
what this script writes.
"""
# ruff: noqa: INP001  a script beside the pages it writes, imported by nothing

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lockstitch.plan import DROPPED, REASONS
from lockstitch.rules.catalog import RULES, Rule
from lockstitch.rules.profiles import PROFILES, Profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PAGE = Path(__file__).parent / "reference" / "rules.md"

HEAD = """\
# Profiles and rules

<!-- Written by docs/render_reference.py. Change the source, then run the script. -->

A profile is what one target demands.
`check` reports what breaks its rules.
For `trim` and `plan` it is an input, since it decides where a window may start.
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
A rule also lists what would mend a breach, the least loss first.
This version names repairs and carries none out:
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
WHY = """\
Every edit of a plan has one of these, and so has every item in the floor of `CannotFit`.
No word stands for both kept and dropped messages.
"""
BESIDE = "what is no message, in a floor"


def render() -> str:
    """Return the page."""
    blocks = [HEAD, KNOWN, _table(("status", "known from"), _named(STATUS))]
    blocks += [MENDING, _table(("repair", "means"), _named(REPAIRS))]
    blocks += map(_profile, PROFILES.values())
    blocks.append("## The rules\n")
    blocks += ("\n".join(_rule(rule)) for rule in RULES.values())
    blocks += ["## Plan reasons\n", WHY, _table(("reason", "stands for", "says"), _reasons())]
    return "\n".join(blocks)


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
    yield f"- Known from ({rule.status}): {rule.source}"
    if rule.repairs:
        yield f"- Repairs: {', '.join(rule.repairs)}"
    yield ""


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
