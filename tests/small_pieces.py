"""Searches of small puzzles cut into many pieces, as those of large ones are."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from farthest.coordinator.search import solve as search_solve
from farthest.puzzles.catalogue import load
from farthest.search import engines as sliding_engine
from farthest.search.arrangement_engine import ArrangementEngine
from farthest.search.contract import Problem
from farthest.search.engines import BatchEngine, SlidingEngine

PUZZLE = "15-puzzle"
BOARD = "0 8 1 6 / 5 2 11 3 / 13 10 12 4 / 14 9 7 15"
LENGTH, SOLUTIONS = 36, 14
CUT = "5000 24 3000"
"""Gives some thousand pieces of this board, with Manhattan distances."""
FEWER = "5000 24 14000"
"""Some three hundred: where something is stored after each."""


def cut(text: str, setting: Any = setattr) -> None:
    """Cuts searches smaller, of all engines: ``text`` has split_from, parts, budget, and perhaps seconds that each
    piece takes longer; then what was found is stored more often, too. ``setting``: sets the attributes, such as
    pytest's ``monkeypatch.setattr``."""
    split_from, parts, budget, seconds = [*text.split(), "0"][:4]
    setting(sliding_engine, "piece_budget", lambda _terms, _cells: int(budget))
    others: list[Any] = [ArrangementEngine, BatchEngine]
    for engine in others:
        setting(engine, "budget", int(budget))
        setting(engine, "widest", int(parts))
    for engine in (SlidingEngine, *others):
        setting(engine, "split_from", int(split_from))
        setting(engine, "parts", int(parts))
        if float(seconds):
            setting(engine, "run", slowly(engine.run, float(seconds)))
    if float(seconds):
        setting(search_solve, "COMMIT_SECONDS", 0.1)


def problem(setting: Any, how: str = CUT) -> Problem:
    """The search of BOARD, cut as ``how`` says; ``setting``: see ``cut``."""
    cut(how, setting)
    puzzle = load(PUZZLE)
    return Problem(puzzle, puzzle.definition.parse_board(BOARD), "goal", "manhattan")


def slowly(run: Callable[..., Any], seconds: float) -> Callable[..., Any]:
    """The same, after so many seconds."""

    def slow(*arguments: Any, **options: Any) -> Any:
        time.sleep(seconds)
        return run(*arguments, **options)

    return slow
