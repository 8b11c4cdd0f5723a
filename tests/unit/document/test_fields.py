"""A field of a request body gets another value, whatever the body came as."""

from __future__ import annotations

import json

import pytest

from lockstitch.document import open_document, with_fields

TOOLS = {"tools": [{"name": "f"}]}


def test_a_body_gets_the_field_and_its_own_list_stays_the_very_list():
    body = {"messages": [], "tools": None}
    changed = with_fields(body, "messages", TOOLS)
    assert changed == {"messages": [], **TOOLS}
    assert changed["messages"] is body["messages"]
    assert body["tools"] is None


def test_a_body_inside_another_gets_it_where_the_list_is():
    body = {"request": {"messages": []}, "response": {}}
    assert with_fields(body, open_document(body).path, TOOLS) == {
        "request": {"messages": [], **TOOLS},
        "response": {},
    }


@pytest.mark.parametrize("source", [[{"role": "user"}], '[{"role": "user"}]', b"  [1]", None])
def test_a_bare_list_has_no_fields(source):
    assert with_fields(source, "messages", TOOLS) is source


def test_lines_have_no_fields():
    lines = '{"role": "user", "content": "a"}\n{"role": "user", "content": "b"}'
    assert with_fields(lines, "lines", TOOLS) is lines


@pytest.mark.parametrize("start", ["", "\ufeff", " \n"])
def test_json_keeps_the_bytes_of_what_stands_beside_the_field(start):
    text = start + '{"messages": [ {"n": 1.50} ], "tools": null}'
    changed = with_fields(text, "messages", TOOLS)
    assert '[ {"n": 1.50} ]' in changed
    assert json.loads(changed)["tools"] == TOOLS["tools"]
    assert with_fields(text.encode(), "messages", TOOLS) == changed.encode()


def test_json_inside_json_and_json_that_only_the_standard_reader_takes():
    nested = with_fields(b'{"request": {"messages": []}}', "request.messages", TOOLS)
    assert json.loads(nested) == {"request": {"messages": [], **TOOLS}}
    lone = with_fields('{"messages": ["\\ud83d"], "n": NaN}', "messages", TOOLS)
    assert json.loads(lone)["messages"] == ["\ud83d"]
    assert json.loads(lone)["tools"] == TOOLS["tools"]
