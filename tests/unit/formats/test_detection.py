"""Detection finds the format by shape, and refuses to guess where two would fit."""

from __future__ import annotations

import json

import pytest

import lockstitch as ls
from lockstitch.errors import FormatError
from lockstitch.formats import (
    ALL,
    ENDS,
    ENOUGH,
    FORMATS,
    QUICK,
    SAMPLE,
    SHORT,
    SPOKEN,
    detect,
    get_format,
    is_distinct,
)
from lockstitch.formats.base import LIKELY
from lockstitch.testing import assistant, call, result, system, user

USE = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "t", "name": "x", "input": {}}],
}
GAVE = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "r"}]}
BLOCKS = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
THOUGHT = {
    "role": "assistant",
    "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}],
}
PICTURE = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}
ITEM = {"type": "function_call", "call_id": "c", "name": "x", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": "r"}
TYPED = {"role": "user", "content": [{"type": "input_text", "text": "hi"}]}
HUMAN = {"type": "human", "content": "hi"}
EVENT = {"type": "user.message", "content": [{"type": "text", "text": "hi"}]}

EXAMPLES = {
    "openai-chat": [user(), call("a"), result("a"), assistant()],
    "anthropic": [user(), USE, GAVE, assistant()],
    "openai-responses": [user(), ITEM, OUTPUT, assistant()],
    "langchain": [HUMAN, {"type": "ai", "content": "yes"}],
    "anthropic-events": [EVENT, {"type": "agent.message", "content": []}],
    "mistral": [
        user(),
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}],
        },
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
    ],
    "bedrock": [
        {"role": "user", "content": [{"text": "hi"}]},
        {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": "t", "name": "f", "input": {}}}],
        },
    ],
}
LOOKS = [ALL, ENOUGH, ENDS]


def found(natives, **options):
    return detect(natives, **options)[0].name


def plain(count):
    return [user(str(at)) if at % 2 == 0 else assistant(str(at)) for at in range(count)]


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_found_under_its_name(name):
    assert get_format(name).name == name


@pytest.mark.parametrize("name", ["openai", "", None, [], 5])
def test_an_unknown_name_is_refused_and_the_known_ones_listed(name):
    with pytest.raises(ValueError, match=r"no format is called .*; there are: openai-chat, "):
        get_format(name)
    for call_ in (ls.load, ls.check, ls.trim, ls.plan, ls.groups):
        if name is not None:
            with pytest.raises(ValueError, match="no format is called"):
                call_([user()], format=name)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("look", LOOKS)
def test_each_format_alone_is_found_and_settled(name, look):
    natives = EXAMPLES[name]
    assert detect(natives, look=look) == (FORMATS[name], True)
    assert detect(natives * 200, look=look) == (FORMATS[name], True)


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_format_is_found_in_text_and_in_objects_alike(name):
    assert ls.load(EXAMPLES[name]).format.name == name
    assert ls.load(json.dumps(EXAMPLES[name])).format.name == name
    assert ls.plan(json.dumps(EXAMPLES[name]), max_messages=9).format == name
    assert ls.check(json.dumps(EXAMPLES[name])).format == name


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize(
    "natives",
    [
        [user()],
        [system(), user(), assistant()],
        [{"role": "developer", "content": "x"}, user()],
        [BLOCKS],
        [],
    ],
)
def test_plain_text_is_read_as_the_first_format_that_fits(natives, look):
    if natives:
        assert found(natives, look=look) == "openai-chat"
    assert ls.load(natives).format.name == "openai-chat"


@pytest.mark.parametrize("role", [*SPOKEN, "developer", "tool", "model", "", None, ["user"]])
@pytest.mark.parametrize("text", ["hi", "", None, [], {"type": "text"}])
@pytest.mark.parametrize("more", [{}, {"name": "n"}, {"tool_calls": []}])
def test_plain_text_is_found_as_by_asking_every_format(role, text, more):
    natives = [user(), {"role": role, "content": text, **more}]
    every = tuple(FORMATS.values())
    try:
        asked = detect(natives, among=every)
    except FormatError as error:
        with pytest.raises(type(error)):
            detect(natives)
    else:
        assert detect(natives) == asked


@pytest.mark.parametrize(
    ("message", "name"),
    [(THOUGHT, "anthropic"), (PICTURE, "openai-chat"), (TYPED, "openai-responses")],
)
def test_one_telling_block_is_enough(message, name):
    assert found([user(), message, assistant()]) == name


# --- mixtures -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("natives", "candidates"),
    [
        (
            [user(), call("a"), result("a"), USE, GAVE],
            (("openai-chat", "messages[1]"), ("anthropic", "messages[3]")),
        ),
        ([USE, call("a")], (("anthropic", "messages[0]"), ("openai-chat", "messages[1]"))),
        ([call("a"), ITEM], (("openai-chat", "messages[0]"), ("openai-responses", "messages[1]"))),
        ([HUMAN, USE], (("langchain", "messages[0]"), ("anthropic", "messages[1]"))),
        (
            [call("a"), ITEM, HUMAN],
            (
                ("openai-chat", "messages[0]"),
                ("openai-responses", "messages[1]"),
                ("langchain", "messages[2]"),
            ),
        ),
    ],
)
def test_a_mixture_is_refused_and_each_candidate_named_with_its_place(natives, candidates):
    with pytest.raises(ls.AmbiguousFormat) as caught:
        ls.check(natives)
    assert sorted(caught.value.candidates) == sorted(candidates)
    for name, where in candidates:
        assert f"{name} (see {where})" in str(caught.value)
        assert f'format="{name}"' in str(caught.value)


@pytest.mark.parametrize("function", [ls.load, ls.plan, ls.trim, ls.check])
def test_a_mixture_at_both_ends_is_refused_by_every_function(function):
    with pytest.raises(ls.AmbiguousFormat, match=r"openai-chat \(see messages\[0\]\)"):
        function([call("a"), result("a"), USE, GAVE])


def test_a_mixture_is_read_once_the_format_is_named():
    mixture = [user(), call("a"), result("a"), USE, GAVE]
    assert ls.check(mixture, format="anthropic").format == "anthropic"
    assert ls.load(mixture, format="openai-chat").format.name == "openai-chat"


def likely(name):
    """A format that takes every message for probably its own."""
    form = FORMATS[name]
    fields = {key: getattr(form, key) for key in form.__struct_fields__}
    return type(form)(**{**fields, "evidence": lambda _: LIKELY})


def test_two_formats_that_are_both_likely_are_a_mixture_as_well():
    with pytest.raises(ls.AmbiguousFormat):
        detect([user()], among=[likely("anthropic"), likely("openai-chat")])


def test_of_two_likely_formats_the_one_the_request_speaks_for_is_taken():
    both = [likely("anthropic"), likely("openai-chat")]
    assert found([user()], among=both, hint="openai-chat") == "openai-chat"
    assert found([user()], among=both, hint="anthropic") == "anthropic"


def test_likely_formats_that_rule_each_other_out_leave_none():
    with pytest.raises(ls.UnknownFormat):
        detect([THOUGHT, PICTURE])


@pytest.mark.parametrize("odd", [{"n": 1}, {"role": "narrator"}, {"role": "user", "parts": []}])
def test_an_odd_message_beside_a_certain_one_is_damage_and_no_vote(odd):
    assert found([user(), odd, USE, GAVE]) == "anthropic"
    assert found([odd, user(), call("a")]) == "openai-chat"


# --- unknown shapes -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "natives",
    [
        [{"speaker": "me", "line": "hi"}],
        [{}],
        [user(), {"speaker": "me"}],
    ],
)
def test_an_unknown_shape_is_refused_and_the_known_formats_listed(natives):
    for function in (ls.load, ls.check, ls.trim, ls.plan):
        with pytest.raises(ls.UnknownFormat) as caught:
            function(natives)
        assert caught.value.known == tuple(FORMATS)
        assert caught.value.where == "messages[0]"
        for name in FORMATS:
            assert name in str(caught.value)


def test_an_unknown_shape_is_shown_by_its_keys():
    with pytest.raises(ls.UnknownFormat, match=r"the first message has \['line', 'speaker'\]"):
        ls.load([{"speaker": "me", "line": "hi"}])
    with pytest.raises(ls.UnknownFormat, match=r"the first message has \['line', 'speaker'\]"):
        ls.load('[{"speaker": "me", "line": "hi"}]')


def test_an_unknown_object_is_shown_by_its_type():
    class Dumps:
        def model_dump(self, *, exclude_unset):
            return {"x": 1}

    with pytest.raises(ls.UnknownFormat, match="the first message has Dumps"):
        ls.load([Dumps()])


@pytest.mark.parametrize("function", [ls.load, ls.check, ls.trim, ls.plan])
@pytest.mark.parametrize(
    ("source", "where"),
    [
        ([user(), 5], "messages[1]"),
        ([None], "messages[0]"),
        ("[[]]", "messages[0]"),
        ('[{"role": "user", "content": "x"}, 5]', "messages[1]"),
        ({"messages": [user(), user(), "x"]}, "messages[2]"),
        ({"request": {"messages": ["x"]}}, "request.messages[0]"),
    ],
)
def test_what_is_no_message_is_refused_with_its_place(function, source, where):
    with pytest.raises(ls.FormatError) as caught:
        function(source)
    assert caught.value.where == where
    assert str(caught.value).startswith(f"{where}: expected ")


# --- the request around the list ------------------------------------------------------------------


def test_an_input_is_read_as_responses():
    assert ls.load({"input": [user()]}).format.name == "openai-responses"
    assert ls.load({"input": "hi"}).format.name == "openai-responses"
    assert ls.load('{"input": [{"role": "user", "content": "hi"}]}').format.name == (
        "openai-responses"
    )


def test_an_input_of_another_format_is_refused():
    with pytest.raises(ls.UnknownFormat, match=r"^input\[0\]: "):
        ls.load({"input": [call("a")]})


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({"system": "s", "messages": [user()]}, "anthropic"),
        ({"system": [], "messages": [BLOCKS]}, "anthropic"),
        ({"instructions": "s", "messages": [user()]}, "openai-responses"),
        ({"model": "m", "messages": [user()]}, "openai-chat"),
        ({"request": {"system": "s", "messages": [user()]}}, "anthropic"),
    ],
)
def test_a_request_with_instructions_beside_the_list_speaks_for_a_format(body, name):
    assert ls.load(body).format.name == name
    assert ls.load(json.dumps(body)).format.name == name


def test_a_hint_does_not_overrule_a_certain_message():
    assert ls.load({"system": "s", "messages": [user(), call("a")]}).format.name == "openai-chat"
    assert found([user(), ITEM], hint="anthropic") == "openai-responses"


def test_a_hint_decides_where_a_message_is_only_likely():
    assert found([user(), THOUGHT], hint="anthropic") == "anthropic"
    # A picture of OpenAI's kind cannot be Anthropic's, so the hint has no say.
    assert found([user(), PICTURE], hint="anthropic") == "openai-chat"


def test_a_hint_names_no_format_that_does_not_fit():
    assert found([{"role": "developer", "content": "x"}], hint="anthropic") == "openai-chat"


def test_only_the_formats_among_those_given_are_considered():
    assert found([user()], among=[FORMATS["openai-responses"]]) == "openai-responses"
    with pytest.raises(ls.UnknownFormat):
        detect([USE], among=[FORMATS["openai-responses"]])


# --- long histories -------------------------------------------------------------------------------


def test_a_long_plain_history_is_not_settled_from_its_ends():
    form, settled = detect(plain(2 * SAMPLE + 1), look=ENDS)
    assert (form.name, settled) == ("openai-chat", False)
    assert detect(plain(2 * SAMPLE), look=ENDS) == (form, True)
    assert detect(plain(2 * SAMPLE + 1), look=ENOUGH) == (form, True)
    assert detect(plain(2 * SAMPLE + 1), look=ALL) == (form, True)


@pytest.mark.parametrize("place", [0, SAMPLE - 1, -1, -QUICK, -QUICK - 1, -SAMPLE])
def test_a_telling_message_within_the_sample_settles_it(place):
    natives = plain(3 * SAMPLE)
    natives[place] = USE
    assert detect(natives, look=ENDS) == (FORMATS["anthropic"], True)


def test_the_last_messages_settle_it_without_a_look_at_the_rest():
    class Unread(list):
        """A list that says which messages were looked at."""

        seen: set[int] = set()  # noqa: RUF012

        def __getitem__(self, at):
            self.seen.add(at)
            return super().__getitem__(at)

    natives = Unread([*plain(1000), USE, GAVE, assistant("done")])
    assert found(natives, look=ENDS) == "anthropic"
    assert max(natives.seen - {0, 1}) == 1002
    assert min(natives.seen - {0, 1}) >= 1002 - QUICK


def test_a_first_message_of_another_kind_stops_the_quick_answer():
    natives = [*plain(SHORT), USE, GAVE]
    assert found(natives, look=ENDS) == "anthropic"
    for head in (0, 1):
        spoilt = list(natives)
        spoilt[head] = call("a")
        with pytest.raises(ls.AmbiguousFormat):
            detect(spoilt, look=ENDS)


def test_a_last_message_that_no_format_reads_does_not_stop_the_quick_answer():
    natives = [*plain(SHORT), USE, GAVE, {"kind": "heartbeat"}]
    assert found(natives, look=ENDS) == "anthropic"


@pytest.mark.parametrize("unit", [{"max_messages": 150}, {"max_tokens": 4_000}, {"max_chars": 900}])
def test_a_plain_history_whose_window_shows_another_format_is_read_in_that(unit):
    natives = [*plain(2 * SAMPLE), USE, GAVE, *plain(2 * SAMPLE)]
    decision = ls.plan(natives, **unit)
    assert decision.format == "anthropic"
    kept = ls.trim(natives, **unit)
    assert ls.check(kept, profile="portable").ok
    assert (USE in kept) is (GAVE in kept)


def test_a_window_of_nothing_needs_no_second_look():
    natives = [*plain(2 * SAMPLE), USE, GAVE, *plain(2 * SAMPLE)]
    decision = ls.plan(natives, max_messages=0)
    assert (decision.format, decision.kept) == ("openai-chat", [])


def test_a_message_far_before_the_window_does_not_change_how_it_is_read():
    natives = [*plain(SAMPLE), USE, GAVE, *plain(4 * SAMPLE)]
    assert ls.plan(natives, max_messages=10).format == "openai-chat"
    assert ls.plan(natives, max_messages=10, format="anthropic").kept == (
        ls.plan(natives, max_messages=10).kept
    )


def test_a_message_of_another_format_beyond_the_window_never_ends_up_in_it():
    # No user message near the end: the newest one there is looks like a user's in Chat alone.
    rounds = [message for _ in range(50) for message in (USE, GAVE)]
    natives = [*plain(SAMPLE), *rounds, *(assistant(str(at)) for at in range(3 * SAMPLE))]
    kept = ls.trim(natives, max_messages=10, profile="anthropic")
    assert GAVE not in kept


def test_only_a_message_that_the_chosen_format_cannot_read_is_distinct():
    chat = FORMATS["openai-chat"]
    assert is_distinct(USE, chat) is FORMATS["anthropic"]
    assert is_distinct(ITEM, chat) is FORMATS["openai-responses"]
    assert is_distinct(THOUGHT, chat) is FORMATS["anthropic"]
    assert is_distinct(user(), chat) is None
    assert is_distinct(call("a"), chat) is None
    assert is_distinct({"n": 1}, chat) is None
    assert is_distinct(call("a"), FORMATS["anthropic"]) is chat
