"""Whatever is changed in a stored job, `verify` tells it, or nothing reads it; no answer is wrong."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from changed_values import KINDS, TABLES, Stored
from farthest.models.tables import chunk, job, layer, puzzle, state
from flips import KINDS as FLIPPED
from flips import Flip, flips
from questions import ask
from sqlite_pages import Pages


def test_every_byte_of_a_file_has_a_label(tmp_path: Path) -> None:
    assert ask(("enumerate", "3-puzzle"), tmp_path / "maps.db")[0][0] == 0
    labels = set(Pages(tmp_path / "maps.db").of)
    columns = {f"{one.name}.{column.name}" for one in (puzzle, job, layer, chunk, state) for column in one.c}
    # A row id is no column of a record; null, 0 and 1 take no bytes in one.
    columns = {name for name in columns if not name.endswith("_id")}
    absent = "puzzle.id job.id job.result job.progress job.owner job.error job.lease_until job.complete job.has_map"
    absent += " job.submitted chunk.lead chunk.first_key layer.classes"
    assert columns - set(absent.split()) <= labels


def wrong(found: list[Flip]) -> list[str]:
    return [str(flip) for flip in found if flip.problem]


@pytest.mark.parametrize(
    "number", [pytest.param(20, marks=pytest.mark.slow), pytest.param(400, marks=pytest.mark.night)]
)
def test_changed_bytes_are_told_or_not_read(tmp_path: Path, number: int) -> None:
    found = flips(number, 11, tmp_path, [kind for kind in FLIPPED if kind != "deep"])
    assert wrong(found) == []
    assert sum(flip.told for flip in found) > number // 4
    assert sum(not flip.told for flip in found) > number // 4


@pytest.mark.parametrize(
    ("job", "statement"),
    [
        (1, "UPDATE job SET complete = '[[[['"),
        (1, "UPDATE job SET has_map = 2"),
        (1, "UPDATE job SET finished = finished || '0'"),
        (1, "UPDATE job SET created = replace(created, ' ', 'T')"),
        (2, "UPDATE iteration SET complete = 3.5"),
        (2, "UPDATE iteration SET solutions = '0' || solutions"),
    ],
)
def test_values_that_mean_the_same_but_were_not_written_are_told(
    tmp_path: Path, job: int, statement: str
) -> None:
    for words in (
        ("enumerate", "3-puzzle"),
        ("solve", "3-puzzle", "21/30", "--store", "--heuristic", "zero"),
    ):
        assert ask(words, tmp_path / "maps.db")[0][0] == 0
    verify = ("verify", str(job), "--json")
    assert ask(verify, tmp_path / "maps.db")[0][0] == 0
    plain = sqlite3.connect(tmp_path / "maps.db")
    assert plain.execute(statement).rowcount
    plain.commit()
    plain.close()
    (status, _), problem = ask(verify, tmp_path / "maps.db")
    assert (status, problem) == (2, "")


@pytest.fixture
def stored(database_url: str) -> Iterator[Stored]:
    made = Stored(database_url, "sparse")
    yield made
    made.close()


NAMED = [
    "job.layout",
    "job.parameters",
    "job.keys",
    "job.depth",
    "chunk.depth",
    "chunk.lead",
    "puzzle.digest",
]
"""Columns whose changes were not told, or ended in a traceback."""


@pytest.mark.slow
def test_changed_values_are_told(stored: Stored) -> None:
    columns = [column for table in TABLES for column in table.c if str(column) in NAMED]
    assert len(columns) == len(NAMED)
    stored.ask_only("verify", "distance")
    made, found = stored.changes(columns)
    assert found == []
    assert made > 12


@pytest.mark.night
def test_changed_values_are_told_in_every_column(tmp_path: Path) -> None:
    for kind in KINDS:
        stored = Stored(f"sqlite:///{tmp_path / kind}.db", kind)
        stored.ask_only("verify", "distance", "show")
        made, found = stored.changes((column for table in TABLES for column in table.c), most=3)
        stored.close()
        assert found == []
        assert made > 60
