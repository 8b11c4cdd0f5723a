"""OpenTelemetry: a span and a few metrics of each operation. Needs `opentelemetry-api` only.

Nothing of what was said leaves here. Words of an exception may quote messages or a provider, and so
do the reasons for doing nothing; of both, only that they were there is written.
"""

from __future__ import annotations

import traceback
from contextlib import ExitStack, suppress
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from lockstitch.errors import MissingExtra
from lockstitch.events import add_hearer, remove_hearer
from lockstitch.integrations import otel_names as names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from opentelemetry.metrics import Meter, MeterProvider
    from opentelemetry.trace import Span, Tracer, TracerProvider

    from lockstitch.events import Event

__all__ = ["instrument"]

_MESSAGES: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
_TOKENS: Final = tuple(1_000 * 2**power for power in range(11))


def instrument(
    tracer_provider: TracerProvider | None = None, meter_provider: MeterProvider | None = None
) -> Callable[[], None]:
    """Tell OpenTelemetry of every operation from now on; returns what ends that.

    The span is the current one while the operation runs, so that a span of the model that writes a
    summary is its child.

    Args:
        tracer_provider: where spans go; the global provider by default.
        meter_provider: where metrics go; the global provider by default.

    Raises:
        MissingExtra: OpenTelemetry is not installed.

    >>> import lockstitch as ls
    >>> uninstrument = instrument()
    >>> _ = ls.trim([{"role": "user", "content": "hi"}], max_messages=5)
    >>> uninstrument()
    """
    try:
        from opentelemetry import metrics, trace
    except ImportError:
        raise MissingExtra("otel", package="opentelemetry-api") from None

    ours = version("lockstitch")
    hearer = _Hearer(
        trace.get_tracer(names.SCOPE, ours, tracer_provider),
        _Instruments(metrics.get_meter(names.SCOPE, ours, meter_provider)),
    )
    add_hearer(hearer)

    def uninstrument() -> None:
        with suppress(ValueError):  # a second time is no mistake
            remove_hearer(hearer)

    return uninstrument


class _Hearer:
    def __init__(self, tracer: Tracer, instruments: _Instruments) -> None:
        self._tracer = tracer
        self._instruments = instruments

    counts = True

    def wants(self, *, failing: bool = False) -> bool:
        return True

    def begin(self, operation: str) -> tuple[str, Span, ExitStack]:
        name = names.SPAN.format(operation=operation)
        current = self._tracer.start_as_current_span(name, attributes={names.OPERATION: name})
        running = ExitStack()
        return name, running.enter_context(current), running

    def end(
        self,
        begun: tuple[str, Span, ExitStack],
        event: Event | None,
        error: BaseException | None,
    ) -> None:
        name, span, running = begun
        shared = {names.OPERATION: name, **_target(event), **_raised(error)}
        with running:
            span.set_attributes({**shared, **(_account(event) if event else {})})
            if error is not None:
                _mark(span, error)
        self._instruments.count(event, shared)


class _Instruments:
    def __init__(self, meter: Meter) -> None:
        self._operations = meter.create_counter(
            names.OPERATIONS_METRIC, "{operation}", "Operations on histories."
        )
        self._messages = meter.create_counter(
            names.MESSAGES_DROPPED_METRIC, "{message}", "Messages that went."
        )
        self._groups = meter.create_counter(
            names.GROUPS_DROPPED_METRIC, "{group}", "Groups of messages that went whole."
        )
        self._windows = {
            "messages": meter.create_histogram(
                names.WINDOW_MESSAGES_METRIC,
                "{message}",
                "Sizes of histories before and after an operation.",
                explicit_bucket_boundaries_advisory=_MESSAGES,
            ),
            "tokens": meter.create_histogram(
                names.WINDOW_TOKENS_METRIC,
                "{token}",
                "Sizes of histories before and after an operation, where they were counted.",
                explicit_bucket_boundaries_advisory=_TOKENS,
            ),
        }

    def count(self, event: Event | None, shared: dict[str, Any]) -> None:
        if event is None:
            self._operations.add(1, shared)
            return
        self._operations.add(1, {**shared, names.SUMMARY_FAILED: bool(event.failure)})
        self._messages.add(event.messages_dropped, shared)
        self._groups.add(event.groups_dropped or 0, shared)
        for moment, size in (("before", event.before), ("after", event.after)):
            for unit, histogram in self._windows.items():
                amount = getattr(size, unit)
                if amount is not None:
                    histogram.record(amount, {**shared, names.MOMENT: moment})


def _target(event: Event | None) -> dict[str, Any]:
    """Say whom an operation was for, in few enough words for a metric."""
    if event is None:
        return {}
    said = {
        names.PROFILE: event.profile,
        names.PROVIDER: names.PROVIDERS.get(event.profile),
        names.MODEL: event.model,
    }
    return {name: value for name, value in said.items() if value}


def _account(event: Event) -> dict[str, Any]:
    """Say what an operation came to."""
    account = {
        names.FORMAT: event.format,
        names.FIRED: event.fired,
        names.GROUPS_DROPPED: event.groups_dropped,
        names.MESSAGES_DROPPED: event.messages_dropped,
        names.MESSAGES_CHANGED: event.messages_changed,
        names.MESSAGES_INSERTED: event.messages_inserted,
        names.CHANGED_FROM: event.changed_from,
        names.SUMMARY_CHARS: event.summary_chars,
        names.SUMMARY_FAILED: bool(event.failure),
        names.COMPACTED: bool(
            event.messages_dropped or event.messages_changed or event.messages_inserted
        ),
        **dict(_sizes(event)),
    }
    return {**account, names.STRATEGY: event.strategy} if event.strategy else account


def _sizes(event: Event) -> Iterator[tuple[str, int]]:
    for unit, limit in event.limit.items():
        yield names.LIMIT.format(unit=unit), limit
    for name, size in ((names.BEFORE, event.before), (names.AFTER, event.after)):
        for unit in ("messages", "tokens", "chars"):
            amount = getattr(size, unit)
            if amount is not None:
                yield name.format(unit=unit), amount


def _raised(error: BaseException | None) -> dict[str, str]:
    return {} if error is None else {names.ERROR_TYPE: _kind(error)}


def _kind(error: BaseException) -> str:
    kind = type(error)
    within = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"{within}{kind.__qualname__}"


def _mark(span: Span, error: BaseException) -> None:
    from opentelemetry.trace import StatusCode

    # Not `record_exception`: it writes the words of the exception, and of those that caused it.
    frames = traceback.extract_tb(error.__traceback__)
    stack = "\n".join(f"{one.filename}:{one.lineno} in {one.name}" for one in frames)
    attributes = {names.EXCEPTION_TYPE: _kind(error), names.EXCEPTION_STACKTRACE: stack}
    span.add_event(names.EXCEPTION, attributes)
    span.set_status(StatusCode.ERROR, _kind(error))
