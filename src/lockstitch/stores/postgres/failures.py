"""Failures: errors of psycopg as errors of stores.

Knows: by the codes that PostgreSQL gives its errors, which may well go away by themselves, and what
somebody has to do about the others. An error without a code comes from the connection.

Must not know: psycopg, so that this can be read without it.
"""

from __future__ import annotations

from typing import Any, Final

from lockstitch.errors import StoreError, StoreUnavailable

__all__ = ["failure"]

# Classes of codes, and single codes, of what may work a little later.
_PASSING: Final = (
    "08",  # connection exceptions
    "25P03",  # idle in a transaction for too long
    "25P04",  # a transaction that took too long
    "40",  # rolled back: serialization, deadlock
    "53200",  # out of memory
    "53300",  # too many connections
    "55P03",  # a lock was not to be had in time
    "57",  # cancelled, shutting down, starting up, crashed
)
_GONE_FOR_GOOD: Final = "57P04"  # the database was dropped

_REMEDIES: Final = {
    "25006": "the server or the transaction is read-only: connect to the primary",
    "3D000": "the database is not there: make it, or correct the URL",
    "3F000": "the schema is not there: make it, or let a role that may do so call migrate()",
    "42501": "the role lacks a right: grant it, or let a role that has it call migrate() once",
    "42703": "the tables are not ours, or were changed: choose another schema or prefix",
    "42883": "functions are missing: call migrate(), or restore the schema",
    "42P01": "tables are missing: call migrate(), or restore the schema",
    "42P07": "the tables are not ours: choose another schema or prefix",
    "53100": "the server's disk is full: free some of it",
    "58030": "the server cannot read or write its files: look into its log",
    "25P02": "the transaction of the connection that was lent has failed before: roll it back",
}


def failure(error: Any, doing: str) -> StoreError:
    """Make an error of ours of one of psycopg's.

    Args:
        error: a `psycopg.Error`.
        doing: the name of the statement.

    >>> class Full(Exception):
    ...     sqlstate = "53100"
    >>> print(failure(Full("could not extend file"), "append"))
    PostgreSQL failed to append: could not extend file; the server's disk is full: free some of it
    """
    code: str | None = error.sqlstate
    # The rest of what the server says may quote values.
    what = f"PostgreSQL failed to {doing}: {str(error).partition(chr(10))[0]}"
    if code is None:
        kinds = {kind.__name__ for kind in type(error).__mro__}
        passes = "OperationalError" in kinds and "PoolClosed" not in kinds
        return StoreUnavailable(what) if passes else StoreError(what)
    if code.startswith(_PASSING) and code != _GONE_FOR_GOOD:
        return StoreUnavailable(what)
    remedy = _REMEDIES.get(code)
    return StoreError(f"{what}; {remedy}" if remedy else f"{what} (SQLSTATE {code})")
