"""Objects of frameworks: what is handed over as an object comes back as one.

Knows: LangChain's messages, whose callers expect them back. Objects of providers' SDKs are stored
as the mappings that they dump to, which the SDKs take as well.

Must not know: anything of a framework until one of its messages is met.
"""

from __future__ import annotations

from typing import Any, Final

from lockstitch.errors import MissingExtra

__all__ = ["marked", "revived"]

_MARK: Final = "$object"
_LANGCHAIN: Final = "langchain"


def marked(native: Any) -> Any:
    """Return what is stored of a message: a LangChain object with a word that says so."""
    if type(native) is dict or not type(native).__module__.startswith("langchain"):
        return native
    dump = getattr(native, "model_dump", None)
    if dump is None or not hasattr(native, "type"):
        return native
    return {**dump(), _MARK: _LANGCHAIN}


def revived(native: Any) -> Any:
    """Return the message that `marked` was given.

    Raises:
        MissingExtra: it is an object of a framework that is not installed.
    """
    if type(native) is not dict or native.get(_MARK) != _LANGCHAIN:
        return native
    try:
        from langchain_core.messages import messages_from_dict
    except ImportError:
        raise MissingExtra("langchain", package="langchain-core") from None
    fields = {key: value for key, value in native.items() if key != _MARK}
    return messages_from_dict([{"type": fields["type"], "data": fields}])[0]
