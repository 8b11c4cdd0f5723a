"""Instructions that were taken out of the list go into the request body's own field."""

import json

import pytest

import lockstitch as ls
from lockstitch.writing import writer_for

TEXT = {"type": "text", "text": "B"}


def instructed(data, format_):
    transcript = ls.load(data, format=format_)
    around = writer_for(format_).instructed(transcript.context, "B")
    return transcript.document.rebuild(transcript.natives, around)


@pytest.mark.parametrize(
    ("format", "body", "field"),
    [
        ("anthropic", {"messages": []}, {"system": "B"}),
        ("anthropic", {"messages": [], "system": ""}, {"system": "B"}),
        ("anthropic", {"messages": [], "system": "A"}, {"system": "A\n\nB"}),
        ("anthropic", {"messages": [], "system": [TEXT]}, {"system": [TEXT, TEXT]}),
        ("openai-responses", {"input": []}, {"instructions": "B"}),
        ("bedrock", {"messages": []}, {"system": [{"text": "B"}]}),
        ("bedrock", {"messages": [], "system": [{"text": "A"}]}, {
            "system": [{"text": "A"}, {"text": "B"}],
        }),
        ("gemini", {"contents": []}, {"systemInstruction": {"parts": [{"text": "B"}]}}),
        ("gemini", {"contents": [], "system_instruction": {"n": 1, "parts": [{"text": "A"}]}}, {
            "system_instruction": {"n": 1, "parts": [{"text": "A"}, {"text": "B"}]},
        }),
    ],
)  # fmt: skip
def test_a_body_gets_instructions_in_its_own_form(format, body, field):
    for wrapped in (body, {"request": body}):
        data = json.dumps(wrapped).encode()
        placed = json.loads(instructed(data, format))
        assert placed.get("request", placed) == body | field


@pytest.mark.parametrize(
    ("held", "placed"),
    [
        (None, {"parts": [{"text": "B"}]}),
        ("A", "A\n\nB"),
        ([{"text": "A"}], [{"text": "A"}, {"text": "B"}]),
    ],
)
def test_the_config_of_the_sdk_of_gemini_holds_them_in_any_form(held, placed):
    config = {"temperature": 0} | ({} if held is None else {"system_instruction": held})
    around = writer_for("gemini").instructed({"model": "m", "config": config}, "B")
    assert around == {"config": {"temperature": 0, "system_instruction": placed}}


@pytest.mark.parametrize("format_", ["openai-chat", "mistral", "langchain"])
def test_where_they_stand_in_the_list_nothing_around_it_changes(format_):
    assert writer_for(format_).instructed({"model": "m"}, "B") == {}


@pytest.mark.parametrize("format_", ["anthropic", "gemini", "bedrock", "openai-responses"])
def test_a_bare_list_has_no_place_for_them(format_):
    assert instructed(b"[]", format_) == b"[]"
