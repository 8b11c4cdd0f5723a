"""What LangChain and LangGraph refuse, tried on dicts in Chat's shape and on real messages."""

import pytest

import lockstitch as ls
from lockstitch.rules.mends.links import NOTE, UNKNOWN

messages = pytest.importorskip("langchain_core.messages")


def check(history, tail="closed", format="openai-chat"):
    return ls.check(history, profile="langchain", tail=tail, format=format)


def asked(*ids, arguments="{}", content=""):
    calls = [
        {"id": id_, "type": "function", "function": {"name": "f", "arguments": arguments}}
        for id_ in ids
    ]
    return {"role": "assistant", "content": content, "tool_calls": calls}


CASES = [
    ("lc-message-coercion", [{"role": "user"}], [{"role": "user", "content": ""}]),
    (
        "lc-tool-id-missing",
        [{"role": "tool", "content": "r"}],
        [{"role": "user", "content": f"{NOTE}\n\nr"}],
    ),
    (
        "lc-arguments-json",
        [asked("1", arguments="{bad"), {"role": "tool", "tool_call_id": "1", "content": "r"}],
        [
            asked("1", arguments='{"_unparsed": "{bad"}'),
            {"role": "tool", "tool_call_id": "1", "content": "r"},
        ],
    ),
]


@pytest.mark.parametrize(("rule", "broken", "mended"), CASES, ids=[case[0] for case in CASES])
def test_a_dict_that_cannot_be_loaded_is_an_error_and_loads_when_mended(rule, broken, mended):
    with pytest.raises((ValueError, KeyError)):
        messages.convert_to_messages(broken)
    assert [found.rule for found in check(broken).errors] == [rule]
    once = ls.repair(broken, profile="langchain", format="openai-chat")
    assert once.messages == mended
    assert messages.convert_to_messages(once.messages)


def test_an_unknown_role_is_said_and_not_made_up():
    odd = [{"role": "narrator", "content": "x"}]
    report = ls.repair(odd, profile="langchain", format="openai-chat").remaining
    assert "lc-message-coercion" in {found.rule for found in report}


@pytest.mark.parametrize("shape", ["objects", "messages_to_dict", "dumpd"])
def test_a_call_answered_nowhere_is_an_error_and_one_answered_elsewhere_is_none(shape):
    load = pytest.importorskip("langchain_core.load")
    shapes = {
        "objects": list,
        "messages_to_dict": messages.messages_to_dict,
        "dumpd": lambda history: [load.dumpd(one) for one in history],
    }
    call = messages.AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "t1"}])
    human, result = messages.HumanMessage("q"), messages.ToolMessage("r", tool_call_id="t1")
    broken = shapes[shape]([human, call])
    assert [one.rule for one in check(broken, format="langchain").errors] == [
        "lc-invalid-chat-history"
    ]
    assert check(broken, "open", "langchain").ok
    mended = ls.repair(broken, profile="langchain", format="langchain")
    assert mended.ok
    assert UNKNOWN in repr(mended.messages[-1])
    for order in ([human, call, human, result], [human, result, call]):
        assert check(shapes[shape](order), format="langchain").ok


def test_a_call_that_could_not_be_parsed_is_not_looked_at():
    call = messages.AIMessage(
        "", invalid_tool_calls=[{"name": "f", "args": "{", "id": "t1", "error": "x"}]
    )
    assert check(
        [messages.HumanMessage("q"), call, messages.HumanMessage("q")], format="langchain"
    ).ok


def ai(*ids):
    calls = [{"name": "f", "args": {}, "id": id_, "type": "tool_call"} for id_ in ids]
    return {"type": "ai", "content": "", "tool_calls": calls}


def gave(id_=None, text="r"):
    return {"type": "tool", "content": text, "tool_call_id": id_, "name": "f"}


ASK = {"type": "human", "content": "q"}


@pytest.mark.parametrize(
    ("broken", "mended"),
    [
        ([ASK, ai("a"), gave()], [ASK, ai("a"), gave("a")]),
        ([ASK, ai(None), gave()], [ASK, ai("call_f"), gave("call_f")]),
        # The next call of the name is another one.
        (
            [ASK, ai(None), gave(), ai(None), gave(None, "s")],
            [
                *(ASK, ai("call_f"), gave("call_f")),
                *(ai("call_f_STWWSdmG"), gave("call_f_STWWSdmG", "s")),
            ],
        ),
        ([ASK, ai(None), gave("a")], [ASK, ai(None), gave("a")]),
        # Without any call it becomes a note.
        ([ASK, gave()], [ASK, {"type": "human", "content": f"{NOTE}\n\nr"}]),
    ],
)
def test_a_result_that_names_no_call_is_given_the_id_of_its_own(broken, mended):
    done = ls.repair(broken, profile="langchain", format="langchain")
    assert done.messages == mended
    assert done.ok


def test_a_call_without_an_id_is_given_one_with_its_answer():
    done = ls.repair([ASK, ai(None, None), ASK], profile="langchain", format="langchain")
    first, second = (one["id"] for one in done.messages[1]["tool_calls"])
    assert first == "call_f" != second
    assert [one["tool_call_id"] for one in done.messages[2:4]] == [first, second]
    assert done.ok
    assert [one.kind for one in done.changes] == ["rename", "synthesize"] * 2


def test_two_results_of_one_nameless_call_are_named_together():
    interim = {"type": "tool", "content": "r", "name": "f", "tool_call_id": None}
    history = [ASK, ai(None), gave(), interim, ASK]
    assert ls.repair(history, profile="langchain", format="langchain").ok


class Message:
    """An object like LangChain's, from a module without its classes."""

    def __init__(self, **fields):
        vars(self).update({"additional_kwargs": {}, "response_metadata": {}}, **fields)


def test_beside_objects_of_no_known_classes_a_dict_is_put():
    history = [Message(**ASK), Message(**ai("a")), Message(**ASK)]
    done = ls.repair(history, profile="langchain", format="langchain")
    made = done.messages[2]
    assert messages.convert_to_messages([made])[0].tool_call_id == "a"
    assert done.messages[:2] + done.messages[3:] == history
    assert not ls.repair(done.messages, profile="langchain", format="langchain").changes


def test_a_function_message_of_old_names_no_call_and_need_not():
    history = [{"role": "user", "content": "q"}, {"role": "function", "name": "f", "content": "r"}]
    found = ls.check(history, profile="langchain", format="openai-chat").violations
    assert "lc-tool-id-missing" not in {one.rule for one in found}
