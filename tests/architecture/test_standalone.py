"""The repository stands alone: nothing in it points at the machine it was written on."""

import re
from collections.abc import Iterator
from pathlib import Path

FOLDERS = (".ci", "bench", "docs", "requirements", "src", "tests")
PROSE_AND_CODE = {"", ".cfg", ".css", ".html", ".in", ".js", ".json", ".jsonl", ".md", ".py"} | {
    ".sh",
    ".svg",
    ".toml",
    ".txt",
    ".yaml",
    ".yml",
}

# Put together here, so that this file does not hold what it looks for.
OUTSIDE = re.compile(
    "|".join(
        [
            re.escape("/wo" + "rk/"),
            re.escape("../" + "shared"),
            r"(?<![\w./-])" + "sha" + "red/",
            re.escape("py" + "pi.org"),
            re.escape("python" + "hosted"),
            re.escape("npm" + "js"),
            re.escape("debian" + ".org"),
        ]
    )
)


def _text_files(root: Path) -> Iterator[Path]:
    yield from (path for path in root.iterdir() if path.is_file() and path.name[0] != ".")
    for folder in FOLDERS:
        yield from (path for path in (root / folder).rglob("*") if path.is_file())


def test_no_file_names_a_place_outside_the_repository(root: Path):
    found = [
        f"{path.relative_to(root)}:{number}: {match.group()}"
        for path in _text_files(root)
        if path.suffix in PROSE_AND_CODE and "__pycache__" not in path.parts
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if (match := OUTSIDE.search(line))
    ]
    assert not found, "\n".join(found)
