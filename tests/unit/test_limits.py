"""Limits refuse nonsense when they are built, and say which argument is wrong."""

from __future__ import annotations

import pytest

import lockstitch as ls
from lockstitch.measure.limits import Limits
from lockstitch.testing import user

NAMES = ("max_messages", "max_tokens", "max_chars", "trim_to", "reserve")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [True, False, 5.0, "5", b"5", [5], float("nan")])
def test_whatever_is_no_plain_integer_is_refused_by_name(name, value):
    with pytest.raises(TypeError, match=rf"^{name} must be an integer") as caught:
        Limits(**{name: value})
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_a_negative_number_is_refused_by_name(name):
    with pytest.raises(ValueError, match=rf"^{name} must not be negative, got -1") as caught:
        Limits(**{name: -1})
    said = "; 0 keeps nothing, None is unlimited" in str(caught.value)
    assert said is name.startswith("max_")


@pytest.mark.parametrize("name", NAMES[:-1])
def test_none_means_unlimited(name):
    assert Limits(**{name: None}).units == ()


@pytest.mark.parametrize("name", NAMES[:-1])
def test_an_argument_that_may_be_none_says_so(name):
    with pytest.raises(TypeError, match="an integer or None, got '5'"):
        Limits(**{name: "5"})


def test_reserve_may_not_be_none():
    with pytest.raises(TypeError, match=r"^reserve must be an integer, got None$"):
        Limits(max_tokens=5, reserve=None)


@pytest.mark.parametrize("function", [ls.trim, ls.plan])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [True, 1.0, "1"])
def test_trim_and_plan_refuse_them_too_and_before_they_read_anything(function, name, value):
    with pytest.raises(TypeError, match=f"^{name} "):
        function(object(), **{name: value})
    with pytest.raises(ValueError, match=f"^{name} "):
        function(object(), **{name: -1})


@pytest.mark.parametrize("order", [(1, True), (True, 1), (1, 1.0), (1.0, 1)])
def test_an_argument_that_was_fine_before_does_not_let_its_double_pass(order):
    for value in order:
        if type(value) is int:
            assert ls.trim([user("1")], max_messages=value) == [user("1")]
        else:
            with pytest.raises(TypeError, match=r"^max_messages"):
                ls.trim([user("1")], max_messages=value)


def test_the_bounded_units_are_named_in_a_fixed_order():
    assert Limits(max_chars=1, max_tokens=2, max_messages=3).units == (
        "messages",
        "tokens",
        "chars",
    )
    assert Limits(max_chars=0).units == ("chars",)
    assert Limits().units == ()


@pytest.mark.parametrize("name", NAMES[:3])
def test_a_limit_of_zero_keeps_nothing_and_one_keeps_something(name):
    assert Limits(**{name: 0}).nothing
    assert not Limits(**{name: 1}).nothing
    assert not Limits().nothing


def test_trim_to_needs_exactly_one_limit():
    with pytest.raises(ValueError, match="trim_to goes with exactly one limit"):
        Limits(trim_to=5)
    with pytest.raises(ValueError, match="trim_to goes with exactly one limit"):
        Limits(max_messages=5, max_tokens=50, trim_to=5)
    assert Limits(max_messages=5, trim_to=5).bounds("messages") == (5, 5, 5)


def test_trim_to_may_not_exceed_the_limit():
    with pytest.raises(ValueError, match=r"trim_to \(6\) must not exceed the limit \(5\)"):
        Limits(max_messages=5, trim_to=6)


def test_reserve_goes_only_with_tokens_or_characters():
    with pytest.raises(ValueError, match="reserve goes with max_tokens or max_chars"):
        Limits(max_messages=5, reserve=1)
    with pytest.raises(ValueError, match="reserve goes with max_tokens or max_chars"):
        Limits(reserve=1)
    assert Limits(max_messages=5, reserve=0).bounds("messages") == (5, 5, 5)
    assert Limits(max_tokens=0, reserve=1).bounds("tokens") == (0, -1, -1)
    assert Limits(max_chars=0, reserve=1).bounds("chars") == (0, -1, -1)


def test_the_reserve_is_taken_from_tokens_and_only_from_them_where_both_are_bounded():
    both = Limits(max_messages=9, max_tokens=100, max_chars=500, reserve=30)
    assert both.bounds("tokens") == (100, 70, 70)
    assert both.bounds("chars") == (500, 500, 500)
    assert both.bounds("messages") == (9, 9, 9)
    assert both.limit("tokens") == 100
    assert Limits(max_chars=500, reserve=30).bounds("chars") == (500, 470, 470)


def test_a_unit_without_a_limit_has_no_room_to_speak_of():
    limits = Limits(max_tokens=5)
    assert limits.limit("messages") is None
    with pytest.raises(ValueError, match="no limit is set in messages"):
        limits.bounds("messages")


def test_the_target_is_trim_to_but_never_more_than_the_room():
    def target(**limits):
        return Limits(max_tokens=100, **limits).bounds("tokens")[2]

    assert target() == 100
    assert target(reserve=10) == 90
    assert target(trim_to=40, reserve=10) == 40
    assert target(trim_to=95, reserve=10) == 90
    assert target(trim_to=0) == 0


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (True, "low_water must be a share such as 0.5, or None, got True"),
        ("half", "low_water must be a share"),
        (0, "low_water must be above 0 and at most 1, got 0"),
        (1.1, "low_water must be above 0 and at most 1, got 1.1"),
    ],
)
def test_a_low_mark_is_a_share(share, said):
    with pytest.raises((TypeError, ValueError), match=said):
        Limits(max_tokens=5, low_water=share)


def test_a_low_mark_lies_under_every_limit_less_the_reserve():
    limits = Limits(max_messages=9, max_tokens=100, reserve=20, low_water=0.5)
    assert limits.bounds("messages") == (9, 9, 4)
    assert limits.bounds("tokens") == (100, 80, 40)
    assert Limits(max_messages=9, low_water=1).bounds("messages") == (9, 9, 9)
    with pytest.raises(ValueError, match="trim_to and low_water say the same"):
        Limits(max_tokens=5, trim_to=2, low_water=0.5)
