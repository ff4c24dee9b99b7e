"""Runs killed by kill -9 at random moments, and stopped by Ctrl-C, go on and give the same digest."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.puzzles.catalogue import load

SCRIPT = Path(__file__).parent / "enumerate_slowly.py"
PUZZLE = "sliding-2x5"
KILLS = 3
MOST_ROUNDS = 30


@contextmanager
def run(database: Path, seconds: float, puzzle: str = PUZZLE) -> Iterator[subprocess.Popen[str]]:
    """A run in a process of its own, with the modules that this process uses; it has begun when this yields."""
    code = f"import sys; sys.path[:0] = {sys.path!r}; import conftest, runpy; sys.argv = sys.argv[1:]; "
    code += "runpy.run_path(sys.argv[0], run_name='__main__')"
    command = [sys.executable, "-c", code, str(SCRIPT), puzzle, str(database), str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n", process.stderr and process.stderr.read()
            yield process
        finally:
            process.kill()


def events(process: subprocess.Popen[str]) -> list[list[str]]:
    """The events until the end of the process."""
    assert process.stdout is not None
    out = process.stdout.read()  # communicate() would lose what was read together with the first line
    process.wait(timeout=120)
    return [line.split() for line in out.splitlines()]


@pytest.fixture(scope="module")
def undisturbed() -> str:
    return enumerate_puzzle(load(PUZZLE), None).digest


@pytest.mark.slow
def test_kill_9_at_random_moments(tmp_path: Path, undisturbed: str) -> None:
    database = tmp_path / "maps.db"
    rng = random.Random()
    kills, resumed, digests = 0, 0, []
    for number in range(MOST_ROUNDS):
        last = kills >= KILLS and resumed >= KILLS // 2
        with run(database, 0.01) as process:
            if not last:
                time.sleep(rng.uniform(0, 0.3 + number / 10))  # longer where the machine is slow
                process.send_signal(signal.SIGKILL)
            told = events(process)
        told_of = [event[0] for event in told]
        resumed += "resumed" in told_of
        if "finished" in told_of:
            digests.append(told[-1][1])
        else:
            assert process.returncode == -signal.SIGKILL
            kills += "layer" in told_of  # before that, nothing had been done that could be lost
        if last:
            break
    assert kills >= KILLS, "too few kills landed while a run was under way"
    assert resumed >= KILLS // 2, "too few runs went on from a checkpoint"
    assert set(digests) == {undisturbed}
    with open_database(str(database), create=False) as opened:
        jobs = Jobs(opened).list()
        assert [job.digest for job in jobs] == digests
        assert {job.status for job in jobs} == {"finished"}


@pytest.mark.slow
def test_a_killed_run_begins_anew_where_that_takes_less_than_its_checkpoint(tmp_path: Path) -> None:
    """Of 40 million keys, hardly any of which has been reached."""
    database, puzzle = tmp_path / "maps.db", "pancake-11"
    with run(database, 0.1, puzzle) as process:
        assert process.stdout is not None
        while process.stdout.readline().split()[:1] != ["checkpoint"]:
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
    with run(database, 0, puzzle) as process:
        told = events(process)
    assert [told[0][0], *told[1]] == ["anew", "layer", "0"]
    assert told[-1] == ["finished", enumerate_puzzle(load(puzzle), None).digest]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.slow
def test_ctrl_c_leaves_a_checkpoint_of_the_layer_under_way(
    tmp_path: Path, undisturbed: str, number: signal.Signals
) -> None:
    database = tmp_path / "maps.db"
    with run(database, 0.03) as process:
        assert process.stdout is not None
        while process.stdout.readline().split() != ["layer", "12"]:
            assert process.poll() is None
        process.send_signal(number)
        told = events(process)
        assert process.returncode not in (0, -signal.SIGKILL)
        depth = int(told[-1][1])
        assert told[-1][0] == "checkpoint"
        assert depth in (12, 13)
    with open_database(str(database), create=False) as opened:
        job = Jobs(opened).list()[-1]
        assert (job.status, job.depth) == ("interrupted", depth)
    with run(database, 0) as process:
        told = events(process)
        assert told[0] == ["resumed", str(depth)]
        assert told[-1] == ["finished", undisturbed]
        assert process.returncode == 0


@pytest.mark.slow
def test_a_second_ctrl_c_stops_at_once_and_the_last_checkpoint_remains(
    tmp_path: Path, undisturbed: str
) -> None:
    database = tmp_path / "maps.db"
    with run(database, 0.3) as process:
        assert process.stdout is not None
        while process.stdout.readline().split() != ["layer", "3"]:
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        told = events(process)
        assert process.returncode != 0
        assert not any(event[0] in ("layer", "finished") for event in told)
    with run(database, 0) as process:
        told = events(process)
        assert told[0][0] == "resumed"
        assert told[-1] == ["finished", undisturbed]


@pytest.mark.slow
def test_a_run_is_not_taken_over_while_it_lives(tmp_path: Path, undisturbed: str) -> None:
    database = tmp_path / "maps.db"
    with run(database, 0.05) as first:
        assert first.stdout is not None
        while first.stdout.readline().split()[:1] != ["checkpoint"]:
            assert first.poll() is None
        with run(database, 0) as second:
            told = events(second)
            assert told[0][0] != "resumed"
            assert told[-1] == ["finished", undisturbed]
        assert events(first)[-1] == ["finished", undisturbed]
    with open_database(str(database), create=False) as opened:
        assert len(Jobs(opened).list()) == 2
