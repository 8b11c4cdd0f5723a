"""Bad input: each kind is named with its file and place, and none ends in a traceback."""

import json

import pytest

from lockstitch.testing import assistant, call, result, user

COMMANDS = [
    ("check",),
    ("check", "--profile", "all"),
    ("repair",),
    ("export", "--profile", "openai-chat"),
    ("stats",),
    ("trim", "--max-messages", "5"),
]
BOTH = [
    user("hi"),
    call("a"),
    result("a"),
    {"role": "assistant", "content": [{"type": "tool_use", "id": "b", "name": "f", "input": {}}]},
]
DEEP = b'[{"role": "user", "content": "hi", "more": ' + b"[" * 2_000 + b"]" * 2_000 + b"}]"

UNUSABLE = {
    "not JSON": (b"once upon a time", "not JSON"),
    "truncated": (b'[{"role": "user", "content": "hi"}, {"rol', "byte 41"),
    "truncated inside a line": (
        b'{"role": "user", "content": "hi"}\n{"role": "assistant", "conte\n',
        "line 2",
    ),
    "nothing at all": (b"", "empty"),
    "no list of messages": (b'{"rows": [1, 2]}', "no list of messages found"),
    "not an object": (b'[{"role": "user", "content": "hi"}, 7]', "messages[1]"),
    "no known format": (b'[{"who": "me"}]', "no known format fits"),
    "two formats": (json.dumps(BOTH).encode(), "--format openai-chat or --format anthropic"),
    "two lists": (b'{"messages": [], "input": []}', "'messages' and 'input'"),
    "a key twice around the list": (b'{"messages": [], "messages": []}', "twice"),
    "deeply nested": (DEEP, "nested too deeply"),
    "deeply nested list": (b"[" * 2_000 + b"]" * 2_000, "nested too deeply"),
    "not UTF-8": (b'[{"role": "user", "content": "caf\xe9"}]', "byte 33"),
    "a raw surrogate": (b'[{"role": "user", "content": "\xed\xa0\x80"}]', "not UTF-8"),
    "UTF-16": ('[{"role": "user", "content": "hi"}]'.encode("utf-16"), "not JSON"),
    "trailing words": (b'[{"role": "user", "content": "hi"}] and more', "not JSON"),
    "broken gzip": (b"\x1f\x8b\x08\x00nonsense", "damaged gzip"),
    "cut gzip": (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x8b\x8e", "damaged gzip"),
}
USABLE = {
    "an empty list": b"[]",
    "null content": b'[{"role": "user", "content": "hi"}, {"role": "assistant", "content": null}]',
    "a lone surrogate": b'[{"role": "user", "content": "smile \\ud83d"}]',
    "surrogates in every place": (
        b'[{"role": "user", "content": "\\udc00"}, {"role": "assistant", "content": null, '
        b'"tool_calls": [{"id": "\\ud800", "type": "function", "function": {"name": "\\ud801", '
        b'"arguments": "\\ud802"}}]}, {"role": "tool", "tool_call_id": "\\ud800", '
        b'"content": "\\ud803"}]'
    ),
    "an integer over 64 bits": (
        b'[{"role": "user", "content": "hi", "seed": 123456789012345678901234567890}]'
    ),
    "NaN": b'[{"role": "user", "content": "hi", "score": NaN}]',
    "a key twice in a message": b'[{"role": "user", "content": "a", "content": "hi"}]',
    "a NUL": b'[{"role": "user", "content": "\\u0000"}]',
    "a byte order mark": b'\xef\xbb\xbf[{"role": "user", "content": "hi"}]',
}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("kind", UNUSABLE)
def test_unusable_input_is_named_with_its_place_and_left_alone(run, write, kind, command):
    content, said = UNUSABLE[kind]
    path = write(content)
    ended = run(*command, path)
    assert ended.exit_code == 2
    assert str(path) in ended.stderr
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""
    assert path.read_bytes() == content


@pytest.mark.parametrize("kind", UNUSABLE)
def test_unusable_input_is_an_object_in_json_too(run, write, kind):
    for command in COMMANDS:
        found = json.loads(run(*command, write(UNUSABLE[kind][0]), "--json").stdout)
        assert set(found) == {"file", "error"}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("kind", USABLE)
def test_odd_input_is_read_and_left_alone(run, write, kind, command):
    path = write(USABLE[kind])
    for arguments in ((), ("--json",)):
        ended = run(*command, path, *arguments)
        assert ended.exit_code in {0, 1}, ended.stderr
        assert "Traceback" not in ended.stderr
    assert path.read_bytes() == USABLE[kind]


@pytest.mark.parametrize("kind", USABLE)
def test_odd_input_that_fits_comes_out_byte_for_byte(run, write, kind):
    trimmed = run("trim", write(USABLE[kind]), "--max-messages", 9)
    assert trimmed.stdout_bytes == USABLE[kind]


@pytest.mark.parametrize("kind", USABLE)
def test_the_json_of_odd_input_can_be_read(run, write, kind):
    trimmed = run("trim", write(USABLE[kind]), "--max-messages", 9, "--json", "--explain")
    assert json.loads(trimmed.stdout)["messages"] == json.loads(USABLE[kind].decode("utf-8-sig"))


def test_a_lone_surrogate_is_a_finding(run, write):
    checked = run("check", write(USABLE["a lone surrogate"]))
    assert checked.exit_code == 1
    assert "po-valid-text" in checked.stdout


def test_a_format_that_is_named_settles_which_of_two_it_is(run, write):
    path = write(BOTH)
    assert run("check", path).exit_code == 2
    assert run("stats", path, "--format", "openai-chat").exit_code == 0


def test_the_place_is_named_where_the_format_was_given(run, write):
    checked = run("check", write([user("hi"), 7]), "--format", "openai-chat")
    assert checked.exit_code == 2
    assert "messages[1]: expected" in checked.stderr


def test_candidates_are_listed_in_json(run, write):
    found = json.loads(run("check", write(BOTH), "--json").stdout)
    assert [name for name, _ in found["error"]["candidates"]] == ["openai-chat", "anthropic"]


def test_900_levels_of_nesting_are_read(run, write):
    content = b'[{"role": "user", "content": "hi", "m": ' + b"[" * 900 + b"]" * 900 + b"}]"
    for command in COMMANDS:
        assert run(*command, write(content)).exit_code == 0


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_what_cannot_be_read_is_named(run, tmp_path, command):
    for path in (tmp_path / "missing.json", tmp_path, "a\0b"):
        ended = run(*command, path)
        assert ended.exit_code == 2
        assert "cannot be read" in ended.stderr


def _large(size: int) -> bytes:
    rounds = [user("look")]
    for number in range(size // 1_000):
        rounds += [call(f"c{number}"), result(f"c{number}", f"line {number} " * 80)]
    return json.dumps([*rounds, assistant("found it")]).encode()


def _cut_a_large_file(run, write, tmp_path, size):
    content = _large(size)
    assert len(content) > size
    path = write(content)
    assert run("check", path).exit_code == 0
    assert run("trim", path, "--max-messages", 50, "-o", tmp_path / "cut.json").exit_code == 0
    assert len(json.loads((tmp_path / "cut.json").read_bytes())) >= 48
    assert path.read_bytes() == content


def test_a_file_of_30_megabytes_is_checked_and_cut(run, write, tmp_path):
    _cut_a_large_file(run, write, tmp_path, 30_000_000)


@pytest.mark.long
def test_a_file_of_200_megabytes_is_checked_and_cut(run, write, tmp_path):
    _cut_a_large_file(run, write, tmp_path, 200_000_000)
