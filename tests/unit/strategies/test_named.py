"""The named strategies, what they decide, and how one is chosen."""

import pytest

import lockstitch as ls
from lockstitch.strategies import (
    PRESETS,
    ClearResults,
    DropOldest,
    KeepLast,
    LastGroupsHistoryStrategy,
    LastTurnsHistoryStrategy,
    NullHistoryStrategy,
    SlidingWindowHistoryStrategy,
    StepsHistoryStrategy,
    Summarize,
    SummarizingHistoryStrategy,
    TokenBudgetHistoryStrategy,
    preset,
)
from lockstitch.strategies.directive import UNBOUNDED

DEFAULT = ls.HistoryDirective.default()


def test_the_framework_summarises_where_nobody_chose():
    assert ls.resolve_history(None) == DEFAULT
    assert (DEFAULT.kind, DEFAULT.summarize) == ("summarizing", True)
    assert (DEFAULT.trigger_chars, DEFAULT.keep_recent) == (16_000, 10)
    assert DEFAULT.window_messages is None


def test_the_strategy_goes_before_the_default_and_the_default_before_the_framework():
    window, null = SlidingWindowHistoryStrategy(5), NullHistoryStrategy()
    assert ls.resolve_history(window, default=null).window_messages == 5
    assert ls.resolve_history(None, default=null).kind == "null"


@pytest.mark.parametrize(
    "strategy",
    [3, "sliding_window", object(), NullHistoryStrategy, SlidingWindowHistoryStrategy, {}],
)
def test_what_is_no_strategy_is_refused(strategy):
    with pytest.raises(ls.ConversationServiceError, match="is not a history strategy"):
        ls.resolve_history(strategy)


def test_a_class_is_told_to_be_made():
    with pytest.raises(ls.ConversationServiceError, match=r"make one of it, NullHistoryStrategy\("):
        ls.resolve_history(NullHistoryStrategy)


@pytest.mark.parametrize("answer", [None, {"kind": "null"}, NullHistoryStrategy()])
def test_a_strategy_that_answers_with_something_else_is_refused(answer):
    class Odd:
        def directive(self):
            return answer

    with pytest.raises(ls.ConversationServiceError, match=r"directive\(\) returned"):
        ls.resolve_history(Odd())


def test_a_wrong_default_is_refused_although_a_strategy_is_given():
    with pytest.raises(ls.ConversationServiceError, match="int"):
        ls.resolve_history(NullHistoryStrategy(), default=3)


def test_anything_with_a_directive_is_a_strategy():
    class Mine:
        def directive(self):
            return ls.HistoryDirective("sliding_window", window_messages=7)

    assert isinstance(Mine(), ls.HistoryStrategy)
    assert not isinstance(object(), ls.HistoryStrategy)
    assert ls.resolve_history(Mine()).window_messages == 7
    assert ls.resolve_history(DEFAULT) is DEFAULT


@pytest.mark.parametrize("size", [True, 1.0, "5", -1, None])
def test_a_window_is_a_whole_number(size):
    with pytest.raises((TypeError, ValueError), match="window_size must"):
        SlidingWindowHistoryStrategy(size)


@pytest.mark.parametrize(
    "make",
    [
        lambda: SummarizingHistoryStrategy(trigger_chars=True),
        lambda: SummarizingHistoryStrategy(keep_recent=-1),
        lambda: TokenBudgetHistoryStrategy(max_tokens=-1),
        lambda: TokenBudgetHistoryStrategy(max_tokens=5, trim_to=6),
        lambda: LastTurnsHistoryStrategy("3"),
        lambda: LastGroupsHistoryStrategy(-3),
        lambda: StepsHistoryStrategy(low_water=2, max_tokens=5),
        lambda: StepsHistoryStrategy(must_survive="one phrase"),
        lambda: ls.HistoryDirective("null", summarize=1),
        lambda: ls.HistoryDirective("null", cut="middle"),
        lambda: ls.HistoryDirective("null", on_overflow="ignore"),
        lambda: ls.HistoryDirective("null", trigger_chars=1.5),
    ],
)
def test_nonsense_is_refused_when_it_is_built(make):
    with pytest.raises((TypeError, ValueError)):
        make()


def test_both_mechanisms_are_always_named():
    keys = {
        "max_conversation_messages",
        "compaction_trigger_chars",
        "compaction_keep_recent",
        "compaction_enabled",
    }
    null = NullHistoryStrategy().directive().to_legacy_overrides()
    assert null == {
        "max_conversation_messages": UNBOUNDED,
        "compaction_trigger_chars": UNBOUNDED,
        "compaction_keep_recent": 10,
        "compaction_enabled": False,
    }
    window = SlidingWindowHistoryStrategy(40).directive().to_legacy_overrides()
    assert window == {**null, "max_conversation_messages": 40}
    summing = SummarizingHistoryStrategy(9_000, 4).directive().to_legacy_overrides()
    assert summing == {
        "max_conversation_messages": UNBOUNDED,
        "compaction_trigger_chars": 9_000,
        "compaction_keep_recent": 4,
        "compaction_enabled": True,
    }
    assert keys == null.keys() == window.keys() == summing.keys()


def test_a_limit_of_zero_stays_zero_in_a_configuration():
    none = ls.HistoryDirective("sliding_window", window_messages=0, trigger_chars=0, keep_recent=0)
    overrides = none.to_legacy_overrides()
    assert overrides["max_conversation_messages"] == 0
    assert overrides["compaction_trigger_chars"] == 0
    assert overrides["compaction_keep_recent"] == 0


@pytest.mark.parametrize(
    ("strategy", "steps"),
    [
        (NullHistoryStrategy(), ()),
        (SlidingWindowHistoryStrategy(3), ()),
        (SummarizingHistoryStrategy(keep_recent=4), (Summarize(keep_recent=4),)),
        (ls.HistoryDirective("summarizing", summarize=True), (Summarize(keep_recent=10),)),
        (LastTurnsHistoryStrategy(2), (KeepLast(turns=2),)),
        (LastGroupsHistoryStrategy(2, max_tokens=9), (KeepLast(groups=2),)),
        (StepsHistoryStrategy(steps=(DropOldest(),)), (DropOldest(),)),
    ],
)
def test_a_strategy_comes_to_steps(strategy, steps):
    directive = strategy.directive()
    assert directive.planned_steps() == steps
    assert ls.HistoryDirective.from_json(directive.to_json()) == directive
    assert ls.HistoryDirective.from_toml(directive.to_toml()) == directive


@pytest.mark.parametrize(
    ("directive", "bounded"),
    [
        (ls.HistoryDirective("null"), False),
        (ls.HistoryDirective("steps", steps=(ClearResults(),)), False),
        (ls.HistoryDirective("steps", max_tokens=5), True),
        (ls.HistoryDirective("steps", trigger_chars=0), True),
        (ls.HistoryDirective("steps", steps=(KeepLast(turns=1),)), True),
    ],
)
def test_a_directive_says_whether_it_bounds_anything(directive, bounded):
    assert directive.bounded is bounded


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_has_steps_and_words_and_leaves_the_limit_to_its_user(name):
    held = PRESETS[name]
    assert preset(name) is held.directive
    assert held.name == name
    assert held.keeps
    assert held.gives_up
    assert held.directive.steps
    assert held.directive.low_water == 0.5
    assert not held.directive.bounded


def test_an_unknown_preset_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="chat, agent, coding-agent, long-running"):
        preset("poet")


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (ls.HistoryDirective.from_json, b"{"),
        (ls.HistoryDirective.from_json, b'{"kind": "other"}'),
        (ls.HistoryDirective.from_json, b'{"kind": "null", "window": 5}'),
        (ls.HistoryDirective.from_json, '{"kind": "null", "x": "\ud83d"}'),
        (ls.HistoryDirective.from_toml, "steps = ["),
        (ls.HistoryDirective.from_toml, "[[steps]]\nstep = 'fly'"),
        (ls.HistoryDirective.from_toml, "[[steps]]\nstep = 'clear-results'\nkeep = 3"),
        (ls.HistoryDirective.from_toml, "[[steps]]\nstep = 'clear-results'\nkeep_groups = -3"),
    ],
)
def test_what_is_no_directive_is_refused(read, text):
    with pytest.raises(ls.FormatError, match="not a directive: "):
        read(text)


def test_a_file_may_leave_the_kind_out():
    directive = ls.HistoryDirective.from_toml('max_tokens = 9\n[[steps]]\nstep = "clear-results"\n')
    assert directive == ls.HistoryDirective("steps", max_tokens=9, steps=(ClearResults(),))


def test_text_of_any_kind_comes_back_from_toml():
    phrases = ('say "no"', "back\\slash", "two\nlines", "tab\t", "\x7f", "🧵", "\x00\x1f")
    directive = ls.HistoryDirective("steps", must_survive=phrases, low_water=0.25)
    assert ls.HistoryDirective.from_toml(directive.to_toml()) == directive


def test_strategies_are_importable_from_the_top_and_from_their_folder():
    from lockstitch import strategies

    assert ls.NullHistoryStrategy is strategies.NullHistoryStrategy
    for name in strategies.__all__:
        assert getattr(strategies, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = strategies.Nothing
