"""symfonic-core 9.12.0: its published history tests and its own slice, beside ours.

    tests       the published tests run with our functions in the place of theirs
    histories   10,000 random ones, sliced by both: equal where a provider takes theirs, and taken
                where theirs is refused

Prints what was drawn with which seed: symfonic_published.py [SEED]. Exits with 1 on a difference
that is not listed.
"""

import random
import secrets
import sys
import tempfile
from collections import Counter
from pathlib import Path

import published

PINNED = "symfonic-core==9.12.0"
SHA256 = "c717db2f8d98658dce2ae7c5b1bd99a4191e955b1e08867a5885acf76ae2a55b"
FILES = (
    "tests/agent/test_pair_aware_history_slice.py",
    "tests/agent/test_history_trim_telemetry.py",
    "tests/unit/agent/test_conversation_managers.py",
)
# A test that differs, and why; beside it goes a history with which theirs is refused.
LISTED = {}

HISTORIES = 10_000
# What differs from theirs, and why where it is not the provider's answer that says so.
ALONE = "waiting call alone -> empty"
NOTHING = "empty: nothing that ends it is taken"
SHOWN = {
    "refused -> a window": "",
    f"refused -> {NOTHING}": "",
    ALONE: "left over when a result before it went; sliced again theirs is empty too, and the next "
    "question behind it is refused",
}
# Calls and results are judged. Who may begin is the caller's choice, and adapters move system
# messages.
APART = frozenset({"first_not_user", "no_messages", "system_first", "system_in_list"}) | {
    "system_misplaced"
}


def main():
    unlisted = run_tests()
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else secrets.randbelow(10**9)
    wrong = compare(seed)
    sys.exit(bool(unlisted or wrong))


def run_tests():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        unpacked = published.sdist(PINNED, SHA256, folder)
        told, output = published.run([unpacked / file for file in FILES], "symfonic_plugin", folder)
    print(f"{PINNED}: published tests against lockstitch.integrations.symfonic")
    unlisted = published.table(told["tests"], LISTED)
    print("  calls of ours:", ", ".join(f"{name} {n}" for name, n in told["calls"].items()))
    if unlisted:
        print(output)
    idle = [name for name, count in told["calls"].items() if not count]
    if idle:
        print("  never called:", ", ".join(idle))
    return unlisted + idle


# --- random histories -----------------------------------------------------------------------------


def compare(seed):
    """Slice random histories both ways; return the cases that go against what is promised."""
    from symfonic.agent.engine import _pair_aware_history_slice as theirs

    from lockstitch.integrations.symfonic import pair_aware_history_slice as ours

    draw = random.Random(seed)
    counts, wrong, shown = Counter(), [], {}
    for number in range(HISTORIES):
        history = drawn(draw, damaged=number % 2 == 1)
        cap = draw.randint(1, len(history) + 2)
        found = judged(theirs(history, cap), ours(history, cap))
        counts[found] += 1
        if found.startswith("WRONG"):
            wrong.append(f"{found}: {spelled(history)} cap={cap}")
        elif found in SHOWN:
            kept = theirs(history, cap)
            told = f"{spelled(history)} cap={cap} -> {spelled(kept)}"
            shown.setdefault(found, f"{told}: {SHOWN[found] or refusal(answered(kept))}")
    print(f"\n{HISTORIES} random histories, seed {seed}: theirs -> ours")
    for found, count in sorted(counts.items()):
        print(f"  {count:6} {found}")
    for found, case in shown.items():
        print(f"  for example ({found}): {case}")
    for case in wrong[:20]:
        print(f"  {case}")
    if sum(counts.values()) != HISTORIES:
        wrong.append("a history was not counted")
    return wrong


def judged(their, our):
    same = [id(one) for one in their] == [id(one) for one in our]
    if our and refusal(answered(our)):
        return f"WRONG: ours is refused ({refusal(answered(our))})"
    if not their:
        return "empty -> empty" if same else "WRONG: theirs is empty, ours is not"
    if not refusal(their):
        return "taken -> the same" if same else "WRONG: theirs is taken, ours differs"
    if not refusal(answered(their)):
        if same:
            return "taken while tools run -> the same"
        # Cut again, theirs is empty: a waiting call that is first goes on the next pass.
        if calls(their[0]) and not our:
            return ALONE
        return "WRONG: theirs may wait, ours differs"
    return f"refused -> {'a window' if our else NOTHING}"


def answered(messages):
    """Give the newest calls the results that they still wait for, as the tools will."""
    at = next((i for i in reversed(range(len(messages))) if calls(messages[i])), len(messages))
    given = Counter(getattr(one, "tool_call_id", None) for one in messages[at:])
    waiting = Counter(calls(messages[at]) if at < len(messages) else ()) - given
    return [*messages, *(made("t", [one]) for one in waiting.elements())]


def calls(message):
    return [call["id"] for call in getattr(message, "tool_calls", [])]


def refusal(messages):
    """Return why a provider refuses messages, by Messages' rules and by those of every provider."""
    import lockstitch as ls
    from lockstitch.rules.catalog import RULES

    for profile in ("anthropic", "portable"):
        for violation in ls.check(messages, profile=profile, tail="closed").violations:
            if violation.severity == "error" and RULES[violation.rule].check not in APART:
                return f"{violation.rule} at {violation.index}"
    return ""


def drawn(draw, *, damaged):
    """Draw a history: whole rounds, or those with things taken out, moved, doubled, misnamed."""
    messages, fresh = [], iter(range(1_000))
    for _ in range(draw.randint(1, 7)):
        kind = draw.choice("uuasccp")
        if kind in "cp":
            wide = 1 if kind == "c" else draw.randint(2, 4)
            reused = draw.random() < 0.3
            ids = draw.sample("abcd", wide) if reused else [f"c{next(fresh)}" for _ in range(wide)]
            messages.append(made("a", ids))
            messages += [made("t", [one]) for one in draw.sample(ids, wide)]
        else:
            messages.append(made(kind, []))
    if not damaged:
        return messages
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(messages))
        match draw.choice(["drop", "move", "double", "orphan", "dangle"]):
            case "drop" if len(messages) > 1:
                del messages[at]
            case "move":
                messages.insert(draw.randrange(len(messages)), messages.pop(at))
            case "double":
                messages.insert(at, messages[at].model_copy())
            case "orphan":
                messages.insert(at, made("t", [draw.choice("abcd")]))
            case _:
                messages.insert(at, made("a", [draw.choice("abcd")]))
    return messages


def made(kind, ids):
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    match kind:
        case "u":
            return HumanMessage("?")
        case "s":
            return SystemMessage("Be brief.")
        case "t":
            return ToolMessage("ok", tool_call_id=ids[0])
    return AIMessage("well", tool_calls=[{"id": one, "name": "look", "args": {}} for one in ids])


def spelled(messages):
    """Spell messages shortly: U A(c) T(c)."""
    told = []
    for message in messages:
        named = ",".join(calls(message)) or getattr(message, "tool_call_id", "")
        letter = {"human": "U", "ai": "A", "system": "S", "tool": "T"}[message.type]
        told.append(f"{letter}({named})" if named else letter)
    return " ".join(told) or "nothing"


if __name__ == "__main__":
    main()
