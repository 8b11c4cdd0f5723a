"""Ids that fit a target: from the old one alone, and never one that is taken."""

import pytest

from lockstitch.rules.ids import FREE, IdShape, fitting

NINE = IdShape("a-zA-Z0-9", 9, 9)
PLAIN = IdShape("a-zA-Z0-9_-", 1, 64)


@pytest.mark.parametrize(
    ("id", "shape", "takes"),
    [
        ("abcdefghi", NINE, True),
        ("abcdefgh", NINE, False),
        ("abcdefghij", NINE, False),
        ("abcdefgh_", NINE, False),
        ("a" * 64, PLAIN, True),
        ("a" * 65, PLAIN, False),
        ("", PLAIN, False),
        ("", FREE, False),
        ("call:1 \n", FREE, True),
        ("abc\n", PLAIN, False),
    ],
)
def test_a_shape_takes_what_it_says(id, shape, takes):
    assert shape.takes(id) is takes


def test_an_id_that_fits_stays():
    assert fitting("call_1", PLAIN) == "call_1"
    assert fitting("anything: at all", FREE) == "anything: at all"


@pytest.mark.parametrize("old", ["call:1", "x" * 100, "", "é", "\ud83d", "call_1"])
@pytest.mark.parametrize("shape", [NINE, PLAIN, FREE])
def test_a_new_id_fits_is_free_and_is_the_same_every_time(old, shape):
    first = fitting(old, shape, {old})
    assert shape.takes(first)
    assert first != old
    assert fitting(old, shape, {old}) == first
    second = fitting(old, shape, {old, first})
    assert second not in {old, first}
    assert shape.takes(second)


def test_later_uses_of_one_id_have_names_of_their_own():
    names = {fitting("call_1", PLAIN, number=number) for number in range(1, 9)}
    assert len(names) == 8


def test_different_ids_that_look_alike_when_cleaned_stay_different():
    assert fitting("a:b", PLAIN) != fitting("a/b", PLAIN)


def test_a_new_id_does_not_hang_on_ids_that_came_later():
    # A history that grows must not be given other ids for what it held before.
    assert fitting("call:1", PLAIN, {"call:1", "call_1"}) == fitting("call:1", PLAIN, {"call:1"})


@pytest.mark.parametrize(
    ("old", "shape", "names"),
    [
        ("a:b", PLAIN, ["a_b_mSgsDvd6", "a_b_NvLCWXCG", "a_b_aFIT1Fj2", "a_b_8KYJRxgd"]),
        ("a:b", NINE, ["mSgsDvd65", "NvLCWXCGL", "aFIT1Fj2N", "8KYJRxgdY"]),
        ("a:b", FREE, ["a:b_mSgsDvd6", "a:b_NvLCWXCG", "a:b_aFIT1Fj2", "a:b_8KYJRxgd"]),
    ],
)
def test_what_an_id_becomes_stays_the_same_from_release_to_release(old, shape, names):
    # Ids that were sent are kept by callers and by the provider's cache.
    taken = {old}
    for name in names:
        assert fitting(old, shape, taken) == name
        taken.add(name)
