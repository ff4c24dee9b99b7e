"""The work of surveys: their parts.

In Redis, with the prefix of the attempt's keys (worker/work.py):

    meta        hash: the set of starts, and into how many parts the survey is divided
    found:0     hash, the records: what a part has found, and its seconds, until the coordinator has stored it
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

import msgspec

from farthest.errors import LateStepError, LostStateError, VersionError
from farthest.starts import Found, Starts, starts_of
from farthest.stores.redis.attempts import PROTOCOL, drop, other_version, prefix, read_meta, touch, unbelieved
from farthest.stores.redis.records import recorded, with_checksum
from farthest.untrusted_json import read_json_object
from farthest.version import __version__
from farthest.worker.work import Work, WorkerProcess

if TYPE_CHECKING:
    from farthest.stores.redis.connections import RedisNodes


class Done(msgspec.Struct, frozen=True):
    """What a part has found, and the seconds that it took."""

    found: Found
    seconds: float


class SurveyWork(Work):
    """The parts of an attempt at a survey, which has one depth, 0."""

    kind = "survey"
    item_name = "part {item} of a survey"
    whole_name = "the parts of a survey"
    under_way = "survey"

    def __init__(self, nodes: RedisNodes, attempt: str) -> None:
        super().__init__(nodes, attempt)
        self._holder = ""
        self._starts: Starts
        self._parts = 0

    def records_key(self, depth: int) -> str:
        return f"{prefix(self.attempt)}found:{depth}"

    # For coordinators

    def create(self, starts: Starts, parts: int) -> None:
        """Makes the attempt known."""
        fields: Mapping[Any, Any] = {
            "kind": self.kind,
            "protocol": str(PROTOCOL),
            "version": __version__,
            "starts": json.dumps(starts.fields()),
            "parts": str(parts),
            self.under_way: "0",
        }

        def write() -> None:
            touch(self.nodes, self.attempt)
            self.nodes.main.hset(self.keys.meta_key, mapping=fields)

        self.nodes.call(write)

    def take_back(self, parts: Sequence[int]) -> list[Done]:
        """What parts that are done have found. Raises LostStateError where that of one is missing or damaged."""
        fields = [str(part) for part in parts]
        texts: Any = self.nodes.call(lambda: self.nodes.main.hmget(self.records_key(0), fields))
        found = []
        for part, text in zip(parts, texts, strict=True):
            if text is None:
                raise LostStateError(
                    f"attempt {self.attempt}: what {self.name(0, part)} has found is missing"
                )
            found.append(recorded(text, _place(part), self.name(0, part), Done))
        return found

    def forget(self, parts: Sequence[int]) -> None:
        """Removes what parts have found: it is stored."""
        self.nodes.call(lambda: self.nodes.main.hdel(self.records_key(0), *map(str, parts)))

    def drop(self) -> None:
        """Removes all keys of the attempt."""
        self.nodes.call(lambda: drop(self.nodes, self.attempt))

    # For workers

    def open(self, process: WorkerProcess) -> None:
        fields = read_meta(self.nodes, self.attempt)
        if "starts" not in fields:
            raise LateStepError(f"attempt {self.attempt} has ended")
        if (fields.get("protocol"), fields.get("kind")) != (str(PROTOCOL), self.kind):
            raise VersionError(other_version(self.attempt, fields.get("version", "unknown")))
        with unbelieved(self.attempt):
            self._starts = starts_of(read_json_object(fields["starts"]))
            self._parts = int(fields["parts"])
        self._holder = process.holder

    def do(self, depth: int, item: int) -> None:
        begun = perf_counter()
        found = self._starts.survey(item, self._parts)
        text = msgspec.json.encode(Done(found, perf_counter() - begun)).decode()
        if not self.set_record(depth, item, with_checksum(_place(item), text), self._holder):
            raise LateStepError(f"attempt {self.attempt}: nobody waits for {self.name(depth, item)}")


def _place(part: int) -> str:
    return f"found:0:{part}"
