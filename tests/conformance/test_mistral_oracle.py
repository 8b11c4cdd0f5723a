"""Mistral's rules against its own validator, mistral-common (Apache-2.0), on broken histories.

Where the validator refuses, an error is found; where no error is found, it accepts. What we find
and it does not is listed here with the reason.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lockstitch as ls
from lockstitch.testing.strategies import KINDS

messages = pytest.importorskip("mistral_common.protocol.instruct.messages")
from mistral_common.exceptions import MistralCommonException  # noqa: E402
from mistral_common.protocol.instruct.tool_calls import FunctionCall, ToolCall  # noqa: E402
from mistral_common.protocol.instruct.validator import (  # noqa: E402
    ValidationMode,
    get_validator,
)
from mistral_common.tokens.tokenizers.base import TokenizerVersion  # noqa: E402

# The tokenizer of the validator, and a model of that generation.
GENERATIONS = {
    TokenizerVersion.v3: "open-mistral-7b-v0.3",
    TokenizerVersion.v7: "mistral-large-2411",
    TokenizerVersion.v13: "mistral-large-2512",
}
# What is refused by the hosted API, or by documentation, and let through by the validator.
STRICTER = {
    "mi-user-after-tool": "only the hosted API refuses it",
    "mi-id-9": "from v13 on the validator takes any id, the hosted API was seen to refuse it",
    "mi-start": "the validator passes over the first message when it counts results",
    "mi-count": "a call without a result is made up for by a result that names another",
    "mi-tool-adjacent": "results are counted, whichever call they name",
    "mi-single-result": "a second result makes up for a call that has none",
    "mi-result-before-call": "as above",
    "mi-surplus-result": "the results of the first message are not counted",
    "mi-duplicate-id": "ids are not looked at before v11",
    "cp-valid-text": "text is not looked at",
}


def nine(id_):
    """Make an id of nine letters and digits, so that ids alone do not decide everything."""
    return None if id_ is None else f"{id_.replace('_', ''):0<9}"[:9]


def renamed(message):
    changed = dict(message)
    if message.get("tool_calls"):
        changed["tool_calls"] = [
            {**call, "id": nine(call.get("id"))} for call in message["tool_calls"]
        ]
    if message.get("tool_call_id"):
        changed["tool_call_id"] = nine(message["tool_call_id"])
    return changed


def drawn(data, kind):
    """Draw a history; nearly all of them end with the model, which says nothing about the rest."""
    history = [renamed(message) for message in data.draw(KINDS[kind]("openai-chat"))]
    closing = [{"role": "user", "content": "go on"}] if data.draw(st.integers(0, 3)) else []
    return [*history, *closing]


def as_text(content):
    return content if content is None or isinstance(content, str) else "text"


def theirs(message):
    """Make one of their messages."""
    content = as_text(message.get("content"))
    if message["role"] == "user":
        return messages.UserMessage(content=content or "q")
    if message["role"] in {"system", "developer"}:
        return messages.SystemMessage(content=content or "s")
    if message["role"] == "tool":
        return messages.ToolMessage(content=content or "", tool_call_id=message["tool_call_id"])
    called = [
        ToolCall(id=call["id"], function=FunctionCall(name="f", arguments="{}"))
        for call in message.get("tool_calls") or ()
    ]
    return messages.AssistantMessage(content=content, tool_calls=called or None)


def refusal(history, version):
    """Return what the validator answers, an empty text where it accepts."""
    validator = get_validator(version, ValidationMode.serving)
    try:
        validator.validate_messages([theirs(message) for message in history])
    except MistralCommonException as error:
        return str(error)
    return ""


def plain(history):
    """Whether every message is one that both sides can read."""
    return all(
        message.get("role") in {"user", "assistant", "system", "tool"}
        and (message["role"] != "tool" or message.get("tool_call_id"))
        and all(call.get("id") for call in message.get("tool_calls") or ())
        for message in history
    )


@pytest.mark.parametrize("version", GENERATIONS, ids=str)
@pytest.mark.parametrize("kind", sorted(KINDS))
@given(data=st.data())
@settings(max_examples=30)
def test_the_validator_and_the_rules_agree(kind, version, data):
    history = drawn(data, kind)
    if not plain(history):
        return
    report = ls.check(
        history,
        profile="mistral",
        format="openai-chat",
        model=GENERATIONS[version],
        tail="closed",
    )
    errors = {found.rule for found in report.errors}
    answer = refusal(history, version)
    if answer:
        assert errors, answer
    else:
        assert errors <= STRICTER.keys()


@pytest.mark.parametrize("version", GENERATIONS, ids=str)
@pytest.mark.parametrize("kind", sorted(KINDS))
@given(data=st.data())
@settings(max_examples=30)
def test_the_validator_takes_what_was_mended(kind, version, data):
    history = drawn(data, kind)
    if not plain(history):
        return
    mended = ls.repair(history, profile="mistral", format="openai-chat", model=GENERATIONS[version])
    assert mended.ok
    assert plain(mended.messages)
    assert not refusal(mended.messages, version)
