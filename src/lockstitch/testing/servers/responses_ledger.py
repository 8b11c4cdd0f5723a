"""What a Responses server holds: responses and their chains, items, and what it has sealed.

Knows: which reasoning item each item was made with, and which item follows which reasoning.

Must not know: the wire, what the model says.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Literal

import msgspec

from lockstitch.testing.servers.base import Refused, digest
from lockstitch.testing.servers.responses_checks import Item, is_output_item, kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["ResponsesLedger"]


class _Held(msgspec.Struct, frozen=True):
    before: str | None
    items: tuple[Item, ...]


class ResponsesLedger:
    """Everything that a server has issued and stored.

    Args:
        strangers: what becomes of sealed content, reasoning and responses that were issued
            elsewhere: `refuse` or `accept`.
    """

    def __init__(self, strangers: Literal["refuse", "accept"]) -> None:
        self._accepts = strangers == "accept"
        self._held: dict[str, _Held] = {}
        self._stored: dict[str, Item] = {}
        self._reasoning_of: dict[str, str] = {}
        self._follower_of: dict[str, str] = {}
        self._sealed: dict[str, str] = {}

    def seal(self, name: str) -> str:
        """Make the encrypted content of an item."""
        content = "gAAAAA" + base64.urlsafe_b64encode(digest("sealed", name).encode()).decode()
        self._sealed[content] = name
        return content

    def issue(self, given: Iterable[Item], *, stored: bool) -> None:
        """Remember items as issued: what each was made with, and whether it is kept."""
        reasoning: str | None = None
        for item in given:
            name = item.get("id")
            if not is_output_item(item):
                reasoning = None
            elif kind(item) == "reasoning":
                reasoning = name
                if item.get("encrypted_content"):
                    self._sealed[item["encrypted_content"]] = str(name)
            elif reasoning is not None and name is not None:
                self._reasoning_of[name] = reasoning
                self._follower_of.setdefault(reasoning, name)
            elif kind(item) == "compaction":
                self._sealed[item["encrypted_content"]] = str(name)
            if stored and name is not None:
                self._stored[name] = item

    def store(self, name: str, before: str | None, held: Sequence[Item]) -> None:
        """Keep a response: what came with it, and what it answered."""
        self._held[name] = _Held(before, tuple(held))

    def chain(self, name: str | None) -> tuple[list[Item], bool]:
        """Read the items of a chain up to a response, and whether that is all there is."""
        if name is None:
            return [], True
        parts: list[tuple[Item, ...]] = []
        at: str | None = name
        while at is not None:
            held = self._held.get(at)
            if held is None:
                if not self._accepts:
                    raise Refused(
                        f"Previous response with id '{at}' not found.",
                        param="previous_response_id",
                        code="previous_response_not_found",
                    )
                return [item for part in reversed(parts) for item in part], False
            parts.append(held.items)
            at = held.before
        return [item for part in reversed(parts) for item in part], True

    def resolve(self, given: Sequence[Item], *, storing: bool) -> list[Item]:
        """Put the items that are only referred to in the place of their references."""
        found: list[Item] = []
        for item in given:
            name = item.get("id")
            reference = kind(item) == "item_reference"
            bare = kind(item) == "reasoning" and not item.get("encrypted_content")
            if (reference or bare) and name not in self._stored and not self._accepts:
                raise _not_found(name, storing=storing)
            if bare and not storing and name not in self._stored:
                raise _not_found(name, storing=storing)
            found.append(self._stored.get(str(name), item) if reference else item)
        return found

    def judge_seals(self, given: Sequence[Item]) -> None:
        """Refuse sealed content that was not issued here, or for another item."""
        for item in given:
            content = item.get("encrypted_content")
            if content is None or (self._accepts and content not in self._sealed):
                continue
            name = self._sealed.get(content) if isinstance(content, str) else None
            if name is None or item.get("id") not in {None, name}:
                short = f"{str(content)[:4]}...{str(content)[-4:]}"
                raise Refused(
                    f"The encrypted content {short} could not be verified. Reason: Encrypted "
                    "content could not be decrypted or parsed.",
                    code="invalid_encrypted_content",
                )

    def judge_duplicates(self, held: Sequence[Item], given: Sequence[Item]) -> None:
        """Refuse an item that came twice, or that the chain holds already."""
        seen = {item["id"] for item in held if item.get("id") is not None}
        for item in given:
            name = item.get("id")
            if name is None or kind(item).endswith("_output"):
                continue
            if name in seen:
                raise Refused(
                    f"Duplicate item found with id {name}. Remove duplicate items from your input "
                    "and try again.",
                    param="input",
                )
            seen.add(name)

    def judge_reasoning(
        self, held: Sequence[Item], given: Sequence[Item], *, storing: bool
    ) -> None:
        """Refuse reasoning without the item it led to, and an item without its reasoning."""
        seen = {self._name(item) for item in held if kind(item) == "reasoning"}
        for index, item in enumerate(given):
            if kind(item) == "reasoning":
                seen.add(self._name(item))
                after = given[index + 1] if index + 1 < len(given) else None
                if not self._follows(item, after, storing=storing):
                    raise Refused(
                        f"Item '{self._name(item)}' of type 'reasoning' was provided without its "
                        "required following item.",
                        param="input",
                    )
                continue
            reasoning = self._reasoning_of.get(str(item.get("id")))
            if reasoning is not None and reasoning not in seen:
                raise Refused(
                    f"Item '{item['id']}' of type '{kind(item)}' was provided without its required "
                    f"'reasoning' item: '{reasoning}'.",
                    param="input",
                )

    def _name(self, item: Item) -> str:
        return str(item.get("id") or self._sealed.get(str(item.get("encrypted_content"))))

    def _follows(self, reasoning: Item, after: Item | None, *, storing: bool) -> bool:
        if after is None or not is_output_item(after):
            return False
        name = after.get("id")
        expected = self._follower_of.get(self._name(reasoning))
        if reasoning.get("id") is None or not storing:
            # Sent back whole, without the server's store: an item without an id is taken. So is a
            # call under an item id of the client's own, as agent-framework's client sends each; its
            # call id says which it is.
            own = kind(after) == "function_call" and name not in self._reasoning_of
            return name is None or expected is None or name == expected or own
        return name is not None and (expected is None or name == expected)


def _not_found(name: object, *, storing: bool) -> Refused:
    if storing:
        return Refused(f"Item with id '{name}' not found.", status=404, param="input")
    return Refused(
        f"Item with id '{name}' not found. Items are not persisted when `store` is set to false. "
        "Try again with `store` set to true, or remove this item from your input.",
        status=404,
        param="input",
    )
