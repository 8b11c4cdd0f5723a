"""Counters: what a message weighs, who says so, and how sure the number is."""

from __future__ import annotations

import pytest

import lockstitch as ls
from lockstitch.measure.counters import (
    BYTES,
    ESTIMATE,
    ByteCounter,
    Counter,
    EstimateCounter,
    sizer_for,
    texts_of,
)
from lockstitch.measure.estimate import upper_edge
from lockstitch.testing import assistant, call, result, user
from lockstitch.transcript import (
    Approval,
    ApprovalRequest,
    Media,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)


class Letters:
    """One token a letter."""

    name = "letters"
    kind = "exact"

    def __init__(self):
        self.seen: list[str] = []

    def count(self, text):
        self.seen.append(text)
        return len(text)


def sizes(history, unit, counter=None, **options):
    transcript = ls.load(history, **options)
    sizer = sizer_for(transcript, unit, counter)
    return [sizer.size(at) for at in range(len(transcript))]


HISTORY = [
    user("four"),
    call("a", "b", name="go", arguments='{"k":1}'),
    result("a", "found"),
    result("b", ""),
    assistant(""),
]


def test_every_message_counts_as_one_message():
    assert sizes(HISTORY, "messages") == [1, 1, 1, 1, 1]
    sizer = sizer_for(ls.load(HISTORY), "messages")
    assert (sizer.counter, sizer.kind, sizer.around, sizer.unit) == (
        "messages",
        "exact",
        0,
        "messages",
    )


def test_characters_are_those_of_the_texts_and_nothing_else():
    assert sizes(HISTORY, "chars") == [4, 2 * (2 + 7), 5, 0, 0]
    sizer = sizer_for(ls.load(HISTORY), "chars")
    assert (sizer.counter, sizer.kind, sizer.unit) == ("chars", "exact", "chars")


def test_tokens_count_the_wrapping_of_messages_calls_and_results_too():
    assert sizes(HISTORY, "tokens", Letters()) == [4 + 4, 4 + 2 * (2 + 7 + 12), 4 + 5 + 12, 16, 4]


def test_a_counter_object_is_taken_with_its_name_and_kind():
    sizer = sizer_for(ls.load(HISTORY), "tokens", Letters())
    assert (sizer.counter, sizer.kind, sizer.unit) == ("letters", "exact", "tokens")


@pytest.mark.parametrize("asked", [None, "estimate", ESTIMATE])
def test_the_estimate_is_the_default(asked):
    sizer = sizer_for(ls.load([user("Where is my order?")]), "tokens", asked)
    assert (sizer.counter, sizer.kind) == ("estimate", "estimate")
    assert sizer.size(0) == 4 + upper_edge("Where is my order?")


def test_bytes_are_the_sure_bound():
    sizer = sizer_for(ls.load([user("naïve")]), "tokens", "bytes")
    assert (sizer.counter, sizer.kind) == ("bytes", "bound")
    assert sizer.size(0) == 4 + 6


@pytest.mark.parametrize(
    ("text", "size"), [("", 0), ("abc", 3), ("é", 2), ("日本", 6), ("🎉", 4), ("\ud83d", 3)]
)
def test_bytes_are_counted_in_utf_8_and_half_a_pair_is_no_crash(text, size):
    assert ByteCounter().count(text) == size
    assert EstimateCounter().count(text) <= size


def test_both_counters_keep_the_protocol():
    assert isinstance(ESTIMATE, Counter)
    assert isinstance(BYTES, Counter)
    assert isinstance(Letters(), Counter)
    assert not isinstance(len, Counter)


def test_a_message_is_counted_once_and_only_when_asked_for():
    counter = Letters()
    sizer = sizer_for(ls.load(HISTORY), "tokens", counter)
    assert counter.seen == []
    assert sizer.size(0) == sizer.size(0) == 8
    assert counter.seen == ["four"]


def test_a_callable_counts_native_messages_and_is_asked_once_for_each():
    seen = []

    def weigh(message):
        seen.append(message)
        return 10 * len(seen)

    sizer = sizer_for(ls.load(HISTORY), "tokens", weigh)
    assert (sizer.counter, sizer.kind) == ("weigh", "exact")
    assert [sizer.size(2), sizer.size(2), sizer.size(0)] == [10, 10, 20]
    assert seen == [HISTORY[2], HISTORY[0]]
    assert seen[0] is HISTORY[2]


def test_a_callable_without_a_name_is_called_one():
    class Weigh:
        def __call__(self, message):
            return 1

    assert sizer_for(ls.load(HISTORY), "tokens", Weigh()).counter == "callable"


@pytest.mark.parametrize("kind", [list, tuple, lambda items: range(items[0], items[-1] + 1)])
def test_a_list_of_sizes_is_taken_as_it_is(kind):
    sizer = sizer_for(ls.load(HISTORY), "tokens", kind([1, 2, 3, 4, 5]))
    assert [sizer.size(at) for at in range(5)] == [1, 2, 3, 4, 5]
    assert (sizer.counter, sizer.kind, sizer.around) == ("sizes", "exact", 0)


@pytest.mark.parametrize("count", [0, 4, 6])
def test_a_list_of_another_length_is_refused(count):
    with pytest.raises(ValueError, match=f"counter lists {count} sizes for 5 messages"):
        ls.plan(HISTORY, max_tokens=5, counter=[1] * count)


@pytest.mark.parametrize("size", [-1, 1.0, "1", None, True])
def test_a_size_that_is_no_number_of_at_least_zero_is_refused_with_its_message(size):
    said = "the size of message 4 must be a number of at least 0, got"
    with pytest.raises(TypeError, match=said):
        ls.plan(HISTORY, max_tokens=5, counter=[1, 1, 1, 1, size])
    with pytest.raises(TypeError, match=said):
        ls.plan(HISTORY, max_tokens=5, counter=lambda _: size)


def test_a_size_of_zero_is_fine():
    assert ls.plan(HISTORY, max_tokens=1, counter=[0] * 5).kept == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("name", ["byte", "", "tiktoken"])
def test_an_unknown_name_is_refused_and_the_known_ones_listed(name):
    with pytest.raises(
        ValueError, match=rf"no counter is called '{name}'; there are: 'estimate', 'bytes'"
    ):
        ls.trim(HISTORY, max_tokens=100, counter=name)


@pytest.mark.parametrize("counter", [5, object(), {"a": 1}, 1.5])
def test_what_counts_nothing_is_refused(counter):
    with pytest.raises(TypeError, match="counter must be None, a name, a Counter, a callable or a"):
        ls.trim(HISTORY, max_tokens=100, counter=counter)


def test_what_is_refused_is_shown_in_short():
    with pytest.raises(TypeError) as caught:
        ls.trim(HISTORY, max_tokens=100, counter={"k": "x" * 500})
    assert len(str(caught.value)) < 160


def test_only_tokens_ask_the_counter():
    assert ls.plan(HISTORY, max_messages=9, max_chars=99, counter="no such").counter is None


# --- what of a part is sent -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "texts"),
    [
        (Text("hi"), ["hi"]),
        (Text(""), []),
        (Text(None), []),
        (Reasoning("hm", "sealed"), ["hm", "sealed"]),
        (Reasoning("", "sealed"), ["sealed"]),
        (Reasoning("hm"), ["hm"]),
        (Reasoning(), []),
        (ToolCall("function", "a", "x", '{"q": 1}'), ["x", '{"q": 1}']),
        (ToolCall("function", "a", "x", {"q": 1}), ["x", '{"q":1}']),
        (ToolCall("function", "a", None, ""), []),
        (ToolCall("function", "a", None, {}), []),
        (ApprovalRequest("r", "a", "x", "{}"), ["x", "{}"]),
        (Approval("r"), []),
        (ToolResult("function", "a", "found"), ["found"]),
        (ToolResult("function", "a", None), []),
        (ToolResult("function", "a", {"n": 1}), ['{"n":1}']),
        (ToolResult("function", "a", 5), ["5"]),
        (
            ToolResult("function", "a", [{"type": "text", "text": "t"}, {"x": 1}, "s"]),
            ["t", '{"x":1}', '"s"'],
        ),
        (ToolResult("function", "a", ({"text": "t"}, {"text": 5})), ["t", '{"text":5}']),
        (Opaque("x", {"type": "x"}), ['{"type":"x"}']),
        (Media("image", encoded=5), []),
    ],
)
def test_the_texts_of_a_part_are_what_a_provider_reads(part, texts):
    assert list(texts_of(part)) == texts


@pytest.mark.parametrize(
    "value",
    [
        {"x": 10**40},
        {"x": float("nan")},
        {"x": "half \ud83d"},
        {"x": object()},
        {"x": {1, 2}},
        {1: 2},
        {(1, 2): 3},
    ],
)
def test_a_value_that_json_cannot_say_is_counted_all_the_same(value):
    (text,) = texts_of(ToolCall("function", "a", None, value))
    assert len(text) >= 3


# --- media ----------------------------------------------------------------------------------------


def picture(data):
    return user([{"type": "image_url", "image_url": {"url": data}}])


def document(data):
    source = {"type": "base64", "media_type": "application/pdf", "data": data}
    return user([{"type": "document", "source": source}])


def test_a_picture_weighs_what_providers_charge_and_not_its_bytes():
    small, large = picture("data:,x"), picture("data:," + "x" * 500_000)
    assert sizes([small, large, picture("https://x")], "tokens") == [1604, 1604, 1604]
    assert sizes([small, large], "chars") == [0, 0]


def test_a_document_weighs_by_its_length_once_that_is_more():
    assert sizes([document("x" * 6_400), document("x" * 6_404)], "tokens") == [1604, 1605]
    assert sizes([document("x" * 40_000)], "tokens") == [10_004]
    assert sizes([document("x" * 40_000)], "chars") == [0]


# --- the request around the list ------------------------------------------------------------------


def test_instructions_and_tools_beside_the_list_count():
    body = {"system": "be brief", "tools": [{"name": "x"}], "messages": [user("hi")]}
    assert sizer_for(ls.load(body), "chars").around == len("be brief") + len('[{"name":"x"}]')
    assert sizer_for(ls.load(body), "tokens", Letters()).around == 8 + 14
    assert sizer_for(ls.load(body), "messages").around == 0


def test_instructions_that_are_blocks_count_as_they_are_sent():
    body = {"system": [{"type": "text", "text": "é"}], "messages": [user("hi")]}
    assert sizer_for(ls.load(body), "chars").around == len('[{"type":"text","text":"é"}]')


@pytest.mark.parametrize("nothing", [None, "", []])
def test_empty_instructions_weigh_nothing(nothing):
    body = {"system": nothing, "tools": nothing, "messages": [user("hi")]}
    assert sizer_for(ls.load(body), "chars").around == 0


def test_only_the_instructions_of_the_own_format_count():
    body = {"instructions": "be brief", "system": "not read", "input": "hi"}
    assert sizer_for(ls.load(body), "chars").around == 8
    body = {"system": "be brief", "messages": [user("hi")]}
    assert sizer_for(ls.load(body, format="openai-chat"), "chars").around == 0


def test_what_stands_around_takes_room_from_the_messages():
    body = {"system": "12345", "messages": [user("aaaa"), assistant("bbbb"), user("cccc")]}
    assert len(ls.trim(body, max_chars=17)["messages"]) == 3
    assert len(ls.trim(body, max_chars=16)["messages"]) == 1
    with pytest.raises(ls.CannotFit) as caught:
        ls.trim(body, max_chars=8)
    # The newest complete group is the newest user message itself.
    assert (caught.value.needed, caught.value.limit, caught.value.unit) == (9, 8, "chars")
