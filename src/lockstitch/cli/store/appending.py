"""`lockstitch store append`: messages of a file, into a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from lockstitch.cli.failures import REFUSED, Unusable, phrase
from lockstitch.cli.files import Input, open_input, read_input
from lockstitch.cli.options import as_json as json_option
from lockstitch.cli.options import format_option, model_option
from lockstitch.cli.progress import Bar
from lockstitch.cli.render import say
from lockstitch.cli.store.lines import Skipped, are_lines, messages_in
from lockstitch.cli.store.looking import limit_options
from lockstitch.cli.store.places import id_argument, missing, opened, tenant_option, url_argument
from lockstitch.cli.store.printing import print_json, ranges
from lockstitch.cli.strategies import directive_of, strategy_option
from lockstitch.errors import FormatError
from lockstitch.explain import count
from lockstitch.rules.profiles import PROFILES

if TYPE_CHECKING:
    from lockstitch.cli.store.places import Place
    from lockstitch.stores.values import Receipt

__all__ = ["append_command"]

# What plain text is read as, in whichever format it is.
_PLAIN: Final = "openai-chat"


@click.command("append")
@url_argument
@id_argument
@click.argument("file", metavar="FILE")
@tenant_option
@click.option(
    "--key",
    metavar="TEXT",
    help="Names this batch: the same key again stores nothing, however late.",
)
@click.option(
    "--profile", type=click.Choice(list(PROFILES)), help="The target of the windows of the session."
)
@model_option
@format_option
@strategy_option
@limit_options
@json_option
def append_command(
    url: str,
    id: str,
    file: str,
    *,
    tenant: str | None,
    key: str | None,
    format: str | None,
    strategy: str | None,
    as_json: bool,
    **ask: Any,
) -> None:
    """Append the messages in FILE ("-" for standard input) to the session ID.

    The session is made when it is not there, and the store too where it is a file. All messages
    land, in order, or none. Profile, model, strategy and limits are stored with a session that is
    made; for one that is there they decide about the cut that comes with this append.

    Lines of JSON lines that are torn or hold no message are reported by their numbers and passed
    over; the others are stored. Anything else that cannot be read is an error, and nothing is
    stored.

    Exits with 0, with 1 when lines were passed over, with 2 when nothing can be stored.
    """
    directive = directive_of(strategy, None)
    with Bar(total=1) as bar:
        bar.step(f"reading {file}")
        with opened(url, make=True, as_json=as_json) as place:
            source = read_input(file)
            # A store is made by the first use of it: what cannot be read makes none.
            ours = format or ("" if missing(url) else _format_of(place, id, tenant))
            batch = _batch(source, ours or None)
            bar.step("appending")
            session = place.session(id, tenant, strategy=directive, format=batch.format, **ask)
            receipt = session.append(batch.natives, key)
            skipped = batch.skipped
    for one in skipped:
        say(f"{file}: line {one.line} was passed over: {one.why}", err=True)
    if as_json:
        print_json(_document(id, tenant, receipt, skipped))
    else:
        say(f"session {id!r}: {_words(receipt)}")
    _tell(id, receipt)
    click.get_current_context().exit(REFUSED if skipped else 0)


class _Batch(msgspec.Struct, frozen=True):
    """What is appended: the messages, their format where it is known, the lines without any."""

    natives: Sequence[Any]
    format: str | None
    skipped: list[Skipped]


def _format_of(place: Place, id: str, tenant: str | None) -> str:
    """Return the format of the messages that a session holds already; empty for none."""
    session = place.session(id, tenant)
    session.run(session.effects.read(payloads=False))
    return session.effects.settings().format


def _batch(source: Input, format: str | None) -> _Batch:
    """Read what is to be appended."""
    if not are_lines(source.data):
        transcript = open_input(source, format)
        if format is None and transcript.format.name != _PLAIN:
            # What stands around the messages may say so, and they themselves not.
            format = transcript.format.name
        return _Batch(transcript.natives, format, [])
    try:
        natives, skipped = messages_in(source.data, format)
    except FormatError as error:
        raise Unusable(f"{source.name}: {phrase(error)}", error) from None
    if not natives:
        why = f": line {skipped[0].line}: {skipped[0].why}" if skipped else ""
        raise Unusable(f"{source.name}: no line holds a message{why}")
    return _Batch(natives, format, skipped)


def _words(receipt: Receipt) -> str:
    if not receipt.count:
        return "nothing was stored: there was nothing to store, or the limit is 0"
    stored = ranges(range(receipt.first, receipt.last + 1))
    of = "message" if receipt.count == 1 else "messages"
    if receipt.replayed:
        return f"nothing was stored: that key stored {of} {stored} before"
    dropped = f"; {count(receipt.dropped, 'message')} left the view" if receipt.dropped else ""
    return f"stored {of} {stored}{dropped}"


def _tell(id: str, receipt: Receipt) -> None:
    if receipt.late:
        say(
            f"session {id!r}: recorded and not shown, as what they answer is not in the view any "
            f"more: {ranges(receipt.late)}",
            err=True,
        )
    if receipt.overflow:
        say(f"session {id!r}: {receipt.overflow}", err=True)


def _document(
    id: str, tenant: str | None, receipt: Receipt, skipped: list[Skipped]
) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(receipt)
    return {
        "session": id,
        "tenant": tenant,
        **fields,
        "last": receipt.last,
        "skipped": [msgspec.to_builtins(one) for one in skipped],
    }
