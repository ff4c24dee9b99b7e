"""A process whose work is stuck ends itself; one that is slow, or stood still itself, does not."""

import os
import signal
import subprocess
import sys
import time

import pytest

PROGRAM = """
import sys, threading, time
from farthest.worker import work
work.CHECK_SECONDS, work.CHECKS = 0.02, {looks}
print("begun", flush=True)
with work.ended_if_stuck("the step of block 7"):
    {work}
print("ended", flush=True)
"""
WORK = {
    "waits": "threading.Lock().acquire() and threading.Event().wait()",
    "computes": "end = time.monotonic() + 0.8\n    while time.monotonic() < end: sum(range(1000))",
    "waits a little, again and again": "[time.sleep(0.05) for _ in range(16)]",
}


def started(work: str, looks: int = 20) -> subprocess.Popen[str]:
    program = PROGRAM.format(work=WORK[work], looks=looks)
    return subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.slow
def test_a_process_that_is_stuck_ends_and_says_where() -> None:
    process = started("waits")
    said, told = process.communicate(timeout=30)
    assert (process.returncode, said) == (os.EX_SOFTWARE, "begun\n")
    assert "the step of block 7 is stuck" in told
    assert "<module>" in told


@pytest.mark.slow
@pytest.mark.parametrize("work", ["computes", "waits a little, again and again"])
def test_a_process_that_works_goes_on(work: str) -> None:
    process = started(work)
    said, told = process.communicate(timeout=30)
    assert (process.returncode, said) == (0, "begun\nended\n"), told


@pytest.mark.slow
def test_a_process_that_was_stopped_goes_on() -> None:
    process = started("waits a little, again and again")
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGSTOP)
    time.sleep(0.8)
    process.send_signal(signal.SIGCONT)
    said, told = process.communicate(timeout=30)
    assert (process.returncode, said) == (0, "ended\n"), told
