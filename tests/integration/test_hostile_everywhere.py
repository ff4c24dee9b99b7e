"""Hostile text in every field of definitions, jobs and workers: no command passes any of it to a terminal as it is."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from redis import Redis

from farthest.cli.app import cli
from farthest.models.database import open_database
from farthest.models.tables import job, puzzle
from farthest.worker.registry import Work, WorkerRecord
from integration.conftest import Run, forge_digests

EVIL = "a\x1b[2J\x1b]0;t\x07\u202eb\u200bc\r\x9b31m\x1b[38;5;16md\x00\ne"
ARGUMENT = EVIL.replace("\x00", "")  # no argument of a process holds that
SAFE_IN_TOML = json.dumps(EVIL).replace("\\u0000", "")
FILE = f"""
name = "evil"
title = {SAFE_IN_TOML}
source = {SAFE_IN_TOML}
family = "sliding"
metric = "step"
[sliding]
goal = ["1 2", "3 0"]
start = ["1 2", "0 3"]
[[known]]
source = {SAFE_IN_TOML}
states = 7
"""
BOARD = "12/03"


def shown(*arguments: str) -> str:
    """All that a command writes, as a terminal would get it: click strips nothing."""
    result = CliRunner().invoke(cli, arguments, prog_name="farthest", color=True)
    assert result.exception is None or isinstance(result.exception, SystemExit), arguments
    return result.output


def check(*arguments: str) -> None:
    text = shown(*arguments)
    unsafe = sorted({sign for sign in text if not sign.isprintable() and sign not in "\n\t"})
    assert not unsafe, (arguments, unsafe, text)


@pytest.fixture
def hostile(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with hostile definitions and a database of hostile jobs: 1 finished with a map, 2 without, 3 a search, 4
    failed, 5 queued again."""
    monkeypatch.setenv("NO_COLOR", "1")
    (folder / "evil.toml").write_text(FILE, encoding="utf-8")
    (folder / "evil.gap").write_text(f"G := Group((1,2,3));# {EVIL}\nx := {EVIL};")
    (folder / "evil.tws").write_text(
        f"Name {EVIL.splitlines()[0]}\nSet A 3 1\nMove {EVIL.splitlines()[0]}\nA\n2 3 1\nEnd\n"
    )
    for command in (
        ["enumerate", "3-puzzle"],
        ["enumerate", "3-puzzle", "--histogram-only"],
        ["solve", "8-puzzle", "867254301", "--store"],
        ["submit", "3-puzzle"],
        ["submit", "3-puzzle", "--from", "start"],
    ):
        run(*command)
    texts: dict[str, Any] = {"name": EVIL, "error": EVIL, "owner": EVIL}
    with open_database(create=False) as database, database.write() as connection:
        for row in connection.execute(puzzle.select()).all():
            fields = {**json.loads(row.definition), "title": EVIL, "source": EVIL}
            changed = puzzle.update().where(puzzle.c.id == row.id)
            connection.execute(changed.values(definition=json.dumps(fields), name=EVIL))
        connection.execute(job.update().values(name=EVIL, error=EVIL, owner=EVIL))
        connection.execute(job.update().where(job.c.id == 4).values(status="failed", **texts))
    forge_digests()
    return folder


def commands() -> list[list[str]]:
    """Every command, with what makes it show most."""
    of_file = [
        ["puzzles"], ["draw"], ["draw", BOARD], ["enumerate", "--histogram-only"], ["enumerate", "--progress"],
        ["submit"], ["random", "--seed", "1"], ["solve", "--progress"], ["compare", "--instances", "2"],
        ["estimate"], ["estimate", "--scratch", ARGUMENT],
    ]  # fmt: skip
    files = [
        [name, file, *rest]
        for name, *rest in of_file
        for file in ("evil.toml", "evil.gap", "evil.tws", ARGUMENT, f"{ARGUMENT}.toml")
    ]
    of_job = [
        ["show"], ["states", "--farthest"], ["symmetry"], ["diameter"], ["distance", "12/30"], ["distance", ARGUMENT],
        ["path", "0312"], ["verify"],
        ["export", f"{ARGUMENT}/x.csv"], ["export", "x.csv", "--force"],
        ["dataset", f"{ARGUMENT}/x"], ["plot", f"{ARGUMENT}.svg"], ["heuristic"],
        ["heuristic", "--heuristic", ARGUMENT], ["watch"], ["resume", "--here"], ["resume"], ["cancel"],
    ]  # fmt: skip
    jobs = [
        [name, which, *rest]
        for name, *rest in of_job
        for which in ("1", "2", "3", "4", ARGUMENT)
        if (name, which) != ("watch", "5")
    ]
    others = [
        ["puzzles", "evil", ARGUMENT], ["survey", ARGUMENT], ["surveys"], ["surveys", ARGUMENT],
        ["cosets", "evil.toml", "--subgroup", ARGUMENT, "--depth", "1", "--coset", ARGUMENT],
        ["jobs"], ["jobs", "--database", f"{ARGUMENT}.db"], ["migrate"],
        ["completion", ARGUMENT],
        ["worker", "--healthy", "--name", ARGUMENT], ["workers"], ["coordinator", "--healthy"],
        ["serve", "--host", ARGUMENT],
        ["enumerate", "evil.toml", "--from", ARGUMENT], ["delete", ARGUMENT], ["delete", "1"],
    ]  # fmt: skip
    return [*files, *jobs, *others]


def test_every_command_is_tried() -> None:
    assert {command[0] for command in commands()} == set(cli.commands)


@pytest.mark.slow
def test_no_command_shows_hostile_text_as_it_is(
    hostile: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FARTHEST_REDIS_URL", redis_url)
    for number in ("3", "4"):
        assert "\ne" not in shown("show", number)  # no text makes a line of its own
    for command in commands():
        check(*command)
        if command[0] not in ("completion", "worker", "coordinator", "serve"):
            check(*command, "--json")


def test_what_workers_say_of_themselves(
    folder: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FARTHEST_REDIS_URL", redis_url)
    work = Work(process=7, attempt=EVIL, depth=2, block=3, seconds=4, kind=EVIL)
    record = WorkerRecord(EVIL, EVIL, 6, EVIL, 1, 1, EVIL, (7,), (work,))
    with Redis.from_url(redis_url) as client:
        seconds, _ = client.time()
        client.zadd("farthest:workers", {EVIL: seconds})
        client.set(f"farthest:worker:{EVIL}", json.dumps(asdict(record)), ex=60)
    for options in ([], ["--json"]):
        check("workers", *options)
