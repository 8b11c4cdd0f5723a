"""Mistral's rules: each broken, found, and mended to what Mistral takes."""

import pytest

import lockstitch as ls
from lockstitch.rules.mends.links import NOTE, UNKNOWN
from lockstitch.rules.mends.order import BRIDGE, EARLIER, GO_ON
from lockstitch.rules.models import known_of

A, B = "abcdefghi", "123456789"
NEW, OLD = "mistral-large-2512", "open-mistral-7b-v0.3"


def user(text="q"):
    return {"role": "user", "content": text}


def said(text="a", **more):
    return {"role": "assistant", "content": text, **more}


def calls(*ids, content=None):
    asked = [
        {"id": id_, "type": "function", "function": {"name": "f", "arguments": "{}"}} for id_ in ids
    ]
    return {"role": "assistant", "content": content, "tool_calls": asked}


def gave(id_=A, content="r"):
    return {"role": "tool", "tool_call_id": id_, "content": content}


def noted(content="r"):
    return user(f"{NOTE}\n\n{content}")


SYSTEM = {"role": "system", "content": "s"}
UNANSWERED = gave(B, UNKNOWN)

# The rule, the broken history, the mended one, and the model it is broken for.
CASES = [
    ("mi-last-role", [user(), said()], [user(), said(), user(GO_ON)], NEW),
    (
        "mi-user-after-tool",
        [user(), calls(A), gave(), user("next")],
        [user(), calls(A), gave(), said(BRIDGE), user("next")],
        NEW,
    ),
    ("mi-tool-after-user", [user(), gave()], [user(), noted()], NEW),
    (
        "mi-tool-adjacent",
        [user(), calls(A), user(), gave(), said(), user()],
        [user(), calls(A), gave(), said(BRIDGE), user(), said(), user()],
        NEW,
    ),
    (
        "mi-result-before-call",
        [user(), said(), gave(), calls(A), said(), user()],
        [user(), said(), calls(A), gave(), said(), user()],
        NEW,
    ),
    (
        "mi-single-result",
        [user(), calls(A), gave(), gave(content="s")],
        [user(), calls(A), gave(content="r\n\ns")],
        NEW,
    ),
    (
        "mi-surplus-result",
        [user(), calls(A), gave(), gave(B)],
        [user(), calls(A), gave(), said(BRIDGE), noted()],
        NEW,
    ),
    ("mi-count", [user(), calls(A, B), gave()], [user(), calls(A, B), gave(), UNANSWERED], NEW),
    (
        "mi-system-mid",
        [user(), said(), SYSTEM, user()],
        [user(), said(), user("s"), user()],
        NEW,
    ),
    ("mi-start", [gave()], [noted()], NEW),
    ("mi-start-calls", [calls(A), gave()], [user(EARLIER), calls(A), gave()], NEW),
    ("mi-empty-assistant", [user(), said(""), user()], [user(), user()], OLD),
    (
        "mi-content-and-calls",
        [user(), calls(A, content="so"), gave()],
        [user(), calls(A, content=""), gave()],
        OLD,
    ),
    (
        "mi-unknown-id",
        [user(), calls(A), gave("zzzzzzzzz")],
        [user(), calls(A), gave()],
        NEW,
    ),
]
named = pytest.mark.parametrize(
    ("rule", "broken", "mended", "model"), CASES, ids=[case[0] for case in CASES]
)


def check(history, model=NEW, tail="closed"):
    return ls.check(history, profile="mistral", format="openai-chat", model=model, tail=tail)


def repair(history, model=NEW, **more):
    return ls.repair(history, profile="mistral", format="openai-chat", model=model, **more)


@named
def test_a_broken_history_is_an_error_of_its_own_rule(rule, broken, mended, model):
    assert rule in {found.rule for found in check(broken, model).errors}
    assert rule not in {found.rule for found in check(mended, model).violations}


@named
def test_it_is_mended_with_the_least_loss_and_once(rule, broken, mended, model):
    once = repair(broken, model)
    assert once.messages == mended
    assert once.ok
    assert not repair(once.messages, model).changes


@pytest.mark.parametrize("format_", ["openai-chat", "mistral"])
def test_the_rules_hold_for_mistrals_own_format_too(format_):
    for rule, broken, _, model in CASES:
        report = ls.check(broken, profile="mistral", format=format_, model=model, tail="closed")
        assert rule in {found.rule for found in report.errors}


def test_a_resting_conversation_may_end_with_the_model():
    [found] = check([user(), said()], tail="open").violations
    assert (found.rule, found.severity) == ("mi-last-role", "warning")


@pytest.mark.parametrize("format_", ["openai-chat", "mistral"])
def test_a_message_marked_prefix_may_be_the_last(format_):
    history = [user(), said("so", prefix=True)]
    assert not ls.check(history, profile="mistral", format=format_, tail="closed").violations


def test_an_object_of_the_sdk_says_whether_it_is_a_prefix():
    models = pytest.importorskip("mistralai.client.models")
    for prefix, rules in ((True, set()), (False, {"mi-last-role"})):
        last = models.AssistantMessage(content="so", prefix=prefix)
        report = ls.check([user(), last], profile="mistral", format="mistral", tail="closed")
        assert {found.rule for found in report.errors} == rules


def test_a_batch_answered_in_part_at_the_end_may_be_under_way():
    history = [user(), calls(A, B), gave()]
    [found] = check(history, tail="open").violations
    assert (found.rule, found.severity, found.path) == (
        "mi-count",
        "warning",
        "messages[1].tool_calls[1]",
    )
    assert not check([user(), calls(A, B)], tail="open").violations


def test_a_stray_result_counts_for_a_call_it_does_not_name():
    history = [user(), calls(A, B), gave("zzzzzzzzz")]
    assert {found.rule for found in check(history).errors} == {"mi-count", "mi-unknown-id"}
    old = check(history, OLD).errors
    assert [found.rule for found in old] == ["mi-count"]
    assert repair(history).ok


def test_a_result_that_might_answer_either_of_two_calls_is_not_given_away():
    mended = repair([user(), calls(A, B), gave("zzzzzzzzz")])
    assert noted() in mended.messages
    assert mended.ok


def test_ids_become_nine_letters_and_digits_on_both_halves_and_stay_apart():
    history = [
        user(),
        calls("call_1", "call_2", A),
        gave("call_1"),
        gave("call_2"),
        gave(A),
        calls("call_1"),
        gave("call_1"),
    ]
    mended = repair(history)
    ids = [call["id"] for call in mended.messages[1]["tool_calls"]]
    assert len(set(ids)) == 3
    assert all(len(id_) == 9 and id_.isalnum() for id_ in ids)
    assert ids[2] == A
    assert [message["tool_call_id"] for message in mended.messages[2:5]] == ids
    # An id that comes back is renamed as it was the first time.
    assert mended.messages[5]["tool_calls"][0]["id"] == mended.messages[6]["tool_call_id"] == ids[0]
    assert repair(history).messages == mended.messages
    exported = ls.export(history, profile="mistral", format="openai-chat")
    assert exported.messages == mended.messages


def test_two_calls_of_one_id_are_told_apart_and_keep_their_results():
    history = [user(), calls(A, A), gave(content="1"), gave(content="2")]
    assert "mi-duplicate-id" in {found.rule for found in check(history).errors}
    mended = repair(history).messages
    first, second = (call["id"] for call in mended[1]["tool_calls"])
    assert first == A != second
    assert len(second) == 9
    assert mended[2:] == [gave(A, "1"), gave(second, "2")]


def test_an_export_blanks_no_text_for_a_model_that_it_does_not_know():
    history = [user(), calls(A, content="so"), gave()]
    for model, content in ((None, "so"), (NEW, "so"), (OLD, "")):
        options = {"profile": "mistral", "format": "openai-chat", "model": model}
        assert ls.export(history, **options).messages[1]["content"] == content


def test_a_system_message_between_a_call_and_its_result_is_said_by_the_user():
    mended = repair([user(), calls(A), SYSTEM, gave(), said(), user()])
    assert mended.ok
    assert mended.messages[1:3] == [calls(A), gave()]
    assert user("s") in mended.messages


def test_what_is_known_of_a_model_follows_its_tokenizer():
    assert known_of("mistral", OLD)["content_or_calls"]
    assert known_of("mistral", "mistral-large-2411") == {
        "content_or_calls": False,
        "ids_checked": False,
    }
    assert known_of("mistral", NEW)["ids_checked"]


def test_a_newer_model_takes_a_user_message_behind_a_result():
    history = [user(), calls(A), gave(), user("next")]
    assert check(history, "mistral-small-latest").ok
    assert not check(history, None).ok


def test_rows_that_no_model_sees_stand_between_nothing():
    row = {"role": "log", "content": "x"}
    found = check([user(), calls(A), gave(), row, user(), said(), row, SYSTEM, user()]).errors
    assert {one.rule for one in found} >= {"mi-user-after-tool", "mi-system-mid"}


def test_a_conversation_that_the_server_holds_may_begin_with_results():
    body = {"conversation": "c1", "messages": [gave()]}
    report = ls.check(body, profile="mistral", format="openai-chat")
    assert "mi-start" not in {found.rule for found in report.violations}


# --- windows --------------------------------------------------------------------------------------


def test_a_window_keeps_no_tool_round_without_the_answer_behind_it():
    history = [user("1"), calls(A), gave(), said("x" * 900), user("2"), said(), user("3")]
    window = ls.trim(history, max_chars=600, profile="mistral")
    assert window == [user("1"), user("2"), said(), user("3")]
    assert ls.check(window, profile="mistral").ok


def test_a_pinned_tool_round_keeps_an_answer_before_the_next_user_message():
    history = [user("1"), calls(A), gave(), said("2"), user("3"), said("4"), user("5")]
    window = ls.trim(history, max_messages=5, pins=[1], profile="mistral")
    assert window == [user("1"), calls(A), gave(), said("4"), user("5")]


def test_a_window_ends_as_its_history_did():
    history = [user("1"), said("2"), user("3" * 900)]
    window = ls.trim(history, max_chars=300, floor=False, profile="mistral")
    assert not window or window[-1]["role"] == "user"
