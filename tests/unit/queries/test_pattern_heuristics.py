"""Stored maps of patterns of permutation puzzles as heuristics: what maps prove of them, and the kernel's values."""

from pathlib import Path

import numpy as np
import pytest

import farthest
from farthest.heuristics.registry import open_heuristic
from farthest.heuristics.tables import Table
from farthest.queries import pattern_maps
from farthest.queries.pattern_maps import PatternMaps
from farthest.search.arrangement_engine import arrangement_engine
from farthest.search.contract import Problem


@pytest.mark.parametrize(
    ("name", "patterns", "text"),
    [
        pytest.param("pancake-6", ["4-6"], "@4-6", marks=pytest.mark.slow),
        ("pancake-6", ["1-3", "4-6"], "@1-3,@4-6,gap"),
        ("burnt-pancake-4", ["3.4"], "@3.4,gap"),
        pytest.param("topspin-6-3", ["1-3"], "@1-3", marks=pytest.mark.slow),
        pytest.param("lrx-6", ["1-3"], "@1-3", marks=pytest.mark.slow),
        ("sliding-2x3-slide", ["plain:1-2"], "@plain:1-2"),
    ],
)
def test_maps_of_patterns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, patterns: list[str], text: str
) -> None:
    database = str(tmp_path / "maps.db")
    for tokens in patterns:
        farthest.enumerate(f"{name}@{tokens}", database=database).close()
    with farthest.enumerate(name, database=database) as opened:
        (found,) = opened.heuristics([text])
        assert found.admissible
        assert found.consistent
        assert found.heuristic.admissible
        assert found.heuristic.consistent
        assert found.mean > 0
        goals, _ = opened.puzzle.definition.origin_boards
        heuristic = open_heuristic(text, opened.puzzle, goals, PatternMaps(opened.database))
        assert opened.space.keys is not None
        codes = np.arange(0, opened.space.keys, opened.space.keys // 40, dtype=np.uint64)
        boards = opened.space.decode(codes)
        engine = arrangement_engine(Problem(opened.puzzle, goals[0], "goal", text), heuristic)
        assert engine is not None
        bounds = [engine.lower_bound(tuple(board)) for board in boards.tolist()]
        expected = np.where(
            opened.puzzle.definition.at_goal(boards), 0, np.maximum(heuristic.values(boards), 1)
        )
        assert bounds == expected.tolist()
        # The same in half a byte each.
        monkeypatch.setattr(pattern_maps, "TABLE_KEYS", 0)
        monkeypatch.setattr(pattern_maps, "LARGE_KEYS", 0)
        small = PatternMaps(opened.database, tables=True)
        packed = open_heuristic(text, opened.puzzle, goals, small)
        kept = small(farthest.load_puzzle(f"{name}@{patterns[0]}"))
        assert isinstance(kept.distances, Table) == (opened.puzzle.family == "permutation")
        assert len(kept.distances) == kept.space.keys
        assert (packed.values(boards) == heuristic.values(boards)).all()
        engine = arrangement_engine(Problem(opened.puzzle, goals[0], "goal", text), packed)
        assert engine is not None
        assert [engine.lower_bound(tuple(board)) for board in boards.tolist()] == bounds


def test_orientations(tmp_path: Path) -> None:
    """Corners of the 2x2x2 cube, the others' orientations ignored: of boards some moves away from the goal."""
    database = str(tmp_path / "maps.db")
    puzzle = farthest.load_puzzle("cube-2x2x2-htm")
    tokens = ".".join(
        puzzle.definition.texts(np.array(puzzle.definition.origin_boards[0], dtype=np.uint8))[0].split()[:2]
    )
    with farthest.enumerate(f"cube-2x2x2-htm@{tokens}", database=database) as opened:
        goals = puzzle.definition.origin_boards[0]
        heuristic = open_heuristic(f"@{tokens}", puzzle, goals, PatternMaps(opened.database))
        engine = arrangement_engine(Problem(puzzle, goals[0], "goal", f"@{tokens}"), heuristic)
        assert engine is not None
        boards = np.array(goals, dtype=np.uint8)
        for depth in range(1, 4):
            after = [reached for _, _, reached in engine.walk.space.neighbours(boards, toward=False)]
            boards = np.unique(np.concatenate(after), axis=0)[:300]
            values = heuristic.values(boards)
            assert values.max() <= depth
            away = np.where(puzzle.definition.at_goal(boards), 0, np.maximum(values, 1))
            assert [engine.lower_bound(tuple(board)) for board in boards.tolist()] == away.tolist()
