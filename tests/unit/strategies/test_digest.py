"""The digest: what it takes up, and what it gives up where there is no room."""

from lockstitch.plan import Line
from lockstitch.strategies import digest
from lockstitch.strategies.asking import SummaryPrompt

LINES = [
    Line("user", "Fix the login. Never touch the tests. Use PostgreSQL only."),
    Line("call", '{"path": "src/auth.py"}', "read"),
    Line("result", "def login(): ...", "read"),
    Line("assistant", "I decided to rewrite it because the old one leaks. Next I run it."),
    Line("call", '{"cmd": "pytest tests/test_auth.py"}', "run"),
    Line("result", "1 failed", "run", failed=True),
    Line("assistant", "One test fails."),
]


def made(lines=LINES, room=2_000, previous=""):
    return digest(SummaryPrompt("", lines=lines, room=room, previous=previous))


def test_it_says_what_was_asked_laid_down_decided_run_touched_and_failed():
    assert made() == (
        "Laid down by the user:\n- Never touch the tests.\n- Use PostgreSQL only.\n"
        "Asked:\n- Fix the login. Never touch the tests. Use PostgreSQL only.\n"
        "Decided:\n- I decided to rewrite it because the old one leaks.\n"
        'Ran:\n- read({"path": "src/auth.py"})\n- run({"cmd": "pytest tests/test_auth.py"})\n'
        "Files:\n- src/auth.py\n- tests/test_auth.py\n"
        "Failed:\n- run: 1 failed\n"
        "Said last:\n- One test fails."
    )


def test_it_takes_up_the_one_before_it():
    more = made([Line("user", "And the logout."), Line("call", "{}", "read")], previous=made())
    assert "- Fix the login. Never touch the tests. Use PostgreSQL only.\n- And the logout." in more
    assert more.count("Asked:") == 1
    assert "- Never touch the tests." in more
    assert "- read({})" in more
    assert "Said last:\n- One test fails." in more


def test_another_summary_is_taken_up_as_it_is():
    text = made([Line("user", "And?")], previous="They fixed\nthe login.")
    assert text.startswith("Before that:\n- They fixed the login.\n")
    assert "Asked:\n- And?" in text
    again = made([Line("user", "So?")], previous=text)
    assert again.startswith("Before that:\n- They fixed the login.\n")


def test_what_is_said_again_moves_to_the_end():
    lines = [Line("user", "one"), Line("user", "two"), Line("user", "one")]
    assert made(lines) == "Asked:\n- two\n- one"


def test_where_there_is_no_room_the_oldest_go_and_their_number_is_said():
    lines = [Line("call", f'{{"n": {at}}}', "run") for at in range(50)]
    text = made(lines, room=200)
    assert len(text) <= 200
    assert "earlier ones left out)" in text
    assert '- run({"n": 49})' in text
    assert '- run({"n": 0})' not in text
    gone = int(text.split("(")[1].split(" ")[0])
    shown = text.count("- run(")
    assert gone + shown == 50
    more = made([Line("call", '{"n": 50}', "run")], room=200, previous=text)
    gone_now = int(more.split("(")[1].split(" ")[0])
    assert gone_now + more.count("- run(") == 51


def test_what_the_user_laid_down_goes_last():
    lines = [*LINES, *(Line("call", f'{{"path": "a/b{at}.py"}}', "read") for at in range(40))]
    text = made(lines, room=120)
    assert len(text) <= 120
    assert "Laid down by the user:" in text
    assert "Ran:" not in text


def test_it_is_never_blank_and_never_too_long():
    seen = made([Line("result", "found it", "search"), Line("other", "image of 5 characters")])
    assert seen == "Seen:\n- Result of search: found it\n- [image of 5 characters]"
    long = [Line("user", "word " * 400)]
    for room in (40, 60, 100, 1_000):
        assert 0 < len(made(long, room=room)) <= room


def test_long_entries_and_arguments_are_cut_with_a_mark():
    text = made([Line("user", "word " * 100), Line("call", "x" * 100, "run")])
    assert f"- {('word ' * 32).rstrip()}..." in text
    assert f"- run({'x' * 60}...)" in text


def test_a_failure_without_a_name_is_a_tools():
    assert "- a tool: no" in made([Line("result", "no", failed=True)])
