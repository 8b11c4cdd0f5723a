"""What of a message cannot be sent, and nothing else of it: one outcome for each breach."""

import pytest

import lockstitch as ls

ASK = {"role": "user", "content": "hi"}


def repaired(messages, profile="anthropic"):
    mended = ls.repair(messages, profile=profile, format="anthropic")
    return mended.messages, [(one.kind, one.path) for one in mended.changes]


def test_a_blank_block_goes_and_the_rest_of_its_message_stays():
    blocks = [{"type": "text", "text": "a"}, {"type": "text", "text": " \n"}]
    message = {"role": "user", "content": blocks, "x_note": 1}
    messages, changes = repaired([message])
    assert messages == [{"role": "user", "content": blocks[:1], "x_note": 1}]
    assert messages[0]["content"][0] is blocks[0]
    assert changes == [("drop", "messages[0].content[1]")]


def test_an_empty_message_goes():
    messages, changes = repaired([ASK, {"role": "assistant", "content": ""}, ASK])
    assert messages == [ASK, ASK]
    assert changes == [("drop", "messages[1]")]


def test_half_a_surrogate_pair_is_replaced_wherever_it_stands():
    call = {"type": "tool_use", "id": "a", "name": "f", "input": {"q": ["x\ud83d", 1]}}
    given = {"type": "tool_result", "tool_use_id": "a", "content": "fine"}
    history = [ASK, {"role": "assistant", "content": [call]}, {"role": "user", "content": [given]}]
    messages, changes = repaired(history)
    assert messages[1]["content"][0]["input"] == {"q": ["x\ufffd", 1]}
    assert changes == [("replace", "messages[1].content[0].input.q[0]")]
    assert messages[2] is history[2]


def test_results_come_first_in_their_message():
    call = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    given = {"type": "tool_result", "tool_use_id": "a", "content": "found"}
    text = {"type": "text", "text": "and?"}
    history = [
        ASK,
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [text, given]},
    ]
    messages, changes = repaired(history)
    assert messages[2]["content"] == [given, text]
    assert changes == [("move", "messages[2].content")]


def test_thinking_gets_the_signature_of_the_record_back_or_goes():
    text = {"type": "text", "text": "x"}
    bare = {"type": "thinking", "thinking": "hm"}
    history = [ASK, {"role": "assistant", "content": [bare, text]}, ASK]
    whole = [ASK, {"role": "assistant", "content": [{**bare, "signature": "c2ln"}, text]}, ASK]
    other = [ASK, {"role": "assistant", "content": [{**bare, "thinking": "oh"}, text]}, ASK]
    for record, blocks in ((whole, whole[1]["content"]), (other, [text])):
        mended = ls.repair(history, profile="anthropic", format="anthropic", record=record)
        assert mended.messages[1]["content"] == blocks
        assert mended.ok


# --- what only an export writes anew --------------------------------------------------------------

MARK = {"cache_control": {"type": "ephemeral"}}
HIDDEN = {"type": "redacted_thinking", "data": "D"}
USE = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
MOVED = "the cache marker was moved to a block that can have one"


def text(words, **more):
    return {"type": "text", "text": words, **more}


def thought(**more):
    return {"type": "thinking", "thinking": "hm", "signature": "SIG1", **more}


def accounted(exported):
    return [
        (one.kind, one.rule, one.index, one.path, one.message, one.before, one.after)
        for one in exported.changes
    ]


@pytest.mark.parametrize(
    ("before", "after", "at"),
    [
        ([text("a"), text("b"), thought(**MARK)], [text("a"), text("b", **MARK), thought()], 2),
        # Over thinking and empty text, whether or not the next place is one further.
        (
            [text("x"), HIDDEN, thought(**MARK), text("c")],
            [text("x", **MARK), HIDDEN, thought(), text("c")],
            2,
        ),
        (
            [text("x"), thought(), {**HIDDEN, **MARK}],
            [text("x", **MARK), thought(), HIDDEN],
            2,
        ),
        (
            [text("x"), text(""), thought(**MARK)],
            [text("x", **MARK), text(""), thought()],
            2,
        ),
        # Over a block that has one already.
        (
            [text("a"), text("b", **MARK), thought(**MARK)],
            [text("a", **MARK), text("b", **MARK), thought()],
            2,
        ),
        ([USE, thought(**MARK), text("c")], [{**USE, **MARK}, thought(), text("c")], 1),
    ],
)
def test_a_marker_goes_to_the_nearest_block_before_it_that_can_have_one(before, after, at):
    history = [ASK, {"role": "assistant", "content": before}, ASK]
    exported = ls.export(history, profile="anthropic", format="anthropic")
    assert exported.messages[1]["content"] == after
    rule, path = "an-cache-control-empty-text", f"messages[1].content[{at}]"
    changed = (history[1], exported.messages[1])
    assert accounted(exported) == [("move", rule, 1, path, MOVED, *changed)]


def test_a_marker_inside_a_result_stays_inside_it():
    held = {"type": "tool_result", "tool_use_id": "a", "content": [text("r"), text("", **MARK)]}
    told = {"role": "user", "content": [text("q"), held]}
    history = [ASK, {"role": "assistant", "content": [USE]}, {**told, "content": [held]}]
    exported = ls.export(history, profile="anthropic", format="anthropic")
    assert exported.messages[2]["content"][0]["content"] == [text("r", **MARK), text("")]


def test_blocks_of_the_other_side_are_written_as_the_roles_own():
    theirs = [{"type": "output_text", "text": "x"}, {"type": "refusal", "refusal": "no"}]
    picture = {"type": "input_image", "image_url": "u"}
    ours = [{"type": "input_text", "text": "y"}, picture]
    history = [{"role": "user", "content": theirs}, {"role": "assistant", "content": ours}]
    exported = ls.export(history, profile="openai-responses", format="openai-responses")
    ask = [{"type": "input_text", "text": words} for words in ("x", "no")]
    said = [{"type": "output_text", "text": "y"}, picture]
    assert [one["content"] for one in exported.messages] == [ask, said]
    message = "the block was written as {}"
    assert [one[:5] for one in accounted(exported)] == [
        ("replace", "or-assistant-part-type", at, path, message.format(kind))
        for at, path, kind in [
            (0, "messages[0].content[0]", "input_text"),
            (1, "messages[1].content[0]", "output_text"),
            (0, "messages[0].content[1]", "input_text"),
        ]
    ]


# --- names and fields -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("get.weather", "get_weather"),
        ("...", "tool"),
        ("__A b-X__", "A_b-X"),
        ("X" * 64 + "y" * 200, "X" * 64),
        ("a." * 33, ("a_" * 33)[:64]),
    ],
)
def test_a_name_that_no_tool_can_have_is_written_as_one_that_it_can(name, written):
    given = {"type": "tool_result", "tool_use_id": "a", "content": "r"}
    history = [ASK, {"role": "assistant", "content": [{**USE, "name": name}]}]
    messages, changes = repaired([*history, {"role": "user", "content": [given]}])
    assert messages[1]["content"][0]["name"] == written
    assert changes == [("rename", "messages[1].content[0]")]


def test_content_is_written_where_the_key_is_missing():
    history = [ASK, {"role": "assistant"}, {"type": "human"}, ASK]
    mended = ls.repair(history, profile="langchain", format="openai-chat")
    assert mended.messages[1:3] == [{**history[1], "content": ""}, {**history[2], "content": ""}]
    message = "empty text was written where the content was missing"
    rule = "lc-message-coercion"
    assert accounted(mended) == [
        ("replace", rule, at, f"messages[{at}]", message, None, "") for at in (1, 2)
    ]
