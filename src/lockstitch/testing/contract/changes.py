"""Changes: going back, editing, taking back, clearing, summarising, and what a purge keeps.

Knows: that each of them is a new view and leaves the record alone, a purge excepted; that each is
written down, and holds for every handle.
"""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

import pytest

from lockstitch.errors import ConversationServiceError, FormatError
from lockstitch.stores.blobs import MemoryBlobs
from lockstitch.stores.settings import Retention
from lockstitch.strategies.named import StepsHistoryStrategy, SummarizingHistoryStrategy
from lockstitch.strategies.steps import ClearResults, OffloadResults, Pin
from lockstitch.testing.builders import assistant, call, result, system, user
from lockstitch.testing.contract.messages import texts, tool_use

if TYPE_CHECKING:
    from collections.abc import Callable

    from lockstitch.stores.store import Session
    from lockstitch.testing.contract.stage import Stage

__all__ = ["Changes"]

_TURNS = [message for n in range(1, 5) for message in (user(f"q{n}"), assistant(f"a{n}"))]


def _said(chat: Session) -> list[str]:
    return texts(chat.window())


def _summary(prompt: str) -> str:
    return "what was said so far"


def _failing(prompt: str) -> str:
    raise RuntimeError("the summarizer is not at home")


def _answering(answer: Any) -> Callable[[Any], Any]:
    return lambda _: answer


class Changes:
    """Going back, editing, taking back, clearing, summarising, and what a purge keeps."""

    # --- rewind ----------------------------------------------------------------------------------

    def test_going_back_leaves_the_record_alone(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append(_TURNS)
        assert chat.rewind(4) == 4
        assert _said(stage.elsewhere()) == ["q1", "a1", "q2", "a2"]
        record = list(chat.record())
        assert [one.message for one in record] == _TURNS
        assert {one.reason for one in record[4:]} == {"rewound"}
        assert chat.append(user("q3 again")).first == 9
        assert _said(chat) == ["q1", "a1", "q2", "a2", "q3 again"]
        assert [event.kind for event in chat.events()] == ["rewind"]
        assert "taken back to before it" in chat.explain()

    def test_going_back_undoes_cuts_since(self, stage: Stage) -> None:
        chat = stage.session(max_messages=8)
        shown = {}
        for number in range(12):
            receipt = chat.append([user(f"q{number}"), assistant(f"a{number}")])
            shown[receipt.last] = _said(chat)
        for to in (20, 10, 6, 2, 24):
            chat.rewind(to)
            assert _said(chat) == shown[to], f"back to {to}"
        assert chat.rewind(0) == len(shown[24])
        assert chat.window() == []
        assert chat.append(user("anew")).first == 25

    def test_going_back_to_where_nothing_is_is_refused(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append(_TURNS)
        for to in (-1, 9, 1_000):
            with pytest.raises(ValueError, match="1 to 8"):
                chat.rewind(to)
        assert len(chat.window()) == 8
        assert stage.session("nobody").rewind(0) == 0

    def test_going_back_between_a_call_and_its_result_opens_the_call(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append([user("1"), call("a"), result("a"), assistant("2")])
        chat.rewind(2)
        assert texts(chat.window()) == ["1", "a"]
        chat.append(result("a", "this time"))
        assert texts(chat.window()) == ["1", "a", "this time"]

    # --- edit ------------------------------------------------------------------------------------

    def test_an_edit_stands_in_the_place_of_the_message(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append(_TURNS)
        receipt = chat.edit(3, user("q2, put better"))
        assert (receipt.first, receipt.count) == (9, 1)
        window = stage.elsewhere().window()
        assert texts(window)[2] == "q2, put better"
        assert window.seqs == [1, 2, 9, 4, 5, 6, 7, 8]
        record = list(chat.record())
        assert record[2].message == user("q2")
        assert (record[2].state, record[2].reason) == ("dropped", "edited")
        chat.append(user("q5"))
        assert _said(chat)[-1] == "q5"
        assert texts(chat.window())[2] == "q2, put better"
        chat.edit(9, user("q2, better still"))
        assert texts(chat.window())[2] == "q2, better still"
        assert chat.verify() == []

    def test_an_edit_of_what_is_not_shown_is_refused(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append(_TURNS)
        chat.rewind(4)
        for seq in (0, 6, 99):
            with pytest.raises(ValueError, match=str(seq)):
                chat.edit(seq, user("?"))
        with pytest.raises(FormatError):
            stage.session(format="openai-chat").edit(1, tool_use("a"))
        assert len(list(chat.record())) == 8

    # --- pop and clear ---------------------------------------------------------------------------

    def test_the_last_group_is_taken_back_whole(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append([user("1"), call("a", "b"), result("a"), result("b"), assistant("2")])
        assert chat.pop() == [assistant("2")]
        assert chat.pop() == [call("a", "b"), result("a"), result("b")]
        assert chat.pop() == [user("1")]
        assert chat.pop() == []
        assert chat.window() == []
        assert {one.reason for one in chat.record()} == {"popped"}
        assert stage.session("nobody").pop() == []
        assert chat.append(user("anew")).first == 6
        assert _said(chat) == ["anew"]

    def test_a_cleared_view_can_be_gone_back_to(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append(_TURNS)
        assert chat.clear() == 8
        assert chat.window() == []
        assert {one.reason for one in chat.record()} == {"cleared-view"}
        assert chat.clear() == 0
        chat.append(user("anew"))
        assert _said(stage.elsewhere()) == ["anew"]
        chat.rewind(8)
        assert _said(chat) == texts(_TURNS)
        assert stage.session("nobody").clear() == 0

    def test_an_answer_after_the_view_was_cleared_is_late(self, stage: Stage) -> None:
        for limit in (None, 20):
            chat = stage.session(str(limit), max_messages=limit)
            chat.append([user("1"), call("a")])
            chat.clear()
            chat.append([user("2")])
            chat.append(result("a"))
            assert _said(chat) == ["2"]
            assert list(chat.record())[-1].reason == "late"

    # --- summaries -------------------------------------------------------------------------------

    def test_a_summary_stands_for_what_it_says(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append([system(), *_TURNS])
        receipt = chat.compact(_summary, keep_recent=2)
        assert receipt.dropped == 6
        window = stage.elsewhere().window()
        assert window[0] == system()
        assert window[-2:] == _TURNS[-2:]
        assert "what was said so far" in window[1]["content"]
        assert window.seqs[1] == 0
        assert chat.events()[-1].kind == "compact"
        assert "what was said so far" in chat.events()[-1].summary
        assert [one.message for one in chat.record()] == [system(), *_TURNS]
        assert "a summary stands for 6" in chat.explain()
        chat.rewind(9)
        assert chat.window() == [system(), *_TURNS]

    def test_a_new_summary_takes_the_place_of_the_old_one(self, stage: Stage) -> None:
        prompts: list[str] = []

        def summarizer(prompt: Any) -> str:
            prompts.append(prompt.previous)
            return f"summary {len(prompts)}"

        chat = stage.session()
        for number in range(3):
            chat.append(_TURNS)
            assert chat.compact(summarizer, keep_recent=2).dropped
            summaries = [text for text in _said(chat) if "summary" in text]
            assert len(summaries) == 1
            assert f"summary {number + 1}" in summaries[0]
        assert "summary 1" in prompts[1]

    def test_a_summarizer_that_fails_leaves_everything_as_it_was(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append(_TURNS)
        before = stage.reading().version
        receipt = chat.compact(_failing, keep_recent=2)
        assert receipt.dropped == 0
        assert receipt.overflow
        assert stage.reading().version == before
        answers: tuple[Any, ...] = ("", None, " \n", "I'm sorry, I cannot do that")
        for answer in answers:
            assert chat.compact(_answering(answer), keep_recent=2).dropped == 0
        assert chat.window() == _TURNS
        assert chat.compact(keep_recent=100).dropped == 0
        assert stage.session("nobody").compact().version is None

    def test_what_is_appended_while_a_summary_is_written_follows_it(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append(_TURNS)

        meanwhile = self._meanwhile(stage, lambda other: other.append([user("q5"), call("c")]))
        assert chat.compact(meanwhile, keep_recent=2).dropped == 6
        said = _said(chat)
        assert said[1:] == ["q4", "a4", "q5", "c"]
        chat.append(result("c"))
        assert _said(chat)[1:] == ["q4", "a4", "q5", "c", "found"]
        assert chat.verify() == []

    def test_a_summary_of_a_view_that_changed_is_written_anew(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append(_TURNS)
        meanwhile = self._meanwhile(stage, lambda other: other.rewind(6))
        assert chat.compact(meanwhile, keep_recent=2).dropped == 4
        assert _said(chat)[1:] == ["q3", "a3"]

    @staticmethod
    def _meanwhile(stage: Stage, act: Callable[[Session], Any]) -> Callable[[Any], Any]:
        """Return a summarizer during whose work somebody else acts, once."""
        todo = [act]

        def summarizer(prompt: Any) -> Any:
            if todo:
                stage.aside(todo.pop())
            return "what was said so far"

        return summarizer

    def test_a_strategy_summarises_when_it_is_over(self, stage: Stage) -> None:
        strategy = SummarizingHistoryStrategy(trigger_chars=400, keep_recent=4)
        chat = stage.session(strategy=strategy, summarizer=_summary)
        for number in range(20):
            chat.append([user(f"q{number} " * 4), assistant(f"a{number} " * 4)])
        window = chat.window()
        assert "what was said so far" in window[0]["content"]
        assert len(window) < 20
        cuts = [event for event in chat.events() if event.kind == "cut"]
        assert cuts
        assert all(event.summary for event in cuts)
        assert len(list(chat.record())) == 40

    def test_a_strategy_whose_summarizer_fails_says_so(self, stage: Stage) -> None:
        strategy = SummarizingHistoryStrategy(trigger_chars=400, keep_recent=4)
        chat = stage.session(strategy=strategy, summarizer=_failing)
        for number in range(20):
            assert chat.append([user(f"q{number} " * 4), assistant(f"a{number} " * 4)]).count == 2
        assert len(list(chat.record())) == 40
        assert chat.window()

    # --- steps of strategies ---------------------------------------------------------------------

    def test_cleared_results_leave_a_stub_by_which_they_are_recalled(self, stage: Stage) -> None:
        payload = "a long result " * 400
        strategy = StepsHistoryStrategy(
            steps=(ClearResults(keep_groups=1),), max_chars=9_000, low_water=0.9
        )
        chat = stage.session(strategy=strategy)
        messages = [user("go")]
        for number in range(4):
            messages += [call(f"c{number}"), result(f"c{number}", f"{number} {payload}")]
        for message in messages:
            chat.append(copy.deepcopy(message))
        window = stage.elsewhere().window()
        stub = window[window.seqs.index(3)]["content"]
        assert payload not in stub
        assert chat.recall(_hex_in(stub)) == f"0 {payload}"
        assert stage.elsewhere().recall(3) == messages[2]
        assert {one.seq: one.state for one in chat.record()}[3] == "changed"
        assert [one.message for one in chat.record()] == messages
        with pytest.raises(FormatError):
            chat.recall("00112233445566ff")
        with pytest.raises(FormatError):
            chat.recall(99)

    def test_offloaded_results_go_to_the_blob_store(self, stage: Stage) -> None:
        payload = "a long result " * 400
        strategy = StepsHistoryStrategy(
            steps=(OffloadResults(keep_groups=0, min_chars=1_000),), max_chars=6_000, low_water=0.9
        )
        blobs = MemoryBlobs()
        chat = stage.session(strategy=strategy, blobs=blobs)
        chat.append([user("go"), call("a"), result("a", payload), user("on"), assistant("ok")])
        chat.append([call("b"), result("b", payload), user("on"), assistant("ok")])
        stub = chat.window()[2]["content"]
        assert payload.encode() in blobs.get(_hex_in(stub))

    def test_pins_stay(self, stage: Stage) -> None:
        strategy = StepsHistoryStrategy(max_messages=6, pins=(Pin(text="never"),))
        chat = stage.session(strategy=strategy)
        chat.append(user("never delete anything"))
        for number in range(12):
            chat.append([assistant("ok"), user(str(number))])
            assert len(chat.window()) <= 6
        assert _said(chat)[0] == "never delete anything"

    # --- settings --------------------------------------------------------------------------------

    def test_settings_are_stored_and_hold_from_now_on(self, stage: Stage) -> None:
        chat, other = stage.session(), stage.elsewhere()
        chat.append(_TURNS)
        other.append(_TURNS)
        settings = chat.configure(max_messages=4, profile="anthropic", on_overflow="smallest")
        assert settings.directive is not None
        assert settings.directive.window_messages == 4
        assert settings.profile == "anthropic"
        assert len(stage.session().window()) == 4
        other.append([user("on"), assistant("ok")])
        assert len(other.window()) <= 4
        event = next(event for event in chat.events() if event.kind == "set")
        assert event.note == "directive, overflow, profile"
        made = stage.session("made")
        made.configure(max_messages=2)
        assert stage.reading("made").version is not None
        stage.session("made").append(_TURNS)
        assert len(stage.session("made").window()) == 2

    def test_settings_that_are_none_are_refused(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append(_TURNS)
        wrong: Any
        for error, wrong in (
            (ValueError, {"profile": "nobody's"}),
            (ValueError, {"max_messages": -1}),
            (TypeError, {"max_messages": True}),
            (ValueError, {"on_overflow": "explode"}),
            (ConversationServiceError, {"strategy": "sliding"}),
        ):
            with pytest.raises(error):
                chat.configure(**wrong)
            with pytest.raises(error):
                stage.session("other", **wrong)
        no_text: Any = 7
        for wrong in ({"mode": "both"}, {"ttl": -1}, {"ttl": True}, {"format": "nobody's"}):
            with pytest.raises((ValueError, LookupError, FormatError)):
                stage.session("other", **wrong)
        with pytest.raises(TypeError):
            stage.session(no_text)
        assert chat.events() == []

    # --- retention -------------------------------------------------------------------------------

    def test_a_purge_empties_what_the_retention_does_not_keep(self, stage: Stage) -> None:
        chat = stage.session(max_messages=4, retention=Retention(messages=10))
        for number in range(10):
            chat.append([user(f"q{number}"), assistant(f"a{number}")])
        size = stage.store().list(tenant=stage.tenant)[0].bytes
        window = chat.window()
        assert chat.purge() == 10
        assert stage.elsewhere().window() == window
        record = list(chat.record())
        assert [one.state for one in record[:10]] == ["purged"] * 10
        assert record[0].message is None
        assert record[10].message == user("q5")
        assert stage.store().list(tenant=stage.tenant)[0].bytes < size
        assert chat.events()[-1].kind == "purge"
        assert "10 messages emptied: 1-10" in chat.events()[-1].note
        assert chat.purge() == 0
        assert chat.verify() == []
        with pytest.raises(FormatError):
            chat.recall(1)
        assert chat.search("q1") == []
        assert chat.append(user("on")).first == 21

    def test_a_purge_spares_what_is_shown(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append(_TURNS)
        assert chat.purge(Retention(messages=0)) == 0
        assert len(chat.window()) == 8
        chat.rewind(2)
        assert chat.purge(Retention(seconds=3_600)) == 0
        assert chat.purge(Retention(seconds=0, messages=6)) == 6
        assert _said(chat) == ["q1", "a1"]

    def test_nobody_purges_by_accident(self, stage: Stage) -> None:
        chat = stage.session()
        assert chat.purge(Retention(messages=0)) == 0
        chat.append(_TURNS)
        with pytest.raises(ValueError, match="Retention"):
            chat.purge()
        wrongs: tuple[Any, ...] = ({"messages": -1}, {"messages": True}, {"seconds": -0.5})
        for wrong in wrongs:
            with pytest.raises((ValueError, TypeError)):
                Retention(**wrong)

    def test_going_back_to_what_was_purged_shows_what_is_left(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append(_TURNS)
        chat.rewind(2)
        chat.append([user("on"), assistant("ok")])
        chat.purge(Retention(messages=2))
        chat.rewind(6)
        window = chat.window()
        assert texts(window) == ["q1", "a1"]
        assert set(window.damaged) == {3, 4, 5, 6}


def _hex_in(stub: str) -> str:
    """Return the handle that a stub names."""
    found = re.search(r"[0-9a-f]{16}", stub)
    assert found is not None, stub
    return found[0]
