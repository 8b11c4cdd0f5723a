"""The vectors of agent-framework: neutral messages, and what they are in the framework's words."""

from __future__ import annotations

import json
from pathlib import Path

DATA = Path(__file__).parent / "data" / "agent_framework_vectors.jsonl"

CALLS = {
    "mcp_call": "mcp_server_tool_call",
    "computer_call": "computer_tool_call",
    "code_call": "code_interpreter_tool_call",
    "shell_call": "shell_tool_call",
    "image_call": "image_generation_tool_call",
    "search_call": "search_tool_call",
}
RESULTS = {
    short.replace("call", "result"): long.replace("_call", "_result")
    for short, long in CALLS.items()
}


def vectors():
    return [json.loads(line) for line in DATA.read_text().splitlines()]


def native(message):
    """Return a neutral message as the framework's dict."""
    contents = [content_of(content) for content in message["contents"]]
    made = {"type": "message", "role": message["role"], "contents": contents}
    if "message_id" in message:
        made["message_id"] = message["message_id"]
    return {**made, "additional_properties": {}}


def content_of(content):
    kind = content["type"]
    if kind == "text":
        return {"type": "text", "text": content.get("text", "t")}
    if kind == "reasoning":
        return {"type": "text_reasoning", "text": "hm", "protected_data": "gAAAAAB"}
    if kind == "call":
        return called(content)
    if kind == "result":
        return {"type": "function_result", "call_id": content["call_id"], "result": "ok"}
    if kind in {"approval_request", "approval_response"}:
        made = {"type": f"function_{kind}", "id": content["id"]}
        if kind == "approval_response":
            made["approved"] = content.get("approved", True)
        return {**made, "function_call": called(content["call"])}
    if kind == "oauth_consent":
        return {"type": "oauth_consent_request", "consent_link": "https://a.example/consent"}
    return hosted(content, kind)


def called(call):
    made = {"type": "function_call", "call_id": call.get("call_id"), "name": call.get("name", "f")}
    made["arguments"] = "{}"
    extra = {key: call[key] for key in ("id", "hosted", "server_name") if call.get(key) is not None}
    return {**made, **extra}


def hosted(content, kind):
    named = content.get("call_id") or content.get("id") or content.get("image_id")
    key = "image_id" if kind.startswith("image") else "call_id"
    return {"type": CALLS.get(kind) or RESULTS[kind], key: named}


def canonical(spans):
    """Return the group of each message as g0, g1, ... in order of first appearance."""
    names = {}
    found = []
    for span in spans:
        name = names.setdefault(span["group_id"], f"g{len(names)}")
        found += [name] * (span["end_index"] - span["start_index"] + 1)
    return found
