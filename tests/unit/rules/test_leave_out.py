"""What a caller wants left out goes; what stands beside it, and what must be handed back, stays."""

import copy

import pytest

import lockstitch as ls
from lockstitch.testing.render import SHAPES, render
from lockstitch.testing.steps import Calls, Result, Say, User
from lockstitch.writing import text_of, writer_for

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 400}}


def user(*blocks):
    return {"role": "user", "content": list(blocks) if len(blocks) > 1 else blocks[0]}


def test_reasoning_goes_from_the_messages_it_stands_in():
    history = [
        user("q"),
        {"role": "assistant", "content": "a", "reasoning_content": "hm"},
        {"role": "assistant", "reasoning_content": "alone"},
        user("n"),
    ]
    before = copy.deepcopy(history)
    mended = ls.repair(history, profile="openai-chat", drop_reasoning=True)
    assert mended.messages == [user("q"), {"role": "assistant", "content": "a"}, user("n")]
    assert [(one.kind, one.rule, one.path, one.before, one.after) for one in mended.changes] == [
        ("drop", "", "messages[1]", before[1], {"role": "assistant", "content": "a"}),
        ("drop", "", "messages[2]", before[2], None),
    ]
    assert {one.message for one in mended.changes} == {"the reasoning was left out"}
    assert history == before
    assert not ls.repair(mended.messages, profile="openai-chat", drop_reasoning=True).changes


def test_an_item_of_reasoning_goes_and_what_it_was_bound_to_stays():
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAAB"}
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c", "output": "r"}
    history = [user("q"), thought, call, output]
    mended = ls.repair(history, profile="openai-responses", drop_reasoning=True)
    assert mended.messages == [user("q"), call, output]


def test_a_thinking_block_goes_and_its_neighbours_stay():
    text = {"type": "text", "text": "a"}
    thinking = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    history = [user("q"), {"role": "assistant", "content": [thinking, text]}, user("n")]
    mended = ls.repair(history, profile="anthropic", drop_reasoning=True)
    assert mended.messages[1] == {"role": "assistant", "content": [text]}


def test_the_signature_of_a_thought_outlives_its_words():
    thought = {"text": "planning", "thought": True, "thoughtSignature": "c2lnQg=="}
    call = {"functionCall": {"name": "f", "args": {}, "id": "g1"}}
    response = {"functionResponse": {"name": "f", "response": {"result": "ok"}, "id": "g1"}}
    plain = {"text": "aloud", "thought": True}
    history = [
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": [thought, plain, call]},
        {"role": "user", "parts": [response]},
    ]
    mended = ls.repair(history, profile="gemini", drop_reasoning=True)
    assert mended.ok
    assert mended.messages[1]["parts"] == [{**thought, "text": ""}, call]
    assert not ls.repair(mended.messages, profile="gemini", drop_reasoning=True).changes


def test_a_large_image_gives_way_to_a_word_and_the_text_beside_it_stays():
    said = {"type": "text", "text": "Please summarize this chart"}
    history = [user(said, IMAGE), {"role": "assistant", "content": "Sales rise."}, user("n")]
    mended = ls.repair(history, profile="openai-chat", max_part_chars=200)
    word = {"type": "text", "text": "[image of 422 characters, left out]"}
    assert mended.messages == [user(said, word), *history[1:]]
    assert mended.messages[1] is history[1]
    (change,) = mended.changes
    said = (change.kind, change.rule, change.path, change.before, change.after)
    assert said == ("drop", "", "messages[0].content[1]", IMAGE, word)
    assert change.message == "the image was left out: it has more than 200 characters"
    assert not ls.repair(history, profile="openai-chat", max_part_chars=422).changes


DATA = "A" * 400
SHOWN = {
    "anthropic": {"type": "image", "source": {"type": "base64", "data": DATA}},
    "bedrock": {"image": {"format": "png", "source": {"bytes": DATA}}},
    "langchain": {"type": "image", "base64": DATA},
    "mistral": {"type": "image_url", "image_url": f"data:image/png;base64,{DATA}"},
    "openai-chat": IMAGE,
    "openai-responses": {"type": "input_image", "image_url": f"data:image/png;base64,{DATA}"},
}


@pytest.mark.parametrize("format", SHOWN)
def test_a_large_image_in_a_result_goes_and_the_result_stays(format):
    steps = [User("q"), Calls.of("call00001"), Result("call00001", "found"), Say("a"), User("n")]
    shape = SHAPES[format][0]
    history = render(steps, format, shape)
    writer = writer_for(format)
    found = ls.load(history, format=format)
    (part,) = found.message(2).parts
    text = writer.content_blocks(part.content)[0]
    history[2] = writer.result(history[2], part, [text, SHOWN[format]])
    mended = ls.repair(history, format=format, max_part_chars=200)
    (result,) = ls.load(mended.messages, format=format).message(2).parts
    kept, word = result.content
    assert kept == text
    assert "left out]" in text_of([word])
    (change,) = mended.changes
    said = (change.kind, change.rule, change.before, change.after)
    assert said == ("drop", "", SHOWN[format], word)
    assert change.path.startswith(f"{found.path}[2]")
    assert change.message == "the image was left out: it has more than 200 characters"
    assert not ls.repair(mended.messages, format=format, max_part_chars=200).changes
    assert not ls.repair(history, format=format, max_part_chars=900).changes


@pytest.mark.parametrize("beside", [[], [{"inlineData": {"mimeType": "image/png", "data": "A"}}]])
def test_media_beside_a_response_of_gemini_go_without_a_word(beside):
    large = {"inlineData": {"mimeType": "image/png", "data": DATA}}
    response = {"name": "f", "response": {"ok": 1}}
    ran = [{"executableCode": {"code": "1"}}, {"codeExecutionResult": {"outcome": "OUTCOME_OK"}}]
    history = [
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {**response, "parts": [large, *beside]}}]},
        {"role": "model", "parts": ran},
        {"role": "user", "parts": [{"text": "n"}]},
    ]
    mended = ls.repair(history, profile="gemini", format="gemini", max_part_chars=200)
    left = {**response, "parts": beside} if beside else response
    assert mended.messages[2] == {"role": "user", "parts": [{"functionResponse": left}]}
    (change,) = mended.changes
    assert (change.before, change.after) == (large, None)


@pytest.mark.parametrize("size", [True, 1.5, "200"])
def test_a_size_is_an_integer(size):
    with pytest.raises(TypeError, match="max_part_chars must be an integer or None"):
        ls.repair([user("q")], max_part_chars=size)


def test_a_size_is_not_negative():
    with pytest.raises(ValueError, match="max_part_chars must not be negative"):
        ls.repair([user("q")], max_part_chars=-1)
