"""What all servers share: serving, what they write down, scripts."""

from __future__ import annotations

import asyncio
import copy
import http.client
import json
import urllib.error
import urllib.request
from urllib.parse import urlsplit

import pytest

from lockstitch.testing.servers import (
    AnthropicServer,
    BedrockServer,
    Call,
    GeminiServer,
    MistralServer,
    OpenAIChatServer,
    OpenAIResponsesServer,
    Prompt,
    Say,
    StrictServer,
    Think,
    call_every_tool,
    keep_calling,
    reply,
)

ASK = {"model": "m", "messages": [{"role": "user", "content": "q"}]}


def prompt(**fields):
    base = {"body": {}, "tools": ("f", "g"), "number": 0, "answered": 0, "thinks": False}
    return Prompt(**{**base, **fields})


def post(url, data, **headers):
    request = urllib.request.Request(url, data=data, headers=headers, method="POST")  # noqa: S310
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        return answer.status, answer.read()


def test_a_server_writes_down_what_was_asked_and_what_it_refused():
    server = OpenAIChatServer()
    server.ask(ASK)
    server.ask({**ASK, "messages": [{"role": "tool", "tool_call_id": "c", "content": "r"}]})
    assert [request.body["messages"][0]["role"] for request in server.requests] == ["user", "tool"]
    assert [(one.status, one.request) for one in server.refusals] == [(400, 1)]
    assert server.refusals[0].text.startswith("Invalid parameter: messages with role 'tool'")


def test_the_same_requests_get_the_same_bytes_in_every_run():
    first, second = MistralServer(), MistralServer()
    assert [first.ask(ASK).chunks for _ in range(3)] == [second.ask(ASK).chunks for _ in range(3)]


def test_a_body_that_is_no_json_object_is_refused(served):
    server = OpenAIChatServer()
    url = served(server) + "/v1/chat/completions"
    for data, text in ((b"{", "We could not parse"), (b"[]", "must be a JSON object")):
        with pytest.raises(urllib.error.HTTPError) as caught:
            post(url, data)
        with caught.value as error:
            assert error.code == 400
            assert text in json.loads(error.read())["error"]["message"]
    assert [one.request for one in server.refusals] == [None, None]


def test_another_method_and_another_path_are_refused(served):
    url = served(OpenAIChatServer())
    for target, method, status in (("/v1/chat/completions", "GET", 405), ("/v1/x", "POST", 404)):
        request = urllib.request.Request(url + target, data=b"{}", method=method)  # noqa: S310
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request)  # noqa: S310
        with caught.value as error:
            assert error.code == status


def test_a_connection_is_kept_and_a_chunked_body_is_read(served):
    address = urlsplit(served(OpenAIChatServer())).netloc
    body = json.dumps(ASK).encode()
    connection = http.client.HTTPConnection(address)
    for chunks in ([body], iter([body[:9], body[9:]])):
        headers = {"Content-Length": str(len(body))} if isinstance(chunks, list) else {}
        connection.request(
            "POST",
            "/v1/chat/completions",
            body=chunks,
            headers={**headers, "Expect": "100-continue"} if headers else {},
            encode_chunked=not headers,
        )
        assert connection.getresponse().read()
    connection.close()


def test_a_client_that_wants_the_connection_closed_is_obeyed(served):
    url = served(OpenAIChatServer()) + "/v1/chat/completions"
    status, _ = post(url, json.dumps(ASK).encode(), Connection="close")
    assert status == 200


def test_a_fault_of_the_application_is_shown_to_the_client(served):
    def broken(prompt):
        raise RuntimeError("the script broke")

    url = served(OpenAIChatServer(script=broken)) + "/v1/chat/completions"
    with pytest.raises(urllib.error.HTTPError) as caught:
        post(url, json.dumps(ASK).encode())
    with caught.value as error:
        assert error.code == 500
        assert b"the script broke" in error.read()


def test_a_script_that_does_nothing_is_a_mistake_of_the_test():
    with pytest.raises(ValueError, match="no action"):
        MistralServer(script=lambda _: []).ask(ASK)


def test_the_base_says_nothing_by_itself():
    with pytest.raises(NotImplementedError):
        StrictServer().ask({})
    with pytest.raises(NotImplementedError):
        StrictServer().refusal(None)


async def _talk(app, scope, messages):
    sent = []

    async def receive():
        return messages.pop(0)

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    return sent


def test_the_lifespan_of_an_asgi_application_is_answered():
    messages = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
    sent = asyncio.run(_talk(MistralServer(), {"type": "lifespan"}, messages))
    assert [one["type"] for one in sent] == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]


def test_another_asgi_server_may_bring_the_body_in_pieces():
    raw = json.dumps(ASK).encode()
    scope = {"type": "http", "method": "POST", "path": MistralServer.path, "headers": []}
    pieces = [
        {"type": "http.request", "body": raw[:5], "more_body": True},
        {"type": "http.request", "body": raw[5:]},
    ]
    sent = asyncio.run(_talk(MistralServer(), scope, pieces))
    assert sent[0]["status"] == 200
    assert json.loads(sent[1]["body"])["choices"]


SERVERS = (
    AnthropicServer,
    BedrockServer,
    GeminiServer,
    MistralServer,
    OpenAIChatServer,
    OpenAIResponsesServer,
)
ODD = (None, 1, "x", [], {}, [1], [{}], True)


def _fields(value, path=()):
    """The path of every field of a JSON value."""
    if path:
        yield path
    if isinstance(value, dict):
        inner = value.items()
    else:
        inner = enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from _fields(one, (*path, key))


CALL = {"id": "abcdefghi", "function": {"name": "f", "arguments": "{}"}}
CHAT = {
    "model": "m",
    "tools": [{"function": {"name": "f"}}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "q"}]},
        {"role": "assistant", "content": "a", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "abcdefghi", "content": "r"},
    ],
}
USE = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "r"}]}
THOUGHT = {"type": "thinking", "thinking": "t", "signature": "s"}
ANTHROPIC = {
    "model": "claude-sonnet-5",
    "max_tokens": 9,
    "system": [{"type": "text", "text": "s"}],
    "thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "error"}},
    "tools": [{"name": "f", "input_schema": {}}],
    "messages": [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [THOUGHT, USE]},
        {"role": "user", "content": [RESULT]},
    ],
}
GEMINI = {
    "tools": [{"functionDeclarations": [{"name": "f"}]}],
    "contents": [
        {"role": "user", "parts": [{"text": "q"}]},
        {
            "role": "model",
            "parts": [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "s"}],
        },
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]},
    ],
}
BEDROCK = {
    "toolConfig": {"tools": [{"toolSpec": {"name": "f"}}]},
    "messages": [
        {"role": "user", "content": [{"text": "q"}, {"document": {"name": "d"}}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "f"}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t", "content": []}}]},
    ],
}
RESPONSES = {
    "model": "gpt-5",
    "tools": [{"type": "function", "name": "f"}],
    "include": ["reasoning.encrypted_content"],
    "context_management": [{"type": "compaction", "compact_threshold": 99}],
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "q"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E"},
        {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "r"},
    ],
}


@pytest.mark.parametrize(
    ("server", "body"),
    [*zip(SERVERS, (ANTHROPIC, BEDROCK, GEMINI, CHAT, CHAT, RESPONSES), strict=True)],
)
def test_a_field_of_a_strange_type_is_never_a_fault_of_the_server(server, body):
    for path in list(_fields(body)):
        for odd in ODD:
            broken = copy.deepcopy(body)
            place = broken
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = odd
            assert server().ask(broken).status in {200, 400, 404, 422}


def test_ready_made_scripts():
    assert reply("x")(prompt()) == [Say("x")]
    one_by_one = call_every_tool("end", arguments={"f": {"a": 1}})
    assert one_by_one(prompt()) == [Call("f", {"a": 1})]
    assert one_by_one(prompt(answered=1)) == [Call("g", {})]
    assert one_by_one(prompt(answered=2)) == [Say("end")]
    together = call_every_tool("end", together=True)
    assert together(prompt()) == [Call("f"), Call("g")]
    assert together(prompt(answered=2)) == [Say("end")]
    rounds = keep_calling(2, "end", batch=2)
    assert rounds(prompt()) == [Call("f"), Call("g")]
    assert rounds(prompt(number=2)) == [Say("end")]
    assert rounds(prompt(tools=())) == [Say("end")]


def test_thinking_is_left_out_where_there_is_none():
    server = MistralServer(script=lambda _: [Think("hm"), Say("a")])
    message = server.ask(ASK).json()["choices"][0]["message"]
    assert message == {"role": "assistant", "content": "a"}
