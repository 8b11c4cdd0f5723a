"""Which messages can do without the ids of their own."""

import pytest

from lockstitch.writing import writer_for


@pytest.mark.parametrize(
    ("format", "fields", "nameless"),
    [
        ("anthropic", {"id": "msg_1"}, True),
        ("openai-responses", {"id": "msg_1", "role": "assistant"}, True),
        ("openai-responses", {"id": "fc_1", "type": "function_call"}, True),
        ("openai-responses", {"id": "mcpr_1", "type": "mcp_approval_request"}, False),
        ("openai-responses", {"id": "ws_1", "type": "web_search_call"}, False),
    ],
)
def test_an_item_that_others_name_by_its_id_cannot_do_without_it(format, fields, nameless):
    assert writer_for(format).nameless(fields) is nameless
