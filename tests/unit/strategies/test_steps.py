"""The settings of steps and pins: what they are by default, and what is refused."""

import pytest

from lockstitch.strategies import (
    AnthropicCompaction,
    AnthropicEditing,
    ClearMedia,
    ClearRepeats,
    ClearResults,
    DropOldest,
    DropReasoning,
    KeepLast,
    OffloadResults,
    OpenAICompaction,
    Pin,
    Summarize,
)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ClearResults(keep_groups=True), "keep_groups must be an integer, got True"),
        (lambda: ClearResults(keep_groups=-1), "keep_groups must not be negative, got -1"),
        (lambda: ClearResults(keep_turn=1), "keep_turn must be True or False, got 1"),
        (lambda: ClearResults(exclude="read"), "exclude must be a list of names"),
        (lambda: OffloadResults(min_chars=1.5), "min_chars must be an integer"),
        (lambda: ClearRepeats(min_chars=None), "min_chars must be an integer"),
        (lambda: ClearMedia(keep_turns="1"), "keep_turns must be an integer"),
        (lambda: DropReasoning(keep_turns=0), "keep_turns must be at least 1"),
        (lambda: Summarize(max_chars=0), "max_chars at least 1"),
        (lambda: Summarize(max_input_chars=99), "max_input_chars must be at least 100"),
        (lambda: DropOldest(cut="middle"), "cut must be"),
        (KeepLast, "KeepLast takes turns or groups"),
        (lambda: KeepLast(turns=1, groups=1), "KeepLast takes turns or groups"),
        (lambda: KeepLast(turns=-1), "turns must not be negative"),
        (lambda: AnthropicEditing(trigger_tokens=-1), "trigger_tokens must not be negative"),
        (lambda: AnthropicCompaction(trigger_tokens=49_999), "at least 50000 for Anthropic"),
        (lambda: OpenAICompaction(threshold_tokens="5"), "threshold_tokens must be an integer"),
        (Pin, "a pin takes one of index, id, role and text, got none"),
        (lambda: Pin(index=1, role="user"), "got index and role"),
        (lambda: Pin(index=True), "index must be an integer"),
        (lambda: Pin(text=""), "text must be a text"),
        (lambda: Pin(id=5), "id must be a text"),
        (lambda: Pin(role="tools"), "no messages have the role 'tools'"),
    ],
)
def test_nonsense_is_refused_when_it_is_built(make, said):
    with pytest.raises((TypeError, ValueError), match=said):
        make()


def test_what_may_be_left_out_may_be_none():
    editing = AnthropicEditing(trigger_tokens=None, keep_tool_uses=None, clear_at_least=None)
    assert editing.keep_thinking_turns is None
    assert KeepLast(groups=3).turns is None
