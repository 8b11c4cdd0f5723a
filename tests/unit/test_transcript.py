"""A transcript is read lazily, from the tail, and knows what it was made of."""

from __future__ import annotations

import pytest

import lockstitch as ls
from lockstitch.facts import Facts
from lockstitch.formats import get_format
from lockstitch.testing import assistant, call, result, user
from lockstitch.transcript import Text, ToolCall, Transcript

HISTORY = [user("1"), call("a"), result("a"), assistant("2")]


def counting(history):
    """A transcript that notes which messages were looked into."""
    seen: list[int] = []
    form = get_format("openai-chat")
    plain = form.facts

    def facts(native):
        seen.append(next(at for at, one in enumerate(history) if one is native))
        return plain(native)

    fields = {name: getattr(form, name) for name in form.__struct_fields__}
    watched = type(form)(**{**fields, "facts": facts})
    return Transcript(ls.load(history).document, watched), seen


def test_messages_come_with_role_parts_and_the_callers_own_object():
    message = ls.load(HISTORY).message(1)
    assert message.role == "assistant"
    assert message.parts == (
        Text(None, "content"),
        ToolCall("function", "a", "look_up", "{}", "tool_calls[0]"),
    )
    assert message.native is HISTORY[1]


def test_a_transcript_is_as_long_as_its_list_and_goes_through_it_in_order():
    transcript = ls.load(HISTORY)
    assert len(transcript) == 4
    assert [message.native for message in transcript] == HISTORY
    assert [message.role for message in transcript] == ["user", "assistant", "tool", "assistant"]


def test_nothing_is_looked_into_before_it_is_asked_for():
    transcript, seen = counting(HISTORY)
    assert seen == []
    assert transcript.facts_from(2) == [Facts("tool", answers=("a",)), Facts("assistant")]
    assert seen == [2, 3]


def test_what_was_read_is_not_read_again_when_the_window_grows():
    transcript, seen = counting(HISTORY)
    transcript.facts_from(2)
    assert [fact.role for fact in transcript.facts_from(1)] == ["assistant", "tool", "assistant"]
    assert seen == [2, 3, 1]
    assert len(transcript.facts_from(1)) == 3
    assert seen == [2, 3, 1]


def test_a_shorter_tail_is_a_part_of_what_was_read():
    transcript, seen = counting(HISTORY)
    transcript.facts_from(1)
    assert [fact.role for fact in transcript.facts_from(3)] == ["assistant"]
    assert transcript.facts_from(4) == []
    assert seen == [1, 2, 3]
    assert len(transcript.facts_from(1)) == 3


def test_single_facts_come_from_what_was_read_where_it_was():
    transcript, seen = counting(HISTORY)
    transcript.facts_from(2)
    seen.clear()
    assert transcript.facts_at(2) == Facts("tool", answers=("a",))
    assert transcript.facts_at(3) == Facts("assistant")
    assert seen == []
    assert transcript.facts_at(1) == Facts("assistant", asks=("a",))
    assert seen == [1]


def test_some_messages_are_a_transcript_with_the_same_surroundings():
    body = {"model": "m", "messages": HISTORY}
    some = ls.load(body).at([0, 2])
    assert [message.native for message in some] == [HISTORY[0], HISTORY[2]]
    assert (some.path, some.context, some.format.name) == (
        "messages",
        {"model": "m"},
        "openai-chat",
    )
    assert ls.dump(some) == {"model": "m", "messages": [HISTORY[0], HISTORY[2]]}


def test_a_server_that_holds_the_rest_is_known_by_its_request():
    assert ls.load({"input": "x", "previous_response_id": "resp_1"}).server_held
    assert ls.load({"input": "x", "conversation": {"id": "conv_1"}}).server_held
    assert not ls.load({"input": "x", "previous_response_id": None}).server_held
    assert not ls.load({"input": "x"}).server_held
    assert not ls.load(HISTORY).server_held


STRANGE = [
    ("openai-chat", {"role": "assistant", "content": None, "tool_calls": ["x"]}),
    ("openai-chat", {"role": "user", "content": [1]}),
    ("gemini", {"role": "user", "parts": [1]}),
    ("mistral", {"role": "assistant", "tool_calls": [3]}),
    ("openai-responses", 3),
]


@pytest.mark.parametrize(("format", "strange"), STRANGE)
@pytest.mark.parametrize("act", [ls.check, ls.repair, lambda *a, **k: list(ls.load(*a, **k))])
def test_what_cannot_be_read_is_refused_with_its_place(act, format, strange):
    usual = {"role": "user", "parts": []} if format == "gemini" else {"role": "user", "content": ""}
    with pytest.raises(ls.FormatError, match="expected a mapping") as refusal:
        act([usual, usual, strange, usual], format=format)
    assert refusal.value.where.startswith(("messages[2]", "input[2]", "contents[2]"))
    with pytest.raises(ls.FormatError):
        act([strange], format=format)


def test_the_place_is_that_of_the_request():
    with pytest.raises(ls.FormatError, match=r"^input\[1\]: expected a mapping"):
        ls.trim({"input": [{"role": "user", "content": "q"}, 3]}, max_messages=1)
