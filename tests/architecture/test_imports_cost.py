"""What `import lockstitch` brings with it, seen in a fresh interpreter.

Nothing here reads a wall clock: on a busy machine that would say more about the machine.
"""

import json
import os
import subprocess
import sys

import pytest

# Nothing that only the command line, the test kit, an extra, a backend or an event loop needs.
UNWANTED = {"asyncio", "click", "hypothesis", "langchain_core", "rich", "sqlite3"}

MOST_NEW_MODULES = 166
MOST_NEW_MEGABYTES = 25

PROBE = """
import json, resource, sys

def peak_kilobytes():
    # VmHWM starts anew with each program. ru_maxrss does not on Linux: a child begins with the
    # peak of the process that started it, which here is a large test runner.
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak // 1024 if sys.platform == "darwin" else peak

modules, kilobytes = set(sys.modules), peak_kilobytes()
import lockstitch
grown = peak_kilobytes() - kilobytes
print(json.dumps({"new": sorted(set(sys.modules) - modules), "kilobytes": grown}))
"""


@pytest.fixture(scope="module")
def imported() -> dict:
    # Coverage would follow us into the child, and bring modules and memory of its own.
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("COV_", "COVERAGE_"))}
    finished = subprocess.run(
        [sys.executable, "-c", PROBE], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(finished.stdout)


def test_importing_the_library_leaves_out_what_only_the_edges_need(imported: dict):
    assert not UNWANTED & {name.split(".")[0] for name in imported["new"]}


def test_importing_the_library_loads_few_modules(imported: dict):
    assert len(imported["new"]) <= MOST_NEW_MODULES, imported["new"]


def test_importing_the_library_takes_little_memory(imported: dict):
    assert imported["kilobytes"] < MOST_NEW_MEGABYTES * 1024
