"""The google-genai SDK against the strict Gemini server."""

from __future__ import annotations

import base64

import pytest

from lockstitch.testing.servers import Call, GeminiServer, Say, call_every_tool

genai = pytest.importorskip("google.genai")
from google.genai import errors, types  # noqa: E402  (after the skip)

MODEL = "gemini-3-pro-preview"
OLDER = "gemini-2.5-flash"
TOOLS = [{"function_declarations": [{"name": "f"}, {"name": "g"}]}]
CONFIG = {"tools": TOOLS, "automatic_function_calling": {"disable": True}}


def said(role, *texts):
    return {"role": role, "parts": [{"text": text} for text in texts]}


def called(*names, signature=None):
    parts = [{"functionCall": {"name": name, "args": {}}} for name in names]
    if signature:
        parts[0]["thoughtSignature"] = signature
    return {"role": "model", "parts": parts}


def responded(*names):
    return {
        "role": "user",
        "parts": [{"functionResponse": {"name": name, "response": {"r": 1}}} for name in names],
    }


USER, ANSWER = said("user", "q"), said("model", "a")


@pytest.fixture
def server():
    return GeminiServer(script=call_every_tool("All done."))


@pytest.fixture
def client(server, served, closing):
    options = types.HttpOptions(base_url=served(server), retry_options={"attempts": 1})
    made = genai.Client(api_key="none", http_options=options)
    yield made
    made.close()


def test_an_agent_calls_both_tools_and_gets_its_answer(client):
    contents = [types.UserContent("q")]
    for _ in range(2):
        answer = client.models.generate_content(model=MODEL, contents=contents, config=CONFIG)
        content = answer.candidates[0].content
        assert any(part.thought_signature for part in content.parts)
        (call,) = answer.function_calls
        part = types.Part.from_function_response(name=call.name, response={"r": 1})
        contents += [content, types.UserContent([part])]
    answer = client.models.generate_content(model=MODEL, contents=contents, config=CONFIG)
    assert answer.text == "All done."
    assert answer.usage_metadata.total_token_count > 0


def test_the_same_agent_streams(client):
    chunks = list(client.models.generate_content_stream(model=MODEL, contents="q", config=CONFIG))
    assert [call.name for chunk in chunks for call in chunk.function_calls or ()] == ["f"]
    assert chunks[-1].candidates[0].finish_reason == "STOP"
    chunks = client.models.generate_content_stream(model=OLDER, contents="q")
    assert "".join(chunk.text for chunk in chunks) == "All done."


def test_a_stream_without_events_is_a_list():
    path = f"/v1beta/models/{MODEL}:streamGenerateContent"
    chunks = GeminiServer().ask({"contents": [USER]}, path=path).json()
    assert chunks[0]["candidates"][0]["content"]["parts"][0]["thought"]
    assert chunks[1]["candidates"][0]["content"]["parts"] == [{"text": "Done."}]


UNEQUAL = "the number of function response parts is equal to the number of function call parts"
BROKEN = {
    "a call turn first": (
        [called("f"), responded("f"), USER],
        "function call turn comes immediately",
    ),
    "a call turn after a model turn": (
        [USER, ANSWER, called("f"), responded("f")],
        "function call turn comes immediately after a user turn or after a function response turn",
    ),
    "a response without a call": (
        [USER, ANSWER, responded("f")],
        "function response turn comes immediately after a function call turn",
    ),
    "a batch answered in part": ([USER, called("f", "g"), responded("f")], UNEQUAL),
    "a batch answered in two contents": (
        [USER, called("f", "g"), responded("f"), responded("g")],
        UNEQUAL,
    ),
    "a response twice": ([USER, called("f"), responded("f", "f")], UNEQUAL),
    "a second response turn": (
        [USER, called("f"), responded("f"), responded("f")],
        "function response turn comes immediately after a function call turn",
    ),
    "a call without a response": ([USER, called("f"), USER], UNEQUAL),
    "a user turn in between": ([USER, called("f"), USER, responded("f")], UNEQUAL),
    "an open call at the end": ([USER, called("f")], UNEQUAL),
    "no parts": (
        [USER, {"role": "model", "parts": []}, USER],
        "* GenerateContentRequest.contents[1].parts: contents.parts must not be empty.",
    ),
    "an empty part": (
        [{"role": "user", "parts": [{}]}],
        "contents[0].parts[0].data: required oneof field 'data' must have one initialized field",
    ),
    "another role": ([said("assistant", "a"), USER], "Please use a valid role: user, model."),
    "a model turn at the end": (
        [USER, ANSWER],
        "Please ensure that multiturn requests ends with a user role or a function response.",
    ),
}


@pytest.mark.parametrize(("contents", "text"), BROKEN.values(), ids=BROKEN)
def test_a_broken_history_is_refused_with_geminis_words(client, contents, text):
    with pytest.raises(errors.ClientError) as caught:
        client.models.generate_content(model=OLDER, contents=contents)
    assert text in caught.value.message
    assert (caught.value.code, caught.value.status) == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize(
    ("contents", "text"),
    [
        (None, "contents is not specified"),
        ([], "contents is not specified"),
        (["q"], "expected a list of objects"),
        ([{"role": "user", "parts": [{"functionCall": "f"}]}], "Invalid value at"),
        (
            [
                USER,
                called("f"),
                {"role": "user", "parts": [{"functionResponse": {"response": {}}}]},
            ],
            "function_response.name: Name cannot be empty.",
        ),
    ],
)
def test_a_malformed_body_is_refused(contents, text):
    server = GeminiServer()
    assert server.ask({"contents": contents}).status == 400
    assert text in server.refusals[0].text


@pytest.mark.parametrize(
    "contents",
    [
        [USER, called("f"), called("g"), responded("f", "g")],
        [USER, called("f"), responded("f"), said("user", "and this")],
        [USER, USER],
        [ANSWER, USER],
        [said("user", ""), called("f"), responded("f")],
        [{"parts": [{"text": "q"}]}],
    ],
)
def test_what_was_recorded_as_answered_is_answered(client, contents):
    assert client.models.generate_content(model=OLDER, contents=contents).text == "All done."


def test_the_first_call_of_a_step_in_the_current_turn_needs_its_signature(client):
    with pytest.raises(errors.ClientError) as caught:
        client.models.generate_content(model=MODEL, contents=[USER, called("f"), responded("f")])
    assert "Function call is missing a thought_signature in functionCall parts." in str(
        caught.value
    )
    assert "function call `default_api:f` , position 2." in str(caught.value)


def test_an_older_turn_needs_no_signature():
    contents = [USER, called("f"), responded("f"), ANSWER, USER]
    assert GeminiServer().ask({"contents": contents}).ok


def test_only_the_first_of_parallel_calls_is_signed():
    both = GeminiServer(script=lambda _: [Say("x"), Call("f"), Call("g")])
    parts = both.ask({"contents": [USER]}).json()["candidates"][0]["content"]["parts"]
    assert [("thoughtSignature" in part) for part in parts if "functionCall" in part] == [
        True,
        False,
    ]


def test_a_signature_of_another_call_is_refused(client, server):
    signed = server.signed([USER, called("f"), responded("f"), called("g"), responded("g")])
    assert server.ask({"contents": signed}).ok
    first, second = signed[1]["parts"][0], signed[3]["parts"][0]
    first["thoughtSignature"], second["thoughtSignature"] = (
        second["thoughtSignature"],
        first["thoughtSignature"],
    )
    with pytest.raises(errors.ClientError, match="Corrupted thought signature"):
        client.models.generate_content(model=MODEL, contents=signed)


def test_a_signature_made_elsewhere_is_refused_unless_all_are_taken():
    body = {"contents": [USER, called("f", signature="U0lH"), responded("f")]}
    assert GeminiServer().ask(body).status == 400
    assert GeminiServer(signatures="any").ask(body).ok


@pytest.mark.parametrize(
    "value",
    [
        "skip_thought_signature_validator",
        base64.b64encode(b"context_engineering_is_the_way_to_go").decode(),
    ],
)
def test_the_documented_bypass_is_taken(value):
    body = {"contents": [USER, called("f", signature=value), responded("f")]}
    assert GeminiServer().ask(body).ok


def test_both_spellings_of_keys_are_read():
    call = {"role": "model", "parts": [{"function_call": {"name": "f", "args": {}}}]}
    server = GeminiServer(signing=())
    assert server.ask({"contents": [USER, call]}).status == 400
    done = {"role": "user", "parts": [{"function_response": {"name": "f", "response": {}}}]}
    tools = {"function_declarations": [{"name": "f"}]}
    assert server.ask({"contents": [USER, call, done], "tools": tools}).ok
    first, second = server.signed([call, call])
    assert first["parts"][0]["thoughtSignature"]
    assert "thoughtSignature" not in second["parts"][0]


def test_another_method_is_not_there():
    assert GeminiServer().ask({}, path="/v1beta/models/m:embedContent").status == 404
