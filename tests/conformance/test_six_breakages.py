"""The histories, the six breakages and the judge of `make bench-validity`, held to their word.

The judge shares no code with the library, so what it says of our own repair is a second opinion.
"""

import importlib
from pathlib import Path
from random import Random

import pytest

import lockstitch

BENCH = Path(__file__).resolve().parents[2] / "bench"
IDS = pytest.mark.parametrize("reused", [False, True], ids=["unique ids", "reused ids"])
BREAKAGES = pytest.mark.parametrize(
    "breakage",
    [
        "result deleted",
        "call deleted",
        "duplicate result",
        "result after a later user message",
        "user message between call and result",
        "result before call",
    ],
)
HISTORIES = 20

pytestmark = pytest.mark.skipif(not BENCH.is_dir(), reason="a source archive has no bench folder")


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module


def _breach(bench, messages):
    skeletons = bench("convert").chat_skeletons(messages)
    return bench("judge").first_breach(skeletons)


@IDS
@pytest.mark.parametrize("mid_run", [False, True])
def test_the_judge_takes_a_whole_history(bench, reused, mid_run):
    short = bench("short_histories")
    for seed in range(HISTORIES):
        rng = Random(seed)  # noqa: S311 - seeded test data
        history = short.whole(rng, reused=reused, mid_run=mid_run)
        assert not _breach(bench, history)
        assert lockstitch.check(history, profile="portable", tail="closed").ok


@IDS
@BREAKAGES
def test_the_judge_refuses_a_broken_history_and_takes_it_repaired_with_all_that_it_held(
    bench, breakage, reused
):
    short = bench("short_histories")
    for seed in range(HISTORIES):
        rng = Random(seed)  # noqa: S311 - seeded test data
        whole = short.whole(rng, reused=reused, mid_run=False)
        broken = short.BREAKAGES[breakage](rng, whole)
        assert _breach(bench, broken)
        mended = lockstitch.repair(broken)
        assert not _breach(bench, mended.messages)
        assert not short.marks(broken) - short.marks(mended.messages)


@pytest.mark.parametrize(
    ("window", "breach"),
    [
        (["call a", "result a", "call a", "result a"], ""),
        (["call a", "call b", "result b", "result a"], ""),
        (["result a", "call a"], "orphan result"),
        (["call a", "result a", "result a"], "orphan result"),
        (["call a"], "unanswered call"),
    ],
)
def test_the_judge_of_items_asks_for_order_and_number_and_not_for_nearness(bench, window, breach):
    judge = bench("judge")
    made = []
    for item in window:
        kind, id_ = item.split()
        if kind == "call":
            made.append(judge.Skeleton("assistant", calls=(id_,)))
        else:
            made.append(judge.Skeleton("tool", answers=id_))
    assert judge.first_breach_of_items(made) == breach
