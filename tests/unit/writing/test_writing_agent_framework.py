"""Messages of agent-framework are changed where their contents keep what they say."""

import msgspec
import pytest

from lockstitch.errors import FormatError
from lockstitch.formats.agent_framework import FORMAT
from lockstitch.transcript import ToolCall
from lockstitch.writing import writer_for

WRITER = writer_for("agent-framework")


def said(role, *contents):
    return {"type": "message", "role": role, "contents": list(contents)}


def text(value):
    return {"type": "text", "text": value}


def the(message, kind):
    """The one part of a kind."""
    (found,) = (part for part in FORMAT.parts(message) if type(part).__name__ == kind)
    return found


class Message:
    """As the framework's: made of a role and contents."""

    def __init__(self, role, contents, additional_properties=None):
        self.role = role
        self.contents = contents
        self.additional_properties = additional_properties or {}


def test_a_changed_object_is_made_by_its_own_class_and_a_changed_dict_stays_a_dict():
    native = Message("user", [text("a")], {"mine": 1})
    fields = WRITER.fields(native)
    made = WRITER.refit(native, WRITER.with_text(fields, "b"))
    assert (type(made), made.contents) == (Message, [text("b")])
    assert made.additional_properties == {"mine": 1}
    assert WRITER.refit(said("user"), said("user", text("b"))) == said("user", text("b"))
    raw = msgspec.Raw(msgspec.json.encode(said("user", text("a"))))
    assert isinstance(WRITER.refit(raw, said("user", text("b"))), msgspec.Raw)


def test_what_is_made_is_of_the_kind_of_the_others():
    assert WRITER.said("user", "a") == said("user", text("a"))
    made = WRITER.said("user", "a", Message("user", []))
    assert (type(made), made.contents) == (Message, [text("a")])


def test_results_are_carried_by_a_tool_and_anything_else_by_the_user():
    result = {"type": "function_result", "call_id": "c", "result": "r"}
    assert WRITER.carrying([result])["role"] == "tool"
    assert WRITER.carrying([text("a"), "b"])["role"] == "user"


def test_what_is_left_of_a_tool_without_its_results_is_told_by_the_user():
    result = {"type": "function_result", "call_id": "c", "result": "r"}
    fields = said("tool", result, text("and"))
    assert WRITER.with_blocks(fields, [text("and")])["role"] == "user"
    assert WRITER.with_blocks(fields, [result])["role"] == "tool"


def test_an_answer_names_its_call_and_the_occurrence_where_there_is_one():
    answer = WRITER.answer(ToolCall("function", "c", "f"), "unknown")
    assert (answer["call_id"], answer["exception"]) == ("c", "unknown")
    assert "id" not in answer
    assert WRITER.answer(ToolCall("function", "c", "f", alias="o"), "unknown")["id"] == "o"


@pytest.mark.parametrize("call", [ToolCall("server", "c", "f"), ToolCall("function", None, "f")])
def test_no_answer_is_made_for_a_hosted_call_nor_for_one_without_an_id(call):
    assert WRITER.answer(call, "unknown") is None


def test_a_call_gets_another_id_name_and_arguments():
    fields = said("assistant", {"type": "function_call", "call_id": "c", "name": "f"})
    part = the(fields, "ToolCall")
    changed = WRITER.renamed(fields, part, "d")
    changed = WRITER.rearranged(WRITER.recalled(changed, part, "g"), part, "{}")
    assert changed["contents"] == [
        {"type": "function_call", "call_id": "d", "name": "g", "arguments": "{}"}
    ]
    assert fields["contents"][0]["call_id"] == "c"


def test_an_image_and_a_server_tool_have_names_of_their_own_for_both():
    image = said("assistant", {"type": "image_generation_tool_call", "image_id": "i"})
    changed = WRITER.renamed(image, the(image, "ToolCall"), "j")
    assert changed["contents"][0]["image_id"] == "j"
    served = said("assistant", {"type": "mcp_server_tool_call", "call_id": "m", "tool_name": "t"})
    changed = WRITER.recalled(served, the(served, "ToolCall"), "u")
    assert changed["contents"][0]["tool_name"] == "u"


def test_a_request_embeds_the_new_id_of_its_call():
    embedded = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    asked = {"type": "function_approval_request", "id": "r", "function_call": embedded}
    fields = said("assistant", asked)
    changed = WRITER.renamed(fields, the(fields, "ApprovalRequest"), "d")
    assert changed["contents"][0]["function_call"]["call_id"] == "d"


def changed_result(content, **fields):
    message = said("tool", {"type": "function_result", "call_id": "c", **fields})
    changed = WRITER.result(message, the(message, "ToolResult"), content)
    return changed["contents"][0]


def test_a_result_and_the_items_beside_it_say_the_same():
    assert changed_result("new", result="old") == {
        "type": "function_result",
        "call_id": "c",
        "result": "new",
    }
    changed = changed_result("new", result="old", items=[text("old")])
    assert (changed["result"], changed["items"]) == ("new", [text("new")])
    listed = changed_result([text("a"), text("b")], result="old")
    assert listed["items"] == [text("a"), text("b")]


def test_what_a_tool_says_without_naming_its_call_is_changed_as_text():
    message = said("tool", text("old"))
    changed = WRITER.result(message, the(message, "ToolResult"), "new")
    assert changed["contents"] == [text("new")]


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        ("function_result", "result", "gone"),
        ("search_tool_result", "result", "gone"),
        ("mcp_server_tool_result", "output", "gone"),
        ("code_interpreter_tool_result", "outputs", [text("gone")]),
        (
            "shell_tool_result",
            "outputs",
            [{"type": "shell_command_output", "stdout": "gone"}],
        ),
    ],
)
def test_a_cleared_result_says_so_where_its_kind_keeps_what_it_says(kind, key, value):
    message = said("tool", {"type": kind, "call_id": "c", key: "long", "annotations": [1]})
    changed = WRITER.cleared(message, the(message, "ToolResult"), "gone")
    assert changed["contents"] == [{"type": kind, "call_id": "c", key: value}]


def test_a_screenshot_takes_no_text():
    shot = {"type": "computer_tool_result", "call_id": "c", "screenshot": {"type": "uri"}}
    message = said("tool", shot)
    assert WRITER.cleared(message, the(message, "ToolResult"), "gone") is None


def test_contents_that_are_no_list_are_one_content_and_none_is_nothing():
    assert FORMAT.parts({"role": "user", "contents": "hi"})[0].text == "hi"
    assert FORMAT.parts({"role": "user", "contents": None}) == ()
    assert FORMAT.parts({"role": "tool", "contents": []}) == ()


def test_what_is_no_message_is_refused():
    with pytest.raises(FormatError, match="found int"):
        FORMAT.facts(3)
