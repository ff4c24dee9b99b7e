"""One coordinator's attempt at a search, as it is stored in Redis.

Its keys are on the main node, with the prefix of all attempts (stores/redis/attempts.py), by which they are found and
removed:

    meta                    hash: ``kind`` search, and what the problem is (``SearchFacts``); ``bound``, of the
                            iteration under way
    p:{bound}               hash: for each batch of pieces that was sent and is not taken back, the nodes that are to
                            be searched below
    r:{bound}               hash: what was found in a batch; the first to store it has searched it
    done                    list: what was found, and what failed, for the coordinator that waits
    lease:{bound}:{batch}   who searches the batch now (worker/leases.py)

The coordinator numbers batches as it sends them, with no number twice in an attempt. The result of a batch is that of
its first pieces, until they have taken half of the nodes that one piece may take: so small pieces do not need a message
each, and a batch takes not much longer than a large piece. Nodes and results have a checksum that includes their names:
damaged or misplaced ones raise LostStateError. All of it can be made again from the database.
"""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from farthest.environment import DATABASE_URL, MAPS
from farthest.errors import JobError, LateStepError, LostStateError, PuzzleError, StorageError, VersionError
from farthest.families.python.allowed import named_in
from farthest.puzzles.puzzle import Puzzle
from farthest.search.contract import Problem, engine_fields, node_fields, node_of, piece_fields, piece_of
from farthest.stores.redis.attempts import PROTOCOL, drop, other_version, prefix, touch, unbelieved
from farthest.stores.redis.records import Report, WorkKind, numbers, recorded, with_checksum
from farthest.untrusted_json import items, read_json_object
from farthest.version import __version__
from farthest.worker.leases import StepLeases, renewed
from farthest.worker.task_process import TaskProcess

if TYPE_CHECKING:
    from farthest.heuristics.contract import PatternMap
    from farthest.search.contract import Engine, Node, PieceResult
    from farthest.stores.redis.connections import RedisNodes


KIND = "search"

_COMMIT = """
if redis.call('HGET', KEYS[1], 'bound') ~= ARGV[1] then return 0 end
if redis.call('HEXISTS', KEYS[2], ARGV[2]) == 0 then return 0 end
if redis.call('HSETNX', KEYS[3], ARGV[2], ARGV[3]) == 1 then redis.call('RPUSH', KEYS[4], ARGV[4]) end
return 1
"""
"""Stores the result of a batch, unless there is one or nobody waits for it. KEYS: meta, nodes, results, done. ARGV:
bound, batch, result, entry of the done-list. Returns whether anyone waits for it."""


@dataclass(frozen=True, slots=True)
class SearchFacts:
    """What a worker needs to know of a search. ``puzzle``, ``problem``: the puzzle and ``Problem.fields``, as JSON.
    ``engine``: what cuts it into pieces (search/contract.py)."""

    puzzle: str
    problem: str
    first: bool
    limit: int
    engine: str

    def fields(self) -> dict[str, str]:
        """As stored in ``meta``."""
        return {
            "kind": KIND,
            "protocol": str(PROTOCOL),
            "version": __version__,
            "puzzle": self.puzzle,
            "problem": self.problem,
            "first": str(int(self.first)),
            "limit": str(self.limit),
            "engine": self.engine,
        }

    @classmethod
    def of(cls, fields: Mapping[str, str], attempt: str) -> SearchFacts:
        """Inverse of ``fields``. Raises LateStepError when there is no such attempt, VersionError for another
        version's."""
        if "puzzle" not in fields:
            raise LateStepError(f"attempt {attempt} has ended")
        try:
            if int(fields["protocol"]) != PROTOCOL or fields["kind"] != KIND:
                raise ValueError
            return cls(
                fields["puzzle"],
                fields["problem"],
                fields["first"] == "1",
                int(fields["limit"]),
                fields["engine"],
            )
        except (KeyError, ValueError):
            raise VersionError(other_version(attempt, fields.get("version", "unknown"))) from None


class SearchAttempt:
    """The keys of the attempt called ``attempt``. All methods raise what ``RedisNodes.call`` does."""

    kind: WorkKind = "search"

    def __init__(self, nodes: RedisNodes, attempt: str) -> None:
        self.nodes = nodes
        self.attempt = attempt
        self._prefix = prefix(attempt)
        self._commit = nodes.main.register_script(_COMMIT)

    @property
    def done_key(self) -> str:
        """The done-list."""
        return f"{self._prefix}done"

    @property
    def _meta(self) -> str:
        return f"{self._prefix}meta"

    def _nodes_key(self, bound: int) -> str:
        return f"{self._prefix}p:{bound}"

    def _results_key(self, bound: int) -> str:
        return f"{self._prefix}r:{bound}"

    # For coordinators

    def create(self, facts: SearchFacts) -> None:
        """Makes the attempt known."""
        fields: Any = facts.fields()

        def write() -> None:
            touch(self.nodes, self.attempt)
            self.nodes.main.hset(self._meta, mapping=fields)

        self.nodes.call(write)

    def begin(self, bound: int) -> None:
        """Begins an iteration, and removes everything of other iterations. Raises LostStateError."""

        def write() -> None:
            old: Any = self.nodes.main.hget(self._meta, "bound")
            with self.nodes.main.pipeline() as pipe:
                if old is not None:
                    (last,) = numbers([old], self._meta)
                    pipe.delete(self._nodes_key(last), self._results_key(last), self.done_key)
                pipe.hset(self._meta, "bound", str(bound))
                pipe.execute()

        self._check()
        self.nodes.call(write)

    def offer(self, bound: int, batches: Mapping[int, Sequence[Node]]) -> None:
        """Stores the nodes of batches that are to be sent."""
        texts: Any = {
            str(number): with_checksum(f"p:{bound}:{number}", _json(list(map(node_fields, nodes))))
            for number, nodes in batches.items()
        }
        if texts:
            self.nodes.call(lambda: self.nodes.main.hset(self._nodes_key(bound), mapping=texts))

    def finished(self, depth: int) -> Collection[int]:
        """The batches of the iteration of bound ``depth`` with a result. Raises LostStateError where Redis has lost the
        attempt. Records that the coordinator is alive."""
        self._check()
        self.nodes.call(lambda: touch(self.nodes, self.attempt))
        found: Any = self.nodes.call(lambda: self.nodes.main.hkeys(self._results_key(depth)))
        return set(numbers(found, self._results_key(depth)))

    def take_back(self, bound: int, numbers: Iterable[int]) -> dict[int, list[PieceResult]]:
        """The results of batches. Raises LostStateError where a result is missing or damaged."""
        wanted = list(numbers)
        if not wanted:
            return {}
        names = [str(number) for number in wanted]
        texts: Any = self.nodes.call(lambda: self.nodes.main.hmget(self._results_key(bound), names))
        batches = {}
        for number, text in zip(wanted, texts, strict=True):
            what = f"batch {number} at bound {bound}"
            if text is None:
                raise LostStateError(f"attempt {self.attempt}: the result of {what} is missing")
            batches[number] = recorded(text, f"r:{bound}:{number}", what, _pieces)
        self.withdraw(bound, wanted)
        return batches

    def withdraw(self, bound: int, numbers: Iterable[int]) -> None:
        """Removes batches that are not wanted any more."""
        names = [str(number) for number in numbers]
        if not names:
            return

        def remove() -> None:
            with self.nodes.main.pipeline() as pipe:
                pipe.hdel(self._nodes_key(bound), *names)
                pipe.hdel(self._results_key(bound), *names)
                pipe.execute()

        self.nodes.call(remove)

    def drop(self) -> None:
        """Removes all keys of the attempt."""
        self.nodes.call(lambda: drop(self.nodes, self.attempt))

    def name(self, depth: int, item: int) -> str:
        """The name of a batch in messages for users."""
        return f"batch {item} of the search at bound {depth}"

    def named(self, depth: int, items: Iterable[int]) -> str:
        """The names of batches in messages for users."""
        return f"bound {depth}: batches {list(items)}"

    def _check(self) -> None:
        if not self.nodes.call(lambda: self.nodes.main.exists(self._meta)):
            raise LostStateError(f"attempt {self.attempt}: Redis has lost the search")

    # For workers

    def facts(self) -> SearchFacts:
        """The facts of the search. Raises LateStepError where it has ended, VersionError for another version's."""
        found: Any = self.nodes.call(lambda: self.nodes.main.hgetall(self._meta))
        fields = {
            name.decode(errors="replace"): value.decode(errors="replace") for name, value in found.items()
        }
        return SearchFacts.of(fields, self.attempt)

    def batch(self, bound: int, number: int) -> list[Node]:
        """The nodes of a batch. Raises LateStepError where nobody waits for it, LostStateError."""
        text: Any = self.nodes.call(lambda: self.nodes.main.hget(self._nodes_key(bound), str(number)))
        what = f"batch {number} at bound {bound}"
        if text is None:
            raise LateStepError(f"attempt {self.attempt}: nobody waits for {what}")
        return recorded(text, f"p:{bound}:{number}", what, _nodes)

    def commit(self, bound: int, number: int, pieces: Sequence[PieceResult], holder: str) -> bool:
        """Stores the results of the first pieces of a batch, once, and reports them. Returns whether anyone waits for
        them."""
        result = with_checksum(f"r:{bound}:{number}", _json(list(map(piece_fields, pieces))))
        keys = [self._meta, self._nodes_key(bound), self._results_key(bound), self.done_key]
        report = Report(bound, number, holder, kind="search").text()
        arguments = [str(bound), str(number), result, report]
        return bool(self.nodes.call(lambda: self._commit(keys=keys, args=arguments)))


def _pieces(fields: Any) -> list[PieceResult]:
    return list(map(piece_of, items(fields)))


def _nodes(fields: Any) -> list[Node]:
    return list(map(node_of, items(fields)))


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


# --- A batch of pieces of a search, as a worker's process searches it for a message (attempt, bound, batch).

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
