"""Published tests of a package, run against Lockstitch: what the scripts of this folder share.

Knows: how to get an sdist and make sure of it, how to run some of its test files under a plugin of
ours, how the table of outcomes is printed. No text of those tests is kept here.
"""

import hashlib
import json
import subprocess
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).parent


def sdist(requirement, sha256, folder):
    """Download the sdist of a pinned requirement, and unpack it if it is the one we know."""
    command = ["-m", "pip", "--disable-pip-version-check", "-q", "download", "--no-deps"]
    command += ["--no-binary", ":all:", "--dest", str(folder), requirement]
    subprocess.run([sys.executable, *command], check=True)
    (archive,) = folder.glob("*.tar.gz")
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != sha256:
        raise SystemExit(f"{archive.name} has the sha256 {found}, expected {sha256}")
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def run(files, plugin, folder):
    """Run test files under a plugin that writes outcomes.json; return outcomes and the output."""
    for file in files:
        (folder / file.name).write_bytes(file.read_bytes())
    outcomes = folder / "outcomes.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", plugin, "-p", "no:cacheprovider"]
    command += ["-c", "/dev/null", "--rootdir", str(folder), *(file.name for file in files)]
    environment = {"PYTHONPATH": str(HERE), "OUTCOMES": str(outcomes), "PATH": "/usr/bin:/bin"}
    finished = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if not outcomes.exists():
        raise SystemExit(finished.stdout + finished.stderr)
    return json.loads(outcomes.read_text()), finished.stdout


def table(outcomes, listed):
    """Print each test with its outcome; return what neither passed nor is listed."""
    unlisted = []
    for name, outcome in outcomes.items():
        reason = listed.get(name)
        if outcome != "passed" and reason is None:
            unlisted.append(name)
        print(f"  {outcome:<8} {name}" + (f"\n           differs: {reason}" if reason else ""))
    passed = sum(outcome == "passed" for outcome in outcomes.values())
    print(f"  {passed} of {len(outcomes)} passed, {len(listed)} listed, {len(unlisted)} unlisted")
    return unlisted
