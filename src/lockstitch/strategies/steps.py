"""Steps: what may be done to make a history fit, as data.

Knows: the settings of every step, their defaults and why, and what is no setting. A directive lists
steps in order; they run until the limits hold.

Must not know: how a step is carried out (`clearing`, `reasoning`, `summaries`, `keeping`,
`managed`), messages, limits.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

__all__ = [
    "AnthropicCompaction",
    "AnthropicEditing",
    "ClearMedia",
    "ClearRepeats",
    "ClearResults",
    "DropOldest",
    "DropReasoning",
    "KeepLast",
    "OffloadResults",
    "OpenAICompaction",
    "OpenAITruncation",
    "Pin",
    "Step",
    "Summarize",
]


# With less a prompt holds the summary so far and hardly anything new.
_LEAST_INPUT: Final = 100
# Source: Claude documentation, compaction.
_LEAST_TRIGGER: Final = 50_000


class _Step(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="step", forbid_unknown_fields=True
):
    """What all steps have in common: whole numbers are whole numbers, and not negative."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            _check(name, getattr(self, name), getattr(self.__class__, "__annotations__", {}))


def _check(name: str, value: Any, kinds: dict[str, Any]) -> None:
    kind = str(kinds.get(name, ""))
    if kind.startswith("int"):
        if value is None and kind.endswith("None"):
            return
        if type(value) is not int:
            raise TypeError(f"{name} must be an integer, got {value!r}")
        if value < 0:
            raise ValueError(f"{name} must not be negative, got {value}")
    elif kind == "bool" and type(value) is not bool:
        raise TypeError(f"{name} must be True or False, got {value!r}")
    elif kind.startswith("tuple") and isinstance(value, str):
        raise TypeError(f"{name} must be a list of names, got the text {value!r}")


class ClearResults(_Step, frozen=True, tag="clear-results"):
    """Put stubs in the place of old tool results; the payload stays in the record.

    Args:
        keep_groups: the newest groups with calls that stay whole.
        keep_turn: leave everything behind the newest user message alone. Off by default: a long
            agent run is one turn, and its old results are what is large.
        exclude: names of tools whose results stay.
        head: characters of the beginning that a stub shows.
        tail: characters of the end. The end of a log says how it went.
        min_chars: a result of fewer characters stays.

    >>> ClearResults(keep_groups=2).exclude
    ()
    """

    keep_groups: int = 4
    keep_turn: bool = False
    exclude: tuple[str, ...] = ()
    head: int = 120
    tail: int = 120
    min_chars: int = 600


class OffloadResults(_Step, frozen=True, tag="offload-results"):
    """Put large results into a blob store, and a stub that names the blob in their place.

    A plan names the blobs; `trim` and `apply` write them before the stubs are put in.

    Args:
        min_chars: a result of fewer characters stays.
        keep_groups: the newest groups with calls that stay whole.
        exclude: names of tools whose results stay.
        head: characters of the beginning that a stub shows, and `tail` of the end.

    >>> OffloadResults().min_chars
    8000
    """

    min_chars: int = 8_000
    keep_groups: int = 1
    exclude: tuple[str, ...] = ()
    head: int = 400
    tail: int = 400


class ClearRepeats(_Step, frozen=True, tag="clear-repeats"):
    """Where results say the same word by word, keep the newest and put stubs in for the others.

    Args:
        min_chars: a result of fewer characters stays.
        exclude: names of tools whose results stay.

    >>> ClearRepeats().min_chars
    200
    """

    min_chars: int = 200
    exclude: tuple[str, ...] = ()


class ClearMedia(_Step, frozen=True, tag="clear-media"):
    """Put a word with type and size in the place of old images, documents and sound.

    Args:
        keep_turns: the newest turns whose media stay.
        min_chars: media with fewer characters of inline data stay; links weigh nothing.

    >>> ClearMedia().keep_turns
    1
    """

    keep_turns: int = 1
    min_chars: int = 1_000


class DropReasoning(_Step, frozen=True, tag="drop-reasoning"):
    """Leave old reasoning out, the oldest first.

    Args:
        keep_turns: the newest turns that keep theirs. At least one: what led to calls of the open
            turn must go back with them.

    >>> DropReasoning(keep_turns=2).keep_turns
    2
    """

    keep_turns: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.keep_turns < 1:
            raise ValueError("keep_turns must be at least 1: the open turn needs its reasoning")


class Summarize(_Step, frozen=True, tag="summarize"):
    """Put one running summary in the place of older groups.

    Args:
        keep_recent: the newest messages that stay word by word; fewer where the limits would drop
            some of them, which are then told in the summary.
        max_chars: the most characters of the summary, its heading included.
        max_input_chars: the most characters that the summarizer is given at once; more goes in
            several pieces, split between groups.
        instructions: what the summarizer is told besides; empty for nothing.

    >>> Summarize(keep_recent=6).max_chars
    4000
    """

    keep_recent: int = 10
    max_chars: int = 4_000
    max_input_chars: int = 100_000
    instructions: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_input_chars < _LEAST_INPUT or self.max_chars < 1:
            raise ValueError(
                f"max_input_chars must be at least {_LEAST_INPUT} and max_chars at least 1, "
                f"got {self.max_input_chars} and {self.max_chars}"
            )


class DropOldest(_Step, frozen=True, tag="drop-oldest"):
    """Drop whole groups, oldest first; the last resort, and what every directive ends with.

    Args:
        cut: `groups` or `prefix`, as for `trim`.

    >>> DropOldest().cut
    'groups'
    """

    cut: Literal["groups", "prefix"] = "groups"

    def __post_init__(self) -> None:
        if self.cut not in ("groups", "prefix"):
            raise ValueError(f'cut must be "groups" or "prefix", got {self.cut!r}')


class KeepLast(_Step, frozen=True, tag="keep-last"):
    """Keep the newest turns or groups, whatever the other limits are.

    Args:
        turns: how many turns, each from a user message up to the next one.
        groups: how many groups.

    >>> KeepLast(turns=5).groups is None
    True
    """

    turns: int | None = None
    groups: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.turns is None) == (self.groups is None):
            raise ValueError("KeepLast takes turns or groups, one of them")


class AnthropicEditing(_Step, frozen=True, tag="anthropic-editing"):
    """Let Anthropic clear old tool uses and thinking on its side (context editing, a beta).

    Args:
        trigger_tokens: input tokens at which it clears; `None` for the provider's own default.
        keep_tool_uses: the newest tool uses that stay; `None` clears none.
        clear_at_least: tokens that clearing must save, or it is not done.
        exclude: names of tools whose uses stay.
        clear_inputs: whether arguments are cleared along with results.
        keep_thinking_turns: the newest turns of the model that keep thinking; `None` for all.

    Source: Claude documentation, context editing, `clear_tool_uses_20250919` and
    `clear_thinking_20251015`; types of the anthropic SDK.

    >>> AnthropicEditing().keep_tool_uses
    3
    """

    trigger_tokens: int | None = None
    keep_tool_uses: int | None = 3
    clear_at_least: int | None = None
    exclude: tuple[str, ...] = ()
    clear_inputs: bool = False
    keep_thinking_turns: int | None = None


class AnthropicCompaction(_Step, frozen=True, tag="anthropic-compaction"):
    """Let Anthropic compact on its side, and leave out what a compaction block stands for.

    Args:
        trigger_tokens: input tokens at which it compacts; the provider takes 50,000 and more, and
            150,000 is its default.
        instructions: what the provider's summarizer is told besides; empty for nothing.
        pause: hand the block back before the model goes on.

    Source: Claude documentation, compaction, `compact_20260112`; types of the anthropic SDK.

    >>> AnthropicCompaction().trigger_tokens
    150000
    """

    trigger_tokens: int = 150_000
    instructions: str = ""
    pause: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.trigger_tokens < _LEAST_TRIGGER:
            raise ValueError(
                f"trigger_tokens must be at least {_LEAST_TRIGGER} for Anthropic, "
                f"got {self.trigger_tokens}"
            )


class OpenAICompaction(_Step, frozen=True, tag="openai-compaction"):
    """Let OpenAI compact on its side, and leave out what a compaction item stands for.

    Args:
        threshold_tokens: tokens at which it compacts.

    Source: OpenAI documentation, compaction (`context_management`, `compact_threshold`).

    >>> OpenAICompaction(threshold_tokens=100_000).threshold_tokens
    100000
    """

    threshold_tokens: int = 200_000


class OpenAITruncation(_Step, frozen=True, tag="openai-truncation"):
    """Let OpenAI drop items from the middle rather than refuse a request that is too long.

    What it drops is not reported. For where a refusal would be worse.

    Source: openai SDK, `truncation` of `responses.create`.

    >>> OpenAITruncation()
    OpenAITruncation()
    """


Step = (
    ClearResults
    | OffloadResults
    | ClearRepeats
    | ClearMedia
    | DropReasoning
    | Summarize
    | DropOldest
    | KeepLast
    | AnthropicEditing
    | AnthropicCompaction
    | OpenAICompaction
    | OpenAITruncation
)
"""Any step."""


class Pin(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which messages stay, by one property; what belongs to them stays as well.

    Args:
        index: a position; negative ones count from the end.
        id: the id of a message, a call, or the call that a result answers.
        role: every message of a role: `system`, `user`, `assistant`, `tool`.
        text: every message that holds this text, upper and lower case as given.

    >>> Pin(text="never on a Friday").role is None
    True
    """

    index: int | None = None
    id: str | None = None
    role: str | None = None
    text: str | None = None

    def __post_init__(self) -> None:
        given = [name for name in self.__struct_fields__ if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"a pin takes one of index, id, role and text, got {' and '.join(given) or 'none'}"
            )
        name = given[0]
        value = getattr(self, name)
        if name == "index":
            if type(value) is not int:
                raise TypeError(f"index must be an integer, got {value!r}")
        elif not isinstance(value, str) or not value:
            raise TypeError(f"{name} must be a text, got {value!r}")
        if name == "role" and value not in ("system", "user", "assistant", "tool"):
            raise ValueError(f"no messages have the role {value!r}")
