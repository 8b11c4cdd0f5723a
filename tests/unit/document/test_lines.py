"""JSON lines: one message, or one row of a log, on each line; rows without one stay in place."""

from __future__ import annotations

import json

import pytest

import lockstitch as ls
from lockstitch.document.lines import from_lines, is_lines
from lockstitch.testing import assistant, call, result, system, user

HISTORY = [system(), user("1"), call("a"), result("a"), assistant("2"), user("3"), assistant("4")]
ROWS = [json.dumps(message) for message in HISTORY]


def test_one_message_on_each_line_is_a_history():
    text = "\n".join(ROWS) + "\n"
    transcript = ls.load(text)
    assert [message.role for message in transcript] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
    ]
    assert transcript.path == "lines"
    assert transcript.context == {}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n", "\n  \t\n", "  \n"])
@pytest.mark.parametrize("last", ["", "\n", "\n\n"])
def test_what_fits_comes_back_byte_for_byte(end, last):
    text = end.join(ROWS) + last
    assert ls.trim(text, max_messages=7) == text
    assert ls.dump(ls.load(text)) == text
    assert ls.dump(ls.load(text.encode())) == text.encode()


@pytest.mark.parametrize("end", ["\n", "\r\n", "  \n"])
def test_a_cut_leaves_the_kept_lines_byte_for_byte(end):
    text = end.join([*ROWS, ""])
    expected = end.join([ROWS[0], *ROWS[5:], ""])
    assert ls.trim(text, max_messages=3) == expected
    assert ls.trim(text.encode(), max_messages=3) == expected.encode()


def test_blank_lines_stay_where_they_are():
    text = f"\n{ROWS[1]}\n\n{ROWS[4]}\n \n{ROWS[5]}\n{ROWS[6]}\n\n"
    assert ls.trim(text, max_messages=2) == f"\n\n \n{ROWS[5]}\n{ROWS[6]}\n\n"


def test_a_last_line_without_an_end_keeps_none():
    assert ls.trim("\n".join(ROWS), max_messages=3) == "\n".join([ROWS[0], *ROWS[5:]])


def test_numbers_keep_their_spelling_on_kept_lines():
    odd = '{"content": "x", "role": "user", "n": 1.10, "n": 2E5, "big": 99999999999999999999}'
    assert ls.trim(f"{ROWS[1]}\n{ROWS[4]}\n{odd}\n", max_messages=1) == f"{odd}\n"


@pytest.mark.parametrize(
    "odd", ['{"role":"user","content":"half \\ud83d"}', '{"role":"user","content":"x","n":NaN}']
)
def test_a_line_that_only_the_standard_reader_takes_keeps_its_bytes(odd):
    text = f"{ROWS[1]}\n{ROWS[4]}\n{odd}\n{ROWS[6]}\n"
    assert ls.trim(text, max_messages=2) == f"{odd}\n{ROWS[6]}\n"
    assert ls.dump(ls.load(text)) == text


@pytest.mark.parametrize("odd", [r'["x.sent", "\ud800"]', '["x.sent", NaN]', '"\ud800"', "NaN"])
def test_a_row_without_a_message_is_none_if_only_the_standard_reader_takes_it_too(odd):
    text = json.dumps(user("one")) + f"\n{odd}\n" + json.dumps(user("two")) + "\n"
    assert len(ls.load(text)) == 2
    assert ls.trim(text, max_messages=9) == text


def test_a_byte_order_mark_before_lines_is_no_obstacle():
    text = "\ufeff" + "\n".join(ROWS) + "\n"
    assert ls.dump(ls.load(text)) == text
    assert len(ls.load(text.encode())) == 7


def test_line_separators_inside_a_message_do_not_end_a_line():
    odd = '{"role":"user","content":"a\u2028b\x85c\x0cd"}'
    text = f"{ROWS[1]}\n{ROWS[4]}\n{odd.replace(chr(12), ' ')}\n"
    assert len(ls.load(text)) == 3
    assert ls.dump(ls.load(text)) == text


# --- rows that carry no message -------------------------------------------------------------------


EVENT = {"type": "user.message", "content": [{"type": "text", "text": "go"}]}
ANSWER = {"type": "agent.message", "content": [{"type": "text", "text": "done"}]}
STATUS = {"type": "session.status_idle"}


def test_a_log_of_streamed_events_keeps_its_other_rows_in_place():
    rows = [
        ["session.create", {"id": "s"}],
        ["events.send", EVENT],
        ["events.stream", EVENT],
        ["events.stream", STATUS],
        ["events.stream", ANSWER],
        ["events.stream", EVENT],
        5,
        "text",
        None,
        ["events.stream", ANSWER],
        ["events.stream", {"no": "type"}],
        [1, 2, 3],
    ]
    lines = [json.dumps(row) + "\n" for row in rows]
    transcript = ls.load("".join(lines))
    assert [message.native["type"] for message in transcript] == [
        "user.message",
        "agent.message",
        "user.message",
        "agent.message",
    ]
    assert transcript.format.name == "anthropic-events"
    kept = ls.trim("".join(lines), max_messages=2)
    assert kept == "".join(lines[at] for at in range(12) if at not in {2, 4})


def test_a_single_line_is_a_history_of_one_message():
    assert ls.trim(ROWS[1] + "\n", max_messages=1) == ROWS[1] + "\n"
    assert ls.load(ROWS[1]).path == "lines"
    assert ls.trim(ROWS[1] + "\n", max_messages=0) == ""


def test_a_log_without_any_message_is_refused():
    with pytest.raises(ls.FormatError, match="no line holds a message"):
        ls.load('["a", 1]\n5\nnull\n')


# --- what is a document of lines, and what is not -------------------------------------------------


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("{}\n{}", True),
        ("\n\n{}\n{}", True),
        ("{}\n", False),
        ("{}", False),
        ('{"role":"user","content":"x"}', True),
        ('{"role":"user","content":"x"}\n', True),
        ('{"type":"reasoning"}', True),
        ('["events.stream",{"type":"user.message"}]', True),
        ('["events.stream",{"type":5}]', False),
        ('[5,{"type":"user.message"}]', False),
        ('{"role":5}', False),
        ('{"role":"user","messages":[]}', False),
        ('{"type":"x","input":[]}', False),
        ('{"type":"x","request":{}}', False),
        ('[{"role":"user","content":"x"}]', False),
        ("", False),
        ("[\n{}\n]", False),
        ('{"a":\n1}', False),
        ("hello\n{}", False),
        ("[]\n[]", True),
        ("[" * 5_000 + "\n{}", False),
        ("[" * 5_000 + "]" * 5_000 + "\n{}", False),
    ],
)
def test_lines_are_told_from_one_document_by_the_first_line(text, lines):
    assert is_lines(text.encode()) is lines


@pytest.mark.parametrize("text", ['[{"role":"user"}]', '{"messages":[{"role":"user"}]}'])
def test_what_one_line_holds_is_not_built_to_tell_it_from_lines(text, monkeypatch):
    monkeypatch.setattr("json.loads", None)
    assert not is_lines(text.encode())


def test_a_first_line_that_only_the_standard_reader_takes_is_a_line_as_well():
    text = '{"role":"user","content":"half \\ud83d"}\n{"role":"assistant","content":"x"}\n'
    assert len(ls.load(text)) == 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"role":', r"^line 3: not JSON: the JSON breaks off at byte 8"),
        ("hello", r"^line 3: not JSON: .*\(byte 0\)"),
        ("[" * 3_000 + "]" * 3_000, "^line 3: nested too deeply"),
    ],
)
def test_a_line_that_is_no_json_is_refused_with_its_number(line, said):
    for function in (ls.load, ls.check, ls.trim, ls.plan):
        with pytest.raises(ls.FormatError, match=said) as caught:
            function(f"{ROWS[1]}\n\n{line}\n{ROWS[4]}\n")
        assert caught.value.where == "line 3"


def test_python_text_lines_with_a_lone_surrogate_are_read_like_any_others():
    # Compared as ASCII: a failure that shows half a pair could not be reported.
    odd = '{"role":"user","content":"half \ud83d"}'
    for text in (f"{odd}\n{ROWS[4]}\n", f"{ROWS[4]}\n{odd}\n{ROWS[4]}"):
        assert ascii(ls.dump(ls.load(text))) == ascii(text)
        assert len(ls.load(text)) == len(text.splitlines())
    kept = ls.trim(f"{ROWS[1]}\n{ROWS[4]}\n{odd}\n{ROWS[4]}\n", max_messages=2)
    # What is kept of a cut text spells the half pair as the escape that JSON has for it.
    assert [json.loads(line) for line in kept.splitlines()] == [
        json.loads(line) for line in (odd, ROWS[4])
    ]


def test_lines_that_are_not_utf_8_are_refused_whatever_the_first_one_is():
    for line in (b'{"role":"user","content":"\xff"}', b'{"role":"user","content":"\xff",}'):
        with pytest.raises(ls.FormatError):
            ls.check(b"5\n" + line + b"\n")


def test_lines_that_are_not_utf_8_are_refused():
    data = ROWS[1].encode() + b'\n{"role":"user","content":"\xff"}\n'
    for function in (ls.load, ls.check, ls.trim, ls.plan):
        with pytest.raises(ls.FormatError, match="not UTF-8"):
            function(data)


def test_messages_that_were_added_come_last():
    document = from_lines(b'{"a":1}\n{"b":2}\n', text=True)
    assert document.rebuild([document.natives[1], {"c": 3}]) == '{"b":2}\n{"c":3}\n'


def test_a_message_added_after_a_line_without_an_end_gets_a_line_of_its_own():
    document = from_lines(b'{"a":1}\n{"b":2}', text=True)
    kept = document.rebuild([*document.natives, {"c": 3}])
    assert [json.loads(line) for line in kept.splitlines()] == [{"a": 1}, {"b": 2}, {"c": 3}]


def test_messages_that_were_moved_or_put_in_between_are_written_in_their_order():
    document = from_lines(b'{"a":1}\n\n{"b":2}\n{"c":3}', text=True)
    first, second, third = document.natives
    assert document.rebuild([third, {"new": 0}, first, second]) == (
        '\n{"c":3}\n{"new":0}\n{"a":1}\n{"b":2}\n'
    )
    assert document.rebuild([first, {"new": 0}, third]) == '{"a":1}\n{"new":0}\n\n{"c":3}'


def test_rows_behind_a_message_that_was_changed_stay_behind_it():
    rows = [["events.stream", EVENT], ["events.stream", STATUS]]
    lines = "\n".join(json.dumps(row) for row in rows)
    transcript = ls.load(lines)
    changed = transcript.document.rebuild([{**EVENT, "more": 1}])
    assert [json.loads(line) for line in changed.splitlines()] == [{**EVENT, "more": 1}, rows[1]]
    moved = transcript.document.rebuild([])
    assert moved == json.dumps(rows[1])


def test_a_byte_order_mark_stays_in_front_of_what_is_put_first():
    document = from_lines(b'\xef\xbb\xbf{"a":1}\n{"b":2}\n', text=False)
    first, second = document.natives
    assert document.rebuild([second, first]) == b'\xef\xbb\xbf{"b":2}\n{"a":1}\n'
