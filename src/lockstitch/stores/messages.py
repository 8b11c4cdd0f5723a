"""Messages of a view: its rows read, with what stands in the place of their parts put in.

Knows: how an entry becomes a native message. A row that cannot be read leaves the view and is put
down as damaged; what belongs to it is hidden by those who pair.

Must not know: limits, backends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.document.base import NOTHING, Document
from lockstitch.errors import CorruptRow
from lockstitch.formats import FORMATS
from lockstitch.plan import put_in, said_in
from lockstitch.stores.head import Held, Said
from lockstitch.stores.objects import revived
from lockstitch.stores.rows import native_of
from lockstitch.transcript import Transcript
from lockstitch.writing import stripped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lockstitch.stores.head import Entry, View

__all__ = ["natives_of", "transcript_of"]


def natives_of(view: View) -> list[Any]:
    """Read the messages of a view; the entries that cannot be read leave it."""
    kept: list[Entry] = []
    natives: list[Any] = []
    for entry in view.entries:
        try:
            natives.append(
                None if entry.stored is None else revived(native_of(entry.stored, entry.meta))
            )
        except CorruptRow as error:
            view.damaged[entry.seq] = error.why
        else:
            kept.append(entry)
    view.entries[:] = kept
    if any(entry.item is not None for entry in kept):
        _edited(view, natives)
    return natives


def _edited(view: View, natives: list[Any]) -> None:
    """Put in what stands in the place of parts, and say what is in no row."""
    form = FORMATS[view.format]
    like = transcript_of([native for native in natives if native is not None], form.name)
    for at, entry in enumerate(view.entries):
        item = entry.item
        if isinstance(item, Said):
            natives[at] = said_in(like, item.role, item.text)
        elif isinstance(item, Held) and item.puts:
            natives[at] = put_in(natives[at], form, item.puts, bare=item.bare)
        elif isinstance(item, Held) and item.bare:
            natives[at] = stripped(natives[at], form)


def transcript_of(natives: Sequence[Any], format: str) -> Transcript:
    """Make a transcript of messages whose format is known."""
    document = Document(natives=natives, path="messages", context=NOTHING, rebuild=_rebuild)
    return Transcript(document, FORMATS[format])


def _rebuild(changed: Sequence[Any], around: Mapping[str, Any] = NOTHING) -> Any:
    return list(changed)
