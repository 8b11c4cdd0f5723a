"""Every error says what, where and what to do, and carries what a program needs."""

from __future__ import annotations

import pytest

import lockstitch as ls
from lockstitch.errors import (
    AmbiguousFormat,
    CannotFit,
    FormatError,
    InvalidHistory,
    LockstitchError,
    MissingExtra,
    PlanMismatch,
    UnknownFormat,
)
from lockstitch.plan import FloorItem
from lockstitch.testing import result, user


@pytest.mark.parametrize(
    ("child", "parent"),
    [
        (FormatError, LockstitchError),
        (UnknownFormat, FormatError),
        (AmbiguousFormat, FormatError),
        (InvalidHistory, LockstitchError),
        (CannotFit, LockstitchError),
        (PlanMismatch, LockstitchError),
        (MissingExtra, LockstitchError),
        (LockstitchError, Exception),
    ],
)
def test_the_tree_of_errors_is_the_one_that_is_drawn(child, parent):
    assert child.__bases__ == (parent,)


def test_a_format_error_without_a_place_is_its_message_alone():
    error = FormatError("nothing here")
    assert (str(error), error.where) == ("nothing here", "")


def test_a_format_error_begins_with_its_place():
    error = FormatError("expected an object", where="messages[3]")
    assert (str(error), error.where) == ("messages[3]: expected an object", "messages[3]")


def test_an_unknown_format_lists_what_is_known():
    error = UnknownFormat("no", where="messages[0]", known=["a", "b"])
    assert error.known == ("a", "b")
    assert error.where == "messages[0]"
    assert UnknownFormat("no").known == ()


def test_an_ambiguous_format_names_each_candidate_its_place_and_how_to_choose():
    error = AmbiguousFormat([("anthropic", "messages[2]"), ("langchain", "messages[5]")])
    assert error.candidates == (("anthropic", "messages[2]"), ("langchain", "messages[5]"))
    assert str(error) == (
        "more than one format fits: anthropic (see messages[2]), langchain (see messages[5]). "
        'Name the one you mean: format="anthropic" or format="langchain".'
    )


def test_an_invalid_history_carries_the_report_and_shows_its_summary():
    report = ls.check([user("1"), result("a")])
    error = InvalidHistory(report)
    assert error.report is report
    assert str(error) == report.summary()


def test_cannot_fit_says_what_is_needed_what_the_limit_is_and_what_must_stay():
    floor = [FloorItem(0, 1, 5, "system"), FloorItem(7, 9, 40, "open")]
    error = CannotFit(needed=45, limit=30, unit="tokens", floor=floor)
    assert (error.needed, error.limit, error.unit, error.floor) == (45, 30, "tokens", tuple(floor))
    assert str(error) == (
        "the limit is 30 tokens, the smallest window that keeps what must stay needs 45: "
        "[0] 5 tokens (the system part stays); "
        "[7..8] 40 tokens (a call that still waits for its result stays). "
        'Raise the limit, or choose on_overflow="smallest" to get that window anyway, or '
        'on_overflow="empty" to get none.'
    )


def test_cannot_fit_without_a_floor_leaves_the_list_out():
    error = CannotFit(needed=2, limit=1, unit="messages")
    assert "needs 2. Raise the limit" in str(error)
    assert error.floor == ()


def test_a_missing_extra_names_what_to_install():
    error = MissingExtra("redis", package="redis-py")
    assert (error.extra, error.package) == ("redis", "redis-py")
    assert str(error) == "redis-py is not installed: pip install 'lockstitch[redis]'"
