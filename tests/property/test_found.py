"""What the laws found, each kept as the smallest history that shows it."""

import signal
from contextlib import contextmanager
from unittest import mock

import pytest

import lockstitch as ls
from lockstitch.strategies import planner
from lockstitch.testing import assistant, call, laws, result, system, user
from lockstitch.testing.asks import Ask
from lockstitch.testing.subject import Subject


@contextmanager
def _within(seconds: float):
    def stop(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _use(*ids: str):
    blocks = [{"type": "tool_use", "id": one, "name": "look_up", "input": {}} for one in ids]
    return {"role": "assistant", "content": blocks}


def _answer(one: str, *texts: str):
    blocks = [{"type": "tool_result", "tool_use_id": one, "content": "found"}]
    return {"role": "user", "content": [*blocks, *({"type": "text", "text": t} for t in texts)]}


def test_a_prefix_cut_without_a_floor_ends_where_only_a_system_part_would_be_left():
    with _within(5):
        window = ls.trim(
            [user(), system()], max_messages=1, cut="prefix", floor=False, profile="openai-chat"
        )
    assert window == []


def test_a_window_starts_with_a_user_message_where_results_carry_a_reminder_beside_them():
    """Coding agents put text beside tool results; those messages are a user's and an answer."""
    history = [user("task")]
    for number in range(6):
        history += [_use(f"c{number}"), _answer(f"c{number}", "a reminder")]
    subject = Subject(history, "anthropic")
    assert not [
        failure for limit in range(1, 14) for failure in laws.window(subject, Ask(limit=limit))
    ]


def test_what_cannot_fit_says_the_same_wherever_the_walk_began():
    history = [
        {"role": "user", "content": "q"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "function_call_output", "output": "found", "call_id": "c2"},
        {"type": "function_call", "name": "look_up", "arguments": "{}", "call_id": "c2"},
        {"type": "mcp_approval_request", "id": "r3", "name": "remove", "arguments": "{}"},
        {"type": "mcp_approval_response", "approval_request_id": "r3", "approve": False},
    ]
    subject = Subject(history, "openai-responses")
    assert not laws.window(subject, Ask(limit=1, profile="anthropic"))


@pytest.mark.parametrize("cut", ["groups", "prefix"])
def test_without_a_floor_a_window_is_not_left_with_its_system_part_alone(cut):
    history = [system(), user("x"), call("a", "b"), result("a"), result("b")]
    subject = Subject(history, "openai-chat")
    asks = [Ask(limit=limit, cut=cut, floor=False) for limit in range(5)]
    assert not [failure for ask in asks for failure in laws.window(subject, ask)]


def test_a_hole_does_not_join_two_turns_that_use_one_id():
    """Dropping what stands between two assistant turns makes them one, with the id in it twice."""
    history = [user("1"), _use("c"), user("2"), _use("c"), user("3"), _use("c"), _answer("c")]
    subject = Subject(history, "anthropic")
    asks = [
        Ask(limit=n, profile="anthropic", floor=floor) for n in range(8) for floor in (False, True)
    ]
    assert not [failure for ask in asks for failure in laws.window(subject, ask)]


def test_what_is_left_pairs_as_it_did_where_one_id_was_open_twice():
    history = [user(), call("c"), call("c", "c"), result("c"), call("c"), result("c"), result("c")]
    history += [user(), assistant(), user(), assistant()]
    subject = Subject(history, "openai-chat")
    asks = [Ask(limit=n, profile="openai-chat", floor=f) for n in range(11) for f in (False, True)]
    assert not [failure for ask in asks for failure in laws.window(subject, ask)]


@pytest.mark.parametrize("profile", ["portable", "openai-chat", "openai-responses"])
def test_a_message_too_large_for_any_window_leaves_no_two_turns_that_are_read_as_one(profile):
    """With it gone, the result would be taken for that of the call nobody answered."""
    history = [user(), call("c"), user("huge"), call("c"), result("c"), assistant()]
    subject = Subject(history, "openai-chat")
    sizes = [1, 1, 9, 1, 1, 1]
    asks = [
        Ask(limit=n, unit="tokens", counter=sizes, profile=profile, floor=floor)
        for n in range(1, 9)
        for floor in (False, True)
    ]
    assert not [failure for ask in asks for failure in laws.window(subject, ask)]


@pytest.mark.parametrize("pins", [(), (1,)])
def test_turns_that_a_hole_would_join_do_not_share_the_id_of_a_server_tool(pins):
    def searched():
        use = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
        found = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
        return {"role": "assistant", "content": [use, found]}

    history = [user(), searched(), user("huge"), searched(), user()]
    subject = Subject(history, "anthropic")
    assert ls.check(history, profile="anthropic").ok
    sizes = [1, 1, 9, 1, 1]
    asks = [
        Ask(limit=n, unit="tokens", counter=sizes, profile="anthropic", cut=cut, pins=pins)
        for n in range(1, 9)
        for cut in ("groups", "prefix")
    ]
    assert not [failure for ask in asks for failure in laws.window(subject, ask)]


def test_a_pin_far_from_the_end_keeps_no_system_message_alive_that_has_nothing_to_say():
    history = [user(), assistant(), user(), assistant(), user(), system()]
    ask = Ask(limit=4, trim_to=2, pins=(0,), floor=False, profile="openai-chat")
    near = ls.plan(history, **ask.arguments())
    with mock.patch.object(planner, "run_start", return_value=0):
        assert near.kept == ls.plan(history, **ask.arguments()).kept


def test_a_call_in_a_users_message_is_reported():
    use = {"type": "tool_use", "id": "c", "name": "look_up", "input": {}}
    history = [{"role": "user", "content": [use]}, user("next"), assistant(), user("on")]
    for profile in ("anthropic", "portable"):
        found = ls.check(history, profile=profile, format="anthropic").violations
        assert [(one.rule, one.path) for one in found] == [
            ("an-tool-use-role", "messages[0].content[0]")
        ]


def test_a_user_message_that_carries_an_orphan_can_open_a_window_too():
    """Its call is not before it, nor anywhere: it is the first of its group."""
    history = [
        _answer("gone", "question"),
        _use("c"),
        _answer("c"),
        assistant(),
        user(),
        assistant(),
    ]
    subject = Subject(history, "anthropic")
    assert not laws.window(subject, Ask(limit=4, pins=(1,), floor=False))


def test_words_of_the_model_that_are_pinned_are_no_other_end_than_the_models_last_word():
    """The list ended with one message of the model; with the pin alone it would end with two."""
    history = [user(), assistant("one"), assistant("two"), user(), assistant()]
    subject = Subject(history, "openai-chat")
    asks = [
        Ask(limit=n, profile="chat-template", floor=False, pins=(1, 2), on_overflow=on_overflow)
        for n in range(6)
        for on_overflow in ("raise", "smallest")
    ]
    assert not [failure for ask in asks for failure in laws.window(subject, ask)]


def test_what_is_pinned_at_the_end_needs_no_user_where_none_comes_after_it():
    history = [user(), assistant("one"), assistant("two")]
    subject = Subject(history, "openai-chat")
    asks = [Ask(limit=n, profile="bedrock", floor=False, pins=(1,)) for n in range(4)]
    assert not [failure for ask in asks for failure in laws.window(subject, ask)]


def test_a_call_that_another_calls_result_hid_is_not_newly_broken():
    """LangGraph goes by ids: any result with the id of a call will do."""
    history = [user(), call("c"), result("c"), user(), call("c")]
    subject = Subject(history, "openai-chat")
    assert not laws.window(subject, Ask(limit=1, profile="langchain", floor=False))


def test_what_bridges_two_pinned_turns_bridges_them_again():
    """The first word of the user's side does, whatever of the model's stood before it."""

    def use(one):
        return {"type": "agent.custom_tool_use", "id": one, "name": "edit", "input": {}}

    def found(one):
        return {"type": "user.custom_tool_result", "custom_tool_use_id": one, "content": []}

    history = [use("a"), use("a"), found("gone"), use("a"), found("a"), use("a"), found("a")]
    subject = Subject(history, "anthropic-events")
    asks = [Ask(limit=n, profile="gemini", on_overflow="smallest", pins=(6, 0)) for n in range(8)]
    assert not [failure for ask in asks for failure in laws.window(subject, ask)]


def test_a_boundary_past_damage_reckons_with_what_is_pinned_before_it():
    history = [assistant(), result("a"), call("a"), user(), call("b")]
    subject = Subject(history, "openai-chat")
    asks = [
        Ask(limit=n, profile=profile, cut="prefix", floor=False, pins=(0,))
        for n in range(6)
        for profile in ("mistral", "bedrock", "openai-chat")
    ]
    assert not [failure for ask in asks for failure in laws.window(subject, ask)]
