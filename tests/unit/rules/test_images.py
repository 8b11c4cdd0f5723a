"""The size of an image, read from the first bytes of its data."""

from __future__ import annotations

import base64

import pytest

from lockstitch.rules.checks.images import image_size


def encoded(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


PNG = b"\x89PNG\r\n\x1a\n" + b"\x00\x00\x00\rIHDR" + (640).to_bytes(4) + (480).to_bytes(4)
GIF = b"GIF89a" + (640).to_bytes(2, "little") + (480).to_bytes(2, "little")
APP = b"\xff\xe0" + (4).to_bytes(2) + b"\x00\x00"
TABLE = b"\xff\xc4" + (3).to_bytes(2) + b"\x00"
FRAME = b"\xff\xc2" + (11).to_bytes(2) + b"\x08" + (480).to_bytes(2) + (640).to_bytes(2)


@pytest.mark.parametrize("raw", [PNG, GIF, b"\xff\xd8" + APP + TABLE + FRAME])
def test_width_and_height_stand_in_the_header(raw):
    assert image_size(encoded(raw)) == (640, 480)


@pytest.mark.parametrize(
    "data",
    [
        "",
        "not base64!",
        "ab",
        "a",
        "\u00e4",
        encoded(PNG[:20]),
        encoded(b"GIF89a"),
        encoded(b"\xff\xd8" + APP),
        encoded(b"\xff\xd8\x00"),
        encoded(b"\xff\xd8" + FRAME[:5]),
        encoded(b"RIFF....WEBP"),
    ],
)
def test_what_shows_no_size_has_none(data):
    assert image_size(data) is None
