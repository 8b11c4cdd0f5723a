"""Table (d): reading a history from JSON bytes and writing it back, and whether a byte changes.

The files are OpenAI Chat histories as tools write them: blanks after separators, and here and
there a number spelled "1.10", which a parser that makes floats writes back as 1.1. MB/s is the
size of the file over the time to load it and dump it again; "read all" asks for the facts of
every message in between, which is what a trim of the whole file would need.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import histories
from ladder import Ladder
from peers import ours
from report import Section, Table
from timing import Entry, Pace

SPELLED = "1.10"
LABELS = {
    "ours": "**lockstitch** `load` + `dump`",
    "ours-read": "**lockstitch** `load`, read all, `dump`",
    "msgspec": "msgspec.json decode + encode, dicts",
    "json": "json loads + dumps, dicts",
}


class Codec:
    """Table (d)."""

    key = "d"

    def __init__(self, sizes: list[int], pace: Pace, seed: int) -> None:
        self.ladder = Ladder(sizes, pace)
        self.seed = seed
        self.bytes: dict[int, int] = {}
        self.same: dict[tuple[str, int], bool] = {}

    def run(self) -> None:
        """Measure at every size."""
        for size in self.ladder.sizes:
            data = file_of(histories.conversation(size, self.seed))
            self.bytes[size] = len(data)
            timings = self.ladder.run(
                size, {key: _maker(turn, data) for key, turn in _round_trips().items()}
            )
            for key, timing in timings.items():
                self.same[key, size] = timing.result == data

    def section(self) -> Section:
        """The table, in MB/s."""
        lead = """
Load a history from the bytes of a JSON file and dump it again, both on the clock.
*Byte-equal* says whether what came out is what went in.
The files hold blanks after separators and some numbers spelled `1.10`; a codec that goes through
dicts cannot know either."""
        sizes = self.ladder.sizes
        columns = ["contender"]
        columns += [f"{self.bytes.get(size, 0) / 1e6:.1f} MB file" for size in sizes]
        columns.append("byte-equal")
        rows: list[list[str]] = []
        for key, label in LABELS.items():
            speeds = [self.speed(key, size) for size in sizes]
            cells = ["-" if speed is None else f"{speed:,.0f} MB/s" for speed in speeds]
            equal = {self.same[key, size] for size in sizes if (key, size) in self.same}
            verdict = "-" if not equal else "yes" if equal == {True} else "no"
            rows.append([label, *(cell.replace(",", " ") for cell in cells), verdict])
        table = Table("", columns, rows, self.ladder.notes(LABELS))
        return Section("d", "Load and dump, lossless", lead, [table])

    def speed(self, key: str, size: int) -> float | None:
        """MB/s there and back."""
        seconds = self.ladder.at(key, size)
        return self.bytes[size] / seconds / 1e6 if seconds else None


def file_of(messages: list[dict[str, Any]]) -> bytes:
    """A JSON file of the messages, with some numbers in a spelling that parsing loses."""
    marked = [
        {**message, "cost": "@cost@"} if i % 50 == 3 else message
        for i, message in enumerate(messages)
    ]
    text = json.dumps(marked, ensure_ascii=False)
    return text.replace('"@cost@"', SPELLED).encode()


def _round_trips() -> dict[str, Callable[[bytes], Any]]:
    import msgspec

    trips: dict[str, Callable[[bytes], Any]] = {
        "msgspec": lambda data: msgspec.json.encode(msgspec.json.decode(data)),
        "json": lambda data: json.dumps(json.loads(data), ensure_ascii=False).encode(),
    }
    library = ours()
    if library is not None:

        def read_all(data: bytes) -> Any:
            transcript = library.load(data)
            transcript.facts_from(0)
            return library.dump(transcript)

        trips["ours"] = lambda data: library.dump(library.load(data))
        trips["ours-read"] = read_all
    return trips


def _maker(turn: Callable[[bytes], Any], data: bytes) -> Callable[[], Entry]:
    return lambda: Entry("", turn, data)
