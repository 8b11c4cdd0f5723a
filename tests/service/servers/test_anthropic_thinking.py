"""Signed thinking: what it is bound to, and what each mode makes of a mismatch."""

from __future__ import annotations

import copy

import pytest

from lockstitch.testing.servers import AnthropicServer, Call, Say, Think, keep_calling

anthropic = pytest.importorskip("anthropic")

MODEL = "claude-opus-5-5"
OLDER = "claude-sonnet-4-5"
TOOLS = [{"name": name, "input_schema": {"type": "object"}} for name in ("f", "g")]
BOUND = "Invalid `signature` in `thinking` block. The block is bound to a different conversation."
MODIFIED = "blocks in the latest assistant message cannot be modified."


def user(words="q"):
    return {"role": "user", "content": words}


def results(message):
    return {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": block["id"], "content": "r"}
            for block in message["content"]
            if block["type"] == "tool_use"
        ],
    }


def request(messages, **fields):
    base = {"model": MODEL, "max_tokens": 2048, "tools": TOOLS, "system": "be brief"}
    return {**base, "messages": messages, **fields}


def drive(server, turns, **fields):
    """A history of turns with thinking, made by the server, ready for the next request."""
    messages = []
    for turn in range(turns):
        messages.append(user(f"q{turn}"))
        answer = server.ask(request(messages, **fields)).json()
        messages.append({"role": "assistant", "content": answer["content"]})
    return [*messages, user("next")]


def without_thinking(message):
    kept = [block for block in message["content"] if block["type"] != "thinking"]
    return {**message, "content": kept}


@pytest.fixture
def server():
    return AnthropicServer()


def refusal(server, messages, **fields):
    assert server.ask(request(messages, **fields)).status == 400
    return server.refusals[-1].text


def test_an_untouched_history_is_accepted(server):
    messages = drive(server, 4)
    assert server.ask(request(messages)).ok
    assert not server.refusals


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_a_leading_run_of_thinking_may_be_missing(server, count):
    messages = drive(server, 4)
    for at in range(count):
        messages[2 * at + 1] = without_thinking(messages[2 * at + 1])
    assert server.ask(request(messages)).ok


def test_thinking_missing_from_the_middle_invalidates_what_follows(server):
    messages = drive(server, 4)
    messages[3] = without_thinking(messages[3])
    assert refusal(server, messages).startswith(f"messages.5.content.0: {BOUND}")


@pytest.mark.parametrize(
    "edit",
    [
        lambda body: body["messages"].pop(0),
        lambda body: body["messages"][0].update(content="other"),
        lambda body: body["messages"].insert(0, user("more")),
        lambda body: body.update(system="be long"),
        lambda body: body.update(tools=TOOLS[:1]),
        lambda body: body["messages"][1]["content"][1].update(text="other"),
    ],
)
def test_an_edit_in_front_of_kept_thinking_is_refused(server, edit):
    body = copy.deepcopy(request(drive(server, 2)))
    edit(body)
    assert server.ask(body).status == 400
    assert BOUND in server.refusals[-1].text


@pytest.mark.parametrize(
    "edit",
    [
        lambda body: body["messages"][0].update(content=[{"type": "text", "text": "q0"}]),
        lambda body: body.update(system=[{"type": "text", "text": "be brief"}]),
        lambda body: body["messages"][1]["content"][1].update(cache_control={"type": "ephemeral"}),
        lambda body: body["messages"][1]["content"][1].update(citations=None),
        lambda body: body.update(max_tokens=1, output_config={"effort": "low"}),
        lambda body: body["messages"].append(user("and more")),
    ],
)
def test_what_changes_no_content_is_no_edit(server, edit):
    body = copy.deepcopy(request(drive(server, 2)))
    edit(body)
    assert server.ask(body).ok


def test_an_older_model_takes_its_thinking_behind_another_conversation(server):
    thinking = {"type": "enabled", "budget_tokens": 1024}
    messages = drive(server, 3, model=OLDER, thinking=thinking)
    assert server.ask(request(messages[2:], model=OLDER, thinking=thinking)).ok
    named = AnthropicServer(bound_models=["claude-sonnet-4*"])
    messages = drive(named, 3, model=OLDER)
    assert BOUND in refusal(named, messages[2:], model=OLDER)


# Modes.


def test_dropped_blocks_are_listed_in_the_answer(served, closing):
    server = AnthropicServer(mode="drop")
    client = closing(anthropic.Anthropic(base_url=served(server), api_key="none", max_retries=0))
    messages = drive(server, 3)[2:]
    answer = client.beta.messages.create(**request(messages))
    assert [(one.type, one.path, one.reason) for one in answer.input_transformations] == [
        ("thinking_dropped", "messages.1.content.0", "prefix_binding_mismatch"),
        ("thinking_dropped", "messages.3.content.0", "prefix_binding_mismatch"),
    ]
    with client.beta.messages.stream(**request(messages)) as stream:
        assert len(stream.get_final_message().input_transformations) == 2
    # The block made now stands behind what the model saw: it holds from here on.
    messages += [{"role": "assistant", "content": answer.content}, user("again")]
    answer = client.beta.messages.create(**request(messages))
    assert len(answer.input_transformations) == 2
    assert {number for number, _ in server.mismatches} == {3, 4, 5}


def test_the_rest_of_a_run_of_thinking_is_dropped_with_its_first_block():
    server = AnthropicServer(script=lambda _: [Think("t"), Think("u"), Say("a")], mode="drop")
    messages = drive(server, 2)[2:]
    dropped = server.ask(request(messages)).json()["input_transformations"]
    assert [one["path"] for one in dropped] == ["messages.1.content.0", "messages.1.content.1"]


def test_recorded_mismatches_stand_on_the_server_alone():
    server = AnthropicServer(mode="record")
    reply = server.ask(request(drive(server, 2)[2:]))
    assert "input_transformations" not in reply.json()
    assert server.mismatches == [
        (
            2,
            {
                "type": "thinking_mismatch_allowed",
                "path": "messages.1.content.0",
                "reason": "prefix_binding_mismatch",
            },
        )
    ]


def test_a_request_may_ask_for_a_mode_itself(server):
    messages = drive(server, 2)[2:]
    binding = {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    reply = server.ask(request(messages, thinking={"type": "adaptive", **binding}))
    assert len(reply.json()["input_transformations"]) == 1
    lenient = AnthropicServer(mode="record")
    binding["block_binding"]["prefix_mismatch_behavior"] = "error"
    messages = drive(lenient, 2)[2:]
    assert BOUND in refusal(lenient, messages, thinking={"type": "adaptive", **binding})


# Signatures.


def test_a_signature_that_was_never_issued_is_refused(served, closing, server):
    client = closing(anthropic.Anthropic(base_url=served(server), api_key="none", max_retries=0))
    block = {"type": "thinking", "thinking": "t", "signature": "reasoning_content"}
    said = {"role": "assistant", "content": [block, {"type": "text", "text": "a"}]}
    with pytest.raises(anthropic.BadRequestError) as caught:
        client.messages.create(**request([user(), said, user()]))
    words = "messages.1.content.0: Invalid `signature` in `thinking` block"
    assert caught.value.body["error"]["message"] == words
    hidden = {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}]}
    assert refusal(server, [user(), hidden, user()]).endswith(
        "Invalid `data` in `redacted_thinking` block"
    )
    assert AnthropicServer(signatures="any").ask(request([user(), said, user()])).ok


def test_another_server_knows_none_of_it_and_another_key_signs_otherwise(server):
    messages = drive(server, 1)
    assert not AnthropicServer().ask(request(messages)).ok
    assert drive(AnthropicServer(), 1) == messages
    assert drive(AnthropicServer(key=b"other"), 1) != messages


def test_edited_thinking_is_refused_in_the_latest_turn_and_before(server):
    messages = drive(server, 2)
    for at, words in ((3, MODIFIED), (1, "Invalid `signature` in `thinking` block")):
        edited = copy.deepcopy(messages)
        edited[at]["content"][0]["thinking"] = "shortened"
        assert words in refusal(server, edited)


def test_the_latest_turn_keeps_all_of_its_thinking_or_none():
    server = AnthropicServer(
        script=lambda _: [Think("t"), Think("u", hidden=True), Say("x"), Call("f")]
    )
    messages = drive(server, 1)[:-1]
    messages.append(results(messages[1]))
    assert [block["type"] for block in messages[1]["content"]] == [
        "thinking",
        "redacted_thinking",
        "text",
        "tool_use",
    ]
    assert server.ask(request(messages)).ok
    assert b"redacted_thinking" in b"".join(server.ask(request(messages, stream=True)).chunks)
    half = copy.deepcopy(messages)
    del half[1]["content"][0]
    assert MODIFIED in refusal(server, half)
    del half[1]["content"][0]
    assert server.ask(request(half)).ok


def test_thinking_at_the_very_end_needs_thinking_switched_on(server):
    body = request([user(), {"role": "assistant", "content": []}], model=OLDER)
    block = {"type": "thinking", "thinking": "t", "signature": "-"}
    body["messages"][1]["content"] = [block, {"type": "text", "text": "a"}]
    body = server.signed(body)
    assert server.ask({**body, "thinking": {"type": "enabled"}}).ok
    assert server.ask(body).status == 400
    assert (
        "When thinking is disabled, an `assistant` message in the final" in server.refusals[0].text
    )


def test_a_made_up_history_can_be_signed(server):
    said = [
        {"type": "thinking", "thinking": "t", "signature": "-"},
        {"type": "redacted_thinking", "data": "-"},
        {"type": "text", "text": "a"},
    ]
    made = request([user(), {"role": "assistant", "content": said}] * 2 + [user()])
    before = copy.deepcopy(made)
    signed = server.signed(made)
    assert made == before
    assert server.ask(signed).ok
    del signed["messages"][0]
    assert BOUND in refusal(server, signed["messages"])


def test_a_model_told_not_to_think_does_not(server):
    answer = server.ask(request([user()], thinking={"type": "disabled"})).json()
    assert [block["type"] for block in answer["content"]] == ["text"]


# An agent of sixty turns.


def agent(client, server, *, limit=None):
    """Run until the answer; a naive window keeps the task and the last whole rounds."""
    messages = [user("the task")]
    while True:
        answer = client.messages.create(**request(messages))
        messages.append({"role": "assistant", "content": answer.to_dict()["content"]})
        if answer.stop_reason == "end_turn":
            return messages
        messages.append(results(messages[-1]))
        if limit and len(messages) > limit:
            messages = [messages[0], *messages[-limit + 1 :]]


def test_sixty_rounds_with_thinking_and_tools_are_accepted_untouched(served, closing):
    server = AnthropicServer(script=keep_calling(60))
    client = closing(anthropic.Anthropic(base_url=served(server), api_key="none", max_retries=0))
    messages = agent(client, server)
    assert (len(messages), len(server.requests), server.refusals) == (122, 61, [])


def test_a_naive_window_over_the_same_agent_is_refused(served, closing):
    server = AnthropicServer(script=keep_calling(60))
    client = closing(anthropic.Anthropic(base_url=served(server), api_key="none", max_retries=0))
    with pytest.raises(anthropic.BadRequestError, match="bound to a different conversation"):
        agent(client, server, limit=41)
    assert len(server.requests) == 22
