"""Every public function with the types a caller would write. Checked by mypy, never executed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, assert_type

import lockstitch as ls

if TYPE_CHECKING:
    import io
    from pathlib import Path

    from lockstitch.strategies import ProviderReport, SummaryPrompt

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


class Nightly:
    """A strategy of the caller's own."""

    def directive(self) -> ls.HistoryDirective:
        return ls.HistoryDirective("sliding_window", window_messages=40)


class Blobs:
    """A store of the caller's own."""

    def put(self, handle: str, payload: bytes) -> None: ...

    def get(self, handle: str) -> bytes:
        return handle.encode()


def write(prompt: SummaryPrompt) -> str:
    return f"{prompt.room} {prompt.previous} {len(prompt.lines)}"


def write_text(prompt: str) -> str:
    return prompt[:100]


async def write_soon(prompt: SummaryPrompt) -> str:
    return write(prompt)


def is_task(message: ls.Message) -> bool:
    return message.role == "user"


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
    ls.trim(messages, 50)  # type: ignore[call-arg, arg-type]


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
    assert_type(decision.edits[0].action, Literal["keep", "strip", "replace", "drop", "insert"])
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


def directing() -> None:
    strategies: list[ls.HistoryStrategy] = [
        ls.NullHistoryStrategy(),
        ls.SlidingWindowHistoryStrategy(40),
        ls.SummarizingHistoryStrategy(trigger_chars=16_000, keep_recent=10),
        ls.TokenBudgetHistoryStrategy(max_tokens=8_000, trim_to=4_000, reserve=500),
        ls.LastTurnsHistoryStrategy(5, max_tokens=8_000),
        ls.LastGroupsHistoryStrategy(20),
        ls.StepsHistoryStrategy(max_tokens=8_000, low_water=0.5, pins=(ls.Pin(text="ask first"),)),
        ls.HistoryDirective.default(),
        ls.preset("agent"),
        Nightly(),
    ]
    chosen = ls.resolve_history(strategies[0], default=None)
    assert_type(chosen, ls.HistoryDirective)
    assert_type(ls.resolve_history(None), ls.HistoryDirective)
    assert_type(ls.preset("agent"), ls.HistoryDirective)
    assert_type(chosen.limits(), ls.Limits)
    assert_type(chosen.to_json(), bytes)
    assert_type(chosen.to_toml(), str)
    assert_type(ls.HistoryDirective.from_json(b"{}"), ls.HistoryDirective)
    assert_type(ls.HistoryDirective.from_toml(""), ls.HistoryDirective)
    ls.trim(messages, strategy=Nightly(), summarizer=write, blobs=Blobs(), max_tokens=None)
    ls.trim(messages, max_messages=5, pins=[0, ls.Pin(role="user"), is_task])
    decision = ls.plan(messages, Nightly(), max_tokens=8_000)
    assert_type(decision.strategy, str)
    assert_type(decision.fired, tuple[str, ...])
    assert_type(decision.steps[0].why_not, str)
    assert_type(decision.request, dict[str, Any])
    assert_type(decision.summarized("text"), ls.Plan)
    assert_type(decision.inserted, list[str])
    assert_type(decision.replaced, list[int])
    assert_type(decision.stripped, list[int])
    assert_type(decision.edits[0].puts[0].handle, str)
    ls.apply(decision, messages, blobs=Blobs())
    ls.trim(messages, strategy="agent")  # type: ignore[arg-type]
    ls.trim(messages, strategy=Nightly)  # type: ignore[arg-type]
    ls.StepsHistoryStrategy(pins=(0,))  # type: ignore[arg-type]
    ls.apply(decision, messages, blobs={})  # type: ignore[arg-type]


async def summarizing() -> None:
    done = ls.summarize(messages, write, keep_recent=6, strategy=None, blobs=Blobs())
    assert_type(done, ls.Summarized)
    assert_type(done.plan, ls.Plan)
    assert_type(done.summary, str | None)
    assert_type(done.failure, ls.SummaryFailed | None)
    ls.summarize(messages, ls.digest)
    ls.summarize(messages, write_text, max_tokens=8_000, pins=[ls.Pin(id="call_1")])
    assert_type(await ls.asummarize(messages, write_soon), ls.Summarized)
    await ls.asummarize(messages, write)
    ls.recall(messages, "0123456789abcdef", format="openai-chat")
    ls.summarize(messages, write_soon)  # type: ignore[arg-type]
    ls.summarize(messages, max_messages="5")  # type: ignore[arg-type]


def watching(answer: object) -> None:
    heard: list[ls.Event] = []
    stop = ls.listen(heard.append)
    stop()
    assert_type(heard[0].operation, str)
    assert_type(heard[0].before, ls.Size)
    assert_type(heard[0].fired, tuple[str, ...])
    assert_type(heard[0].failure, str)
    report: ProviderReport = ls.read_answer(answer)
    assert_type(report.changed, bool)
    assert_type(report.cleared_tool_uses, int)


def measuring() -> None:
    limits = ls.Limits(max_messages=50, trim_to=40)
    assert_type(limits.units, tuple[str, ...])
    counters: list[ls.Counter] = [ls.ByteCounter(), ls.EstimateCounter(), Words()]
    assert_type(counters[0].count("text"), int)


def storing() -> None:
    store = ls.open_store("sqlite:///chat.db", patience=5.0)
    assert_type(store, ls.Store)
    chat = store.session("user-42", max_messages=50, profile="anthropic", mode="exclusive")
    assert_type(chat, ls.Session)
    receipt = chat.append(messages, key="turn-17")
    assert_type(receipt, ls.Receipt)
    assert_type(receipt.late, tuple[int, ...])
    window = chat.window("anthropic", max_tokens=8_000, tail="closed")
    assert_type(window, ls.Window)
    plain: list[Any] = window
    plain.append({"role": "user", "content": "next"})
    for entry in chat.record(first=1):
        assert_type(entry, ls.Recorded)
    assert_type(chat.events(), list[ls.SessionEvent])
    assert_type(chat.explain(), str)
    assert_type(chat.rewind(to=3), int)
    assert_type(chat.edit(3, messages[0]), ls.Receipt)
    assert_type(chat.fork("other", at=2), str)
    assert_type(chat.verify(), list[ls.Finding])
    assert_type(chat.purge(ls.Retention(messages=10_000)), int)
    assert_type(chat.compact(write, keep_recent=6), ls.Receipt)
    assert_type(store.session("copy").import_(chat.export()), int)
    assert_type(store.list("user-")[0].id, str)
    assert_type(store.sweep(), int)
    chat.append(messages, key=17)  # type: ignore[arg-type]
    store.session("user-42", max_messages="50")  # type: ignore[arg-type]
    store.close()


async def storing_soon() -> None:
    async with ls.open_async_store("memory://") as store:
        assert_type(store, ls.AsyncStore)
        chat = store.session("user-42", summarizer=write_soon)
        assert_type(chat, ls.AsyncSession)
        assert_type(await chat.append(messages), ls.Receipt)
        assert_type(await chat.window(), ls.Window)
        async for entry in chat.record():
            assert_type(entry, ls.Recorded)
        assert_type(await store.list(), list[ls.SessionInfo])


def failing_stores(chat: ls.Session) -> None:
    try:
        chat.append(messages)
    except ls.Conflict as error:
        assert_type(error.found, int | None)
    except ls.CorruptRow as error:
        assert_type(error.seq, int)
    except ls.SchemaTooNew as error:
        assert_type(error.known, int)
    except ls.StoreUnavailable as error:
        assert_type(error.attempts, int)
    except ls.StoreError as error:
        assert_type(error.retryable, bool)


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
    except ls.PinLost as error:
        assert_type(error.lost, tuple[str, ...])
    except ls.SummaryFailed as error:
        assert_type(error.attempts, int)
    except ls.MissingExtra as error:
        assert_type(error.extra, str)
    except (ls.PlanMismatch, ls.ConversationServiceError, ls.LockstitchError):
        raise
    assert_type(ls.__version__, str)
