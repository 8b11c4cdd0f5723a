"""Stubs in the place of old results, repeats and media: where, how large, how they come back."""

import pytest

import lockstitch as ls
from lockstitch.strategies import (
    ClearMedia,
    ClearRepeats,
    ClearResults,
    OffloadResults,
    StepsHistoryStrategy,
)
from lockstitch.testing import assistant, call, result, system, user
from lockstitch.testing.render import SHAPES, render
from lockstitch.testing.steps import Call, Calls, Result, Say, User
from lockstitch.transcript import ToolResult
from lockstitch.writing import WRITERS, text_of

FORMATS = sorted(WRITERS)
IMAGE = "data:image/png;base64," + "A" * 4_000


def cleared(history, *steps, format=None, limit=1, **options):
    """Plan steps under a limit in characters that is passed, and nothing else that would help."""
    strategy = StepsHistoryStrategy(steps=steps, max_chars=limit, on_overflow="smallest")
    return ls.plan(history, strategy, format=format, **options)


def results(history, format=None):
    return [
        part
        for message in ls.load(history, format=format)
        for part in message.parts
        if isinstance(part, ToolResult)
    ]


def within(size, *steps):
    return StepsHistoryStrategy(steps=steps, max_chars=size)


@pytest.mark.parametrize("format", FORMATS)
def test_old_results_become_stubs_and_calls_ids_and_names_stay(agent, format):
    history = agent(format, system=False)
    window = ls.trim(history, strategy=within(4_000, ClearResults(keep_groups=2)), format=format)
    assert len(window) == len(history)
    before, after = results(history, format), results(window, format)
    texts = [text_of(part.content) for part in after]
    assert [part.id for part in before] == [part.id for part in after]
    assert [part.name for part in before] == [part.name for part in after]
    assert all("[Cleared: " in text for text in texts[:4])
    assert [part.content for part in before[4:]] == [part.content for part in after[4:]]
    assert all(one is other for one, other in zip(history[:2], window[:2], strict=True))
    assert ls.check(window, profile="portable", format=format).ok


@pytest.mark.parametrize("format", FORMATS)
def test_a_stub_says_how_much_went_shows_both_ends_and_names_the_payload(agent, format):
    history = agent(format, system=False)
    step = ClearResults(keep_groups=0, head=10, tail=5)
    decision = cleared(history, step, format=format, limit=5_000)
    edit = next(edit for edit in decision.edits if edit.action == "replace")
    (put,) = edit.puts
    first, head, gap, tail = put.text.split("\n")
    assert first.startswith("[Cleared: 1,0")
    assert f"recall {put.handle}]" in first
    original = text_of(results(history, format)[0].content)
    assert original.startswith(head)
    assert gap == "[...]"
    assert original.endswith(tail)
    assert ls.recall(history, put.handle, format=format) == results(history, format)[0].content


def test_a_stub_can_do_without_either_end():
    history = [user(), call("a"), result("a", "x" * 900), user()]
    decision = cleared(history, ClearResults(keep_groups=0, head=0, tail=0), limit=200)
    put = next(edit for edit in decision.edits if edit.puts).puts[0]
    assert "\n" not in put.text
    decision = cleared(history, ClearResults(keep_groups=0, head=5, tail=0), limit=200)
    put = next(edit for edit in decision.edits if edit.puts).puts[0]
    assert put.text.split("\n")[1:] == ["xxxxx"]


def test_a_stub_is_never_larger_than_what_it_replaces():
    history = [user(), call("a"), result("a", "x" * 60), user()]
    decision = cleared(history, ClearResults(keep_groups=0, min_chars=0))
    assert not decision.replaced
    assert decision.steps[0].why_not == "nothing is old or large enough"


def test_what_was_cleared_once_is_not_cleared_again(agent):
    history = agent()
    strategy = within(3_000, ClearResults(keep_groups=1, min_chars=100))
    window = ls.trim(history, strategy=strategy)
    again = ls.plan(window, within(500, ClearResults(keep_groups=1, min_chars=50)))
    cleared_again = [edit for edit in again.edits if edit.reason == "cleared"]
    assert not cleared_again


def test_the_newest_groups_the_open_turn_and_named_tools_can_stay(agent):
    history = agent(rounds=3)
    names = {"keep_groups": 0, "exclude": ("read",)}
    assert not cleared(history, ClearResults(**names)).replaced
    assert not cleared(history, ClearResults(keep_groups=0, keep_turn=True)).replaced
    asked = [*history, user("And now?")]
    assert cleared(asked, ClearResults(keep_groups=0, keep_turn=True), limit=3_000).replaced
    assert not cleared(history, ClearResults(keep_groups=3)).replaced


def test_a_short_result_stays():
    history = [user(), call("a"), result("a", "x" * 500), user()]
    assert not cleared(history, ClearResults(keep_groups=0)).replaced
    assert cleared(history, ClearResults(keep_groups=0, min_chars=500), limit=499).replaced


def test_an_open_call_and_a_pinned_one_keep_their_results(agent):
    history = [*agent(rounds=2)[:-1], call("open")]
    step = ClearResults(keep_groups=0)
    decision = cleared(history, step, pins=[3], limit=2_000)
    assert decision.replaced == [5]


def test_the_mark_of_an_error_stays():
    steps = [User(), Calls((Call("a", "run"),)), Result("a", "e" * 900, error=True), Say(), User()]
    history = render(steps, "anthropic")
    window = ls.trim(history, strategy=within(700, ClearResults(keep_groups=0)))
    (block,) = window[2]["content"]
    assert block["is_error"] is True
    assert block["content"].startswith("[Cleared: 900 characters of run, ")


def test_an_id_that_is_used_again_never_answers_with_another_payload():
    one, two = "1" * 900, "2" * 900
    history = [user(), call("a"), result("a", one), call("a"), result("a", two), user()]
    decision = cleared(history, ClearResults(keep_groups=0), limit=1_500)
    handles = [edit.puts[0].handle for edit in decision.edits if edit.puts]
    assert len(set(handles)) == 2
    assert [ls.recall(history, handle) for handle in handles] == [one, two]
    again = ls.plan(history[3:], within(700, ClearResults(keep_groups=0)))
    assert [edit.puts[0].handle for edit in again.edits if edit.puts] == handles[1:]


def test_an_unknown_handle_is_refused_with_a_hint(agent):
    with pytest.raises(ls.FormatError, match="as it was recorded"):
        ls.recall(agent(), "0123456789abcdef")


def test_results_of_the_provider_and_screenshots_stay():
    shot = {"type": "computer_screenshot", "image_url": IMAGE}
    items = [
        {"role": "user", "content": "click"},
        {"type": "computer_call", "call_id": "c", "action": {}, "pending_safety_checks": []},
        {"type": "computer_call_output", "call_id": "c", "output": shot},
        {"type": "shell_call", "call_id": "s", "action": {"commands": ["ls"]}},
        {
            "type": "shell_call_output",
            "call_id": "s",
            "output": [{"stdout": "x" * 900, "stderr": "", "outcome": {"type": "timeout"}}],
        },
        {"role": "user", "content": "and?"},
    ]
    decision = cleared(items, ClearResults(keep_groups=0), format="openai-responses", limit=5_000)
    assert decision.replaced == [4]
    window = ls.apply(decision, items)
    assert window[4]["output"][0]["outcome"] == {"type": "timeout"}
    assert window[4]["output"][0]["stdout"].startswith("[Cleared: ")


def test_media_in_a_result_are_named_in_its_stub():
    shown = [{"type": "text", "text": "seen"}, {"type": "image_url", "image_url": {"url": IMAGE}}]
    history = [user(), call("a"), {**result("a"), "content": shown}, user()]
    decision = cleared(history, ClearResults(keep_groups=0), limit=1_000)
    put = next(edit for edit in decision.edits if edit.puts).puts[0]
    assert put.text.startswith("[Cleared: 4 characters of ")
    assert "and image (type unknown, 4,022 characters)" in put.text


def test_gemini_keeps_its_key_and_loses_its_media():
    answer = {"name": "f", "response": {"error": "e" * 900}}
    answer["parts"] = [{"inlineData": {"mimeType": "image/png", "data": "A" * 4_000}}]
    history = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": answer}]},
        {"role": "user", "parts": [{"text": "on"}]},
    ]
    window = ls.trim(history, strategy=within(500, ClearResults(keep_groups=0)), profile="gemini")
    cleared_answer = window[2]["parts"][0]["functionResponse"]
    assert cleared_answer["response"]["error"].startswith("[Cleared: ")
    assert "parts" not in cleared_answer


# --- repeats and media ----------------------------------------------------------------------------


def test_of_equal_results_the_newest_stays():
    text = "the same " * 40
    history = [user(), call("a"), result("a", text), call("b"), result("b", text), user()]
    window = ls.trim(history, strategy=within(600, ClearRepeats()))
    assert window[2]["content"].startswith("[The same as the newer result")
    assert window[4] is history[4]
    other = [user(), call("a"), result("a", text), call("b"), result("b", text + "!"), user()]
    assert not cleared(other, ClearRepeats(), limit=700).replaced


def test_repeats_of_named_tools_and_short_ones_stay():
    text = "the same " * 40
    history = [
        user(),
        call("a", name="f"),
        result("a", text),
        call("b", name="f"),
        result("b", text),
        user(),
    ]
    assert not cleared(history, ClearRepeats(exclude=("f",)), limit=600).replaced
    assert not cleared(history, ClearRepeats(min_chars=400), limit=600).replaced


def picture(text="look"):
    shown = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": IMAGE}}]
    return {"role": "user", "content": shown}


def test_old_media_become_a_word_with_type_and_size():
    history = [picture("one"), assistant(), picture("two"), assistant(), user("so?"), assistant()]
    strategy = StepsHistoryStrategy(steps=(ClearMedia(keep_turns=2),), max_tokens=1_800)
    decision = ls.plan(history, strategy)
    window = ls.apply(decision, history)
    word = window[0]["content"][1]["text"]
    handle = decision.edits[0].puts[0].handle
    assert word == f"[image (type unknown, 4,022 characters), cleared; recall {handle}]"
    assert window[2] is history[2]
    assert ls.recall(history, handle) == history[0]["content"][1]


@pytest.mark.parametrize(
    ("step", "left"),
    [
        (ClearMedia(keep_turns=0), []),
        (ClearMedia(keep_turns=1), [2]),
        (ClearMedia(keep_turns=9), [0, 2]),
        (ClearMedia(keep_turns=0, min_chars=4_023), [0, 2]),
    ],
)
def test_which_media_go(step, left):
    history = [picture("one"), assistant(), picture("two"), assistant()]
    strategy = StepsHistoryStrategy(steps=(step,), max_tokens=100, on_overflow="smallest")
    decision = ls.plan(history, strategy, pins=[0, 2])
    assert decision.replaced == []
    decision = ls.plan(history, strategy)
    went = {edit.start for edit in decision.edits if edit.reason == "media"}
    assert not went.intersection(left)
    assert went == {0, 2} - set(left) - set(decision.dropped)


def test_the_system_part_is_nobodys_to_clear():
    shown = [{"type": "image_url", "image_url": {"url": IMAGE}}]
    history = [system("x"), {"role": "user", "content": shown}, assistant(), user(), assistant()]
    decision = ls.plan(history, StepsHistoryStrategy(steps=(ClearMedia(),), max_tokens=1_000))
    assert decision.replaced == [1]


@pytest.mark.parametrize("format", sorted(SHAPES.keys() - WRITERS.keys()))
def test_a_format_that_is_only_read_is_cut_and_not_changed(agent, format):
    history = render([User(), Calls((Call("a"),)), Result("a", "x" * 900), Say(), User()], format)
    decision = cleared(history, ClearResults(keep_groups=0), format=format, limit=10)
    assert decision.steps[0].why_not == f"histories in the format {format} are only read"
    assert not decision.replaced


# --- offloading -----------------------------------------------------------------------------------


class Held(dict):
    """A store in memory."""

    def put(self, handle, payload):
        self[handle] = payload

    def get(self, handle):
        return self[handle]


def test_what_is_offloaded_is_written_and_what_is_not_stays():
    calls = Calls((Call("a", "f"), Call("b", "g"), Call("c", "h")))
    results_of = [Result("a", "1" * 900), Result("b", "2" * 20), Result("c", "3" * 900)]
    history = render([User(), calls, *results_of, Say(), User()], "anthropic", "packed")
    step = OffloadResults(min_chars=500, keep_groups=0, exclude=("h",), head=5, tail=5)
    strategy = StepsHistoryStrategy(steps=(step,), max_chars=1_400)
    held = Held()
    window = ls.trim(history, strategy=strategy, blobs=held)
    ((handle, payload),) = held.items()
    assert payload == b'"' + b"1" * 900 + b'"'
    first, second, third = window[2]["content"]
    assert first["content"] == (
        f"[Stored: 900 characters of f, blob {handle}]\n11111\n[...]\n11111"
    )
    assert second["content"] == "2" * 20
    assert third["content"] == "3" * 900
    decision = ls.plan(history, strategy)
    again = Held()
    assert ls.apply(decision, history, blobs=again) == window
    assert again == held


@pytest.mark.parametrize("blobs", [None, {}, object()])
def test_without_a_store_nothing_is_offloaded(blobs):
    history = [user(), call("a"), result("a", "x" * 9_000), user()]
    strategy = StepsHistoryStrategy(steps=(OffloadResults(keep_groups=0),), max_chars=2_000)
    with pytest.raises(TypeError, match="the plan offloads results: hand over blobs"):
        ls.trim(history, strategy=strategy, blobs=blobs)
    with pytest.raises(TypeError, match="the plan offloads results: hand over blobs"):
        ls.apply(ls.plan(history, strategy), history, blobs=blobs)
