"""Pending summaries: what is to be summarised, as data, before anybody is asked for the text.

Knows: what a summary stands for, what it replaces, how long it may be, and what it is headed with.
Its input is lines of text in groups: calls are spelled out, so that no provider is sent half of a
pair, and nothing is left out without a word.

Must not know: who writes the text; formats.
"""

from __future__ import annotations

import re
from typing import Final, Literal

import msgspec

__all__ = ["MARK", "SMALL", "Line", "PendingSummary", "heading", "numbers_of"]

MARK: Final = re.compile(r"\[Summary of \d+ earlier messages?: ([\d, -]+)\]\n")
"""How a summary of ours begins: that is how it is known again."""
SMALL: Final = 400
"""Up to so many characters a summary is not called a growth, however little it stands for."""


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that was said or done.

    Args:
        kind: who said it, or what it is.
        text: the words, the arguments of a call, what a result says.
        name: the tool, for a call and a result.
        failed: whether a result reports an error.

    >>> Line("call", '{"q": 1}', "search").words()
    'Assistant called search({"q": 1})'
    """

    kind: Literal["system", "user", "assistant", "thought", "call", "result", "other"]
    text: str
    name: str = ""
    failed: bool = False

    def words(self) -> str:
        """Say it as a line of a report."""
        if self.kind == "call":
            return f"Assistant called {self.name or 'a tool'}({self.text})"
        if self.kind == "result":
            how = " (failed)" if self.failed else ""
            return f"Result of {self.name or 'a tool'}{how}: {self.text}"
        if self.kind == "thought":
            return f"Assistant thought: {self.text}"
        if self.kind == "other":
            return f"[{self.text}]"
        return f"{self.kind.capitalize()}: {self.text}"


class PendingSummary(msgspec.Struct, frozen=True, kw_only=True):
    r"""What is to be summarised, and what the text must keep to.

    Args:
        covers: ranges `(start, stop)` of positions in the input whose messages it stands for.
        position: the position in the input that it is put in front of.
        numbers: ranges of the numbers, counted from 1, that its messages have in the conversation,
            those of an earlier summary included.
        previous: the text of the summary that it replaces; it goes into the new one.
        groups: what was said, by group.
        size: characters of all that it stands for.
        max_chars: the most characters that it may have, its heading included.
        max_input_chars: the most characters that a summarizer is given at once.
        instructions: what the summarizer is told besides.

    >>> pending = PendingSummary(
    ...     covers=((1, 3),),
    ...     position=1,
    ...     numbers=((2, 3),),
    ...     groups=((Line("user", "hi"),), (Line("assistant", "hello"),)),
    ...     size=7,
    ...     max_chars=400,
    ... )
    >>> pending.worded("They greeted each other.")
    '[Summary of 2 earlier messages: 2-3]\nThey greeted each other.'
    """

    covers: tuple[tuple[int, int], ...]
    position: int
    numbers: tuple[tuple[int, int], ...]
    groups: tuple[tuple[Line, ...], ...]
    size: int
    max_chars: int
    max_input_chars: int = 100_000
    previous: str = ""
    instructions: str = ""

    @property
    def heading(self) -> str:
        """The line that it begins with."""
        return heading(self.numbers)

    @property
    def room(self) -> int:
        """The most characters that the text itself may have."""
        return self.max_chars - len(self.heading)

    def worded(self, text: str) -> str:
        """Put the heading over a text.

        Raises:
            TypeError: it is no text.
            ValueError: the text is blank, longer than what was reserved for it, or longer than
                what it stands for.
        """
        if not isinstance(text, str):
            raise TypeError(f"a summary must be a text, got {type(text).__name__}")
        text = text.strip()
        if not text:
            raise ValueError("the summary is blank")
        if len(text) > self.room:
            raise ValueError(f"the summary has {len(text):,} characters, {self.room:,} are free")
        if len(text) > max(self.size, SMALL):
            raise ValueError(
                f"the summary has {len(text):,} characters, what it stands for {self.size:,}"
            )
        return f"{self.heading}{text}"


def heading(numbers: tuple[tuple[int, int], ...]) -> str:
    r"""Write the line that says what a summary stands for.

    >>> heading(((2, 2), (4, 9)))
    '[Summary of 7 earlier messages: 2, 4-9]\n'
    """
    count = sum(last - first + 1 for first, last in numbers)
    said = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in numbers)
    return f"[Summary of {count} earlier message{'' if count == 1 else 's'}: {said}]\n"


def numbers_of(text: str) -> tuple[tuple[int, int], ...] | None:
    r"""Return the numbers of the messages that a summary of ours stands for, `None` for other text.

    >>> numbers_of("[Summary of 3 earlier messages: 2, 4-5]\nso"), numbers_of("so")
    (((2, 2), (4, 5)), None)
    """
    found = MARK.match(text)
    if found is None:
        return None
    numbers: list[tuple[int, int]] = []
    for piece in found[1].split(","):
        first, _, last = piece.strip().partition("-")
        if not first.isdecimal() or not (last or first).isdecimal():
            return None
        numbers.append((int(first), int(last or first)))
    return tuple(numbers)
