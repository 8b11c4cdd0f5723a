"""`lockstitch rules`: what can be looked up."""

import json

import pytest

from lockstitch.cli import rules as rules_module
from lockstitch.cli.sources import links_of
from lockstitch.rules.catalog import RULES
from lockstitch.rules.models import FACTS, MODELS, ModelFacts
from lockstitch.rules.profiles import PROFILES
from lockstitch.rules.rule import Rule

ROWS = (
    ModelFacts(
        profile="anthropic",
        pattern="claude-x*",
        facts={"no_prefill": True, "mid_system": False},
        date="2026-01-02",
        source="somewhere",
    ),
    ModelFacts(
        profile="openai-chat", pattern="*", facts={"no_system": True}, date="", source="else"
    ),
)


def test_every_rule_is_listed_with_what_it_demands(run):
    listed = run("rules", "list").stdout.splitlines()
    assert listed[0].split() == ["rule", "severity", "status", "demands"]
    assert [line.split()[0] for line in listed[1:-1]] == list(RULES)
    assert all(rule.title in line for rule, line in zip(RULES.values(), listed[1:-1], strict=True))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("severity", ["error", "warning"])
def test_the_list_can_be_narrowed(run, profile, severity):
    listed = run("rules", "list", "--profile", profile, "--severity", severity, "--json").stdout
    expected = [
        rule.id for rule in RULES.values() if profile in rule.profiles and rule.severity == severity
    ]
    assert [json.loads(line)["id"] for line in listed.splitlines()] == expected


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_shown_with_all_there_is_to_know(run, name):
    rule = RULES[name]
    shown = run("rules", "show", name).stdout
    for said in (rule.title, rule.statement, rule.error, rule.source, rule.status, rule.severity):
        assert said in shown
    for word in (*rule.repairs, *rule.profiles, *rule.formats, *links_of(rule.source)):
        assert word in shown
    found = json.loads(run("rules", "show", name, "--json").stdout)
    assert set(found) == {*Rule.__struct_fields__, "links"}
    assert found["statement"] == rule.statement


def test_the_model_that_a_rule_is_about_is_said(run, monkeypatch):
    rule = Rule(
        id="some-rule",
        profiles=("anthropic",),
        title="a title",
        statement="A statement.",
        status="docs",
        scope="no_prefill",
        target_only=True,
    )
    monkeypatch.setitem(RULES, "some-rule", rule)
    shown = run("rules", "show", "some-rule").stdout
    assert f"where no_prefill: {FACTS['no_prefill']}" in shown
    assert "mends it too" in shown
    assert "messages alone do not show a breach" in shown


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("po-valid-tex", "nearest: po-valid-text"),
        ("PO-VALID-TEXT", "nearest: po-valid-text"),
        ("?", "lockstitch rules list shows all"),
        ("", "lockstitch rules list shows all"),
    ],
)
def test_an_unknown_rule_is_answered_with_the_nearest(run, asked, said):
    shown = run("rules", "show", asked)
    assert shown.exit_code == 2
    assert said in shown.stderr
    assert shown.stdout == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("nothing",),
        ("show",),
        ("list", "--profile", "nobody"),
        ("list", "--severity", "grave"),
        ("models", "--profile", "nobody"),
    ],
)
def test_wrong_arguments_exit_with_two(run, arguments):
    ended = run("rules", *arguments)
    assert ended.exit_code == 2
    assert "Error: " in ended.stderr


def test_what_is_known_of_models_is_listed(run, monkeypatch):
    monkeypatch.setattr(rules_module, "MODELS", ROWS)
    shown = run("rules", "models").stdout
    assert "no_prefill, not mid_system" in shown
    assert f"no_prefill: {FACTS['no_prefill']}" in shown
    assert "2026-01-02" in shown
    assert "2 rows" in shown
    only = run("rules", "models", "--profile", "openai-chat").stdout
    assert "claude-x*" not in only
    assert "1 row\n" in only


def test_the_models_that_come_along_are_listed_as_json(run):
    listed = run("rules", "models", "--json").stdout.splitlines()
    assert [json.loads(line)["pattern"] for line in listed] == [row.pattern for row in MODELS]


def test_the_lists_are_tables_on_a_terminal(terminal):
    assert "po-valid-text" in terminal("rules", "list", columns=200)
    assert "known" in terminal("rules", "models", columns=200)


@pytest.mark.parametrize(
    ("source", "links"),
    [
        ("", []),
        ("the provider's documentation", []),
        ("https://example.org/a#b.", ["https://example.org/a#b"]),
        ("a/b issue 1; c-d/e.f issues 2, 3 and 4", [
            "https://github.com/a/b/issues/1",
            "https://github.com/c-d/e.f/issues/2",
            "https://github.com/c-d/e.f/issues/3",
            "https://github.com/c-d/e.f/issues/4",
        ]),
        ("a/b pull request 7; a/b PR 8; a/b discussion 9", [
            "https://github.com/a/b/pull/7",
            "https://github.com/a/b/pull/8",
            "https://github.com/a/b/discussions/9",
        ]),
    ],
)  # fmt: skip
def test_the_addresses_in_a_source_are_found(source, links):
    assert links_of(source) == links
