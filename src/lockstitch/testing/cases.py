"""The case runner: cases from public reports, each carried out and judged.

    python -m lockstitch.testing.cases FILE.jsonl [--json]

A case is a JSON object on a line: an id, a format, an input, an operation, what is expected. One
that needs what this release does not have is `unsupported`, with the reason. Exits 1 when a case
fails, 2 when the file is unusable.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from lockstitch.testing.expectations import judge
from lockstitch.testing.store_cases import STORE_OPERATIONS, judge_store_case
from lockstitch.testing.trials import Trial, Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Verdict", "main", "run", "run_case"]


class Verdict(msgspec.Struct, frozen=True):
    """How one case came out, and why."""

    id: str
    status: Literal["pass", "fail", "unsupported"]
    reason: str = ""


def run_case(case: Mapping[str, Any]) -> Verdict:
    """Carry out one case and judge it.

    >>> run_case(
    ...     {
    ...         "id": "x",
    ...         "format": "openai-chat",
    ...         "input": {"messages": []},
    ...         "operation": {"op": "trim", "by": "messages", "limit": 5},
    ...         "expected": {"kept_indices": []},
    ...     }
    ... ).status
    'pass'
    """
    name = str(case.get("id"))
    try:
        if case["operation"]["op"] in STORE_OPERATIONS:
            wrong = judge_store_case(case)
            return Verdict(name, "fail" if wrong else "pass", "; ".join(wrong))
        trial = Trial(case)
        problems = judge(trial, case["expected"])
    except Unsupported as reason:
        return Verdict(name, "unsupported", str(reason))
    except Exception as error:  # noqa: BLE001 - reported as a failure
        return Verdict(name, "fail", f"{type(error).__name__}: {error}")
    if problems:
        return Verdict(name, "fail", "; ".join(problems))
    if trial.error is not None:
        return Verdict(name, "pass", f"raised {type(trial.error).__name__}: {trial.error}")
    if trial.mended is not None:
        return Verdict(name, "pass", trial.mended.summary())
    kept = f"kept {trial.steps[0].kept}" if trial.steps else ""
    return Verdict(name, "pass", kept)


def run(lines: Iterable[str]) -> list[Verdict]:
    """Carry out every case of a file; a line that holds none fails."""
    verdicts: list[Verdict] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            case = json.loads(line)
        except ValueError as error:
            verdicts.append(Verdict(f"line {number}", "fail", f"not JSON: {error}"))
            continue
        if isinstance(case, dict):
            verdicts.append(run_case({"id": f"line {number}", **case}))
        else:
            verdicts.append(Verdict(f"line {number}", "fail", "a case is an object"))
    return verdicts


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m lockstitch.testing.cases",
        description="Carry out cases from public reports, and say which pass.",
    )
    parser.add_argument("file", type=Path, metavar="FILE.jsonl")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args(arguments)
    try:
        lines = chosen.file.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        parser.error(f"{chosen.file}: {error}")
    verdicts = run(lines)
    if chosen.json:
        print(
            json.dumps({"cases": [msgspec.to_builtins(verdict) for verdict in verdicts]}, indent=1)
        )
    else:
        for verdict in verdicts:
            print(
                f"{verdict.status:11} {verdict.id}{': ' if verdict.reason else ''}{verdict.reason}"
            )
        count = Counter(verdict.status for verdict in verdicts)
        print(", ".join(f"{times} {status}" for status, times in sorted(count.items())))
    return 1 if any(verdict.status == "fail" for verdict in verdicts) else 0


if __name__ == "__main__":
    raise SystemExit(main())
