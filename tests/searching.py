"""Searches of single problems, and of those whose database is open already."""

from __future__ import annotations

from farthest.coordinator.search.settings import SearchOutcome, SearchReporter, SearchSettings
from farthest.coordinator.search.solve import Solver
from farthest.coordinator.search.storage import SearchStorage
from farthest.models.database import Database
from farthest.search.contract import Problem


def solve_problem(
    problem: Problem,
    settings: SearchSettings,
    storage: SearchStorage | None = None,
    reporter: SearchReporter | None = None,
) -> SearchOutcome:
    """Solves one problem."""
    solver = Solver(problem.puzzle, problem.target, problem.heuristic, settings, storage, reporter)
    return solver.solve(problem.board)


def stored_in(database: Database) -> SearchStorage:
    """An open database, for all searches."""
    made = SearchStorage(store=True)
    made._opened = database
    return made
