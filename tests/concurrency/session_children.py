"""What the processes of the tests of sessions do: write turns, calls and results apart, or read.

python session_children.py write URL ID WORKER TURNS LIMIT    prints each batch when it has landed
python session_children.py read URL ID LIMIT                  reads until its standard input ends
"""

import json
import sys
import threading

import lockstitch as ls
from lockstitch.testing import assistant, call, result, user


def turns(worker, count):
    """Yield the batches of a worker's turns."""
    turn = 0
    while turn != count:
        tag = f"{worker}.{turn}"
        calls = [f"{tag}.{number}" for number in range(turn % 3 + 1)]
        yield [user(f"ask {tag}"), call(*calls)]
        yield [*[result(one, f"found {one}") for one in calls], assistant(f"done {tag}")]
        turn += 1


def write(url, id, worker, count, limit):
    with ls.open_store(url) as store:
        chat = store.session(id, max_messages=limit)
        for number, batch in enumerate(turns(worker, count)):
            chat.append(batch, key=f"{worker}.{number}")
            print(number, flush=True)


def read(url, id, limit):
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    seen = {"windows": 0, "invalid": 0, "over": 0}
    with ls.open_store(url) as store:
        chat = store.session(id, max_messages=limit)
        while not ended.wait(0.002):
            window = chat.window()
            seen["windows"] += 1
            seen["over"] += len(window) > limit
            report = ls.check(window, tail="open", format="openai-chat")
            if window and not report.ok:
                seen["invalid"] += 1
                seen["why"] = f"{report.summary()}: {list(window)}"
    print(json.dumps(seen))


if __name__ == "__main__":
    role, url, id, *rest = sys.argv[1:]
    if role == "write":
        write(url, id, rest[0], int(rest[1]), int(rest[2]))
    else:
        read(url, id, int(rest[0]))
