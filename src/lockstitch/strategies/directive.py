"""Directives: what a strategy decided, as an inert value that can be stored and read back.

Knows: the fields of the seed's directive, the limits and steps beside them, and how all of it is
written. Nothing here acts.

Must not know: messages, how a step is carried out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from lockstitch.errors import FormatError
from lockstitch.measure.limits import Limits
from lockstitch.strategies.steps import KeepLast, Pin, Step, Summarize

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DEFAULT_KEEP_RECENT", "DEFAULT_TRIGGER_CHARS", "UNBOUNDED", "HistoryDirective"]

DEFAULT_TRIGGER_CHARS: Final = 16_000
"""Some 4,000 tokens: where the published predecessor of the seed begins to summarise."""
DEFAULT_KEEP_RECENT: Final = 10
"""Five exchanges, or two or three rounds of tools: what a follow-up question refers to."""
UNBOUNDED: Final = 1_000_000_000
"""How "no limit" is said to a configuration that takes whole numbers only."""

HistoryKind = Literal["null", "sliding_window", "summarizing", "steps"]


class HistoryDirective(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a strategy decided.

    Args:
        kind: `null`, `sliding_window`, `summarizing` or `steps`.
        summarize: whether what no longer fits is summarised.
        window_messages: most messages in all; `None` is unlimited, 0 keeps nothing.
        trigger_chars: characters of text above which it is summarised. No limit: what stays is what
            `keep_recent` says.
        keep_recent: the newest messages that a summary leaves alone.
        max_tokens: most tokens, and `max_chars` most characters; as for `trim`.
        trim_to: once the only limit is passed, cut to this.
        low_water: the same as a share of every limit; what lies between keeps the prefix stable.
        reserve: tokens kept free for the completion.
        cut: `groups` or `prefix`, as for `trim`.
        steps: what is done, in order, until the limits hold. Whole groups go last of all, whether
            or not the steps say so.
        pins: what stays, with what belongs to it.
        must_survive: phrases that the window must say; where it would not, the cut is refused.
        on_overflow: as for `trim`.

    Raises:
        TypeError, ValueError: a field is not what it must be.

    >>> HistoryDirective.default().keep_recent
    10
    """

    kind: HistoryKind
    summarize: bool = False
    window_messages: int | None = None
    trigger_chars: int | None = None
    keep_recent: int | None = None
    max_tokens: int | None = None
    max_chars: int | None = None
    trim_to: int | None = None
    low_water: float | None = None
    reserve: int = 0
    cut: Literal["groups", "prefix"] = "groups"
    steps: tuple[Step, ...] = ()
    pins: tuple[Pin, ...] = ()
    must_survive: tuple[str, ...] = ()
    on_overflow: Literal["raise", "smallest", "empty"] = "raise"

    def __post_init__(self) -> None:
        if type(self.summarize) is not bool:
            raise TypeError(f"summarize must be True or False, got {self.summarize!r}")
        for name in ("window_messages", "trigger_chars", "keep_recent"):
            check_size(name, getattr(self, name), optional=True)
        for name in ("steps", "pins", "must_survive"):
            held = getattr(self, name)
            if isinstance(held, str):
                raise TypeError(f"{name} must be a list, got the text {held!r}")
            msgspec.structs.force_setattr(self, name, tuple(held))
        if self.cut not in ("groups", "prefix"):
            raise ValueError(f'cut must be "groups" or "prefix", got {self.cut!r}')
        if self.on_overflow not in ("raise", "smallest", "empty"):
            raise ValueError(
                f'on_overflow must be "raise", "smallest" or "empty", got {self.on_overflow!r}'
            )
        self.limits()

    @classmethod
    def default(cls) -> HistoryDirective:
        """Return what is done where nobody chose: the overflow is summarised.

        >>> HistoryDirective.default().kind
        'summarizing'
        """
        return cls(
            kind="summarizing",
            summarize=True,
            trigger_chars=DEFAULT_TRIGGER_CHARS,
            keep_recent=DEFAULT_KEEP_RECENT,
        )

    def directive(self) -> HistoryDirective:
        """Return itself: a directive is a strategy that has decided already."""
        return self

    def limits(self) -> Limits:
        """Return the bounds of the window.

        >>> HistoryDirective("sliding_window", window_messages=50).limits().max_messages
        50
        """
        return Limits(
            max_messages=self.window_messages,
            max_tokens=self.max_tokens,
            max_chars=self.max_chars,
            trim_to=self.trim_to,
            low_water=self.low_water,
            reserve=self.reserve,
        )

    def planned_steps(self) -> tuple[Step, ...]:
        """Return the steps that it comes to, the plain kinds spelled out.

        >>> [type(step).__name__ for step in HistoryDirective.default().planned_steps()]
        ['Summarize']
        """
        if self.steps:
            return self.steps
        if not self.summarize:
            return ()
        keep = DEFAULT_KEEP_RECENT if self.keep_recent is None else self.keep_recent
        return (Summarize(keep_recent=keep),)

    @property
    def bounded(self) -> bool:
        """Whether it says anything to be kept to."""
        return bool(
            self.limits().units
            or self.trigger_chars is not None
            or any(isinstance(step, KeepLast) for step in self.steps)
        )

    def to_legacy_overrides(self) -> dict[str, Any]:
        """Write it as the fields of a configuration with a window and a compaction.

        Both are always named, so that whatever a configuration held before cannot govern beside it.
        What is unlimited is a large number there; 0 stays 0.

        >>> HistoryDirective("null").to_legacy_overrides()["max_conversation_messages"]
        1000000000
        """
        return {
            "max_conversation_messages": _or(self.window_messages, UNBOUNDED),
            "compaction_trigger_chars": _or(self.trigger_chars, UNBOUNDED),
            "compaction_keep_recent": _or(self.keep_recent, DEFAULT_KEEP_RECENT),
            "compaction_enabled": self.summarize,
        }

    # --- written and read ------------------------------------------------------------------------

    def to_json(self) -> bytes:
        """Write it as JSON.

        >>> HistoryDirective("null").to_json()
        b'{"kind":"null"}'
        """
        return msgspec.json.encode(self)

    @classmethod
    def from_json(cls, data: bytes | str) -> HistoryDirective:
        """Read what `to_json` wrote.

        Raises:
            FormatError: it is no directive.
        """
        try:
            return msgspec.json.decode(data, type=cls)
        except (msgspec.MsgspecError, UnicodeEncodeError) as error:
            raise FormatError(f"not a directive: {error}") from None

    def to_toml(self) -> str:
        r"""Write it as TOML, as a file for `lockstitch trim --strategy`.

        >>> HistoryDirective("sliding_window", window_messages=40).to_toml()
        'kind = "sliding_window"\nwindow_messages = 40\n'
        """
        from lockstitch.strategies.toml import written

        return written(msgspec.to_builtins(self))

    @classmethod
    def from_toml(cls, text: str) -> HistoryDirective:
        """Read what `to_toml` wrote; `kind` may be left out, and is `steps` then.

        Raises:
            FormatError: it is no directive.
        """
        import tomllib

        try:
            held: Mapping[str, Any] = tomllib.loads(text)
            return msgspec.convert({"kind": "steps", **held}, type=cls)
        except (msgspec.MsgspecError, tomllib.TOMLDecodeError) as error:
            raise FormatError(f"not a directive: {error}") from None


def check_size(name: str, value: object, *, optional: bool = False) -> None:
    """Refuse what is no whole number of at least 0.

    >>> check_size("window_size", True)
    Traceback (most recent call last):
    TypeError: window_size must be an integer, got True
    """
    if value is None and optional:
        return
    if type(value) is not int:
        raise TypeError(f"{name} must be an integer{' or None' if optional else ''}, got {value!r}")
    if value < 0:
        hint = "; 0 keeps nothing, None is unlimited" if optional else ""
        raise ValueError(f"{name} must not be negative, got {value}{hint}")


def _or(value: int | None, otherwise: int) -> int:
    return otherwise if value is None else value
