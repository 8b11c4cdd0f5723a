"""Short names for messages of agent-framework, and short words for what stands in a list."""

from __future__ import annotations

from agent_framework import Content, Message


def said(role, text):
    return Message(role, [text])


def user(text="hi"):
    return said("user", text)


def done(text="done"):
    return said("assistant", text)


def calling(*ids, text=None, **more):
    contents = [Content.from_text(text)] if text else []
    contents += [Content.from_function_call(one, "look_up", arguments={}, **more) for one in ids]
    return Message("assistant", contents)


def answering(*ids):
    return Message("tool", [Content.from_function_result(one, result=f"r-{one}") for one in ids])


def thinking(id="rs_1", *contents):
    thought = Content.from_text_reasoning(id=id, text="hm", protected_data="gAAAAA")
    return Message("assistant", [thought, *contents])


def call_content(id, occurrence=None):
    return Content.from_function_call(id, "look_up", arguments={}, id=occurrence)


def request_content(call):
    return Content.from_function_approval_request(call.id, call)


def asking(id, occurrence, *, with_call=True):
    """A request for an approval; the call itself stands before it or only in it."""
    call = call_content(id, occurrence)
    return Message("assistant", [*([call] if with_call else []), request_content(call)])


def allowing(id, occurrence, allowed=True):
    response = request_content(call_content(id, occurrence)).to_function_approval_response(allowed)
    return Message("user", [response])


def words(messages):
    """What matters of each message: `c1` is a call, `r-c1` its result, texts are themselves."""
    return ["+".join(_word(content) for content in message.contents) for message in messages]


def _word(content):
    if content.type == "function_call":
        return content.call_id
    if content.type == "function_result":
        return f"r-{content.call_id}"
    if content.type == "function_approval_request":
        return f"ask-{content.function_call.call_id}"
    if content.type == "function_approval_response":
        return f"allow-{content.function_call.call_id}"
    if content.type == "text_reasoning":
        return "hm"
    return content.text if content.type == "text" else content.type
