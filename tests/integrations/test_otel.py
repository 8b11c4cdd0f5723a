"""OpenTelemetry: what the SDK's own exporter and reader hold after operations, and what not."""

from __future__ import annotations

import asyncio
import sys
import warnings

import pytest

import lockstitch as ls
from lockstitch.integrations import otel_names as names
from lockstitch.integrations.otel import instrument
from lockstitch.rules.profiles import PROFILES
from lockstitch.testing import assistant, call, result, system, user

pytest.importorskip("opentelemetry.sdk")

from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

SECRET = "zebra"
ROUNDS = 10


class Telemetry:
    """The SDK, with what it was told kept in memory."""

    def __init__(self):
        self.exporter, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
        self.tracers = TracerProvider(shutdown_on_exit=False)
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.meters = MeterProvider([self.reader], shutdown_on_exit=False)
        self.uninstrument = instrument(self.tracers, self.meters)

    @property
    def spans(self):
        return self.exporter.get_finished_spans()

    @property
    def span(self):
        [only] = self.spans
        return only

    def points(self, name):
        data = self.reader.get_metrics_data()
        return [
            point
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]

    def text(self):
        """Everything that was told, as text."""
        data = self.reader.get_metrics_data()
        return "\n".join([*(span.to_json() for span in self.spans), data.to_json() if data else ""])


@pytest.fixture
def telemetry():
    made = Telemetry()
    yield made
    made.uninstrument()
    made.tracers.shutdown()
    made.meters.shutdown()


@pytest.fixture
def chat():
    rounds = [
        message
        for number in range(ROUNDS)
        for message in (user(f"{SECRET} {number}?"), assistant(f"{SECRET} {number}."))
    ]
    return [system(f"Mind the {SECRET}."), *rounds]


def test_a_cut_is_one_span_with_its_account(telemetry, chat):
    ls.trim(chat, max_messages=5, profile="openai-chat", model="gpt-5")
    assert telemetry.span.name == "lockstitch.trim"
    assert telemetry.span.kind is SpanKind.INTERNAL
    assert telemetry.span.status.status_code is StatusCode.UNSET
    assert telemetry.span.instrumentation_scope.version == ls.__version__
    assert dict(telemetry.span.attributes) == {
        "gen_ai.operation.name": "lockstitch.trim",
        "gen_ai.provider.name": "openai",
        "gen_ai.conversation.compacted": True,
        "lockstitch.profile": "openai-chat",
        "lockstitch.format": "openai-chat",
        "lockstitch.fired": ("over 5 messages",),
        "lockstitch.limit.messages": 5,
        "lockstitch.messages.before": 21,
        "lockstitch.messages.after": 5,
        "lockstitch.groups.dropped": 16,
        "lockstitch.messages.dropped": 16,
        "lockstitch.messages.changed": 0,
        "lockstitch.messages.inserted": 0,
        "lockstitch.changed_from": 1,
        "lockstitch.summary.chars": 0,
        "lockstitch.summary.failed": False,
    }


def test_a_strategy_its_sizes_and_the_model_are_told(telemetry, chat):
    strategy = ls.TokenBudgetHistoryStrategy(max_tokens=100)
    ls.trim(chat, strategy=strategy, profile="anthropic", format="openai-chat", model="claude-x")
    told = telemetry.span.attributes
    assert told["lockstitch.strategy"] == "steps"
    assert told["gen_ai.request.model"] == "claude-x"
    assert told["gen_ai.provider.name"] == "anthropic"
    assert told["lockstitch.tokens.before"] > 100 >= told["lockstitch.tokens.after"]
    assert told["lockstitch.limit.tokens"] == 100
    assert told["lockstitch.fired"] == (
        f"{told['lockstitch.tokens.before']} tokens, 100 are allowed",
    )


def test_each_operation_has_a_span_of_its_name(telemetry, chat):
    ls.trim(chat, max_messages=5)
    ls.plan(chat, max_messages=5)
    ls.summarize(chat, keep_recent=2)
    asyncio.run(ls.asummarize(chat, keep_recent=2))
    told = ["lockstitch.trim", "lockstitch.plan", "lockstitch.summarize", "lockstitch.summarize"]
    assert [span.name for span in telemetry.spans] == told
    assert [span.attributes["gen_ai.operation.name"] for span in telemetry.spans] == told


def test_a_span_is_there_while_the_operation_runs_and_gone_behind_it(telemetry, chat):
    tracer = telemetry.tracers.get_tracer("the model's own")

    def model(prompt):
        with tracer.start_as_current_span("chat"):
            return "Short."

    ls.summarize(chat, model, keep_recent=2)
    inner, outer = telemetry.spans
    assert (inner.name, outer.name) == ("chat", "lockstitch.summarize")
    assert inner.parent.span_id == outer.context.span_id
    assert not trace.get_current_span().get_span_context().is_valid


def test_operations_that_run_at_once_do_not_mix_their_spans(telemetry, chat):
    tracer = telemetry.tracers.get_tracer("the model's own")

    async def model(prompt):
        await asyncio.sleep(0.01)
        with tracer.start_as_current_span("chat"):
            await asyncio.sleep(0.01)
        return "Short."

    async def run():
        with tracer.start_as_current_span("request") as request:
            await asyncio.gather(*(ls.asummarize(chat, model, keep_recent=2) for _ in range(3)))
            assert trace.get_current_span() is request

    asyncio.run(run())
    outer = [span for span in telemetry.spans if span.name == "lockstitch.summarize"]
    inner = [span for span in telemetry.spans if span.name == "chat"]
    assert {span.context.span_id for span in outer} == {span.parent.span_id for span in inner}
    assert len(outer) == 3
    assert len({span.parent.span_id for span in outer}) == 1


def test_what_was_cancelled_ends_its_span_with_an_error(telemetry, chat):
    async def never(prompt):
        await asyncio.Event().wait()

    async def run():
        await asyncio.wait_for(ls.asummarize(chat, never, keep_recent=2), 0.05)

    with pytest.raises(TimeoutError):
        asyncio.run(run())
    assert telemetry.span.status.status_code is StatusCode.ERROR
    assert telemetry.span.attributes["error.type"] == "asyncio.exceptions.CancelledError"


def test_what_was_raised_is_told_by_its_class_and_place(telemetry, chat):
    with pytest.raises(ls.CannotFit):
        ls.trim(chat, max_chars=3)
    kind = "lockstitch.errors.CannotFit"
    status = telemetry.span.status
    assert (status.status_code, status.description) == (StatusCode.ERROR, kind)
    assert dict(telemetry.span.attributes) == {
        "gen_ai.operation.name": "lockstitch.trim",
        "error.type": kind,
    }
    [event] = telemetry.span.events
    assert event.name == "exception"
    assert event.attributes["exception.type"] == kind
    assert "history.py" in event.attributes["exception.stacktrace"]
    [point] = telemetry.points("lockstitch.operations")
    assert (point.value, point.attributes["error.type"]) == (1, kind)


def test_a_builtin_error_is_told_without_its_module(telemetry):
    with pytest.raises(TypeError):
        ls.trim([user("hi")], max_messages="5", pins=[lambda _: True])
    assert telemetry.span.attributes["error.type"] == "TypeError"


def test_operations_and_what_went_are_counted(telemetry, chat):
    for _ in range(3):
        ls.trim(chat, max_messages=5, profile="openai-chat", model="gpt-5")
    ls.plan(chat, max_messages=50, profile="openai-chat")
    counted = {
        point.attributes["gen_ai.operation.name"]: point.value
        for point in telemetry.points("lockstitch.operations")
    }
    assert counted == {"lockstitch.trim": 3, "lockstitch.plan": 1}
    for name in ("lockstitch.messages.dropped", "lockstitch.groups.dropped"):
        cut, kept = telemetry.points(name)
        assert (cut.value, kept.value) == (48, 0)
        assert cut.attributes["gen_ai.provider.name"] == "openai"


def test_sizes_of_windows_are_measured_before_and_after(telemetry, chat):
    ls.trim(chat, max_messages=5)
    ls.trim(chat, strategy=ls.TokenBudgetHistoryStrategy(max_tokens=100))
    sizes = {
        point.attributes["lockstitch.moment"]: point
        for point in telemetry.points("lockstitch.window.messages")
    }
    assert (sizes["before"].count, sizes["before"].sum) == (2, 42)
    assert sizes["after"].min == 5
    before, after = telemetry.points("lockstitch.window.tokens")
    assert before.count == after.count == 1  # the first cut counted none
    assert before.sum > 100 >= after.sum
    assert max(before.explicit_bounds) > 1_000_000


def test_a_summary_that_could_not_be_had_is_told_and_counted(telemetry, chat):
    def model(prompt):
        raise ConnectionError(f"no {SECRET} today")

    done = ls.summarize(chat, model, keep_recent=2)
    assert SECRET in str(done.failure)
    told = telemetry.span.attributes
    assert telemetry.span.status.status_code is StatusCode.UNSET  # the history stands
    assert told["lockstitch.summary.failed"] is True
    assert told["gen_ai.conversation.compacted"] is False
    [point] = telemetry.points("lockstitch.operations")
    assert point.attributes["lockstitch.summary.failed"] is True


def test_nothing_that_was_said_leaves(telemetry, chat):
    def broken(prompt):
        raise ConnectionError(f"no {SECRET} today")

    ls.summarize(chat, lambda _: f"The {SECRET} is fine.", keep_recent=2)
    ls.summarize(chat, broken, keep_recent=2)
    rounds = [call("c1", name=SECRET), result("c1", SECRET * 5_000)]
    ls.trim(
        [*chat, *rounds, user("?")], strategy=_Directed(ls.preset("coding-agent")), max_chars=2_000
    )
    survivors = ls.HistoryDirective(
        kind="sliding_window", window_messages=3, must_survive=(f"a {SECRET} that is not there",)
    )
    with pytest.raises(ls.PinLost, match=SECRET):
        ls.trim(chat, strategy=_Directed(survivors))
    with pytest.raises(ValueError, match=SECRET):
        ls.trim(chat, strategy=ls.NullHistoryStrategy(), format=SECRET)
    assert len(telemetry.spans) == 5
    assert SECRET not in telemetry.text()


class _Directed:
    """A strategy that decides what it was made with."""

    def __init__(self, directive):
        self.decided = directive

    def directive(self):
        return self.decided


def test_after_the_end_nothing_is_told(telemetry, chat):
    telemetry.uninstrument()
    ls.trim(chat, max_messages=5)
    assert telemetry.spans == ()
    assert telemetry.points("lockstitch.operations") == []


def test_ending_twice_is_no_mistake(telemetry):
    telemetry.uninstrument()
    telemetry.uninstrument()


def test_two_may_listen_at_once(telemetry, chat):
    other = Telemetry()
    ls.trim(chat, max_messages=5)
    other.uninstrument()
    ls.trim(chat, max_messages=5)
    assert (len(telemetry.spans), len(other.spans)) == (2, 1)
    other.meters.shutdown()


def test_without_a_provider_the_global_ones_are_taken(chat):
    uninstrument = instrument()
    try:
        assert len(ls.trim(chat, max_messages=5)) == 5
    finally:
        uninstrument()


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(ls.MissingExtra, match=r"pip install 'lockstitch\[otel\]'"):
        instrument()


def test_providers_are_named_as_the_conventions_name_them():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # they moved to a repository of theirs
        from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as conventions

        known = {one.value for one in conventions.GenAiProviderNameValues}
    assert set(names.PROVIDERS) <= set(PROFILES)
    assert set(names.PROVIDERS.values()) <= known
    assert names.OPERATION == conventions.GEN_AI_OPERATION_NAME
    assert names.PROVIDER == conventions.GEN_AI_PROVIDER_NAME
    assert names.MODEL == conventions.GEN_AI_REQUEST_MODEL


def test_every_name_is_of_the_conventions_or_begins_with_ours():
    theirs = ("gen_ai.", "error.", "exception")
    for name, value in vars(names).items():
        if name.isupper() and isinstance(value, str):
            assert value.startswith(("lockstitch", *theirs)), name
