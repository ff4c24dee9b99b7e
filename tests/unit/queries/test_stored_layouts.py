"""Layouts of jobs without digests, as older versions of the program stored them.

What is no layout of the puzzle is told before a kernel sees it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

import farthest
from farthest.errors import FarthestError, StorageError
from farthest.models.database import open_database
from farthest.models.tables import job
from farthest.queries.distance_map import open_map

PUZZLES = (
    "sliding-2x3",
    "two-blanks",
    "pancake-5",
    "cuboid-1x3x3",
    "hoppers",
    "hanoi-3-4",
    "lights-3x3",
    "8-puzzle@1-2",
)


def altered(value: Any) -> Iterator[Any]:
    """The value with each of its leaves changed in several ways, and parts of it left out."""
    if isinstance(value, dict | list):
        places = list(value) if isinstance(value, dict) else list(range(len(value)))
        for place in places:
            yield (
                [one for i, one in enumerate(value) if i != place]
                if isinstance(value, list)
                else {name: one for name, one in value.items() if name != place}
            )
            for other in altered(value[place]):
                copy = value.copy()
                copy[place] = other
                yield copy
    others: tuple[Any, ...] = (None, -1, 0, 1, 99, 2**62, 0.5, "x", [], {}, [[]])
    yield from (other for other in others if other != value)


@pytest.mark.slow
@pytest.mark.parametrize("name", PUZZLES)
def test_layouts_that_are_none_of_the_puzzle(tmp_path: Path, name: str) -> None:
    url = str(tmp_path / "maps.db")
    with farthest.enumerate(name, database=url) as opened:
        layout, board, depth = opened.record.layout, opened.farthest(1)[0], opened.depth
    with open_database(url, create=False) as database, database.write() as connection:
        connection.execute(update(job).values(parts=None, record_digest=None))
    others = [one for one in altered(layout) if isinstance(one, dict)]
    told = 0
    for other in others[:: max(1, len(others) // 6)]:
        with open_database(url, create=False) as database, database.write() as connection:
            connection.execute(update(job).values(layout=json.dumps(other)))
        with open_map("1", url) as opened:
            try:
                opened.distance(board)
            except FarthestError:
                told += 1
    assert told > len(others[:: max(1, len(others) // 6)]) // 2
    with open_database(url, create=False) as database, database.write() as connection:
        connection.execute(update(job).values(layout=json.dumps(layout)))
    with open_map("1", url) as opened:
        assert opened.distance(board) == depth


def test_keys_that_are_not_those_of_the_layout(tmp_path: Path) -> None:
    url = str(tmp_path / "maps.db")
    farthest.enumerate("3-puzzle", database=url).close()
    with open_database(url, create=False) as database, database.write() as connection:
        connection.execute(update(job).values(parts=None, record_digest=None, keys=11))
    with (
        open_map("1", url) as opened,
        pytest.raises(StorageError, match="column keys: 11, where the layout has 12"),
    ):
        opened.distance(opened.puzzle.definition.example())
