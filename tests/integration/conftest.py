"""The command line as users have it: in an empty folder of its own, in this process or in another."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select, update

from farthest.cli.app import cli
from farthest.models.database import Database, open_database
from farthest.models.sealing import record_digest, seal
from farthest.models.tables import job, puzzle
from farthest.puzzles.puzzle import Puzzle

Run = Callable[..., Result]
RunJson = Callable[..., Any]
Process = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of a test; the default database would be in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FARTHEST_DATABASE_URL", raising=False)
    return tmp_path


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A file without jobs."""
    with open_database(str(tmp_path / "maps.db"), create=True) as opened:
        yield opened


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty default database, as messages show it: a test that asks for it is run with a file and on PostgreSQL."""
    if request.param == "sqlite":
        return "farthest.db"
    url = str(request.getfixturevalue("postgres_empty_url"))
    monkeypatch.setenv("FARTHEST_DATABASE_URL", url)
    return url


def alter(statement: str) -> None:
    """Changes the default database behind farthest's back."""
    with open_database(create=False) as database, database.write() as connection:
        connection.exec_driver_sql(statement)


def forge(statement: str) -> None:
    """The same with the digests of puzzles, layers and jobs: who can write to a database can write them too."""
    alter(statement)
    forge_digests()


def forge_digests() -> None:
    """Works the digests of puzzles, layers and jobs out again, from what is stored now."""
    with open_database(create=False) as database, database.write() as connection:
        for row in connection.execute(select(puzzle)).all():
            held = {**row._asdict(), "digest": Puzzle.from_json(row.definition).digest}
            digest = record_digest("puzzle", {**held, "id": None, "record_digest": None})
            changed = update(puzzle).where(puzzle.c.id == row.id)
            connection.execute(changed.values(digest=held["digest"], record_digest=digest))
        for number in connection.execute(select(job.c.id)).scalars().all():
            seal(connection, number, {}, stored=["layer"])


@pytest.fixture
def run(folder: Path) -> Run:
    """Run a command in this process; it must end with the status that is expected, 0 unless said otherwise."""

    def run_command(*arguments: str, status: int = 0, stdin: str | bytes | None = None) -> Result:
        result = CliRunner().invoke(cli, arguments, input=stdin, prog_name="farthest")
        assert result.exit_code == status, result.output
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    return run_command


@pytest.fixture
def run_json(run: Run) -> RunJson:
    """Run a command with --json; what its one line of standard output says."""

    def run_command(*arguments: str, **keywords: Any) -> Any:
        result = run(*arguments, "--json", **keywords)
        assert result.stdout.count("\n") == 1
        return json.loads(result.stdout)

    return run_command


@pytest.fixture
def process(folder: Path) -> Process:
    """Run a command in another process; its output and status are the caller's to look at."""

    def run_command(*arguments: str, **keywords: Any) -> "subprocess.CompletedProcess[str]":
        environment = {**os.environ, **keywords.pop("env", {})}
        keywords = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 60} | keywords
        return subprocess.run(
            [*COMMAND, *arguments], encoding="utf-8", env=environment, check=False, **keywords
        )

    return run_command


COMMAND = [sys.executable, "-c", "from farthest.cli.entry import main; main()"]
