"""A row says all that decisions read, and says when it is damaged."""

import msgspec
import pytest

import lockstitch as ls
from lockstitch.formats import FORMATS
from lockstitch.measure.counters import sizer_for
from lockstitch.stores.base import Stored
from lockstitch.stores.rows import ENVELOPE, UNREADABLE, make_rows, native_of, read_meta
from lockstitch.testing import assistant, call, result, user


def stored(row, seq=1, **changes):
    return msgspec.structs.replace(Stored(seq, row.meta, row.payload, "mark", 0.0), **changes)


def rows_of(messages, **options):
    transcript = ls.load(messages)
    sizers = [sizer_for(transcript, "tokens"), sizer_for(transcript, "chars")]
    return make_rows(transcript, sizers, **options)


def test_facts_and_sizes_come_back_without_the_payload():
    messages = [user("hi"), call("c1", "c2"), result("c1"), result("c2"), assistant("done")]
    transcript = ls.load(messages)
    for at, (row, meta) in enumerate(zip(*rows_of(messages, key="turn-1"), strict=True)):
        found = read_meta(stored(row, payload=None))
        assert found == meta
        assert found.facts == transcript.facts_at(at)
        assert found.size("tokens", "estimate") == sizer_for(transcript, "tokens").size(at)
        assert found.size("chars", "") == sizer_for(transcript, "chars").size(at)
        assert found.size("messages", "") == 1
        assert found.size("tokens", "another counter") is None
        assert (found.batch, found.key) == ((5, "turn-1") if at == 0 else (0, None))


@pytest.mark.parametrize(
    "messages",
    [
        [
            {"type": "mcp_approval_request", "id": "a", "name": "n", "arguments": "{}"},
            {"type": "mcp_approval_response", "approval_request_id": "a", "approve": False},
            {"type": "reasoning", "id": "rs", "summary": []},
        ],
        [call("half \ud83d"), result("half \ud83d")],
        [{"role": "developer", "content": "be kind"}, user("hi")],
    ],
    ids=["approvals", "surrogates", "developer"],
)
def test_every_kind_of_link_comes_back(messages):
    transcript = ls.load(messages)
    for at, (row, meta) in enumerate(zip(*make_rows(transcript, []), strict=True)):
        assert read_meta(stored(row)) == meta
        assert meta.facts == transcript.facts_at(at)
        assert native_of(stored(row), meta) == messages[at]


def test_plain_text_is_of_no_format_in_particular():
    (row,), (meta,) = rows_of([user("hi")], sure=False)
    assert meta.format == ""
    assert native_of(stored(row), meta) == user("hi")


def test_a_meta_of_a_newer_version_is_refused_by_name():
    (row,), _ = rows_of([user("hi")])
    fields = msgspec.msgpack.decode(row.meta)
    newer = msgspec.msgpack.encode([ENVELOPE + 1, {"all": "different"}])
    with pytest.raises(ls.SchemaTooNew, match="row 7 has schema 2"):
        read_meta(stored(row, 7, meta=newer))
    same_shape = msgspec.msgpack.encode([ENVELOPE + 1, *fields[1:]])
    with pytest.raises(ls.SchemaTooNew, match="row 7"):
        read_meta(stored(row, 7, meta=same_shape))


@pytest.mark.parametrize(
    "meta", [b"garbage", b"\x93\x01\x02\x03", msgspec.msgpack.encode({"v": 1}), b"\x90"]
)
def test_a_meta_that_cannot_be_read_is_a_damaged_row(meta):
    (row,), _ = rows_of([user("hi")])
    with pytest.raises(ls.CorruptRow, match="row 3 is damaged: its meta") as caught:
        read_meta(stored(row, 3, meta=meta))
    assert caught.value.seq == 3


def test_what_could_not_be_opened_says_why():
    (row,), (meta,) = rows_of([user("hi")])
    sealed = UNREADABLE + b"no key fits"
    with pytest.raises(ls.CorruptRow, match="row 1 is damaged: no key fits"):
        read_meta(stored(row, meta=sealed))
    with pytest.raises(ls.CorruptRow, match="row 1 is damaged: no key fits"):
        native_of(stored(row, payload=sealed), meta)


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (b"", "not there"),
        (None, "not there"),
        (b"j{}", "checksum"),
    ],
)
def test_a_payload_that_is_not_what_was_written_is_damaged(payload, why):
    (row,), (meta,) = rows_of([user("hi")])
    with pytest.raises(ls.CorruptRow, match=why):
        native_of(stored(row, payload=payload), meta)


def test_a_payload_that_no_codec_reads_is_damaged():
    import zlib

    (row,), (meta,) = rows_of([user("hi")])
    for payload in (b"x", b"j{", b't{"$lockstitch":"bytes"}'):
        told = msgspec.structs.replace(meta, checksum=zlib.crc32(payload))
        with pytest.raises(ls.CorruptRow, match="cannot be read"):
            native_of(stored(row, payload=payload), told)


def test_a_format_that_is_not_known_is_damaged():
    (row,), (meta,) = rows_of([user("hi")])
    with pytest.raises(ls.CorruptRow, match="format 'telegram'"):
        native_of(stored(row), msgspec.structs.replace(meta, format="telegram"))
    assert "telegram" not in FORMATS
