"""The oracles are a module of this folder, which pytest does not put on the path by itself."""

import sys
from pathlib import Path

import pytest

from lockstitch.rules import repair
from lockstitch.rules.account import LOSSLESS
from lockstitch.rules.mends import MENDS

sys.path.insert(0, str(Path(__file__).parent))


def state(draft):
    """Everything of a draft that is sent or told, with what stands where."""
    natives = [id(entry.native) for entry in draft.entries]
    return natives, len(draft.changes), draft.system[:], dict(draft.request), dict(draft.names)


@pytest.fixture
def watched(monkeypatch):
    """Let every mend be watched: it must say whether it changed anything, and tell what."""

    def watch(kind, mend):
        def watching(draft, breach):
            before, kept = state(draft), [entry.native for entry in draft.entries]
            said = mend(draft, breach)
            # What came back along with something else is mended, and nothing is left to do.
            changed = state(draft) != before or (said and kind == "restore")
            assert bool(said) is changed, f"{kind} of {breach.rule.check} at {kept}"
            for change in draft.changes[before[1] :]:
                # What may be forbidden is told under its own name.
                assert change.kind == kind or change.kind in LOSSLESS
                assert change.message
                assert change.rule == breach.rule.id
            return said

        return watching

    table = {
        check: {kind: watch(kind, mend) for kind, mend in kinds.items()}
        for check, kinds in MENDS.items()
    }
    monkeypatch.setattr(repair, "MENDS", table)
