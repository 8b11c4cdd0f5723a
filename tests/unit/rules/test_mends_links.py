"""Calls and results are brought together: where exactly each one ends up."""

import pytest

import lockstitch as ls
from lockstitch.rules.breach import Breach
from lockstitch.rules.catalog import RULES
from lockstitch.rules.check import view_of
from lockstitch.rules.draft import Draft
from lockstitch.rules.lookup import Lookup
from lockstitch.rules.mends import chat, content, links, restore
from lockstitch.rules.mends.links import NOTE, UNKNOWN
from lockstitch.rules.profiles import get_profile
from lockstitch.rules.record import Record
from lockstitch.rules.view import Finding
from lockstitch.testing.render import render
from lockstitch.testing.steps import Call, Calls, Result, Say, User
from lockstitch.writing import writer_for

PORTABLE = {"profile": "portable", "format": "openai-chat"}


def asked(*pairs):
    return Calls(tuple(Call(id, "look_up", {"number": number}) for id, number in pairs))


A, B = Result("a", "found a"), Result("b", "found b")
LOST = Result("a", UNKNOWN)
NOTED = User(f"{NOTE}\n\nfound a")


@pytest.mark.parametrize(
    ("broken", "mended", "kinds"),
    [
        # A result behind a user message, and a user message between.
        ([User(), asked(("a", 1)), User("x"), A], [User(), asked(("a", 1)), A, User("x")], "move"),
        # Before its call, and before a batch: it comes behind the results that are there.
        ([User(), A, asked(("a", 1))], [User(), asked(("a", 1)), A], "move"),
        (
            [User(), A, asked(("b", 1), ("a", 2)), B],
            [User(), asked(("b", 1), ("a", 2)), B, A],
            "move",
        ),
        # Lost: the call is answered, the result is noted, behind the results it stood among.
        ([User(), asked(("a", 1))], [User(), asked(("a", 1)), LOST], "synthesize"),
        (
            [User(), asked(("b", 1)), A, B, Say()],
            [User(), asked(("b", 1)), B, NOTED, Say()],
            "demote",
        ),
        # Twice: once is enough, and what the second one says beyond the first is kept.
        ([User(), asked(("a", 1)), A, A], [User(), asked(("a", 1)), A], "merge"),
        (
            [User(), asked(("a", 1)), A, Result("a", "more")],
            [User(), asked(("a", 1)), Result("a", "found a\n\nmore")],
            "merge",
        ),
        # One id in two rounds of a turn: what stands at a call is its result.
        (
            [User(), asked(("a", 1)), asked(("a", 2)), A, Say()],
            [User(), asked(("a", 1)), LOST, asked(("a", 2)), A, Say()],
            "synthesize",
        ),
        (
            [User(), asked(("a", 1)), asked(("a", 2)), A, User("x"), Result("a", "late")],
            [User(), asked(("a", 1)), Result("a", "late"), asked(("a", 2)), A, User("x")],
            "move",
        ),
        (
            [User(), asked(("a", 1)), Result("a", "one"), A, asked(("a", 2))],
            [User(), asked(("a", 1)), Result("a", "one"), asked(("a", 2)), A],
            "move",
        ),
        # The double of the first is not taken for the result of the second.
        (
            [User(), asked(("a", 1)), A, A, asked(("a", 2))],
            [User(), asked(("a", 1)), A, asked(("a", 2)), LOST],
            "merge synthesize",
        ),
    ],
)
def test_every_breakage_has_one_outcome(broken, mended, kinds):
    done = ls.repair(render(broken, "openai-chat"), **PORTABLE)
    assert done.messages == render(mended, "openai-chat")
    assert " ".join(change.kind for change in done.changes) == kinds


def test_one_orphan_at_one_open_call_is_given_its_id():
    broken = render([User(), asked(("b", 1)), A, Say()], "openai-chat")
    done = ls.repair(broken, **PORTABLE)
    assert done.messages[2] == {**broken[2], "tool_call_id": "b"}
    assert [(one.kind, one.path, one.before) for one in done.changes] == [
        ("rename", "messages[2].content", broken[2])
    ]


def test_results_in_one_message_go_each_to_their_call_and_leave_the_rest():
    steps = [User(), asked(("a", 1), ("b", 2)), User("wait"), A, B, Say()]
    broken = render(steps, "anthropic", "packed")
    done = ls.repair(broken, profile="anthropic", format="anthropic")
    assert [block["type"] for block in done.messages[2]["content"]] == [
        "tool_result",
        "tool_result",
        "text",
    ]
    assert [change.kind for change in done.changes] == ["move"]
    assert done.origins == (0, 1, 2, 3)


@pytest.mark.parametrize("format", ["openai-chat", "mistral", "langchain"])
def test_with_the_record_a_lost_result_comes_back_as_it_was(format):
    whole = [User(), asked(("a", 1)), A, Say(), User("x"), asked(("a", 2)), Result("a", "second")]
    record = render(whole, format)
    options = {"profile": "portable", "format": format, "record": record}
    for gone in (2, 6):
        mended = ls.repair(record[:gone] + record[gone + 1 :], **options)
        assert mended.messages == record
        assert [change.kind for change in mended.changes] == ["restore"]


def test_with_the_record_a_lost_call_comes_back_where_it_stood():
    whole = [User(), asked(("a", 1)), A, Say(), User("x"), asked(("a", 2)), Result("a", "second")]
    record = render(whole, "openai-chat")
    for gone in (1, 5):
        mended = ls.repair(record[:gone] + record[gone + 1 :], **PORTABLE, record=record)
        assert mended.messages == record
        assert [change.kind for change in mended.changes] == ["restore"]


def test_a_call_that_was_lost_from_a_batch_comes_back_into_it():
    record = render([User(), asked(("a", 1), ("b", 2)), A, B, Say()], "openai-chat")
    broken = render([User(), asked(("b", 2)), A, B, Say()], "openai-chat")
    mended = ls.repair(broken, **PORTABLE, record=record)
    assert mended.messages == record
    assert [(one.kind, one.before, one.after) for one in mended.changes] == [
        ("restore", broken[1], record[1])
    ]
    assert mended.changes[0].related == (1,)


def test_results_of_two_lost_calls_of_one_message_bring_it_back_once():
    record = render([User(), asked(("a", 1), ("b", 2)), A, B, Say()], "openai-chat")
    mended = ls.repair(record[:1] + record[2:], **PORTABLE, record=record)
    assert mended.messages == record
    assert mended.summary() == "1 restore"


@pytest.mark.parametrize(
    ("broken", "mended", "kinds"),
    [
        # What stands before a second call of its id and is no double of the first one is its own.
        (
            [User(), asked(("a", 1)), A, Result("a", "two"), asked(("a", 2))],
            [User(), asked(("a", 1)), A, asked(("a", 2)), Result("a", "two")],
            "move",
        ),
        # Of two calls it could go to it goes to the next; the other is answered.
        (
            [
                User(),
                asked(("a", 1)),
                A,
                Result("a", "two"),
                asked(("a", 2)),
                Say(),
                asked(("a", 3)),
            ],
            [
                *(User(), asked(("a", 1)), A, asked(("a", 2)), Result("a", "two"), Say()),
                *(asked(("a", 3)), LOST),
            ],
            "move synthesize",
        ),
        # A double of the first, and one that the user parts from the call, stay.
        (
            [User(), asked(("a", 1)), A, A, asked(("a", 2))],
            [User(), asked(("a", 1)), A, A, asked(("a", 2)), LOST],
            "synthesize",
        ),
        (
            [User(), asked(("a", 1)), A, Result("a", "two"), User("x"), asked(("a", 2))],
            [User(), asked(("a", 1)), A, Result("a", "two"), User("x"), asked(("a", 2)), LOST],
            "synthesize",
        ),
    ],
)
def test_where_a_second_result_is_taken_it_may_be_that_of_a_later_call(broken, mended, kinds):
    done = ls.repair(render(broken, "openai-chat"), profile="deepseek", format="openai-chat")
    assert done.messages == render(mended, "openai-chat")
    assert " ".join(change.kind for change in done.changes) == kinds


def test_of_two_results_before_one_call_the_first_is_its_own():
    broken = [User(), A, Result("a", "two"), asked(("a", 1))]
    done = ls.repair(render(broken, "openai-chat"), **PORTABLE)
    noted = User(f"{NOTE}\n\ntwo")
    assert done.messages == render([User(), noted, asked(("a", 1)), A], "openai-chat")
    assert [change.kind for change in done.changes] == ["move", "demote"]


def test_an_early_result_whose_id_was_used_twice_does_not_pass_the_user():
    broken = [User(), A, User("x"), asked(("a", 1)), asked(("a", 2))]
    done = ls.repair(render(broken, "openai-chat"), **PORTABLE)
    assert [change.kind for change in done.changes] == ["demote", "synthesize", "synthesize"]


# --- what cannot help -----------------------------------------------------------------------------

PAIRED = [User(), asked(("a", 1)), A, User("x")]
ALL = [
    *(links.move_home, links.move_behind, links.take_back, links.answer, links.adopt, links.demote),
    *(links.merge_results, links.rename_call, links.rename_repeated, content.wrap_arguments),
    *(content.write_arguments, content.bring_back_seal, chat.hoist_media, chat.leave_out),
    *(restore.bring_back_call, restore.bring_back_result, restore.bring_back_user),
]


def tried(mend, steps, index, path, *, format="openai-chat", record=None):
    """Try one mend on one place; return whether it helped, and the draft."""
    transcript = ls.load(render(steps, format), format=format)
    profile = get_profile("portable")
    view = view_of(transcript, profile, tail="closed")
    draft = Draft(transcript, writer_for(format), profile)
    held = ls.load(render(steps if record is None else record, format), format=format)
    breach = Breach(
        rule=RULES["oc-tool-adjacent"],
        finding=Finding(index, "nothing", path),
        view=view,
        entries=draft.begin(),
        lookup=Lookup(view),
        record=Record(held, transcript),
    )
    return mend(draft, breach), draft


@pytest.mark.parametrize("mend", ALL, ids=lambda mend: mend.__name__)
def test_a_mend_of_calls_and_results_leaves_other_words_alone(mend):
    steps = [User("alone"), *PAIRED]
    helped, draft = tried(mend, steps, 0, "content[9]")
    assert not helped
    assert draft.changes == []
    assert [entry.native for entry in draft.entries] == render(steps, "openai-chat")


@pytest.mark.parametrize("mend", [links.move_home, links.move_behind, links.merge_results])
def test_a_result_that_stands_at_its_call_is_not_moved(mend):
    helped, draft = tried(mend, PAIRED, 2, "content")
    assert helped is (mend is links.merge_results)
    assert len(draft.changes) == helped


def test_what_only_its_own_tool_could_say_is_not_made_up():
    screen = {"type": "computer_call", "id": "cu_1", "call_id": "c", "action": {}}
    transcript = ls.load([screen], format="openai-responses")
    profile = get_profile("openai-responses")
    view = view_of(transcript, profile, tail="closed")
    draft = Draft(transcript, writer_for("openai-responses"), profile)
    breach = Breach(
        rule=RULES["or-computer-call-needs-output"],
        finding=Finding(0, "nothing", view.place(0, 0)),
        view=view,
        entries=draft.begin(),
        lookup=Lookup(view),
    )
    assert not links.answer(draft, breach)
    assert draft.transcript().natives == [screen]


# --- the one call that an orphan can belong to ----------------------------------------------------


def chat(*ids, **more):
    asked = [
        {"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}} for one in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": asked, **more}


def tool(id_, **more):
    return {"role": "tool", "tool_call_id": id_, "content": f"found {id_}", **more}


GO, NEXT = {"role": "user", "content": "q"}, {"role": "user", "content": "next"}


@pytest.mark.parametrize(
    ("history", "adopted"),
    [
        ([GO, chat("a", "b", "c"), tool("a"), tool("b"), tool("z"), NEXT], {4: "c"}),
        ([GO, chat("a", "b", "c"), tool("z"), tool("a"), tool("b"), NEXT], {2: "c"}),
        ([GO, chat("a", "b", "c"), tool("a"), tool("z"), tool("b")], {3: "c"}),
        ([chat("a"), tool("z")], {1: "a"}),
        ([chat("a", "b"), tool("a"), tool("z")], {2: "b"}),
        # Two orphans, two open calls, another tool, a call of its own further on: no.
        ([GO, chat("a"), tool("y"), tool("z"), NEXT], {}),
        ([GO, chat("a", "b", "c"), tool("y"), tool("a"), tool("b"), tool("z"), NEXT], {}),
        ([GO, chat("a", "b"), tool("z"), NEXT], {}),
        ([GO, chat("a"), tool("z", name="g"), NEXT], {}),
        ([GO, chat("a"), tool("z", name="f"), NEXT], {2: "a"}),
        ([GO, chat("a"), tool("z"), chat("z"), NEXT], {}),
        # Other orphans, elsewhere, are no reason against it.
        ([GO, tool("y"), chat("a"), tool("z"), NEXT], {3: "a"}),
        ([GO, chat("a"), tool("z"), NEXT, tool("y")], {2: "a"}),
        ([GO, tool("z"), NEXT], {}),
        ([tool("z"), NEXT], {}),
    ],
)
def test_an_orphan_at_the_one_open_call_gets_its_id_where_there_is_no_choice(history, adopted):
    mended = ls.repair(history, **PORTABLE)
    renamed = {
        one.index: one.after["tool_call_id"] for one in mended.changes if one.kind == "rename"
    }
    assert renamed == adopted
