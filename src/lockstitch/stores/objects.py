"""Objects of frameworks: what is handed over as an object comes back as one.

Knows: the messages of LangChain and of agent-framework, whose callers expect them back. Objects of
providers' SDKs are stored as the mappings that they dump to, which the SDKs take as well.

Must not know: anything of a framework until one of its messages is met.
"""

from __future__ import annotations

from typing import Any, Final

from lockstitch.errors import MissingExtra

__all__ = ["marked", "revived"]

_MARK: Final = "$object"
_LANGCHAIN: Final = "langchain"
_AGENT_FRAMEWORK: Final = "agent-framework"


def marked(native: Any) -> Any:
    """Return what is stored of a message: a framework's object with a word that says so."""
    if type(native) is dict:
        return native
    module = type(native).__module__
    if module.startswith("agent_framework") and hasattr(native, "contents"):
        return {**native.to_dict(), _MARK: _AGENT_FRAMEWORK}
    if not module.startswith("langchain"):
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
    mark = native.get(_MARK) if type(native) is dict else None
    if mark == _LANGCHAIN:
        return _of_langchain(native)
    return _of_agent_framework(native) if mark == _AGENT_FRAMEWORK else native


def _of_langchain(native: dict[str, Any]) -> Any:
    try:
        from langchain_core.messages import messages_from_dict
    except ImportError:
        raise MissingExtra("langchain", package="langchain-core") from None
    fields = {key: value for key, value in native.items() if key != _MARK}
    return messages_from_dict([{"type": fields["type"], "data": fields}])[0]


def _of_agent_framework(native: dict[str, Any]) -> Any:
    try:
        from agent_framework import Message
    except ImportError:
        raise MissingExtra("agent-framework", package="agent-framework-core") from None
    return Message.from_dict({key: value for key, value in native.items() if key != _MARK})
