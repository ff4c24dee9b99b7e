"""The work of searches: the batches of pieces of an iteration, and small searches of many boards.

The keys of a search (worker/work.py) are on the main node, with the prefix of all attempts (stores/redis/attempts.py),
by which they are found and removed:

    meta          hash: what the search is (``SearchFacts``); ``bound``, of the iteration under way
    p:{bound}     hash: for each batch that was sent and is not taken back, the nodes that are to be searched below
    r:{bound}     hash, the records: what was found in a batch

The coordinator numbers batches as it sends them, with no number twice in an attempt. The result of a batch is that of
its first pieces, until they have taken half of the nodes that one piece may take: so small pieces do not need a message
each, and a batch takes not much longer than a large piece. Nodes and results have a checksum that includes their names:
damaged or misplaced ones raise LostStateError. All of it can be made again from the database.

Of many boards (``BoardWork``) each is a batch of one node at the bound 0. What is found is the only piece of each of
its iterations, up to the first that is not searched whole, or that ends the search.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any, TypeVar, cast

import msgspec

from farthest.environment import DATABASE_URL, MAPS
from farthest.errors import (
    JobError,
    LateStepError,
    LostStateError,
    PuzzleError,
    StorageError,
    VersionError,
    named_in,
)
from farthest.heuristics.contract import UNREACHABLE, Heuristic, PatternMap
from farthest.heuristics.registry import open_heuristic
from farthest.puzzles.puzzle import Puzzle
from farthest.search.contract import Engine, Node, PieceResult, Problem, engine_fields
from farthest.search.engines import engine_with, open_engine
from farthest.stores.redis.attempts import other_version, prefix, unbelieved
from farthest.stores.redis.records import numbers, recorded, with_checksum
from farthest.untrusted_json import read_json_object
from farthest.worker.work import Work, WorkerProcess

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class SearchFacts:
    """What a worker needs to know of a search. ``first``, ``limit``: as for ``Engine.run``. ``engine``: how the search
    is cut into pieces (``engine_fields``)."""

    problem: Problem
    first: bool
    limit: int
    engine: dict[str, Any]

    def fields(self) -> dict[str, str]:
        """As stored in ``meta``."""
        return {
            "puzzle": self.problem.puzzle.to_json(),
            "problem": json.dumps(self.problem.fields()),
            "first": str(int(self.first)),
            "limit": str(self.limit),
            "engine": json.dumps(self.engine),
        }

    @classmethod
    def of(cls, fields: Mapping[str, str], attempt: str) -> SearchFacts:
        """Inverse of ``fields``. Raises LostStateError for what no coordinator has written."""
        with unbelieved(attempt):
            try:
                puzzle = Puzzle.from_json(fields["puzzle"])
            except PuzzleError as error:
                raise ValueError(error) from error
            problem = Problem.from_fields(puzzle, read_json_object(fields["problem"]))
            return cls(
                problem, fields["first"] == "1", int(fields["limit"]), read_json_object(fields["engine"])
            )


class SearchWork(Work):
    """The batches of an attempt at a search; the depth of an item is the bound of its iteration. All methods raise what
    ``RedisNodes.call`` does."""

    kind = "search"
    item_name = "batch {item} of the search at bound {depth}"
    whole_name = "the search at bound {depth}"
    under_way = "bound"
    most_open = 2  # engines in memory, with their pattern databases

    def records_key(self, depth: int) -> str:
        return f"{prefix(self.attempt)}r:{depth}"

    def _nodes_key(self, bound: int) -> str:
        return f"{prefix(self.attempt)}p:{bound}"

    # For coordinators

    def begin(self, bound: int) -> None:
        """Begins an iteration, and removes everything of other iterations. Raises LostStateError."""

        def write() -> None:
            puzzle, old = cast(
                "list[Any]", self.nodes.main.hmget(self.keys.meta_key, ["puzzle", self.under_way])
            )
            if puzzle is None:
                raise LostStateError(f"attempt {self.attempt}: Redis has lost the search")
            with self.nodes.main.pipeline() as pipe:
                if old is not None:
                    (last,) = numbers([old], self.keys.meta_key)
                    pipe.delete(self._nodes_key(last), self.records_key(last), self.keys.done_key)
                pipe.hset(self.keys.meta_key, self.under_way, str(bound))
                pipe.execute()

        self.nodes.call(write)

    def put(self, bound: int, batches: Mapping[int, Sequence[Node]]) -> None:
        """Stores the nodes of batches that are to be sent."""
        texts: Any = {
            str(number): with_checksum(f"p:{bound}:{number}", msgspec.json.encode(nodes).decode())
            for number, nodes in batches.items()
        }
        if texts:
            self.nodes.call(lambda: self.nodes.main.hset(self._nodes_key(bound), mapping=texts))

    def withdraw(self, bound: int, numbers: Iterable[int]) -> None:
        """Removes batches that are not wanted any more."""
        names = [str(number) for number in numbers]
        if not names:
            return

        def remove() -> None:
            with self.nodes.main.pipeline() as pipe:
                pipe.hdel(self._nodes_key(bound), *names)
                pipe.hdel(self.records_key(bound), *names)
                pipe.execute()

        self.nodes.call(remove)

    # For workers

    def open(self, process: WorkerProcess) -> None:
        self._holder = process.holder

    def do(self, depth: int, item: int) -> None:
        nodes = self.batch(depth, item)
        facts, engine = self._opened
        self.commit(depth, item, search_batch(engine, facts, nodes, depth), self._holder)

    @cached_property
    def _opened(self) -> tuple[SearchFacts, Engine]:
        """The facts and the engine, which may have to load pattern databases."""
        facts = self.facts()
        return facts, open_for(facts, self.attempt)

    def facts(self) -> SearchFacts:
        """The facts of the search. Raises as ``known`` and ``SearchFacts.of``."""
        return SearchFacts.of(self.known("puzzle"), self.attempt)

    def batch(self, bound: int, number: int) -> list[Node]:
        """The nodes of a batch. Raises LateStepError where nobody waits for it, LostStateError."""
        text: Any = self.nodes.call(lambda: self.nodes.main.hget(self._nodes_key(bound), str(number)))
        if text is None:
            raise LateStepError(f"attempt {self.attempt}: nobody waits for {self.name(bound, number)}")
        return recorded(text, f"p:{bound}:{number}", self.name(bound, number), list[Node])

    def commit(self, bound: int, number: int, pieces: Sequence[Any], holder: str) -> bool:
        """Stores the results of the first pieces of a batch, once, and reports them. Returns whether anyone waits for
        them."""
        return self.set_found(bound, number, pieces, holder, self._nodes_key(bound))


Timed = tuple[PieceResult, float]
"""The only piece of an iteration, and the seconds that its search took."""


class BoardWork(SearchWork):
    """The searches of many boards of an attempt, an item each; ``SearchFacts.problem`` has one of them."""

    kind = "board"
    item_name = "board {item} of a batch"
    whole_name = "the boards of a batch"

    def do(self, depth: int, item: int) -> None:
        (node,) = self.batch(depth, item)
        facts, heuristic = self._with_heuristic
        engine = engine_with(replace(facts.problem, board=node.board), heuristic)
        check_engine(engine, facts, self.attempt)
        self.commit(depth, item, iterations_in_one_piece(engine, facts, node), self._holder)

    @cached_property
    def _with_heuristic(self) -> tuple[SearchFacts, Heuristic]:
        facts = self.facts()
        problem = facts.problem
        with named_in(f"attempt {self.attempt}"):
            heuristic = open_heuristic(problem.heuristic, problem.puzzle, problem.targets(), _load_map)
        return facts, heuristic


def iterations_in_one_piece(engine: Engine, facts: SearchFacts, node: Node) -> list[Timed]:
    """The pieces of the first iterations below a board, up to the one before the first that is to be split, or to one
    that is not searched whole, or ends the search."""
    found: list[Timed] = []
    bound: int | None = engine.lower_bound(node.board)
    while bound is not None and bound < UNREACHABLE:
        begun = perf_counter()
        piece = engine.run(node, bound, first=facts.first, limit=facts.limit)
        if piece.rest:
            break
        found.append((piece, perf_counter() - begun))
        if piece.solutions or piece.nodes >= engine.split_from:
            break
        bound = piece.next_bound
    return found


def enough(engine: Engine) -> int:
    """How many nodes end a batch: half of what one piece may take."""
    return engine.budget // 2


def search_batch(engine: Engine, facts: SearchFacts, nodes: Sequence[Node], bound: int) -> list[PieceResult]:
    """The results of the first pieces: as many as generate ``enough`` nodes, or up to the solution that ends the
    search."""
    pieces: list[PieceResult] = []
    counted = 0
    for node in nodes:
        piece = engine.run(node, bound, first=facts.first, limit=facts.limit)
        pieces.append(piece)
        counted += piece.nodes
        if counted >= enough(engine) or (facts.first and piece.solutions):
            break
    return pieces


def open_for(facts: SearchFacts, attempt: str) -> Engine:
    """The engine of a search. Raises VersionError where this process would use another engine, JobError or StorageError
    where it cannot read the pattern databases."""
    with named_in(f"attempt {attempt}"):
        engine = open_engine(facts.problem, _load_map)
    check_engine(engine, facts, attempt)
    return engine


def check_engine(engine: Engine, facts: SearchFacts, attempt: str) -> None:
    """Raises VersionError for another engine than that of the attempt's coordinator."""
    if engine_fields(engine) != facts.engine:
        raise VersionError(other_version(attempt, "with another engine"))


def _load_map(puzzle: Puzzle) -> PatternMap:
    """A pattern database, from this worker's own database."""
    from farthest.models.database import open_database
    from farthest.queries.pattern_maps import PatternMaps

    try:
        with open_database(create=False) as database:
            return PatternMaps(database, tables=True)(puzzle)
    except (StorageError, JobError) as error:
        raise type(error)(
            f"{error}. A worker reads pattern databases itself: let its {DATABASE_URL.name} and {MAPS.name} name the "
            "places of the coordinator"
        ) from error
