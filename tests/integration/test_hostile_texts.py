"""What others wrote, shown by the command line: no text of theirs steers the terminal, and JSON is exact."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from farthest.models.database import open_database
from farthest.models.tables import job, puzzle
from integration.conftest import Run, forge_digests

EVIL = "a\x1b[2J\x1b]0;t\x07\u202eb\u200bc\r\x9b31m\nd"


def is_safe(text: str) -> bool:
    return all(sign.isprintable() or sign in "\n\t" for sign in text)


@pytest.fixture
def evil_job(run: Run) -> str:
    """A failed job whose texts are hostile; the puzzle's own definition too, but for its name."""
    run("enumerate", "3-puzzle", "--histogram-only")
    with open_database(create=False) as database, database.write() as connection:
        definition = json.loads(connection.execute(puzzle.select()).one().definition)
        changed = json.dumps({**definition, "title": EVIL, "source": EVIL})
        connection.execute(puzzle.update().values(definition=changed, name=EVIL))
        connection.execute(
            job.update().values(name=EVIL, error=EVIL, status="failed", finished=None, owner=EVIL)
        )
    forge_digests()
    return "1"


def test_commands_show_what_a_database_holds(run: Run, evil_job: str) -> None:
    for command in (
        ["jobs"],
        ["show", "1"],
        ["states", "1", "--farthest"],
        ["verify", "1"],
        ["watch", "1"],
        ["delete", EVIL],
    ):
        for options in ([], ["--json"]):
            result = run_any(run, *command, *options)
            assert is_safe(result), (command, result)
    lines = run("jobs").output.splitlines()
    assert len(lines) == 2  # no text makes a line of its own
    assert "\\u001b[2J\\u001b]0;t\\u0007\\u202eb" in lines[1]


def test_json_is_exact(run: Run, evil_job: str) -> None:
    text = run("show", "1", "--json").stdout
    assert is_safe(text)
    assert EVIL in (json.loads(text)[name] for name in ("puzzle", "error"))


def test_errors_show_what_files_and_arguments_hold(run: Run, folder: Path) -> None:
    name = f"{EVIL.replace('/', '')}.toml"
    (folder / name).write_text(f"name = '{'x' * 9}'\nfamily = 'no\u202esuch'\n", encoding="utf-8")
    for arguments in (["puzzles", name], ["puzzles", EVIL], ["distance", EVIL, EVIL], ["enumerate", f"./{EVIL}.gap"],
                      ["solve", "8-puzzle", EVIL], ["jobs", EVIL], [EVIL], ["show", "--json", EVIL]):  # fmt: skip
        result = run(*arguments, status=2)
        assert is_safe(result.output), (arguments, result.output)


def test_a_line_of_standard_input_is_bounded(run: Run) -> None:
    run("enumerate", "3-puzzle")
    result = run("distance", "3-puzzle", "-", stdin="1203\n" + "1" * 10**6, status=2)
    assert "line 2: 65536 characters or more, expected a board" in result.output


def run_any(run: Run, *arguments: str) -> str:
    """The output of a command, whatever its status is."""
    from click.testing import CliRunner

    from farthest.cli.app import cli

    result = CliRunner().invoke(cli, arguments, prog_name="farthest")
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.output
