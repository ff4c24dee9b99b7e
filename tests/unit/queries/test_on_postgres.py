"""Maps in PostgreSQL answer as the same maps in files do."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy
import pytest

import farthest
from farthest.errors import UnreachableError
from farthest.puzzles.puzzle import Origin
from farthest.queries.distance_map import DistanceMap, open_map
from servers import PostgresServer
from unit.queries.conftest import MapOf

CASES = [
    ("roundabout", Origin("from", "goal"), None),
    ("red-and-white", None, None),
    ("sliding-2x3-slide", None, None),
    ("8-puzzle", None, 9),
    pytest.param(("eight-kinds", None, None), marks=pytest.mark.slow),
    ("jugs-8-5-3", None, None),
    ("rush-BBoooooooooCAAoooCooooooooDDoooooooo", None, 4),  # a sparse map
]
Pair = tuple[DistanceMap, DistanceMap]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case[0])
def pair(request: pytest.FixtureRequest, map_of: MapOf, postgres_server: PostgresServer) -> Iterator[Pair]:
    """The same map in a file and in PostgreSQL."""
    name, origin, depth = request.param
    with (
        postgres_server.fresh_database() as url,
        farthest.enumerate(name, database=url, origin=origin, max_depth=depth) as stored,
    ):
        yield map_of(name, origin, depth), stored


@pytest.mark.slow
def test_what_is_known_of_the_map(pair: Pair) -> None:
    file, stored = pair
    for fact in ("digest", "layers", "states", "eccentricity", "complete", "depth", "unit", "origin"):
        assert getattr(stored, fact) == getattr(file, fact)
    assert stored.record.layout == file.record.layout
    assert stored.verify().ok


def test_every_distance(pair: Pair) -> None:
    file, stored = pair
    assert numpy.array_equal(stored.array(), file.array())
    assert numpy.array_equal(stored.codes(), file.codes())
    texts = stored.puzzle.definition.texts(stored.space.decode(stored.codes()[:3000]))
    assert stored.distances(texts).tolist() == file.distances(texts).tolist()


@pytest.mark.slow
def test_states_and_solutions(pair: Pair) -> None:
    file, stored = pair
    for depth in range(stored.depth + 1):
        assert list(stored.states_at(depth)) == list(file.states_at(depth))
    assert stored.farthest() == file.farthest()
    for board in islice(file.states_at(file.depth), 3):
        assert stored.count_solutions(board) == file.count_solutions(board)
        assert list(islice(stored.solutions(board), 5)) == list(islice(file.solutions(board), 5))


@pytest.mark.parametrize("ending", ["csv", "npz", "parquet"])
def test_exports(pair: Pair, tmp_path: Path, ending: str) -> None:
    files = [tmp_path / f"{number}.{ending}" for number in range(2)]
    for one, file in zip(pair, files, strict=True):
        one.export(file)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_map_by_name_and_number(pair: Pair) -> None:
    stored = pair[1]
    url = stored.database.engine.url.render_as_string(hide_password=False)
    for job in (stored.record.name, stored.job):
        with open_map(job, url) as opened:
            assert opened.digest == stored.digest


@pytest.mark.slow
def test_what_has_no_distance(postgres_url: str) -> None:
    with farthest.enumerate("8-puzzle", database=postgres_url) as stored:
        assert stored.distances(["123456870"]).tolist() == [-1]
        with pytest.raises(UnreachableError, match="parity"):
            stored.distance("123456870")
