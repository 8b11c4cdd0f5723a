"""Write the page of `docs/reference` about stores, from signatures and docstrings.

`render_reference.py` runs this with the other pages.
"""
# ruff: noqa: INP001, E501  a script beside the pages it writes; a sentence of a page is one line

from __future__ import annotations

import inspect
import re
import textwrap
from typing import TYPE_CHECKING, Any, get_args

import lockstitch
from lockstitch import errors
from lockstitch.stores.base import Version
from lockstitch.stores.connecting import ADDRESSES
from lockstitch.stores.sealing import new_key
from lockstitch.stores.telling import WORDS
from lockstitch.stores.values import EventKind, SessionInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

STORES_HEAD = """\
# Stores

<!-- Written by docs/render_reference.py. Change the source, then run the script. -->

A store keeps sessions, and a session keeps one conversation: a record of everything that was appended, and a view, which is what the model is shown.
The [tutorial](../tutorial/store.md) goes through it once; [Record and view](../discussion/record-and-view.md) says why it is so.

A session is made by its first append.
Making a handle on one, with `Store.session`, reads and writes nothing.
Two handles on one session are two writers, in one process or in two; one handle may be shared by threads or tasks.

The examples share these lines:

```python
from lockstitch import Retention, open_async_store, open_store
from lockstitch.stores.sealing import new_key
```

## Opening a store
"""
ADDRESSES_HEAD = """\
The addresses, what each needs, and where its options are:
"""
NEEDS = {
    "memory": "nothing; the sessions are gone with the process",
    "sqlite": "nothing: the module is in the standard library",
    "redis": "`pip install 'lockstitch[redis]'`, and Redis or Valkey, 6.2 or newer",
    "postgres": "`pip install 'lockstitch[postgres]'`",
}
PAGES_OF = {
    "sqlite": "[SQLite](../how-to/sessions-in-sqlite.md)",
    "redis": "[Redis and Valkey](../how-to/sessions-in-redis.md)",
    "postgres": "[PostgreSQL](../how-to/sessions-in-postgresql.md)",
}
SEALED = """\
Whatever the backend, `keys` encrypts what it keeps, which needs `pip install 'lockstitch[crypto]'`; see [Encrypt what is stored](../how-to/encrypt-what-is-stored.md).
"""
STORE_HEAD = """\
## `Store`

Where sessions live; made by `open_store`, and closed at the end of a `with`.
"""
SESSION_HEAD = """\
## `Session`

One conversation in a store; made by `Store.session`.
`id` and `tenant` say which.
"""
ASYNC = """\
## `AsyncStore`

Made by `open_async_store`, for `async with`.
It has what `Store` has, and each method is awaited: `list`, `sweep`, and `aclose` in the place of `close`.
`session` is not awaited: it does nothing but make a handle.

```python
>>> import asyncio
>>> import lockstitch as ls
>>> async def main():
...     async with ls.open_async_store("memory://") as store:
...         chat = store.session("user-42", max_messages=50)
...         await chat.append({"role": "user", "content": "hi"})
...         return await chat.window(), [entry.seq async for entry in chat.record()]
>>> asyncio.run(main())
([{'role': 'user', 'content': 'hi'}], [1])
```

## `AsyncSession`

One conversation in an `AsyncStore`.
It has the methods of `Session`, with the same arguments, and each is awaited; `record` and `export` are gone through with `async for`.
A call that is cancelled leaves the session whole: what it wrote is there in full or not at all.

```python
>>> async def cancelled():
...     async with ls.open_async_store("memory://") as store:
...         return repr(store.session("user-42", tenant="acme"))
>>> asyncio.run(cancelled())
"<AsyncSession 'user-42', tenant='acme'>"
```
"""
SESSION_VALUES = """\
## What comes back

All but `Window` are frozen, and compare by what they hold.
"""
EXAMPLES = {
    "Receipt": """\
>>> from lockstitch import open_store
>>> chat = open_store("memory://").session("s", max_messages=2)
>>> receipt = chat.append([{"role": "user", "content": str(n)} for n in range(3)])
>>> receipt.first, receipt.last, receipt.count, receipt.dropped
(1, 3, 3, 1)
""",
    "Version": """\
>>> receipt.version.revision, receipt.version.seq
(1, 3)
""",
    "Window": """\
>>> window = chat.window()
>>> len(window), window.seqs, window.hidden
(2, [2, 3], [])
""",
    "Recorded": """\
>>> [(entry.seq, entry.state, entry.reason) for entry in chat.record()]
[(1, 'dropped', 'oldest'), (2, 'shown', ''), (3, 'shown', '')]
""",
    "SessionEvent": """\
>>> [(event.kind, event.fired, event.gone) for event in chat.events()]
[('cut', ('over 2 messages',), ((1, 1, 'oldest'),))]
""",
    "SessionInfo": """\
>>> store = open_store("memory://")
>>> _ = store.session("a").append({"role": "user", "content": "hi"})
>>> [(one.id, one.messages, one.bytes) for one in store.list()]
[('a', 1, 31)]
""",
    "Finding": """\
>>> from lockstitch import Finding
>>> Finding(seq=7, kind="damaged", message="its payload has another checksum").seq
7
""",
}
STORE_METHODS = ("session", "list", "sweep", "close")
METHODS = (
    "append",
    "window",
    "record",
    "explain",
    "events",
    "search",
    "recall",
    "rewind",
    "edit",
    "pop",
    "clear",
    "compact",
    "fork",
    "configure",
    "touch",
    "purge",
    "delete",
    "export",
    "import_",
    "verify",
)
KINDS = {
    "cut": "the limits were passed, and something left the view",
    "compact": "`compact` put a summary in",
    "late": "results were appended whose calls are not in the view any more",
    "rewind": "the conversation was taken back",
    "edit": "another message stands in the place of one",
    "pop": "the last group was taken back",
    "clear": "the view was emptied",
    "purge": "rows of the record were emptied",
    "fork": "the session began as a fork of another",
    "import": "the session began as an import",
    "set": "`configure` stored other settings",
}
WHY_NOT = """\
## Why a message is not shown

`reason` of a `Recorded`, and in `gone` of an event, is one of [those of plans](rules.md#plan-reasons), or one of these:
"""
SEALING = """\
## Keys

`lockstitch.stores.sealing` draws one.
"""
STORE_ERRORS = """\
## Errors

{names} are what a store raises of its own; [Errors](errors.md#storeerror) says what to do about each.
What a session cannot take is a [`FormatError`](errors.md#formaterror), and what cannot fit a [`CannotFit`](errors.md#cannotfit).
"""


def render() -> str:
    """Return the page of stores."""
    blocks = [STORES_HEAD]
    opening = ("open_store", "open_async_store")
    blocks += (_callable(getattr(lockstitch, one), one) for one in opening)
    titles = ("address", "needs", "its options")
    blocks += [ADDRESSES_HEAD, _table(titles, _addresses()), SEALED]
    blocks += [STORE_HEAD, _example(lockstitch.Store)]
    blocks += (_callable(getattr(lockstitch.Store, one), one) for one in STORE_METHODS)
    blocks += [SESSION_HEAD, _example(lockstitch.Session)]
    blocks += (_callable(getattr(lockstitch.Session, one), one) for one in METHODS)
    blocks += [ASYNC, SESSION_VALUES]
    values = (lockstitch.Receipt, Version, lockstitch.Window, lockstitch.Recorded)
    blocks += map(_value, (*values, lockstitch.SessionEvent))
    blocks.append(
        _table(("kind", "says that"), ((f"`{one}`", KINDS[one]) for one in get_args(EventKind)))
    )
    blocks += map(_value, (SessionInfo, lockstitch.Finding, lockstitch.Retention))
    reasons = ((f"`{word}`", why) for word, why in WORDS.items())
    blocks += [WHY_NOT, _table(("reason", "says"), reasons)]
    blocks += [SEALING, _callable(new_key, "new_key")]
    raised = [f"`{name}`" for name in errors.__all__ if _is_of_stores(getattr(errors, name))]
    blocks.append(STORE_ERRORS.format(names=f"{', '.join(raised[:-1])} and {raised[-1]}"))
    return "\n".join(blocks)


def _addresses() -> Iterator[tuple[str, str, str]]:
    """Return what can be opened, what that needs, and which page has its options."""
    for name, written in ADDRESSES.items():
        yield f"`{'`, `'.join(written.split(', '))}`", NEEDS[name], PAGES_OF.get(name, "none")


def _is_of_stores(error: Any) -> bool:
    return isinstance(error, type) and issubclass(error, errors.StoreError)


def _callable(one: Any, name: str) -> str:
    """Write a function: signature, what it does, each argument."""
    sections = _sections(one)
    blocks = [f"### `{name}`\n", f"```py\n{_signature(one, name)}\n```\n"]
    blocks += (f"{paragraph}\n" for paragraph in sections[""])
    if "Args" in sections:
        blocks += [*(f"- `{name}`: {said}" for name, said in _entries(sections["Args"])), ""]
    if "Returns" in sections:
        blocks.append(f"It returns {_lowered(_joined(' '.join(sections['Returns'])))}\n")
    if "Raises" in sections:
        blocks.append("It raises:\n")
        raised = ((name.split(", "), said) for name, said in _entries(sections["Raises"]))
        blocks += [*(f"- {', '.join(map(_named, names))}: {said}" for names, said in raised), ""]
    example = _example(one)
    return "\n".join([*blocks, *[example] * bool(example)])


def _value(kind: type) -> str:
    """Write a value: what it is, and each of its fields."""
    sections = _sections(kind)
    fields = sections.get("Args") or sections["Attributes"]
    rows = ((_named(name), said.removesuffix(".")) for name, said in _entries(fields))
    blocks = [f"### `{kind.__name__}`\n", *(f"{paragraph}\n" for paragraph in sections[""])]
    blocks += [_table(("field", "holds"), rows), *_properties(kind)]
    example = EXAMPLES.get(kind.__name__)
    return "\n".join([*blocks, f"```python\n{example}```\n" if example else _example(kind)])


def _named(name: str) -> str:
    return f"`{name}`"


def _properties(kind: type) -> Iterator[str]:
    for name, one in vars(kind).items():
        if isinstance(one, property):
            yield f"The property `{name}`: {_lowered(_joined(inspect.getdoc(one) or ''))}\n"


def _signature(one: Any, called: str) -> str:
    """Write a signature without its types, wrapped where it is long."""
    signature = inspect.signature(one)
    told = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for name, parameter in signature.parameters.items()
        if name != "self"
    ]
    plain = str(inspect.Signature(told)).replace("'", '"')
    indent = " " * len(f"{called}(")
    return textwrap.fill(f"{called}{plain}", 96, subsequent_indent=indent)


def _sections(one: Any) -> dict[str, list[str]]:
    """Read a docstring: its paragraphs, and those under each of its titles."""
    found: dict[str, list[str]] = {"": []}
    for block in (inspect.getdoc(one) or "").split("\n\n"):
        title = re.match(r"(Args|Attributes|Returns|Raises):\n", block)
        if block.startswith(">>>"):
            break
        if title:
            found[title[1]] = [block[title.end() :]]
        else:
            found[""].append(_joined(block))
    return found


def _entries(section: list[str]) -> list[tuple[str, str]]:
    """Read the entries under a title, `name: what it means`."""
    entries = re.split(r"\n {4}(?=\S)", "\n" + "\n\n".join(section))[1:]
    return [(name, said) for name, _, said in (_joined(entry).partition(": ") for entry in entries)]


def _lowered(text: str) -> str:
    return text[0].lower() + text[1:]


def _example(one: Any) -> str:
    """Return the example of a docstring, to be run where it stands."""
    _, mark, example = (inspect.getdoc(one) or "").partition("\n\n>>> ")
    return f"```python\n>>> {example}\n```\n" if mark else ""


def _joined(text: str) -> str:
    return " ".join(text.split())


def _table(titles: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [titles, ("---",) * len(titles), *rows]
    safe = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in safe) + "\n"
