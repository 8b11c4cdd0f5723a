"""`lockstitch.__all__` is the public surface: in order, importable, and documented."""

import inspect

import pytest

import lockstitch

DOCUMENTED = [
    name
    for name in lockstitch.__all__
    if inspect.isclass(getattr(lockstitch, name, None))
    or inspect.isroutine(getattr(lockstitch, name, None))
]


def _place(name: str) -> tuple[int, str]:
    """CONSTANTS, then Classes, then functions: the order that ruff's RUF022 keeps."""
    kind = 0 if name.isupper() else 1 if name[0].isupper() else 2
    return kind, name


def test_the_public_names_are_in_order():
    assert list(lockstitch.__all__) == sorted(lockstitch.__all__, key=_place)


def test_no_public_name_is_listed_twice():
    assert len(set(lockstitch.__all__)) == len(lockstitch.__all__)


@pytest.mark.parametrize("name", lockstitch.__all__)
def test_a_public_name_can_be_imported(name: str):
    assert getattr(lockstitch, name) is not None


@pytest.mark.parametrize("name", DOCUMENTED)
def test_a_public_class_or_function_says_what_it_is_for(name: str):
    thing = getattr(lockstitch, name)
    # A class inherits the docstring of its base, which speaks of something else: look at its own.
    documented = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
    assert (documented or "").strip()
