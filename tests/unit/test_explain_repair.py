"""Repairs explained: every change with before and after, and what is left."""

import json

import msgspec
import pytest

import lockstitch as ls
from lockstitch.explain import explain, one_line, rows_of
from lockstitch.explain.of_repair import DONE
from lockstitch.explain.words import plain, shortened
from lockstitch.rules.account import KINDS, LOSSLESS, Repair
from lockstitch.rules.catalog import RULES
from lockstitch.testing import call, result, user

BROKEN = [user("1"), call("a"), user("2"), result("a"), result("gone", "a | b\nc"), call("b")]


def mended(**options) -> Repair:
    return ls.repair(BROKEN, profile="openai-chat", **options)


def test_one_line_says_what_was_done_and_what_came_of_it():
    assert explain(ls.repair([user("hi")])) == (
        "no change; accepted by portable (format openai-chat)"
    )
    assert explain(mended()).splitlines()[0] == (
        "3 changes: 1 moved, 1 made up, 1 turned into notes; accepted by openai-chat "
        "(format openai-chat)"
    )
    assert explain(mended(allow={"move"})).splitlines()[0] == (
        "1 change: 1 moved; refused by openai-chat, 2 errors not mended (format openai-chat)"
    )


def test_an_export_is_explained_as_a_repair_is():
    assert explain(ls.export(BROKEN, profile="anthropic")).startswith("no change; refused by")


def test_a_change_shows_place_rule_before_and_after():
    lines = explain(mended()).splitlines()
    assert lines[1] == (
        "  move        messages[3]: the result a was moved to its call [oc-tool-adjacent]"
    )
    assert lines[2].strip().startswith('as it was: {"role": "tool"')
    assert lines[3].startswith("  demote      messages[4].content: the result gone has no call")
    assert lines[4].strip().startswith('before: {"role": "tool"')
    assert lines[5].strip().startswith('after:  {"role": "user"')
    assert lines[7].strip() == "before: nothing"


def test_what_is_left_is_listed_as_in_a_report():
    lines = explain(mended(allow={"move"})).splitlines()
    # Places are those of the mended history: the moved result stands earlier now.
    assert "messages[4]" in lines
    assert any(line.endswith("[oc-tool-needs-call]") for line in lines)
    assert any("the provider answers: " in line for line in lines)


def test_a_change_without_a_place_is_shown_without_one():
    change = ls.Change(kind="synthesize", rule="r", index=-1, path="", message="made", after="x")
    said = explain(Repair(messages=[], changes=(change,), profile="p", format="f"))
    assert said.splitlines()[1] == "  synthesize  made [r]"


def test_a_table_has_a_row_for_each_change_and_one_of_its_own_for_what_is_left():
    lines = explain(mended(), as_="table").splitlines()
    assert lines[2] == "| change | where | rule | what was done | before | after |"
    assert len(lines) == 7
    assert r"a \| b\nc" in lines[5]
    both = explain(mended(allow={"move"}), as_="table").split("\n\n")
    assert len(both) == 3
    assert both[2].startswith("| where | severity | rule |")
    left = explain(mended(allow=()), as_="table")
    assert sum(line.startswith("| ---") for line in left.splitlines()) == 1
    assert left.splitlines()[2].startswith("| where |")


def test_json_has_every_change_whole():
    document = json.loads(explain(mended(), as_="json"))
    assert set(document) == {
        *("kind", "summary", "ok", "profile", "format", "counts", "system"),
        *("changes", "remaining"),
    }
    assert document["kind"] == "repair"
    assert document["counts"] == {"move": 1, "synthesize": 1, "demote": 1}
    assert document["changes"][0]["before"] == BROKEN[3]
    assert document["changes"][2]["before"] is None
    left = json.loads(explain(mended(allow={"move"}), as_="json"))
    assert {one["rule"] for one in left["remaining"]} <= set(RULES)
    assert left["ok"] is False


def test_raw_json_is_shown_as_what_it_holds():
    text = explain(ls.repair(json.dumps(BROKEN), profile="openai-chat"))
    assert text == explain(mended())
    whole = explain(ls.repair(json.dumps(BROKEN), profile="openai-chat"), as_="json")
    assert json.loads(whole) == json.loads(explain(mended(), as_="json"))


def test_every_kind_of_change_has_a_word():
    assert set(DONE) == {*KINDS, *LOSSLESS}


def test_kinds_are_counted_from_least_to_most_loss():
    assert list(rows_of(mended()).head["counts"]) == ["move", "synthesize", "demote"]


class Model:
    """An SDK object."""

    def __init__(self, **fields: object) -> None:
        self.fields = fields

    def model_dump(self, **_: object) -> dict:
        return self.fields


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("two\nlines", "two\\nlines"),
        ({"a": "x" * 99}, '{"a": "' + "x" * 60 + '…"}'),
        ({"a": ["x" * 99, 1]}, '{"a": ["' + "x" * 60 + '…", 1]}'),
        (msgspec.Raw(b'{"a": 1.10}'), '{"a": 1.1}'),
        ({"a": msgspec.Raw(b"[1]")}, '{"a": [1]}'),
        (Model(a=Model(b=1)), '{"a": {"b": 1}}'),
        ({"a": b"12345"}, '{"a": "[5 bytes]"}'),
        ({"a": 1 + 2j}, '{"a": "(1+2j)"}'),
        ({"a": "\ud83d"}, '{"a": "\\ud83d"}'),
        ({str(at): at for at in range(99)}, None),
    ],
)
def test_a_value_is_shown_on_one_short_line(value, said):
    shown = shortened(value)
    assert len(shown) <= 100
    assert said is None or shown == said


def test_a_value_becomes_what_json_can_write():
    assert plain(Model(a=b"1", b=msgspec.Raw(b"{}"))) == {"a": "[1 bytes]", "b": {}}
    assert plain(None) is None


def test_a_line_is_cut_with_a_mark():
    assert one_line("abcdef", 6) == "abcdef"
    assert one_line("abcdefg", 6) == "abcde…"
