"""The slice on any history: the longest suffix that can stand, and symfonic's own where that can.

`window_of_9_12` says in a few lines what symfonic-core 9.12.0 does with well-formed histories. Its
window may begin with a call that waits, which the next slice takes away; so it is asked again until
nothing changes.
"""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstitch.integrations.symfonic import log_history_trim, pair_aware_history_slice
from lockstitch.integrations.symfonic.history_trim import _checked, _dropped
from lockstitch.testing import assistant, call, result, system, user

IDS = st.sampled_from("abc")
MESSAGES = st.one_of(
    st.builds(user, st.just("?")),
    st.builds(assistant, st.just("well")),
    st.builds(system, st.just("s")),
    st.lists(IDS, min_size=1, max_size=3).map(lambda ids: call(*ids)),
    IDS.map(lambda id_: result(id_, "ok")),
)
ANY = st.lists(MESSAGES, max_size=12)
CAPS = st.integers(1, 14)


@st.composite
def well_formed(draw):
    """Whole rounds, with ids that are fresh or come back, and perhaps a batch that still waits."""
    history = []
    for number in range(draw(st.integers(0, 6))):
        history.append(draw(st.sampled_from([user("?"), assistant("well"), system("s")])))
        wide = draw(st.integers(0, 3))
        if wide:
            ids = [f"{draw(st.sampled_from(['c', number]))}-{at}" for at in range(wide)]
            history.append(call(*ids))
            history += [result(id_, "ok") for id_ in draw(st.permutations(ids))]
    if draw(st.booleans()):
        history += [call("p", "q"), result("q", "ok")][: draw(st.integers(1, 2))]
    return [dict(message) for message in history]


def window_of_9_12(history, cap):
    kept = history[-cap:]
    answered = {message.get("tool_call_id") for message in kept}
    while kept and any(one not in answered for one in asked(kept[0])):
        kept = kept[1:]
    while kept and kept[0]["role"] == "tool":
        kept = kept[1:]
    return kept


def asked(message):
    return [one["id"] for one in message.get("tool_calls") or ()]


def stands(window):
    """Say whether calls and their results stand right behind each other; the last may wait."""
    waiting = []
    for at, message in enumerate(window):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return False
            waiting.remove(message["tool_call_id"])
            continue
        ids = asked(message)
        if waiting or len(set(ids)) < len(ids):
            return False
        waiting = ids
        if at == 0 and ids and not set(ids) <= {one.get("tool_call_id") for one in window[1:]}:
            return False
    return True


def opens(window):
    spoken = [message["role"] for message in window if message["role"] != "system"]
    return spoken[:1] == ["user"]


def longest(history, cap, fits):
    suffixes = (history[at:] for at in range(max(0, len(history) - cap), len(history)))
    return next((window for window in suffixes if fits(window)), [])


def same(one, other):
    return [id(message) for message in one] == [id(message) for message in other]


@given(well_formed(), CAPS)
def test_a_well_formed_history_gives_symfonics_window(history, cap):
    theirs = window_of_9_12(history, cap)
    while not same(theirs, again := window_of_9_12(theirs, cap)):
        theirs = again
    assert same(pair_aware_history_slice(history, cap), theirs)


@given(ANY, CAPS)
def test_any_history_gives_the_longest_suffix_that_can_stand(history, cap):
    history = [dict(message) for message in history]
    assert same(pair_aware_history_slice(history, cap), longest(history, cap, stands))


@given(ANY, CAPS)
def test_a_suffix_that_the_user_opens_is_the_longest_of_those(history, cap):
    history = [dict(message) for message in history]
    found = pair_aware_history_slice(history, cap, start="user")
    assert same(found, longest(history, cap, lambda window: stands(window) and opens(window)))


@given(ANY, CAPS, st.sampled_from(["any", "user"]))
def test_a_slice_of_a_slice_is_the_same_and_a_larger_cap_keeps_no_less(history, cap, start):
    found = pair_aware_history_slice(history, cap, start=start)
    assert same(pair_aware_history_slice(found, cap, start=start), found)
    assert len(pair_aware_history_slice(history, cap + 1, start=start)) >= len(found)


@given(ANY, CAPS, st.sampled_from(["any", "user"]))
def test_older_messages_that_stand_in_are_a_stretch_under_the_cap(history, cap, start):
    history = [dict(message) for message in history]
    found = pair_aware_history_slice(history, cap, start=start, otherwise="older")
    assert len(found) <= cap
    if not found:
        return
    at = next(at for at, message in enumerate(history) if message is found[0])
    assert same(found, history[at : at + len(found)])
    assert start == "any" or opens(found)
    # A call that waits may stand alone here, and only at the end.
    ended = at + len(found) == len(history)
    assert stands([user("?"), *found]) if ended else stands([*found, user("?")])


@given(ANY, CAPS)
def test_a_window_over_the_cap_is_the_shortest_suffix_that_can_stand(history, cap):
    history = [dict(message) for message in history]
    within = pair_aware_history_slice(history, cap)
    found = pair_aware_history_slice(history, cap, otherwise="smallest")
    suffixes = [history[at:] for at in reversed(range(len(history)))]
    shortest = next((one for one in suffixes if stands([user("?"), *one])), [])
    assert same(found, within or shortest)


@given(ANY, st.integers(-1, 14), st.sampled_from(["empty", "older", "smallest"]))
def test_what_is_told_of_a_slice_is_all_that_it_drops(history, cap, otherwise):
    history = [dict(message) for message in history]
    found = pair_aware_history_slice(history, cap, otherwise=otherwise)
    begin = next((at for at, one in enumerate(history) if found and one is found[0]), len(history))
    end = begin + len(found)
    told = _dropped(history, _checked(cap, "any", otherwise, None), begin, end)
    gone = [at for start, stop, _ in told for at in range(start, stop)]
    assert gone == [*range(begin), *range(end, len(history))]


# --- time -----------------------------------------------------------------------------------------

SHAPES = {
    "rounds": lambda n: [call("c"), result("c", "ok")] * n,
    "calls without results": lambda n: [call(f"c{at}") for at in range(n)],
    "results without calls": lambda n: [result(f"c{at}", "ok") for at in range(n)],
    "results before their calls": lambda n: (
        [result(f"c{at}", "ok") for at in range(n)] + [call(f"c{at}") for at in range(n)]
    ),
    "a wide batch": lambda n: (
        [call(*(f"c{at}" for at in range(n)))] + [result(f"c{at}", "ok") for at in range(n)]
    ),
    "a wide batch with its results before it": lambda n: (
        [result(f"c{at}", "ok") for at in range(n)] + [call(*(f"c{at}" for at in range(n)))]
    ),
    "a wide batch of one id": lambda n: [call(*["c"] * n)] + [result("c", "ok")] * n,
    "an orphan behind every answer": lambda n: [assistant("well"), result("c", "ok")] * n,
}


def steps(work):
    """Count the functions that are called while something is done."""
    count = 0

    def seen(frame, event, argument):
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("otherwise", ["empty", "older", "smallest"])
@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_the_steps_of_a_slice_grow_with_the_history_and_no_faster(shape, otherwise, share):
    def sliced(n):
        history = shape(n)
        cap = max(2, int(len(history) * share))
        return steps(lambda: pair_aware_history_slice(history, cap, otherwise=otherwise))

    # A hundred steps are made for any history; what is squared would be sixteen times as much.
    assert sliced(1_600) <= 4.5 * sliced(400) + 100


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_steps_of_the_log_grow_with_the_history_and_no_faster(shape, caplog):
    caplog.set_level("INFO", logger="lockstitch")

    def logged(n):
        history = shape(n)
        return steps(lambda: log_history_trim(history, len(history) // 2))

    assert logged(1_600) <= 4.5 * logged(400) + 100


def test_the_steps_of_a_slice_follow_the_cap_and_not_the_history():
    def sliced(n):
        history = SHAPES["rounds"](n)
        return steps(lambda: pair_aware_history_slice(history, 50))

    assert sliced(20_000) <= sliced(200) + 10
