"""Explanations: the same rows as text, as a table, as JSON."""

import json

import pytest

import lockstitch as ls
from lockstitch.explain import MOST_RANGES, cells_of, explain, preview, render_text, rows_of
from lockstitch.plan import REASONS, Edit, Plan, Size
from lockstitch.rules.report import Report
from lockstitch.testing import assistant, call, result, system, user

HISTORY = [
    system(),
    user("one"),
    call("a"),
    result("a", "found | it\n"),
    assistant("first"),
    user("two"),
    call("b"),
    result("b"),
]


def made(**limits) -> Plan:
    return ls.plan(HISTORY, **limits)


# --- plans ----------------------------------------------------------------------------------------


def test_one_line_says_what_went_and_what_stayed():
    assert explain(made(max_messages=4)).splitlines()[0] == (
        "kept 4 of 8 messages, dropped 4 (limit: 4 messages; profile portable, format openai-chat)"
    )
    assert explain(made(max_messages=9)).startswith("kept all 8 messages (limit: 9 messages;")
    assert explain(made(max_messages=0)).startswith("kept none of 8 messages, dropped 8 (limit: 0")
    assert explain(ls.plan(HISTORY)).startswith("kept all 8 messages (no limit;")


@pytest.mark.parametrize(
    ("counter", "sure"),
    [
        (None, "by estimate, the upper edge of an estimate, rarely exceeded"),
        ("bytes", "by bytes, an upper bound, never exceeded"),
        ([11] * 8, "as counted by sizes"),
    ],
)
def test_the_counter_is_named_with_how_sure_it_is(counter, sure):
    said = explain(made(max_tokens=80, counter=counter)).splitlines()[0]
    assert f"tokens {sure}" in said
    assert "limit: 80 tokens" in said


def test_without_the_messages_there_is_a_row_for_each_range():
    told = rows_of(made(max_messages=4))
    assert told.kind == "ranges"
    assert [(row.action, row.start, row.stop) for row in told.rows] == [
        *(("kept", 0, 1), ("dropped", 1, 5), ("kept", 5, 6), ("kept", 6, 8)),
    ]
    assert all(row.why == REASONS[row.reason] for row in told.rows)


def test_with_the_messages_there_is_a_row_for_each_message():
    told = rows_of(made(max_messages=4), HISTORY)
    assert told.kind == "messages"
    assert [row.position for row in told.rows] == list(range(8))
    row = told.rows[3]
    assert (row.action, row.role, row.group, row.state) == ("dropped", "tool", 2, "complete")
    assert row.chars == len("found | it\n")
    assert row.tokens is None
    assert row.preview == "found | it"


def test_a_pinned_message_is_marked():
    told = rows_of(ls.plan(HISTORY, max_messages=7, pins=[2]), HISTORY)
    assert [row.position for row in told.rows if row.pinned] == [2, 3]
    assert "pinned" in render_text(told)


def test_tokens_are_shown_where_the_plan_counted_them_by_a_known_counter():
    told = rows_of(made(max_tokens=60), HISTORY)
    kept = sum(row.tokens for row in told.rows if row.action == "kept")
    assert kept == told.head["after"]["tokens"]
    assert told.head["before"]["tokens"] == sum(row.tokens for row in told.rows)
    assert " tokens " in explain(made(max_tokens=60), HISTORY).splitlines()[1]
    listed = rows_of(made(max_tokens=60, counter=[9] * 8), HISTORY)
    assert {row.tokens for row in listed.rows} == {None}


def test_what_was_before_is_told_where_it_is_known():
    total = sum(row.chars for row in rows_of(made(max_messages=9), HISTORY).rows)
    plan = made(max_chars=30)
    assert f" of {total} chars" in explain(plan, HISTORY).splitlines()[0]
    assert f" of {total} chars" not in explain(plan).splitlines()[0]


def test_columns_line_up():
    lines = explain(made(max_messages=4), HISTORY).splitlines()[1:]
    place = lines[0].index("why")
    assert all(line[place - 2 : place] == "  " and line[place] != " " for line in lines)


def test_the_messages_can_be_a_transcript_text_or_a_request_body():
    plan = made(max_messages=4)
    expected = explain(plan, HISTORY)
    assert explain(plan, ls.load(HISTORY)) == expected
    assert explain(plan, json.dumps(HISTORY)) == expected
    assert explain(plan, {"messages": HISTORY}) == expected
    assert explain(plan, HISTORY, format="openai-chat") == expected


def test_other_messages_are_refused():
    with pytest.raises(ls.PlanMismatch):
        explain(made(max_messages=4), HISTORY[1:])


def test_a_plan_over_a_long_history_is_told_in_a_few_lines():
    history = [
        user("x"),
        *[one for at in range(50_000) for one in (call(f"c{at}"), result(f"c{at}"))],
    ]
    assert len(explain(ls.plan(history, max_messages=20)).splitlines()) < 10


def test_past_many_ranges_the_middle_is_left_out_of_the_text_and_not_of_the_json():
    edits = tuple(
        Edit("keep", at, at + 1, "recent") if at % 2 else Edit("drop", at, at + 1, "oldest")
        for at in range(1_000)
    )
    plan = Plan(
        format="openai-chat",
        profile="portable",
        length=1_000,
        edits=edits,
        before=Size(1_000),
        after=Size(500),
        limit={"messages": 500},
        changed_from=0,
    )
    for as_ in ("text", "table"):
        lines = explain(plan, as_=as_).splitlines()
        assert len(lines) < MOST_RANGES + 10
        assert any("800" in line and "more ranges" in line for line in lines)
        assert "[999]" in lines[-1]
    assert len(json.loads(explain(plan, as_="json"))["ranges"]) == 1_000


# --- reports --------------------------------------------------------------------------------------

BROKEN = [user("hi"), result("x", "lost"), result("y"), assistant("done")]


def test_a_report_is_summed_up_in_one_line():
    assert explain(ls.check(HISTORY)) == (
        "8 messages in 6 groups: accepted by portable (format openai-chat)"
    )
    said = explain(ls.check(BROKEN, profile="openai-chat")).splitlines()[0]
    assert said == "4 messages in 4 groups: refused by openai-chat, 2 errors (format openai-chat)"


def test_warnings_are_counted_apart():
    error = ls.Violation(rule="r", severity="error", index=-1, path="messages", message="m")
    warning = ls.Violation(rule="r", severity="warning", index=0, path="messages[0]", message="m")
    both = {"profile": "anthropic", "format": "anthropic", "messages": 1, "groups": 1}
    said = explain(Report(**both, violations=(error, warning)))
    assert "refused by anthropic, 1 error and 1 warning" in said
    assert "\nmessages\n" in said
    assert "accepted by anthropic, with 1 warning" in explain(Report(**both, violations=(warning,)))


def test_a_violation_shows_place_severity_rule_provider_and_source_under_its_message():
    report = ls.check(BROKEN, profile="openai-chat")
    lines = explain(report, BROKEN).splitlines()
    assert lines[1] == "messages[1]  lost"
    assert lines[2].startswith("  error    messages[1].content: the result x")
    assert lines[2].endswith("[oc-tool-needs-call]")
    assert lines[3].strip() == f"the provider answers: {report.violations[0].provider_error}"
    assert lines[4].strip() == f"source: {report.violations[0].source}"
    assert lines[5].startswith("messages[2]")


# --- forms ----------------------------------------------------------------------------------------


def test_the_json_document_has_the_documented_keys():
    shared = {"kind", "summary", "format", "profile"}
    plan_keys = shared | {"length", "kept", "dropped", "limit", "counter", "counter_kind"}
    plan_keys |= {"before", "after", "changed_from"}
    plan_keys |= {"changed", "inserted", "strategy", "fired", "steps"}
    by_range = json.loads(explain(made(max_messages=4), as_="json"))
    assert set(by_range) == plan_keys | {"ranges"}
    assert set(by_range["ranges"][0]) == {"action", "start", "stop", "messages", "reason", "why"}
    by_message = json.loads(explain(made(max_messages=4), HISTORY, as_="json"))
    assert set(by_message) == plan_keys | {"messages"}
    assert set(by_message["messages"][0]) == {
        *("position", "action", "pinned", "role", "group", "state", "chars", "tokens"),
        *("reason", "why", "preview"),
    }
    report = json.loads(explain(ls.check(BROKEN), as_="json"))
    assert set(report) == shared | {"ok", "messages", "groups", "errors", "warnings", "violations"}


def test_a_table_is_markdown_and_escapes_what_would_end_a_cell():
    lines = explain(made(max_messages=4), HISTORY, as_="table").splitlines()
    assert lines[2].startswith("| at | what | role |")
    assert lines[3].startswith("| ---: | --- | --- |")
    assert lines[7].endswith(r"| found \| it |")
    assert len(lines) == 12
    report = explain(ls.check(BROKEN), BROKEN, as_="table").splitlines()
    assert report[2].startswith("| where | severity | rule |")


def test_a_table_without_rows_is_its_summary():
    assert "\n" not in explain(ls.check(HISTORY), as_="table")
    assert explain(ls.plan([])).startswith("kept all 0 messages")
    assert explain(ls.plan([]), []).startswith("kept all 0 messages")


def test_every_line_has_as_many_cells_as_there_are_titles():
    for told in (rows_of(made(max_messages=4)), rows_of(made(max_tokens=60), HISTORY)):
        titles, lines = cells_of(told)
        assert {len(line) for line in lines} == {len(titles)}


def test_a_plan_explains_itself():
    plan = made(max_messages=4)
    assert plan.explain() == explain(plan)
    assert plan.explain(HISTORY, as_="table") == explain(plan, HISTORY, as_="table")


def test_nonsense_is_refused():
    with pytest.raises(TypeError, match="expected a Plan, a Report or a Repair, got list"):
        explain(HISTORY)
    with pytest.raises(ValueError, match='as_ must be "text", "table" or "json"'):
        explain(made(max_messages=4), as_="html")


# --- previews -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (user("short"), "short"),
        (user("x" * 40), "x" * 40),
        (user("x" * 41), "x" * 39 + "\u2026"),
        (user("two\nlines\tand\x1b[31m red"), r"two\nlines\tand\x1b[31m red"),
        (user("\ud83d half"), r"\ud83d half"),
        (user("right\u202eleft"), r"right\u202eleft"),
        (user("caf\u00e9 \u6f22"), "caf\u00e9 \u6f22"),
        (user("  led by space"), "led by space"),
        (user(""), "[empty]"),
        ({"role": "assistant", "content": None}, "[empty]"),
        (call("a", name="read", arguments='{"p": 1}'), 'read({"p": 1})'),
        (call("a", "b", name="f", arguments=""), "f() f()"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {}}]}, "[image]"),
        ({"role": "assistant", "reasoning_content": "hm"}, "hm"),
    ],
)
def test_a_preview_is_one_short_line_of_what_a_message_says(message, shown):
    assert preview(ls.load([message], format="openai-chat"), 0) == shown


def test_sealed_reasoning_is_named_and_not_shown():
    thought = {"type": "redacted_thinking", "data": "EmwKAhgB" * 9}
    history = [user(), {"role": "assistant", "content": [thought]}]
    assert preview(ls.load(history, format="anthropic"), 1) == "[reasoning]"


def test_two_breaches_of_one_message_stand_under_one_head():
    history = [user("q"), call("a", "b"), user("x")]
    lines = explain(ls.check(history, profile="portable")).splitlines()
    assert [line.partition("  ")[0] for line in lines[1:] if line.startswith("messages")] == [
        "messages[1]"
    ]
    assert sum("  error" in line for line in lines) == 2
