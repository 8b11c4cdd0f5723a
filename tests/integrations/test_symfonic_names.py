"""What symfonic's users import: the same names, from one place, and nothing loaded for it."""

import subprocess
import sys

import pytest

from lockstitch import strategies
from lockstitch.integrations import symfonic
from lockstitch.integrations.symfonic import history_trim, messages

STRATEGIES = [
    "HistoryDirective",
    "HistoryStrategy",
    "NullHistoryStrategy",
    "SlidingWindowHistoryStrategy",
    "SummarizingHistoryStrategy",
    "resolve_history",
]


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_strategies_are_the_librarys_own(name):
    assert getattr(symfonic, name) is getattr(strategies, name)


@pytest.mark.parametrize("module", [history_trim, messages])
def test_each_module_that_symfonic_has_is_here_with_its_names(module):
    assert all(getattr(symfonic, name) is getattr(module, name) for name in module.__all__)


def test_a_strategy_that_is_none_is_refused_by_name():
    with pytest.raises(symfonic.ConversationServiceError, match="not a history strategy"):
        symfonic.resolve_history("sliding")


def test_a_directive_always_names_both_limiters():
    said = symfonic.SlidingWindowHistoryStrategy(7).directive().to_legacy_overrides()
    assert said["max_conversation_messages"] == 7
    assert said["compaction_trigger_chars"] == symfonic.UNBOUNDED
    assert said["compaction_enabled"] is False


def test_importing_the_names_loads_nothing_of_langchain():
    code = "import sys, lockstitch.integrations.symfonic; print('langchain_core' in sys.modules)"
    command = [sys.executable, "-c", code]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == "False"
