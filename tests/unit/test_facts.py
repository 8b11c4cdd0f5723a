"""Facts say by ids alone what ids alone can say, and lists of links say the rest."""

from __future__ import annotations

import pytest

from lockstitch.facts import (
    ANSWER,
    ASSISTANT,
    ASSISTANT_FACTS,
    CALL,
    CHILD,
    CLIENT_FAMILIES,
    FUNCTION,
    INTERIM,
    OTHER_FACTS,
    REJECTED,
    REQUEST,
    RESULT,
    SYSTEM_FACTS,
    TOOL,
    USER_FACTS,
    Facts,
    Link,
    facts_with,
)


@pytest.mark.parametrize(
    ("link", "key"),
    [
        (Link(CALL, FUNCTION, "c1"), "c1"),
        (Link(RESULT, FUNCTION, "c1", "search"), "c1"),
        (Link(CALL, "custom", "c1"), ("custom", "c1")),
        (Link(CALL, FUNCTION, None), (FUNCTION, None)),
        (Link(CALL, FUNCTION, ""), (FUNCTION, "")),
    ],
)
def test_the_key_of_a_link_is_its_id_for_functions_and_family_with_id_for_the_rest(link, key):
    assert link.key == key


def test_ordinary_calls_are_stored_as_ids():
    links = (Link(CALL, FUNCTION, "a", "search"), Link(CALL, FUNCTION, "b"))
    assert facts_with(ASSISTANT, links) == Facts(ASSISTANT, asks=("a", "b"))


def test_ordinary_results_are_stored_as_ids():
    links = (Link(RESULT, FUNCTION, "a"), Link(RESULT, FUNCTION, "b"))
    assert facts_with(TOOL, links) == Facts(TOOL, answers=("a", "b"))


@pytest.mark.parametrize(
    "links",
    [
        (Link(CALL, FUNCTION, None, "search"),),
        (Link(CALL, "custom", "a"),),
        (Link(CALL, FUNCTION, "a", None, "alias"),),
        (Link(RESULT, FUNCTION, "a", None, None, INTERIM),),
        (Link(CALL, FUNCTION, "a"), Link(RESULT, FUNCTION, "a")),
        (Link(RESULT, FUNCTION, "a"), Link(RESULT, FUNCTION, "b", None, None, REJECTED)),
        (Link(REQUEST, FUNCTION, "a"),),
        (Link(ANSWER, FUNCTION, "a"),),
        (Link(CHILD, FUNCTION, "a"),),
    ],
)
def test_whatever_ids_alone_cannot_say_is_stored_as_links(links):
    assert facts_with(ASSISTANT, links) == Facts(ASSISTANT, links)
    assert facts_with(ASSISTANT, links).ends == links


@pytest.mark.parametrize(
    "links",
    [(), (Link(CALL, FUNCTION, "a"),), (Link(RESULT, FUNCTION, "a"),), (Link(CALL, "mcp", "a"),)],
)
def test_reasoning_is_kept_whatever_the_links_are(links):
    assert facts_with(ASSISTANT, links, reasoning=True).reasoning
    assert not facts_with(ASSISTANT, links).reasoning


def test_ids_alone_read_back_as_links_in_order():
    assert Facts(ASSISTANT, asks=("a", "b")).ends == (
        Link(CALL, FUNCTION, "a"),
        Link(CALL, FUNCTION, "b"),
    )
    assert Facts(TOOL, answers=("a", "b")).ends == (
        Link(RESULT, FUNCTION, "a"),
        Link(RESULT, FUNCTION, "b"),
    )


def test_a_message_is_linked_when_it_asks_answers_or_has_any_link():
    assert Facts(ASSISTANT, asks=("a",)).linked
    assert Facts(TOOL, answers=("a",)).linked
    assert Facts(ASSISTANT, (Link(CHILD, "mcp", "a"),)).linked
    for plain in (SYSTEM_FACTS, USER_FACTS, ASSISTANT_FACTS, OTHER_FACTS):
        assert not plain.linked


def test_only_a_message_that_asks_for_results_calls():
    assert Facts(ASSISTANT, asks=("a",)).calls
    assert Facts(ASSISTANT, (Link(RESULT, "mcp", "a"), Link(CALL, "mcp", "b"))).calls
    assert not Facts(TOOL, answers=("a",)).calls
    assert not Facts(ASSISTANT, (Link(REQUEST, "mcp", "a"),)).calls
    assert not ASSISTANT_FACTS.calls


def test_the_families_a_client_runs_include_functions_and_no_hosted_tool():
    assert CLIENT_FAMILIES[0] == FUNCTION
    assert not {"mcp", "server", "program"} & set(CLIENT_FAMILIES)
