"""Every public function with the types a caller would write. Checked by mypy, never executed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, assert_type

import lockstitch as ls

if TYPE_CHECKING:
    import io
    from pathlib import Path

messages: list[dict[str, Any]] = [{"role": "user", "content": "hi"}]
body: Mapping[str, Any] = {"messages": messages}


class Words:
    """A counter of the caller's own."""

    name = "words"
    kind = "exact"

    def count(self, text: str) -> int:
        return len(text.split())


def weigh(message: dict[str, Any]) -> int:
    return len(str(message))


def loading(path: Path, file: io.BytesIO) -> None:
    assert_type(ls.load(messages), ls.Transcript)
    assert_type(ls.load(body, format="openai-chat"), ls.Transcript)
    for source in ("[]", b"[]", path, file, iter(messages)):
        transcript = ls.load(source)
        assert_type(len(transcript), int)
    transcript = ls.load(messages)
    every: Iterator[ls.Message] = iter(transcript)
    message: ls.Message = next(every)
    assert_type(message.role, str)
    assert_type(transcript.path, str)
    assert_type(transcript.context, Mapping[str, Any])
    ls.dump(transcript)


def grouping() -> None:
    found = ls.groups(messages, profile="anthropic", format="anthropic")
    units: Sequence[ls.Group] = found
    for unit in units:
        assert_type(unit.members, tuple[int, ...])
        assert_type(unit.state, str)
        assert_type(unit.kind, str)
        assert_type(unit.calls, int)
        assert_type(unit.first, int)
        assert_type(unit.span, tuple[int, int])


def checking(tail: Literal["open", "closed"]) -> None:
    report = ls.check(messages, profile="portable", tail=tail, format=None)
    assert_type(report, ls.Report)
    assert_type(report.ok, bool)
    assert_type(report.violations, tuple[ls.Violation, ...])
    assert_type(report.errors, tuple[ls.Violation, ...])
    assert_type(report.summary(), str)
    report.raise_for_errors()
    for violation in report.violations:
        assert_type(violation.rule, str)
        assert_type(violation.severity, str)
        assert_type(violation.index, int)
        assert_type(violation.path, str)
        assert_type(violation.message, str)
        assert_type(violation.provider_error, str)
        assert_type(violation.source, str)
        assert_type(violation.caused, bool)
        assert_type(violation.related, tuple[int, ...])


def repairing(tail: Literal["open", "closed"], path: Path) -> None:
    facts = ls.ModelFacts(
        profile="anthropic", pattern="my-*", facts={"no_prefill": True}, date="", source=""
    )
    ls.check(messages, model="my-model", models=[facts], record=path)
    mended = ls.repair(
        messages,
        profile="anthropic",
        tail=tail,
        format=None,
        model=None,
        models=(facts,),
        record=messages,
        allow={"move", "demote"},
        dry_run=True,
    )
    assert_type(mended, ls.Repair)
    assert_type(mended.ok, bool)
    assert_type(mended.changes, tuple[ls.Change, ...])
    assert_type(mended.remaining, tuple[ls.Violation, ...])
    assert_type(mended.system, str | None)
    assert_type(mended.profile, str)
    assert_type(mended.summary(), str)
    assert_type(ls.explain(mended, as_="json"), str)
    for change in mended.changes:
        assert_type(change.kind, str)
        assert_type(change.index, int)
        assert_type(change.path, str)
    assert_type(ls.export(body, profile="anthropic", model="my-model"), ls.Repair)
    ls.export(messages)  # type: ignore[call-arg]
    ls.repair(messages, tail="ajar")  # type: ignore[arg-type]


def trimming() -> None:
    ls.trim(messages, max_messages=50)
    ls.trim(messages, max_tokens=4_000, counter=Words(), reserve=500, trim_to=2_000)
    ls.trim(messages, max_tokens=4_000, counter="bytes", pins=[0, -1])
    ls.trim(messages, max_tokens=4_000, counter=weigh, pins={0})
    ls.trim(messages, max_tokens=4_000, counter=[1])
    ls.trim(body, max_chars=4_000, cut="prefix", floor=False, on_overflow="smallest")
    window: list[dict[str, Any]] = ls.trim(messages, max_messages=None, on_overflow="empty")
    ls.check(window)
    ls.trim(messages, cut="middle")  # type: ignore[arg-type]
    ls.trim(messages, on_overflow="ignore")  # type: ignore[arg-type]
    ls.trim(messages, max_messages="5")  # type: ignore[arg-type]
    ls.trim(messages, 50)  # type: ignore[call-arg]


def planning() -> None:
    decision = ls.plan(
        messages,
        max_messages=50,
        max_tokens=None,
        max_chars=None,
        trim_to=None,
        profile="portable",
        format=None,
        cut="groups",
        pins=(),
        counter=None,
        reserve=0,
        floor=True,
        on_overflow="raise",
    )
    assert_type(decision, ls.Plan)
    assert_type(decision.kept, list[int])
    assert_type(decision.dropped, list[int])
    assert_type(decision.changes, bool)
    assert_type(decision.edits, tuple[ls.Edit, ...])
    assert_type(decision.edits[0].action, Literal["keep", "strip", "drop"])
    assert_type(decision.edits[0].reason, str)
    assert_type(decision.edits[0].count, int)
    assert_type(decision.before, ls.Size)
    assert_type(decision.after.tokens, int | None)
    assert_type(decision.limit, dict[str, int])
    assert_type(decision.counter, str | None)
    assert_type(decision.changed_from, int)
    assert_type(decision.to_json(), bytes)
    assert_type(ls.Plan.from_json(b"{}"), ls.Plan)
    assert_type(ls.explain(decision, messages, as_="table"), str)
    assert_type(ls.explain(ls.check(messages)), str)
    assert_type(decision.explain(), str)
    ls.apply(decision, messages, format="openai-chat")


def measuring() -> None:
    limits = ls.Limits(max_messages=50, trim_to=40)
    assert_type(limits.units, tuple[str, ...])
    counters: list[ls.Counter] = [ls.ByteCounter(), ls.EstimateCounter(), Words()]
    assert_type(counters[0].count("text"), int)


def failing(report: ls.Report) -> None:
    try:
        ls.trim(messages, max_messages=1)
    except ls.CannotFit as error:
        assert_type(error.needed, int)
        assert_type(error.limit, int)
        assert_type(error.unit, str)
        assert_type(error.floor, tuple[ls.FloorItem, ...])
    except ls.AmbiguousFormat as error:
        assert_type(error.candidates, tuple[tuple[str, str], ...])
    except ls.UnknownFormat as error:
        assert_type(error.known, tuple[str, ...])
    except ls.FormatError as error:
        assert_type(error.where, str)
    except ls.InvalidHistory as error:
        assert_type(error.report, ls.Report)
    except ls.MissingExtra as error:
        assert_type(error.extra, str)
    except (ls.PlanMismatch, ls.LockstitchError):
        raise
    assert_type(ls.__version__, str)
