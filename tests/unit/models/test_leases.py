"""Owners of jobs: alive, dead, and out of sight."""

import os
import subprocess
import sys

import pytest

from cases import for_each
from farthest.models import leases
from farthest.models.leases import owner_is_dead, owner_token

HOST = os.uname().nodename


def token_of(process: subprocess.Popen[bytes]) -> str:
    host, _, start = owner_token().rsplit("/", 2)
    scope = start.partition(".")[2]
    ticks = leases._start_ticks(process.pid)
    return f"{host}/{process.pid}/{ticks}.{scope}"


@pytest.fixture
def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)


def end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def test_this_process_is_alive_and_names_itself() -> None:
    token = owner_token()
    assert token.split("/")[:2] == [os.uname().nodename, str(os.getpid())]
    assert token == owner_token()
    assert not owner_is_dead(token)


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
def test_a_process_is_dead_from_the_moment_it_is_killed(sleeper: subprocess.Popen[bytes]) -> None:
    token = token_of(sleeper)
    assert not owner_is_dead(token)
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)  # a zombie: nobody has waited for it yet
    assert owner_is_dead(token)
    end(sleeper)
    assert owner_is_dead(token)


def test_a_later_process_of_the_same_number_is_another_one() -> None:
    host, pid, start = owner_token().rsplit("/", 2)
    ticks, _, scope = start.partition(".")
    if not scope:
        pytest.skip("needs /proc")
    assert owner_is_dead(f"{host}/{pid}/{int(ticks) - 1}.{scope}")


def test_processes_of_another_host_boot_or_container_are_not_known_to_be_dead() -> None:
    host, pid, start = owner_token().rsplit("/", 2)
    assert not owner_is_dead(f"{host}-2/999999999/{start}")
    assert not owner_is_dead(f"{host}/{pid}/1.00000000.1")


def test_without_proc_a_process_number_must_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "_scope", lambda: "")
    monkeypatch.setattr(leases, "_start_ticks", lambda pid: None)
    token = owner_token()
    assert token.endswith("/0")
    assert not owner_is_dead(token)
    host = token.rsplit("/", 2)[0]
    finished = subprocess.Popen([sys.executable, "-c", ""])
    finished.communicate()
    assert owner_is_dead(f"{host}/{finished.pid}/0")


MALFORMED = ["", "x", "/", "//", "a/b/c", f"{HOST}/x/0", f"{HOST}/{'9' * 5000}/0", f"{HOST}/{'9' * 19}/0"]


@for_each("token", MALFORMED)
def test_a_malformed_token_is_not_dead(token: str) -> None:
    assert not owner_is_dead(token)
