"""`lockstitch trim`: what it keeps, what it writes, what it says."""

import gzip
import json

import pytest

import lockstitch as ls
from lockstitch.testing import assistant, call, result, system, user

KEYS = {
    *("file", "format", "profile", "kept", "dropped", "before", "after", "plan", "report"),
    "messages",
}
HISTORY = [
    system(),
    user("one"),
    call("a"),
    result("a"),
    assistant("first"),
    user("two"),
    call("b"),
    result("b"),
    assistant("second"),
]


def natives(content: bytes) -> list:
    value = json.loads(content)
    return value if isinstance(value, list) else value.get("messages") or value["input"]


def test_a_file_of_each_format_is_cut_and_described_as_json(run, sample):
    trimmed = run("trim", sample, "--max-messages", 20, "--profile", "anthropic", "--json")
    assert trimmed.exit_code == 0
    found = json.loads(trimmed.stdout)
    assert set(found) == KEYS
    assert 18 <= len(found["kept"]) <= 20
    assert sorted(found["kept"] + found["dropped"]) == list(range(found["before"]["messages"]))
    assert len(found["messages"]) == len(found["kept"]) == found["after"]["messages"]
    assert found["after"]["tokens"] < found["before"]["tokens"]
    assert found["report"]["ok"] is True
    assert ls.Plan.from_json(json.dumps(found["plan"])).kept == found["kept"]


def test_the_messages_in_the_json_are_those_of_the_file(run, data):
    path = data / "anthropic.json"
    found = json.loads(run("trim", path, "--max-messages", 20, "--json").stdout)
    everything = natives(path.read_bytes())
    assert found["messages"] == [everything[position] for position in found["kept"]]


def test_without_an_output_file_the_document_goes_to_standard_output(run, sample):
    trimmed = run("trim", sample, "--max-messages", 20)
    assert trimmed.stdout_bytes == ls.trim(sample.read_bytes(), max_messages=20)
    assert trimmed.stderr == ""


def test_what_fits_comes_out_byte_for_byte(run, sample):
    assert run("trim", sample, "--max-messages", 99).stdout_bytes == sample.read_bytes()


def test_the_wrapper_of_a_request_body_stays(run, data):
    found = json.loads(run("trim", data / "anthropic.json", "--max-messages", 5).stdout)
    assert found["system"] == "You plan sea voyages."
    assert found["model"] == "claude-sonnet-4-5"


def test_an_output_file_is_written_and_the_input_left_alone(run, sample, tmp_path):
    before, target = sample.read_bytes(), tmp_path / "out"
    trimmed = run("trim", sample, "--max-messages", 20, "-o", target)
    assert target.read_bytes() == ls.trim(before, max_messages=20)
    assert sample.read_bytes() == before
    assert trimmed.stdout == ""
    assert "kept " in trimmed.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_with_an_output_file_the_json_carries_no_messages(run, sample, tmp_path):
    trimmed = run("trim", sample, "--max-messages", 20, "--json", "-o", tmp_path / "out")
    assert json.loads(trimmed.stdout)["messages"] is None


def test_gzip_in_gives_gzip_out(run, write, data, tmp_path):
    plain = (data / "openai_chat.jsonl").read_bytes()
    path = write(gzip.compress(plain), "history.gz")
    expected = ls.trim(plain, max_messages=10)
    assert gzip.decompress(run("trim", path, "--max-messages", 10).stdout_bytes) == expected
    run("trim", path, "--max-messages", 10, "-o", tmp_path / "out")
    assert gzip.decompress((tmp_path / "out").read_bytes()) == expected


def test_json_lines_can_be_cut_down_to_a_single_line(run, data):
    trimmed = run("trim", data / "openai_chat.jsonl", "--max-messages", 1, "--no-floor", "--json")
    assert trimmed.exit_code == 0
    assert len(json.loads(trimmed.stdout)["messages"]) == 1


def test_a_limit_of_zero_keeps_nothing(run, write):
    trimmed = run("trim", write(HISTORY), "--max-messages", 0, "--explain")
    assert trimmed.stdout == "[]"
    assert "kept none of 9 messages" in trimmed.stderr


def test_explain_says_on_standard_error_what_went_and_why(run, write):
    trimmed = run("trim", write(HISTORY), "--max-messages", 6, "--explain")
    assert len(json.loads(trimmed.stdout)) == 5
    assert "kept 5 of 9 messages, dropped 4" in trimmed.stderr
    assert "the system part stays" in trimmed.stderr
    assert "look_up({})" in trimmed.stderr


def test_a_long_history_is_explained_by_ranges(run, write):
    history = HISTORY * 60
    trimmed = run("trim", write(history), "--max-messages", 6, "--explain")
    assert "[1..534]" in trimmed.stderr
    assert len(trimmed.stderr.splitlines()) < 10


def test_tokens_and_characters_are_limits_too(run, write):
    path = write(HISTORY)
    for option, counter in (("--max-tokens", "estimate"), ("--max-tokens", "bytes")):
        trimmed = run("trim", path, option, 90, "--counter", counter, "--json")
        found = json.loads(trimmed.stdout)
        assert found["after"]["tokens"] <= 90 < found["before"]["tokens"]
        assert found["plan"]["counter"] == counter
    found = json.loads(run("trim", path, "--max-chars", 40, "--json").stdout)
    assert found["after"]["chars"] <= 40 < found["before"]["chars"]


def test_reserve_takes_room_away(run, write):
    path = write(HISTORY)
    free = json.loads(run("trim", path, "--max-chars", 60, "--json").stdout)
    less = json.loads(run("trim", path, "--max-chars", 60, "--reserve", 25, "--json").stdout)
    assert less["after"]["chars"] <= 35 < free["after"]["chars"]


def test_trim_to_cuts_further_once_the_limit_is_passed(run, write):
    path = write(HISTORY)
    found = json.loads(run("trim", path, "--max-messages", 8, "--trim-to", 5, "--json").stdout)
    assert len(found["kept"]) <= 5
    found = json.loads(run("trim", path, "--max-messages", 9, "--trim-to", 5, "--json").stdout)
    assert len(found["kept"]) == 9


def test_a_pin_keeps_its_whole_group(run, write):
    trimmed = run("trim", write(HISTORY), "--max-messages", 7, "--pin", 3, "--json")
    kept = json.loads(trimmed.stdout)["kept"]
    assert {2, 3} <= set(kept)


def test_a_negative_pin_counts_from_the_end(run, write):
    arguments = ("--max-messages", 1, "--no-floor", "--no-keep-system")
    trimmed = run("trim", write([user("1"), user("2"), user("3")]), *arguments, "--pin", "-2")
    assert json.loads(trimmed.stdout) == [user("2")]


def test_several_pins_can_be_given(run, write):
    path = write([user(str(at)) for at in range(9)])
    trimmed = run("trim", path, "--max-messages", 4, "--pin", 0, "--pin", "2", "--json")
    assert {0, 2} <= set(json.loads(trimmed.stdout)["kept"])


def test_a_pin_outside_the_history_is_unusable(run, write):
    trimmed = run("trim", write(HISTORY), "--max-messages", 3, "--pin", 9)
    assert trimmed.exit_code == 2
    assert "--pin 9 is outside the history of 9 messages" in trimmed.stderr


def test_the_system_part_stays_without_a_floor_too(run, write):
    arguments = ("trim", write(HISTORY), "--max-messages", 2, "--no-floor", "--json")
    assert 0 in json.loads(run(*arguments).stdout)["kept"]
    assert 0 not in json.loads(run(*arguments, "--no-keep-system").stdout)["kept"]


def test_the_floor_protects_the_system_part_whatever_is_said(run, write):
    trimmed = run("trim", write(HISTORY), "--max-messages", 3, "--no-keep-system")
    assert trimmed.exit_code == 2
    assert "--no-floor" in trimmed.stderr


def test_a_prefix_cut_drops_everything_before_one_place(run, write):
    trimmed = run(
        *("trim", write(HISTORY), "--max-messages", 4, "--cut", "prefix", "--no-floor"),
        *("--no-keep-system", "--json"),
    )
    assert json.loads(trimmed.stdout)["kept"] == [5, 6, 7, 8]


def test_what_cannot_fit_exits_with_one_and_names_what_is_needed(run, write):
    trimmed = run("trim", write(HISTORY), "--max-messages", 2)
    assert trimmed.exit_code == 1
    assert trimmed.stdout == ""
    assert "the limit is 2 messages, and what must stay needs" in trimmed.stderr
    assert "[0] 1 message (the system part stays)" in trimmed.stderr
    assert "--on-overflow smallest" in trimmed.stderr


def test_what_cannot_fit_says_so_in_json_as_well(run, write):
    found = json.loads(run("trim", write(HISTORY), "--max-messages", 2, "--json").stdout)
    assert set(found) == {"file", "error"}
    assert found["error"]["type"] == "CannotFit"
    assert found["error"]["limit"] == 2
    assert set(found["error"]["floor"][0]) == {"start", "stop", "size", "reason"}


def test_what_stands_beside_the_messages_is_named_when_nothing_fits(run, write):
    body = {"system": "be brief " * 50, "messages": [user("hi")]}
    trimmed = run("trim", write(body), "--max-chars", 100, "--format", "anthropic")
    assert trimmed.exit_code == 1
    assert "450 chars (system, tools and reserve of the request)" in trimmed.stderr


@pytest.mark.parametrize(("choice", "kept"), [("smallest", 3), ("empty", 0)])
def test_a_way_out_of_an_overflow_can_be_chosen(run, write, choice, kept):
    trimmed = run("trim", write(HISTORY), "--max-messages", 2, "--on-overflow", choice)
    assert trimmed.exit_code == 0
    assert len(json.loads(trimmed.stdout)) == kept


def test_damage_that_was_there_is_reported_and_not_mended(run, write):
    trimmed = run("trim", write([user("hi"), result("nobody")]), "--max-messages", 9)
    assert trimmed.exit_code == 0
    assert "Trimming does not mend" in trimmed.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--max-messages", "-1"), "--max-messages"),
        (("--max-messages", "true"), "--max-messages"),
        (("--max-messages", "1.5"), "--max-messages"),
        (("--max-messages", "many"), "--max-messages"),
        (("--max-tokens", "-5"), "--max-tokens"),
        (("--max-chars", "1e3"), "--max-chars"),
        (("--max-messages", "5", "--trim-to", "-1"), "--trim-to"),
        (("--max-messages", "5", "--trim-to", "9"), "--trim-to (9) must not exceed"),
        (("--max-messages", "5", "--max-chars", "9", "--trim-to", "3"), "--trim-to goes with"),
        (("--max-messages", "5", "--reserve", "3"), "--reserve goes with --max-tokens"),
        (("--max-messages", "5", "--reserve", "-3"), "--reserve"),
        (("--max-messages", "5", "--pin", "first"), "--pin"),
        (("--max-messages", "5", "--cut", "hair"), "--cut"),
        (("--max-messages", "5", "--profile", "nobody"), "--profile"),
        (("--max-messages", "5", "--on-overflow", "panic"), "--on-overflow"),
        (("--max-messages", "5", "--counter", "abacus"), "--counter"),
        ((), "no limit given"),
    ],
)
def test_wrong_arguments_exit_with_two_and_name_the_option(run, data, arguments, said):
    trimmed = run("trim", data / "openai_chat.json", *arguments)
    assert trimmed.exit_code == 2
    assert said in trimmed.stderr
    assert trimmed.stdout == ""


def test_the_model_decides_whether_thinking_outlives_a_cut(run, write):
    """On newer Claude models thinking is valid only behind the messages it was made from."""
    history = [{"role": "user", "content": "task"}]
    for number in range(6):
        thinking = {"type": "thinking", "thinking": "hm", "signature": f"S{number}"}
        use = {"type": "tool_use", "id": f"c{number}", "name": "look_up", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": "found"}
        history.append({"role": "assistant", "content": [thinking, use]})
        history.append({"role": "user", "content": [result]})
    path = write(history)
    options = ("--max-messages", 5, "--profile", "anthropic", "--json")
    free = json.loads(run("trim", path, *options).stdout)
    bound = json.loads(run("trim", path, *options, "--model", "claude-opus-5-5").stdout)
    assert "thinking" in json.dumps(free["messages"])
    assert "thinking" not in json.dumps(bound["messages"])
    assert free["kept"] == bound["kept"]
    assert bound["report"]["ok"]
