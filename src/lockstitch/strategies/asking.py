"""Asking for a summary: the conversation with whoever writes it, without any I/O.

Knows: what a summarizer is told, how much at once, which answers are no summary, and how often it
is asked. A generator yields prompts and takes answers; a function that calls a summarizer, or
awaits one, drives it.

Must not know: which summarizer it is; messages.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from lockstitch.errors import SummaryFailed
from lockstitch.plan.pending import Line

if TYPE_CHECKING:
    from lockstitch.plan.pending import PendingSummary

__all__ = ["AsyncSummarizer", "Summarizer", "SummaryPrompt", "answered", "answered_async", "asking"]

_TASK: Final = (
    "Write the summary that stands in the place of the conversation below, for the model that goes "
    "on with it. Keep: what the user wants, and what the user said must or must not be done; "
    "decisions and why; which tools ran on what, with names of files and identifiers; what failed; "
    "what is still to be done. No greeting, no tool calls. At most {room} characters."
)
_SHORT: Final = "Summarise in {room} characters:"
_REFUSAL: Final = re.compile(
    r"\W*(i'?m sorry|i am sorry|sorry, |i can ?not |i can'?t |i'?m (not able|unable)"
    r"|i am (not able|unable)|as an ai\b)",
    re.IGNORECASE,
)


class SummaryPrompt(str):
    """What a summarizer is asked: a text that can be sent as it is, and the pieces of it.

    Attributes:
        lines: what was said and done, in this piece.
        previous: the summary so far, empty at first.
        instructions: the text before them.
        room: the most characters of the answer.

    >>> SummaryPrompt("Summarise: ...").room
    0
    """

    __slots__ = ("instructions", "lines", "previous", "room")

    lines: Sequence[Line]
    previous: str
    instructions: str
    room: int

    def __new__(
        cls,
        text: str,
        *,
        lines: Sequence[Line] = (),
        previous: str = "",
        instructions: str = "",
        room: int = 0,
    ) -> Self:
        """Make a prompt of its text and its pieces."""
        made = super().__new__(cls, text)
        made.lines = tuple(lines)
        made.previous = previous
        made.instructions = instructions
        made.room = room
        return made


Summarizer = Callable[[SummaryPrompt], str]
"""Takes a prompt, returns the summary. A prompt is a text: what takes text will do."""
AsyncSummarizer = Callable[[SummaryPrompt], "Awaitable[str] | str"]
"""The same, to be awaited."""

T = TypeVar("T")
Talk = Generator[SummaryPrompt, Any, T]
"""A conversation with a summarizer: yields prompts, takes answers."""


def answered(talk: Talk[T], summarizer: Summarizer) -> T:
    """Let a summarizer answer what is asked, and return what comes of it."""
    try:
        prompt = next(talk)
        while True:
            try:
                answer = summarizer(prompt)
            except Exception as error:  # noqa: BLE001 - handed on, and raised when it stays
                prompt = talk.throw(error)
            else:
                prompt = talk.send(answer)
    except StopIteration as done:
        outcome: T = done.value
        return outcome


async def answered_async(talk: Talk[T], summarizer: AsyncSummarizer) -> T:
    """Do what `answered` does with a summarizer that must be awaited."""
    try:
        prompt = next(talk)
        while True:
            try:
                answer = summarizer(prompt)
                if not isinstance(answer, str):
                    answer = await answer
            except Exception as error:  # noqa: BLE001 - handed on, and raised when it stays
                prompt = talk.throw(error)
            else:
                prompt = talk.send(answer)
    except StopIteration as done:
        outcome: T = done.value
        return outcome


def asking(pending: PendingSummary, attempts: int) -> Talk[str]:
    """Yield prompts and take answers until there is a summary; return it.

    What is too much for one prompt goes in several, each with the summary so far.

    Raises:
        SummaryFailed: of one prompt no answer could be used.
    """
    text = pending.previous
    left = deque(line for lines in pending.groups for line in lines)
    if len(text) > _share(pending):
        # Too long to be carried along with each piece: it goes in as the first of them.
        left.appendleft(Line("other", text))
        text = ""
    while left:
        taken = _piece(pending, text, left)
        room = pending.room if not left else min(pending.room, _share(pending))
        text = yield from _attempts(pending, taken, text, room, attempts)
    return text


def _attempts(
    pending: PendingSummary, lines: Sequence[Line], previous: str, room: int, attempts: int
) -> Talk[str]:
    why, brief, cause = "", "", None
    for _ in range(attempts):
        prompt = _prompt(pending, lines, previous, room, why)
        try:
            answer = yield prompt
        except Exception as error:  # noqa: BLE001 - the cause of the failure that is raised below
            cause = error
            # The words of an error may quote what was sent.
            why, brief = f"{type(error).__name__}: {error}", f"it raised {type(error).__name__}"
            continue
        cause = None
        why = brief = _wrong(answer, prompt)
        if not why:
            return str(answer).strip()
    raise SummaryFailed(why, attempts=attempts, brief=brief) from cause


def _wrong(answer: Any, prompt: SummaryPrompt) -> str:
    """Say why an answer is no summary, nothing where it is one."""
    if not isinstance(answer, str):
        return f"it is no text but {type(answer).__name__}"
    said = answer.strip()
    if not said:
        return "it is blank"
    if len(said) > prompt.room:
        return f"it has {len(said):,} characters, {prompt.room:,} are free"
    if _REFUSAL.match(said):
        return "it is a refusal"
    if prompt.instructions and prompt.instructions[:60] in said:
        return "it repeats what was asked"
    return ""


# --- prompts --------------------------------------------------------------------------------------


def _share(pending: PendingSummary) -> int:
    """How long the summary so far may get, so that it leaves room for what is new."""
    return pending.max_input_chars // 4


def _task(pending: PendingSummary, room: int) -> str:
    """Say what is wanted, in as many words as the prompt has room for."""
    told = _TASK.format(room=room)
    if pending.instructions:
        told = f"{told}\n{pending.instructions}"
    short = _SHORT.format(room=room)
    fitting = (one for one in (told, short) if len(one) * 2 <= pending.max_input_chars)
    return next(fitting, "")


def _prompt(
    pending: PendingSummary, lines: Sequence[Line], previous: str, room: int, why: str
) -> SummaryPrompt:
    task = _task(pending, room)
    again = f"The last answer could not be used: {why[:200]}." if why else ""
    told = "\n".join(line.words() for line in lines)
    pieces = [task, _so_far(previous), told]
    if len("\n\n".join(filter(None, [*pieces, again]))) <= pending.max_input_chars:
        pieces.insert(1, again)
    return SummaryPrompt(
        "\n\n".join(filter(None, pieces)),
        lines=lines,
        previous=previous,
        instructions=task,
        room=room,
    )


def _so_far(previous: str) -> str:
    return f"So far: {previous}" if previous else ""


def _piece(pending: PendingSummary, previous: str, left: deque[Line]) -> list[Line]:
    """Take as many lines as one prompt holds; a line that is larger by itself goes in parts."""
    free = pending.max_input_chars - len(_prompt(pending, (), previous, pending.room, "")) - 2
    taken: list[Line] = []
    while left:
        words = left[0].words()
        if len(words) + 1 <= free:
            free -= len(words) + 1
            taken.append(left.popleft())
        elif taken:
            break
        else:
            # Brackets and the end of the line are part of the size.
            part = max(1, free - 3)
            left[0] = Line("other", words[part:])
            return [Line("other", words[:part])]
    return taken
