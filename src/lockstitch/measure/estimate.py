"""Estimate: how many tokens a text is, between two edges, without a tokenizer.

Knows: what a byte-level BPE tokenizer does to a text before its vocabulary matters. It splits at
word starts, changes of case, runs of digits and of marks, and line ends; counting those splits
tells more than counting characters. The counts, weighed, are the text's `units`; its content class
then widens the units into a low and a high edge.

Law: the same text gives the same answer, everywhere. `0 <= low <= high <= UTF-8 bytes`, for such a
tokenizer never needs more tokens than bytes. Of real text parts at most one in twenty has more
tokens than `high`; `CLASSES` says on what that was measured.

Must not know: messages, providers, vocabularies, files, the clock. Only what is in the string.
"""

from __future__ import annotations

from math import sqrt
from operator import mul
from typing import Final

import msgspec

__all__ = ["CLASSES", "ContentClass", "Estimate", "estimate", "units", "upper_edge"]


class ContentClass(msgspec.Struct, frozen=True):
    """A kind of text that tokenizes alike, and how far its exact count strays from its units.

    The low edge is `low * units`, the high edge `high * units + spread * sqrt(units) + floor`: the
    spread is luck, which evens out over a long text, and the floor what a very short one may need.
    `parts` is how many texts these four were measured on.
    """

    name: str
    what: str
    low: float
    high: float
    spread: float
    floor: float
    parts: int
    tokenizer: str = "o200k_base"
    measured: str = "2026-11-30"


class Estimate(msgspec.Struct, frozen=True):
    """The tokens of one text, between two edges, and the name of the class that set the edges."""

    low: int
    high: int
    content_class: str


# Between the fit on transcripts and the fit on transcripts and source files, see the docs page.
# `space` and `numbers` are wider than either, since few texts stand behind them.
#       name          what                                               low high spread floor parts
_PROSE = ContentClass("prose", "English, and what no other class claims", 0.8, 1.12, 0.2, 1, 6096)
_FOREIGN = ContentClass("foreign", "plain Latin letters, not English", 0.74, 1.56, 0.4, 0.6, 120)
_LATIN = ContentClass("latin", "Latin letters with accents", 0.69, 1.36, 1, 0.3, 1977)
_ALPHABET = ContentClass("alphabet", "Cyrillic, Greek, Arabic, Hebrew", 0.66, 1.1, 0.2, 2, 2035)
_INDIC = ContentClass("indic", "the scripts of India, Thai, Lao", 0.71, 1.54, 0, 1.5, 1567)
_CJK = ContentClass("cjk", "Chinese, Japanese, Korean", 0.69, 1.24, 1, 0, 604)
_RARE = ContentClass("rare", "emoji, symbols, scripts that are rare", 0.55, 1.16, 1, 0.3, 627)
_SPACE = ContentClass("space", "nearly half of it is white space", 0.91, 1.3, 0.6, 1, 301)
_PACKED = ContentClass("packed", "ids, hex, base64, hashes", 0.88, 1.08, 0.8, 0, 11245)
_NAME = ContentClass("name", "paths, URLs, identifiers, one word", 0.7, 1.07, 0.8, 0.6, 4009)
_JSON = ContentClass("json", "many double quotes: JSON and its like", 0.87, 1.12, 0.2, 1.5, 6876)
_NUMBERS = ContentClass("numbers", "mostly digits: sums, tables, dates", 0.8, 1.3, 0, 1, 112)
_LOG = ContentClass("log", "words and digits: logs, file listings", 0.87, 1.17, 0.2, 2, 805)
_CODE = ContentClass("code", "words and marks: source, markup, commands", 0.77, 1.12, 0.2, 2, 5869)

CLASSES: Final = (
    *(_PROSE, _FOREIGN, _LATIN, _ALPHABET, _INDIC, _CJK, _RARE),
    *(_SPACE, _PACKED, _NAME, _JSON, _NUMBERS, _LOG, _CODE),
)
"""The content classes. `bench/calibrate_estimate.py` measures their numbers anew."""


# A text is mapped byte by byte to one bit a kind and read as one integer. `&` with the integer
# moved by a byte then finds the runs of every kind at once, and `bit_count` counts them: no loop
# over characters and no branch on data, so no text is slow. Chunks keep the integers in cache.
_CHUNK: Final = 16_384


def _table(*kinds: range | bytes) -> bytes:
    return bytes(sum((b in kind) << bit for bit, kind in enumerate(kinds)) for b in range(256))


_KINDS: Final = _table(
    b"abcdefghijklmnopqrstuvwxyz",
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZ",  # one bit above lower case: one shift finds "aA" ...
    b" \t",
    b"0123456789",  # ... and " 1", where the space is a token of its own
    bytes(byte for byte in range(128) if not (chr(byte).isalnum() or byte in b" \t\r\n")),
    b"\r\n",
    b'"',  # a mark as well
    range(0x80, 0x100),
)
_LEADS: Final = _table(
    range(0xC3, 0xCE),  # accented Latin
    range(0xCE, 0xE0),  # Greek, Cyrillic, Armenian, Hebrew, Arabic
    range(0xE0, 0xE1),  # India, Thailand, Laos
    range(0xE1, 0xE2),  # Vietnamese, Georgian, Khmer, Burmese, Ethiopic
    b"\xc2\xe2\xee\xef",  # punctuation, symbols, private use
    b"\xe3\xea\xeb\xec\xed",  # kana, Hangul
    range(0xE4, 0xEA),  # Han
    range(0xF0, 0x100),  # emoji
)
_ASCII: Final = bytes(range(128))
_BITS: Final = tuple(int.from_bytes(bytes([1 << bit]) * _CHUNK, "little") for bit in range(8))
_LOWER, _UPPER, _BLANK, _DIGIT, _MARK, _LINE, _QUOTE, _ = _BITS
_LETTER: Final = _LOWER | _UPPER

# What one of each adds to the units: the fit of least absolute relative error to exact counts.
# Emoji and deep letters are too few for that; theirs are means over emoji and random letters.
_UNITS: Final = (
    *(0.657, 0.31, 0.188, 1.175, 0.71, 0.0),  # lower, upper, space, digit, mark, quote
    *(-0.61, -0.18, -0.90, -0.43, -0.76),  # lower, space, digit, mark, line after its own kind
    *(1.19, 0.76, 0.45),  # the turns "aA" and " 1", a letter deep in a run
)
_DIGIT_RUNS, _HUMPS = 8, 11
_LINE_UNITS: Final = 0.76
_LEAD_UNITS: Final = (1.0, 0.38, 0.42, 0.5, 0.85, 0.65, 0.72, 2.2)
_LEAD_BITS: Final = tuple(1 << bit for bit in range(8))


def _counts(data: bytes) -> tuple[int, ...]:
    kinds = int.from_bytes(data.translate(_KINDS), "little")
    # A set bit here is a byte of the same kind as the one before it; in `turns`, a byte of the next
    # kind; in `deep`, a byte after fifteen others of its kind.
    runs = kinds & (kinds << 8)
    turns = kinds & (kinds << 9)
    deep = runs & (runs << 16)
    deep &= deep << 32
    deep &= deep << 64
    return (
        (kinds & _LOWER).bit_count(),
        (kinds & _UPPER).bit_count(),
        (kinds & _BLANK).bit_count(),
        (kinds & _DIGIT).bit_count(),
        (kinds & _MARK).bit_count(),
        (kinds & _QUOTE).bit_count(),
        (runs & _LOWER).bit_count(),
        (runs & _BLANK).bit_count(),
        (runs & _DIGIT).bit_count(),
        (runs & _MARK).bit_count(),
        (runs & _LINE).bit_count(),
        (turns & _UPPER).bit_count(),
        (turns & _DIGIT).bit_count(),
        (deep & _LETTER).bit_count(),
    )


# Shares of a text's bytes at which it counts as one class or another. Found by looking at where
# tokens per unit change, and rounded.
_WIDE_SHARE: Final = 0.25
_ACCENT_SHARE: Final = 0.01
_SPACE_SHARE: Final = 0.45
_UNBROKEN_SHARE: Final = 0.04
_TURN_SHARE: Final = 0.10
_QUOTE_SHARE: Final = 0.05
_QUOTES_PER_KEY: Final = 8
_NUMBER_SHARE: Final = 0.40
_DIGIT_SHARE: Final = 0.10
_MARK_SHARE: Final = 0.08
_LATIN_SHARE: Final = 0.40
# English of this many bytes has "th" more often than this; Italian, Dutch, Malay do not.
_ENGLISH_BYTES: Final = 150
_ENGLISH_SHARE: Final = 0.004


def _wide_class(size: int, wide: int, letters: int, leads: tuple[int, ...]) -> ContentClass | None:
    accents, alphabet, indic, viet, _, kana, han, _ = leads
    if wide > _WIDE_SHARE * size:
        if 6 * (kana + han) > wide:
            return _CJK
        if 4 * alphabet > wide:
            return _ALPHABET
        if 6 * indic > wide:
            return _INDIC
        if letters < _LATIN_SHARE * size:
            return _RARE
    if wide > _ACCENT_SHARE * size and 4 * accents + 6 * viet > wide:
        return _LATIN
    return _RARE if wide > _WIDE_SHARE * size else None


def _narrow_class(
    size: int, blank: int, splits: int, *, keys: bool, digit: int, mark: int
) -> ContentClass:
    if blank > _SPACE_SHARE * size:
        return _SPACE
    unbroken = blank < _UNBROKEN_SHARE * size
    if unbroken and splits > _TURN_SHARE * size:
        return _PACKED
    if keys:
        return _JSON
    if digit > _NUMBER_SHARE * size:
        return _NUMBERS
    if digit > _DIGIT_SHARE * size:
        return _LOG
    if unbroken:
        return _NAME
    return _CODE if mark > 1 + _MARK_SHARE * size else _PROSE


def units(text: str) -> tuple[float, int, ContentClass]:
    """Returns the weighed count of a text's splits, its UTF-8 bytes and its class.

    One unit is about one token of o200k; this is what the edges are measured against. Raises
    nothing: a lone surrogate counts as three bytes.

    >>> total, size, kind = units("Two words")
    >>> round(total, 1), size, kind.name
    (2.0, 9, 'prose')
    """
    data = text.encode("utf-8", "surrogatepass")
    size = len(data)
    if size <= _CHUNK:
        counts = _counts(data)
    else:
        chunks = (data[start : start + _CHUNK] for start in range(0, size, _CHUNK))
        counts = tuple(map(sum, zip(*map(_counts, chunks), strict=True)))
    lower, upper, space, digit, mark, quote, *_ = counts
    line = size - lower - upper - space - digit - mark
    total = sum(map(mul, _UNITS, counts))
    kind = None
    if not text.isascii():
        wide = data.translate(_LEADS, _ASCII)
        line -= len(wide)
        leads = tuple(map(wide.count, _LEAD_BITS))
        total += sum(map(mul, _LEAD_UNITS, leads))
        kind = _wide_class(size, len(wide), lower, leads)
    total += _LINE_UNITS * line
    if kind is None:
        splits = digit - counts[_DIGIT_RUNS] + counts[_HUMPS]
        keys = quote > _QUOTE_SHARE * size and _QUOTES_PER_KEY * data.count(b'":') > quote
        kind = _narrow_class(size, space + line, splits, keys=keys, digit=digit, mark=mark)
        if kind is _PROSE and size >= _ENGLISH_BYTES and data.count(b"th") < _ENGLISH_SHARE * size:
            kind = _FOREIGN
    return total, size, kind


def upper_edge(text: str) -> int:
    """Returns the most tokens the text is likely to be: `estimate(text).high`.

    In tokens; 0 for the empty text and never more than the text's UTF-8 bytes. Raises nothing.

    >>> upper_edge("")
    0
    >>> upper_edge("Where is my order?")
    6
    """
    return _high(*units(text))


def estimate(text: str) -> Estimate:
    """Returns both edges of the tokens the text is likely to be, and its class.

    In tokens. About one real text in thirty has fewer than `low`, about one in fifty more than
    `high`. Raises nothing, whatever the string holds.

    >>> estimate("Where is my order?")
    Estimate(low=3, high=6, content_class='prose')
    >>> estimate("")
    Estimate(low=0, high=0, content_class='prose')
    """
    total, size, kind = units(text)
    high = _high(total, size, kind)
    return Estimate(min(int(kind.low * total), high), high, kind.name)


def _high(total: float, size: int, kind: ContentClass) -> int:
    edge = int(kind.high * total + kind.spread * sqrt(total) + kind.floor)
    return min(max(edge, 1), size)
