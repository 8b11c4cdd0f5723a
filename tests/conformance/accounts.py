"""What is said of broken histories: told by a check and a repair, and approved by people.

`make approve` tells it anew into `data/accounts.jsonl`; the difference is then read and committed,
or the cause of it mended. Rows are added by hand, with `id`, `source` and `options` alone.
"""

import json
from pathlib import Path

import msgspec

import lockstitch as ls

FILE = Path(__file__).parent / "data" / "accounts.jsonl"
CHECKED = ("profile", "format", "model", "record")


def rows():
    return [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def tell(row):
    """Return the whole account of one history: what was found, and what a repair did."""
    options = row["options"]
    asked = {name: options[name] for name in CHECKED if name in options}
    report = ls.check(row["source"], **asked, tail=options.get("tail", "closed"))
    repair = ls.repair(row["source"], **options)
    told = {
        "found": [
            {**found, "source": ""} for found in map(msgspec.structs.asdict, report.violations)
        ],
        "summary": report.summary(),
        "changes": repair.changes,
        "remaining": repair.remaining,
        "messages": repair.messages if repair.changes else "as they were",
        "system": repair.system,
        "request": repair.request,
        "origins": repair.origins,
        "done": repair.summary(),
    }
    plain = msgspec.to_builtins({name: said for name, said in told.items() if said})
    return json.loads(json.dumps(plain))


def written(row):
    """Put the account on one line behind the history it is of."""
    whole = {name: row[name] for name in ("id", "source", "options")} | {"told": tell(row)}
    return json.dumps(whole)


if __name__ == "__main__":
    lines = [written(row) for row in rows()]
    FILE.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
