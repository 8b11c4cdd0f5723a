"""Servers in Chat's shape: each rule broken, found, and mended to what the server takes."""

import pytest

import lockstitch as ls
from lockstitch.rules.mends.links import NOTE, UNKNOWN
from lockstitch.rules.mends.order import EARLIER
from lockstitch.rules.models import known_of


def user(text="q"):
    return {"role": "user", "content": text}


def said(text="a", **more):
    return {"role": "assistant", "content": text, **more}


def calls(*ids, content=None, arguments="{}", **more):
    asked = [
        {"id": id_, "type": "function", "function": {"name": "f", "arguments": arguments}}
        for id_ in ids
    ]
    return {"role": "assistant", "content": content, "tool_calls": asked, **more}


def gave(id_="c1", content="r"):
    return {"role": "tool", "tool_call_id": id_, "content": content}


def noted(content="r"):
    return user(f"{NOTE}\n\n{content}")


UNANSWERED = gave("c1", UNKNOWN)
BAD, WRAPPED = '{"a": ', '{"_unparsed": "{\\"a\\": "}'
LATE = [user(), calls("c1"), user(), gave()]
IN_PLACE = [user(), calls("c1"), gave(), user()]
EARLY = [user(), gave(), calls("c1"), user()]

# The rule, its profile, the broken history, the mended one, and the model it is broken for.
CASES = [
    *[("cp-tool-adjacent", name, LATE, IN_PLACE, None) for name in ("deepseek", "kimi", "qwen")],
    *[
        ("cp-result-before-call", name, EARLY, IN_PLACE, None)
        for name in ("deepseek", "kimi", "qwen")
    ],
    ("cp-valid-text", "groq", [user("\ud83d")], [user("\ufffd")], None),
    (
        "ds-reasoning-tool-call",
        "deepseek",
        [user(), calls("c1"), gave()],
        [user(), calls("c1", reasoning_content=""), gave()],
        "deepseek-reasoner",
    ),
    (
        "ds-v4-reasoning-all",
        "deepseek",
        [user(), calls("c1", reasoning_content="r"), gave(), said(), user()],
        [
            user(),
            calls("c1", reasoning_content="r"),
            gave(),
            said(reasoning_content=""),
            user(),
        ],
        "deepseek-v4-pro",
    ),
    (
        "ki-reasoning-tool-call",
        "kimi",
        [user(), calls("c1"), gave(), user()],
        [user(), calls("c1", reasoning_content=""), gave(), user()],
        "kimi-k2.5",
    ),
    *[
        (
            f"{short}-tool-unanswered",
            name,
            [user(), calls("c1"), user()],
            [user(), calls("c1"), UNANSWERED, user()],
            None,
        )
        for short, name in (("ds", "deepseek"), ("ki", "kimi"), ("qw", "qwen"))
    ],
    *[
        (f"{short}-tool-orphan", name, [gave(), user()], [noted(), user()], None)
        for short, name in (("ds", "deepseek"), ("ki", "kimi"), ("qw", "qwen"))
    ],
    ("gl-no-user", "glm", [calls("c1"), gave()], [user(EARLIER), calls("c1"), gave()], None),
    ("gl-empty-assistant", "glm", [user(), said(""), user()], [user(), user()], None),
    (
        "qw-arguments-json",
        "qwen",
        [user(), calls("c1", arguments=BAD), gave()],
        [user(), calls("c1", arguments=WRAPPED), gave()],
        None,
    ),
    (
        "xa-empty-content",
        "xai",
        [user(), calls("c1"), gave()],
        [user(), calls("c1", content=""), gave()],
        None,
    ),
    (
        "gr-reasoning-unsupported",
        "groq",
        [user(), said(reasoning_content="r"), user()],
        [user(), said(), user()],
        None,
    ),
]
named = pytest.mark.parametrize(
    ("rule", "profile", "broken", "mended", "model"),
    CASES,
    ids=[f"{case[0]}-{case[1]}" for case in CASES],
)


def check(history, profile, model=None, **more):
    return ls.check(history, profile=profile, format="openai-chat", model=model, **more)


def repair(history, profile, model=None, **more):
    return ls.repair(history, profile=profile, format="openai-chat", model=model, **more)


@named
def test_a_broken_history_is_an_error_of_its_own_rule(rule, profile, broken, mended, model):
    assert rule in {found.rule for found in check(broken, profile, model).errors}
    assert rule not in {found.rule for found in check(mended, profile, model).violations}


@named
def test_it_is_mended_with_the_least_loss_and_once(rule, profile, broken, mended, model):
    once = repair(broken, profile, model)
    assert once.messages == mended
    assert once.ok
    assert not repair(once.messages, profile, model).changes


@pytest.mark.parametrize("profile", ["cohere", "glm", "xai", "groq", "chat-template"])
def test_what_is_likely_but_not_confirmed_is_a_warning(profile):
    history = [user(), calls("c1", content=""), user(), gave("other"), user(), calls("c2"), user()]
    history = [*history, gave("c2"), gave("c2"), user()]
    found = [one for one in check(history, profile).violations if one.rule[:3] in {"cp-", "co-"}]
    assert {one.severity for one in found} == {"warning"}
    assert len(found) == 5


# --- thinking -------------------------------------------------------------------------------------


WORKED = [user(), calls("c1"), gave()]


@pytest.mark.parametrize(
    ("model", "request_", "severity"),
    [
        (None, {}, "warning"),
        ("deepseek-reasoner", {}, "error"),
        ("deepseek-chat", {}, None),
        ("deepseek-chat", {"thinking": {"type": "enabled"}}, "error"),
        ("deepseek-chat", {"extra_body": {"thinking": {"type": "enabled"}}}, "error"),
        ("deepseek-chat", {"extra_body": {}, "chat_template_kwargs": {"thinking": True}}, "error"),
        ("deepseek-reasoner", {"thinking": {"type": "disabled"}}, None),
        ("deepseek-reasoner", {"reasoning_effort": "none"}, None),
        ("deepseek-reasoner", {"enable_thinking": False}, None),
        (None, {"enable_thinking": False}, None),
        ("deepseek-r1-0528", {}, None),
        ("unheard-of", {"reasoning_effort": "high"}, "warning"),
    ],
)
def test_the_request_and_the_model_say_whether_reasoning_is_due(model, request_, severity):
    report = check({**request_, "messages": WORKED}, "deepseek", model)
    found = [one.severity for one in report.violations if one.rule == "ds-reasoning-tool-call"]
    assert found == ([severity] if severity else [])


def test_deepseek_wants_the_reasoning_of_the_current_turn_alone():
    history = [*WORKED, said(), user()]
    assert check(history, "deepseek", "deepseek-reasoner").ok
    assert not check(history, "kimi", "kimi-k2-thinking").ok
    assert check(history, "kimi", "kimi-k2-0905-preview").ok
    off = {"thinking": {"type": "disabled"}, "messages": history}
    assert check(off, "kimi", "kimi-k2.6").ok
    assert check(off, "deepseek", "deepseek-v4-flash").ok


def test_a_conversation_without_tools_needs_no_reasoning():
    assert check([user(), said(), user()], "deepseek", "deepseek-v4-pro").ok


def test_reasoning_comes_back_from_the_record():
    thought = calls("c1", reasoning_content="because")
    record = [user(), calls("c0", reasoning_content="no"), gave("c0"), said(), thought, gave()]
    mended = repair([user(), calls("c1"), gave()], "kimi", "kimi-k2.5", record=record)
    assert mended.messages == [user(), thought, gave()]
    assert [change.kind for change in mended.changes] == ["restore"]


def test_reasoning_comes_back_to_a_message_that_says_more_than_text():
    image = {"type": "image_url", "image_url": {"url": "https://x/y.png"}}
    plain = calls("c1", content=[{"type": "text", "text": "a"}, image])
    record = [user(), {**plain, "reasoning_content": "because"}, gave()]
    mended = repair([user(), plain, gave()], "kimi", "kimi-k2.5", record=record)
    assert mended.messages == record
    other = calls("c1", content=[{"type": "text", "text": "a"}])
    mended = repair([user(), other, gave()], "kimi", "kimi-k2.5", record=record)
    assert mended.messages[1] == {**other, "reasoning_content": ""}


def test_reasoning_that_the_record_does_not_have_is_sent_empty():
    record = [user(), calls("c1"), gave()]
    mended = repair([user(), calls("c1"), gave()], "kimi", "kimi-k2.5", record=record)
    assert mended.messages[1]["reasoning_content"] == ""
    assert [change.kind for change in mended.changes] == ["synthesize"]


def test_the_endpoint_in_anthropics_shape_wants_its_thinking_blocks():
    plain = {"role": "assistant", "content": [{"type": "text", "text": "a"}]}
    block = {"type": "thinking", "thinking": "t", "signature": "x"}
    full = {"role": "assistant", "content": [block, {"type": "text", "text": "a"}]}
    alone = {"role": "assistant", "content": [block]}
    history = [user(), plain, user("2")]
    options = {"profile": "deepseek", "format": "anthropic", "model": "deepseek-v4-pro"}
    assert [one.rule for one in ls.check(history, **options).errors] == ["ds-anthropic-thinking"]
    assert ls.check([user(), full, user("2")], **options).ok
    assert ls.check([user(), alone, user("2")], **options).ok
    off = {"thinking": {"type": "disabled"}, "messages": history}
    assert ls.check(off, **options).ok
    mended = ls.repair(history, record=[user(), full, user("2")], **options)
    assert mended.messages == [user(), full, user("2")]
    assert [one.rule for one in ls.repair(history, **options).remaining] == [
        "ds-anthropic-thinking"
    ]


def test_reasoning_is_left_out_for_the_models_that_refuse_it_and_for_groq():
    history = [user(), said(reasoning_content="r"), user()]
    for profile, model, left in (
        ("deepseek", "deepseek-r1", False),
        ("deepseek", "deepseek-v4-pro", True),
        ("deepseek", None, True),
        ("kimi", "kimi-k2.5", True),
        ("groq", None, False),
    ):
        options = {"profile": profile, "model": model, "format": "openai-chat"}
        exported = ls.export(history, **options)
        assert ("reasoning_content" in exported.messages[1]) is left
        assert len(exported.changes) == (not left)
    assert history[1]["reasoning_content"] == "r"


def test_a_later_row_of_the_models_counts():
    assert not known_of("kimi", "kimi-k2-0711")["thinks"]
    assert known_of("kimi", "moonshotai/Kimi-K2-Thinking")["thinks"]
    assert known_of("kimi", "kimi-k3")["reasoning_demanded"]


# --- content --------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [{"content": None}, {"content": []}, {}])
def test_xai_takes_empty_text_and_nothing_less(content):
    asked = {**calls("c1"), **content}
    if not content:
        del asked["content"]
    exported = ls.export([user(), asked, gave()], profile="xai", format="openai-chat")
    assert exported.messages[1] == {**asked, "content": ""}
    assert check(exported.messages, "xai").ok


def test_rows_that_no_model_sees_need_no_content():
    assert check([user(), {"role": "log"}], "xai").ok


@pytest.mark.parametrize(
    ("arguments", "ok"),
    [
        ("{}", True),
        ('{"a": "x\ny"}', True),
        ({"a": 1}, True),
        (None, True),
        ("", False),
        ("{", False),
    ],
)
def test_arguments_are_json_or_an_object(arguments, ok):
    assert check([user(), calls("c1", arguments=arguments), gave()], "qwen").ok is ok


def test_arguments_nested_too_deeply_are_no_json():
    assert not check([user(), calls("c1", arguments="[" * 100_000), gave()], "qwen").ok


# --- the user's message ---------------------------------------------------------------------------


def test_the_user_message_that_opened_the_turn_comes_back_from_the_record():
    record = [user("old"), said(), user("do it"), calls("c1"), gave()]
    mended = repair(record[3:], "glm", record=record)
    assert mended.messages == record[2:]


def test_a_system_part_alone_is_a_list_with_nothing_to_answer():
    report = check([{"role": "system", "content": "s"}], "glm")
    assert [found.rule for found in report.errors] == ["cp-no-messages"]
    held = {"conversation": "c", "messages": [calls("c1"), gave()]}
    assert check(held, "glm").ok


@pytest.mark.parametrize("cut", ["groups", "prefix"])
@pytest.mark.parametrize("floor", [True, False])
def test_a_window_of_a_long_run_of_tools_keeps_a_user_message(cut, floor):
    history = [user("task")]
    for number in range(20):
        history += [calls(f"c{number}"), gave(f"c{number}")]
    window = ls.trim(history, max_messages=6, profile="glm", cut=cut, floor=floor)
    assert check(window, "glm").ok or not window
    if floor:
        assert window[0] == user("task")
