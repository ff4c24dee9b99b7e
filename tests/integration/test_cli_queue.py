"""`farthest submit`, `watch`, `cancel`, `resume` and `migrate`, without servers: the tests are the coordinator."""

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select

import pytest

from farthest.coordinator.attempt import Interrupted
from farthest.coordinator.enumeration.job import continue_job, enumerate_puzzle
from farthest.coordinator.reporter import Reporter
from farthest.coordinator.settings import Settings
from farthest.models.database import Database, open_database
from farthest.models.jobs import Jobs
from farthest.models.leases import owner_token
from farthest.puzzles.catalogue import load
from integration.conftest import COMMAND, Run, RunJson

DEAD = f"{os.uname().nodename}/999999999/0"


@pytest.fixture
def database(folder: Path) -> Iterator[Database]:
    with open_database("farthest.db", create=True) as opened:
        yield opened


def finish_next(database: Database, told: Callable[[], None] = lambda: None) -> None:
    """What a coordinator does, in this process; ``told`` is called when it has told of its progress."""
    owner = owner_token()
    record = Jobs(database).claim_next(owner)
    assert record is not None
    progress = {"depth": 4, "states": 90, "layer_states": 16, "blocks": 9, "blocks_done": 3, "workers": 0}
    assert Jobs(database).renew(record.id, owner, progress=progress)
    told()
    continue_job(record, database, Settings(), Reporter(), owner)


SOON_LONELY = (
    "from farthest.cli import queue; queue.LONELY_SECONDS = 0.2\nfrom farthest.cli.entry import main; main()"
)
"""`farthest` that tells sooner of a job that nobody runs."""


@contextmanager
def watching(
    *words: str, terminal: bool = False, soon: bool = False
) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """`farthest watch` as a process of its own, and what a terminal would show of its messages. ``soon``: it tells
    sooner that nobody runs the job."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*([sys.executable, "-c", SOON_LONELY] if soon else COMMAND), "watch", *words],
        stdout=subprocess.PIPE,
        stderr=theirs if terminal else subprocess.PIPE,
        text=True,
    ) as process:
        os.close(theirs)
        try:
            yield process, ours
        finally:
            process.kill()
            os.close(ours)


def test_submit(run: Run, run_json: RunJson) -> None:
    text = run("submit", "eight-kinds").stdout
    assert text == (
        "Job 1 (eight-kinds) is queued in farthest.db: at most 90,720 states.\n"
        "A `farthest coordinator` runs it; follow it with:\n\n  farthest watch 1\n"
    )
    document = run_json("submit", "8-puzzle", "--from", "start", "--max-depth", "3", "--histogram-only")
    assert document == {
        "job": 2,
        "puzzle": "8-puzzle",
        "status": "queued",
        "database": "farthest.db",
        "states_at_most": 181440,
    }
    queued = run_json("jobs")["jobs"][1]
    assert queued["status"] == "queued"
    assert queued["parameters"] == {
        "direction": "from",
        "where": "start",
        "max_depth": 3,
        "histogram_only": True,
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["eight-kind"], "eight-kinds"),
        (["eight-kinds", "--to", "123"], "board '123'"),
        (["eight-kinds", "--from", "goal", "--to", "goal"], "exclude each other"),
        (["sliding-5x5"], "more than the 4.6e18 that keys can number"),
        (["eight-kinds", "--database", "no/such/folder.db"], "folder"),
    ],
)
def test_what_submit_refuses(run: Run, folder: Path, arguments: list[str], message: str) -> None:
    assert message in run("submit", *arguments, status=2).stderr
    assert not (folder / "farthest.db").exists() or json.loads(run("jobs", "--json").stdout)["jobs"] == []


def test_a_queued_job_is_what_enumerate_would_find(run: Run, run_json: RunJson, database: Database) -> None:
    options = ["8-puzzle", "--from", "start", "--max-depth", "9"]
    run("submit", *options)
    finish_next(database)
    watched = run_json("watch", "1")
    found = run_json("enumerate", *options)
    assert watched.pop("status") == "finished"
    different = ("job", "seconds")
    assert {name: value for name, value in watched.items() if name not in different} == {
        name: value for name, value in found.items() if name not in different
    }
    assert run("watch", "1").stdout.splitlines()[:3] == run("enumerate", *options).stdout.splitlines()[:3]


def test_enumerate_leaves_queued_jobs_alone(run_json: RunJson) -> None:
    run_json("submit", "3-puzzle")
    assert run_json("enumerate", "3-puzzle")["job"] == 2
    assert run_json("jobs")["jobs"][0]["status"] == "queued"


def test_cancel_and_resume(run: Run, run_json: RunJson, database: Database) -> None:
    run("submit", "3-puzzle")
    assert run("cancel", "3-puzzle").stdout == "Job 1 (3-puzzle) is cancelled.\n"
    assert "is already cancelled; queue it again" in run("cancel", "1", status=2).stderr
    assert Jobs(database).claim_next("me") is None
    error = run("watch", "1", status=1).stderr
    assert error == "Error: job 1 (3-puzzle) is cancelled; `farthest resume 1` goes on with it\n"
    document = {"job": 1, "puzzle": "3-puzzle", "status": "queued", "database": "farthest.db"}
    assert run_json("resume", "1") == document
    assert "is already queued; it starts" in run("resume", "1", status=2).stderr
    finish_next(database)
    assert "is finished" in run("resume", "1", status=2).stderr
    assert "is finished" in run("cancel", "1", status=2).stderr
    assert "there is no job 2" in run("cancel", "2", status=2).stderr
    assert "there is no job of a puzzle named" in run("resume", "4-puzzle", status=2).stderr


def test_resume_here(run: Run, run_json: RunJson) -> None:
    run("submit", "eight-kinds", "--max-depth", "12")
    expected = run_json("enumerate", "eight-kinds", "--max-depth", "12")
    document = run_json("resume", "1", "--here")
    assert (document["job"], document["digest"]) == (1, expected["digest"])
    assert document["status"] == "finished"
    assert "job 1 is finished and cannot be run here" in run("resume", "1", "--here", status=2).stderr
    assert "--workers needs --here" in run("resume", "1", "--workers", "threads", status=2).stderr


class Interrupting(Reporter):
    """Ctrl-C at depth 20."""

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        if depth == 20:
            signal.raise_signal(signal.SIGINT)


@pytest.mark.slow
def test_resume_here_goes_on_from_a_checkpoint(run: Run, run_json: RunJson, database: Database) -> None:
    with pytest.raises(Interrupted):
        enumerate_puzzle(load("8-puzzle"), database, reporter=Interrupting())
    watched = run("watch", "1", status=1).stderr
    assert watched.startswith("Error: job 1 (8-puzzle) is interrupted")
    assert watched.endswith("; `farthest resume --here 1` goes on with it\n")
    assert run_json("resume", "8-puzzle", "--here")["resumed_from"] == 20


def test_a_running_job_is_not_run_here(run: Run, database: Database) -> None:
    run("submit", "3-puzzle")
    Jobs(database).claim_next(owner_token())
    error = run("resume", "1", "--here", status=2).stderr
    assert f"is being run by {owner_token()} and cannot be run here; follow it with" in error


@pytest.mark.slow
def test_watch_tells_of_progress(run: Run, database: Database) -> None:
    run("submit", "eight-kinds")
    with watching("1", "--json") as (process, _):

        def told() -> None:
            assert process.stderr is not None
            assert [process.stderr.readline() for _ in range(2)] == [
                "progress depth=4 states=90 layer_states=16 blocks=9 blocks_done=3 workers=0\n",
                "Job 1 needs workers, but none is alive: start `farthest worker`.\n",
            ]

        finish_next(database, told)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert json.loads(out)["digest"] == enumerate_puzzle(load("eight-kinds"), None).digest


@pytest.mark.slow
def test_watch_on_a_terminal(run: Run, database: Database) -> None:
    run("submit", "eight-kinds")
    with watching("1", terminal=True) as (process, screen):

        def told() -> None:
            shown = b""
            while "depth 4 · 16 new · 90 states".encode() not in shown:
                assert select([screen], [], [], 60)[0], shown
                shown += os.read(screen, 100_000)

        finish_next(database, told)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "90,720 states, eccentricity 30" in out


@pytest.mark.slow
def test_watch_ends_with_a_job_that_is_cancelled(run: Run, database: Database) -> None:
    run("submit", "3-puzzle")
    Jobs(database).claim_next(owner_token())
    with watching("1", "--json", soon=True) as (process, _):
        run("cancel", "1")
        out, told = process.communicate(timeout=60)
    assert process.returncode == 1
    assert told == "Error: job 1 (3-puzzle) is cancelled; `farthest resume 1` goes on with it\n"
    assert json.loads(out) == {
        "job": 1,
        "puzzle": "3-puzzle",
        "status": "cancelled",
        "database": "farthest.db",
        "error": None,
    }


@pytest.mark.slow
def test_ctrl_c_stops_watching_only(run: Run, database: Database) -> None:
    run("submit", "3-puzzle")
    with watching("1", soon=True) as (process, _):
        assert process.stderr is not None
        assert process.stderr.readline().startswith("Job 1 waits in the queue")
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == "Stopped watching; job 1 is not affected.\n"
        assert process.wait(60) == 130
    assert Jobs(database).get(1).status == "queued"


@pytest.mark.slow
def test_watch_says_when_nobody_runs_the_job(run: Run, database: Database) -> None:
    run("submit", "3-puzzle")
    with watching("1", soon=True) as (process, _):
        assert process.stderr is not None
        line = process.stderr.readline()
        assert (
            line == "Job 1 waits in the queue, but no coordinator is running: start `farthest coordinator`.\n"
        )
        finish_next(database)
        assert process.wait(60) == 0


@pytest.mark.slow
def test_watch_waits_for_another_coordinator(run: Run, database: Database) -> None:
    run("submit", "3-puzzle")
    run("submit", "eight-kinds")
    Jobs(database).claim_next(DEAD)
    with watching("1", soon=True) as (process, _):
        assert process.stderr is not None
        assert "because its coordinator has ended" in process.stderr.readline()
        finish_next(database)
        assert process.wait(60) == 0
    Jobs(database).claim_next(owner_token())
    run("submit", "8-puzzle")
    with watching("8-puzzle", soon=True) as (process, _):
        assert process.stderr is not None
        assert process.stderr.readline() == "Job 3 waits in the queue; coordinators run 2 now.\n"


def test_migrate(run: Run, run_json: RunJson, folder: Path) -> None:
    assert run("migrate", "--database", "new.db").stdout == "new.db is up to date (schema 0011).\n"
    assert (folder / "new.db").exists()
    assert run_json("migrate", "--database", "new.db") == {"database": "new.db", "schema": "0011"}


def test_workers_are_threads_unless_told(run: Run) -> None:
    assert "'many' is not one of" in run("enumerate", "3-puzzle", "--workers", "many", status=2).stderr
    assert run("enumerate", "3-puzzle", "--workers", "threads").exit_code == 0
