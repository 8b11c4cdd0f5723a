"""The ledger of signed thinking: what was issued, over what, and whether it still stands there.

Knows: how a thinking block is bound to `system`, `tools` and every block before it. A signature is
an HMAC over their canonical JSON, the text, and the thinking blocks before. Neighbouring messages
of one role are one turn, a string is one text block, and cache marks and nulls do not count.

Must not know: what a mismatch leads to; that is the server's.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

__all__ = ["THINKING", "Bound", "Prefix", "ThinkingLedger", "blocks"]

THINKING = ("thinking", "redacted_thinking")

Block: TypeAlias = dict[str, Any]
Verdict: TypeAlias = Literal["fine", "unknown", "edited", "moved"]


class _Issued(msgspec.Struct, frozen=True):
    text: str
    prefix: bytes
    chain: tuple[str, ...]


class Bound(msgspec.Struct, frozen=True):
    """A thinking block of a request, and what the ledger says of it.

    Args:
        message: its message's index; `at` is its own.
        verdict: `fine`; `unknown`: never issued; `edited`: issued with another text; `moved`: what
            stands before it is not what stood there.
    """

    message: int
    at: int
    signature: str
    verdict: Verdict

    @property
    def path(self) -> str:
        """The place of the block, as error texts name it."""
        return f"messages.{self.message}.content.{self.at}"


class Prefix:
    """All that stands before a place in a conversation, as a running seal."""

    def __init__(self, key: bytes, body: Mapping[str, Any]) -> None:
        self._seal = hmac.new(key, digestmod="sha256")
        self._role = ""
        self.chain: list[str] = []
        system = body.get("system") or []
        if isinstance(system, str):
            system = [{"type": "text", "text": system}]
        self._add([system, body.get("tools") or []])

    def turn(self, role: str) -> None:
        """Go on with a role; a neighbour of the same role is the same turn."""
        if role != self._role:
            self._add(role)
            self._role = role

    def block(self, block: Block) -> None:
        """Go on with a block that is no thinking block."""
        self._add(block)

    def seal(self) -> bytes:
        """The seal of everything so far, thinking blocks left out."""
        return self._seal.digest()

    def _add(self, value: Any) -> None:
        self._seal.update(msgspec.json.encode(_canonical(value), order="sorted") + b"\0")


class ThinkingLedger:
    """Every thinking block that a server has issued.

    Args:
        key: what it signs with.
    """

    def __init__(self, key: bytes) -> None:
        self.key = key
        self._issued: dict[str, _Issued] = {}
        self._companions: dict[str, tuple[str, ...]] = {}

    def sign(self, prefix: Prefix, text: str) -> str:
        """Issue a signature for a thinking block that comes next behind a prefix."""
        chain = tuple(prefix.chain)
        seal = hmac.new(self.key, prefix.seal(), "sha256")
        seal.update(msgspec.json.encode([text, chain]))
        signature = base64.b64encode(seal.digest() * 2).decode()
        self._issued[signature] = _Issued(text, prefix.seal(), chain)
        prefix.chain.append(signature)
        return signature

    def keep_together(self, signatures: Sequence[str]) -> None:
        """Remember that these blocks were issued in one answer."""
        for signature in signatures:
            self._companions[signature] = tuple(signatures)

    def companions(self, signature: str) -> tuple[str, ...]:
        """All signatures of the answer that one was issued in."""
        return self._companions.get(signature, (signature,))

    def read(
        self, body: Mapping[str, Any], *, dropping: bool, bound: bool
    ) -> tuple[list[Bound], Prefix]:
        """Walk a request and judge each thinking block in it.

        Args:
            body: the request.
            dropping: a block that fails is taken out before those behind it are judged.
            bound: whether the model checks the prefix at all.

        Returns:
            The blocks, and the prefix that the next block will stand behind.
        """
        prefix = Prefix(self.key, body)
        found: list[Bound] = []
        for index, message in enumerate(body["messages"]):
            prefix.turn(message["role"])
            for at, block in enumerate(blocks(message)):
                if block.get("type") not in THINKING:
                    prefix.block(block)
                    continue
                signature, text = _read(block)
                verdict = self._judge(prefix, signature, text, bound=bound)
                found.append(Bound(index, at, signature, verdict))
                if not (dropping and verdict == "moved"):
                    prefix.chain.append(signature)
        return found, prefix

    def _judge(self, prefix: Prefix, signature: str, text: str, *, bound: bool) -> Verdict:
        issued = self._issued.get(signature)
        if issued is None:
            return "unknown"
        if issued.text != text:
            return "edited"
        if not bound:
            return "fine"
        before = tuple(prefix.chain)
        # A leading run of thinking may be gone, oldest first: what is left is the chain's end.
        ends = not before or issued.chain[-len(before) :] == before
        return "fine" if ends and issued.prefix == prefix.seal() else "moved"


def blocks(message: Mapping[str, Any]) -> Iterator[Block]:
    """Read the blocks of a message; a string is one text block."""
    content = message["content"]
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    else:
        yield from content


def _read(block: Block) -> tuple[str, str]:
    """The signature and the text of a thinking block; a redacted one is its own signature."""
    if block["type"] == "redacted_thinking":
        return block["data"], ""
    return block["signature"], block["thinking"]


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            key: _canonical(one)
            for key, one in value.items()
            if key != "cache_control" and one is not None
        }
    if isinstance(value, list):
        return [_canonical(one) for one in value]
    return value
