"""The facade of acceptance: what may be handed over, what comes back, what is refused."""

import copy
import json

import pytest

import lockstitch as ls
from lockstitch.testing import call, result, user
from lockstitch.transcript import Transcript

UNKNOWN = "No result was recorded for this call; its outcome is unknown."
BROKEN = [user("1"), call("a"), user("2")]
MADE = {"role": "tool", "tool_call_id": "a", "content": UNKNOWN}


def test_a_tuple_and_a_generator_come_back_as_lists_of_the_same_messages():
    for source in (tuple(BROKEN), (one for one in BROKEN)):
        mended = ls.repair(source, profile="openai-chat", format="openai-chat")
        assert mended.messages == [*BROKEN[:2], MADE, BROKEN[2]]
        assert mended.messages[0] is BROKEN[0]
        assert mended.origins == (0, 1, -1, 2)


def test_a_request_body_comes_back_as_one_with_everything_around_the_list():
    body = {"model": "m", "messages": BROKEN, "tools": []}
    mended = ls.repair(body, profile="openai-chat")
    assert mended.messages == {**body, "messages": [*BROKEN[:2], MADE, BROKEN[2]]}
    assert body["messages"] is BROKEN


@pytest.mark.parametrize("kind", [str, bytes])
def test_json_keeps_the_bytes_of_untouched_messages(kind):
    rows = ['{"role":"user",  "content":"1\\u00e9"}', json.dumps(BROKEN[1]), json.dumps(BROKEN[2])]
    text = '{"model" : "m",\n "messages": [\n' + ",\n".join(rows) + "\n] }"
    source = text if kind is str else text.encode()
    mended = ls.repair(source, profile="openai-chat").messages
    assert type(mended) is kind
    written = mended if kind is str else mended.decode()
    made = json.dumps(MADE, separators=(",", ":"))
    rows.insert(2, made)
    assert written == '{"model" : "m",\n "messages": [\n' + ",\n".join(rows) + "\n] }"
    assert ls.repair(mended, profile="openai-chat").messages == mended


def test_lines_are_written_in_the_order_of_the_mended_history():
    rows = [json.dumps(one) for one in BROKEN]
    text = f"{rows[0]}\n\n{rows[1]}\nnull\n{rows[2]}"
    mended = ls.repair(text, profile="openai-chat").messages
    made = json.dumps(MADE, separators=(",", ":"))
    assert mended == f"{rows[0]}\n\n{rows[1]}\n{made}\nnull\n{rows[2]}"


def test_a_file_is_read_and_its_bytes_come_back(tmp_path):
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(BROKEN))
    mended = ls.repair(path, profile="openai-chat").messages
    assert json.loads(mended) == [*BROKEN[:2], MADE, BROKEN[2]]


def test_a_history_without_errors_comes_back_as_it_is():
    fine = [user("1"), call("a"), result("a"), {"role": "assistant", "content": "2"}]
    mended = ls.repair(fine, profile="openai-chat")
    assert (mended.changes, mended.remaining, mended.system) == ((), (), None)
    assert all(one is other for one, other in zip(mended.messages, fine, strict=True))
    text = json.dumps(fine, indent=3)
    assert ls.repair(text, profile="openai-chat").messages == text
    assert mended.summary() == "nothing to repair"


def test_nothing_is_changed_in_place():
    given = copy.deepcopy(BROKEN)
    ls.repair(given, profile="openai-chat")
    assert given == BROKEN


def test_a_dry_run_reports_the_same_and_changes_nothing():
    planned = ls.repair(BROKEN, profile="openai-chat", dry_run=True)
    done = ls.repair(BROKEN, profile="openai-chat")
    assert planned.changes == done.changes
    assert planned.messages == BROKEN
    assert planned.origins == done.origins
    body = {"messages": BROKEN}
    assert ls.repair(body, profile="openai-chat", dry_run=True).messages == body


# --- instructions that are lifted out of the list -------------------------------------------------

SYSTEM_FIRST = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}]
TOOLED = {"type": "text", "text": "be kind"}


@pytest.mark.parametrize(
    ("around", "system"),
    [
        ({"model": "m"}, "be brief"),
        ({"system": "be kind"}, "be kind\n\nbe brief"),
        ({"system": [TOOLED]}, [TOOLED, {"type": "text", "text": "be brief"}]),
    ],
)
def test_lifted_instructions_join_the_system_field_of_the_body(around, system):
    body = {**around, "messages": SYSTEM_FIRST}
    mended = ls.repair(body, profile="anthropic", format="anthropic")
    assert mended.messages == {**around, "messages": [SYSTEM_FIRST[1]], "system": system}
    assert mended.system == "be brief"
    bare = ls.repair(SYSTEM_FIRST, profile="anthropic", format="anthropic")
    assert (bare.messages, bare.system) == ([SYSTEM_FIRST[1]], "be brief")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (
            '{"model": "m", "messages": [%s, %s], "n": 1}',
            '{"system": "be brief", "model": "m", "messages": [%s], "n": 1}',
        ),
        (
            '{"system":  "x", "messages": [%s, %s]}',
            '{"system":  "x\\n\\nbe brief", "messages": [%s]}',
        ),
        (
            ' {"messages": [%s, %s], "system" : "x" }',
            ' {"messages": [%s], "system" : "x\\n\\nbe brief" }',
        ),
        (
            '{"a": 1, "request": {"messages": [%s, %s], "system": []}}',
            '{"a": 1, "request": {"messages": [%s], "system": "be brief"}}',
        ),
        (
            '{"a": NaN, "messages": [%s, %s]}',
            '{"system": "be brief", "a": NaN, "messages": [%s]}',
        ),
        (
            '{"a": NaN, "system": "x", "messages": [%s, %s]}',
            '{"a": NaN, "system": "x\\n\\nbe brief", "messages": [%s]}',
        ),
    ],
)
def test_in_json_text_only_the_system_field_is_written_anew(text, written):
    rows = [json.dumps(one) for one in SYSTEM_FIRST]
    mended = ls.repair(text % tuple(rows), profile="anthropic", format="anthropic")
    assert mended.messages == written % rows[1]


# --- what may be asked ----------------------------------------------------------------------------


def test_forbidden_kinds_are_not_used_and_what_is_left_is_said():
    mended = ls.repair(BROKEN, profile="openai-chat", allow={"move"})
    assert mended.changes == ()
    assert not mended.ok
    assert [(one.rule, one.path) for one in mended.remaining] == [
        ("oc-tool-calls-answered", "messages[1].tool_calls[0]")
    ]
    assert mended.summary() == "no change; 1 could not be mended"


def test_with_dropping_alone_the_call_goes():
    mended = ls.repair(BROKEN, profile="openai-chat", allow=["drop"])
    assert mended.messages == [BROKEN[0], BROKEN[2]]
    assert [(one.kind, one.index, one.before) for one in mended.changes] == [("drop", 1, BROKEN[1])]


def test_with_an_open_tail_a_call_at_the_end_may_wait():
    assert ls.repair(BROKEN[:2], profile="openai-chat", tail="open").changes == ()
    assert ls.repair(BROKEN[:2], profile="openai-chat").summary() == "1 synthesize"


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"tail": "ajar"}, ValueError, 'tail must be "open" or "closed", got \'ajar\''),
        ({"allow": "move"}, TypeError, "allow must be a collection of kinds, got the text 'move'"),
        (
            {"allow": ["burn"]},
            ValueError,
            "no kind of repair is called 'burn'; there are: move, synthesize, merge, demote, drop",
        ),
        ({"profile": "acme"}, ValueError, "no profile is called 'acme'; there are: portable"),
        ({"format": "acme"}, ValueError, "acme"),
    ],
)
def test_wrong_arguments_say_what_is_wrong_and_what_there_is(options, error, said):
    with pytest.raises(error) as caught:
        ls.repair(BROKEN, **{"profile": "openai-chat", **options})
    assert said in str(caught.value)


def test_a_format_that_is_only_read_cannot_be_mended():
    event = {"type": "user.message", "content": [{"type": "text", "text": "hi"}]}
    with pytest.raises(ValueError, match="histories in the format anthropic-events cannot be"):
        ls.repair([event], format="anthropic-events")


def test_a_transcript_is_taken_as_it_was_loaded():
    loaded = ls.load(BROKEN)
    assert isinstance(loaded, Transcript)
    assert ls.repair(loaded, profile="openai-chat").summary() == "1 synthesize"


def test_an_empty_history_is_left_empty():
    assert ls.repair([], profile="openai-chat").messages == []
