"""Pieces of histories in the shapes of Chat Completions and Responses."""

from __future__ import annotations

from typing import Any

from lockstitch.testing import user

CHAT, RESPONSES = "openai-chat", "openai-responses"
GO, ON = user("q"), user("next")
CHAIN: dict[str, Any] = {"previous_response_id": "resp_1"}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
SOUND = {"type": "input_audio", "input_audio": {"data": "AA", "format": "mp3"}}
LONG = "call_" + "x" * 70


def thought(id_="rs_1", **more):
    return {"type": "reasoning", "id": id_, "summary": [], "encrypted_content": "gAAAAAB1", **more}


def said(text="a", id_="msg_1", kind="output_text"):
    named = {} if id_ is None else {"id": id_}
    return {
        "type": "message",
        **named,
        "role": "assistant",
        "content": [{"type": kind, "text": text}],
    }


def asked(id_=None, call_id="call_1", **more):
    named = {} if id_ is None else {"id": id_}
    item = {"type": "function_call", "call_id": call_id, "name": "f", "arguments": "{}"}
    return {**item, **named, **more}


def gave(call_id="call_1", output: Any = "r"):
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def searched(id_="ws_1"):
    return {"type": "web_search_call", "id": id_, "status": "completed"}


def requested(id_="mcpr_1"):
    return {"type": "mcp_approval_request", "id": id_, "name": "f", "arguments": "{}"}


def decided(id_="mcpr_1"):
    return {"type": "mcp_approval_response", "approval_request_id": id_, "approve": True}


def ran(id_="mcp_1", request="mcpr_1"):
    return {
        "type": "mcp_call",
        "id": id_,
        "name": "f",
        "approval_request_id": request,
        "output": "r",
    }


def without(item, key):
    return {name: value for name, value in item.items() if name != key}
