"""Places: a store by its URL, the sessions in it, and what can go wrong on the way there.

A URL may hold a password. What is printed of it here has none, and neither has what a driver says.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

import click

from lockstitch.cli.failures import DoesNotFit, Unusable, as_document, phrase
from lockstitch.cli.render import say
from lockstitch.errors import CannotFit, LockstitchError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockstitch.stores.store import Session, Store
    from lockstitch.stores.values import SessionInfo

__all__ = [
    "Place",
    "all_option",
    "id_argument",
    "masked",
    "missing",
    "opened",
    "prefix_option",
    "tenant_option",
    "url_argument",
]

PAGE: Final = 500
_MASK: Final = "***"
_SHORT: Final = 4  # a password shorter than this is looked for in its place only

_USER = re.compile(r"^([a-z0-9+.-]+://[^:@/?#]*:)(.*)(@)", re.IGNORECASE)
_FIELD = re.compile(
    r"([?&](?:\w*passw(?:or)?d|\w*secret|\w*token|\w*key)=)([^&#]*)()", re.IGNORECASE
)

url_argument = click.argument("url", metavar="URL")
id_argument = click.argument("id", metavar="ID")
tenant_option = click.option(
    "--tenant", metavar="NAME", help="Whose sessions; those of no tenant by default."
)
prefix_option = click.option(
    "--prefix", default="", metavar="TEXT", help="Only sessions whose ids begin with this."
)
all_option = click.option("--all", "everything", is_flag=True, help="All sessions of the tenant.")


def masked(url: str) -> str:
    """Write a URL without the passwords in it.

    >>> masked("postgresql://ann:s3cret@db.example/chat")
    'postgresql://ann:***@db.example/chat'
    >>> masked("redis://db.example/0?password=s3cret")
    'redis://db.example/0?password=***'
    """
    for pattern in (_USER, _FIELD):
        url = pattern.sub(rf"\g<1>{_MASK}\g<3>", url)
    return url


def _secrets(url: str) -> list[str]:
    found = [match[2] for pattern in (_USER, _FIELD) for match in pattern.finditer(url)]
    spellings = {spelling for secret in found if secret for spelling in (secret, unquote(secret))}
    return sorted(spellings, key=len, reverse=True)


class Place:
    """A store that was opened.

    Args:
        url: where it is.
        store: the store.
    """

    def __init__(self, url: str, store: Store) -> None:
        self.shown = masked(url)
        self.store = store
        self._url = url

    def clean(self, text: str) -> str:
        """Return what somebody says of the store, without its passwords."""
        return _clean(text, self._url)

    def session(self, id: str, tenant: str | None, **settings: Any) -> Session:
        """Return a handle on a session, whether it is there or not."""
        return self.store.session(id, tenant=tenant, **settings)

    def find(self, id: str, tenant: str | None) -> SessionInfo | None:
        """Return what a list says of a session; `None` where there is none."""
        # Of all ids that begin with it, it is the first.
        found = self.store.list(id, tenant=tenant, limit=1)
        return found[0] if found and found[0].id == id else None

    def known(self, id: str, tenant: str | None) -> SessionInfo:
        """Return what a list says of a session that must be there.

        Raises:
            Unusable: it is not.
        """
        found = self.find(id, tenant)
        if found is None:
            of = "" if tenant is None else f" of tenant {tenant!r}"
            raise Unusable(
                f"{self.shown}: there is no session {id!r}{of}: lockstitch store ls shows which "
                "there are"
            )
        return found

    def sessions(self, prefix: str, tenant: str | None) -> Iterator[SessionInfo]:
        """Yield what a list says of all sessions, in its order."""
        after: str | None = None
        while True:
            page = self.store.list(prefix, tenant=tenant, after=after, limit=PAGE)
            yield from page
            if len(page) < PAGE:
                return
            after = page[-1].id

    def chosen(
        self, ids: tuple[str, ...], prefix: str, tenant: str | None, *, everything: bool
    ) -> list[SessionInfo]:
        """Return the sessions that arguments name.

        Raises:
            click.UsageError: they name none, or some in two ways.
            Unusable: one is not there.
        """
        if bool(ids) == (everything or bool(prefix)):
            raise click.UsageError("name sessions by their ids, or give --all or --prefix")
        if ids:
            return [self.known(id, tenant) for id in dict.fromkeys(ids)]
        return list(self.sessions(prefix, tenant))


@contextmanager
def opened(url: str, *, make: bool = False, as_json: bool = False) -> Iterator[Place]:
    """Open a store, and say in words what goes wrong with it.

    Args:
        url: where it is.
        make: whether a file that is not there is made; else that is an error.
        as_json: whether a failure is printed as JSON besides.

    Raises:
        Unusable: there is no such store, or it did not do what it was asked.
        DoesNotFit: no window fits.
    """
    shown = masked(url)
    try:
        try:
            place = _opened(url, make=make)
            with place.store:
                yield place
        except CannotFit as error:
            # What is done then is a setting of the session, and no option of these commands.
            said = phrase(error).partition("Raise the limit")[0] + "Raise the limit."
            raise DoesNotFit(shown, error, said) from None
        except LockstitchError as error:
            raise Unusable(f"{shown}: {_clean(phrase(error), url)}", error) from None
        except click.ClickException:
            raise
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            if _clean(said, url) == said:
                raise
            # A bug, or a driver's own error: whatever it is, its words hold a password.
            raise RuntimeError(_clean(said, url)) from None
    except (Unusable, DoesNotFit) as failure:
        if as_json and not failure.told:
            failure.told = True
            say(json.dumps(as_document(shown, failure, key="store")))
        raise


def _opened(url: str, *, make: bool) -> Place:
    from lockstitch.stores.connecting import open_store

    if not make and missing(url):
        raise Unusable(f"{masked(url)}: there is no file {missing(url)}")
    try:
        return Place(url, open_store(url))
    except (ValueError, TypeError) as error:
        raise Unusable(f"{masked(url)}: {_clean(str(error), url)}") from None


def missing(url: str) -> str:
    """Return the path of a store's file, if it has one and that is not there."""
    scheme, _, rest = url.partition(":///")
    path = unquote(rest)
    if scheme != "sqlite" or path == ":memory:" or not path or Path(path).exists():
        return ""
    return path


def _clean(text: str, url: str) -> str:
    text = text.replace(url, masked(url))
    for secret in _secrets(url):
        if len(secret) >= _SHORT:
            text = text.replace(secret, _MASK)
        else:
            text = text.replace(f":{secret}@", f":{_MASK}@")
    return text
