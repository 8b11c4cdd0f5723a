"""Management on the provider's side: what is asked for, and what an answer says was done."""

import pytest

import lockstitch as ls
from lockstitch.strategies import (
    AnthropicCompaction,
    AnthropicEditing,
    OpenAICompaction,
    OpenAITruncation,
    ProviderReport,
    StepsHistoryStrategy,
    read_answer,
)
from lockstitch.strategies.managed import BETAS

ANTHROPIC = [
    {"role": "user", "content": "a"},
    {"role": "assistant", "content": [{"type": "text", "text": "b"}]},
    {"role": "user", "content": [{"type": "text", "text": "c"}]},
]
COMPACTED = [
    *ANTHROPIC,
    {
        "role": "assistant",
        "content": [{"type": "compaction", "content": "They said a and b."}],
    },
    {"role": "user", "content": "d"},
]


def asked(history, *steps, **options):
    return ls.plan(history, StepsHistoryStrategy(steps=steps), **options).request


def test_context_editing_is_asked_for_with_thinking_first():
    editing = AnthropicEditing(
        trigger_tokens=30_000,
        keep_tool_uses=5,
        clear_at_least=4_000,
        exclude=("search",),
        clear_inputs=True,
        keep_thinking_turns=2,
    )
    compaction = AnthropicCompaction(instructions="Mind the tests.", pause=True)
    fields = asked(ANTHROPIC, editing, compaction, format="anthropic")
    assert fields == {
        "context_management": {
            "edits": [
                {
                    "type": "clear_thinking_20251015",
                    "keep": {"type": "thinking_turns", "value": 2},
                },
                {
                    "type": "clear_tool_uses_20250919",
                    "keep": {"type": "tool_uses", "value": 5},
                    "trigger": {"type": "input_tokens", "value": 30_000},
                    "clear_at_least": {"type": "input_tokens", "value": 4_000},
                    "exclude_tools": ["search"],
                    "clear_tool_inputs": True,
                },
                {
                    "type": "compact_20260112",
                    "trigger": {"type": "input_tokens", "value": 150_000},
                    "pause_after_compaction": True,
                    "instructions": "Mind the tests.",
                },
            ]
        }
    }
    assert {edit["type"] for edit in fields["context_management"]["edits"]} == BETAS.keys()


def test_what_is_left_to_the_provider_is_left_out():
    fields = asked(ANTHROPIC, AnthropicEditing(), AnthropicCompaction(), format="anthropic")
    assert fields["context_management"]["edits"] == [
        {"type": "clear_tool_uses_20250919", "keep": {"type": "tool_uses", "value": 3}},
        {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 150_000}},
    ]
    assert asked(ANTHROPIC, AnthropicEditing(keep_tool_uses=None), format="anthropic") == {}


def test_the_types_of_the_sdk_have_every_field():
    from anthropic.types.beta import BetaContextManagementConfigParam
    from pydantic import TypeAdapter

    editing = AnthropicEditing(trigger_tokens=5, clear_at_least=5, keep_thinking_turns=1)
    fields = asked(ANTHROPIC, editing, AnthropicCompaction(pause=True), format="anthropic")
    adapter = TypeAdapter(BetaContextManagementConfigParam)
    adapter.validate_python(fields["context_management"])


def test_openai_is_asked_to_compact_and_to_truncate():
    history = [{"type": "message", "role": "user", "content": "a"}]
    steps = (OpenAICompaction(threshold_tokens=9_000), OpenAITruncation())
    assert asked(history, *steps, format="openai-responses") == {
        "context_management": [{"type": "compaction", "compact_threshold": 9_000}],
        "truncation": "auto",
    }


def test_a_step_of_another_provider_is_passed_over_and_said_so():
    strategy = StepsHistoryStrategy(steps=(OpenAICompaction(), AnthropicEditing()), max_messages=1)
    decision = ls.plan(ANTHROPIC, strategy, format="anthropic")
    assert decision.steps[0].why_not == "for the target openai-responses"
    assert list(decision.request) == ["context_management"]


def test_the_fields_stand_in_the_request_that_was_handed_over():
    body = {"model": "m", "system": "s", "messages": ANTHROPIC}
    strategy = StepsHistoryStrategy(steps=(AnthropicEditing(),), max_messages=3)
    window = ls.trim(body, strategy=strategy)
    assert window["context_management"]["edits"]
    assert window["messages"] == ANTHROPIC
    assert ls.trim(ANTHROPIC, strategy=strategy, format="anthropic") == ANTHROPIC


def test_what_a_compaction_stands_for_goes_first_and_pins_stay():
    strategy = StepsHistoryStrategy(steps=(AnthropicCompaction(),), max_messages=4)
    decision = ls.plan(COMPACTED, strategy, profile="anthropic")
    assert decision.kept == [3, 4]
    assert [edit.reason for edit in decision.edits] == ["compacted", "recent"]
    pinned = ls.plan(COMPACTED, strategy, profile="anthropic", pins=[0])
    assert pinned.kept == [0, 3, 4]
    roomy = StepsHistoryStrategy(steps=(AnthropicCompaction(),), max_messages=5)
    assert ls.plan(COMPACTED, roomy, profile="anthropic").kept == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("content", [None, ""])
def test_a_compaction_that_failed_stands_for_nothing(content):
    failed = [*ANTHROPIC, {"role": "assistant", "content": [{"type": "compaction"}]}, COMPACTED[4]]
    failed[3]["content"][0]["content"] = content
    strategy = StepsHistoryStrategy(steps=(AnthropicCompaction(),), max_messages=4)
    decision = ls.plan(failed, strategy, profile="anthropic")
    assert "compacted" not in {edit.reason for edit in decision.edits}


def test_nothing_is_thinned_out_of_what_the_provider_holds():
    items = [
        {"role": "user", "content": "a"},
        {"type": "compaction", "encrypted_content": "E"},
        {"role": "user", "content": "b"},
    ]
    strategy = StepsHistoryStrategy(steps=(OpenAICompaction(),), max_messages=2)
    assert ls.plan(items, strategy, profile="openai-responses").kept == [1, 2]
    more = [*items, {"role": "assistant", "content": "c"}, {"role": "user", "content": "d"}]
    assert ls.plan(more, strategy, profile="openai-responses").kept == [1, 4]
    held = {"previous_response_id": "resp_1", "input": items}
    decision = ls.plan(held, strategy, on_overflow="smallest")
    assert "compacted" not in {edit.reason for edit in decision.edits}


@pytest.mark.parametrize(
    ("answer", "report"),
    [
        ({"content": [{"type": "text", "text": "a"}]}, ProviderReport()),
        (
            {
                "content": [{"type": "compaction", "content": "so"}],
                "context_management": {
                    "applied_edits": [
                        {
                            "type": "clear_tool_uses_20250919",
                            "cleared_tool_uses": 8,
                            "cleared_input_tokens": 500,
                        },
                        {
                            "type": "clear_thinking_20251015",
                            "cleared_thinking_turns": 2,
                            "cleared_input_tokens": 50,
                        },
                    ]
                },
                "input_transformations": [{"type": "drop_block"}],
            },
            ProviderReport(
                cleared_tool_uses=8,
                cleared_thinking_turns=2,
                cleared_tokens=550,
                dropped_thinking=1,
                compacted=True,
            ),
        ),
        (
            {"output": [{"type": "compaction", "encrypted_content": "E"}], "truncation": "auto"},
            ProviderReport(compacted=True, truncated=True),
        ),
        ({"output": None, "context_management": None, "truncation": "disabled"}, ProviderReport()),
        # A request's own field of this name is a list.
        ({"output": [], "context_management": [{"type": "compaction"}]}, ProviderReport()),
    ],
)
def test_an_answer_says_what_was_done(answer, report):
    assert read_answer(answer) == report
    assert report.changed is (report != ProviderReport())


def test_an_answer_of_the_sdk_is_read():
    from anthropic.types.beta import BetaMessage

    fields = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "usage": {"input_tokens": 1, "output_tokens": 1},
        "context_management": {
            "applied_edits": [
                {
                    "type": "clear_tool_uses_20250919",
                    "cleared_tool_uses": 3,
                    "cleared_input_tokens": 9,
                }
            ]
        },
    }
    assert read_answer(BetaMessage.model_validate(fields)).cleared_tool_uses == 3


def test_what_is_no_answer_is_refused():
    with pytest.raises(ls.FormatError, match="expected a mapping"):
        read_answer("nothing")
