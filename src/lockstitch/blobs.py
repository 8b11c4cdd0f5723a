"""Blobs: where large payloads go, behind a small protocol.

A stub is put in only for a payload that has been written. What writes it is handed in
(`lockstitch.stores.blobs` has a directory); nothing here does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from lockstitch.measure.counters import written
from lockstitch.strategies.payloads import payloads_at

if TYPE_CHECKING:
    from lockstitch.plan import Plan
    from lockstitch.transcript import Transcript

__all__ = ["BlobStore", "offloads", "write_blobs"]


@runtime_checkable
class BlobStore(Protocol):
    """Keeps payloads by their handles. A handle follows from the payload: the same is put twice."""

    def put(self, handle: str, payload: bytes) -> None:
        """Keep a payload; it must be readable when this returns."""
        ...

    def get(self, handle: str) -> bytes:
        """Return a payload.

        Raises:
            KeyError: nothing is kept under this handle.
        """
        ...


def offloads(plan: Plan) -> list[str]:
    """Return the handles of the payloads that a plan wants to be written."""
    return [put.handle for edit in plan.edits if edit.reason == "offloaded" for put in edit.puts]


def write_blobs(plan: Plan, transcript: Transcript, blobs: Any) -> None:
    """Write what a plan offloads, and see that it can be read.

    Raises:
        TypeError: there is something to be written and nowhere to write it.
    """
    if not offloads(plan):
        return
    if not isinstance(blobs, BlobStore):
        raise TypeError(
            "the plan offloads results: hand over blobs, a store with put(handle, payload) and "
            f"get(handle), not {blobs!r:.60}"
        )
    for edit in plan.edits:
        if edit.reason != "offloaded":
            continue
        handles = {put.path: put.handle for put in edit.puts}
        for payload in payloads_at(transcript, edit.start):
            if payload.path in handles:
                data = written(payload.content).encode("utf-8", "surrogatepass")
                blobs.put(handles[payload.path], data)
                blobs.get(handles[payload.path])
