"""Asking for a summary: prompts, answers that are none, attempts, pieces."""

import asyncio

import pytest

import lockstitch as ls
from lockstitch.plan import Line, PendingSummary
from lockstitch.strategies.asking import SummaryPrompt, answered, answered_async, asking


def ask(what, summarizer, attempts):
    return answered(asking(what, attempts), summarizer)


def ask_async(what, summarizer, attempts):
    return answered_async(asking(what, attempts), summarizer)


def pending(lines=(), **options):
    fields = {
        "covers": ((0, 2),),
        "position": 0,
        "numbers": ((1, 2),),
        "groups": tuple((line,) for line in lines or [Line("user", "Fix the login.")]),
        "size": 900,
        "max_chars": 500,
    }
    return PendingSummary(**{**fields, **options})


def test_a_prompt_says_what_is_wanted_and_what_was_said():
    lines = [
        Line("user", "Fix the login."),
        Line("thought", "where is it?"),
        Line("call", '{"path": "auth.py"}', "read"),
        Line("result", "no such file", "read", failed=True),
        Line("other", "image of 5 characters"),
        Line("assistant", "It is gone."),
    ]
    (prompt,) = heard(pending(lines, instructions="Mind the tests."))
    assert "At most 463 characters." in prompt
    assert "Mind the tests." in prompt.instructions
    assert prompt.room == 463
    assert prompt.lines == tuple(lines)
    assert prompt.endswith(
        "User: Fix the login.\nAssistant thought: where is it?\n"
        'Assistant called read({"path": "auth.py"})\n'
        "Result of read (failed): no such file\n[image of 5 characters]\nAssistant: It is gone."
    )


def heard(what, answers=("It is fixed.",)):
    """Return the prompts that are made while some answers are given."""
    prompts, left = [], list(answers)

    def summarizer(prompt):
        prompts.append(prompt)
        return left.pop(0) if len(left) > 1 else left[0]

    ask(what, summarizer, 2)
    return prompts


def test_the_summary_so_far_is_handed_on():
    (prompt,) = heard(pending(previous="The login was broken."))
    assert prompt.previous == "The login was broken."
    assert "So far: The login was broken." in prompt


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "it is blank"),
        (" \n ", "it is blank"),
        ("x" * 464, "it has 464 characters, 463 are free"),
        ("I'm sorry, but I can't help with that.", "it is a refusal"),
        ("I cannot do that", "it is a refusal"),
        ("As an AI, I have no view.", "it is a refusal"),
        (None, "it is no text but NoneType"),
        ({"text": "so"}, "it is no text but dict"),
    ],
)
def test_what_is_no_summary_is_asked_for_once_more_and_then_given_up(answer, why):
    prompts = []

    def summarizer(prompt):
        prompts.append(prompt)
        return answer

    with pytest.raises(ls.SummaryFailed, match=why) as caught:
        ask(pending(), summarizer, 2)
    assert caught.value.attempts == 2
    assert caught.value.brief == why
    assert len(prompts) == 2
    assert "could not be used" not in prompts[0]
    assert f"The last answer could not be used: {why}." in prompts[1]


def test_an_answer_that_repeats_the_prompt_is_none():
    with pytest.raises(ls.SummaryFailed, match="it repeats what was asked"):
        ask(pending(max_chars=5_000), str, 1)


def test_the_second_answer_may_be_better():
    assert ask(pending(), answers("", " So it is. "), 2) == "So it is."


def answers(*given):
    left = list(given)
    return lambda _: left.pop(0)


def test_what_a_summarizer_raises_is_the_cause_and_stays_out_of_the_brief():
    def summarizer(prompt):
        raise ConnectionError("the words of the user")

    with pytest.raises(ls.SummaryFailed, match=r"asked 2 times .* the words of the user") as caught:
        ask(pending(), summarizer, 2)
    assert isinstance(caught.value.__cause__, ConnectionError)
    assert caught.value.brief == "it raised ConnectionError"


def test_one_failure_is_forgotten_when_the_next_answer_is_good():
    left = [ConnectionError("down"), "Fixed."]

    def summarizer(prompt):
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert ask(pending(), summarizer, 2) == "Fixed."


def test_a_cause_is_that_of_the_last_attempt_alone():
    left = [ConnectionError("down"), ""]

    def summarizer(prompt):
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    with pytest.raises(ls.SummaryFailed, match="it is blank") as caught:
        ask(pending(), summarizer, 2)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_who_wants_to_stop_is_not_held_up(stop):
    def summarizer(prompt):
        raise stop

    with pytest.raises(stop):
        ask(pending(), summarizer, 2)


@pytest.mark.parametrize("most", [100, 120, 200, 500, 900])
def test_no_prompt_is_larger_than_allowed_and_nothing_is_left_out(most):
    words = [f"word{at:03}" for at in range(120)]
    lines = [Line("user", " ".join(words[at : at + 12])) for at in range(0, 120, 12)]
    prompts = []

    def summarizer(prompt):
        prompts.append(prompt)
        return "so far"

    assert ask(pending(lines, max_input_chars=most), summarizer, 2) == "so far"
    assert max(map(len, prompts)) <= most
    told = "".join(line.words() for prompt in prompts for line in prompt.lines)
    bare = told.replace("[", "").replace("]", "").replace("User: ", "").replace(" ", "")
    assert bare == "".join(words)
    assert [prompt.previous for prompt in prompts] == ["", *["so far"] * (len(prompts) - 1)]
    assert prompts[-1].room == 463
    assert all(prompt.room == min(463, most // 4) for prompt in prompts[:-1])


def test_a_summary_too_long_to_be_carried_along_goes_in_as_the_first_piece():
    prompts = heard(pending(previous="p" * 300, max_input_chars=400), ["short"])
    assert prompts[0].previous == ""
    assert "p" * 300 in "".join(line.text for prompt in prompts for line in prompt.lines)


def test_a_prompt_is_a_text():
    prompt = SummaryPrompt("Summarise this.")
    assert prompt == "Summarise this."
    assert (prompt.lines, prompt.previous, prompt.instructions, prompt.room) == ((), "", "", 0)


# --- awaited --------------------------------------------------------------------------------------


def test_a_summarizer_may_be_awaited_or_not():
    async def slow(prompt):
        await asyncio.sleep(0)
        return "Fixed."

    assert asyncio.run(ask_async(pending(), slow, 2)) == "Fixed."
    assert asyncio.run(ask_async(pending(), lambda _: "Fixed.", 2)) == "Fixed."


def test_awaited_failures_are_counted_the_same():
    async def broken(prompt):
        raise TimeoutError("too late")

    with pytest.raises(ls.SummaryFailed, match="too late") as caught:
        asyncio.run(ask_async(pending(), broken, 2))
    assert isinstance(caught.value.__cause__, TimeoutError)


def test_being_cancelled_is_no_failed_attempt():
    asked = []

    async def hangs(prompt):
        asked.append(prompt)
        await asyncio.sleep(60)
        return ""

    async def run():
        async with asyncio.timeout(0.01):
            await ask_async(pending(), hangs, 2)

    with pytest.raises(TimeoutError):
        asyncio.run(run())
    assert len(asked) == 1


def test_what_was_wrong_is_left_out_where_there_is_no_room_to_say_it():
    prompts = []
    with pytest.raises(ls.SummaryFailed):
        ask(pending([Line("user", "x" * 30)], max_input_chars=100), prompts_of(prompts), 2)
    assert len(prompts) == 2
    assert "could not be used" not in prompts[1]
    assert max(map(len, prompts)) <= 100


def prompts_of(prompts):
    return lambda prompt: prompts.append(prompt) or ""
