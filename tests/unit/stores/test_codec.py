"""What is stored comes back the same: what plain JSON would change in silence is kept."""

import math

import msgspec
import pytest

import lockstitch as ls
from lockstitch.stores.codec import read, read_as, read_native, write, write_native


class Holder(msgspec.Struct):
    said: str


def back(message):
    return read_native(write_native(message, "messages[0]"))


@pytest.mark.parametrize(
    "message",
    [
        {"content": "plain", "n": None, "t": True, "f": 1.5},
        {"content": "caf\ud83d menu"},
        {"content": "nul \x00 inside", "key \x00": 1},
        {"n": 12345678901234567890123, "m": -(2**70)},
        {"bytes": b"\x00\xff", "in": [b"a", {"b": b""}]},
        {"tuple": (1, (2, "x")), "list": [(1,)]},
        {"inf": math.inf, "minus": -math.inf},
        {"$lockstitch": "bytes", "value": "aGk="},
        {"deep": {"$lockstitch": {"$lockstitch": b"x"}}},
        {"content": "42"},
        {"content": "null"},
    ],
    ids=repr,
)
def test_a_message_comes_back_equal(message):
    found = back(message)
    assert found == message
    assert repr(found) == repr(message)


def test_a_number_that_is_none_comes_back_as_one():
    assert math.isnan(back({"n": math.nan})["n"])


def test_other_views_of_bytes_come_back_as_bytes():
    assert back({"a": bytearray(b"x"), "b": memoryview(b"y")}) == {"a": b"x", "b": b"y"}


def test_raw_json_is_kept_byte_by_byte():
    raw = msgspec.Raw(b'{ "n": 1.10, "a": [1,2] }')
    data = write_native(raw, "messages[0]")
    assert data.endswith(bytes(raw))
    assert read_native(data) == {"n": 1.10, "a": [1, 2]}


def test_raw_json_inside_a_message_is_read_with_it():
    assert back({"a": msgspec.Raw(b'{"b":1}')}) == {"a": {"b": 1}}
    assert back({"a": msgspec.Raw(b'{"b":1}'), "c": b"x"}) == {"a": {"b": 1}, "c": b"x"}


def test_an_object_that_dumps_itself_is_stored_as_it_goes_over_the_wire():
    class Said:
        def model_dump(self, **options):
            assert options == {"exclude_unset": True}
            return {"role": "user", "content": "hi"}

    assert back(Said()) == {"role": "user", "content": "hi"}


def test_a_message_of_a_provider_s_sdk_has_no_fields_that_were_not_there():
    from openai.types.chat import ChatCompletionMessage

    message = ChatCompletionMessage(role="assistant", content="done")
    assert back(message) == {"role": "assistant", "content": "done"}


@pytest.mark.parametrize(
    ("message", "where"),
    [
        ({"content": [{"at": object()}]}, r"messages\[7\]\.content\[0\]\.at"),
        ({"content": {1: "x"}}, r"messages\[7\]\.content"),
        ({"content": {"set": {1}}}, r"messages\[7\]\.content\.set"),
    ],
)
def test_what_cannot_come_back_the_same_is_refused_with_its_place(message, where):
    with pytest.raises(ls.FormatError, match=where):
        write_native(message, "messages[7]")


def test_what_is_nested_too_deeply_is_refused():
    message = {}
    for _ in range(100_000):
        message = {"a": message}
    with pytest.raises(ls.FormatError, match="nested too deeply"):
        write_native(message, "messages[0]")


@pytest.mark.parametrize("data", [b"x{}", b"", b't{"$lockstitch":"new","value":1}'])
def test_what_was_not_written_here_is_no_message(data):
    with pytest.raises((ValueError, LookupError)):
        read_native(data)


def test_a_value_of_ours_keeps_half_a_surrogate_pair():
    written = write(Holder("half \ud83d"))
    assert read_as(written, Holder) == Holder("half \ud83d")
    assert read(written) == {"said": "half \ud83d"}


def test_a_value_of_another_kind_is_refused():
    with pytest.raises(ValueError, match="str"):
        read_as(b'{"said":1}', Holder)
    with pytest.raises(ValueError, match=r"Expecting|malformed"):
        read_as(b"{", Holder)
