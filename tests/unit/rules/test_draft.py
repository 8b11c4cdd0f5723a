"""The draft: what is changed, where it stood, and what the account says of it."""

import pytest

import lockstitch as ls
from lockstitch.rules.draft import Draft
from lockstitch.rules.profiles import get_profile
from lockstitch.testing.render import render
from lockstitch.testing.steps import Calls, Result, Say, User
from lockstitch.writing import writer_for


def draft_of(steps, format="openai-chat", profile="portable"):
    transcript = ls.load(render(steps, format), format=format)
    return Draft(transcript, writer_for(format), get_profile(profile))


def test_messages_are_found_wherever_changes_have_put_them():
    draft = draft_of([User(str(number)) for number in range(6)])
    entries = draft.begin()
    draft.remove(entries[1])
    draft.insert(0, {"role": "user", "content": "new"})
    draft.insert(0, {"role": "user", "content": "newer"})
    draft.move(entries[5], 2)
    for entry in (*entries[:1], *entries[2:]):
        assert draft.entries[draft.position(entry)] is entry
    assert [entry.origin for entry in draft.entries] == [-1, -1, 5, 0, 2, 3, 4]
    assert entries[1].gone
    assert not entries[5].gone
    with pytest.raises(ValueError, match="not in the draft any more"):
        draft.position(entries[1])


def test_a_change_names_every_message_that_was_changed_with_it():
    draft = draft_of([User("a"), User("b"), User("c")])
    one, two, three = draft.begin()
    draft.rewrite(one, {"role": "user", "content": "A"})
    draft.rewrite(three, {"role": "user", "content": "C"})
    draft.note("replace", "rule", two, "why", "content", before="b", after="B")
    draft.rewrite(two, {"role": "user", "content": "B"})
    draft.note("replace", "rule", two, "why")
    first, second = draft.changes
    assert (first.index, first.related, first.path) == (1, (0, 2), "messages[1].content")
    assert (first.before, first.after) == ("b", "B")
    assert (second.index, second.related, second.path) == (1, (), "messages[1]")


def test_places_are_those_of_the_input_after_parts_were_taken_out():
    draft = draft_of([User(), Calls.of("a", "b", "c")])
    draft.begin()
    _, calls = draft.entries
    draft.take_out(calls, ["tool_calls[0]"])
    draft.begin()
    assert draft.place(calls, "tool_calls[0].id") == "messages[1].tool_calls[1].id"
    made = draft.insert(0, {"role": "user", "content": "x"})
    assert draft.place(made, "content") == ""


def test_a_message_goes_with_its_last_part():
    draft = draft_of([User(), Calls.of("a")])
    _, calls = draft.begin()
    assert draft.take_out(calls, ["tool_calls[0]"])[0]["id"] == "a"
    assert calls.gone
    assert len(draft.entries) == 1


ROUND = [User(), Calls.of("a"), Calls.of("b"), Result("b"), Say("x"), User("y")]


@pytest.mark.parametrize(
    ("format", "steps", "call", "at"),
    [
        # Right behind the call, and behind the results that stand there.
        ("openai-chat", ROUND, 1, 2),
        ("openai-chat", ROUND, 2, 4),
        # In a joined turn behind its last call, where the results stand.
        ("openai-responses", ROUND, 1, 4),
        ("openai-responses", [User(), Calls.of("a"), Say("x"), User("y")], 1, 2),
        ("openai-responses", [User(), Calls.of("a", "b"), Say("x"), User("y")], 1, 3),
        ("openai-responses", [User(), Calls.of("a"), Calls.of("a"), Result("a")], 1, 2),
        ("anthropic", [User(), Calls.of("a"), Say("x"), User("y")], 1, 2),
    ],
)
def test_a_result_is_put_where_the_target_looks_for_it(format, steps, call, at):
    draft = draft_of(steps, format)
    entry = draft.begin()[call]
    native = render([Result("a")], format)[0]
    given = native["content"][0] if draft.writer.packed else native
    assert draft.entries.index(draft.put_result(entry, given)) == at


def test_a_block_joins_the_results_that_stand_at_the_turn():
    draft = draft_of([User(), Calls.of("a"), Calls.of("b"), Result("b"), User("y")], "anthropic")
    entry = draft.begin()[1]
    block = render([Result("a")], "anthropic")[0]["content"][0]
    holder = draft.put_result(entry, block)
    assert [one["tool_use_id"] for one in holder.native["content"][:2]] == ["b", "a"]
    assert holder.origin == 3
