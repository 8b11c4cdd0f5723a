"""Checks of calls, results and approvals: what belongs together and does not stand together.

Each takes a `View` and yields `Finding`s. Must not know: rule ids, texts, sources.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from lockstitch.facts import ANSWER, ASSISTANT, CALL
from lockstitch.rules.view import Finding, View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockstitch.facts import Link

__all__ = [
    "call_of_another_role",
    "displaced_result",
    "duplicate_result",
    "orphan_approval",
    "orphans",
    "partly_answered_batch",
    "repeated_id_in_turn",
    "result_before_call",
    "unanswered",
]


def _shown(link: Link) -> str:
    named = f" ({link.name})" if link.name else ""
    return f"{link.id or 'without an id'}{named}"


def unanswered(view: View, families: tuple[str, ...] | None = None) -> Iterator[Finding]:
    """Find calls without a result, of the given families or of any."""
    for call in view.unanswered():
        if families is None or call.link.family in families:
            yield Finding(
                call.message,
                f"the call {_shown(call.link)} has no result: give it one, or drop the call",
                view.place(call.message, call.ordinal),
            )


def _answered_messages(view: View) -> set[int]:
    return {tie.call.message for tie in view.results() if tie.call is not None}


def partly_answered_batch(view: View) -> Iterator[Finding]:
    """Find calls without a result in a message whose other calls were answered."""
    answered = _answered_messages(view)
    for call in view.unanswered():
        if call.message in answered:
            yield Finding(
                call.message,
                f"the call {_shown(call.link)} has no result while others of the same message have",
                view.place(call.message, call.ordinal),
            )


def orphans(view: View, families: tuple[str, ...] | None = None) -> Iterator[Finding]:
    """Find results whose call is not there, of the given families or of any."""
    if view.transcript.server_held:
        return
    for tie in view.results():
        if tie.call is None and (families is None or tie.link.family in families):
            yield Finding(
                tie.message,
                f"the result {_shown(tie.link)} answers no call before it: bring the call back, or "
                "drop the result",
                view.place(tie.message, tie.ordinal),
            )


def result_before_call(view: View) -> Iterator[Finding]:
    """Find results whose call comes later and is not answered otherwise."""
    waiting: dict[object, list[int]] = {}
    for call in view.groups.pairing.calls:
        if call.answer < 0 and call.link.id is not None:
            waiting.setdefault(call.link.key, []).append(call.message)
    for tie in view.results() if waiting else ():
        later = waiting.get(tie.link.key, ()) if tie.call is None else ()
        at = bisect_right(later, tie.message)
        if at < len(later):
            yield Finding(
                tie.message,
                f"the result {_shown(tie.link)} stands before its call: move it after",
                view.place(tie.message, tie.ordinal),
                (later[at],),
            )


def displaced_result(view: View) -> Iterator[Finding]:
    """Find results that answer their call too late."""
    for tie in view.results():
        call = tie.call
        if call is None or view.near(call, tie.message):
            continue
        yield Finding(
            tie.message,
            f"the result {_shown(tie.link)} does not stand right after its call at "
            f"{view.transcript.path}[{call.message}]: move it there",
            view.place(tie.message, tie.ordinal),
            (call.message,),
        )


def duplicate_result(view: View) -> Iterator[Finding]:
    """Find second results for calls that have one."""
    for tie in view.results():
        if tie.duplicate and tie.call is not None:
            yield Finding(
                tie.message,
                f"the call {_shown(tie.link)} was answered before: merge the results, or drop one",
                view.place(tie.message, tie.ordinal),
                (tie.call.message, tie.call.answer),
            )


def call_of_another_role(view: View) -> Iterator[Finding]:
    """Find calls in messages that are not the model's."""
    for index, fact in enumerate(view.facts):
        if fact.role == ASSISTANT:
            continue
        for ordinal, link in enumerate(fact.ends):
            if link.kind == CALL:
                yield Finding(
                    index,
                    f"the call {_shown(link)} stands in a message that is not the model's: drop "
                    "it, or give the message back its role",
                    view.place(index, ordinal),
                )


def orphan_approval(view: View) -> Iterator[Finding]:
    """Find decisions about requests that are not there."""
    if view.transcript.server_held:
        return
    for tie in view.groups.pairing.ties:
        if tie.link.kind == ANSWER and tie.call is None:
            yield Finding(tie.message, f"the approval {_shown(tie.link)} answers no request")


def repeated_id_in_turn(view: View) -> Iterator[Finding]:
    """Find an id that two calls of one joined assistant turn share."""
    seen: dict[tuple[int, object], int] = {}
    for call in view.groups.pairing.calls:
        if call.link.id is None:
            continue
        first = seen.setdefault((call.run, call.link.key), id(call))
        if first != id(call):
            yield Finding(
                call.message,
                f"the id {call.link.id} is used twice in one turn: rename one call and its result",
                view.place(call.message, call.ordinal),
            )
