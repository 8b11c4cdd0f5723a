"""Events and logs: one for each operation, without any text, and free while nobody listens."""

import logging
import subprocess
import sys

import pytest

import lockstitch as ls
from lockstitch.logs import LogHearer
from lockstitch.strategies import ClearResults, StepsHistoryStrategy
from lockstitch.testing import assistant, call, result, user

CHAT = [message for at in range(6) for message in (user(f"q{at}"), assistant(f"a{at}"))]


@pytest.fixture
def heard():
    events = []
    stop = ls.listen(events.append)
    yield events
    stop()


def test_one_event_tells_why_it_fired_and_what_went(heard):
    ls.trim(CHAT, max_messages=5)
    (event,) = heard
    assert (event.operation, event.profile, event.format) == ("trim", "portable", "openai-chat")
    assert (event.messages_dropped, event.groups_dropped) == (8, 8)
    assert (event.before.messages, event.after.messages) == (12, 4)
    assert event.limit == {"messages": 5}
    assert event.changed_from == 0
    assert event.why_not == ""


def test_an_event_tells_why_nothing_was_done(heard):
    ls.trim(CHAT, max_messages=50)
    ls.plan(CHAT, max_messages=50)
    assert [(event.operation, event.why_not) for event in heard] == [
        ("trim", "the limits hold"),
        ("plan", "the limits hold"),
    ]


def test_whoever_listens_changes_nothing(heard):
    with_listener = [ls.trim(CHAT, max_messages=at, on_overflow="smallest") for at in range(14)]
    plans = [ls.plan(CHAT, max_messages=at, on_overflow="smallest") for at in range(14)]
    assert len(heard) == 28
    heard.clear()
    from lockstitch import events

    held = list(events._HEARERS)
    events._HEARERS.clear()
    assert with_listener == [
        ls.trim(CHAT, max_messages=at, on_overflow="smallest") for at in range(14)
    ]
    assert plans == [ls.plan(CHAT, max_messages=at, on_overflow="smallest") for at in range(14)]
    events._HEARERS.extend(held)
    assert heard == []


def test_strategies_tell_their_steps(heard):
    history = [user(), call("a"), result("a", "x" * 2_000), user("z"), assistant("so")]
    strategy = StepsHistoryStrategy(steps=(ClearResults(keep_groups=0),), max_chars=1_000)
    ls.trim(history, strategy=strategy, model="gpt-5")
    (event,) = heard
    assert event.strategy == "steps"
    assert event.model == "gpt-5"
    assert event.fired[0].endswith("chars, 1,000 are allowed")
    assert event.messages_changed == 1
    assert [step.step for step in event.steps] == ["clear-results"]


def test_summaries_tell_their_length_and_a_failure_without_its_words(heard):
    ls.summarize(CHAT, lambda _: "All said.", keep_recent=4)

    def broken(prompt):
        raise ConnectionError("the words of the user")

    ls.summarize(CHAT, broken, keep_recent=4)
    done, failed = heard
    assert done.summary_chars == len("[Summary of 8 earlier messages: 1-8]\nAll said.")
    assert done.messages_inserted == 1
    assert failed.failure == "it raised ConnectionError"
    assert failed.summary_chars == 0
    assert "words" not in str(failed)


def test_an_operation_that_raises_leaves_no_event(heard):
    with pytest.raises(ls.CannotFit):
        ls.trim(CHAT, max_chars=1)
    with pytest.raises(ls.CannotFit):
        ls.trim(CHAT, strategy=StepsHistoryStrategy(max_chars=1))
    assert heard == []


def test_nobody_is_told_after_the_end():
    events = []
    ls.listen(events.append)()
    ls.trim(CHAT, max_messages=5)
    assert events == []


def test_a_hearer_is_told_once_however_often_it_is_added():
    from lockstitch import events

    hearer = LogHearer()
    count = len(events._HEARERS)
    events.add_hearer(hearer)
    events.add_hearer(hearer)
    assert len(events._HEARERS) == count + 1
    events.remove_hearer(hearer)
    assert len(events._HEARERS) == count


# --- logs -----------------------------------------------------------------------------------------


def test_a_cut_is_logged_with_its_event_and_without_text(caplog):
    with caplog.at_level(logging.DEBUG, logger="lockstitch"):
        ls.trim(CHAT, max_messages=5)
        ls.trim(CHAT, max_messages=50)
    cut, quiet = caplog.records
    assert (cut.levelno, quiet.levelno) == (logging.INFO, logging.DEBUG)
    assert cut.getMessage().startswith("trim: 8 of 12 messages dropped, 0 changed, 0 put in")
    assert cut.lockstitch.messages_dropped == 8
    assert quiet.getMessage().endswith("(the limits hold)")


def test_a_summary_that_failed_is_a_warning(caplog):
    def broken(prompt):
        raise ConnectionError("the words of the user")

    with caplog.at_level(logging.INFO, logger="lockstitch"):
        ls.summarize(CHAT, broken, keep_recent=4)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage().endswith("(it raised ConnectionError)")


def test_what_an_operation_raises_is_the_callers_to_log(caplog):
    with caplog.at_level(logging.DEBUG, logger="lockstitch"), pytest.raises(ls.CannotFit):
        ls.trim(CHAT, max_chars=1)
    assert caplog.records == []


def test_a_program_without_logging_does_not_get_it():
    code = (
        "import sys, lockstitch as ls; ls.trim([{'role': 'user', 'content': 'a'}], max_messages=1);"
        "from lockstitch.logs import LogHearer; h = LogHearer(); h.end(None, None, None);"
        "print('logging' in sys.modules, h.wants())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False False"
