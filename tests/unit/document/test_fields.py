"""A field of a request body gets another value, whatever the body came as."""

from __future__ import annotations

import json

import pytest

from lockstitch.document import open_document

TOOLS = {"tools": [{"name": "f"}]}


def with_tools(source):
    """The same messages, in a body that has tools."""
    document = open_document(source)
    return document.rebuild(document.natives, TOOLS)


def test_a_body_gets_the_field():
    body = {"messages": [], "tools": None}
    changed = with_tools(body)
    assert changed == {"messages": [], **TOOLS}
    assert body["tools"] is None


def test_a_body_inside_another_gets_it_where_the_list_is():
    body = {"request": {"messages": []}, "response": {}}
    assert with_tools(body) == {
        "request": {"messages": [], **TOOLS},
        "response": {},
    }


@pytest.mark.parametrize("source", [[{"role": "user"}], '[{"role": "user"}]', b"  [1]"])
def test_a_bare_list_has_no_fields(source):
    assert with_tools(source) == source


def test_lines_have_no_fields():
    lines = '{"role": "user", "content": "a"}\n{"role": "user", "content": "b"}'
    assert with_tools(lines) == lines


@pytest.mark.parametrize("start", ["", "\ufeff", " \n"])
def test_json_keeps_the_bytes_of_what_stands_beside_the_field(start):
    text = start + '{"messages": [ {"n": 1.50} ], "tools": null}'
    changed = with_tools(text)
    assert '[ {"n": 1.50} ]' in changed
    assert json.loads(changed)["tools"] == TOOLS["tools"]
    assert with_tools(text.encode()) == changed.encode()


def test_json_inside_json_and_json_that_only_the_standard_reader_takes():
    nested = with_tools(b'{"request": {"messages": []}}')
    assert json.loads(nested) == {"request": {"messages": [], **TOOLS}}
    lone = with_tools('{"messages": ["\\ud83d"], "n": NaN}')
    assert json.loads(lone)["messages"] == ["\ud83d"]
    assert json.loads(lone)["tools"] == TOOLS["tools"]
