"""What of a message cannot be sent, and nothing else of it: one outcome for each breach."""

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
