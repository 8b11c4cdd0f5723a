"""Cuts: what is left of a conversation when a limit is passed, message by message.

Knows: the situations in which cuts by count alone have broken conversations in the field. Limits
here are small, or the strategy says where a cut stops, so that every window is known exactly.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from lockstitch.errors import CannotFit
from lockstitch.testing.builders import assistant, call, result, system, user
from lockstitch.testing.contract.messages import (
    approval,
    exact,
    item_call,
    item_output,
    item_says,
    item_thinks,
    item_user,
    request,
    thinking,
    tool_result,
    tool_use,
)

if TYPE_CHECKING:
    from lockstitch.testing.contract.stage import Stage

__all__ = ["Cuts"]

done, t1, t2, t3 = (assistant(text) for text in ("done", "t1", "t2", "t3"))
OVERLAP = [call("c1"), t1, call("c2"), result("c1"), t2, result("c2"), done]
CROSSING = [call("c1"), t1, call("c2"), t2, result("c1"), t3, result("c2"), done]
BOTH = ("groups", "prefix")

# name, profile, messages, limit, cut, what the window shows (by position, in the order shown), how
# many left the view
TABLE: list[tuple[str, str, list[Any], int, tuple[str, ...], list[int], int]] = [
    ("a pair and a user", "openai-chat", [call("c1"), result("c1"), user()], 2, BOTH, [2], 2),
    (
        "reasoning goes with its call",
        "openai-responses",
        [item_thinks("rs_1"), item_call("c1"), item_output("c1"), item_says("done")],
        3,
        BOTH,
        [3],
        3,
    ),
    (
        "reasoning and call in one message",
        "anthropic",
        [thinking("c1"), tool_result("c1"), assistant("done")],
        2,
        BOTH,
        [2],
        2,
    ),
    (
        "a word in a pair",
        "openai-chat",
        [call("c1"), t1, result("c1"), done],
        3,
        ("prefix",),
        [3],
        3,
    ),
    (
        "a word in a pair",
        "openai-chat",
        [call("c1"), t1, result("c1"), done],
        3,
        ("groups",),
        [1, 3],
        2,
    ),
    ("overlapping, 4", "openai-chat", OVERLAP, 4, ("prefix",), [6], 6),
    ("overlapping, 5", "openai-chat", OVERLAP, 5, ("prefix",), [6], 6),
    ("overlapping, 6", "openai-chat", OVERLAP, 6, ("prefix",), [6], 6),
    ("overlapping, 4", "openai-chat", OVERLAP, 4, ("groups",), [2, 5, 4, 6], 3),
    ("crossing", "openai-chat", CROSSING, 7, ("prefix",), [7], 7),
    ("crossing", "openai-chat", CROSSING, 7, ("groups",), [1, 2, 6, 3, 5, 7], 2),
    ("a reused id", "openai-chat", [call("c1"), result("c1"), call("c1")], 2, BOTH, [2], 2),
    (
        "two calls of one id",
        "openai-chat",
        [call("c1"), result("c1", "1"), call("c1"), result("c1", "2"), done],
        3,
        BOTH,
        [2, 3, 4],
        2,
    ),
    (
        "an answered approval",
        "openai-responses",
        [request("a1"), approval("a1"), item_says("done")],
        2,
        BOTH,
        [2],
        2,
    ),
    (
        "an approval that fits",
        "openai-responses",
        [item_user("go on"), request("a1"), approval("a1"), item_says("done")],
        4,
        BOTH,
        [0, 1, 2, 3],
        0,
    ),
    (
        "an approval at the limit",
        "openai-responses",
        [request("a1"), approval("a1")],
        2,
        BOTH,
        [0, 1],
        0,
    ),
    (
        "a request that waits",
        "openai-responses",
        [request("a1"), *map(item_user, "12"), item_says("x"), item_user("3"), item_says("y")],
        3,
        BOTH,
        [0, 4, 5],
        3,
    ),
    (
        "an answer to nothing in the middle",
        "openai-chat",
        [user(), t1, result("lost"), t2],
        3,
        BOTH,
        [0, 1, 3],
        1,
    ),
    (
        "an answer to nothing at the end",
        "openai-chat",
        [user(), t1, t2, result("lost")],
        3,
        BOTH,
        [0, 1, 2],
        1,
    ),
    (
        "calls nobody answered, 2",
        "openai-chat",
        [*map(call, ("k1", "k2", "k3", "k4")), call("c9"), result("c9")],
        2,
        BOTH,
        [4, 5],
        4,
    ),
    (
        "calls nobody answered, 3",
        "openai-chat",
        [*map(call, ("k1", "k2", "k3", "k4")), call("c9"), result("c9")],
        3,
        BOTH,
        [4, 5],
        3,
    ),
    ("a group over the limit", "openai-chat", [call("c1"), result("c1")], 1, BOTH, [], 2),
    (
        "an answer and a call in one message",
        "anthropic",
        [
            tool_use("c1"),
            {"role": "user", "content": tool_result("c1")["content"]},
            thinking("c2"),
            tool_result("c2"),
            assistant("done"),
        ],
        3,
        BOTH,
        [2, 3, 4],
        2,
    ),
]
_CASES = [
    pytest.param(*case[1:4], cut, *case[5:], id=f"{case[0]}-{cut}")
    for case in TABLE
    for cut in case[4]
]


class Cuts:
    """What is left of a conversation when a limit is passed."""

    @pytest.mark.parametrize(("profile", "messages", "limit", "cut", "shown", "gone"), _CASES)
    def test_a_cut_leaves_whole_groups(
        self,
        stage: Stage,
        profile: str,
        messages: list[Any],
        limit: int,
        cut: Any,
        shown: list[int],
        gone: int,
    ) -> None:
        given = copy.deepcopy(messages)
        chat = stage.session(strategy=exact(limit, cut), profile=profile, format=profile)
        receipt = chat.append(given)
        window = chat.window()
        assert given == messages, "what was handed over was changed"
        assert window == [messages[at] for at in shown]
        assert window.seqs == [at + 1 for at in shown]
        assert not window.changes
        assert (receipt.first, receipt.count, receipt.dropped) == (1, len(messages), gone)
        assert not receipt.pending
        self._accounted(stage, chat, messages, gone, receipt)
        assert stage.elsewhere().window() == window, "another handle sees something else"

    def _accounted(
        self, stage: Stage, chat: Any, messages: list[Any], gone: int, receipt: Any
    ) -> None:
        record = list(chat.record())
        assert [one.message for one in record] == messages, "the record is not what was appended"
        dropped = [one for one in record if one.state == "dropped"]
        assert len(dropped) == gone
        assert all(one.reason for one in dropped), "something went without a reason"
        events = chat.events()
        assert sum(event.dropped for event in events) == gone
        assert [event.kind for event in events] == ["cut"] * bool(gone)
        if gone:
            assert events[0].fired
            assert events[0].overflow == receipt.overflow
            assert events[0].revision == 1
        assert chat.verify() == []

    def test_messages_one_by_one_come_to_the_same_as_a_batch(self, stage: Stage) -> None:
        for name, (messages, limit) in {
            "pairs": ([user(), call("c1"), result("c1"), done], 3),
            "overlapping": ([user(), *OVERLAP], 5),
        }.items():
            one_by_one = stage.session(name, strategy=exact(limit), profile="openai-chat")
            for message in messages:
                one_by_one.append(message)
                assert len(one_by_one.window()) <= limit
            at_once = stage.session(f"{name} at once", strategy=exact(limit), profile="openai-chat")
            at_once.append(messages)
            assert one_by_one.window() == at_once.window()

    def test_a_small_limit_is_cut_to_and_a_large_one_to_its_half(self, stage: Stage) -> None:
        small, large = stage.session("small", max_messages=8), stage.session("l", max_messages=20)
        for number in range(12):
            small.append([user(str(number)), assistant("ok")])
            large.append([user(str(number)), assistant("ok")])
        assert len(small.window()) == 8
        assert [event.dropped for event in small.events()] == [2] * 8
        assert [event.dropped for event in large.events()] == [12]
        assert len(large.window()) == 12

    def test_a_limit_of_nothing_stores_nothing_and_leaves_what_is_there(self, stage: Stage) -> None:
        stage.session().append([user(), done])
        nothing = stage.session(max_messages=0)
        assert nothing.append([user("more")]).count == 0
        assert nothing.window() == []
        assert len(list(stage.session().record())) == 2
        assert stage.session("new", max_messages=0).append(user()).count == 0
        assert stage.reading("new").version is None

    def test_without_a_limit_everything_is_shown(self, stage: Stage) -> None:
        chat = stage.session()
        messages = [user(str(number)) for number in range(700)]
        for at in range(0, 700, 70):
            chat.append(messages[at : at + 70])
        assert chat.window() == messages
        assert chat.events() == []

    def test_what_does_not_fit_is_dropped_and_said_loudly(self, stage: Stage) -> None:
        chat = stage.session(max_messages=1, profile="openai-chat")
        receipt = chat.append([call("c1"), result("c1")])
        assert receipt.overflow
        assert receipt.dropped == 2
        assert chat.window() == []
        assert chat.events()[0].overflow == receipt.overflow
        assert receipt.overflow in chat.explain()

    def test_the_smallest_window_may_be_over_the_limit(self, stage: Stage) -> None:
        chat = stage.session(max_messages=1, profile="openai-chat", on_overflow="smallest")
        chat.append([user("1"), done, call("c1"), result("c1")])
        assert chat.window() == [user("1"), call("c1"), result("c1")]

    def test_overflow_may_be_raised_by_the_window_while_appends_land(self, stage: Stage) -> None:
        chat = stage.session(max_messages=1, profile="openai-chat", on_overflow="raise")
        receipt = chat.append([user("1"), call("c1"), result("c1")])
        assert receipt.count == 3
        assert receipt.dropped == 0
        with pytest.raises(CannotFit):
            chat.window()
        assert chat.append(user("2")).first == 4
        assert len(list(chat.record())) == 4

    def test_the_system_part_and_the_task_stay(self, stage: Stage) -> None:
        chat = stage.session(max_messages=6)
        chat.append([system(), user("the task")])
        for number in range(9):
            chat.append([call(f"c{number}"), result(f"c{number}")])
        assert chat.window()[:2] == [system(), user("the task")]
        assert len(chat.window()) == 6

    def test_limits_in_tokens_and_characters_hold(self, stage: Stage) -> None:
        for unit, limit in (("max_tokens", 60), ("max_chars", 200)):
            chat = stage.session(unit, **{unit: limit})
            for number in range(30):
                chat.append([user(f"{number} " * 9), assistant("ok")])
                window = chat.window()
                assert window, "something always fits here"
                said = sum(len(one["content"]) for one in window)
                assert unit == "max_tokens" or said <= limit
            assert chat.events()[0].fired[0].startswith("over ")
            # Another handle counts as the first did: it does not cut again.
            revision = chat.window().version
            assert stage.elsewhere(unit).window().version == revision

    def test_a_counter_of_ones_own_counts(self, stage: Stage) -> None:
        def words(message: Any) -> int:
            return len(message["content"].split())

        chat = stage.session(max_tokens=40, counter=words)
        for number in range(20):
            chat.append([user(f"{number} and some more"), assistant("quite so")])
        assert 0 < len(chat.window()) < 20
        assert stage.session(max_tokens=40, counter=words).window() == chat.window()

    def test_a_window_for_one_call_changes_nothing(self, stage: Stage) -> None:
        chat = stage.session(max_messages=8)
        chat.append([user(str(number)) for number in range(8)])
        assert chat.window(max_messages=2) == [user("6"), user("7")]
        assert chat.window(strategy=exact(3)) == [user("5"), user("6"), user("7")]
        assert len(chat.window()) == 8
        assert chat.window(max_messages=2).dropped
        assert stage.reading().version == chat.window().version

    def test_windows_are_the_same_until_something_is_appended(self, stage: Stage) -> None:
        chat = stage.session(max_messages=10)
        for number in range(30):
            chat.append([user(str(number)), call(f"c{number}"), result(f"c{number}")])
            first, again = chat.window(), chat.window()
            assert first == again
            assert first.version == again.version

    def test_the_prefix_stays_between_cuts(self, stage: Stage) -> None:
        chat = stage.session(max_messages=40)
        before: list[Any] = []
        changes = 0
        for number in range(60):
            chat.append([user(str(number)), assistant("ok")])
            window = chat.window()
            changes += window[: len(before)] != before
            before = list(window)
        assert changes == len(chat.events()) <= 5
