"""Appends: what may be appended, what comes back of it, and what is refused whole.

Knows: texts and values that codecs, drivers and databases have changed on the way; that order is
the order of appending; that only a key makes a batch the same batch.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from lockstitch.errors import Conflict, FormatError, LockstitchError
from lockstitch.testing.builders import assistant, call, result, user
from lockstitch.testing.contract.messages import (
    item_call,
    item_output,
    item_says,
    item_thinks,
    item_user,
    tool_result,
    tool_use,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockstitch.testing.contract.stage import Stage

__all__ = ["Appends"]

ODD_TEXTS = (
    *("42", "true", "null", "[1,2]", '{"a": 1}', "007", "1e3", "NaN", ""),
    *("caf\ud83d menu", "\udc00", "\x00", "a\x00b", "\r\n\t", "\u2028", "é", "e\u0301"),
    *("日本語 🧵", "\ufeff", "\\u0041", '"', "'; --", "%s %(a)s {} ${x}", "x" * 70_000),
)
ODD_VALUES: tuple[Any, ...] = (
    *(2**63, -(2**63) - 1, 2**200, 0.1, 1e308, -0.0, True, None),
    *(b"\x00\xff", (1, (2, [3])), {"$lockstitch": "tuple", "value": 1}, {"": {"": []}}, [[[]]]),
    *({"$lockstitch": {"deep": b"er"}}, float("inf"), -math.inf),
)


class _Sdk:
    """An object of an SDK: it dumps itself, and holds fields that nobody set."""

    def __init__(self, **fields: Any) -> None:
        self._fields = fields

    def model_dump(self, **options: Any) -> dict[str, Any]:
        unset = {} if options.get("exclude_unset") else {"refusal": None, "tool_calls": None}
        return {**unset, **self._fields}


class Appends:
    """What may be appended, what comes back of it, and what is refused whole."""

    # --- what comes back -------------------------------------------------------------------------

    def test_odd_texts_come_back_as_they_were(self, stage: Stage) -> None:
        messages = [user(text) for text in ODD_TEXTS]
        stage.session().append(messages)
        assert [one.message for one in stage.session().record()] == messages
        window = stage.session().window()
        # What no provider can be sent is mended on the way out, and said; nothing else is touched.
        seen = dict(zip(window.seqs, window, strict=True))
        for seq, message in enumerate(messages, 1):
            text = message["content"]
            if text.strip() and not any("\ud800" <= letter <= "\udfff" for letter in text):
                assert seen[seq] == message
        assert window.changes

    def test_odd_values_come_back_as_they_were(self, stage: Stage) -> None:
        messages = [{**user("see"), "x_value": value} for value in ODD_VALUES]
        stage.session().append(messages)
        found = [one.message for one in stage.session().record()]
        assert found == messages
        assert [repr(one) for one in found] == [repr(one) for one in messages]

    def test_a_number_that_is_none_comes_back_as_one(self, stage: Stage) -> None:
        stage.session().append({**user(), "x_value": math.nan})
        assert math.isnan(stage.session().window()[0]["x_value"])

    def test_odd_ids_of_calls_come_back_and_pair(self, stage: Stage) -> None:
        for at, id in enumerate(("", "\ud83d", "\x00", "é" * 300, "a:b}")):
            chat = stage.session(str(at), profile="openai-chat", max_messages=2)
            chat.append([user(), call(id)])
            chat.append(result(id))
            assert [one.message for one in chat.record()] == [user(), call(id), result(id)]

    def test_what_cannot_be_kept_is_refused_with_all_of_its_batch(self, stage: Stage) -> None:
        for wrong in ({1, 2}, 1 + 2j, {3: "three"}, object(), [{"deep": {4: 1}}]):
            chat = stage.session()
            with pytest.raises(FormatError) as caught:
                chat.append([user("first"), {**user(), "x_value": wrong}])
            assert "messages[1].x_value" in str(caught.value)
        assert stage.reading().version is None

    def test_what_is_nested_too_deeply_is_refused(self, stage: Stage) -> None:
        deep: list[Any] = []
        for _ in range(100_000):
            deep = [deep]
        with pytest.raises(FormatError):
            stage.session().append([{**user(), "x_value": deep}])
        assert stage.reading().version is None

    def test_large_messages_come_back(self, stage: Stage) -> None:
        message = {**user("x" * 3_000_000), "x_blob": bytes(range(256)) * 4_000}
        stage.session().append([message, assistant()])
        assert stage.session().window() == [message, assistant()]

    def test_order_is_the_order_of_appending(self, stage: Stage) -> None:
        chat = stage.session(profile="openai-responses")
        items = [item_user("q"), item_thinks("rs_1"), item_says("a"), item_user("n")]
        for item in items:
            chat.append(item)
        assert chat.window() == items
        many = stage.session("many")
        many.append([user(str(number)) for number in range(1_203)])
        assert [one["content"] for one in many.window()] == [str(n) for n in range(1_203)]
        rows = list(many.record())
        assert [one.seq for one in rows] == list(range(1, 1_204))
        assert len({one.batch for one in rows}) == 1

    def test_equal_text_is_not_a_duplicate(self, stage: Stage) -> None:
        chat = stage.session()
        for _ in range(3):
            chat.append([user("yes"), assistant("ok")])
        stage.elsewhere().append([user("yes"), assistant("ok")])
        assert len(chat.window()) == 8

    # --- in which forms --------------------------------------------------------------------------

    def test_one_message_is_a_batch_of_one(self, stage: Stage) -> None:
        chat = stage.session()
        receipt = chat.append(user("hi"))
        assert (receipt.first, receipt.count, receipt.last) == (1, 1, 1)
        assert chat.append(assistant()).first == 2
        parts = {"role": "user", "content": [{"type": "text", "text": "in parts"}]}
        assert chat.append(parts).count == 1
        assert chat.window() == [user("hi"), assistant(), parts]

    def test_raw_json_is_one_message_and_comes_back_as_it_says(self, stage: Stage) -> None:
        chat = stage.session()
        assert chat.append(msgspec.Raw(b'{"role":"user","content":"raw", "n": 1.0}')).count == 1
        assert chat.window() == [{"role": "user", "content": "raw", "n": 1.0}]

    def test_any_iterable_is_a_batch(self, stage: Stage) -> None:
        def messages() -> Iterator[Any]:
            yield user("1")
            yield assistant("2")

        chat = stage.session()
        assert chat.append(messages()).count == 2
        assert chat.append((user("3"), assistant("4"))).count == 2
        assert chat.append(iter([user("5")])).first == 5
        assert [one["content"] for one in chat.window()] == list("12345")

    def test_a_request_body_is_the_batch_that_it_holds(self, stage: Stage) -> None:
        bodies: tuple[tuple[str, Any, int], ...] = (
            ("openai-chat", {"model": "m", "messages": [user(), call("a"), result("a")]}, 3),
            ("openai-responses", {"model": "m", "input": [item_user("q"), item_call("a")]}, 2),
            ("anthropic", {"system": "be brief", "messages": [user(), tool_use("a")]}, 2),
            ("gemini", {"contents": [{"role": "user", "parts": [{"text": "q"}]}]}, 1),
        )
        for format, body, count in bodies:
            chat = stage.session(format, format=format)
            assert chat.append(body).count == count
            held = body.get("messages") or body.get("input") or body.get("contents")
            assert [one.message for one in chat.record()] == held

    def test_a_text_of_json_is_the_batch_that_it_says(self, stage: Stage) -> None:
        chat = stage.session()
        assert chat.append(b'[{"role": "user", "content": "q"}]').count == 1
        assert chat.append('{"messages": [{"role": "assistant", "content": "a"}]}').count == 1
        assert chat.window() == [user("q"), assistant("a")]

    def test_objects_of_sdks_are_stored_as_they_go_over_the_wire(self, stage: Stage) -> None:
        chat = stage.session(format="openai-chat")
        chat.append([_Sdk(**user("q")), _Sdk(**call("a")), _Sdk(**result("a"))])
        chat.append(_Sdk(**assistant("one alone")))
        assert chat.window() == [user("q"), call("a"), result("a"), assistant("one alone")]

    def test_nothing_appended_is_nothing_stored(self, stage: Stage) -> None:
        chat = stage.session()
        several: tuple[Any, ...] = ([], (), iter([]))
        for nothing in several:
            receipt = chat.append(nothing)
            assert (receipt.first, receipt.count, receipt.last, receipt.version) == (0, 0, 0, None)
        assert stage.reading().version is None
        assert chat.window() == []
        assert list(chat.record()) == []
        assert chat.events() == []
        assert "0 of 0" in chat.explain()

    def test_what_is_no_message_is_refused(self, stage: Stage) -> None:
        chat = stage.session()
        for wrong in (None, 7, "plain text", b"\xff", [None], [user(), 7], {"no": "role"}):
            with pytest.raises((LockstitchError, TypeError, ValueError)):
                chat.append(wrong)
        assert stage.reading().version is None

    def test_another_format_than_the_sessions_is_refused_whole(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append([user(), call("a"), result("a")])
        looked = stage.elsewhere()
        looked.window()
        for handle in (chat, looked, stage.session(format="openai-chat")):
            with pytest.raises(FormatError, match="openai-chat"):
                handle.append([user(), tool_use("b")])
            with pytest.raises(FormatError):
                handle.append(item_thinks("rs_1"))
        assert len(list(stage.session().record())) == 3

    def test_another_format_from_a_handle_that_never_looked_harms_nothing(
        self, stage: Stage
    ) -> None:
        stage.session().append([user(), call("a"), result("a")])
        stage.session().append([user("unseen"), tool_use("b")])
        window = stage.session().window()
        assert window == [user(), call("a"), result("a")]
        assert list(window.damaged) == [4, 5]
        assert "anthropic" in window.damaged[5]
        assert [one.seq for one in stage.session().verify()] == [4, 5]
        stage.session().append(assistant("on we go"))
        assert len(stage.session().window()) == 4

    def test_plain_text_settles_no_format(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append([user("q"), assistant("a")])
        stage.session().append([tool_use("b"), tool_result("b")])
        late = stage.elsewhere()
        assert late.window() == [user("q"), assistant("a"), tool_use("b"), tool_result("b")]
        with pytest.raises(FormatError):
            late.append(call("c"))

    def test_the_key_of_a_batch_is_a_text(self, stage: Stage) -> None:
        wrong: Any = 7
        with pytest.raises(TypeError):
            stage.session().append(user(), key=wrong)
        assert stage.reading().version is None

    # --- keys ------------------------------------------------------------------------------------

    @pytest.mark.parametrize("limit", [None, 2, 40])
    def test_the_same_key_stores_once_however_late(self, stage: Stage, limit: int | None) -> None:
        chat = stage.session(max_messages=limit)
        for number in range(4):
            chat.append([user(str(number)), assistant("ok")], key=f"turn-{number}")
        stage.session().append([user("between")] * 300)
        receipt = stage.elsewhere(max_messages=limit).append([user("0"), assistant()], key="turn-0")
        assert (receipt.replayed, receipt.first, receipt.count) == (True, 1, 2)
        again = chat.append([user("3")], key="turn-3")
        assert (again.replayed, again.first, again.count) == (True, 7, 2)
        assert len(list(chat.record())) == 308

    def test_odd_keys_are_all_different(self, stage: Stage) -> None:
        keys = ["", " ", "turn", "turn ", "TURN", "a:b", "a%3Ab", "\x00", "é", "e\u0301", "\ud83d"]
        keys += ["k" * 3_000, "k" * 3_001, "{}", "*"]
        chat = stage.session()
        for at, key in enumerate(keys, 1):
            assert chat.append(user(str(at)), key=key).first == at
        for at, key in enumerate(keys, 1):
            receipt = stage.elsewhere().append(user("again"), key=key)
            assert (receipt.replayed, receipt.first) == (True, at)

    def test_a_key_belongs_to_one_session(self, stage: Stage) -> None:
        assert stage.session("a").append(user(), key="turn").first == 1
        assert not stage.session("b").append(user(), key="turn").replayed

    def test_a_batch_with_a_key_and_without_one_are_two(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append(user("q"), key="turn")
        chat.append(user("q"))
        assert not chat.append(user("q"), key="other").replayed
        assert len(chat.window()) == 3

    # --- several handles -------------------------------------------------------------------------

    def test_two_handles_see_what_the_other_appends(self, stage: Stage) -> None:
        for limit in (None, 6):
            id = str(limit)
            one = stage.session(id, max_messages=limit)
            other = stage.elsewhere(id, max_messages=limit)
            for number in range(9):
                (one if number % 2 else other).append([user(str(number)), assistant("ok")])
                assert one.window() == other.window()
                assert one.window()[-2] == user(str(number))
            assert [one.message["content"] for one in other.record()][::2] == list("012345678")

    def test_a_handle_that_has_not_looked_for_long_cuts_what_is_there_now(
        self, stage: Stage
    ) -> None:
        stale = stage.session(max_messages=8)
        stale.append([user("0"), assistant("0")])
        busy = stage.elsewhere()
        for number in range(1, 40):
            busy.append([user(str(number)), assistant(str(number))])
        receipt = stale.append([call("a")])
        assert receipt.first == 81
        assert not receipt.pending
        stale.append(result("a"))
        window = stage.session().window()
        assert len(window) <= 8
        assert window[-2:] == [call("a"), result("a")]

    def test_settings_hold_for_every_handle(self, stage: Stage) -> None:
        stage.session(max_messages=4, profile="anthropic").append(user("0"))
        other = stage.elsewhere()
        for number in range(1, 9):
            other.append([assistant("ok"), user(str(number))])
        assert len(other.window()) <= 4
        # A handle's own settings overrule what is stored, for it alone.
        assert len(stage.session(max_messages=2).window()) <= 2
        assert len(stage.session().window()) == len(other.window())

    def test_a_session_deleted_and_made_again_is_another(self, stage: Stage) -> None:
        for limit in (None, 4):
            id = str(limit)
            stale = stage.session(id, max_messages=limit)
            for number in range(5):
                stale.append([user(str(number)), assistant("old")])
            assert stage.elsewhere(id).delete()
            other = stage.elsewhere(id, max_messages=limit)
            other.append([user("new 1"), assistant("new 2"), user("new 3")])
            receipt = stale.append(assistant("new 4"))
            assert receipt.first == 4
            found = [one.message["content"] for one in stale.record()]
            assert found == ["new 1", "new 2", "new 3", "new 4"]
            assert stale.window()[-1] == assistant("new 4")
            assert stage.session(id).verify() == []

    def test_a_session_deleted_under_a_handle_begins_anew_with_its_settings(
        self, stage: Stage
    ) -> None:
        chat = stage.session(max_messages=4)
        chat.append([user(), assistant()], key="turn")
        stage.elsewhere().delete()
        assert chat.append([user("again"), assistant()], key="turn").first == 1
        for number in range(9):
            chat.append([user(str(number)), assistant()])
        assert len(stage.elsewhere().window()) == 4

    # --- exclusive -------------------------------------------------------------------------------

    def test_exclusive_appends_land_while_nobody_else_writes(self, stage: Stage) -> None:
        chat = stage.session(mode="exclusive", max_messages=4)
        for number in range(6):
            assert chat.append([user(str(number)), assistant()]).first == 2 * number + 1
        assert len(chat.window()) == 4
        fresh = stage.session(mode="exclusive")
        assert fresh.append(user("the first of this handle")).first == 13

    def test_an_exclusive_append_is_refused_when_somebody_else_wrote(self, stage: Stage) -> None:
        chat = stage.session(mode="exclusive")
        chat.append(user("1"))
        stage.elsewhere().append(user("2"))
        with pytest.raises(Conflict) as caught:
            chat.append([assistant("a"), assistant("b")])
        assert (caught.value.expected, caught.value.found) == (1, 2)
        with pytest.raises(Conflict):
            chat.append(assistant("asking again is no way around it"))
        assert len(chat.window()) == 2
        assert chat.append(assistant("decided again")).first == 3

    def test_an_exclusive_append_is_refused_when_the_session_is_gone(self, stage: Stage) -> None:
        chat = stage.session(mode="exclusive")
        chat.append(user("1"))
        stage.elsewhere().delete()
        with pytest.raises(Conflict, match="gone"):
            chat.append(user("2"))
        assert stage.reading().version is None
        assert chat.window() == []
        assert chat.append(user("2")).first == 1

    def test_only_one_of_two_makes_a_session_exclusively(self, stage: Stage) -> None:
        one, other = (stage.session(mode="exclusive"), stage.elsewhere(mode="exclusive"))
        assert one.window() == other.window() == []
        one.append(user("mine"))
        with pytest.raises(Conflict):
            other.append(user("mine"))
        assert len(one.window()) == 1

    def test_an_exclusive_append_with_its_key_is_known_again(self, stage: Stage) -> None:
        chat = stage.session(mode="exclusive")
        chat.append(user("1"), key="turn")
        stage.elsewhere().append(user("2"))
        assert chat.append(user("1"), key="turn").replayed

    def test_changes_of_the_view_are_exclusive_too(self, stage: Stage) -> None:
        chat = stage.session(mode="exclusive")
        chat.append([user("1"), assistant("2")])
        stage.elsewhere().append(user("3"))
        for change in (chat.pop, chat.clear, lambda: chat.rewind(1), lambda: chat.edit(1, user())):
            with pytest.raises(Conflict):
                change()
        assert len(stage.session().window()) == 3
        chat.window()
        assert chat.pop() == [user("3")]

    def test_calls_and_results_in_separate_batches_pair(self, stage: Stage) -> None:
        chat = stage.session(profile="openai-responses", max_messages=6)
        for number in range(12):
            chat.append(
                [item_user(str(number)), item_thinks(f"rs_{number}"), item_call(f"c{number}")]
            )
            chat.append(item_output(f"c{number}"))
            window = chat.window()
            assert window[-2:] == [item_call(f"c{number}"), item_output(f"c{number}")]
            assert len(window) <= 6
