"""Servers end with the process that started them, however that ends, and not before."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from servers import processes
from servers.processes import wait_until

if TYPE_CHECKING:
    from servers.redis_servers import RedisServer

STARTS_TWO = """
import sys, time
sys.path.insert(0, sys.argv[1])
from servers.postgres_servers import PostgresServer
from servers.redis_servers import RedisServer
servers = [RedisServer().start(), PostgresServer().start()]
print(*(server._process.pid for server in servers), *(server.folder for server in servers))
sys.stdout.flush()
time.sleep(60)
"""


def _is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2][1] == "Z"
    except OSError:
        return True


def test_servers_die_with_a_process_that_is_killed_and_the_next_one_removes_their_folders():
    tests = Path(processes.__file__).parents[1]
    command = [sys.executable, "-c", STARTS_TWO, str(tests)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        *pids, redis_folder, postgres_folder = starter.stdout.readline().split()
        starter.send_signal(signal.SIGKILL)
    for pid in map(int, pids):
        wait_until(lambda pid=pid: _is_gone(pid), f"process {pid} is gone")
    processes.sweep()
    assert not Path(redis_folder).exists()
    assert not Path(postgres_folder).exists()


def test_a_server_outlives_the_thread_that_asked_for_it(redis_server):
    servers: list[RedisServer] = []
    thread = threading.Thread(target=lambda: servers.append(redis_server()))
    thread.start()
    thread.join()
    with servers[0].client() as client:
        assert client.ping()


def test_two_servers_are_never_given_the_same_port():
    ports = [processes.take_port() for _ in range(50)]
    try:
        assert len(set(ports)) == len(ports)
    finally:
        for port in ports:
            processes.give_port_back(port)


def test_a_server_that_does_not_start_says_what_is_in_its_log(redis_server):
    with pytest.raises(processes.NotStarted, match="no-such-setting"):
        redis_server(config={"no-such-setting": "1"})


@pytest.mark.skipif(os.geteuid() != 0, reason="nothing needs to run as another user")
def test_a_program_in_a_folder_closed_to_others_runs_as_another_user(tmp_path: Path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    program = closed / "program"
    program.write_text('#!/bin/sh\nid -u; test -x "$0" && echo found\n', encoding="utf-8")
    program.chmod(0o755)
    log = tmp_path / "log"
    assert processes.Process([program], log=log, folder=tmp_path, user="nobody").wait(10) == 0
    uid, found = log.read_text(encoding="utf-8").split()
    assert uid != "0"
    assert found == "found"
