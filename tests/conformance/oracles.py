"""Independent oracles: what the official SDKs' own types and validators say of a history.

Knows: the types of openai and anthropic, walked to the bottom (their lists are lazy, so the SDKs
look at nothing inside one), the models of google-genai and mistralai, and botocore's validator of
Converse. Knows nothing of Lockstitch: where the two disagree, one of them is wrong.

`fits(format, messages)` returns what does not fit, an empty list where all does.
"""

import collections.abc
import types
import typing
from functools import cache

import typing_extensions

_REQUIRED = (typing.Required, typing_extensions.Required)
_OPTIONAL = (typing.NotRequired, typing_extensions.NotRequired)


def _alternatives(hint):
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


@cache
def _fields(shape):
    """The fields of a TypedDict: name -> (hint, whether it must be there)."""
    hints = typing_extensions.get_type_hints(shape, include_extras=True)
    return {name: (hint, _required(shape, name, hint)) for name, hint in hints.items()}


def _required(shape, name, hint):
    """Whether a field must be there; the SDKs write annotations as text, which hides it."""
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        return _required(shape, name, typing.get_args(hint)[0])
    if origin in _REQUIRED or origin in _OPTIONAL:
        return origin in _REQUIRED
    return name in shape.__required_keys__


def problems(value, hint, path=""):
    """List the places at which a value is not of a type; keys it does not name are let pass."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint in (typing.Any, object) or isinstance(hint, typing.TypeVar):
        return []
    if origin is typing.Annotated:
        return problems(value, inner[0], path)
    if origin in _REQUIRED or origin in _OPTIONAL:
        return problems(value, inner[0], path)
    if typing_extensions.is_typeddict(hint):
        return _of_dict(value, hint, path)
    if _alternatives(hint):
        found = [problems(value, one, path) for one in inner]
        return [] if not all(found) else min(found, key=_distance)
    if origin is typing.Literal:
        return [] if value in inner else [f"{path}: {value!r} is none of {inner}"]
    return _of_plain(value, hint, origin, inner, path)


def _distance(found):
    """The nearest alternative is the one whose breach lies deepest, then the one with fewest."""
    return -max(place.partition(": ")[0].count("[") for place in found), len(found)


def _of_dict(value, hint, path):
    if not isinstance(value, dict):
        return [f"{path}: {type(value).__name__} is no {hint.__name__}"]
    found = []
    for name, (inside, required) in _fields(hint).items():
        if name in value:
            found += problems(value[name], inside, f"{path}[{name}]")
        elif required:
            found.append(f"{path}: {name} is missing")
    return found


def _of_plain(value, hint, origin, inner, path):
    if hint is None or hint is type(None):
        return [] if value is None else [f"{path}: not null"]
    if _is_list(hint, origin):
        if not isinstance(value, (list, tuple)):
            return [f"{path}: {type(value).__name__} is no list"]
        return [
            one
            for at, item in enumerate(value)
            for one in problems(item, inner[0], f"{path}[{at}]")
        ]
    if origin in (dict, collections.abc.Mapping):
        if not isinstance(value, dict):
            return [f"{path}: {type(value).__name__} is no object"]
        return [
            one
            for name, item in value.items()
            for one in problems(item, inner[1], f"{path}[{name}]")
        ]
    plain = origin or hint
    if plain is float:
        plain = (int, float)
    if plain in (str, int) and isinstance(value, bool):
        return [f"{path}: a bool"]
    if isinstance(plain, (type, tuple)):
        return [] if isinstance(value, plain) else [f"{path}: {type(value).__name__}, not {hint}"]
    raise TypeError(f"this oracle does not know the type {hint!r}")


def _is_list(hint, origin):
    lists = (list, collections.abc.Iterable, collections.abc.Sequence)
    return origin in lists or getattr(origin, "__name__", "") == "SequenceNotStr"


# --- by format -----------------------------------------------------------------------------------


def _typed(hint):
    def fits(messages):
        return [
            one for at, message in enumerate(messages) for one in problems(message, hint, f"[{at}]")
        ]

    return fits


def _openai_chat():
    from openai.types.chat import ChatCompletionMessageParam

    return _typed(ChatCompletionMessageParam)


def _openai_responses():
    from openai.types.responses import ResponseInputItemParam

    return _typed(ResponseInputItemParam)


def _anthropic():
    from anthropic.types import MessageParam
    from anthropic.types.beta import BetaMessageParam

    # Blocks of MCP are in the beta types alone.
    return _typed(MessageParam | BetaMessageParam)


def _modelled(validate):
    from pydantic import ValidationError

    def fits(messages):
        found = []
        for at, message in enumerate(messages):
            try:
                validate(message)
            except ValidationError as error:
                found += [f"[{at}]{list(one['loc'])}: {one['msg']}" for one in error.errors()]
        return found

    return fits


def _gemini():
    from google.genai.types import Content

    return _modelled(Content.model_validate)


def _mistral():
    from mistralai.client.models import AssistantMessage, SystemMessage, ToolMessage, UserMessage

    models = {
        "assistant": AssistantMessage,
        "system": SystemMessage,
        "tool": ToolMessage,
        "user": UserMessage,
    }
    return _modelled(lambda message: models[message["role"]].model_validate(message))


def _bedrock():
    import botocore.session
    from botocore.validate import ParamValidator

    service = botocore.session.Session().get_service_model("bedrock-runtime")
    shape = service.operation_model("Converse").input_shape.members["messages"]

    def fits(messages):
        report = ParamValidator().validate(messages, shape)
        return report.generate_report().splitlines()

    return fits


_ORACLES = {
    "anthropic": _anthropic,
    "bedrock": _bedrock,
    "gemini": _gemini,
    "mistral": _mistral,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
}
FORMATS = tuple(_ORACLES)


@cache
def _oracle(format):
    return _ORACLES[format]()


def fits(format, messages):
    """Return what does not fit the official types of a format."""
    return _oracle(format)(messages)
