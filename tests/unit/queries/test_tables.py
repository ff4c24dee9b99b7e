"""Tables of stored maps: the same distances for all keys, in searches too; files that are made once, made again where
they are damaged or of another map, and removed with their job."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import farthest
from farthest.families.permutation.definition import permutation
from farthest.families.permutation.representatives import look_up_of
from farthest.families.user_input import board_given
from farthest.heuristics.contract import UNREACHABLE, Heuristic
from farthest.heuristics.registry import open_heuristic
from farthest.heuristics.table_files import TableFiles
from farthest.heuristics.tables import Table, TableForm, best_base
from farthest.models.jobs import Jobs
from farthest.queries import pattern_maps
from farthest.queries.pattern_maps import PatternMaps
from farthest.search.arrangement_engine import arrangement_engine
from farthest.search.contract import Problem
from farthest.search.deepening import deepen
from farthest.search.plain import native_plain
from farthest.spaces import compile_space, reduced_space

PATTERN = "cube-2x2x2-htm@UFL=UBR.turns:all"

NAMES = [
    ("cuboid-1x3x3", 8, False),
    (PATTERN, None, False),
    pytest.param("pyraminx@edges", 24, True, marks=pytest.mark.slow),
    pytest.param("cube-3x3x3@places:FR=FL=BL=BR.turns:corners", 16, True, marks=pytest.mark.night),
    pytest.param("cube-3x3x3@FR=FL=BL=BR.turns:edges", 4, True, marks=pytest.mark.night),
    pytest.param("cube-3x3x3@places:FR=FL=BL=BR.turns:corners", 1, False, marks=pytest.mark.night),
]
"""A puzzle, the symmetries of its map, and whether its table is one of representatives."""


@pytest.fixture(autouse=True, scope="module")
def small() -> Iterator[None]:
    """Maps of any size are opened as tables."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pattern_maps, "TABLE_KEYS", 0)
        patch.setattr(pattern_maps, "LARGE_KEYS", 0)
        yield


def clamped(distances: NDArray[numpy.uint8], form: TableForm) -> NDArray[numpy.int32]:
    """What a table says of distances."""
    told = distances.astype(numpy.int32)
    if not form.never:
        told = numpy.minimum(told, form.base + form.top)
    return numpy.where(distances == 255, UNREACHABLE, numpy.where(told > form.base, told, 0))


@pytest.mark.parametrize(("name", "symmetry", "by_representatives"), NAMES)
def test_every_distance_is_that_of_the_map(
    tmp_path: Path, name: str, symmetry: int | None, *, by_representatives: bool
) -> None:
    with farthest.enumerate(name, database=str(tmp_path / "maps.db"), symmetry=symmetry) as opened:
        whole = PatternMaps(opened.database).whole(opened.puzzle).distances
        assert whole.dtype == numpy.uint8
        keys = numpy.arange(len(whole) + 1, dtype=numpy.uint64)
        for bits in (2, 4, 8):
            table = PatternMaps(opened.database, tables=True, bits=bits)(opened.puzzle).distances
            if not isinstance(table, Table):
                assert bits == 8
                assert not by_representatives
                continue
            assert table.form.bits == (bits if 255 not in whole or bits > 2 else 4)
            expected = clamped(numpy.asarray(whole, dtype=numpy.uint8), table.form)
            assert (table.bounds(keys) == numpy.append(expected, UNREACHABLE)).all()
            entries = (opened.record.keys or 0) if by_representatives else len(whole)
            assert table.nbytes == -(-entries * table.form.bits // 8)
            assert len(table) == len(whole)


def test_what_has_no_tables_of_representatives() -> None:
    for name in ("pancake-5", "cube-2x2x2-htm@turns:all", "sliding-2x3"):
        puzzle = farthest.load_puzzle(name)
        plain = compile_space(puzzle)
        kept = reduced_space(puzzle, None, None)
        assert kept is None or look_up_of(plain, kept) is None


def test_bases() -> None:
    assert best_base([1, 10, 100], 2) == 0
    assert best_base([1, 10, 100, 1000, 10000, 20000, 30000, 10], 2) == 3
    form = TableForm(2, 3, never=False)
    assert form.packed(numpy.array([0, 3, 4, 5, 6, 7, 9], dtype=numpy.uint8)).tolist() == [
        0b10010000,
        0b111111,
    ]
    form = TableForm(4, 1)
    assert form.packed(numpy.array([1, 2, 255, 77, 15], dtype=numpy.uint8)).tolist() == [0x10, 0xEF, 0x0E]


class Opened:
    """A database with one map, and its table's file."""

    def __init__(self, folder: Path) -> None:
        self.map = farthest.enumerate(PATTERN, database=str(folder / "maps.db"))
        self.folder = folder / "maps.db.tables"
        self.file = self.folder / f"{self.map.job}-4.table"

    def bounds(self) -> list[int]:
        """All of them, as another process opens the table."""
        pattern_maps._kept.clear()
        table = PatternMaps(self.map.database, tables=True)(self.map.puzzle).distances
        assert isinstance(table, Table)
        found: list[int] = table.bounds(numpy.arange(len(table))).tolist()
        return found


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    found = Opened(tmp_path)
    with found.map:
        yield found


def test_a_file_is_made_once_and_again_where_it_is_not_whole(opened: Opened) -> None:
    expected = opened.bounds()
    assert [path.name for path in opened.folder.iterdir()] == [opened.file.name]
    right, made = opened.file.read_bytes(), opened.file.stat().st_ino
    assert opened.bounds() == expected
    assert opened.file.stat().st_ino == made
    rng = numpy.random.default_rng(1)
    changed = [bytearray(right) for _ in range(6)]
    for each, place in zip(changed, [0, 20, 40, *rng.integers(0, len(right), 3).tolist()], strict=True):
        each[place] ^= 1
    for damaged in (*map(bytes, changed), b"", right[:-1], right[:5000], right + b"\0"):
        opened.file.write_bytes(damaged)
        (opened.folder / f"{opened.file.stem}.new").write_bytes(b"what a killed process has left")
        assert opened.bounds() == expected
        assert opened.file.read_bytes() == right
        assert [path.name for path in opened.folder.iterdir()] == [opened.file.name]


def test_a_table_of_another_map_is_made_again(opened: Opened, tmp_path: Path) -> None:
    with farthest.enumerate("cuboid-1x3x3", database=str(tmp_path / "other.db")) as other:
        PatternMaps(other.database, tables=True)(other.puzzle)
    opened.folder.mkdir()
    opened.file.write_bytes((tmp_path / "other.db.tables" / "1-4.table").read_bytes())
    assert len(opened.bounds()) == opened.map.space.keys or opened.map.reduced


def test_without_a_folder_tables_are_in_memory(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = opened.bounds()
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("FARTHEST_TABLES", str(tmp_path / "file"))
    assert opened.bounds() == expected
    monkeypatch.setenv("FARTHEST_TABLES", str(tmp_path / "named"))
    assert opened.bounds() == expected
    (own,) = (tmp_path / "named").iterdir()
    assert [path.name for path in own.iterdir()] == [opened.file.name]


def test_tables_go_with_their_job(opened: Opened) -> None:
    opened.bounds()
    size = opened.file.stat().st_size
    assert Jobs(opened.map.database).delete(opened.map.job) > size
    assert not opened.folder.exists()


def test_tables_of_a_server_are_in_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FARTHEST_TABLES", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", f"{os.sep}cache")
    one, other = (TableFiles(None, place).folder for place in ("postgresql://host/a", "postgresql://host/b"))
    assert one.parent == other.parent == Path(f"{os.sep}cache/farthest/tables")
    assert one != other


SEARCHED = [
    ("pyraminx", "edges", 24, "sym:@edges"),
    ("cube-2x2x2-htm", "UFL=UBR.turns:all", 1, "@UFL=UBR.turns:all"),
]
"""A puzzle, a pattern of it, the symmetries of its map, and a heuristic that looks it up."""


@pytest.fixture(scope="module")
def heuristics(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Problem, list[Heuristic]]]:
    """By puzzle a problem and a heuristic by the whole map, by its table, and by one of two bits."""
    database = str(tmp_path_factory.mktemp("maps") / "maps.db")
    found = {}
    for name, pattern, symmetry, text in SEARCHED:
        puzzle = farthest.load_puzzle(name)
        goals = puzzle.definition.origin_boards[0]
        with farthest.enumerate(f"{name}@{pattern}", database=database, symmetry=symmetry) as opened:
            table = PatternMaps(opened.database, tables=True)(opened.puzzle).distances
            assert isinstance(table, Table)
            assert table.kernel.entry_is_key == (symmetry == 1)
            maps = [PatternMaps(opened.database, tables=bits > 0, bits=bits or None) for bits in (0, 4, 2)]
            each = [open_heuristic(text, puzzle, goals, load_map) for load_map in maps]
        found[name] = (Problem(puzzle, goals[0], "goal", text), each)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, *_ in SEARCHED])
@given(data=st.data())
@settings(deadline=None, max_examples=3)
def test_searches_are_those_of_the_whole_map(
    heuristics: dict[str, tuple[Problem, list[Heuristic]]], name: str, data: st.DataObject
) -> None:
    """Values, nodes and solutions, by coordinates and on boards; of two bits the solutions alone."""
    problem, each = heuristics[name]
    names = [move.name for move in permutation(problem.puzzle).generators]
    moves = data.draw(st.lists(st.sampled_from(names), max_size=4))
    problem = replace(
        problem, board=board_given(problem.puzzle, f"moves: {' '.join(moves)}" if moves else "goal")
    )
    board = numpy.array([problem.board], dtype=numpy.uint8)
    assert each[0].values(board).tolist() == each[1].values(board).tolist()
    assert each[2].values(board)[0] <= each[0].values(board)[0]
    results = []
    for heuristic in each:
        engine = arrangement_engine(problem, heuristic)
        assert engine is not None
        assert engine.walk.kernel.by_coordinates
        first = native_plain("astar", problem, heuristic, 2**28)
        assert first is not None
        assert (engine.lower_bound(problem.board) == 0) == (not first.length)
        results.append(
            (
                first.length,
                first.expanded,
                first.generated,
                deepen(engine, problem.board, first=False, limit=100),
            )
        )
    assert results[0] == results[1]
    assert results[0][0] == results[2][0]
    whole, few = results[0][3], results[2][3]
    assert (whole.length, whole.solutions) == (few.length, few.solutions)
    assert set(whole.listed) == set(few.listed)
