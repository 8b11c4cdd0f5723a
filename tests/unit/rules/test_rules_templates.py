"""Chat templates: each rule broken, found, and mended; strict templates themselves agree."""

import jinja2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lockstitch as ls
from lockstitch.rules.mends.links import NOTE
from lockstitch.rules.mends.order import BRIDGE, EARLIER, GO_ON
from lockstitch.testing.strategies import KINDS


def user(text="q"):
    return {"role": "user", "content": text}


def said(text="a", **more):
    return {"role": "assistant", "content": text, **more}


def system(text="s"):
    return {"role": "system", "content": text}


def calls(*ids, content=None, **more):
    asked = [
        {"id": id_, "type": "function", "function": {"name": "f", "arguments": "{}"}} for id_ in ids
    ]
    return {"role": "assistant", "content": content, "tool_calls": asked, **more}


def gave(id_="c1", content="r"):
    return {"role": "tool", "tool_call_id": id_, "content": content}


IMAGE = {"type": "image_url", "image_url": {"url": "data:,"}}
THINKS = {"enable_thinking": True}

# The rule, the broken history, the mended one, the model it is broken for, the request around it.
CASES = [
    ("tp-alternate", [user("1"), user("2")], [user("1\n\n2")], None, {}),
    (
        "tp-alternate",
        [user("1"), calls("c1"), gave(), user("2")],
        [user("1"), calls("c1"), gave(), said(BRIDGE), user("2")],
        None,
        {},
    ),
    (
        "tp-alternate",
        [user("1"), said("2"), calls("c1"), gave(), said("3"), user("4")],
        [user("1"), said("2"), calls("c1"), gave(), user(GO_ON), said("3"), user("4")],
        None,
        {},
    ),
    (
        "tp-alternate-after-system",
        [system(), said(), user()],
        [system(), user(EARLIER), said(), user()],
        None,
        {},
    ),
    (
        "tp-no-user-query",
        [system(), calls("c1"), gave()],
        [system(), user(EARLIER), calls("c1"), gave()],
        None,
        {},
    ),
    ("tp-system-unsupported", [system(), user()], [user("s\n\nq")], "gemma-2-9b-it", {}),
    ("tp-system-unsupported", [user(), said(), system()], [user(), said(), user("s")], "gemma", {}),
    (
        "tp-tool-orphan-gpt-oss",
        [user(), gave()],
        [user(), user(f"{NOTE}\n\nr")],
        "gpt-oss-20b",
        {},
    ),
    (
        "tp-content-and-thinking-gpt-oss",
        [user(), calls("c1", content="c", thinking="t"), gave()],
        [user(), calls("c1", content="", thinking="t"), gave()],
        "gpt-oss-20b",
        {},
    ),
    (
        "tp-two-assistants-end",
        [user(), said("1"), said("2")],
        [user(), said("1\n\n2")],
        None,
        {},
    ),
    (
        "tp-prefill-vs-thinking",
        [user(), said()],
        [user(), said(), user(GO_ON)],
        None,
        THINKS,
    ),
    (
        "tp-system-images",
        [system([{"type": "text", "text": "s"}, IMAGE]), user()],
        [
            system([{"type": "text", "text": "s"}]),
            user([{"type": "text", "text": "q"}, IMAGE]),
        ],
        None,
        {},
    ),
]
named = pytest.mark.parametrize(
    ("rule", "broken", "mended", "model", "around"),
    CASES,
    ids=[f"{case[0]}-{number}" for number, case in enumerate(CASES)],
)


def check(history, model=None, around=None, tail="closed"):
    body = {**(around or {}), "messages": history}
    return ls.check(body, profile="chat-template", format="openai-chat", model=model, tail=tail)


def repair(history, model=None, around=None):
    body = {**(around or {}), "messages": history}
    return ls.repair(body, profile="chat-template", format="openai-chat", model=model)


@named
def test_a_broken_history_is_an_error_of_its_own_rule(rule, broken, mended, model, around):
    assert rule in {found.rule for found in check(broken, model, around).errors}
    assert rule not in {found.rule for found in check(mended, model, around).errors}


@named
def test_it_is_mended_with_the_least_loss_and_once(rule, broken, mended, model, around):
    once = repair(broken, model, around)
    assert once.messages["messages"] == mended
    assert once.ok
    assert not repair(once.messages["messages"], model, around).changes


def test_a_template_that_is_known_to_be_lenient_asks_for_no_turns():
    history = [system(), said(), user("1"), user("2")]
    assert check(history, "gpt-oss-20b").ok
    assert not check(history).ok
    assert not check(history, "gemma-3-27b-it").ok


def test_a_final_message_of_the_model_is_likely_refused_where_thinking_is_not_known():
    [found] = check([user(), said()]).violations
    assert (found.rule, found.severity) == ("tp-prefill-vs-thinking", "warning")
    assert check([user(), said()], around={"enable_thinking": False}).violations == ()
    assert check([user(), said()], around=THINKS, tail="open").ok


def test_a_system_message_inside_the_list_is_only_suspected_and_said_by_the_user_at_export():
    history = [user("1"), said("2"), system(), user("3")]
    found = {one.rule: one.severity for one in check(history, "qwen3.5-9b").violations}
    assert found == {"tp-system-first": "warning"}
    assert not repair(history).changes
    exported = ls.export(history, profile="chat-template", format="openai-chat")
    # What the user says twice in a row is one message to such a template.
    assert exported.messages == [user("1"), said("2"), user("s\n\n3")]
    assert [change.kind for change in exported.changes] == ["demote", "merge"]


def test_an_image_with_no_user_message_to_go_to_stays_and_is_said():
    history = [user(), said(), system([IMAGE])]
    assert "tp-system-images" in {found.rule for found in repair(history).remaining}


def test_a_batch_is_split_for_a_template_of_single_calls_and_nothing_is_lost():
    before = [user(), calls("c0"), gave("c0", "0"), said()]
    batch = [calls("c1", "c2", content="so"), gave("c2", "2"), gave("c1", "1"), said()]
    history = [*before, user(), *batch]
    [found] = check([*history, user()], "llama-3.1-8b-instruct").violations
    assert (found.rule, found.severity) == ("tp-single-tool-call", "warning")
    options = {"profile": "chat-template", "format": "openai-chat"}
    exported = ls.export(history, model="meta-llama/Llama-3.1-8B-Instruct", **options)
    assert exported.messages == [
        *before,
        user(),
        calls("c1", content="so"),
        gave("c1", "1"),
        calls("c2"),
        gave("c2", "2"),
        said(),
    ]
    [change] = exported.changes
    assert (change.kind, change.rule, change.index) == ("move", "tp-single-tool-call", 5)
    assert change.path == "messages[5].tool_calls"
    assert change.message == "the 2 calls of the message were given a message each"
    assert (change.before, change.after) == (batch[0], calls("c1", content="so"))
    alone = [user(), calls("c1", "c2", "c3"), gave("c2"), said()]
    [*_, first, second, two, third, _] = ls.export(
        alone, model="meta-llama/Llama-3.1-8B-Instruct", **options
    ).messages
    assert [first, second, two, third] == [calls("c1"), calls("c2"), gave("c2"), calls("c3")]
    assert ls.export(history, **options).messages == history
    assert ls.export(history, model="gpt-oss-20b", **options).messages == history


# --- real templates -------------------------------------------------------------------------------

# The checks of Mistral's template of 7B Instruct v0.3 (Apache-2.0), without what it prints.
STRICT = """
{%- if messages[0]["role"] == "system" %}{%- set rest = messages[1:] %}
{%- else %}{%- set rest = messages %}{%- endif %}
{%- set ns = namespace(index=0) %}
{%- for message in rest %}
{%- if not (message.role == "tool" or message.tool_calls) %}
{%- if (message["role"] == "user") != (ns.index % 2 == 0) %}{{ refuse("alternate") }}{%- endif %}
{%- set ns.index = ns.index + 1 %}
{%- endif %}
{%- endfor %}
"""
# The check of Qwen 3.5's template (Apache-2.0).
QUERY = """
{%- set ns = namespace(found=false) %}
{%- for message in messages[::-1] %}
{%- if message.role == "user" %}{%- set ns.found = true %}{%- endif %}
{%- endfor %}
{%- if not ns.found %}{{ refuse("query") }}{%- endif %}
"""


class RefusedError(Exception):
    """What a template raises."""


def refuse(text):
    raise RefusedError(text)


def render(template, history):
    jinja2.Environment(autoescape=True).from_string(template).render(
        messages=history, refuse=refuse
    )


@pytest.mark.parametrize("template", [STRICT, QUERY])
@pytest.mark.parametrize("kind", sorted(KINDS))
@given(data=st.data())
@settings(max_examples=15)
def test_a_strict_template_renders_what_was_mended_and_every_window_of_it(template, kind, data):
    drawn = data.draw(KINDS[kind]("openai-chat"))
    history = [one for one in drawn if one.get("role") in {"system", "user", "assistant", "tool"}]
    options = {
        "profile": "chat-template",
        "format": "openai-chat",
        "model": "mistral-7b-instruct-v0.2",
    }
    whole = ls.repair(history, **options)
    if not whole.ok:
        assert {found.rule for found in whole.remaining} == {"cp-no-messages"}
        return
    render(template, whole.messages)
    limit = data.draw(st.integers(1, len(whole.messages)))
    pin = data.draw(st.integers(0, len(whole.messages) - 1))
    cut = data.draw(st.sampled_from(["groups", "prefix"]))
    window = ls.trim(
        whole.messages,
        max_messages=limit,
        pins=[pin],
        cut=cut,
        on_overflow="smallest",
        profile="chat-template",
    )
    render(template, window)
