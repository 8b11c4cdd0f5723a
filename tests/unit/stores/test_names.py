"""No two sessions are ever one, whatever their ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstitch.stores.base import Key
from lockstitch.stores.names import LONGEST, escaped, name_of, tenant_name, unescaped

TEXTS = st.text(st.characters(exclude_categories=()), max_size=20)
TENANTS = st.one_of(st.none(), TEXTS)


@given(TEXTS)
def test_an_escaped_text_can_be_read_back(text):
    assert unescaped(escaped(text)) == text
    assert escaped(text).isascii()


@given(TEXTS, TEXTS)
def test_the_beginning_of_an_id_is_the_beginning_of_its_name(one, other):
    assert escaped(one + other).startswith(escaped(one))


@given(TENANTS, TEXTS, TENANTS, TEXTS)
def test_two_keys_have_one_name_only_if_they_are_equal(tenant, id, other_tenant, other_id):
    one, other = Key(tenant, id), Key(other_tenant, other_id)
    assert (name_of(one) == name_of(other)) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Key("a", "b:c"), Key("a:b", "c")),
        (Key(None, "x"), Key("", "x")),
        (Key(None, "x"), Key("~", "x")),
        (Key("a", "x"), Key("A", "x")),
        (Key("a", ""), Key("a", "%")),
        (Key("é", "x"), Key("e\u0301", "x")),
        (Key("t", "x" * LONGEST), Key("t", "x" * (LONGEST + 1))),
        (Key("t", "x" * 700), Key("t", "x" * 701)),
        (Key("t" * 700, "x"), Key("t" * 701, "x")),
    ],
)
def test_ids_that_look_alike_stay_apart(one, other):
    assert name_of(one) != name_of(other)


def test_no_name_is_long_and_none_holds_what_ends_a_hash_tag():
    name = name_of(Key("{t}" * 1_000, "}" * 10_000))
    assert len(name) < 2 * LONGEST + 10
    assert not set("{}*?[]\\ \n") & set(name)


def test_no_tenant_is_not_the_tenant_without_a_name():
    assert tenant_name(None) not in {tenant_name(""), tenant_name("~"), tenant_name("None")}
