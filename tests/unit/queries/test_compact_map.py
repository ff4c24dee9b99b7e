"""Maps kept by representatives: the same distances for all keys, in searches too, and damage that is noticed."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Literal

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import farthest
from farthest.errors import DamagedMapError
from farthest.families.permutation import representatives
from farthest.families.permutation import representatives as splits
from farthest.families.permutation.definition import permutation
from farthest.families.permutation.representatives import Representatives, representatives_of
from farthest.families.user_input import board_given
from farthest.heuristics.contract import Heuristic, MapTable, ReducedMap
from farthest.heuristics.registry import open_heuristic
from farthest.models.chunks import Chunk
from farthest.models.map_reader import MapReader
from farthest.queries import pattern_maps as compact_map
from farthest.queries import residues as residue_reader
from farthest.queries.pattern_maps import PatternMaps, compacted
from farthest.search.arrangement_engine import arrangement_engine
from farthest.search.contract import Problem
from farthest.search.deepening import deepen
from farthest.search.plain import native_plain
from farthest.spaces import compile_space
from farthest.spaces.contract import NO_KEY
from farthest.spaces.reduced import RepresentativeSpace

SEARCHED = [
    ("pyraminx", "UL=RB.turns:all", "sym:@UL=RB.turns:all"),
    ("cube-2x2x2-htm", "UFL=UBR.turns:all", "@UFL=UBR.turns:all"),
]
"""A puzzle, a pattern of it, and a heuristic that looks its map up."""

NAMES = [
    ("cuboid-1x3x3", "full"),
    ("cube-2x2x2-htm@UFL=UBR.turns:all", "full"),
    pytest.param("cube-2x2x2-htm@UFL=UBR.turns:all", "residues", marks=pytest.mark.slow),
    pytest.param("pyraminx@edges", "full", marks=pytest.mark.slow),
    pytest.param("pyraminx", "residues", marks=pytest.mark.slow),
    pytest.param("cube-2x2x2-htm", "full", marks=pytest.mark.slow),
    pytest.param("cuboid-2x2x3", "full", marks=pytest.mark.slow),
    pytest.param("cube-3x3x3@places:FR=FL=BL=BR.turns:corners", "full", marks=pytest.mark.slow),
]


@pytest.fixture(autouse=True, scope="module")
def small() -> Iterator[None]:
    """Maps of any size are made smaller, by however little."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compact_map, "LARGE_KEYS", 0)
        patch.setattr(compact_map, "REDUCED_KEYS", 0)
        for module in (splits, representatives):
            patch.setattr(module, "GAIN", 0)
        patch.setattr(residue_reader, "TOLD_KEYS", 0)
        yield


@cache
def tables_of(name: str) -> Representatives:
    found = representatives_of(compile_space(farthest.load_puzzle(name)))
    assert found is not None
    return found


@pytest.mark.parametrize(("name", "kept"), NAMES)
def test_every_distance_is_that_of_the_whole_map(
    tmp_path: Path, name: str, kept: Literal["full", "residues"]
) -> None:
    with farthest.enumerate(name, database=str(tmp_path / "maps.db"), map=kept) as opened:
        found = compacted(opened.database, opened.record, opened.space)
        whole = opened.array()
    assert isinstance(found, ReducedMap)
    assert len(found) == len(whole)
    assert found.nbytes < len(whole) * 3
    keys = numpy.arange(len(whole), dtype=numpy.uint64)
    assert (found[keys] == whole).all()


@pytest.mark.parametrize(
    ("name", "symmetry", "by_tables"),
    [
        pytest.param("pyraminx@edges", 24, False, marks=pytest.mark.slow),
        pytest.param("cube-3x3x3@places:FR=FL=BL=BR.turns:corners", 16, True, marks=pytest.mark.slow),
        pytest.param("cube-3x3x3@FR=FL=BL=BR.turns:edges", 4, False, marks=pytest.mark.slow),
    ],
)
def test_maps_of_representatives_serve_as_those_of_all_states(
    tmp_path: Path, name: str, symmetry: int, by_tables: bool
) -> None:
    """Kept by representatives, of other classes than the enumeration's, and whole."""
    plain = farthest.enumerate(name, database=str(tmp_path / "plain.db"), symmetry=1)
    reduced = farthest.enumerate(name, database=str(tmp_path / "reduced.db"), symmetry=symmetry)
    with plain, reduced:
        whole, keys = plain.array(), numpy.arange(plain.space.keys or 0, dtype=numpy.uint64)
        found = PatternMaps(reduced.database, compact=True)(plain.puzzle).distances
        assert isinstance(found, ReducedMap)
        assert isinstance(reduced.space, RepresentativeSpace)
        assert (found.representatives.places_in(plain.space, reduced.space) is not None) == by_tables
        assert (found[keys] == whole).all()
        assert (PatternMaps(reduced.database).whole(plain.puzzle).distances == whole).all()


@pytest.mark.parametrize(
    ("name", "classes"),
    [
        ("cuboid-1x3x3", None),
        ("cube-2x2x2-htm@UFL=UBR.turns:all", None),
        pytest.param("pyraminx", None, marks=pytest.mark.slow),
        # The corners' places up to the symmetries of an axis, and the edges' flips with the middle layer's edges:
        # H. Kociemba, Cube Explorer (coordinates 2,768 and 64,430).
        pytest.param("cube-3x3x3@corners", 2768, marks=pytest.mark.slow),
        pytest.param("cube-3x3x3@FR=FL=BL=BR.turns:corners.edges", 64430, marks=pytest.mark.slow),
    ],
)
def test_classes_are_those_of_boards(name: str, classes: int | None) -> None:
    """Numbers of the reduced side: those of images of boards are of the same class, and as many classes as there are
    orbits (Burnside's lemma)."""
    space = compile_space(farthest.load_puzzle(name))
    found = representatives_of(space)
    assert found is not None
    if classes is not None:
        assert found.classes == classes
        return
    split = found.split
    numbers = numpy.arange(split.reduced, dtype=numpy.uint64)
    rng = numpy.random.default_rng(1)
    moved = rng.integers(0, split.moved, split.reduced, dtype=numpy.uint64)
    boards = space.decode(representatives._keys(split, numbers, moved))
    unchanged = 0
    for symmetry in split.symmetries:
        keys = space.encode(symmetry.images(boards))
        assert not (keys == NO_KEY).any()
        images, _ = representatives._numbers(split, keys)
        assert (found.reductions[images] >> 8 == found.reductions >> 8).all()
        unchanged += int((images == numbers).sum())
    assert unchanged == found.classes * len(split.symmetries) == found.classes * found.symmetries


def whole_map(tables: Representatives, seed: int) -> NDArray[numpy.uint8]:
    """Distances that keep the symmetries, at random."""
    keys = numpy.arange(tables.kernel.keys, dtype=numpy.uint64)
    entries = tables.entries(keys)
    least = numpy.arange(tables.kernel.entries, dtype=numpy.uint64)
    rows = least.reshape(tables.classes, -1)
    for moves, unmoved in zip(tables.moves, tables.unmoved, strict=True):
        rows[unmoved] = numpy.minimum(rows[unmoved], rows[unmoved][:, moves])
    random = numpy.random.default_rng(seed).integers(0, 200, len(least), dtype=numpy.uint8)
    return random[least[entries]]


@given(data=st.data())
@settings(deadline=None)
def test_one_wrong_distance_is_noticed(data: st.DataObject) -> None:
    """Unless all symmetries leave the state unchanged."""
    space, tables = compile_space(farthest.load_puzzle("cuboid-1x3x3")), tables_of("cuboid-1x3x3")
    distances = whole_map(tables, data.draw(st.integers(0, 9)))
    key = data.draw(st.integers(0, len(distances) - 1))
    board = space.decode(numpy.array([key], dtype=numpy.uint64))
    alone = all((each.images(board) == board).all() for each in tables.split.symmetries)
    distances[key] ^= 1
    entries = numpy.full(tables.kernel.entries, 254, dtype=numpy.uint8)
    wrong = tables.kernel.take(0, distances, entries)
    if wrong is None:
        differing = tables.differing(entries)
        assert (differing is None) == alone
        assert differing is None or tables.entries(numpy.array([tables.key_of(differing)]))[0] == differing
    else:
        assert (
            tables.entries(numpy.array([wrong, key])).tolist() == [tables.entries(numpy.array([key]))[0]] * 2
        )


def test_a_damaged_map_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = tables_of("cuboid-1x3x3")
    with farthest.enumerate("cuboid-1x3x3", database=str(tmp_path / "maps.db")) as opened:
        distances = opened.array()
        keys = numpy.arange(len(distances), dtype=numpy.uint64)
        (other,) = (
            images
            for symmetry in tables.split.symmetries
            if ((images := opened.space.encode(symmetry.images(opened.space.decode(keys)))) != keys).any()
        )
        together = tables.entries(keys) == tables.entries(other)
        # A state that shares its entry with its image, and one that does not.
        for key in (keys[together & (keys != other)][0], keys[~together][-1]):
            changed = distances.copy()
            changed[key] ^= 1
            whole = Chunk(0, len(changed) - 1, "uint8", changed.data)
            monkeypatch.setattr(MapReader, "chunks", lambda maps, job, whole=whole: iter([whole]))
            expected = r"its map is damaged: the distance of key \d+ \(board .*\) is \d+"
            with pytest.raises(DamagedMapError, match=expected):
                compacted(opened.database, opened.record, opened.space)


def test_what_has_no_split() -> None:
    for name in ("pancake-5", "cube-2x2x2-htm@turns:all", "sliding-2x3"):
        assert representatives_of(compile_space(farthest.load_puzzle(name))) is None


@pytest.fixture(scope="module")
def heuristics(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Problem, list[Heuristic]]]:
    """By puzzle a problem and one heuristic by the whole map, and by representatives."""
    database = str(tmp_path_factory.mktemp("maps") / "maps.db")
    found = {}
    for name, pattern, text in SEARCHED:
        puzzle = farthest.load_puzzle(name)
        goals = puzzle.definition.origin_boards[0]
        with farthest.enumerate(f"{name}@{pattern}", database=database) as opened:
            both = [
                open_heuristic(text, puzzle, goals, PatternMaps(opened.database, compact=compact))
                for compact in (False, True)
            ]
        found[name] = (Problem(puzzle, goals[0], "goal", text), both)
    return found


@pytest.mark.parametrize("name", [name for name, *_ in SEARCHED])
@given(data=st.data())
@settings(deadline=None, max_examples=10)
def test_searches_are_those_of_the_whole_map(
    heuristics: dict[str, tuple[Problem, list[Heuristic]]], name: str, data: st.DataObject
) -> None:
    """Values, nodes and solutions, by coordinates and on boards."""
    problem, both = heuristics[name]
    names = [move.name for move in permutation(problem.puzzle).generators]
    moves = data.draw(st.lists(st.sampled_from(names), max_size=4))
    problem = replace(
        problem, board=board_given(problem.puzzle, f"moves: {' '.join(moves)}" if moves else "goal")
    )
    board = numpy.array([problem.board], dtype=numpy.uint8)
    assert both[0].values(board).tolist() == both[1].values(board).tolist()
    results = []
    for heuristic in both:
        engine = arrangement_engine(problem, heuristic)
        assert engine is not None
        assert engine.walk.kernel.by_coordinates
        first = native_plain("astar", problem, heuristic, 2**28)
        assert first is not None
        told = (engine.lower_bound(problem.board), first.length, first.expanded, first.generated)
        results.append((told, deepen(engine, problem.board, first=False, limit=100)))
    assert results[0] == results[1]


def test_loaded_maps_are_kept_by_representatives(
    heuristics: dict[str, tuple[Problem, list[Heuristic]]],
) -> None:
    for _, (_, small) in heuristics.values():
        terms = small.terms()
        assert terms is not None
        assert all(isinstance(part.distances, ReducedMap) for (part,) in terms if isinstance(part, MapTable))
