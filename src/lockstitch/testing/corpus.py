"""The corpus runner: the laws, tried on every history that a folder holds.

    python -m lockstitch.testing.corpus PATH... [--profile NAME]... [--json]

Knows: how to walk files and folders of JSON and JSON lines (gzip too), and which of them hold one
history each and which hold one a row. Every profile is tried: those a history is most likely sent
to with many windows, the others with a few. Exits 1 when a law was broken, 2 when a path is
unusable.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.errors import LockstitchError
from lockstitch.formats import FORMATS
from lockstitch.formats.base import mapping
from lockstitch.history import load
from lockstitch.rules.profiles import PROFILES
from lockstitch.testing import laws, laws_of_repair
from lockstitch.testing.asks import Ask, few, ladder
from lockstitch.testing.subject import Subject
from lockstitch.writing import WRITERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Failure", "Tally", "main", "run"]

# What recorded requests call an interface whose messages are in a format of another name.
_APIS = {"bedrock-converse": "bedrock", "bedrock-invoke-anthropic": "anthropic"}
_LINES = (".jsonl", ".ndjson")
_SUFFIXES = frozenset({".json", *_LINES})
# How a window is asked of the source itself rather than of its messages.
_OF_SOURCES = (
    Ask(limit=1, cut="prefix", floor=False),
    Ask(limit=4, on_overflow="smallest"),
    Ask(limit=9, cut="prefix", on_overflow="smallest"),
)


class Failure(msgspec.Struct, frozen=True):
    """A law that did not hold: in which file, which law, and what was seen."""

    file: str
    law: str
    detail: str


class Unread(msgspec.Struct, frozen=True):
    """A file, or some rows of it, that no known format fits."""

    file: str
    reason: str


class Tally(msgspec.Struct):
    """What a run over a corpus came to.

    `files` counts those that a history was read from, `windows` the trims that were tried,
    `repairs` the repairs and exports. `remaining` names, for each profile and rule, how many
    histories a repair of the whole leaves with it: said, and so no failure.
    """

    files: int = 0
    messages: int = 0
    windows: int = 0
    repairs: int = 0
    failures: list[Failure] = msgspec.field(default_factory=list[Failure])
    unread: list[Unread] = msgspec.field(default_factory=list[Unread])
    remaining: dict[str, int] = msgspec.field(default_factory=dict[str, int])


def run(paths: Sequence[Path], profiles: Sequence[str] = (), *, progress: bool = False) -> Tally:
    """Try the laws on every file under some paths.

    Args:
        paths: files and folders.
        profiles: the acceptance rules to try; by default all, those named like the format of the
            history and `portable` with many windows and the others with a few.
        progress: say on stderr how far it is.
    """
    tally = Tally()
    files = [file for path in paths for file in _files(path)]
    for number, (file, name) in enumerate(files, 1):
        _try_file(file, name, profiles, tally)
        if progress:
            _say(number, len(files), tally)
    return tally


def _files(path: Path) -> Iterator[tuple[Path, str]]:
    """Yield files with the names they are reported under."""
    if not path.is_dir():
        yield path, str(path)
        return
    for file in sorted(path.rglob("*")):
        kinds = [suffix for suffix in file.suffixes if suffix != ".gz"]
        if file.is_file() and kinds and kinds[-1] in _SUFFIXES:
            yield file, str(file)


def _say(number: int, count: int, tally: Tally) -> None:
    line = f"{number}/{count} files, {tally.windows} windows, {len(tally.failures)} failures"
    if sys.stderr.isatty():
        print(f"\r{line}", end="\n" if number == count else "", file=sys.stderr, flush=True)
    elif number % 50 == 0 or number == count:
        print(line, file=sys.stderr, flush=True)


# --- reading -------------------------------------------------------------------------------------


def _try_file(file: Path, name: str, profiles: Sequence[str], tally: Tally) -> None:
    try:
        data = file.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except (OSError, EOFError) as error:
        tally.unread.append(Unread(name, str(error)))
        return
    rows = _rows(data)
    if rows is None:
        tally.files += _try_history(data, None, name, profiles, tally)
        return
    read = 0
    refused: dict[str, int] = {}
    for number, row in enumerate(rows, 1):
        api = row.get("api")
        format = _APIS.get(api, api) if isinstance(api, str) else None
        if format is not None and format not in FORMATS:
            reason = f"the format {format} is not supported"
            refused[reason] = refused.get(reason, 0) + 1
            continue
        source = row["request"] if isinstance(row.get("request"), dict) else row
        read += _try_history(source, format, f"{name}:{number}", profiles, tally)
    tally.files += read > 0
    for reason, times in refused.items():
        tally.unread.append(Unread(name, f"{reason} ({times} rows)"))


def _rows(data: bytes) -> list[dict[str, Any]] | None:
    """Return the rows of a file that holds one history a row, `None` for any other."""
    _, _, rest = data.lstrip().partition(b"\n")
    if not rest.strip():
        return None
    try:
        rows = [json.loads(line) for line in data.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return None
    held = ("request", "messages", "input")
    if all(isinstance(row, dict) and any(_holds(row.get(key)) for key in held) for row in rows):
        return rows
    return None


def _holds(value: Any) -> bool:
    return isinstance(value, (list, dict))


# --- trying --------------------------------------------------------------------------------------


def _try_history(
    source: Any, format: str | None, name: str, profiles: Sequence[str], tally: Tally
) -> bool:
    """Try every law on one history; say whether it could be read."""
    kinds = list(_kinds(source, lined=name.removesuffix(".gz").endswith(_LINES)))
    try:
        transcript, *_ = [load(kind, format=format) for kind in kinds]
        natives = [dict(mapping(native)) for native in transcript.natives]
    except LockstitchError as error:
        tally.unread.append(Unread(name, str(error)))
        return False
    opened = Subject.of(transcript)
    subject = Subject(natives, opened.format, context=opened.context, key=opened.key)
    tally.messages += len(subject)

    def note(broken: list[str]) -> None:
        for failure in broken:
            law, _, detail = failure.partition(": ")
            tally.failures.append(Failure(name, law, detail))

    for kind in kinds:
        note(_guarded(laws.round_trip, kind, format=format))
        for ask in _OF_SOURCES:
            tally.windows += 1
            note(_guarded(laws.same_kind, kind, subject, ask))
    named = profiles or [*({subject.format} & PROFILES.keys()), "portable"]
    others = [] if profiles else [profile for profile in PROFILES if profile not in named]
    for ask in (*ladder(subject, named), *few(subject, others)):
        tally.windows += 1
        note(_guarded(laws.window, subject, ask))
    if subject.format not in WRITERS:
        return True
    for profile in (*named, *others):
        for positions in laws_of_repair.cuts(subject, profile):
            for law in (laws_of_repair.repaired, laws_of_repair.exported):
                tally.repairs += 1
                note(_guarded(law, subject, profile, positions))
        for rule in _guarded(laws_of_repair.remaining, subject, profile):
            said = f"{profile}: {rule}"
            tally.remaining[said] = tally.remaining.get(said, 0) + 1
    return True


def _kinds(source: Any, *, lined: bool) -> Iterator[Any]:
    """Yield a history in the kinds in which callers hold one: bytes, text, what JSON decodes to.

    What is known to be JSON lines is not decoded as a whole: a single line is a message.
    """
    yield source
    if isinstance(source, bytes):
        try:
            yield source.decode()
            if not lined:
                yield json.loads(source)
        except ValueError:
            return  # JSON lines, or text that is no UTF-8


def _guarded(law: Any, *arguments: Any, **options: Any) -> list[str]:
    """Apply a law; whatever it raises is a failure of its own and does not end the run."""
    try:
        found: list[str] = law(*arguments, **options)
    except Exception as error:  # noqa: BLE001 - reported as a failure
        return [f"raised: {type(error).__name__}: {error}: {arguments[-1]!s:.200}"]
    return found


# --- the command ---------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m lockstitch.testing.corpus",
        description="Try the laws of Lockstitch on every history that files and folders hold.",
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--profile",
        action="append",
        default=[],
        metavar="NAME",
        choices=sorted(PROFILES),
        help="try this target; by default all of them",
    )
    chosen = parser.parse_args(arguments)
    for path in chosen.paths:
        if not path.exists():
            parser.error(f"{path} does not exist")
    tally = run(chosen.paths, chosen.profile, progress=True)
    if chosen.json:
        print(msgspec.json.format(msgspec.json.encode(tally), indent=1).decode())
    else:
        _print(tally)
    return 1 if tally.failures else 0


def _print(tally: Tally) -> None:
    for failure in tally.failures:
        print(f"{failure.file}: {failure.law}: {failure.detail}")
    for said, times in sorted(tally.remaining.items()):
        print(f"{said} is left by a repair of {times} histories")
    for skipped in tally.unread:
        print(f"{skipped.file}: not read: {skipped.reason}")
    print(
        f"{tally.files} files, {tally.messages} messages, {tally.windows} windows, "
        f"{tally.repairs} repairs, {len(tally.failures)} failures, {len(tally.unread)} not read"
    )


if __name__ == "__main__":
    raise SystemExit(main())
