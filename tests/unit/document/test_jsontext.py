"""JSON text: what nobody changed keeps its bytes, and what is no JSON is refused by its place."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import msgspec
import pytest

import lockstitch as ls
from lockstitch.document.jsontext import Reparse, decode, from_json
from lockstitch.testing import assistant, user

if TYPE_CHECKING:
    from pathlib import Path

ONE = '{"role":"user","content":"1"}'
TWO = '{ "role" : "assistant" , "content" : "2" , "n" : 1.10 }'
THREE = '{"role":"user","content":"3 \\u00e9 \\"]}[{","big":123456789012345678901234567890}'
FOUR = '{"content":"4","role":"assistant","e":1E+2,"dup":1,"dup":2,"nul":null}'


def listed(before="[", gap=",", after="]"):
    return before + gap.join((ONE, TWO, THREE, FOUR)) + after


WRAPPED = [
    ("[", "]"),
    (" \r\n\t[ ", "\n]\n\n"),
    ('{"messages":[', "]}"),
    ('{ "model": "m",\n "messages" : [\n  ', '\n ] , "tools": [ {"a": "]"} ], "x": 1.0 }\n'),
    ('{"a":"\\"messages\\":[","messages":[', '],"b":"\\\\"}'),
    ('{"request":{"model":"m","messages":[', '],"t":1e0},"response":{"messages":null}}'),
    ('{"request": {"request" : {"messages":[', ']}, "q" : [1 , 2]} }'),
    ("[\n  ", "\n]"),
]


# --- untouched, and cut ---------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "after"), WRAPPED)
@pytest.mark.parametrize("gap", [",", ", ", ",\n  ", " , ", "\r\n,\r\n"])
def test_what_fits_comes_back_byte_for_byte(before, after, gap):
    text = listed(before, gap, after)
    assert ls.trim(text, max_messages=4) == text
    assert ls.dump(ls.load(text)) == text
    assert ls.trim(text.encode(), max_messages=4) == text.encode()


@pytest.mark.parametrize(("before", "after"), WRAPPED)
@pytest.mark.parametrize("gap", [",", ", ", ",\n  ", " , ", "\r\n,\r\n"])
def test_a_cut_leaves_kept_messages_and_the_container_byte_for_byte(before, after, gap):
    text = listed(before, gap, after)
    expected = before + gap.join((THREE, FOUR)) + after
    assert ls.trim(text, max_messages=2) == expected
    assert ls.trim(text.encode(), max_messages=2) == expected.encode()
    json.loads(expected)


def test_a_cut_to_nothing_leaves_an_empty_list_in_its_container():
    assert json.loads(ls.trim(listed(), max_messages=0)) == []
    body = json.loads(ls.trim(listed('{"a":1,"messages":[ ', after=' ],"b":2}'), max_messages=0))
    assert body == {"a": 1, "messages": [], "b": 2}


def test_messages_that_are_equal_are_told_apart_by_place():
    text = f"[{ONE},{ONE}, {ONE}]"
    assert ls.trim(text, max_messages=2, profile="openai-chat") == f"[{ONE},{ONE}]"


def test_a_list_of_one_message_keeps_its_white_space():
    text = f"[  {ONE}\n]"
    assert ls.trim(text, max_messages=1) == text
    assert ls.dump(ls.load(text)) == text


def test_a_pretty_printed_file_stays_pretty():
    history = [user("1"), assistant("2"), user("3"), assistant("4")]
    pretty = json.dumps({"messages": history, "model": "m"}, indent=2) + "\n"
    expected = json.dumps({"messages": history[2:], "model": "m"}, indent=2) + "\n"
    assert ls.trim(pretty, max_messages=2) == expected


def test_line_ends_of_another_system_stay():
    history = [user("1"), assistant("2"), user("3"), assistant("4")]
    pretty = json.dumps(history, indent=2).replace("\n", "\r\n")
    expected = json.dumps(history[2:], indent=2).replace("\n", "\r\n")
    assert ls.trim(pretty.encode(), max_messages=2) == expected.encode()


@pytest.mark.parametrize("mark", ["\ufeff", "\ufeff \n"])
def test_a_byte_order_mark_stays_where_it_is(mark):
    text = mark + listed()
    assert ls.trim(text, max_messages=4) == text
    assert ls.dump(ls.load(text.encode())) == text.encode()


def test_a_byte_order_mark_does_not_hinder_a_cut():
    text = "\ufeff" + listed()
    assert json.loads(ls.trim(text, max_messages=2).removeprefix("\ufeff")) == (
        json.loads(f"[{THREE},{FOUR}]")
    )


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, io.BytesIO])
def test_bytes_of_any_kind_come_back_as_bytes(kind):
    kept = ls.trim(kind(listed().encode()), max_messages=2)
    assert kept == f"[{THREE},{FOUR}]".encode()
    assert type(kept) is bytes


def test_text_comes_back_as_text_from_an_open_file_too():
    assert ls.trim(io.StringIO(listed()), max_messages=2) == f"[{THREE},{FOUR}]"


def test_a_path_is_read_and_its_bytes_come_back(tmp_path: Path):
    file = tmp_path / "chat.json"
    file.write_bytes(listed().encode())
    assert ls.trim(file, max_messages=2) == f"[{THREE},{FOUR}]".encode()
    assert file.read_bytes() == listed().encode()


def test_letters_beyond_ascii_keep_their_bytes():
    one, two = '{"role":"user","content":"é\\u00e9 日本"}', '{"role":"user","content":"🎉"}'
    text = f'{{"é":"ü","messages":[{one},{two}]}}'
    assert ls.trim(text, max_messages=1, profile="openai-chat") == f'{{"é":"ü","messages":[{two}]}}'


@pytest.mark.parametrize(
    ("text", "context"),
    [
        ('{"m\\u0065ssages":[],"\\"k":1}', {'"k': 1}),
        ('{"messages":[],"a\\\\":"b\\\\\\"","c":[{}]}', {"a\\": 'b\\"', "c": [{}]}),
        ('{"big":123456789012345678901234567890,"messages":[]}', {"big": 10**29 * 1.2345678901}),
    ],
)
def test_keys_and_values_around_the_list_are_read_with_their_escapes(text, context):
    found = ls.load(text).context
    if "big" in context:
        assert found == {"big": 123456789012345678901234567890}
    else:
        assert found == context


def test_the_string_input_of_responses_is_read_from_text_too():
    text = '{ "input" : "hello", "model":"m" }'
    assert [message.native for message in ls.load(text)] == [{"role": "user", "content": "hello"}]
    assert ls.trim(text, max_messages=1) == text
    assert json.loads(ls.trim(text, max_messages=0)) == {"input": [], "model": "m"}
    assert json.loads(ls.trim(text.encode(), max_messages=0)) == {"input": [], "model": "m"}


# --- what only the standard reader takes ----------------------------------------------------------


HALF = '{"role":"user","content":"half \\ud83d"}'
NAN = '{"role":"user","content":"x","score":NaN}'


@pytest.mark.parametrize("odd", [HALF, NAN, '{"role":"user","content":"x","s":-Infinity}'])
@pytest.mark.parametrize(("before", "after"), WRAPPED)
def test_lone_surrogates_and_nan_come_back_byte_for_byte_when_nothing_is_cut(odd, before, after):
    text = f"{before}{odd},{TWO}{after}"
    assert ls.trim(text, max_messages=2) == text
    assert ls.dump(ls.load(text)) == text
    assert ls.dump(ls.load(text.encode())) == text.encode()


@pytest.mark.parametrize("odd", [HALF, NAN])
def test_a_cut_around_them_keeps_every_value(odd):
    text = f'{{"a":1,"messages":[{odd},{TWO},{odd},{FOUR}]}}'
    kept = json.loads(ls.trim(text, max_messages=2))
    wanted = {"a": 1, "messages": [json.loads(odd), json.loads(FOUR)]}
    assert json.dumps(kept) == json.dumps(wanted)


@pytest.mark.parametrize("odd", [HALF, NAN])
def test_a_cut_beside_them_keeps_the_other_messages_byte_for_byte(odd):
    assert ls.trim(f"[{ONE},{TWO},{odd},{TWO}]", max_messages=2) == f"[{odd},{TWO}]"


def test_a_lone_surrogate_is_found_and_reported_with_its_place():
    report = ls.check(f"[{ONE},{TWO},{HALF}]")
    (found,) = report.violations
    assert (found.rule, found.path) == ("po-valid-text", "messages[2].content")


def test_a_lone_surrogate_in_python_text_is_a_finding_and_no_crash():
    text = '[{"role":"user","content":"half \ud83d"}]'
    (found,) = ls.check(text).violations
    assert found.rule == "po-valid-text"


def test_python_text_with_a_lone_surrogate_comes_back_as_it_was():
    # Compared as ASCII: a failure that shows half a pair could not be reported.
    text = '[{"role":"user","content":"half \ud83d"}]'
    assert ascii(ls.trim(text, max_messages=1)) == ascii(text)


def test_python_text_with_a_lone_surrogate_in_a_key_comes_back_as_it_was():
    text = '{"half \ud83d":1,"messages":[]}'
    assert ascii(ls.dump(ls.load(text))) == ascii(text)


SENT = '[{"role":"user","content":"half \ud83d"}'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SENT, "not JSON: "),
        (SENT + "] junk", "not JSON: "),
        (SENT + "]]", "not JSON: "),
        ('"half \ud83d"', "not JSON: expected"),
        ("5 \ud83d", "not JSON: "),
        ("half \ud83d", "not JSON: "),
        ('{"a":"\ud83d"}', "no list of messages found"),
        ('{"a":1,"a":2,"messages":' + SENT + "]}", "stands twice"),
        (SENT[:-1] + ',"x":' + "[" * 5_000 + "]" * 5_000 + "}]", "nested too deeply"),
    ],
)
def test_python_text_with_a_lone_surrogate_is_refused_for_what_other_text_is(text, said):
    for function in (ls.load, ls.check, ls.trim, ls.plan, ls.groups):
        with pytest.raises(ls.FormatError, match=said):
            function(text)


@pytest.mark.parametrize("odd", [HALF, NAN])
@pytest.mark.parametrize(
    "text",
    [
        '{{"a":1,"a":2,"messages":[{0}]}}',
        '{{"messages":[{{}}],"messages":[{0}]}}',
        '{{"request":{{"messages":[{0}],"b":1,"b":2}}}}',
    ],
)
def test_a_key_that_stands_twice_is_refused_beside_an_odd_message_too(odd, text):
    with pytest.raises(ls.FormatError, match="stands twice"):
        ls.load(text.format(odd))


@pytest.mark.parametrize("odd", [HALF, NAN])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"m\\u0065ssages": [', ' ] , "x":1}'),
        ('{"x":{"messages":[{}]},"messages":[', "]}"),
        ('{"x":"\\"messages\\":[", "request" : { "messages" : [', "]}}"),
        ("\ufeff [", "]\n"),
    ],
)
def test_the_list_beside_which_odd_messages_stand_is_found_whatever_is_around(odd, before, after):
    text = f"{before}{ONE},{TWO} , {odd} , {TWO}{after}"
    assert ls.trim(text, max_messages=4) == text
    # The gap is the one between the first two messages.
    assert ls.trim(text, max_messages=2) == f"{before}{odd},{TWO}{after}"
    assert ls.trim(text.encode(), max_messages=2) == f"{before}{odd},{TWO}{after}".encode()


@pytest.mark.parametrize("function", [ls.load, ls.check, ls.trim, ls.plan, ls.groups])
@pytest.mark.parametrize(
    "data",
    [
        b'[{"role":"user","content":"\xff"}]',
        b'{"messages":[{"role":"user","content":"\xff"}]}',
        b'{"model":"\xff","messages":[]}',
        b'{"\xff":1,"messages":[]}',
        b'[{"role":"user","content":"x","n":NaN,"m":"\xff"}]',
        b'\xef\xbb\xbf[{"role":"user","content":"\xff"}]',
        '[{"role":"user","content":"é"}]'.encode("latin-1"),
    ],
)
def test_bytes_that_are_not_utf_8_are_refused_with_the_byte(function, data):
    at = data.index(b"\xff") if b"\xff" in data else data.index(b"\xe9")
    with pytest.raises(ls.FormatError, match=rf"not UTF-8: .*\(byte {at}\)"):
        function(data)


def test_numbers_over_64_bits_are_read_exactly():
    (message,) = list(ls.load(f"[{THREE}]"))
    assert ls.dump(ls.load(f"[{THREE}]")) == f"[{THREE}]"
    decoded = json.loads(bytes(message.native))
    assert decoded["big"] == 123456789012345678901234567890


@pytest.mark.parametrize("number", ["1e400", "-1e400"])
def test_a_number_beyond_what_a_float_holds_is_kept_or_refused_and_never_infinity(number):
    odd = f'{{"role":"assistant","content":"x","n":{number}}}'
    for text in (f"[{ONE},{odd},{ONE},{TWO}]", f"[{ONE},{TWO},{ONE},{odd}]"):
        try:
            kept = ls.trim(text, max_messages=2)
        except ls.FormatError as error:
            kept = error.where
        assert kept.startswith(("[{", "messages["))
        assert "Infinity" not in kept


# --- duplicate keys -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '{"messages":[],"messages":[]}',
        '{"model":1,"messages":[],"model":2}',
        '{"model":1,"model":2,"messages":[]}',
        '{"messages":[],"a":1,"a":1}',
        '{"request":{"messages":[],"a":1,"a":2}}',
        '{"request":{"messages":[]},"request":{"messages":[]}}',
    ],
)
def test_a_key_that_stands_twice_around_the_list_is_refused(text):
    with pytest.raises(ls.FormatError, match="stands twice in one object: remove one of the two"):
        ls.load(text)


def test_the_key_that_stands_twice_is_named():
    with pytest.raises(ls.FormatError, match="the key 'model' stands twice"):
        ls.load('{"model":1,"messages":[],"model":2}')


def test_a_key_that_stands_twice_inside_a_message_is_kept_as_it_is():
    twice = '{"role":"user","role":"user","content":"a","content":"b"}'
    assert ls.trim(f"[{ONE},{TWO},{twice}]", max_messages=1) == f"[{twice}]"


# --- what is refused ------------------------------------------------------------------------------


FUNCTIONS = [ls.load, ls.check, ls.trim, ls.plan, ls.groups]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("nothing", ["", " \r\n\t", b"", b"\xef\xbb\xbf", "\ufeff \n"])
def test_empty_input_is_refused(function, nothing):
    with pytest.raises(ls.FormatError, match="the input is empty: expected a JSON list of messag"):
        function(nothing)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("text", "byte", "head"),
    [("hello", 0, "h"), ("  \n5", 3, "5"), ('"text"', 0, '"'), ("null", 0, "n"), ("<a>", 0, "<")],
)
def test_what_is_no_json_list_or_object_is_refused_with_the_byte(function, text, byte, head):
    with pytest.raises(ls.FormatError) as caught:
        function(text)
    assert str(caught.value) == (
        f"not JSON: expected '[' or '{{', found {head.encode()!r} (byte {byte})"
    )


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("cut", [1, 5, 20, len(listed()) - 1])
def test_truncated_json_is_refused_with_the_byte_where_it_breaks_off(function, cut):
    with pytest.raises(ls.FormatError, match=f"the JSON breaks off at byte {cut}, before it is"):
        function(listed()[:cut])


@pytest.mark.parametrize("cut", [5, 12, 14, 30])
def test_a_truncated_request_body_is_refused_with_the_byte(cut):
    text = listed('{"messages":[', after="]}")
    with pytest.raises(ls.FormatError, match=f"the JSON breaks off at byte {cut}"):
        ls.load(text[:cut])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"role" "user"}]', r"not JSON: .*\(byte 9\)"),
        ("[1,]", r"not JSON: .*\(byte 3\)"),
        ('{"messages":[]} x', r"not JSON: .*trailing characters \(byte 1[67]\)"),
        ("[] []", r"not JSON: .*trailing characters \(byte [34]\)"),
        ("{messages:[]}", r"not JSON: .*\(byte 1\)"),
        ("['a']", r"not JSON: .*\(byte 1\)"),
    ],
)
def test_malformed_json_is_refused_with_the_byte(text, said):
    with pytest.raises(ls.FormatError, match=said):
        ls.load(text)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("depth", [2_000, 50_000])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('[{"role":"user","content":', "}]"),
        ('{"messages":[{"role":"user","content":', "}]}"),
        ('{"x":', ',"messages":[]}'),
        ('{"messages":[{"role":"user","content":"x","n":NaN,"c":', "}]}"),
        ("", ""),
    ],
)
def test_two_thousand_levels_of_nesting_are_refused_and_no_recursion_error(
    function, depth, before, after
):
    with pytest.raises(ls.FormatError, match="nested too deeply to be read safely"):
        function(before + "[" * depth + "]" * depth + after)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_objects_nested_two_thousand_times_are_no_recursion_error_either(function):
    deep: list[object] = []
    for _ in range(2_000):
        deep = [deep]
    with pytest.raises(ls.FormatError):
        function([{"role": "user", "content": deep}])


def test_arguments_nested_two_thousand_times_can_be_counted():
    deep: list[object] = []
    for _ in range(2_000):
        deep = [deep]
    use = {"type": "tool_use", "id": "a", "name": "x", "input": {"x": deep}}
    history = [
        user("1"),
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "r"}]},
    ]
    assert ls.plan(history, max_tokens=100_000).kept == [0, 1, 2]
    assert ls.plan(history, max_chars=100_000).kept == [0, 1, 2]


def test_an_object_where_a_list_was_promised_is_refused():
    with pytest.raises(ls.FormatError, match="no list of messages found"):
        ls.load('{"messages":{"a":[]}}')


# --- the reader itself ----------------------------------------------------------------------------


def test_the_reader_says_which_shape_it_expected():
    with pytest.raises(ls.FormatError, match=r"^expected a list: "):
        decode(b"{}", list[int])
    with pytest.raises(ls.FormatError, match=r"^expected an object: "):
        decode(b"[]", dict)


@pytest.mark.parametrize("text", [b"[NaN]", b'["\\ud800"]'])
def test_the_reader_hands_on_what_only_the_standard_one_takes(text):
    with pytest.raises(Reparse):
        decode(text, list)


def test_a_message_that_was_added_is_written_as_json():
    document = from_json(f"[{ONE}, {TWO}]".encode(), text=True)
    added = {"role": "user", "content": "é \ud83d"}
    assert document.rebuild([document.natives[0], added]) == (
        ONE.join(["[", ', {"role": "user", "content": "\\u00e9 \\ud83d"}]'])
    )
    assert document.rebuild([msgspec.Raw(b"{}"), {"a": "é"}]) == '[{}, {"a":"é"}]'
