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
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farthest.errors import LateStepError, LostStateError, VersionError
from farthest.json_fields import items
from farthest.search.serialized import node_fields, node_of, piece_fields, piece_of
from farthest.stores.redis.attempts import PROTOCOL, drop, other_version, prefix, touch
from farthest.stores.redis.records import numbers, recorded, with_checksum
from farthest.stores.redis.reports import Report, WorkKind
from farthest.version import __version__

if TYPE_CHECKING:
    from farthest.search.contract import Node, PieceResult
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
    ``engine``: what cuts it into pieces (search/serialized.py)."""

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
