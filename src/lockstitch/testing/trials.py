"""Trials: one case carried out, and everything that expectations ask about it.

Knows: how a case says what is done to which input (`trim`, with steps that append to the window,
`validate`, `repair`, and `summarize` with a summarizer that does as the case says), and which of it
this release can do. Must not know what was expected.
"""

from __future__ import annotations

import ast
import copy
import inspect
from typing import TYPE_CHECKING, Any, Final, Literal

from lockstitch.accepting import check, repair
from lockstitch.errors import LockstitchError
from lockstitch.formats import FORMATS
from lockstitch.grouping import OPEN, Group
from lockstitch.history import groups, load, plan, trim
from lockstitch.measure.counters import sizer_for
from lockstitch.measure.limits import CHARS, MESSAGES, TOKENS
from lockstitch.rules.profiles import PROFILES
from lockstitch.strategies.digesting import digest
from lockstitch.summarizing import summarize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lockstitch.plan import Plan
    from lockstitch.rules.account import Repair
    from lockstitch.rules.report import Report, Violation
    from lockstitch.strategies.asking import SummaryPrompt
    from lockstitch.summarizing import Summarized

__all__ = ["Step", "Trial", "Unsupported"]

Tail = Literal["open", "closed"]

_LIST_KEYS: Final = ("messages", "input", "contents")
_TRIM_KEYS: Final = frozenset(
    {"op", "by", "limit", "sizes", "fixed_overhead", "reserve", "trim_to", "then", "then_sizes"}
    | {"pins", "cut", "floor", "on_overflow", "profile", "target", "note"}
)
_VALIDATE_KEYS: Final = frozenset({"op", "target", "profile", "tail", "note"})
# What says how `repair` is called rather than what it is told.
_REPAIR_KEYS: Final = frozenset({"op", "target", "profile", "note"})
_REPAIR_OPTIONS: Final = frozenset(inspect.signature(repair).parameters) - {"source", "format"}
_SUMMARIZE_KEYS: Final = frozenset(
    {"op", "keep_recent", "limit", "by", "sizes", "summary_size", "summarizer"}
    | {"summarizer_limit_chars", "repeat", "append_between", "profile", "target", "note"}
)
_RETURNS: Final = "returns "
_KNOWN: Final = {
    "trim": _TRIM_KEYS,
    "validate": _VALIDATE_KEYS,
    "repair": _REPAIR_KEYS | _REPAIR_OPTIONS,
    "summarize": _SUMMARIZE_KEYS,
}


class Unsupported(Exception):
    """What a case asks for is not in this release."""


class Step:
    """One trim: the window before it, and what was kept of it.

    Positions count over the whole case: the input's messages, then those appended by later steps.
    """

    def __init__(
        self, before: list[int], kept: list[int], decision: Plan, result: list[Any]
    ) -> None:
        self.before = before
        self.kept = kept
        self.decision = decision
        self.result = result

    @property
    def dropped(self) -> list[int]:
        """The positions that the plan says go."""
        return [self.before[at] for at in self.decision.dropped]


class Trial:
    """A case, carried out.

    Args:
        case: one row of a case file.

    Raises:
        Unsupported: the format, the operation or one of its options is not in this release.
        KeyError, TypeError, ValueError: the row is no case.
    """

    def __init__(self, case: Mapping[str, Any]) -> None:
        self.case = case
        self.format: str = case["format"]
        self.operation: Mapping[str, Any] = case["operation"]
        self.op: str = self.operation["op"]
        if self.op not in _KNOWN:
            raise Unsupported(f"the operation {self.op} is not in this release")
        if self.format not in FORMATS:
            raise Unsupported(f"the format {self.format} is not in this release")
        strange = sorted(self.operation.keys() - _KNOWN[self.op])
        if strange:
            raise Unsupported(f"{self.op} has no option {', '.join(strange)} in this release")
        body: Mapping[str, Any] = case["input"]
        self.key = next((key for key in _LIST_KEYS if key in body), "messages")
        self.context = {name: value for name, value in body.items() if name != self.key}
        self.natives: list[Any] = list(body.get(self.key, ()))
        self.count = len(self.natives)
        self._before = copy.deepcopy(self.natives)
        self.sizes: list[int] | None = None
        self.steps: list[Step] = []
        self.mended: Repair | None = None
        self.condensed: list[Summarized] = []
        self.prompts: list[SummaryPrompt] = []
        self.error: Exception | None = None
        self.profile = self._profile()
        {
            "trim": self._trim,
            "validate": self._validate,
            "repair": self._repair,
            "summarize": self._summarize,
        }[self.op]()

    # --- what was asked --------------------------------------------------------------------------

    def _profile(self) -> str:
        """Return the acceptance rules that the operation is for."""
        named = self.operation.get("target") or self.operation.get("profile")
        if named is None and self.op != "validate":
            expected: Mapping[str, Any] = self.case.get("expected", {})
            # What must be accepted is stated beside the result, or under `if_returned`.
            for place in (expected, expected.get("if_returned") or {}):
                for target in place.get("result_valid_for") or ():
                    if target in PROFILES:
                        return str(target)
            return self.format if self.format in PROFILES else "portable"
        if named not in PROFILES:
            raise Unsupported(f"the target {named} is not in this release")
        return str(named)

    def source(self, positions: Sequence[int] | None = None) -> Any:
        """Return the input, or some of its messages, as a caller would hand it over."""
        at = range(self.count) if positions is None else positions
        return self.as_source([self.natives[position] for position in at])

    # --- carrying it out -------------------------------------------------------------------------

    def _validate(self) -> None:
        try:
            self.report(None, self.profile, self.closing())
        except (LockstitchError, TypeError, ValueError) as error:
            self.error = error

    def _repair(self) -> None:
        try:
            self.mended = self.repaired(self.source())
        except (LockstitchError, TypeError, ValueError) as error:
            self.error = error

    def repaired(self, source: Any) -> Repair:
        """Mend a history as the case asks for it."""
        told = {key: self.operation[key] for key in self.operation.keys() - _REPAIR_KEYS}
        return repair(source, profile=self.profile, format=self.format, **told)

    def _summarize(self) -> None:
        op = self.operation
        self.sizes = None if op.get("sizes") is None else list(op["sizes"])
        view = list(self.natives)
        try:
            for number in range(op.get("repeat") or 1):
                if number:
                    view += op.get("append_between") or ()
                done = self._condensed(view)
                self.condensed.append(done)
                view = list(done.messages[self.key] if self.context else done.messages)
        except (LockstitchError, TypeError, ValueError) as error:
            self.error = error

    def _condensed(self, natives: Sequence[Any]) -> Summarized:
        """Summarise some messages as the case asks for it."""
        op = self.operation
        given: dict[str, Any] = {"keep_recent": op["keep_recent"]}
        if "limit" in op:
            by = op.get("by") or TOKENS
            given["max_messages" if by == MESSAGES else "max_tokens"] = op["limit"]
            given["counter"] = self.sizes
        if "summarizer_limit_chars" in op:
            given["max_input_chars"] = op["summarizer_limit_chars"]
        source = self.as_source(natives)
        return summarize(source, self._answer, profile=self.profile, format=self.format, **given)

    def _answer(self, prompt: SummaryPrompt) -> str:
        """Answer for a summarizer, as the case says that it does."""
        self.prompts.append(prompt)
        stated = self.operation.get("summarizer")
        if stated == "raises":
            raise RuntimeError("the summarizer is down")
        if stated is not None:
            return str(ast.literal_eval(stated.removeprefix(_RETURNS)))
        size = self.operation.get("summary_size")
        return "word " * size if size else digest(prompt)

    def _trim(self) -> None:
        op = self.operation
        stated = op.get("sizes")
        self.sizes = None if stated is None else list(stated)
        view = list(range(self.count))
        appended = [[], *(op.get("then") or ())]
        more_sizes = [[], *(op.get("then_sizes") or ())]
        for number, batch in enumerate(appended):
            view = view + [len(self.natives) + at for at in range(len(batch))]
            self.natives += batch
            if self.sizes is not None and number < len(more_sizes):
                self.sizes += more_sizes[number]
            try:
                step = self._cut(view)
            except (LockstitchError, TypeError, ValueError) as error:
                self.error = error
                return
            self.steps.append(step)
            view = step.kept

    def _cut(self, view: list[int]) -> Step:
        arguments = self.arguments(view)
        source = self.source(view)
        decision = plan(source, format=self.format, **arguments)
        window = trim(source, format=self.format, **arguments)
        result = list(window[self.key] if self.context else window)
        where = {id(self.natives[at]): at for at in view}
        kept = [where[id(native)] for native in result if id(native) in where]
        return Step(view, kept, decision, result)

    def arguments(self, view: list[int]) -> dict[str, Any]:
        """Return the arguments of `trim` for a window over the case's messages."""
        op = self.operation
        by = op["by"]
        limit: Any = op["limit"]
        beside = (op.get("reserve") or 0) + (op.get("fixed_overhead") or 0)
        arguments: dict[str, Any] = {"profile": self.profile}
        if by == MESSAGES:
            arguments["max_messages"] = limit
        elif by == CHARS and self.sizes is None:
            arguments["max_chars"] = limit
        elif by in {TOKENS, CHARS}:
            # Sizes are handed in: whatever they count, they are costs against the limit.
            arguments["max_tokens"] = limit
            arguments["counter"] = None if self.sizes is None else [self.sizes[at] for at in view]
        else:
            raise Unsupported(f"trim by {by} is not in this release")
        if beside:
            arguments["reserve"] = beside
        for name in ("trim_to", "cut", "floor", "on_overflow"):
            if op.get(name) is not None:
                arguments[name] = op[name]
        if op.get("pins"):
            arguments["pins"] = [view.index(pin) for pin in op["pins"] if pin in view]
        return arguments

    # --- what expectations ask -------------------------------------------------------------------

    def result(self) -> list[Any]:
        """Return the messages of the outcome: mended, kept by the first trim, or as given."""
        if self.mended is not None:
            held = self.mended.messages
            return list(held[self.key] if self.context else held)
        if self.condensed:
            held = self.condensed[-1].messages
            return list(held[self.key] if self.context else held)
        kept = self.steps[0].kept if self.steps else range(self.count)
        return [self.natives[at] for at in kept]

    def as_source(self, natives: Sequence[Any]) -> Any:
        """Return messages as a caller would hand them over, in the request of the case."""
        return {**self.context, self.key: list(natives)} if self.context else list(natives)

    def report_of(self, natives: Sequence[Any], profile: str, tail: Tail) -> Report:
        """Check some messages in the request of the case."""
        return check(self.as_source(natives), profile=profile, tail=tail, format=self.format)

    def report(self, positions: Sequence[int] | None, profile: str, tail: Tail) -> Report:
        """Check the input, or some of its messages."""
        at = range(self.count) if positions is None else positions
        return self.report_of([self.natives[position] for position in at], profile, tail)

    def findings(self) -> tuple[Violation, ...]:
        """Return what the operation found: about the input, the window, or the mended history."""
        if self.mended is not None:
            return self.report_of(self.result(), self.profile, self.closing()).violations
        if self.op == "validate":
            return self.report(None, self.profile, self.closing()).violations
        return self.report(self.steps[0].kept, self.profile, self.tail()).violations

    def closing(self) -> Tail:
        """Tell whether the model is about to be called: as the case says, else it is."""
        return "open" if self.operation.get("tail") == "open" else "closed"

    def tail(self) -> Tail:
        """Tell whether tools still run at the end of the input: then its last calls may be open."""
        running = any(unit.state == OPEN for unit in self.groups())
        return "open" if running else "closed"

    def groups(self) -> list[Group]:
        """Return the groups of the input."""
        return list(groups(self.source(), format=self.format, profile=self.profile))

    def size(self, positions: Sequence[int]) -> int:
        """Return the size of some messages, by the case's own sizes where it has them."""
        if self.sizes is not None:
            return sum(self.sizes[at] for at in positions)
        unit = self.operation["by"]
        sizer = sizer_for(load(self.source(positions), format=self.format), unit)
        return sizer.around + sum(map(sizer.size, range(len(positions))))

    def is_unchanged(self) -> bool:
        """Tell whether the input is what it was."""
        return self.natives[: self.count] == self._before
