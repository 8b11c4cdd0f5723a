"""The OpenAI SDK against the strict Responses server."""

from __future__ import annotations

import copy

import pytest

from lockstitch.testing.servers import (
    Call,
    OpenAIResponsesServer,
    Say,
    Think,
    call_every_tool,
    keep_calling,
)

openai = pytest.importorskip("openai")

MODEL = "gpt-5"
PLAIN = "gpt-4o"
TOOLS = [
    {"type": "function", "name": name, "parameters": {"type": "object"}, "strict": False}
    for name in ("f", "g")
]
USER = {"role": "user", "content": "q"}
ENCRYPTED = ["reasoning.encrypted_content"]


def call(name="c1", kind="function_call", **fields):
    return {"type": kind, "call_id": name, "name": "f", "arguments": "{}", **fields}


def output(name="c1", kind="function_call_output"):
    return {"type": kind, "call_id": name, "output": "r"}


def message(text="a", **fields):
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "role": "assistant", "content": [part], **fields}


@pytest.fixture
def server():
    return OpenAIResponsesServer(script=call_every_tool("All done."))


@pytest.fixture
def client(server, served, closing):
    made = openai.OpenAI(base_url=served(server) + "/v1", api_key="none", max_retries=0)
    return closing(made)


def answers(response):
    return [output(item.call_id) for item in response.output if item.type == "function_call"]


def refused(server, given, **fields):
    reply = server.ask({"model": MODEL, "input": given, **fields})
    assert not reply.ok
    return server.refusals[-1].text


# Driven by the SDK: stored, chained, and stateless.


def test_an_agent_replays_its_items_and_gets_its_answer(client):
    items = [USER]
    for _ in range(2):
        answer = client.responses.create(model=MODEL, input=items, tools=TOOLS)
        assert [item.type for item in answer.output] == ["reasoning", "function_call"]
        items += [*answer.output, *answers(answer)]
    answer = client.responses.create(model=MODEL, input=items, tools=TOOLS)
    assert answer.output_text == "All done."


def test_an_agent_goes_on_from_the_response_before(client):
    answer = client.responses.create(model=MODEL, input="q", tools=TOOLS)
    for _ in range(2):
        answer = client.responses.create(
            model=MODEL, input=answers(answer), tools=TOOLS, previous_response_id=answer.id
        )
    assert answer.output_text == "All done."


def test_an_agent_without_the_servers_store_sends_sealed_reasoning_back(client):
    items = [USER]
    for _ in range(3):
        answer = client.responses.create(
            model=MODEL, input=items, tools=TOOLS, store=False, include=ENCRYPTED
        )
        items += [item.to_dict() for item in answer.output] + answers(answer)
    assert answer.output_text == "All done."
    for item in items:  # the form that the Codex CLI stores: no item ids
        item.pop("id", None)
    items.append(USER)
    assert client.responses.create(model=MODEL, input=items, store=False).output_text


def test_the_same_agent_streams(client):
    with client.responses.stream(model=MODEL, input="q", tools=TOOLS) as stream:
        kinds = [event.type for event in stream]
        answer = stream.get_final_response()
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert "response.function_call_arguments.delta" in kinds
    assert "response.reasoning_summary_text.delta" in kinds
    with client.responses.stream(
        model=MODEL, input=[*answers(answer), USER], previous_response_id=answer.id
    ) as stream:
        deltas = [event.delta for event in stream if event.type == "response.output_text.delta"]
    assert "".join(deltas) == "All done."


# What a list alone shows.

BROKEN = {
    "an output without its call": (
        [USER, output()],
        "No tool call found for function call output with call_id c1.",
    ),
    "an output twice": ([USER, call(), output(), output()], "No tool call found for function call"),
    "an output before its call": ([USER, output(), call()], "No tool call found for function call"),
    "a call without an output": (
        [USER, call(), USER],
        "No tool output found for function call c1.",
    ),
    "a batch answered in part": (
        [USER, call(), call("c2"), output()],
        "No tool output found for function call c2.",
    ),
    "a custom call without an output": (
        [USER, {"type": "custom_tool_call", "call_id": "c1", "name": "g", "input": "x"}],
        "No tool output found for custom tool call c1.",
    ),
    "a computer call without a screenshot": (
        [USER, {"type": "computer_call", "call_id": "c1", "id": "cu_1", "action": {}}],
        "No tool output found for computer call c1.",
    ),
    "an id of another type": (
        [USER, message(id="item_1"), USER],
        "Invalid 'input[1].id': 'item_1'. Expected an ID that begins with 'msg'.",
    ),
    "an empty id": ([USER, call(id=""), output()], "contains letters, numbers, underscores"),
    "a long call id": ([USER, call("c" * 65), output("c" * 65)], "Invalid 'input[1].call_id'"),
    "a long id": ([USER, message(id="msg_" + "x" * 61)], "Invalid 'input[1].id': string too long."),
    "an item twice": (
        [USER, message(id="msg_1"), USER, message(id="msg_1")],
        "Duplicate item found with id msg_1.",
    ),
    "reasoning without a summary": (
        [USER, {"type": "reasoning", "id": "rs_1"}, message(id="msg_1")],
        "Missing required parameter: 'input[1].summary'.",
    ),
    "input text of the assistant": (
        [{**message(), "content": [{"type": "input_text", "text": "a"}]}],
        "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
    ),
    "output text of the user": (
        [{"role": "user", "content": [{"type": "output_text", "text": "a"}]}],
        "Supported values are: 'input_text'",
    ),
    "an output without an id": (
        [USER, {"type": "function_call_output", "output": "r"}],
        "Missing required parameter: 'input[1].call_id'.",
    ),
    "an approval of nothing": (
        [USER, {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}],
        "No approval request found with id 'mcpr_1'",
    ),
    "a trigger in the middle": (
        [USER, {"type": "compaction_trigger"}, USER],
        "'compaction_trigger' must be the final input item.",
    ),
    "an empty compaction": (
        [{"type": "compaction", "encrypted_content": ""}, USER],
        "Missing required parameter: 'input[0].encrypted_content'.",
    ),
    "sealed content made elsewhere": (
        [{"type": "compaction", "encrypted_content": "gAAAelse"}, USER],
        "The encrypted content gAAA...else could not be verified.",
    ),
    "an unknown role": ([{"role": "tool", "content": "r"}], "Invalid value: 'tool'."),
    "content of a strange type": ([{"role": "user", "content": 1}], "Invalid type for 'input[0]"),
    "items that are no objects": (["q"], "Invalid type for 'input'"),
    "no input": (None, "Missing required parameter: 'input'."),
}


@pytest.mark.parametrize(("given", "text"), BROKEN.values(), ids=BROKEN)
def test_a_broken_history_is_refused_with_openais_words(client, given, text):
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(model=MODEL, input=given)
    assert text in str(caught.value)
    assert caught.value.type == "invalid_request_error"


@pytest.mark.parametrize(
    "given",
    [
        [USER, call(), output(), call(), output(), USER],
        [USER, call(), USER, output()],
        [USER, {"type": "local_shell_call", "id": "lsh_1", "call_id": "c1", "action": {}},
         {"type": "local_shell_call_output", "id": "lsh_1", "output": "r"}],
        [USER, {"type": "tool_search_call", "call_id": "c1", "execution": "client"}, output()],
        [USER, {"type": "tool_search_call", "call_id": "t1", "execution": "server"}, USER],
        [USER, {"type": "mcp_approval_request", "id": "mcpr_1", "name": "f"},
         {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}],
    ],
)  # fmt: skip
def test_what_is_known_to_be_answered_is_answered(client, given):
    assert client.responses.create(model=PLAIN, input=given).output_text == "All done."


def test_a_stricter_endpoint_takes_no_message_between_call_and_output():
    given = [USER, call(), USER, output()]
    text = refused(OpenAIResponsesServer(adjacent=True), given)
    assert text == "No tool output found for function call c1."


# What the server holds.


@pytest.fixture
def issued(server):
    """The items of one answer: reasoning and two calls, issued by the server and stored."""
    server.script = lambda _: [Think("t"), Call("f"), Call("g")]
    return server.ask({"model": MODEL, "input": "q", "tools": TOOLS}).json()


def outputs(items):
    return [output(item["call_id"]) for item in items if item["type"] == "function_call"]


def test_an_issued_call_needs_the_reasoning_it_was_made_with(server, issued):
    _, first, second = items = issued["output"]
    text = refused(server, [USER, first, second, *outputs(items)])
    assert text == (
        f"Item '{first['id']}' of type 'function_call' was provided without its required "
        f"'reasoning' item: '{items[0]['id']}'."
    )
    server.script = call_every_tool()
    loose = [{key: item[key] for key in item if key != "id"} for item in (first, second)]
    assert server.ask({"model": MODEL, "input": [USER, *loose, *outputs(items)]}).ok


def test_issued_reasoning_needs_the_item_it_led_to(server, issued):
    reasoning, first, second = items = issued["output"]
    required = f"Item '{reasoning['id']}' of type 'reasoning' was provided without its required"
    rebuilt = {key: first[key] for key in first if key != "id"}
    for given in (
        [USER, reasoning, USER],
        [USER, reasoning],
        [USER, reasoning, rebuilt, second, *outputs(items)],
        [USER, reasoning, second, first, *outputs(items)],
    ):
        assert refused(server, given).startswith(required)


def test_reasoning_that_is_not_stored_is_not_found(server):
    bare = {"type": "reasoning", "id": "rs_1", "summary": []}
    given = [USER, bare, message(id="msg_1"), USER]
    assert refused(server, given) == "Item with id 'rs_1' not found."
    assert "Items are not persisted when `store` is set to false." in refused(
        server, given, store=False
    )
    assert server.refusals[-1].status == 404
    lenient = OpenAIResponsesServer(strangers="accept")
    assert lenient.ask({"model": MODEL, "input": given}).ok
    assert not lenient.ask({"model": MODEL, "input": given, "store": False}).ok


def test_a_reference_is_resolved_from_the_store_alone(client, server, issued):
    names = [item["id"] for item in issued["output"]]
    given = [USER, *({"type": "item_reference", "id": name} for name in names)]
    server.script = call_every_tool("All done.")
    given += outputs(issued["output"])
    assert client.responses.create(model=MODEL, input=given).output_text == "All done."
    with pytest.raises(openai.NotFoundError, match="Item with id 'msg_9' not found"):
        client.responses.create(
            model=MODEL, input=[{"type": "item_reference", "id": "msg_9"}, USER], store=False
        )


def test_an_open_call_in_the_chain_must_be_answered(server, issued):
    chained = {"previous_response_id": issued["id"]}
    first, second = outputs(issued["output"])
    assert refused(server, [USER], **chained) == (
        f"No tool output found for function call {first['call_id']}."
    )
    assert second["call_id"] in refused(server, [first], **chained)
    server.script = call_every_tool()
    assert server.ask({"model": MODEL, "input": [first, second], **chained}).ok


def test_an_item_of_the_chain_sent_again_is_a_duplicate(server, issued):
    given = [*issued["output"], *outputs(issued["output"])]
    text = refused(server, given, previous_response_id=issued["id"])
    assert text.startswith(f"Duplicate item found with id {issued['output'][0]['id']}.")
    reference = {"type": "item_reference", "id": issued["output"][0]["id"]}
    text = refused(server, [reference], previous_response_id=issued["id"])
    assert text.startswith("Duplicate item found")


def test_an_unknown_response_is_not_gone_on_from(client):
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(model=MODEL, input=[output()], previous_response_id="resp_9")
    assert caught.value.code == "previous_response_not_found"
    lenient = OpenAIResponsesServer(strangers="accept")
    for held in ({"previous_response_id": "resp_9"}, {"conversation": {"id": "conv_9"}}):
        assert lenient.ask({"model": MODEL, "input": [output()], **held}).ok


def test_an_answer_that_was_not_stored_is_not_gone_on_from(server):
    answer = server.ask({"model": MODEL, "input": "q", "store": False}).json()
    assert "not found" in refused(server, [USER], previous_response_id=answer["id"])


def test_sealed_reasoning_must_come_back_as_it_was(server):
    body = {"model": MODEL, "input": "q", "store": False, "include": ENCRYPTED}
    reasoning, said = server.ask(body).json()["output"]
    assert server.ask({**body, "input": [USER, reasoning, said, USER]}).ok
    cut = {**reasoning, "encrypted_content": reasoning["encrypted_content"][:-1]}
    other = {**reasoning, "id": "rs_9"}
    for broken in (cut, other):
        assert "could not be verified" in refused(server, [USER, broken, said, USER], store=False)
        error = server.ask({**body, "input": [USER, broken, said, USER]}).json()["error"]
        assert error["code"] == "invalid_encrypted_content"
    moved = [USER, reasoning, {**said, "id": "msg_9"}, USER]
    assert "required following item" in refused(server, moved, store=False)


def test_a_call_may_come_back_under_an_item_id_of_the_clients_own_where_nothing_is_stored(server):
    body = {"model": MODEL, "store": False, "include": ENCRYPTED}
    sealed = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E"}
    server.adopt([USER, sealed, call(id="fc_1"), output()])
    own = [USER, sealed, call(id="fc_own"), output()]
    assert server.ask({**body, "input": own}).ok
    assert "required following item" in refused(server, own)


def test_a_made_up_history_can_be_adopted(server):
    bare = {"type": "reasoning", "id": "rs_1", "summary": []}
    sealed = {**bare, "id": "rs_2", "encrypted_content": "E"}
    compaction = {"type": "compaction", "id": "cmp_1", "encrypted_content": "C"}
    items = [compaction, USER, bare, call(id="fc_1"), output(), sealed, message(id="msg_1"), USER]
    server.adopt(items)
    assert server.ask({"model": MODEL, "input": items}).ok
    del items[2]
    assert "'fc_1' of type 'function_call' was provided without" in refused(server, items)


def test_a_broken_history_leaves_the_given_items_alone(server, issued):
    given = [USER, *issued["output"], *outputs(issued["output"])]
    before = copy.deepcopy(given)
    server.script = call_every_tool()
    server.ask({"model": MODEL, "input": given})
    assert given == before


# Compaction.


def test_compaction_on_request_keeps_the_user_messages_and_seals_the_rest(client, server):
    given = [USER, message(), {**USER, "content": [{"type": "input_text", "text": "q"}]}]
    compacted = client.responses.compact(model=MODEL, input=given)
    assert [item.type for item in compacted.output] == ["message", "message", "compaction"]
    body = {"model": MODEL, "input": given}
    items = server.ask(body, path="/v1/responses/compact").json()["output"]
    assert items[0] == items[1]
    assert client.responses.create(model=PLAIN, input=[*items, USER]).output_text == "All done."


def test_a_trigger_at_the_end_is_answered_with_a_compaction(server):
    body = {"model": MODEL, "input": [USER, message(), USER, {"type": "compaction_trigger"}]}
    (item,) = server.ask(body).json()["output"]
    assert item["id"].startswith("cmp_")
    assert server.ask({"model": PLAIN, "input": [item, USER]}).ok
    assert not server.ask({"model": PLAIN, "input": [{**item, "encrypted_content": "x"}]}).ok
    streamed = server.ask({**body, "stream": True})
    assert b"response.output_item.done" in b"".join(streamed.chunks)


@pytest.mark.parametrize(("limit", "kinds"), [(1, ["compaction", "message"]), (9999, ["message"])])
def test_a_threshold_that_is_passed_puts_a_compaction_in_front(server, limit, kinds):
    management = [{"type": "compaction", "compact_threshold": limit}]
    body = {"model": PLAIN, "input": [USER], "context_management": management}
    assert [item["type"] for item in server.ask(body).json()["output"]] == kinds


def test_a_model_that_does_not_reason_gives_no_reasoning():
    server = OpenAIResponsesServer(script=lambda _: [Think("t"), Say("a")])
    kinds = [item["type"] for item in server.ask({"model": PLAIN, "input": "q"}).json()["output"]]
    assert kinds == ["message"]


def test_a_long_agent_loop_over_one_chain(client, server):
    server.script = keep_calling(60, batch=2)
    answer = client.responses.create(model=MODEL, input="q", tools=TOOLS)
    while answers(answer):
        answer = client.responses.create(
            model=MODEL, input=answers(answer), tools=TOOLS, previous_response_id=answer.id
        )
    assert len(server.requests) == 61
    assert not server.refusals


def test_a_model_is_required_and_another_path_is_not_there():
    assert OpenAIResponsesServer().ask({"input": "q"}).status == 400
    assert OpenAIResponsesServer().ask({}, path="/v1/x").status == 404
