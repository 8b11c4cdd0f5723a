"""Holes under targets that want turns to alternate: what is bridged, what goes."""

import msgspec

import lockstitch as ls
from lockstitch.rules.profiles import PROFILES

BEDROCK = {"profile": "bedrock", "format": "bedrock"}
GEMINI = {"profile": "gemini", "format": "gemini"}


def told(words="q", *blocks):
    return {"role": "user", "content": [{"text": words}, *blocks]}


def said(words="a"):
    return {"role": "assistant", "content": [{"text": words}]}


def system():
    return {"role": "system", "content": [{"text": "s"}]}


def use(*ids):
    blocks = [{"toolUse": {"toolUseId": one, "name": "f", "input": {}}} for one in ids]
    return {"role": "assistant", "content": blocks}


def gave(*ids):
    blocks = [{"toolResult": {"toolUseId": one, "content": [{"text": "r"}]}} for one in ids]
    return {"role": "user", "content": blocks}


BIG = "x" * 500


def kept(messages, **arguments):
    return ls.plan(messages, **arguments, **BEDROCK).kept


def test_pins_far_apart_are_bridged_before_the_window():
    messages = [told(), said()] * 40 + [told()]
    assert kept(messages, max_messages=6, pins=(1, 41))[:4] == [0, 1, 2, 41]
    assert kept(messages, max_messages=6, pins=(0, 40)) == [0, 39, 40, 79, 80]


def test_a_pinned_answer_behind_tool_rounds_is_bridged_by_the_user_after_the_first():
    messages = [told(), said(), told(), use("a"), gave("a"), said(), told()]
    assert kept(messages, max_messages=5, pins=(1, 5)) == [0, 1, 2, 5, 6]


def test_what_the_input_had_side_by_side_is_no_new_breach():
    messages = [told(), said(), told(), told("again"), said(), told("last")]
    window = kept(messages, max_messages=4, pins=(0, 3))
    assert window == [0, 3, 4, 5]


def test_an_unpaired_end_keeps_the_last_word_with_the_user():
    messages = [told(), said(), said(), gave("gone")]
    assert kept(messages, max_messages=3, on_overflow="smallest")[-1] == 3


def test_system_messages_part_nobody():
    messages = [told(), system(), said(BIG), system(), told(), said(), told()]
    window = kept(messages, max_chars=250)
    sides = [messages[at]["role"] for at in window if messages[at]["role"] != "system"]
    assert sides == ["user", "assistant", "user"]


def test_rounds_before_a_hole_go_until_the_turns_alternate():
    messages = [told(), use("a"), gave("a"), use("b"), gave("b"), said(BIG), told(), said(), told()]
    assert kept(messages, max_chars=420, floor=False) == [6, 7, 8]


def test_interleaved_groups_are_looked_at_until_all_of_them_alternate():
    messages = [
        told(),
        use("a", "b"),
        gave("a"),
        said(BIG),
        gave("b"),
        said(),
        told(),
    ]
    window = [messages[at] for at in kept(messages, max_chars=420, floor=False)]
    before = {found.rule for found in ls.check(messages, **BEDROCK).violations}
    assert {found.rule for found in ls.check(window, **BEDROCK).violations} <= before


def test_other_targets_take_holes_as_they_are():
    messages = [told(), said(BIG), told(), said(), told()]
    plan = ls.plan(messages, max_chars=250, profile="portable", format="bedrock")
    assert plan.kept == [0, 2, 3, 4]
    assert kept(messages, max_chars=250) == [2, 3, 4]


def test_what_a_window_of_gemini_keeps_of_calls_behind_a_text():
    text = {"role": "model", "parts": [{"text": "a"}]}
    call = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
    result = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}
    go = {"role": "user", "parts": [{"text": "q"}]}
    messages = [go, text, go, call, result, text, go]
    assert ls.plan(messages, max_messages=6, pins=(1, 3), **GEMINI).kept == [0, 1, 2, 3, 4, 6]


def test_a_row_at_the_end_that_no_model_sees_hides_nobody():
    row = {"role": "narrator", "content": [{"text": "note"}]}
    messages = [told(), said(), told(BIG), row]
    assert kept(messages, max_chars=250, floor=False) == [0, 3]


def test_a_pinned_call_of_gemini_keeps_the_newest_user_message():
    go = {"role": "user", "parts": [{"text": "q"}]}
    text = {"role": "model", "parts": [{"text": "a"}]}
    messages = [go, text, go, text, {"role": "user", "parts": [{"text": BIG}]}, text]
    limits = {"max_chars": 300, "floor": False, "on_overflow": "smallest"}
    assert ls.plan(messages, pins=(1,), **limits, **GEMINI).kept == [0, 1, 4]
    assert ls.plan(messages, **limits, **GEMINI).kept == []


def test_a_list_that_nobody_of_the_conversation_speaks_in_is_cut_as_any_other():
    rows = [{"role": "narrator", "content": [{"text": "note"}]} for _ in range(5)]
    assert len(kept(rows, max_messages=2, floor=False)) <= 2
    natives = [{"role": "system", "parts": [{"text": "s"}]}] * 5
    assert len(ls.plan(natives, max_messages=2, floor=False, **GEMINI).kept) <= 2


def test_the_last_word_is_looked_for_behind_all_that_the_model_said():
    messages = [told(), said(), said(BIG), told(BIG)]
    limits = {"max_chars": 150, "floor": False, "on_overflow": "smallest"}
    assert kept(messages, pins=(1,), **limits) == [0, 1, 3]


def test_neighbours_that_only_instructions_part_stay_neighbours():
    big = {"role": "system", "content": [{"text": BIG}]}
    messages = [told(), big, told(), said(), told()]
    assert kept(messages, max_chars=250, floor=False) == [0, 2, 3, 4]


def test_the_rounds_of_a_turn_go_with_it_where_rounds_are_no_turns():
    def spoken(role, words):
        return {"role": role, "content": words}

    function = {"name": "f", "arguments": "{}"}
    call = {"role": "assistant", "tool_calls": [{"id": "c", "function": function}]}
    rounds = [call, {"role": "tool", "tool_call_id": "c", "content": "r"}]
    turn = [spoken("user", "q"), spoken("assistant", "a")]
    cut = [spoken("user", "q"), *rounds, spoken("assistant", BIG)]
    options = {"profile": "chat-template", "format": "openai-chat"}
    plan = ls.plan([*turn, *cut, *turn, turn[0]], max_chars=420, **options)
    assert plan.kept == [0, 1, 6, 7, 8]


def test_turns_of_the_model_that_no_user_parted_stay_beside_each_other():
    call = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
    text, big = ({"role": "model", "parts": [{"text": words}]} for words in ("a", BIG))
    limits = {"max_chars": 50, "on_overflow": "smallest"}
    assert ls.plan([call, big, text], pins=(0, 2), **limits, **GEMINI).kept == [0, 1, 2]


def test_a_target_that_parts_turns_may_let_the_model_have_the_last_word(monkeypatch):
    lenient = msgspec.structs.replace(PROFILES["bedrock"], name="lenient", end="any")
    monkeypatch.setitem(PROFILES, "lenient", lenient)
    messages = [told(), said(BIG), told(), said(), told(BIG)]
    limits = {"max_chars": 250, "format": "bedrock", "floor": False}
    assert ls.plan(messages, profile="lenient", **limits).kept == [2, 3]
    assert ls.plan(messages, profile="bedrock", **limits).kept == [2]
