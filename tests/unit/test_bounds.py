"""Tables of bounds that are made without a map: beside all distances of the pattern, and in a search."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import numpy
import pytest

import farthest
from farthest.coordinator.bounds import bounds_bytes, bounds_space, make_bounds
from farthest.coordinator.search.judging import judged
from farthest.errors import MissingMapError, ResourceError
from farthest.heuristics.candidates import candidate_of
from farthest.heuristics.tables import TableForm
from farthest.models.database import open_database
from farthest.puzzles.puzzle import Origin
from farthest.queries.pattern_maps import PatternMaps
from farthest.spaces import compile_space

if TYPE_CHECKING:
    from pathlib import Path

PATTERN = "cube-3x3x3@FR=FL=BL=BR.turns:edges"


MORE = [pytest.param(*form, marks=pytest.mark.night) for form in ((1, 5, 1), (2, 4, 1), (1, 5, 2), (2, 3, 8))]


@pytest.mark.slow
@pytest.mark.parametrize(("bits", "base", "shared"), [(2, 3, 4), *MORE])
def test_bounds_are_distances_where_these_are_greater_than_the_base(
    tmp_path: Path, bits: int, base: int, shared: int
) -> None:
    form = TableForm(bits, base, never=False, shared=shared)
    puzzle = farthest.load_puzzle(PATTERN)
    name, tokens = PATTERN.split("@")
    candidate = candidate_of(farthest.load_puzzle(name), f"@{tokens}", {tokens: (bits, base, shared)})
    with closing(open_database(str(tmp_path / "a.db"), create=True)) as database:
        maps = PatternMaps(database, tables=True)
        with pytest.raises(MissingMapError):
            maps(puzzle)
        assert judged(candidate, database, stored=True) is None
        layers: list[tuple[int, int]] = []
        make_bounds(puzzle, form, database, 1, lambda *each: layers.append(each))
        found = maps(puzzle)
        assert judged(candidate, database, stored=True) is not None
    with farthest.enumerate(PATTERN, symmetry=1, database=str(tmp_path / "b.db")) as whole:
        assert [states for _, states in layers] == list(whole.layers[1 : base + 2**bits - 1])
    distances = numpy.array(
        farthest.pattern_map(PATTERN, str(tmp_path / "b.db")).distances, dtype=numpy.uint8
    )
    boards = compile_space(puzzle, Origin()).decode(numpy.arange(len(distances), dtype=numpy.uint64))
    number = bounds_space(puzzle).encode(boards).astype(numpy.int64) // shared
    least = numpy.full(number.max() + 1, 255, dtype=numpy.uint8)
    numpy.minimum.at(least, number, distances)
    distances = least[number]
    table = found.distances
    assert not isinstance(table, numpy.ndarray)
    assert table.nbytes == bounds_bytes(puzzle, form)[0]
    expected = numpy.minimum(distances, base + 2**bits - 1).astype(numpy.int32)
    expected[distances <= base] = 0
    assert (table.bounds(numpy.arange(len(distances))) == expected).all()


@pytest.mark.slow
@pytest.mark.parametrize(("bits", "base"), [(1, 6), (2, 4)])
def test_searches_with_bounds_find_the_same_solutions(tmp_path: Path, bits: int, base: int) -> None:
    """A pattern that follows from that of the bounds is looked up where these prove nothing."""
    database, coarse = str(tmp_path / "a.db"), "@turns:edges"
    with closing(open_database(database, create=True)) as opened:
        make_bounds(farthest.load_puzzle(PATTERN), TableForm(bits, base, never=False), opened, 1)
    farthest.enumerate(f"cube-3x3x3{coarse}", database=database).close()
    for moves in ("U F2 R' B D2 L", "R2 D' F L2 U B' R", "B D L' F' U2 R"):
        board = f"moves: {moves}"
        found = [
            farthest.solve("cube-3x3x3", board, heuristic=heuristic, all_solutions=True, database=database)
            for heuristic in (f"sym:@{PATTERN.partition('@')[2]},sym:{coarse}", f"sym:{coarse}")
        ]
        assert found[0].length == found[1].length == len(moves.split())
        assert sorted(found[0].paths) == sorted(found[1].paths)


def test_other_puzzles_have_no_such_table() -> None:
    for name in ("8-puzzle", "cube-2x2x2-htm"):
        with pytest.raises(ResourceError, match="no table of bounds"):
            bounds_bytes(farthest.load_puzzle(name), TableForm(2, 4))
