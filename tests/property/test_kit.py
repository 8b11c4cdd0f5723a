"""The test kit itself: a law can be broken, a case can fail, a runner says what it saw."""

import gzip
import json
import subprocess
import sys

import msgspec
import pytest

import lockstitch as ls
from lockstitch.plan import Edit, Size
from lockstitch.rules.catalog import RULES
from lockstitch.rules.checks import CHECKS
from lockstitch.testing import assistant, call, laws, laws_of_repair, result, system, user
from lockstitch.testing.accounts import unaccounted
from lockstitch.testing.asks import Ask
from lockstitch.testing.breakages import BREAKAGES
from lockstitch.testing.cases import main as run_cases
from lockstitch.testing.cases import run_case
from lockstitch.testing.codes import CODES
from lockstitch.testing.corpus import main as run_corpus
from lockstitch.testing.render import SHAPES, render
from lockstitch.testing.steps import Calls, Result, Say, System, User
from lockstitch.testing.subject import Subject

HISTORY = [system(), user(), call("a"), result("a"), assistant(), user(), assistant()]


# --- laws ----------------------------------------------------------------------------------------


def _planned(monkeypatch, kept):
    """Make every plan keep the same positions, as a library with a fault would."""
    true = laws.plan

    def plan(source, **options):
        decision = true(source, **options)
        if len(source) != len(HISTORY):
            return decision
        edits = tuple(
            Edit("keep" if at in kept else "drop", at, at + 1, "recent" if at in kept else "oldest")
            for at in range(len(HISTORY))
        )
        shifted = next((at for at, one in enumerate(kept) if at != one), len(kept))
        return msgspec.structs.replace(
            decision, edits=edits, after=Size(len(kept)), changed_from=shifted, fingerprint=""
        )

    monkeypatch.setattr(laws, "plan", plan)
    monkeypatch.setattr(laws, "trim", lambda source, **_: [source[at] for at in kept])


def _broken(ask):
    return {
        failure.partition(":")[0] for failure in laws.window(Subject(HISTORY, "openai-chat"), ask)
    }


def test_a_slice_through_a_group_breaks_the_laws(monkeypatch):
    _planned(monkeypatch, [3, 4, 5, 6])
    assert {"whole", "no new violation"} <= _broken(Ask(limit=4))


def test_a_window_over_the_limit_breaks_the_laws(monkeypatch):
    _planned(monkeypatch, [0, 1, 2, 3, 4, 5, 6])
    assert "size" in _broken(Ask(limit=4))


def test_a_window_smaller_than_it_need_be_breaks_the_laws(monkeypatch):
    _planned(monkeypatch, [0, 5, 6])
    assert "size" in _broken(Ask(limit=20))


def test_copies_in_place_of_messages_break_the_laws(monkeypatch):
    monkeypatch.setattr(laws, "trim", lambda source, **_: [dict(one) for one in source])
    assert "order" in _broken(Ask(limit=20))


def test_a_change_of_the_callers_messages_breaks_the_laws(monkeypatch):
    true = laws.trim

    def trim(source, **options):
        source[-1]["content"] += "!"
        return true(source, **options)

    monkeypatch.setattr(laws, "trim", trim)
    subject = Subject([user(), assistant()], "openai-chat")
    assert any("input unchanged" in failure for failure in laws.window(subject, Ask(limit=9)))


def test_text_that_is_written_otherwise_breaks_the_laws(monkeypatch):
    monkeypatch.setattr(laws, "dump", lambda _: "[]")
    assert laws.round_trip('[{"role": "user", "content": "a"}]')


def test_a_repair_that_loses_unsaid_breaks_the_laws(monkeypatch):
    true = laws_of_repair.repair

    def repair(source, **options):
        mended = true(source, **options)
        return msgspec.structs.replace(mended, messages=mended.messages[1:])

    monkeypatch.setattr(laws_of_repair, "repair", repair)
    found = laws_of_repair.repaired(Subject(BROKEN, "openai-chat"), "openai-chat")
    assert any("is gone and no change names it" in failure for failure in found)


def test_a_repair_that_changes_places_or_adds_unsaid_is_seen():
    history = [user("1"), assistant("2")]
    said = unaccounted(history, [*reversed(history), user("3")], (), "openai-chat")
    assert said == [
        "message 2 of the result holds what no change put there",
        "message 0 changed places with 1 and no change says so",
    ]


# --- builders and breakages ----------------------------------------------------------------------


@pytest.mark.parametrize(("format", "shape"), [(f, s) for f in SHAPES for s in SHAPES[f]])
def test_steps_are_the_same_conversation_in_every_format(format, shape):
    steps = [User("q"), Calls.of("a", "b"), Result("b"), Result("a"), Say("done"), User("q")]
    history = render(steps, format, shape)
    report = ls.check(history, format=format)
    assert report.ok
    calls = [unit for unit in ls.groups(history, format=format) if unit.calls]
    assert sum(unit.calls for unit in calls) == 2
    assert {unit.state for unit in calls} == {"complete"}


@pytest.mark.parametrize("name", sorted(BREAKAGES))
def test_every_breakage_is_found(name):
    steps = [System(), User("q"), Calls.of("a", "b"), Result("a"), Result("b"), Say(), User("q")]
    for number in (1, 2, 4):
        history = render(BREAKAGES[name](steps, number), "openai-chat")
        # Ids that are gone on both sides still pair by name.
        assert name == "lose ids" or ls.check(history, tail="closed").violations


def test_a_breakage_of_nothing_changes_nothing():
    steps = [User("q")]
    unchanged = {name for name, breakage in BREAKAGES.items() if breakage(steps, 0) == steps}
    assert unchanged == set(BREAKAGES) - {"say nothing"}


def test_an_unknown_format_or_shape_is_refused():
    with pytest.raises(ValueError, match="no renderer"):
        render([], "morse")
    with pytest.raises(ValueError, match="has no shape"):
        render([], "anthropic", "round")


@pytest.mark.parametrize("module", ["strategies", "ask_strategies", "facts_strategies"])
def test_strategies_say_which_extra_brings_hypothesis(module):
    program = (
        "import sys; sys.modules['hypothesis'] = None\n"
        f"import lockstitch.testing\nimport lockstitch.testing.{module}"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert ran.returncode
    assert "lockstitch[testing]" in ran.stderr


# --- the case runner -----------------------------------------------------------------------------


def _case(operation, expected, messages=HISTORY, format="openai-chat"):
    return run_case(
        {
            "id": "x",
            "format": format,
            "input": {"messages": messages},
            "operation": operation,
            "expected": expected,
        }
    )


TRIM = {"op": "trim", "by": "messages", "limit": 4}
VALIDATE = {"op": "validate", "target": "openai-chat"}
REPAIR = {"op": "repair", "target": "openai-chat"}
BROKEN = [user("1"), call("a"), user("2")]


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (TRIM, {"kept_indices": [0]}),
        (TRIM, {"kept_indices_one_of": [[0], [1]]}),
        (TRIM, {"must_keep": [2]}),
        (TRIM, {"must_drop": [6]}),
        (TRIM, {"max_messages": 2}),
        (TRIM, {"report_dropped": []}),
        (TRIM, {"report_dropped_includes": [6]}),
        (TRIM, {"report_flags": ["newest-group-dropped"]}),
        (TRIM, {"report_flags": ["no such flag"]}),
        (TRIM, {"must_raise": "limit-too-small"}),
        (TRIM, {"if_returned": {"kept_indices": []}}),
        (TRIM, {"must_keep": [6], "if_returned": {"must_keep": [2]}}),
        (TRIM, {"after_step": {"3": {"max_messages": 4}}}),
        (TRIM, {"after_step": {"0": {"no such key": 4}}}),
        (TRIM, {"first_kept_changes_at_most": 0}),
        (TRIM, {"groups_atomic": [[2, 4]]}),
        (TRIM, {"no such key": 1}),
        (TRIM, {"if_returned": {"no such key": 1}}),
        (TRIM, {"result_equals_input": True}),
        (TRIM, {"roles": ["user"]}),
        (TRIM, {"must_preserve_text": ["nobody said this"]}),
        (TRIM, {"kept_indices": [0], "or": {"kept_indices": [1]}}),
        (TRIM, {"kept_indices": [0], "or": "something else happens"}),
        ({**TRIM, "limit": 1}, {"kept_indices": []}),
        ({**TRIM, "limit": 1}, {"may_raise": "invalid-limit"}),
        ({**TRIM, "limit": 1}, {"may_raise": "no such error"}),
        ({**TRIM, "limit": 1}, {"may_raise": "limit-too-small", "error_names": ["colour"]}),
        ({**TRIM, "limit": -1}, {"must_not_raise": True}),
        (VALIDATE, {"valid": False}),
        (VALIDATE, {"violations_include": [{"code": "orphan-tool-result", "index": 3}]}),
        (VALIDATE, {"violations_include": [{"code": "no such code", "index": 3}]}),
        (VALIDATE, {"missing_ids": ["a"]}),
        (VALIDATE, {"input_valid_for": []}),
        *(
            (REPAIR, expected)
            for expected in (
                {"unchanged": [3]},
                {"result_equals_input": True},
                {"synthetic_results_for": []},
                {"synthetic_results_for": ["a", "b"]},
                {"no_synthetic_results": True},
                {"synthetic_must_not_match": "(?i)unknown"},
                {"synthetic_must_match": "never ran"},
                {"synthetic_must_be_error": False},
                {"synthetic_results_in_one_message": False},
                {"new_messages_between": [0, 1]},
                {"new_messages_between": [[1, 2], [0, 1]]},
                {"pair_kept": ["a"]},
                {"pairs": [["look_up", "sunny"]]},
                {"report_mentions": [0]},
                {"report_mentions_any_of": [0, 2]},
                {"part_count": {"index": 1, "tool_calls": 2}},
                {"part_count": {"index": 9, "tool_calls": 2}},
                {"tool_names_match": "^x$"},
                {"result_length": 3},
                {"groups_atomic": [[0, 1]]},
                {"result_count_for_id": {"a": 2}},
                {"no_user_tool_result_for": ["a"]},
                {"must_contain_json_string": ["nobody said this"]},
                {"must_not_contain": ["unknown"]},
                {"input_violations_include": [{"code": "orphan-tool-result", "index": 1}]},
                {"no_violation_codes": ["no such code"]},
                {"no such key": 1},
            )
        ),
    ],
)
def test_a_case_fails_where_what_it_expects_is_not_so(operation, expected):
    verdict = _case(operation, expected, BROKEN if operation is REPAIR else HISTORY)
    assert verdict.status == "fail"
    assert verdict.reason


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (TRIM, {"kept_indices_one_of": [[0, 4, 5, 6], [0, 5, 6]], "max_messages": 4}),
        (TRIM, {"kept_indices": [0], "or": {"must_keep": [0, 5, 6]}}),
        (TRIM, {"report_dropped_equals_complement": True, "never_silent": True, "why": "words"}),
        (TRIM, {"result_valid_for": ["portable", "openai-chat"], "idempotent": True}),
        (
            {**TRIM, "limit": 1},
            {"may_raise": "limit-too-small", "error_names": ["limit", "required"]},
        ),
        ({**TRIM, "limit": True}, {"must_raise": "invalid-limit", "store_unchanged": True}),
        ({**TRIM, "by": "chars", "limit": 13, "sizes": [1] * 7}, {"kept_indices": [*range(7)]}),
        (
            {**TRIM, "by": "tokens", "limit": 7, "sizes": [1] * 7, "fixed_overhead": 2},
            {"max_size": 5},
        ),
        ({**TRIM, "then": [[user(), assistant()]]}, {"after_step": {"1": {"max_messages": 4}}}),
        (VALIDATE, {"valid": True, "input_valid_for": ["openai-chat"]}),
        (
            REPAIR,
            {
                "result_valid_for": ["openai-chat", "portable"],
                "unchanged": [0, 1, 2],
                "new_messages_between": [1, 2],
                "synthetic_results_for": ["a"],
                "synthetic_results_in_one_message": True,
                "synthetic_must_be_error": True,
                "synthetic_must_match": "(?i)unknown",
                "synthetic_must_not_match": ["(?i)rejected", "(?i)never ran"],
                "report_mentions": [1],
                "report_mentions_any_of": [0, 1],
                "part_count": {"index": 1, "tool_calls": 1},
                "tool_names_match": "^[a-z_]+$",
                "result_count_for_id": {"a": 1},
                "call_count_for_id": {"a": 1},
                "result_length": 4,
                "nothing_lost": True,
                "never_silent": True,
                "no_empty_text": True,
                "must_not_contain": ["nobody said this"],
                "input_violations_include": [{"code": "dangling-tool-call", "index": 1}],
                "idempotent": True,
            },
        ),
    ],
)
def test_a_case_passes_where_what_it_expects_is_so(operation, expected):
    verdict = _case(operation, expected, BROKEN if operation is REPAIR else HISTORY)
    assert verdict.status == "pass", verdict.reason


@pytest.mark.parametrize(
    ("operation", "expected", "format"),
    [
        ({"op": "convert", "to": "anthropic"}, {}, "openai-chat"),
        ({"op": "repair", "target": "openai-chat", "colour": "red"}, {}, "openai-chat"),
        (TRIM, {}, "morse"),
        ({**TRIM, "by": "paragraphs"}, {}, "openai-chat"),
        ({**TRIM, "colour": "red"}, {}, "openai-chat"),
        ({"op": "validate", "target": "morse"}, {}, "openai-chat"),
        (TRIM, {"result_valid_for": ["morse"]}, "openai-chat"),
        (
            VALIDATE,
            {"violations_include": [{"code": "oversized-image", "index": 0}]},
            "openai-chat",
        ),
    ],
)
def test_a_case_that_needs_what_is_not_there_is_unsupported_with_a_reason(
    operation, expected, format
):
    verdict = _case(operation, expected, format=format)
    assert verdict.status == "unsupported"
    assert verdict.reason


def test_what_cannot_be_told_hides_nothing_that_is_wrong():
    assert _case(TRIM, {"result_valid_for": ["morse"], "kept_indices": [0]}).status == "fail"


# Rules that finding codes name and that are not in the catalogue yet.
RULES_TO_COME = {
    *("br-alternate", "br-blank-text", "br-empty-content", "br-id-pattern", "br-result-exceeds"),
    *("br-result-missing", "br-start-user", "co-v2-tool-id", "ds-tool-orphan"),
    *("ds-tool-unanswered", "ge-call-after-model-text", "ge-call-after-user", "ge-contents-empty"),
    *("ge-count-equal", "ge-dangling-call", "ge-end-with-model", "ge-part-data-required"),
    *("ge-parts-empty", "ge-response-after-call", "ge-signature-missing", "gl-empty-assistant"),
    *("lc-arguments-json", "lc-invalid-chat-history", "mi-count", "mi-empty"),
    *("mi-empty-assistant", "mi-last-role", "mi-start", "mi-system-mid", "mi-tool-after-user"),
    *("mi-unknown-id", "oc-arguments-string", "or-chain-plus-replay"),
    *("or-reasoning-followed-by-foreign", "qw-arguments-json", "qw-tool-orphan"),
    *("qw-tool-unanswered", "tp-alternate", "tp-alternate-after-system", "tp-prefill-vs-thinking"),
    *("tp-system-first", "tp-tool-orphan-gpt-oss", "xa-empty-content", "an-many-images"),
    "an-prefill-unsupported",
}


def test_every_finding_code_stands_for_checks_that_there_are():
    named = {name for names in CODES.values() for name in names}
    # A rule's id has hyphens, a check's name has none.
    assert {name for name in named if "-" not in name} <= CHECKS.keys()
    assert {name for name in named if "-" in name} <= RULES.keys() | RULES_TO_COME
    assert {rule.check for rule in RULES.values() if rule.check} <= CHECKS.keys()


def test_the_case_runner_reads_a_file_line_by_line(tmp_path, capsys):
    good = {"id": "good", "format": "openai-chat", "input": {"messages": []}, "operation": TRIM}
    rows = [
        json.dumps({**good, "expected": {"kept_indices": []}}),
        "",
        "{not json",
        "[]",
        '{"id": "bare"}',
    ]
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(rows))
    assert run_cases([str(path), "--json"]) == 1
    cases = json.loads(capsys.readouterr().out)["cases"]
    assert [(case["id"], case["status"]) for case in cases] == [
        ("good", "pass"),
        ("line 3", "fail"),
        ("line 4", "fail"),
        ("bare", "fail"),
    ]
    assert run_cases([str(path)]) == 1
    assert "1 pass" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stopped:
        run_cases([str(tmp_path / "nowhere.jsonl")])
    assert stopped.value.code == 2


# --- the corpus runner ---------------------------------------------------------------------------


def test_the_corpus_runner_walks_files_rows_and_folders(tmp_path, capsys):
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "one.json").write_text(json.dumps({"messages": HISTORY}))
    (tmp_path / "inside" / "lines.jsonl").write_text("\n".join(map(json.dumps, HISTORY)))
    rows = [
        {"api": "openai-chat", "request": {"messages": HISTORY}},
        {"api": "morse", "request": {"dots": []}},
        {"messages": HISTORY},
    ]
    packed = gzip.compress("\n".join(map(json.dumps, rows)).encode())
    (tmp_path / "rows.jsonl.gz").write_bytes(packed)
    (tmp_path / "notes.txt").write_text("not looked at")
    (tmp_path / "other.json").write_text('{"neither": "this"}')
    # One message is a history of one line, and no body of a request.
    (tmp_path / "message.json").write_text(json.dumps(HISTORY[0]))
    (tmp_path / "message.jsonl").write_text(json.dumps(HISTORY[0]))
    assert run_corpus([str(tmp_path), "--json", "--profile", "openai-chat"]) == 0
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert (found["files"], found["messages"], found["failures"]) == (4, 4 * len(HISTORY) + 1, [])
    assert found["windows"] > 400
    assert [row["file"].rpartition("/")[2] for row in found["unread"]] == [
        "message.json",
        "other.json",
        "rows.jsonl.gz",
    ]
    assert "files" in said.err


def test_the_corpus_runner_reports_a_broken_law_with_its_file(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(laws, "trim", lambda source, **_: source)
    path = tmp_path / "one.json"
    path.write_text(json.dumps(HISTORY))
    assert run_corpus([str(path)]) == 1
    assert f"{path}: order: " in capsys.readouterr().out


def test_the_corpus_runner_refuses_a_path_that_is_not_there(tmp_path):
    with pytest.raises(SystemExit) as stopped:
        run_corpus([str(tmp_path / "nowhere")])
    assert stopped.value.code == 2
