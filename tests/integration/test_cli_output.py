"""`farthest export`, `plot` and `verify`."""

import io
import resource
from functools import partial
from pathlib import Path

import numpy
import pyarrow.parquet
import pytest

from integration.conftest import Process, Run, RunJson, alter


@pytest.fixture(autouse=True)
def maps(place: str, run: Run) -> None:
    run("enumerate", "3-puzzle")


def test_export(run: Run, run_json: RunJson, folder: Path) -> None:
    assert run("export", "3-puzzle", "states.csv").stdout == "Wrote 12 states to states.csv.\n"
    lines = (folder / "states.csv").read_text().splitlines()
    assert lines[0] == "key,board,distance"
    assert len(lines) == 13
    assert "--force" in run("export", "3-puzzle", "states.csv", status=2).stderr
    document = run_json("export", "1", "states.csv", "--force")
    assert document == {"job": 1, "puzzle": "3-puzzle", "file": "states.csv", "states": 12}
    for file in ("states.parquet", "states.npz"):
        run("export", "1", file)
    assert ".parquet, .csv, .npz or .graphml" in run("export", "1", "states.txt", status=2).stderr
    run("export", "1", "states.txt", "--format", "csv")
    assert (folder / "states.txt").read_bytes() == (folder / "states.csv").read_bytes()


def test_a_column_for_each_cell(run: Run, folder: Path) -> None:
    run("export", "1", "states.csv")
    run("export", "1", "cells.csv", "--cells")
    boards = [line.split(",") for line in (folder / "states.csv").read_text().splitlines()]
    cells = [line.split(",") for line in (folder / "cells.csv").read_text().splitlines()]
    assert cells[0] == ["key", "cell_0", "cell_1", "cell_2", "cell_3", "distance"]
    assert [(row[0], "".join(row[1:5]), row[5]) for row in cells[1:]] == [
        (key, board.replace("/", ""), distance) for key, board, distance in boards[1:]
    ]
    run("export", "1", "cells.parquet", "--cells")
    table = pyarrow.parquet.read_table(folder / "cells.parquet")
    assert table.column_names == cells[0]
    assert table["cell_2"].to_pylist() == [row[3] for row in cells[1:]]
    assert "expected csv or parquet" in run("export", "1", "cells.npz", "--cells", status=2).stderr
    run("enumerate", "burnt-pancake-3")
    run("export", "burnt-pancake-3", "cells.csv", "--cells", "--force")
    assert (folder / "cells.csv").read_text().splitlines()[0].endswith("cell_2,turn_0,turn_1,turn_2,distance")


def test_a_column_for_each_jug(run: Run, folder: Path) -> None:
    run("enumerate", "jugs-8-5-3")
    run("export", "jugs-8-5-3", "jugs.csv", "--cells")
    head, *rows = [line.split(",") for line in (folder / "jugs.csv").read_text().splitlines()]
    assert head == ["key", "cell_0", "cell_1", "cell_2", "distance"]
    assert {sum(map(int, row[1:4])) for row in rows} == {8}


def test_export_to_standard_output(run: Run, folder: Path) -> None:
    for form in ("csv", "npz"):
        run("export", "1", f"states.{form}")
        result = run("export", "1", "--format", form, "-")
        assert result.stderr == "Wrote 12 states to standard output.\n"
        if form == "csv":
            assert result.stdout_bytes == (folder / "states.csv").read_bytes()
        else:
            with (
                numpy.load(io.BytesIO(result.stdout_bytes)) as there,
                numpy.load(folder / "states.npz") as here,
            ):
                assert {name: there[name].tolist() for name in there} == {
                    name: here[name].tolist() for name in here
                }
    assert "add --format" in run("export", "1", "-", status=2).stderr
    assert "--json" in run("export", "1", "-", "--format", "csv", "--json", status=2).stderr


def test_dataset(run: Run, run_json: RunJson, folder: Path) -> None:
    text = run("dataset", "3-puzzle", "data").stdout
    assert text.splitlines()[0].split() == ["part", "states"]
    assert "classes: by 2 symmetries\n" in text
    assert text.splitlines()[-1].startswith("Wrote ")
    card = (folder / "data" / "README.md").read_text()
    assert ": all states, each with its exact distance" in " ".join(card.split())
    assert run_json("show", "1")["digest"] in card
    assert "@misc{farthest-3-puzzle-" in card
    table = pyarrow.parquet.read_table(folder / "data" / "data")
    assert table.num_rows == 12
    document = run_json("dataset", "1", "some", "--sample", "5", "--seed", "3")
    assert {name: document[name] for name in ("job", "puzzle", "folder", "symmetries", "unknown")} == {
        "job": 1,
        "puzzle": "3-puzzle",
        "folder": "some",
        "symmetries": 2,
        "unknown": None,
    }
    assert sum(document["rows"].values()) == 5
    assert "exists already" in run("dataset", "1", "some", "--per-layer", "1", status=2).stderr
    assert "there is no job 7" in run("dataset", "7", "more", status=2).stderr
    both = run("dataset", "1", "more", "--per-layer", "1", "--sample", "1", status=2)
    assert "one of --sample N and --per-layer N" in both.stderr
    assert not (folder / "more").exists()


@pytest.mark.slow
def test_a_dataset_on_a_full_disk(run: Run, process: Process, folder: Path) -> None:
    """Files may have some kilobytes: nothing is left."""
    run("enumerate", "sliding-2x4")
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (40_000, 40_000))
    found = process("dataset", "sliding-2x4", "data", preexec_fn=limit)
    assert found.returncode == 2
    assert "cannot write data: File too large" in found.stderr
    assert [each.name for each in folder.iterdir() if "data" in each.name] == []


@pytest.mark.slow
def test_plot(run: Run, run_json: RunJson, folder: Path) -> None:
    assert run("plot", "1", "layers.png").stdout == "Drew 7 layers to layers.png.\n"
    assert run_json("plot", "1", "layers.svg", "--log")["layers"] == [1, 2, 2, 2, 2, 2, 1]
    assert (folder / "layers.svg").read_text().startswith("<?xml")
    assert "exists already" in run("plot", "1", "layers.svg", status=2).stderr
    assert ".png or .svg" in run("plot", "1", "layers.jpg", status=2).stderr


def test_verify(run: Run, run_json: RunJson) -> None:
    assert "job 1 (3-puzzle, to goal): proved" in run("verify", "1").stdout
    document = run_json("verify", "3-puzzle")
    assert document["ok"]
    assert document["job"] == 1
    assert {check["name"] for check in document["checks"]} >= {"origin", "nearer", "jump", "closed"}


UNSEALED = "UPDATE job SET parts = NULL, record_digest = NULL"
"""As an older version of the program has stored a job: the proof alone can tell what is wrong."""


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE job SET unit = 'uint16'", "the codec of a chunk is 'zstd:uint8', expected uint16"),
        ("UPDATE job SET keys = 11", "column keys: 11, where the layout has 12"),
    ],
)
def test_a_map_that_is_read_whole_fits_its_job(run: Run, statement: str, said: str) -> None:
    alter(statement)
    alter(UNSEALED)
    assert said in run("symmetry", "1", status=2).stderr


def test_verify_finds_a_wrong_digest(run: Run, run_json: RunJson) -> None:
    alter(UNSEALED)
    alter("UPDATE job SET digest = 'other'")
    text = run("verify", "1", status=1).stdout
    assert "DISPROVED" in text
    assert "digest: stored other" in text
    assert not run_json("verify", "1", status=1)["ok"]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE state SET distance = 2 WHERE key = 7", "rows: the row of key 7: distance 2; the map has 1"),
        (
            "UPDATE state SET board = '03/21' WHERE key = 7",
            "rows: the row of key 7: board '03/21'; the board",
        ),
        ("UPDATE state SET key = 1000 WHERE key = 7", "rows: the row of key 1000: keys are 0 to 11"),
        ("DELETE FROM state WHERE key = 7", "rows: there is no row of key 7, board "),
        ("DELETE FROM state", "rows: there is no row of key 0, board "),
        ("INSERT INTO state VALUES (1, 99, 2, '03/12')", "rows: the row of key 99: keys are 0 to 11"),
        ("UPDATE job SET states = 13", "job: states: stored 13, found 12"),
        ("UPDATE job SET eccentricity = 7", "job: eccentricity: stored 7, found 6"),
        ("UPDATE job SET depth = 5", "job: depth: stored 5, found 6"),
        ("UPDATE job SET unit = 'uint16'", "job: unit: stored uint16, found uint8"),
    ],
)
def test_verify_finds_what_was_altered(run: Run, statement: str, said: str) -> None:
    alter(statement)
    sealed = run("verify", "1", status=2 if statement.startswith("UPDATE job") else 1)
    assert "table job, row 1: it is not what was stored" in sealed.stderr or "record: job 1:" in sealed.stdout
    alter(UNSEALED)
    text = run("verify", "1", status=1).stdout
    assert "DISPROVED" in text
    assert said in text
    assert "record: an older version of farthest stored the job" in text


def test_verify_finds_what_only_sqlite_would_store(place: str, run: Run) -> None:
    if place == "farthest.db":
        alter("UPDATE state SET distance = 'far' WHERE key = 7")
        assert "rows: the row of key 7: distance 'far'" in run("verify", "1", status=1).stdout


def test_a_damaged_chunk(run: Run) -> None:
    alter("UPDATE chunk SET checksum = 'other'")
    for command in (
        ["distance", "1", "0 3 / 1 2"],
        ["path", "1", "0 3 / 1 2"],
        ["states", "1", "--farthest"],
        ["export", "1", "states.csv"],
        ["verify", "1"],
    ):
        result = run(*command, status=2)
        assert "damaged" in result.stderr
    assert not Path("states.csv").exists()
