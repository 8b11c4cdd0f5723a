"""What Lockstitch takes, keeps and mends is what the official SDKs take.

The SDKs' types and validators are independent of the rules, and see shapes where the rules see
order. A history that they refuse before a repair (a broken one may be) is not held against it.
"""

import gzip
import json
from pathlib import Path

import oracles
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lockstitch as ls
from lockstitch.rules.profiles import PROFILES
from lockstitch.testing.breakages import BREAKAGES
from lockstitch.testing.render import render
from lockstitch.testing.steps import Calls, Result, Say, System, User
from lockstitch.testing.strategies import KINDS

DATA = Path(__file__).parent / "data"
# What the test kit puts into a history because nobody knows it.
UNKNOWN_FIELDS = ("annotations_v2", "cache_control", "x_note")
UNKNOWN_TYPES = ("x_note", "x_widget")
# What the test kit draws in outline: what is needed to pair it, and not all that its type demands.
OUTLINED = (
    *("apply_patch_call", "apply_patch_call_output", "computer_call", "computer_call_output"),
    *("local_shell_call", "local_shell_call_output", "mcp_call", "shell_call"),
    *("shell_call_output", "web_search_call"),
    *("mcp_tool_use", "mcp_tool_result", "web_search_tool_result"),
)

in_every_format = pytest.mark.parametrize("format", oracles.FORMATS)
drawn = settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def known(history):
    """Leave out what the test kit added for no SDK to know, and what it only outlined."""
    return [
        stripped(message)
        for message in history
        if isinstance(message, dict) and message.get("type") not in (*UNKNOWN_TYPES, *OUTLINED)
    ]


def stripped(message):
    kept = {key: value for key, value in message.items() if key not in UNKNOWN_FIELDS}
    if isinstance(kept.get("content"), list):
        kept["content"] = [
            block
            for block in kept["content"]
            if block.get("type") not in (*UNKNOWN_TYPES, *OUTLINED)
        ]
    return kept


def named(history):
    """Give an id to items whose type asks for one; the server was seen to do without."""
    return [{**_NAMELESS[kind], **one} if (kind := _kind(one)) else one for one in history]


_NAMELESS = {
    "reasoning": {"id": "rs_0"},
    "message": {"id": "msg_0", "type": "message", "status": "completed"},
}


def _kind(item):
    if item.get("type") == "reasoning":
        return "reasoning"
    blocks = item.get("content")
    spoken = isinstance(blocks, list) and any(one.get("type") == "output_text" for one in blocks)
    return "message" if spoken else ""


def profile_of(format):
    return format if format in PROFILES else "portable"


def misfits(format, history):
    return oracles.fits(format, named(known(history)))


@in_every_format
@given(data=st.data())
@drawn
def test_every_valid_history_and_every_window_of_it_is_of_the_official_types(format, data):
    history = data.draw(KINDS["valid"](format))
    assert misfits(format, history) == []
    limit = data.draw(st.integers(1, len(history)))
    for profile in ("portable", profile_of(format)):
        window = ls.trim(
            history, max_messages=limit, on_overflow="smallest", profile=profile, format=format
        )
        assert misfits(format, window) == []


@in_every_format
@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"valid"}))
@given(data=st.data())
@drawn
def test_every_repair_gives_what_is_of_the_official_types(format, kind, data):
    history = data.draw(KINDS[kind](format))
    before = misfits(format, history)
    profile = data.draw(st.sampled_from(("portable", profile_of(format))))
    mended = ls.repair(history, profile=profile, format=format)
    assert len(misfits(format, mended.messages)) <= len(before)


@in_every_format
@pytest.mark.parametrize("name", sorted(BREAKAGES))
@pytest.mark.parametrize("ids", ["unique", "reused"])
def test_every_breakage_is_mended_into_the_official_types(format, name, ids):
    second = "a" if ids == "reused" else "c"
    steps = [
        *(System(), User("q"), Calls.of("a", "b"), Result("a"), Result("b"), Say("d"), User("q")),
        *(Calls.of(second), Result(second), Say("done"), User("last")),
    ]
    history = render(BREAKAGES[name](steps, 3), format)
    before = misfits(format, history)
    mended = ls.repair(history, profile=profile_of(format), format=format)
    assert len(misfits(format, mended.messages)) <= len(before)


# --- recorded requests ---------------------------------------------------------------------------

RECORDED = [
    json.loads(line)
    for line in gzip.decompress((DATA / "requests_accepted.jsonl.gz").read_bytes()).splitlines()
]
APIS = {
    "anthropic": "anthropic",
    "bedrock-converse": "bedrock",
    "gemini": "gemini",
    "openai-chat": "openai-chat",
    "openai-responses": "openai-responses",
}
KEYS = {"gemini": "contents", "openai-responses": "input"}


@pytest.mark.parametrize("api", sorted(APIS))
def test_windows_and_repairs_of_recorded_requests_fit_where_the_requests_do(api):
    format = APIS[api]
    key = KEYS.get(format, "messages")
    tried = 0
    for row in RECORDED:
        history = row["request"].get(key)
        if row["api"] != api or not isinstance(history, list) or oracles.fits(format, history):
            continue
        tried += 1
        options = {"profile": profile_of(format), "format": format}
        for limit in (2, 4, 7):
            window = ls.trim(history, max_messages=limit, on_overflow="smallest", **options)
            assert oracles.fits(format, window) == []
        # A slice cuts through groups, and what a repair puts there must fit too.
        for length in (1, 2, 3, 5):
            mended = ls.repair(history[-length:], **options)
            assert oracles.fits(format, named(mended.messages)) == []
    assert tried > 20


# --- the oracles themselves ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "message"),
    [
        ("openai-chat", {"role": "assistant", "tool_calls": [{"id": "a", "type": "function"}]}),
        ("openai-chat", {"role": "wizard", "content": "a"}),
        ("openai-responses", {"type": "function_call", "call_id": "a", "name": "f"}),
        ("anthropic", {"role": "user", "content": [{"type": "tool_result", "content": "a"}]}),
        ("anthropic", {"role": "user", "content": [{"type": "text", "text": 1}]}),
        ("gemini", {"role": "user", "parts": [{"says": "a"}]}),
        ("bedrock", {"role": "user", "content": [{"toolUse": {"name": "f", "input": {}}}]}),
        ("mistral", {"role": "tool", "content": 5}),
    ],
)
def test_an_oracle_refuses_what_is_not_of_its_types(format, message):
    assert oracles.fits(format, [message])
