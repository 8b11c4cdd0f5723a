"""Waits: calls that are not answered yet, answers that come late, and what is shown meanwhile.

Knows: that several writers append to one session, each in its own time; that no provider takes a
call without its answer, so that one which waits is hidden until the answer is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockstitch.accepting import check
from lockstitch.testing.builders import assistant, call, result, user
from lockstitch.testing.contract.messages import (
    approval,
    exact,
    item_call,
    item_output,
    item_says,
    item_thinks,
    item_user,
    request,
    texts,
    thinking,
    tool_result,
)

if TYPE_CHECKING:
    from lockstitch.testing.contract.stage import Stage

__all__ = ["Waits"]


class Waits:
    """Calls that are not answered yet, answers that come late, and what is shown meanwhile."""

    def test_a_call_at_the_end_is_shown_unless_the_model_is_about_to_be_called(
        self, stage: Stage
    ) -> None:
        chat = stage.session()
        chat.append([user("q"), call("a")])
        assert chat.window() == [user("q"), call("a")]
        closed = chat.window(tail="closed")
        assert closed == [user("q")]
        assert closed.hidden == [2]

    def test_a_call_that_waits_is_hidden_and_shown_in_its_place(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append([user("1"), call("a")])
        chat.append([user("2"), assistant("3")])
        window = chat.window()
        assert texts(window) == ["1", "2", "3"]
        assert window.hidden == [2]
        assert [(one.state, one.reason) for one in chat.record()][1] == ("hidden", "open")
        assert "waits for its result" in chat.explain()
        receipt = stage.elsewhere().append(result("a", "late"))
        assert receipt.late == ()
        window = chat.window()
        assert texts(window) == ["1", "a", "late", "2", "3"]
        assert window.seqs == [1, 2, 5, 3, 4]
        assert window.hidden == []
        assert check(window, profile="portable", tail="open").ok

    def test_parallel_calls_are_shown_when_the_last_of_them_is_answered(self, stage: Stage) -> None:
        chat = stage.session(max_messages=20)
        chat.append([user("1"), call("a", "b", "c")])
        chat.append(result("b", "B"))
        assert texts(chat.window(tail="closed")) == ["1"]
        chat.append(user("2"))
        assert texts(chat.window()) == ["1", "2"]
        chat.append([result("a", "A"), assistant("3")])
        assert texts(chat.window()) == ["1", "2", "3"]
        chat.append(result("c", "C"))
        assert texts(chat.window()) == ["1", "a b c", "B", "A", "C", "2", "3"]

    def test_writers_whose_calls_overlap_each_get_their_own_answers(self, stage: Stage) -> None:
        one, other = stage.session(), stage.elsewhere()
        one.append([user("1"), call("a")])
        other.append([user("2"), call("b")])
        one.append(result("a", "A"))
        assert texts(one.window()) == ["1", "a", "A", "2", "b"]
        other.append([result("b", "B"), assistant("done 2")])
        one.append(assistant("done 1"))
        assert texts(one.window()) == ["1", "a", "A", "2", "b", "B", "done 2", "done 1"]

    def test_calls_that_wait_stay_when_a_limit_is_passed(self, stage: Stage) -> None:
        chat = stage.session(max_messages=8)
        chat.append([user("0"), call("a")])
        for number in range(1, 20):
            chat.append([user(str(number)), assistant("ok")])
            assert 2 in chat.window().hidden
            assert len(chat.window()) + 1 <= 8
        chat.append(result("a", "late"))
        window = chat.window()
        assert 2 in window.seqs
        assert check(window, profile="portable").ok
        assert all(one.reason != "late" for one in chat.record())

    def test_calls_that_wait_are_given_up_when_they_fill_half_of_the_limit(
        self, stage: Stage
    ) -> None:
        chat = stage.session(max_messages=8)
        for number in range(12):
            chat.append([user(str(number)), call(f"c{number}")])
            window = chat.window()
            assert len(window) <= 8
            assert check(window, profile="portable", tail="open").ok
        waiting = [one.seq for one in chat.record() if one.state == "hidden"]
        assert len(waiting) <= 4
        given_up = [seq for event in chat.events() for seq in event.abandoned]
        assert given_up == sorted(set(given_up))
        assert 2 in given_up
        receipt = chat.append(result("c0"))
        assert receipt.late == (25,)
        assert 25 not in chat.window().seqs

    def test_an_answer_to_a_call_that_went_is_recorded_and_said(self, stage: Stage) -> None:
        for limit in (2, 20):
            chat = stage.session(str(limit), max_messages=limit, profile="openai-chat")
            chat.append([user("0"), call("a"), result("a")])
            for number in range(limit):
                chat.append([user(str(number)), assistant("ok")])
            receipt = chat.append([result("a", "again")])
            assert receipt.late == (receipt.first,)
            window = chat.window()
            assert receipt.first not in window.seqs
            last = list(chat.record())[-1]
            assert last.message == result("a", "again")
            assert (last.state, last.reason) in {("hidden", "late"), ("dropped", "late")}
            assert "late" in {event.kind for event in chat.events()}

    def test_a_stale_handle_says_what_is_late_too(self, stage: Stage) -> None:
        stale = stage.session(max_messages=4, profile="openai-chat")
        stale.append([user("0"), call("a")])
        busy = stage.elsewhere()
        for number in range(9):
            busy.append([user(str(number)), call(f"b{number}"), result(f"b{number}")])
        went = [one.seq for one in busy.record() if one.state == "dropped"]
        receipt = stale.append(result("a"))
        assert bool(receipt.late) == (2 in went)
        assert check(stale.window(), profile="openai-chat").ok

    def test_an_answer_before_its_call_is_no_answer(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append([user("1"), result("a", "early")])
        assert chat.window() == [user("1")]
        chat.append(call("a"))
        assert texts(chat.window()) == ["1", "a"]
        chat.append(result("a", "now"))
        assert texts(chat.window()) == ["1", "a", "now"]

    def test_a_reused_id_takes_no_answer_of_an_earlier_call(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append([user("1"), call("a"), user("2"), call("a"), result("a", "second")])
        window = chat.window()
        assert texts(window)[-2:] == ["a", "second"]
        assert check(window, profile="portable").ok
        chat.append([user("3"), call("a"), result("a", "third"), user("4")])
        assert texts(chat.window())[-4:] == ["3", "a", "third", "4"]

    def test_two_calls_of_one_id_are_answered_in_their_order(self, stage: Stage) -> None:
        chat = stage.session(profile="openai-responses")
        chat.append([item_user("q"), item_call("a", "fc_1"), item_call("a", "fc_2")])
        chat.append([item_output("a", "first"), item_output("a", "second")])
        outputs = [one["output"] for one in chat.window() if "output" in one]
        assert outputs == ["first", "second"]

    def test_a_request_for_approval_waits_like_a_call(self, stage: Stage) -> None:
        chat = stage.session(profile="openai-responses", max_messages=8)
        chat.append([item_user("1"), request("a1")])
        for number in range(2, 12):
            chat.append([item_user(str(number)), item_says(str(number))])
        assert {one.seq: one.state for one in chat.record()}[2] in {"shown", "hidden"}
        chat.append(approval("a1"))
        window = chat.window()
        assert request("a1") in window
        assert approval("a1") in window
        assert check(window, profile="openai-responses", tail="open").ok

    def test_reasoning_waits_with_its_call(self, stage: Stage) -> None:
        chat = stage.session(profile="openai-responses", max_messages=6)
        chat.append([item_user("1"), item_thinks("rs_1"), item_call("a")])
        chat.append([item_user("2"), item_says("x")])
        both = {one.seq: one.state for one in chat.record()}
        assert both[2] == both[3]
        chat.append(item_output("a"))
        window = chat.window()
        assert (item_thinks("rs_1") in window) == (item_call("a") in window)
        assert check(window, profile="openai-responses", tail="open").ok

    def test_thinking_and_its_calls_are_one_message(self, stage: Stage) -> None:
        chat = stage.session(profile="anthropic", max_messages=6)
        chat.append([user("1"), thinking("a", "b")])
        chat.append(tool_result("a", "b"))
        for number in range(8):
            chat.append([assistant("ok"), user(str(number))])
            assert check(chat.window(), profile="anthropic", format="anthropic").ok

    def test_what_waits_can_be_cut_by_a_prefix_too(self, stage: Stage) -> None:
        chat = stage.session(strategy=exact(6, "prefix"), profile="openai-chat")
        chat.append([user("0"), call("a")])
        for number in range(1, 9):
            chat.append([user(str(number)), assistant("ok")])
        assert len(chat.window()) <= 5
        chat.append(result("a", "late"))
        window = chat.window()
        assert check(window, profile="openai-chat").ok
        assert result("a", "late") in window
