"""Events: what an operation on a history came to, as data, and who is told.

Knows: one event for each operation: why it did something or did not, what went, sizes before and
after. No message text is in an event. Who wants to hear adds a hearer; while there is none, nothing
is worked out.

Must not know: logging, tracing, clocks; those are hearers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self

import msgspec

from lockstitch.plan.edits import Size, StepReport

if TYPE_CHECKING:
    from collections.abc import Callable

    from lockstitch.plan import Plan

__all__ = ["Event", "Hearer", "add_hearer", "heard", "listen", "remove_hearer", "telling"]


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one operation came to.

    Args:
        operation: `trim`, `plan` or `summarize`; of a session also `append` and so on, and `move`
            of a list that another package has written.
        strategy: the kind of the directive; empty where limits alone were given.
        profile: the target, and `format` the format of the messages.
        model: the model, where it is known.
        fired: why something was done: each limit that was passed.
        why_not: why nothing was done; empty where something was.
        before: the size before, and `after` the size after, as far as they were measured.
        limit: the limit of each unit that is bounded.
        groups_dropped: how many groups went whole; `None` where nobody who listens counts them,
            since that takes a look at the whole history.
        messages_dropped: how many messages went; `messages_changed` how many something was put
            into, `messages_inserted` how many were put in.
        changed_from: the first position whose bytes differ.
        steps: what each step came to.
        summary_chars: how long the new summary is; 0 where there is none.
        failure: what went wrong with a summary; the history stands without it.

    >>> Event(operation="trim", profile="portable", format="anthropic").messages_dropped
    0
    """

    operation: str
    profile: str
    format: str
    strategy: str = ""
    model: str = ""
    fired: tuple[str, ...] = ()
    why_not: str = ""
    before: Size = Size(0)
    after: Size = Size(0)
    limit: dict[str, int] = {}
    groups_dropped: int | None = None
    messages_dropped: int = 0
    messages_changed: int = 0
    messages_inserted: int = 0
    changed_from: int = 0
    steps: tuple[StepReport, ...] = ()
    summary_chars: int = 0
    failure: str = ""

    @classmethod
    def of(
        cls,
        operation: str,
        plan: Plan,
        *,
        groups: int | None = None,
        model: str = "",
        failure: str = "",
    ) -> Event:
        """Make the event of a plan; `groups` is how many groups went."""
        summary = next((edit.text for edit in plan.edits if edit.reason == "summary"), "")
        unable = [f"{one.step}: {one.why_not}" for one in plan.steps if one.why_not]
        held = "; ".join(unable) if plan.fired and unable else "the limits hold"
        quiet = "" if plan.changes else held
        return cls(
            operation=operation,
            profile=plan.profile,
            format=plan.format,
            strategy=plan.strategy,
            model=model,
            fired=plan.fired,
            why_not=quiet,
            before=plan.before,
            after=plan.after,
            limit=plan.limit,
            groups_dropped=groups,
            messages_dropped=_sum(plan, "drop"),
            messages_changed=_sum(plan, "replace", "strip"),
            messages_inserted=len(plan.inserted),
            changed_from=plan.changed_from,
            steps=plan.steps,
            summary_chars=len(summary),
            failure=failure,
        )


def _sum(plan: Plan, *actions: str) -> int:
    return sum(edit.count for edit in plan.edits if edit.action in actions)


class Hearer(Protocol):
    """Who is told of operations. `counts`: whether it wants to know how many groups went."""

    counts: bool

    def wants(self, *, failing: bool = False) -> bool:
        """Whether it would hear anything now; `failing` is an operation that can go wrong."""
        ...

    def begin(self, operation: str) -> Any:
        """Hear that an operation begins; what is returned comes back at its end."""
        ...

    def end(self, begun: Any, event: Event | None, error: BaseException | None) -> None:
        """Hear what it came to, or that it raised."""
        ...


_HEARERS: list[Hearer] = []


def add_hearer(hearer: Hearer) -> None:
    """Tell a hearer of every operation from now on."""
    if hearer not in _HEARERS:
        _HEARERS.append(hearer)


def remove_hearer(hearer: Hearer) -> None:
    """Tell a hearer no more."""
    if hearer in _HEARERS:
        _HEARERS.remove(hearer)


def listen(callback: Callable[[Event], None]) -> Callable[[], None]:
    """Call a function with the event of every operation; returns what ends that.

    >>> import lockstitch as ls
    >>> heard = []
    >>> stop = listen(heard.append)
    >>> _ = ls.trim([{"role": "user", "content": "hi"}], max_messages=5)
    >>> stop()
    >>> heard[0].operation, heard[0].why_not
    ('trim', 'the limits hold')
    """
    hearer = _Callback(callback)
    add_hearer(hearer)
    return lambda: remove_hearer(hearer)


class _Callback:
    counts = True

    def __init__(self, callback: Callable[[Event], None]) -> None:
        self._callback = callback

    def wants(self, *, failing: bool = False) -> bool:
        return True

    def begin(self, operation: str) -> None:
        """Wait for the end."""

    def end(self, begun: Any, event: Event | None, error: BaseException | None) -> None:
        if event is not None:
            self._callback(event)


def heard() -> bool:
    """Whether anybody would hear of an operation now."""
    # Asked at every cut: a loop costs a third of what a generator does.
    for hearer in _HEARERS:  # noqa: SIM110
        if hearer.wants():
            return True
    return False


class telling:  # noqa: N801 - it reads as what it does: `with telling("trim") as told`
    """Tell of an operation: that it begins, and what it came to or that it raised.

    The operation leaves its event in `event`; `counts` says whether somebody counts groups.
    """

    __slots__ = ("_begun", "_failing", "_operation", "event")

    def __init__(self, operation: str, *, failing: bool = False) -> None:
        self.event: Event | None = None
        self._operation = operation
        self._failing = failing
        self._begun: list[tuple[Hearer, Any]] = []

    def __enter__(self) -> Self:
        self._begun = [
            (hearer, hearer.begin(self._operation))
            for hearer in _HEARERS
            if hearer.wants(failing=self._failing)
        ]
        return self

    @property
    def counts(self) -> bool:
        """Whether somebody who is told wants to know how many groups went."""
        return any(hearer.counts for hearer, _ in self._begun)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        for hearer, token in self._begun:
            hearer.end(token, self.event, error)
