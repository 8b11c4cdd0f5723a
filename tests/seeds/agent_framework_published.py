"""Our groups beside those of the installed agent-framework, over random histories.

    python tests/seeds/agent_framework_published.py [COUNT]

Where the package splits nothing that belongs together by occurrence, ours are its groups, message
by message; where it does, ours split nothing. What belongs together is found by the plain reference
that pairing is tested against, not by pairing itself. Prints the counts; exits 1 on a difference.
"""

from __future__ import annotations

import copy
import random
import sys
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "property"))

from agent_framework import Content, Message
from agent_framework import __version__ as version
from agent_framework._compaction import group_messages as published
from reference_pairing import Reference

from lockstitch.formats import get_format
from lockstitch.integrations.agent_framework import group_messages

COUNT = 10_000
IDS = ("a", "b", "c", "d")


def contents(chance, role, fresh):
    """Draw what one message holds."""
    if role in {"system", "developer"}:
        return [Content.from_text("be brief")]
    if role == "user":
        if chance.random() < 0.1:
            return [decision(chance)]
        return [answer(chance)] if chance.random() < 0.05 else [Content.from_text("go on")]
    if role == "tool":
        return [answer(chance) for _ in range(chance.choice((1, 1, 1, 2, 3)))]
    shape = chance.choice(("text", "text", "calls", "calls", "calls", "thought", "mixed", "hosted"))
    thought = Content.from_text_reasoning(text="hm", protected_data="gAAAAAB")
    if shape == "thought":
        return [thought]
    if shape == "hosted":
        return hosted(chance)
    found = [thought] if chance.random() < 0.2 else []
    if shape != "calls":
        found.append(Content.from_text("let me see"))
    if shape == "calls":
        names = [fresh() for _ in range(chance.choice((1, 1, 1, 2, 3)))]
        found += [Content.from_function_call(name, "f", arguments="{}") for name in names]
        if chance.random() < 0.1:
            found.append(Content.from_function_approval_request(f"r-{names[0]}", found[-1]))
    elif shape == "mixed" and chance.random() < 0.3:
        found.append(answer(chance))
    return found


def answer(chance):
    """Draw the result of some call; its call may be anywhere, or nowhere."""
    name = chance.choice(IDS) if chance.random() < 0.5 else f"call_{chance.randrange(12)}"
    if chance.random() < 0.1:
        return Content.from_mcp_server_tool_result(name, output="ok")
    return Content.from_function_result(name, result="ok")


def decision(chance):
    """Draw a decision about some request."""
    name = chance.choice(IDS)
    call = Content.from_function_call(name, "f", arguments="{}")
    return Content.from_function_approval_response(chance.random() < 0.7, f"r-{name}", call)


def hosted(chance):
    """Draw a call that the provider runs, with or without its result beside it."""
    name = chance.choice(IDS)
    call = Content.from_mcp_server_tool_call(name, "find")
    done = Content.from_mcp_server_tool_result(name, output="ok")
    return [call, done] if chance.random() < 0.6 else [call]


def history(chance):
    """Draw a history: rounds as clients make them, with all that stores have been seen to hold."""
    made = 0

    def fresh():
        nonlocal made
        made += 1
        return f"call_{made}" if tame or chance.random() < 0.6 else chance.choice(IDS)

    tame = chance.random() < 0.5
    messages = []
    for _ in range(chance.randrange(1, 16)):
        kinds = ("user", "assistant", "assistant", "assistant", "system")
        role = chance.choice(kinds if tame else (*kinds, "tool", "tool", "developer"))
        held = contents(chance, role, fresh)
        if tame and role == "user":
            held = [Content.from_text("go on")]
        messages.append(Message(role, held))
        asked = [one.call_id for one in held if one.type == "function_call"]
        if role == "assistant" and chance.random() < (0.95 if tame else 0.6):
            for name in asked:
                if chance.random() < 0.2:
                    messages.append(Message("user", ["meanwhile"]))
                messages.append(Message("tool", [Content.from_function_result(name, result="ok")]))
    return messages


def names_of(spans):
    """Return the group of each message, as the place of its first one."""
    first, names = {}, []
    for span in spans:
        name = first.setdefault(span["group_id"], span["start_index"])
        names += [name] * (span["end_index"] - span["start_index"] + 1)
    return names


def belongs(messages):
    """Return what belongs together: pairs of positions, by occurrence and by reasoning."""
    read = get_format("agent-framework").facts
    bound = list(Reference([read(message) for message in messages]).edges)
    for at in range(1, len(messages)):
        before, now = messages[at - 1], messages[at]
        kinds = {content.type for content in before.contents}
        calls = kinds & {"function_call", "mcp_server_tool_call"}
        if "text_reasoning" in kinds and not calls and before.role == now.role == "assistant":
            bound.append((at - 1, at))
    return bound


def compare(count):
    """Compare groups over some histories; return the counts and what differs."""
    counts, differences = Counter(), []
    for seed in range(count):
        messages = history(random.Random(seed))
        before = [message.to_dict() for message in messages]
        spans = group_messages(messages)
        ours = names_of(spans)
        if [message.to_dict() for message in messages] != before:
            differences.append((seed, "a message was written into"))
        other = published(copy.deepcopy(messages))
        theirs = names_of(other)
        bound = belongs(messages)
        counts["histories"] += 1
        counts["messages"] += len(messages)
        if any(ours[one] != ours[two] for one, two in bound):
            differences.append((seed, "ours split what belongs together"))
        if [span["kind"] for span in spans] != [span["kind"] for span in other]:
            differences.append((seed, "other kinds"))
        if any(theirs[one] != theirs[two] for one, two in bound):
            counts["split by the package"] += 1
            continue
        counts["whole in the package"] += 1
        if ours != theirs:
            differences.append((seed, f"{ours} and not {theirs}"))
        elif [one["has_reasoning"] for one in spans] != [one["has_reasoning"] for one in other]:
            differences.append((seed, "other reasoning"))
        else:
            counts["equal"] += 1
    return counts, differences


def main():
    """Compare, and print what it came to."""
    warnings.simplefilter("ignore", FutureWarning)
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    counts, differences = compare(count)
    print(f"agent-framework-core {version}: groups of {counts['histories']:,} random histories")
    for name in ("messages", "whole in the package", "equal", "split by the package"):
        print(f"  {name}: {counts[name]:,}")
    print(f"  different: {len(differences):,}")
    for seed, what in differences[:20]:
        print(f"  history {seed}: {what}")
    return 1 if differences else 0


if __name__ == "__main__":
    raise SystemExit(main())
