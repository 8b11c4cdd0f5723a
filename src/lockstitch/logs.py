"""Logs: one record for each operation, under the logger `lockstitch`.

INFO where something was changed, WARNING where a summary failed, DEBUG where nothing had to be
done. The event is on the record, as `record.lockstitch`; no message text is.

A program that never imported `logging` has no handler that could write anything, so it is not
imported for it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import logging

    from lockstitch.events import Event

__all__ = ["LogHearer"]

_DEBUG, _INFO, _WARNING = 10, 20, 30


class LogHearer:
    """Writes events to the logger `lockstitch`.

    >>> LogHearer().wants()
    False
    """

    counts = False

    def __init__(self) -> None:
        self._held: logging.Logger | None = None

    def wants(self, *, failing: bool = False) -> bool:
        """Whether the logger would write anything: of a plain cut, nothing above INFO."""
        logger = self._logger()
        return logger is not None and logger.isEnabledFor(_WARNING if failing else _INFO)

    def begin(self, operation: str) -> None:
        """Wait for the end."""

    def end(self, begun: Any, event: Event | None, error: BaseException | None) -> None:
        """Write what an operation came to; what it raised is the caller's to log."""
        logger = self._logger()
        if logger is None or event is None:
            return
        level = _WARNING if event.failure else _INFO if not event.why_not else _DEBUG
        logger.log(
            level,
            "%s: %d of %d messages dropped, %d changed, %d put in%s",
            event.operation,
            event.messages_dropped,
            event.before.messages,
            event.messages_changed,
            event.messages_inserted,
            f" ({event.failure or event.why_not or '; '.join(event.fired)})",
            extra={"lockstitch": event},
        )

    def _logger(self) -> logging.Logger | None:
        if self._held is None:
            module: Any = sys.modules.get("logging")
            self._held = None if module is None else module.getLogger("lockstitch")
        return self._held
