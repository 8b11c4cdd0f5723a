"""The core decides; it does not read, write, wait, ask the time or roll dice.

import-linter says the same with a list of what is forbidden. This is the other way round: a list
of what is allowed, so that nothing slips in because nobody thought of forbidding it.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

# The edges: they may do I/O. Everything else in the package is core.
EDGES = {"__main__", "cli", "integrations", "logs", "service", "stores", "testing"}

ALLOWED = {
    "__future__",
    "abc",
    "base64",
    "binascii",
    "bisect",
    "collections",
    "collections.abc",
    "dataclasses",
    "enum",
    "functools",
    "hashlib",
    "heapq",
    "itertools",
    "json",
    "lockstitch",
    "math",
    "msgspec",
    "operator",
    "re",
    "reprlib",
    "string",
    "types",
    "typing",
}

ALLOWED_ALSO = {
    # Only where the package's own version is looked up, and only when it is asked for; and where
    # names are found that are loaded with their first use.
    "__init__.py": {"importlib.metadata", "importlib.import_module"},
    # Only where a directive is read from TOML; it reads text that is handed over.
    "strategies/directive.py": {"tomllib"},
    # Only for the checksum of what is stored.
    "stores/rows.py": {"zlib"},
    # Only to find the classes of a framework that the caller has loaded; nothing is imported.
    "writing/langchain.py": {"sys"},
}

# Built-in functions that reach outside, or that would get round the list above.
FORBIDDEN_CALLS = {"__import__", "breakpoint", "compile", "eval", "exec", "input", "open", "print"}


# Of the stores, what decides is core all the same; the rest drives, draws names and waits.
PURE_STORES = {
    "base",
    "codec",
    "commit",
    "cutting",
    "head",
    "messages",
    "names",
    "passing",
    "rows",
    "settings",
    "showing",
    "telling",
    "values",
}


def _core_files(package: Path) -> Iterator[Path]:
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        if parts[0] not in EDGES or (parts[0] == "stores" and parts[1] in PURE_STORES):
            yield path


def _imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every module that is imported anywhere in a file, inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield node.lineno, "lockstitch"
            elif node.module == "importlib":
                for alias in node.names:
                    yield node.lineno, f"importlib.{alias.name}"
            else:
                yield node.lineno, node.module or ""


def _is_allowed(name: str, allowed: set[str]) -> bool:
    return name in allowed or name.partition(".")[0] in {"lockstitch", "msgspec"}


def test_the_core_imports_nothing_that_does_io(package: Path):
    found = []
    for path in _core_files(package):
        allowed = ALLOWED | ALLOWED_ALSO.get(str(path.relative_to(package)), set())
        found += [
            f"{path.relative_to(package)}:{line} imports {name}"
            for line, name in _imports(ast.parse(path.read_text(encoding="utf-8")))
            if not _is_allowed(name, allowed)
        ]
    assert not found, "\n".join(found)


def test_the_core_calls_nothing_that_reaches_outside(package: Path):
    found = [
        f"{path.relative_to(package)}:{node.lineno} calls {node.func.id}()"
        for path in _core_files(package)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in FORBIDDEN_CALLS
    ]
    assert not found, "\n".join(found)


def test_there_is_a_core_to_look_at(package: Path):
    assert any(_core_files(package))


def test_an_import_hidden_in_a_function_is_found():
    tree = ast.parse("def f():\n    from os.path import join\n    import socket, time\n")
    assert [name for _, name in _imports(tree)] == ["os.path", "socket", "time"]


def test_the_metadata_of_packages_is_read_in_one_place_only():
    spellings = ast.parse("import importlib.metadata\nfrom importlib import metadata\n")
    for _, name in _imports(spellings):
        assert _is_allowed(name, ALLOWED | ALLOWED_ALSO["__init__.py"])
        assert not _is_allowed(name, ALLOWED)
