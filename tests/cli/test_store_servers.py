"""`lockstitch store` on servers: from each kind of store to the next, and back."""

import json
from itertools import pairwise

import pytest

from lockstitch import open_store
from lockstitch.testing import assistant, call, result, user

TURNS = [user("1"), call("a", "b"), result("a"), result("b"), assistant("2"), user("3")]


def test_sessions_go_from_a_file_to_servers_and_back(run, url, tmp_path, valkey, postgres):
    back = f"sqlite:///{tmp_path / 'back.db'}"
    with open_store(url) as store:
        for turn in TURNS:
            store.session("cli-round", tenant="cli", max_messages=4).append(turn)
    route = [url, valkey, postgres, back]
    for origin, target in pairwise(route):
        copied = run("store", "copy", origin, target, "--all", "--tenant", "cli", "--json")
        assert copied.exit_code == 0, copied.output
        assert json.loads(copied.stdout)["outcome"] == "copied"
        again = run("store", "copy", origin, target, "--all", "--tenant", "cli", "--json")
        assert json.loads(again.stdout)["outcome"] == "skipped"
    seen = {run("store", "window", each, "cli-round", "--tenant", "cli").stdout for each in route}
    assert len(seen) == 1
    for each in route:
        assert run("store", "verify", each, "--all", "--tenant", "cli").exit_code == 0
    for each in (valkey, postgres):
        gone = run("store", "purge", each, "cli-round", "--tenant", "cli", "--delete", "--yes")
        assert gone.exit_code == 0
        assert run("store", "ls", each, "--tenant", "cli").stdout == "0 sessions\n"


def test_a_schema_on_a_server_is_made_and_told(run, postgres):
    run("store", "migrate", postgres)
    told = json.loads(run("store", "migrate", postgres, "--json").stdout)
    assert told["found"] == told["now"] > 0


def test_redis_has_no_schema(run, valkey):
    assert run("store", "migrate", valkey).stdout.endswith("nothing to do: it has no schema\n")


@pytest.mark.parametrize("scheme", ["redis", "postgresql"])
def test_a_server_that_is_not_there_is_named_without_its_password(run, scheme):
    ended = run("store", "ls", f"{scheme}://ann:s3cret@127.0.0.1:1/0", "--json")
    assert ended.exit_code == 2
    assert json.loads(ended.stdout)["error"]["type"] in {"StoreUnavailable", "StoreError"}
    assert "s3cret" not in ended.output
    assert f"{scheme}://ann:***@127.0.0.1:1/0" in ended.stderr
