"""Every fenced `python` block of the documentation runs, in order, as a reader would type it.

One test is one document, and one document is one namespace: a block may use what an earlier one
defined. Lines with `>>>` are compared with the output below them.
"""

import doctest
from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

READER = Sybil(
    parsers=[
        PythonCodeBlockParser(doctest_optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    ],
    path=str(ROOT),
)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_examples_of_a_document_run(
    path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.chdir(tmp_path)  # an example that writes a file leaves nothing behind
    for example in READER.parse(path):
        example.evaluate()
