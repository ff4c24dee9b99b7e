"""One piece of a search, as a worker's process runs it for a message (run, bound, piece)."""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from functools import cache
from typing import TYPE_CHECKING

from farthest.errors import VersionError
from farthest.puzzles.definition import Puzzle
from farthest.search.problem import Problem
from farthest.search.written import engine_fields
from farthest.worker.leases import StepLeases, renewed
from farthest.worker.runs import other_version
from farthest.worker.search_runs import SearchFacts, SearchRun
from farthest.worker.task_process import TaskProcess

if TYPE_CHECKING:
    from farthest.search.contract import Engine

SEARCHES_KEPT = 2
"""Engines kept in memory, with their pattern databases."""


class SubtreeProcess(TaskProcess):
    """Searches the pieces of messages. A search's problem is read, and its engine made, once."""

    def __init__(self, worker: str) -> None:
        super().__init__(worker)
        self._searches: OrderedDict[str, tuple[SearchFacts, Engine]] = OrderedDict()

    def name(self, run: str, depth: int, item: int) -> str:
        """See TaskProcess."""
        return f"piece {item} at bound {depth} of run {run}"

    def work(self, run: str, depth: int, item: int, again: bool) -> None:
        """See TaskProcess."""
        search = SearchRun(self.nodes, run)
        leases = StepLeases(self.nodes, run, self.lease_seconds, kind="search")
        node = search.node(depth, item)
        if not leases.take(depth, item, self.holder):
            return
        with renewed(leases, depth, item, self.holder):  # the engine may have to load its databases
            facts, engine = self._search(search)
            piece = engine.run(node, depth, first=facts.first, limit=1 if facts.first else facts.limit)
            search.commit(depth, item, piece, self.holder)

    def _search(self, search: SearchRun) -> tuple[SearchFacts, Engine]:
        if search.run not in self._searches:
            facts = search.facts()
            self._searches[search.run] = facts, _open(facts, search.run)
            while len(self._searches) > SEARCHES_KEPT:
                self._searches.popitem(last=False)
        self._searches.move_to_end(search.run)
        return self._searches[search.run]


def _open(facts: SearchFacts, run: str) -> Engine:
    """The engine of a search. Raises VersionError where this process makes another of it, JobError or StorageError
    where it cannot have the pattern databases."""
    from farthest.search.engines import open_engine

    problem = Problem.from_fields(Puzzle.from_json(facts.puzzle), json.loads(facts.problem))
    engine = open_engine(problem, None)
    if engine_fields(engine) != json.loads(facts.engine):
        raise VersionError(other_version(run, "with another engine"))
    return engine


@cache
def _process(pid: int, worker: str) -> SubtreeProcess:
    return SubtreeProcess(worker)


def run_subtree(worker: str, run: str, bound: int, piece: int, again: bool) -> None:
    """The body of the task: one piece in this process of ``worker``; see ``TaskProcess.run``."""
    _process(os.getpid(), worker).run(run, bound, piece, again)
