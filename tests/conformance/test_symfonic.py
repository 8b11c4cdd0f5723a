"""The windows of the seed: equal where they are valid, valid where they are not."""

import json
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

import lockstitch as ls

VECTORS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "symfonic_vectors.jsonl").read_text().splitlines()
]


def as_objects(messages):
    made = []
    for message in messages:
        text = message["content"]
        match message["role"]:
            case "user":
                made.append(HumanMessage(text))
            case "system":
                made.append(SystemMessage(text))
            case "tool":
                made.append(ToolMessage(text, tool_call_id=message.get("tool_call_id") or ""))
            case _:
                made.append(AIMessage(text, tool_calls=message.get("tool_calls", [])))
    return made


def broken(messages):
    """Find calls without a result in the turn after them, and results without a call before."""
    wrong = []
    waiting = []
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            if message.get("tool_call_id") in waiting:
                waiting.remove(message["tool_call_id"])
            else:
                wrong.append(index)
            continue
        if waiting and message["role"] != "assistant":
            wrong.append(index)
            waiting = []
        waiting += [call["id"] for call in message.get("tool_calls", [])]
    return wrong


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
@pytest.mark.parametrize("shape", [list, as_objects])
def test_the_prefix_cut_gives_the_seeds_window_wherever_that_is_valid(vector, shape):
    messages = shape(vector["messages"])
    if vector["cap"] < 0:
        with pytest.raises(ValueError, match="max_messages"):
            ls.trim(messages, max_messages=vector["cap"])
        return
    kept = ls.trim(
        messages, max_messages=vector["cap"], cut="prefix", floor=False, profile="anthropic"
    )
    places = [next(at for at, one in enumerate(messages) if one is native) for native in kept]
    assert len(kept) <= vector["cap"]
    if vector["valid_for_anthropic"] and not vector["output_empty"]:
        assert places == vector["symfonic_kept"]
        return
    assert not kept or ls.check(kept, profile="anthropic").ok
    assert broken([vector["messages"][place] for place in places]) == []
