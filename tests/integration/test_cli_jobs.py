"""`farthest jobs`, `show` and `delete`."""

import os
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

import farthest
from farthest.cli.jobs import print_jobs
from farthest.machine import cores
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.models.leases import owner_token
from farthest.puzzles import catalogue
from farthest.wording import counted
from integration.conftest import Run, RunJson, alter


def test_jobs(place: str, run: Run, run_json: RunJson) -> None:
    run("enumerate", "3-puzzle")
    run("enumerate", "8-puzzle", "--from", "start", "--max-depth", "2")
    lines = run("jobs").stdout.splitlines()
    assert len(lines) == 3
    assert lines[1].split()[:7] == ["1", "3-puzzle", "to", "goal", "finished", "12", "6"]
    assert lines[2].split()[:7] == ["2", "8-puzzle", "from", "start", "finished", "9", "2+"]
    document = run_json("jobs")
    assert [job["job"] for job in document["jobs"]] == [1, 2]
    assert document["jobs"][1]["parameters"]["max_depth"] == 2
    assert document["database"] == place


def test_show(place: str, run: Run, run_json: RunJson) -> None:
    digest = run_json("enumerate", "3-puzzle")["digest"]
    text = run("show", "3-puzzle").stdout
    assert digest in text
    assert "eccentricity  6\n" in text
    document = run_json("show", "1")
    assert (document["layers"], document["classes"]) == ([1, 2, 2, 2, 2, 2, 1], None)
    with open_database(create=False) as database:
        assert document["layer_seconds"] == [layer.seconds for layer in Jobs(database).layers(1)]
    assert (document["digest"], document["has_map"], document["keys"]) == (digest, True, 12)
    run("enumerate", "3-puzzle", "--max-depth", "2")
    assert (
        "not known: --max-depth or the memory ended the enumeration after layer 2" in run("show", "2").stdout
    )


def test_layers_for_the_oeis(place: str, run: Run) -> None:
    """The figures are those of A300003 and A380576."""
    run("enumerate", "reversals-7", "--map", "none", "--threads", "1")
    lines = run("show", "1", "--oeis", "--offset", "22").stdout.splitlines()
    assert lines[-7:] == ["22 1", "23 21", "24 266", "25 1563", "26 2539", "27 648", "28 2"]
    told = "\n".join(lines[:-7])
    assert all(line.startswith("# ") for line in lines[:-7])
    for words in (
        "# Row: 1, 21, 266, 1563, 2539, 648, 2\n",
        "# Partial sums: 1, 22, 288, 1851, 4390, 5038, 5040\n",
        "# Sum of all distances: 18650\n",
        "# See A300003.\n",
        "# Computed by: farthest enumerate reversals-7 --map none\n",
        f"# farthest {farthest.__version__}, ",
        f"by 1 thread; {counted(cores(), 'core')}.",
        f"# SHA-256 of the puzzle: {catalogue.load('reversals-7').digest}",
    ):
        assert words in told
    run("enumerate", "8-puzzle", "--from", "123450678", "--max-depth", "2", "--symmetry", "none")
    partial = run("show", "2", "--oeis")
    assert partial.stdout.splitlines()[-3:] == ["0 1", "1 3", "2 5"]
    assert "# PARTIAL: layers 0 to 2 alone" in partial.stdout
    assert "--from 123/450/678 --max-depth 2 --symmetry none\n" in partial.stdout
    assert "Warning: job 2 is finished, and these are not all of its layers." in partial.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--oeis", "--json"], "leave one of them out"),
        (["--offset", "3"], "--offset numbers the lines of --oeis"),
        (["--oeis"], "job 1 is a search, which has no layers"),
    ],
)
def test_what_the_oeis_does_not_get(place: str, run: Run, options: list[str], told: str) -> None:
    if options == ["--oeis"]:
        run("solve", "3-puzzle", "2130", "--store")
    assert told in run("show", "1", *options, status=2).stderr


def test_a_job_that_did_not_finish(place: str, run: Run, run_json: RunJson) -> None:
    run("enumerate", "3-puzzle")
    puzzle = catalogue.load("8-puzzle")
    parameters = {"direction": "to", "where": "goal", "max_depth": None, "histogram_only": False}
    with open_database(create=False) as database:
        owner = f"{os.uname().nodename}/999999999/0"
        Jobs(database).add(puzzle.to_json(), puzzle.digest, puzzle.name, parameters, {}, owner)
    assert "interrupted" in run("jobs").stdout
    assert run_json("show", "2")["status"] == "interrupted"
    assert "none yet" in run("show", "2").stdout
    assert "is interrupted, and none of its layers are stored" in run("show", "2", "--oeis", status=2).stderr
    for command in (["distance", "2", "123456780"], ["plot", "2", "x.svg"], ["show", "8-puzzle"]):
        assert "Error: " in run(*command, status=2).stderr
    run("delete", "2")


def test_delete(place: str, run: Run, run_json: RunJson) -> None:
    run("enumerate", "3-puzzle")
    run("enumerate", "3-puzzle", "--from", "start")
    assert run("delete", "3-puzzle").stdout.startswith(f"Deleted job 2 (3-puzzle) from {place}: ")
    document = run_json("delete", "1")
    assert (document["job"], document["puzzle"], document["database"]) == (1, "3-puzzle", place)
    assert document["bytes"] > 0
    assert run("jobs").stdout == f"No jobs in {place}; `farthest enumerate PUZZLE` makes one.\n"
    assert run_json("jobs")["jobs"] == []
    assert "there is no job 1" in run("delete", "1", status=2).stderr


def test_a_damaged_job_is_deleted_as_its_message_says(folder: Path, run: Run) -> None:
    run("enumerate", "3-puzzle")
    plain = sqlite3.connect("farthest.db")
    plain.execute("UPDATE job SET id = 99999999999, keys = 11")
    plain.commit()
    plain.close()
    assert "`farthest delete 99999999999`" in run("jobs", status=2).stderr
    said = run("delete", "99999999999").stdout
    assert said.startswith("Deleted job 99999999999 (which was damaged) from farthest.db: ")
    assert "No jobs" in run("jobs").stdout


def test_a_running_job_is_not_deleted(place: str, run: Run) -> None:
    run("enumerate", "3-puzzle")
    puzzle = catalogue.load("3-puzzle")
    with open_database(create=False) as database:
        Jobs(database).add(puzzle.to_json(), puzzle.digest, puzzle.name, {"x": 1}, {}, owner_token())
    assert "is being run" in run("delete", "2", status=2).stderr


@pytest.mark.parametrize("command", [["jobs"], ["show", "1"], ["delete", "1"], ["verify", "1"]])
def test_databases_that_are_none(run: Run, folder: Path, command: list[str]) -> None:
    assert "there is no such database" in run(*command, status=2).stderr
    (folder / "text.db").write_text("This is not a database. " * 100)
    assert "text.db" in run(*command, "--database", "text.db", status=2).stderr
    sqlite3.connect("other.db").close()
    assert "Error: " in run(*command, "--database", "other.db", status=2).stderr
    assert "Error: " in run(*command, "--database", str(folder), status=2).stderr


@pytest.mark.parametrize(("terminal", "most"), [(None, 100), (200, 100), (93, 93), (80, 80), (40, 80)])
def test_lines_of_jobs_fit(
    terminal: int | None,
    most: int,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run("enumerate", "3-puzzle")
    with open_database(create=False) as database:
        (plain,) = Jobs(database).list()
    if terminal is not None:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", str(terminal))
    board = {**plain.parameters, "where": "┘│└/─□─/┐│┌ " * 20}
    large: dict[str, Any] = {
        "status": "interrupted",
        "states": 10_461_394_944_000,
        "depth": 233,
        "seconds": 123_456.789,
    }
    records = [
        plain,
        replace(plain, name="x" * 64, parameters=board),
        replace(plain, name="日本語パズル" * 9, **large),
        replace(plain, name="\x1b[31m\x07e\u0301🁢", parameters={**plain.parameters, "where": "a\nb\tc"}),
        replace(
            plain, id=10**6, name="a-rather-long-name-of-a-puzzle", complete=False, parameters=board, **large
        ),
    ]
    print_jobs(records)
    heading, *lines = capsys.readouterr().out.splitlines()
    assert max(map(cell_len, [heading, *lines])) <= most
    assert len({cell_len(line) for line in lines}) == 1  # all end with the minute of the same moment
    assert all(sign.isprintable() for line in lines for sign in line)
    assert all("…" in line for line in (lines[1], lines[2], lines[4]))
    if most > 80:
        assert lines[0].split()[:7] == ["1", "3-puzzle", "to", "goal", "finished", "12", "6"]


def test_jobs_of_any_size_fit(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    run("enumerate", "3-puzzle")
    with open_database(create=False) as database:
        (plain,) = Jobs(database).list()
    huge: dict[str, Any] = {
        "id": 10**17,
        "name": "x" * 64,
        "status": "interrupted",
        "states": 2**63,
        "seconds": 1e12,
        "depth": 10**6,
    }
    print_jobs([replace(plain, **huge)])
    assert max(map(cell_len, capsys.readouterr().out.splitlines())) <= 100


def test_submitted_jobs_and_the_progress_of_one(place: str, run: Run, run_json: RunJson) -> None:
    run("enumerate", "3-puzzle")
    puzzle = catalogue.load("3-puzzle")
    parameters = {"direction": "to", "where": "goal", "max_depth": None, "histogram_only": False}
    with open_database(create=False) as database:
        repository = Jobs(database)
        for _ in range(3):
            repository.add(puzzle.to_json(), puzzle.digest, puzzle.name, parameters, {})
        repository.cancel(4)
        assert repository.claim_next(owner_token(), 60)
        progress = {"depth": 4, "states": 1234, "blocks": 8, "blocks_done": 2, "workers": 2, "seconds": 1.25}
        repository.renew(2, owner_token(), 60, progress)
    assert [job["status"] for job in run_json("jobs")["jobs"]] == [
        "finished",
        "running",
        "queued",
        "cancelled",
    ]
    told = "layer under way 5, states 1,234, blocks done 2 of 8, time of the layers 1.25 s, workers 2"
    assert f"progress      {told}\n" in run("show", "2").stdout
    assert run_json("show", "2")["progress"] == progress
    assert "progress" not in run("show", "3").stdout


def test_a_line_break_in_a_name_does_not_break_the_message(run: Run) -> None:
    error = run("show", "1", "--database", "a\nb.db", status=2).stderr
    assert error.startswith("Error: a\\nb.db: there is no such database; ")
    assert error.count("\n") == 1


def test_several_jobs_and_ranges_are_deleted(place: str, run: Run, run_json: RunJson) -> None:
    for _ in range(7):
        run("enumerate", "3-puzzle", "--max-depth", "1", "--again")
    assert run("delete", "60-70").stdout == "0 jobs deleted: 0 bytes.\n"
    said = run("delete", "1", "3-4", "4-3", status=2)
    assert (said.stdout, "expected 3-4" in said.stderr) == ("", True)
    said = run("delete", "1", "99", "3-4", status=2)
    assert (said.stdout, "there is no job 99" in said.stderr) == ("", True)
    assert "nothing was deleted" in said.stderr
    said = run("delete", "1", "3-4", "4", f"5-{'9' * 30}x", status=2)
    assert said.stdout == ""
    lines = run("delete", "1", "3-4", "4", "30-40").stdout.splitlines()
    assert [line.split(" (")[0] for line in lines[:3]] == [f"Deleted job {job}" for job in (1, 3, 4)]
    assert lines[3].startswith("3 jobs deleted: ")
    assert [job["job"] for job in run_json("jobs")["jobs"]] == [2, 5, 6, 7]
    document = run_json("delete", f"6-{'9' * 30}", "3-puzzle")
    assert [gone["job"] for gone in document["deleted"]] == [6, 7]
    assert document["bytes"] == sum(gone["bytes"] for gone in document["deleted"]) > 0
    assert "job" not in document


def test_tables_that_no_job_has_are_listed_and_deleted(run: Run, run_json: RunJson) -> None:
    run("enumerate", "3-puzzle")
    name, folder = f"{'3f' * 8}-2", Path("farthest.db.tables")
    folder.mkdir()
    for file in (f"{name}.table", "1-4.table"):
        (folder / file).write_bytes(bytes(2**20))
    assert run_json("jobs")["tables"] == [{"table": name, "bytes": 2**20}]
    assert run("jobs").stdout.endswith(f"\nTable of bounds {name}, made by a search: 1.0 MiB.\n")
    assert run("delete", name).stdout == f"Deleted table {name} from {folder}: 1.0 MiB.\n"
    assert [path.name for path in folder.iterdir()] == ["1-4.table"]
    assert "no finished job" in run("delete", name, status=2).stderr
    assert run_json("jobs")["tables"] is None


def test_of_a_range_all_but_running_jobs_are_deleted(place: str, run: Run, run_json: RunJson) -> None:
    run("enumerate", "3-puzzle")
    puzzle = catalogue.load("3-puzzle")
    with open_database(create=False) as database:
        Jobs(database).add(puzzle.to_json(), puzzle.digest, puzzle.name, {"x": 1}, {}, owner_token())
    run("enumerate", "3-puzzle", "--max-depth", "1")
    said = run("delete", "1-3", status=2)
    assert [line.split(" (")[0] for line in said.stdout.splitlines()[:2]] == [
        "Deleted job 1",
        "Deleted job 3",
    ]
    assert "2 jobs deleted" in said.stdout
    assert "job 2 is being run" in said.stderr
    assert [job["job"] for job in run_json("jobs")["jobs"]] == [2]
    result = run("delete", "2", "--json", status=2)
    assert '"deleted": []' in result.stdout


def test_a_proof_is_told_until_something_disproves_it(place: str, run: Run, run_json: RunJson) -> None:
    run("enumerate", "3-puzzle")
    assert "\nverified      no\n" in run("show", "1").stdout
    assert run_json("jobs")["jobs"][0]["verified"] is None
    report = run_json("verify", "1")
    found = run_json("show", "1")
    assert found["version"] == found["verified"]["version"] == farthest.__version__
    assert [one["name"] for one in found["verified"]["checks"]] == [one["name"] for one in report["checks"]]
    assert f"by farthest {farthest.__version__}, {len(report['checks'])} checks" in run("show", "1").stdout
    alter("UPDATE state SET board = 'x' WHERE key = 0")
    run("verify", "1", status=1)
    assert run_json("show", "1")["verified"] is None


def test_where_the_states_are_a_group_the_eccentricity_is_the_diameter(run: Run) -> None:
    """There every state is as far from the others as the goal is."""
    told = ", the diameter too"
    assert told in run("show", str(farthest.enumerate("pancake-5").job)).stdout
    assert told not in run("show", str(farthest.enumerate("8-puzzle").job)).stdout
    layers = [list(farthest.histogram("pancake-5", origin=board).layers) for board in ("goal", "3 1 5 2 4")]
    assert layers[0] == layers[1]
