# Measures the numbers in `lockstitch.measure.estimate.CLASSES` anew, from folders of transcripts:
#
#     python bench/calibrate_estimate.py PATH...
#
# Every JSON, JSON Lines and gzip file below each PATH is read. A part is a string in it that is not
# cut, and an object of tool arguments or results written as JSON. Needs an exact tokenizer:
# tiktoken with its vocabulary at hand, or rs-bpe.
#
# Per class it fits four numbers. `low` is the 3 % quantile of exact / units. For the high edge it
# tries a grid of spread and floor; for each, `high` is the least that leaves no more than SHARE of
# the parts of any length band, and PATH_SHARE of any PATH, undercounted. The pair that overcounts
# least wins.
# The numbers are fitted on all files, and, to see how they hold on files they were not fitted on,
# on each half of the files and applied to the other half.

from __future__ import annotations

import gzip
import json
import math
import sys
import zlib
from bisect import bisect
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from lockstitch.measure.estimate import CLASSES, units

SHARE = 0.03
PATH_SHARE = 0.05
BANDS = (17, 65, 257)  # bytes
FEW = 90  # bands of fewer parts prove nothing by themselves
SPREADS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.3)
FLOORS = (0.0, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0)
LEAST_HIGH = 1.05  # below it a long text is bound to be undercounted, whatever short ones say
PAYLOADS = {"input", "args", "arguments", "parameters", "params", "response", "result", "output"}
ID_ENDS = ("id", "ids", "uuid", "guid", "timestamp", "signature", "hash", "encrypted_content")


class Part(NamedTuple):
    path: int
    half: int
    is_id: bool
    exact: int
    size: int
    units: float
    kind: str


class Fit(NamedTuple):
    low: float
    high: float
    spread: float
    floor: float

    def edge(self, part: Part) -> int:
        edge = int(self.high * part.units + self.spread * math.sqrt(part.units) + self.floor)
        return min(max(edge, 1), part.size)


def tokenizer() -> tuple[str, Callable[[str], int]]:
    """The name of the exact tokenizer that is installed, and its count."""
    try:
        import rs_bpe

        encoding = rs_bpe.openai.o200k_base()
        return "rs-bpe", lambda text: len(encoding.encode(text))
    except ImportError:
        pass
    try:
        import tiktoken

        exact = tiktoken.get_encoding("o200k_base")
        return "tiktoken", lambda text: len(exact.encode_ordinary(text))
    except (ImportError, OSError) as error:
        sys.exit(
            "no exact tokenizer: install rs-bpe, or tiktoken with TIKTOKEN_CACHE_DIR naming a"
            f" folder that holds its o200k_base vocabulary ({error})"
        )


def files(paths: Iterable[str]) -> Iterator[tuple[int, Path]]:
    for number, path in enumerate(map(Path, paths)):
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in found:
            if set(file.suffixes) & {".json", ".jsonl"} and "MANIFEST" not in file.name:
                yield number, file


def documents(file: Path) -> Iterator[object]:
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt", encoding="utf-8", errors="replace") as stream:
        text = stream.read()
    try:
        yield json.loads(text)
    except ValueError:
        for line in text.split("\n"):
            try:
                yield json.loads(line)
            except ValueError:
                continue


def texts(value: object, key: str) -> Iterator[tuple[str, bool]]:
    if isinstance(value, str):
        yield value, key.lower().endswith(ID_ENDS)
    elif isinstance(value, dict):
        if key in PAYLOADS:
            yield json.dumps(value), False
            yield json.dumps(value, separators=(",", ":"), ensure_ascii=False), False
        for name, child in value.items():
            yield from texts(child, name)
    elif isinstance(value, list):
        for child in value:
            yield from texts(child, key)


def read(paths: Iterable[str], count: Callable[[str], int]) -> list[Part]:
    seen: set[str] = set()
    parts: list[Part] = []
    for path, file in files(paths):
        # A bundle of many conversations is split line by line, any other file is one source.
        bundle = "cassettes" in file.name
        for row, document in enumerate(documents(file)):
            half = zlib.crc32(f"{file.name}{row if bundle else ''}".encode()) & 1
            for text, is_id in texts(document, ""):
                if not text or text in seen or "...[elided" in text:
                    continue
                seen.add(text)
                clean = text.encode("utf-8", "replace").decode()
                total, size, kind = units(clean)
                parts.append(Part(path, half, is_id, count(clean), size, total, kind.name))
    return parts


def quantile(values: Iterable[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else math.nan


def fit(parts: list[Part]) -> Fit:
    bands: dict[int, list[Part]] = defaultdict(list)
    sources: dict[int, list[Part]] = defaultdict(list)
    for part in parts:
        bands[bisect(BANDS, part.size)].append(part)
        sources[part.path].append(part)
    groups = [parts, *(band for band in bands.values() if len(band) >= FEW)]
    # One standard error on the safe side, so that a class of few parts gets a wider edge.
    bounds = [(g, max(SHARE - math.sqrt(SHARE * (1 - SHARE) / len(g)), 0)) for g in groups]
    bounds += [(source, PATH_SHARE) for source in sources.values() if len(source) >= FEW]
    best, best_cost = Fit(1, 1, 0, 0), math.inf
    for spread in SPREADS:
        for floor in FLOORS:
            # Where the byte count is the edge the part cannot be undercounted, so it asks nothing.
            high = max(
                quantile(
                    (
                        (p.exact - floor - spread * math.sqrt(p.units)) / p.units
                        if p.exact < p.size
                        else 0.0
                        for p in group
                    ),
                    1 - share,
                )
                for group, share in bounds
            )
            tried = Fit(0, math.ceil(max(high, LEAST_HIGH) * 100) / 100, spread, floor)
            cost = sum(sum(tried.edge(p) / p.exact for p in g) / len(g) for g in groups)
            if cost < best_cost:
                best, best_cost = tried, cost
    low = quantile((p.exact / p.units for p in parts), 0.03)
    return best._replace(low=math.floor(low * 100) / 100)


def row(label: str, judged: list[tuple[int, Part]]) -> str:
    if not judged:
        return f"{label:12}      0"
    under = sum(edge < part.exact for edge, part in judged) / len(judged)
    over = [edge / part.exact for edge, part in judged]
    whole = sum(edge for edge, _ in judged) / sum(part.exact for _, part in judged)
    return (
        f"{label:12} {len(judged):6} {under:7.1%} {quantile(over, 0.5):7.2f}"
        f" {quantile(over, 0.9):7.2f} {whole:7.2f}"
    )


def table(title: str, judged: list[tuple[int, Part]]) -> None:
    print(f"\n{title}\n{'':12}  parts   under  median     p90   total   (high / exact)")
    for name in (kind.name for kind in CLASSES):
        print(row(name, [pair for pair in judged if pair[1].kind == name]))
    print(row("ids", [pair for pair in judged if pair[1].is_id]))
    print(row("all texts", [pair for pair in judged if not pair[1].is_id]))
    for number, start in enumerate((1, *BANDS)):
        band = [j for j in judged if not j[1].is_id and bisect(BANDS, j[1].size) == number]
        print(row(f" {start}+ bytes", band))


def main(paths: list[str]) -> None:
    name, count = tokenizer()
    parts = read(paths, count)
    if not parts:
        sys.exit("no texts: name at least one folder of JSON or JSON Lines transcripts")
    print(f"{len(parts)} different texts, exact counts of o200k_base by {name}")

    shipped = {c.name: Fit(c.low, c.high, c.spread, c.floor) for c in CLASSES}
    table("As shipped", [(shipped[p.kind].edge(p), p) for p in parts])

    by_class: dict[str, list[Part]] = defaultdict(list)
    for part in parts:
        by_class[part.kind].append(part)
    fitted = {kind: fit(group) for kind, group in by_class.items()}
    table("Fitted on these files", [(fitted[p.kind].edge(p), p) for p in parts])

    crossed: list[tuple[int, Part]] = []
    for group in by_class.values():
        halves = [[p for p in group if p.half == half] for half in (0, 1)]
        if all(halves):
            fits = [fit(half) for half in halves]
            crossed += [(fits[1 - p.half].edge(p), p) for p in group]
    table("Fitted on the other half of the files", crossed)

    print("\nNumbers to ship\n             low   high  spread  floor  parts")
    for kind, group in sorted(by_class.items()):
        low, high, spread, floor = fitted[kind]
        print(f"{kind:10} {low:5.2f}  {high:5.2f}  {spread:6.1f} {floor:6.1f} {len(group):6}")


if __name__ == "__main__":
    main(sys.argv[1:])
