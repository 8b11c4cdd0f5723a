"""Facts: all that a decision reads of a message, and nothing of what it says.

Knows: roles, the kinds of links between messages, ids, states. Small, frozen, cheap to make and to
store beside a row, so that one planner serves a list in memory and a session of which only the
facts were fetched.

Must not know: text, payloads, formats, providers. Formats compute facts; pairing, grouping and
planning read them.
"""

from __future__ import annotations

from typing import Final

import msgspec

__all__ = [
    "ANSWER",
    "ASSISTANT",
    "ASSISTANT_FACTS",
    "CALL",
    "CHILD",
    "CLIENT_FAMILIES",
    "FINAL",
    "FUNCTION",
    "INTERIM",
    "OTHER",
    "OTHER_FACTS",
    "PROVIDER_FAMILIES",
    "REJECTED",
    "REQUEST",
    "RESULT",
    "SYSTEM",
    "SYSTEM_FACTS",
    "TOOL",
    "USER",
    "USER_FACTS",
    "Facts",
    "Link",
    "facts_with",
]

# Roles. Not the provider's word but what the message does in the conversation: `user` is a message
# with something a person (or the caller) says in it; `tool` holds nothing but answers to calls,
# whatever role its format gives it; `other` is a row that no model sees.
SYSTEM: Final = "system"
USER: Final = "user"
ASSISTANT: Final = "assistant"
TOOL: Final = "tool"
OTHER: Final = "other"

# Kinds of links.
CALL: Final = "call"  # asks for a result
RESULT: Final = "result"  # answers a call
REQUEST: Final = "request"  # asks a person to approve a call
ANSWER: Final = "answer"  # the person's decision
CHILD: Final = "child"  # belongs to an earlier call or request and asks for nothing itself

# States of a result or an answer, and of a call that is interim itself.
FINAL: Final = "final"
# "Still running": binds to the call and leaves it open. Of a call: it waits for a person.
INTERIM: Final = "interim"
REJECTED: Final = "rejected"  # a refusal: no result will come

# The family of ordinary tool calls; nearly every call is one.
FUNCTION: Final = "function"
# Families that the client runs itself. Providers were seen to take a result of one of them for a
# call of another with the same id (a tool_search_call answered by a function_call_output).
CLIENT_FAMILIES: Final = (
    FUNCTION,
    "custom_tool",
    "tool_search",
    "shell",
    "local_shell",
    "apply_patch",
    "computer",
)
# Families of calls that the provider runs, and answers inside of its own turn.
PROVIDER_FAMILIES: Final = ("server", "mcp")


class Link(msgspec.Struct, frozen=True, gc=False):
    """One end of a tie between two messages.

    `id` is the id that pairs; `None` where the format gives none, then `name` and order pair.
    `alias` is a second id under which the same end is known: a local shell call's item id, the
    call embedded in an approval request. Links stand in the order of the parts they come from.

    >>> Link("call", "function", "call_1", "search").key
    'call_1'
    >>> Link("call", "custom", "call_1").key
    ('custom', 'call_1')
    """

    kind: str
    family: str
    id: str | None
    name: str | None = None
    alias: str | None = None
    state: str = FINAL

    @property
    def key(self) -> str | tuple[str, str | None]:
        """What the two ends have in common."""
        # Nearly every call is a function call; a bare string saves a tuple on each of them.
        return self.id if self.family == FUNCTION and self.id else (self.family, self.id)


class Facts(msgspec.Struct, frozen=True, gc=False):
    """What decisions read of one message.

    Nearly every link is an ordinary call or the final answer to one; a message that holds nothing
    else says so by ids alone, in `asks` or `answers`. Any other message lists its `links`.
    `reasoning` is true for a message that holds reasoning and nothing else, which is bound to what
    the model said next.

    >>> Facts("assistant", asks=("c1",)).ends[0]
    Link(kind='call', family='function', id='c1', name=None, alias=None, state='final')
    """

    role: str
    links: tuple[Link, ...] = ()
    asks: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    reasoning: bool = False

    @property
    def ends(self) -> tuple[Link, ...]:
        """Every link, in the order of the parts."""
        if self.asks:
            return tuple([Link(CALL, FUNCTION, one) for one in self.asks])
        if self.answers:
            return tuple([Link(RESULT, FUNCTION, one) for one in self.answers])
        return self.links

    @property
    def linked(self) -> bool:
        """Whether the message is tied to others at all."""
        return bool(self.asks or self.answers or self.links)

    @property
    def calls(self) -> bool:
        """Whether the message asks for results."""
        return bool(self.asks) or any(link.kind == CALL for link in self.links)


def facts_with(role: str, links: tuple[Link, ...], *, reasoning: bool = False) -> Facts:
    """Make facts from links, by ids alone where that says it all.

    >>> facts_with("tool", (Link("result", "function", "c1"),))
    Facts(role='tool', links=(), asks=(), answers=('c1',), reasoning=False)
    """
    if not links:
        return Facts(role, reasoning=reasoning)
    kind = links[0].kind
    ids: list[str] = []
    for link in links:
        plain = link.family == FUNCTION and link.state == FINAL and link.alias is None
        if not plain or link.kind != kind or link.id is None or kind not in {CALL, RESULT}:
            return Facts(role, links, reasoning=reasoning)
        ids.append(link.id)
    if kind == CALL:
        return Facts(role, (), tuple(ids), reasoning=reasoning)
    return Facts(role, (), (), tuple(ids), reasoning=reasoning)


# Messages without links are alike to every decision; sharing one value for each role makes the
# common message free.
SYSTEM_FACTS: Final = Facts(SYSTEM)
USER_FACTS: Final = Facts(USER)
ASSISTANT_FACTS: Final = Facts(ASSISTANT)
OTHER_FACTS: Final = Facts(OTHER)
