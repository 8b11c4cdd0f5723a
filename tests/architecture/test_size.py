"""Small modules with names that say what they hold."""

from pathlib import Path

LONGEST_MODULE = 600
LONGEST_README = 120
EMPTY_NAMES = {"common", "core", "helpers", "manager", "misc", "utils"}


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_no_module_is_longer_than_its_ceiling(package: Path):
    found = {
        str(path.relative_to(package)): _lines(path)
        for path in package.rglob("*.py")
        if _lines(path) > LONGEST_MODULE
    }
    assert not found


def test_the_readme_fits_in_two_screens(root: Path):
    assert _lines(root / "README.md") <= LONGEST_README


def test_every_module_is_named_after_what_it_holds(package: Path):
    found = [
        str(path.relative_to(package))
        for path in package.rglob("*")
        if path.stem.strip("_") in EMPTY_NAMES
    ]
    assert not found
