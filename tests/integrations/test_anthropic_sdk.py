"""Histories that hold the Anthropic SDK's own messages and blocks, alone and mixed with dicts."""

from __future__ import annotations

import pytest

import lockstitch as ls

pytest.importorskip("anthropic")

from anthropic.types import (
    Message,
    RedactedThinkingBlock,
    ServerToolUseBlock,
    TextBlock,
    ThinkingBlock,
    ToolUseBlock,
    Usage,
    WebSearchResultBlock,
    WebSearchToolResultBlock,
)

PROFILES = ["portable", "anthropic"]


def identical(one, other):
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def reply(*blocks):
    """A whole message, as `client.messages.create` returns it."""
    return Message(
        id="msg_1",
        type="message",
        role="assistant",
        model="claude",
        content=list(blocks),
        stop_reason="tool_use",
        stop_sequence=None,
        usage=Usage(input_tokens=1, output_tokens=1),
    )


def use(id_):
    return ToolUseBlock(id=id_, type="tool_use", name="x", input={"q": 1})


def gave(id_):
    return {"type": "tool_result", "tool_use_id": id_, "content": "r"}


def search(id_):
    found = WebSearchResultBlock(
        type="web_search_result", title="t", url="u", encrypted_content="e", page_age=None
    )
    return (
        ServerToolUseBlock(id=id_, type="server_tool_use", name="web_search", input={}),
        WebSearchToolResultBlock(type="web_search_tool_result", tool_use_id=id_, content=[found]),
    )


def history():
    thinking = ThinkingBlock(type="thinking", thinking="hm", signature="sig")
    return [
        {"role": "user", "content": "1"},
        {"role": "assistant", "content": [thinking, use("a"), use("b")]},
        {"role": "user", "content": [gave("b"), gave("a")]},
        {"role": "assistant", "content": [TextBlock(type="text", text="2")]},
        {"role": "user", "content": [{"type": "text", "text": "3"}]},
        reply(*search("s"), TextBlock(type="text", text="4"), use("c")),
        {"role": "user", "content": [gave("c"), {"type": "text", "text": "and?"}]},
        reply(RedactedThinkingBlock(type="redacted_thinking", data="sealed"), use("d")),
        {"role": "user", "content": [gave("d")]},
        {
            "role": "assistant",
            "content": [TextBlock(type="text", text="5"), {"type": "text", "text": "6"}],
        },
    ]


def plain(value):
    """The same history as dicts all the way down."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return plain(value.model_dump(exclude_unset=True)) if hasattr(value, "model_dump") else value


def test_messages_with_blocks_are_recognised_and_clean():
    for messages in (history(), plain(history()), {"system": "s", "messages": history()}):
        report = ls.check(messages, profile="anthropic", tail="closed")
        assert report.format == "anthropic"
        assert report.errors == ()


def test_objects_and_dicts_agree_in_roles_parts_groups_and_sizes():
    objects, dicts = ls.load(history()), ls.load(plain(history()))
    assert [(one.role, one.parts) for one in objects] == [(one.role, one.parts) for one in dicts]
    for profile in PROFILES:
        assert list(ls.groups(objects, profile=profile)) == list(ls.groups(dicts, profile=profile))
    for limit in (30, 80, 120):
        one = ls.plan(history(), max_tokens=limit, counter="bytes", on_overflow="smallest")
        other = ls.plan(plain(history()), max_tokens=limit, counter="bytes", on_overflow="smallest")
        assert (one.kept, one.after) == (other.kept, other.after)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("cut", ["groups", "prefix"])
def test_trimming_gives_the_very_same_objects_back(profile, cut):
    messages = history()
    for limit in range(1, 11):
        options = {"profile": profile, "cut": cut, "max_messages": limit, "on_overflow": "empty"}
        window = ls.trim(messages, **options)
        assert identical(window, [messages[at] for at in ls.plan(messages, **options).kept])
        assert ls.plan(plain(history()), **options).kept == ls.plan(messages, **options).kept
        if window:
            assert ls.check(window, profile=profile, format="anthropic").ok
    assert plain(messages) == plain(history())


def test_a_reply_whose_calls_nobody_answered_is_found_at_its_block():
    report = ls.check([*history()[:6], {"role": "user", "content": "on"}], profile="anthropic")
    (found,) = report.violations
    assert (found.rule, found.path) == ("an-tool-use-answered", "messages[5].content[3]")


def test_a_reply_alone_after_a_user_message_is_open():
    messages = [{"role": "user", "content": "1"}, reply(use("a"))]
    assert [unit.state for unit in ls.groups(messages)] == ["complete", "open"]
