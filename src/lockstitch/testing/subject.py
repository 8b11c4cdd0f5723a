"""Subjects: a history under test, and what it is compared with, each worked out once.

Knows: how to ask the library about a history and about any selection of its messages. The laws read
a subject; they never look at how a decision was reached.
"""

from __future__ import annotations

import copy
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, Literal

from lockstitch.accepting import check
from lockstitch.document.objects import LIST_KEYS
from lockstitch.history import groups, load
from lockstitch.measure.counters import Sizer, sizer_for
from lockstitch.pairing import pair
from lockstitch.rules.catalog import RULES
from lockstitch.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lockstitch.grouping import Group
    from lockstitch.rules.report import Violation

__all__ = ["HIDDEN", "LIST_LEVEL", "Subject", "breaches"]

# Checks whose finding is about the list as a whole: a cut may move the place it is reported at, so
# what counts is how many there are.
LIST_LEVEL: Final = frozenset(
    {
        "call_leads",
        "ends_with_model",
        "final_assistant_thinking",
        "first_not_user",
        "model_speaks_last",
        "no_messages",
        "no_user_message",
        "system_first",
        "user_not_first",
    }
)

# Checks that tell one damage in other words, as what stands around it differs: a result without its
# call by what stands before it, a call without its result by whether others of its turn have one. A
# cut may change that, so all of a set are told as one rule's.
ALIKE: Final = (
    frozenset({"leading_result", "result_after_user", "surplus_result", "unknown_result"}),
    frozenset({"dangling_call", "response_count"}),
)
_TOLD_AS: Final = {
    check: next(rule.id for rule in RULES.values() if rule.check in checks)
    for checks in ALIKE
    for check in checks
}

# Checks that go by ids or counts and not by pairs: another call's result satisfies them, and when
# that one goes, what it hid comes to light. So a call that never had a result of its own is not
# newly broken, nor a result that never had a call.
HIDDEN: Final = frozenset({"call_answered_nowhere", "results_counted", *ALIKE[0]})

# A breach in terms of the input: the rule, the input position (-1 for the list), the place inside.
Breach = tuple[str, int, str]


class Subject:
    """A history that laws are tried on.

    Args:
        natives: its messages.
        format: the name of their format.
        context: the request around the list.
        key: where a request body keeps the list.

    >>> from lockstitch.testing import assistant, user
    >>> subject = Subject.of([user(), assistant()])
    >>> subject.format, len(subject), [unit.members for unit in subject.groups("portable")]
    ('openai-chat', 2, [(0,), (1,)])
    """

    def __init__(
        self,
        natives: Sequence[Any],
        format: str,
        *,
        context: Mapping[str, Any] | None = None,
        key: str = "messages",
    ) -> None:
        self.natives = natives
        self.format = format
        self.context: Mapping[str, Any] = context or {}
        self.key = key
        self._before = copy.deepcopy(list(natives))
        self._groups: dict[str, list[Group]] = {}
        self._breaches: dict[tuple[str, str, tuple[int, ...]], Counter[Breach]] = {}
        self._sizers: dict[tuple[str, str], Sizer] = {}
        self._unpaired: set[int] | None = None

    @classmethod
    def of(cls, source: Any, *, format: str | None = None) -> Subject:
        """Open whatever `load` opens."""
        transcript = source if isinstance(source, Transcript) else load(source, format=format)
        key = transcript.path.rpartition(".")[2]
        return cls(
            transcript.natives,
            transcript.format.name,
            context=transcript.context,
            key=key if key in LIST_KEYS else "messages",
        )

    def __len__(self) -> int:
        return len(self.natives)

    def source(self, positions: Sequence[int] | None = None) -> Any:
        """Return the history, or some of its messages, as a caller would hand it over."""
        natives = self.natives if positions is None else [self.natives[at] for at in positions]
        return {**self.context, self.key: natives} if self.context else natives

    def as_source(self, natives: Sequence[Any]) -> Any:
        """Return messages as a caller would hand them over, in the request of the history."""
        return {**self.context, self.key: list(natives)} if self.context else list(natives)

    def listed(self, window: Any) -> Sequence[Any]:
        """Return the messages of what a function gave back."""
        found: Sequence[Any] = window[self.key] if self.context else window
        return found

    def transcript(self, positions: Sequence[int] | None = None) -> Transcript:
        """Return the history, or some of its messages, as a transcript nobody has read yet."""
        return load(self.source(positions), format=self.format)

    def groups(self, profile: str) -> list[Group]:
        """Return the groups of the history under a profile."""
        found = self._groups.get(profile)
        if found is None:
            found = self._groups[profile] = list(
                groups(self.source(), format=self.format, profile=profile)
            )
        return found

    def breaches(
        self, profile: str, tail: Literal["open", "closed"], positions: tuple[int, ...]
    ) -> Counter[Breach]:
        """Return the breaches of some of the messages, in terms of the whole history."""
        key = (profile, tail, positions)
        found = self._breaches.get(key)
        if found is None:
            report = check(self.source(positions), profile=profile, tail=tail, format=self.format)
            found = self._breaches[key] = breaches(report.violations, positions)
        return found

    def unpaired(self) -> set[int]:
        """Return where calls and results stand whose other half is not there."""
        if self._unpaired is None:
            pairing = pair(self.transcript().facts_from(0))
            calls = {call.message for call in pairing.calls if call.answer < 0}
            self._unpaired = calls | {tie.message for tie in pairing.ties if tie.call is None}
        return self._unpaired

    def sizer(self, unit: str, counter: Any) -> Sizer:
        """Return the sizes of the messages in one unit; kept for the counters that have a name."""
        if counter is not None and not isinstance(counter, str):
            return sizer_for(self.transcript(), unit, counter)
        key = (unit, str(counter))
        found = self._sizers.get(key)
        if found is None:
            found = self._sizers[key] = sizer_for(self.transcript(), unit, counter)
        return found

    def size(self, unit: str, counter: Any, positions: Sequence[int] | None = None) -> int:
        """Return the size of some of the messages and of what stands around them."""
        sizer = self.sizer(unit, counter)
        kept = range(len(self)) if positions is None else positions
        return sizer.around + sum(sizer.size(at) for at in kept)

    def is_unchanged(self) -> bool:
        """Tell whether the messages still are what they were at first."""
        return len(self._before) == len(self.natives) and all(
            _alike(before, now) for before, now in zip(self._before, self.natives, strict=True)
        )


def _alike(before: Any, now: Any) -> bool:
    if before == now:
        return True
    # NaN differs from itself, and objects of a test may not say when they are equal.
    return repr(before) == repr(now) or getattr(before, "__dict__", 0) == getattr(
        now, "__dict__", 1
    )


def breaches(violations: Sequence[Violation], positions: Sequence[int]) -> Counter[Breach]:
    """Count violations by rule, input position and place inside the message.

    What is only suspected of a rule (its model is not known, the record is not there) is none.
    """
    found: Counter[Breach] = Counter()
    for violation in violations:
        if violation.severity != RULES[violation.rule].severity:
            continue
        check = RULES[violation.rule].check
        if violation.index < 0 or check in LIST_LEVEL:
            found[violation.rule, -1, ""] += 1
        else:
            inside = violation.path.partition("]")[2]
            name = _TOLD_AS.get(check, violation.rule)
            found[name, positions[violation.index], inside] += 1
    return found
