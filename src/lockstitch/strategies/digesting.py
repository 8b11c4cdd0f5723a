"""The digest: a summary that needs no model, put together from what the lines say themselves.

Knows: what was asked, what the user laid down, what was decided, which tools ran on what, which
files were touched, what failed, and what was said last. A digest takes up the one before it, and
gives up its oldest entries where it has no room, saying how many.

Must not know: who asks for it; messages.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lockstitch.plan.pending import Line
    from lockstitch.strategies.asking import SummaryPrompt

__all__ = ["digest"]

_ASKED: Final = "Asked"
_LAID: Final = "Laid down by the user"
_DECIDED: Final = "Decided"
_RAN: Final = "Ran"
_FILES: Final = "Files"
_FAILED: Final = "Failed"
_LAST: Final = "Said last"
_SAW: Final = "Seen"
_BEFORE: Final = "Before that"
# Who gives up entries first, where there is no room.
_GIVES: Final = (_SAW, _RAN, _FILES, _ASKED, _FAILED, _DECIDED, _LAST, _BEFORE, _LAID)
_SHOWN: Final = (_BEFORE, _LAID, _ASKED, _DECIDED, _RAN, _FILES, _FAILED, _SAW, _LAST)

_RULE: Final = re.compile(
    r"\b(must|never|always|do not|don't|only|make sure|important|prefer|remember)\b", re.IGNORECASE
)
_CHOICE: Final = re.compile(
    r"\b(decid\w+|chose|choose|will use|going with|instead of|agreed|plan is|because)\b",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]?")
_PATH: Final = re.compile(r"(?<![\w:/])(?:~|\.{1,2})?/?(?:[\w.-]+/)+[\w.-]+|\b[\w-]+\.[a-z]{1,4}\b")
_ENTRY: Final = 160
_ARGUMENTS: Final = 60

_LEFT_OUT: Final = re.compile(r"- \((\d+) earlier ones left out\)")

Sections = dict[str, list[str]]
Gone = dict[str, int]


def digest(prompt: SummaryPrompt) -> str:
    r"""Put a summary together without a model; the default summarizer.

    >>> from lockstitch.plan import Line
    >>> from lockstitch.strategies.asking import SummaryPrompt
    >>> lines = [Line("user", "Fix the login."), Line("call", '{"path": "src/auth.py"}', "read")]
    >>> print(digest(SummaryPrompt("", lines=lines, room=400)))
    Asked:
    - Fix the login.
    Ran:
    - read({"path": "src/auth.py"})
    Files:
    - src/auth.py
    """
    sections, gone = _read(prompt.previous)
    _add(sections, _ASKED, (_cut(line.text) for line in prompt.lines if line.kind == "user"))
    _add(sections, _LAID, _sentences(prompt.lines, "user", _RULE))
    _add(sections, _DECIDED, _sentences(prompt.lines, "assistant", _CHOICE))
    _add(sections, _RAN, map(_ran, _of(prompt.lines, "call")))
    _add(sections, _FILES, _files(prompt.lines))
    failed = [line for line in _of(prompt.lines, "result") if line.failed]
    _add(sections, _FAILED, (f"{line.name or 'a tool'}: {_cut(line.text)}" for line in failed))
    said = [line.text for line in _of(prompt.lines, "assistant")]
    if said:
        sections[_LAST] = [_cut(said[-1])]
    if not sections:
        _add(sections, _SAW, (_cut(line.words()) for line in prompt.lines))
    return _fitted(sections, gone, prompt.room)


def _of(lines: Sequence[Line], kind: str) -> Iterable[Line]:
    return (line for line in lines if line.kind == kind)


def _sentences(lines: Sequence[Line], kind: str, wanted: re.Pattern[str]) -> Iterable[str]:
    for line in _of(lines, kind):
        for sentence in _SENTENCE.findall(line.text):
            if wanted.search(sentence):
                yield _cut(sentence)


def _ran(line: Line) -> str:
    text = " ".join(line.text.split())
    shown = text if len(text) <= _ARGUMENTS else f"{text[:_ARGUMENTS]}..."
    return f"{line.name}({shown})"


def _files(lines: Sequence[Line]) -> Iterable[str]:
    """Yield the paths that calls name."""
    for line in _of(lines, "call"):
        yield from _PATH.findall(line.text)


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _ENTRY else f"{text[:_ENTRY].rstrip()}..."


def _add(sections: Sections, name: str, entries: Iterable[str]) -> None:
    """Add entries; one that is there already moves to the end."""
    held = dict.fromkeys(sections.get(name, ()))
    for entry in filter(None, entries):
        held.pop(entry, None)
        held[entry] = None
    if held:
        sections[name] = list(held)


# --- written and read -----------------------------------------------------------------------------


def _read(text: str) -> tuple[Sections, Gone]:
    """Read a digest back, with what it had given up; any other text is kept as it is."""
    sections: Sections = {}
    gone: Gone = {}
    name = ""
    for line in text.split("\n") if text else ():
        left_out = _LEFT_OUT.fullmatch(line)
        if line.endswith(":") and line[:-1] in _SHOWN:
            name = line[:-1]
            sections[name] = []
        elif name and left_out:
            gone[name] = int(left_out[1])
        elif name and line.startswith("- "):
            sections[name].append(line[2:])
        else:
            return {_BEFORE: [" ".join(text.split())]}, {}
    return sections, gone


def _fitted(sections: Sections, gone: Gone, room: int) -> str:
    """Write the sections, giving up the oldest entries until they fit."""
    text = _written(sections, gone)
    while len(text) > room:
        over = len(text) - room
        while over > 0:
            name = _giving(sections)
            if name is None:
                return text[:room].rstrip()
            over -= len(sections[name].pop(0)) + 3
            gone[name] = gone.get(name, 0) + 1
            if not sections[name]:
                del sections[name]
        text = _written(sections, gone)
    return text


def _giving(sections: Sections) -> str | None:
    """Return the section that gives up an entry next; the last entry of all is nobody's."""
    several = next((name for name in _GIVES if len(sections.get(name, ())) > 1), None)
    if several is not None or len(sections) <= 1:
        return several
    return next(name for name in _GIVES if name in sections)


def _written(sections: Sections, gone: Gone) -> str:
    lines: list[str] = []
    for name in _SHOWN:
        if name not in sections:
            continue
        lines.append(f"{name}:")
        if gone.get(name):
            lines.append(f"- ({gone[name]} earlier ones left out)")
        lines += [f"- {entry}" for entry in sections[name]]
    return "\n".join(lines)
