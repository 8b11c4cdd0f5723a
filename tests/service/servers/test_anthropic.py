"""The Anthropic SDK against the strict Messages server: histories, tools, streams."""

from __future__ import annotations

import pytest

from lockstitch.testing.servers import AnthropicServer, call_every_tool

anthropic = pytest.importorskip("anthropic")

# The SDK warns of the end of the models that still take a prefill; they are what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")

MODEL = "claude-sonnet-4-5"
NEWER = "claude-opus-4-8"
TOOLS = [{"name": name, "input_schema": {"type": "object"}} for name in ("f", "g")]
USER = {"role": "user", "content": "q"}
ANSWER = {"role": "assistant", "content": "a"}
THINKING = {"type": "enabled", "budget_tokens": 1024}


def text(words):
    return {"type": "text", "text": words}


def used(*ids, before=()):
    blocks = [{"type": "tool_use", "id": one, "name": "f", "input": {}} for one in ids]
    return {"role": "assistant", "content": [*before, *blocks]}


def result(*ids, after=(), **fields):
    blocks = [{"type": "tool_result", "tool_use_id": one, "content": "r", **fields} for one in ids]
    return {"role": "user", "content": [*blocks, *after]}


def hosted(name="srv_1"):
    return {"type": "server_tool_use", "id": name, "name": "web_search", "input": {}}


def found(name="srv_1"):
    return {"type": "web_search_tool_result", "tool_use_id": name, "content": []}


def wrote(*blocks):
    return {"role": "assistant", "content": list(blocks)}


@pytest.fixture
def client(served, closing):
    server = AnthropicServer(script=call_every_tool("All done."))
    return closing(anthropic.Anthropic(base_url=served(server), api_key="none", max_retries=0))


def create(client, messages, **fields):
    base = {"model": MODEL, "max_tokens": 2048, "tools": TOOLS}
    return client.messages.create(messages=messages, **{**base, **fields})


def refused(messages, **fields):
    server = AnthropicServer()
    base = {"model": MODEL, "max_tokens": 2048, "tools": TOOLS}
    assert not server.ask({**base, "messages": messages, **fields}).ok
    return server.refusals[0].text


def test_an_agent_thinks_calls_both_tools_and_gets_its_answer(client):
    messages = [USER]
    for _ in range(2):
        answer = create(client, messages, thinking=THINKING)
        assert [block.type for block in answer.content] == ["thinking", "tool_use"]
        assert answer.stop_reason == "tool_use"
        messages += [{"role": "assistant", "content": answer.content}, result(answer.content[1].id)]
    answer = create(client, messages, thinking=THINKING)
    assert answer.content[-1].text == "All done."
    assert answer.usage.input_tokens > 0


def test_the_same_agent_streams(client):
    with client.messages.stream(
        model=MODEL, max_tokens=2048, tools=TOOLS, messages=[USER], thinking=THINKING
    ) as stream:
        answer = stream.get_final_message()
    assert [block.type for block in answer.content] == ["thinking", "tool_use"]
    messages = [
        USER,
        {"role": "assistant", "content": answer.content},
        result(answer.content[1].id),
    ]
    # It replays what the stream gave it, signature and all.
    assert create(client, messages, thinking=THINKING).content[-1].name == "g"
    with client.messages.stream(model=MODEL, max_tokens=9, messages=[USER]) as stream:
        assert "".join(stream.text_stream) == "All done."


def test_tokens_are_counted_and_the_same_rules_hold(client):
    counted = client.messages.count_tokens(model=MODEL, messages=[USER])
    assert counted.input_tokens > 0
    with pytest.raises(anthropic.BadRequestError, match="must define tools"):
        client.messages.count_tokens(model=MODEL, messages=[USER, used("t1"), result("t1")])


MISSING = "`tool_use` ids were found without `tool_result` blocks immediately after: t1"
BROKEN = {
    "a use without a result": ([USER, used("t1"), USER], f"messages.1: {MISSING}"),
    "an open use at the end": ([USER, used("t1")], f"messages.1: {MISSING}"),
    "a batch answered in part": ([USER, used("t0", "t1"), result("t0")], f"messages.1: {MISSING}"),
    "a late result": ([USER, used("t1"), USER, ANSWER, result("t1")], f"messages.1: {MISSING}"),
    "a result without a use": (
        [result("t1"), ANSWER, USER],
        "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t1.",
    ),
    "a result twice": (
        [USER, used("t1"), result("t1", "t1")],
        "messages.2.content.1: each tool_use must have a single result.",
    ),
    "a user message in between": (
        [USER, used("t1"), USER, result("t1")],
        "Did not find 1 `tool_result` block(s) at the beginning of this message.",
    ),
    "an id twice in a turn": (
        [USER, used("t1"), used("t1"), result("t1")],
        "messages.2.content.0: `tool_use` ids must be unique",
    ),
    "an id of another provider": (
        [USER, used("functions.f:0"), result("functions.f:0")],
        "String should match pattern '^[a-zA-Z0-9_-]+$'",
    ),
    "a use of the user": (
        [{"role": "user", "content": used("t1")["content"]}],
        "`tool_use` blocks can only be in `assistant` messages",
    ),
    "a result of the assistant": (
        [{"role": "assistant", "content": result("t1")["content"]}],
        "`tool_result` blocks can only be in `user` messages",
    ),
    "empty content": (
        [USER, {"role": "assistant", "content": ""}, USER],
        "messages.1: all messages must have non-empty content except for the optional final",
    ),
    "empty text": (
        [USER, used("t1", before=[text("")]), result("t1")],
        "messages: text content blocks must be non-empty",
    ),
    "blank text": (
        [{"role": "user", "content": " "}],
        "messages: text content blocks must contain non-whitespace text",
    ),
    "a cache mark on empty text": (
        [{"role": "user", "content": [{**text(""), "cache_control": {"type": "ephemeral"}}]}],
        "cache_control cannot be set for empty text blocks",
    ),
    "five cache marks": (
        [
            {
                "role": "user",
                "content": [{**text("x"), "cache_control": {"type": "ephemeral"}}] * 5,
            }
        ],
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    "an error without content": (
        [USER, used("t1"), result("t1", content="", is_error=True)],
        "content cannot be empty if `is_error` is true",
    ),
    "a hosted result without its use": (
        [USER, wrote(found(), text("a")), USER],
        "messages.1.content.0: unexpected `tool_use_id` found in `web_search_tool_result` blocks",
    ),
    "a hosted use without its result": (
        [USER, wrote(hosted(), text("a")), USER],
        "`web_search` tool use with id `srv_1` was found without a corresponding",
    ),
    "an empty compaction": (
        [wrote({"type": "compaction", "content": ""}), USER],
        "compaction content must be non-empty",
    ),
    "a blank at the end of a prefill": (
        [USER, {"role": "assistant", "content": "a "}],
        "messages: final assistant content cannot end with trailing whitespace",
    ),
    "a system message, to an older model": (
        [{"role": "system", "content": "s"}, USER],
        'messages: Unexpected role "system". The Messages API accepts a top-level `system`',
    ),
    "an unknown role": ([{"role": "tool", "content": "r"}], 'messages: Unexpected role "tool".'),
    "no messages": ([], "messages: at least one message is required"),
}


@pytest.mark.parametrize(("messages", "words"), BROKEN.values(), ids=BROKEN)
def test_a_broken_history_is_refused_with_anthropics_words(client, messages, words):
    with pytest.raises(anthropic.BadRequestError) as caught:
        create(client, messages)
    assert words in caught.value.body["error"]["message"]
    assert caught.value.body["error"]["type"] == "invalid_request_error"
    assert caught.value.request_id.startswith("req_")


def test_tool_blocks_need_tools(client):
    with pytest.raises(anthropic.BadRequestError, match="must define tools"):
        create(client, [USER, used("t1"), result("t1")], tools=[])


@pytest.mark.parametrize(
    "messages",
    [
        [USER, used("t1"), used("t2"), result("t1"), result("t2")],
        [USER, used("t1"), result("t1"), used("t1"), result("t1")],
        [USER, used("t1"), result("t1", after=[text("and this")])],
        [ANSWER, USER],
        [USER, USER],
        [USER, wrote(hosted(), found(), text(""), text("a")), USER],
        [USER, wrote(hosted())],
        [USER, wrote(hosted(), used("t1")["content"][0]), result("t1"), wrote(found()), USER],
        [USER, ANSWER],
        [USER, {"role": "assistant", "content": ""}],
    ],
)
def test_what_is_known_to_be_answered_is_answered(client, messages):
    assert create(client, messages).stop_reason in {"end_turn", "tool_use"}


@pytest.mark.parametrize("model", ["claude-sonnet-4-6", "claude-opus-5-5", "claude-fable-5-1"])
def test_a_newer_model_refuses_a_prefill(client, model):
    with pytest.raises(
        anthropic.BadRequestError, match="does not support assistant message prefill"
    ):
        create(client, [USER, ANSWER], model=model)


SYSTEM = {"role": "system", "content": "s"}


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([SYSTEM, USER], "messages.0: use the top-level 'system' parameter"),
        ([USER, ANSWER, SYSTEM, USER], "messages.2: a system message must follow a user turn"),
        ([USER, SYSTEM, SYSTEM], "messages.1: a system message must be last or be followed by"),
        ([USER, SYSTEM, USER], "messages.1: a system message must be last or be followed by"),
        ([USER, used("t1"), SYSTEM, result("t1")], "messages.2: a system message must follow"),
    ],
)
def test_a_system_message_has_its_place(messages, words):
    assert words in refused(messages, model=NEWER)


@pytest.mark.parametrize(
    "messages",
    [
        [USER, SYSTEM],
        [USER, used("t1"), result("t1"), SYSTEM],
        [USER, wrote(hosted(), found()), SYSTEM],
        [{"role": "system", "content": [], "output_config": {"effort": "low"}}, USER],
    ],
)
def test_a_system_message_in_its_place_is_taken(client, messages):
    assert create(client, messages, model=NEWER).id


def test_manual_thinking_must_lead_the_turn_before_the_results():
    words = refused([USER, used("t1"), result("t1")], thinking=THINKING)
    assert words.startswith(
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
    )


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"model": None, "messages": [USER]}, "model: Field required"),
        ({"max_tokens": None, "messages": [USER]}, "max_tokens: Field required"),
        ({"messages": "q"}, "messages: Input should be a valid list"),
        ({"messages": ["q"]}, "messages.0: Input should be an object"),
        ({"messages": [{"role": "user"}]}, "messages.0.content: Field required"),
        ({"messages": [{"role": "user", "content": 1}]}, "Input should be a valid list"),
        ({"messages": [wrote({"text": "a"})]}, "messages.0.content.0.type: Field required"),
        ({"messages": [wrote({"type": "text"})]}, "messages.0.content.0.text.text: Field required"),
        (
            {"messages": [USER, wrote({"type": "thinking", "thinking": "t"}), USER]},
            "messages.1.content.0.thinking.signature: Field required",
        ),
        ({"messages": [USER] * 100_001}, "There is a limit of 100,000 messages"),
    ],
)
def test_a_malformed_body_is_refused(body, words):
    server = AnthropicServer()
    assert server.ask({"model": MODEL, "max_tokens": 9, **body}).status == 400
    assert words in server.refusals[0].text


def test_another_path_is_not_there():
    reply = AnthropicServer().ask({}, path="/v1/complete")
    assert (reply.status, reply.json()["error"]["type"]) == (404, "not_found_error")
