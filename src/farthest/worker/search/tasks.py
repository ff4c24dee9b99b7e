"""A batch of pieces of a search, as a worker's process searches it for a message (attempt, bound, batch)."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from farthest.environment import DATABASE_URL, MAPS
from farthest.errors import JobError, PuzzleError, StorageError, VersionError
from farthest.families.python.allowed import named_in
from farthest.puzzles.puzzle import Puzzle
from farthest.search.problem import Problem
from farthest.search.serialized import engine_fields
from farthest.stores.redis.attempts import other_version, unbelieved
from farthest.stores.redis.reports import WorkKind
from farthest.untrusted_json import read_json_object
from farthest.worker.leases import StepLeases, renewed
from farthest.worker.search.attempts import SearchAttempt, SearchFacts
from farthest.worker.task_process import TaskProcess

if TYPE_CHECKING:
    from farthest.heuristics.contract import PatternMap
    from farthest.search.contract import Engine, Node, PieceResult

SEARCHES_KEPT = 2
"""Engines kept in memory, with their pattern databases."""


class BatchProcess(TaskProcess):
    """Searches the batches of messages. The problem of a search is read once, and its engine made once."""

    kind: WorkKind = "search"

    def __init__(self, worker: str) -> None:
        super().__init__(worker)
        self._searches: OrderedDict[str, tuple[SearchFacts, Engine]] = OrderedDict()

    def name(self, attempt: str, depth: int, item: int) -> str:
        """See TaskProcess."""
        return f"batch {item} at bound {depth} of attempt {attempt}"

    def work(self, attempt: str, depth: int, item: int, again: bool) -> None:
        """See TaskProcess."""
        search = SearchAttempt(self.nodes, attempt)
        leases = StepLeases(self.nodes, attempt, self.lease_seconds, kind="search")
        nodes = search.batch(depth, item)
        if not leases.take(depth, item, self.holder):
            return
        with renewed(leases, depth, item, self.holder):  # the engine may have to load its databases
            facts, engine = self._search(search)
            search.commit(depth, item, search_batch(engine, facts, nodes, depth), self.holder)

    def _search(self, search: SearchAttempt) -> tuple[SearchFacts, Engine]:
        if search.attempt not in self._searches:
            facts = search.facts()
            self._searches[search.attempt] = facts, _open(facts, search.attempt)
            while len(self._searches) > SEARCHES_KEPT:
                self._searches.popitem(last=False)
        self._searches.move_to_end(search.attempt)
        return self._searches[search.attempt]


def enough(engine: Engine) -> int:
    """How many nodes end a batch: half of what one piece may take."""
    return engine.budget // 2


def search_batch(engine: Engine, facts: SearchFacts, nodes: Sequence[Node], bound: int) -> list[PieceResult]:
    """The results of the first pieces: as many as generate ``enough`` nodes, or up to the solution that ends the
    search."""
    pieces: list[PieceResult] = []
    counted = 0
    for node in nodes:
        piece = engine.run(node, bound, first=facts.first, limit=1 if facts.first else facts.limit)
        pieces.append(piece)
        counted += piece.nodes
        if counted >= enough(engine) or (facts.first and piece.solutions):
            break
    return pieces


def _open(facts: SearchFacts, attempt: str) -> Engine:
    """The engine of a search. Raises VersionError where this process would use another engine, JobError or StorageError
    where it cannot read the pattern databases."""
    from farthest.search.engines import open_engine

    with unbelieved(attempt):
        try:
            puzzle = Puzzle.from_json(facts.puzzle)
        except PuzzleError as error:
            raise ValueError(error) from error
        problem = Problem.from_fields(puzzle, read_json_object(facts.problem))
        cut = read_json_object(facts.engine)
    with named_in(f"attempt {attempt}"):
        engine = open_engine(problem, _load_map)
    if engine_fields(engine) != cut:
        raise VersionError(other_version(attempt, "with another engine"))
    return engine


def _load_map(puzzle: Puzzle) -> PatternMap:
    """A pattern database, from this worker's own database."""
    from farthest.models.database import open_database
    from farthest.queries.pattern_maps import PatternMaps

    try:
        with open_database(create=False) as database:
            return PatternMaps(database, compact=True)(puzzle)
    except (StorageError, JobError) as error:
        raise type(error)(
            f"{error}. A worker reads pattern databases itself: let its {DATABASE_URL.name} and {MAPS.name} name the "
            "places of the coordinator"
        ) from error


@cache
def _process(pid: int, worker: str) -> BatchProcess:
    return BatchProcess(worker)


def run_batch(worker: str, attempt: str, bound: int, batch: int, again: bool) -> None:
    """The body of the task: one batch in this process of ``worker``; see ``TaskProcess.run``."""
    _process(os.getpid(), worker).run(attempt, bound, batch, again)
