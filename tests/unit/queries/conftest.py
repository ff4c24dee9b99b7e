"""Maps of small puzzles, each enumerated once and kept in a database of its own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import farthest
from farthest.puzzles.puzzle import Origin
from farthest.queries.distance_map import DistanceMap

MapOf = Callable[..., DistanceMap]


@pytest.fixture(scope="session")
def map_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MapOf]:
    """The map of a puzzle: ``map_of(name, origin=None, max_depth=None)``."""
    folder = tmp_path_factory.mktemp("maps")
    known: dict[tuple[str, Origin | None, int | None], DistanceMap] = {}

    def find(name: str, origin: Origin | None = None, max_depth: int | None = None) -> DistanceMap:
        asked = (name, origin, max_depth)
        if asked not in known:
            file: Path = folder / f"{len(known)}.db"
            known[asked] = farthest.enumerate(name, database=str(file), origin=origin, max_depth=max_depth)
        return known[asked]

    yield find
    for opened in known.values():
        opened.close()
