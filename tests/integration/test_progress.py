"""No item is waited for in vain: whatever is lost, repeated or late, once it is quiet all is done within a bound.

Outstanding, its leases, the queue and the done-list are real; time and workers are played (docs/progress.md).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import cycle
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from farthest.coordinator import workers
from farthest.coordinator.workers import LONGEST_QUEUE_SECONDS, Outstanding
from farthest.stores.redis.attempts import AttemptKeys, prefix
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.records import Report
from farthest.worker.leases import Leases

LEASE = 5.0
ROUND = 1.0
ITEMS = 3
RUN, DEPTH = "1-played", 4
QUEUES = {False: "farthest:farthest.steps\x06\x161", True: "farthest:farthest.steps"}

MESSAGE = (
    "work",  # commit and report
    "work, and the report is lost",
    "lose it",
    "die with the lease",
    "give up",  # Redis was away: the lease is released, nothing is committed
    "hold for long",
    "repeat it",
    "commit late",  # without a lease: its holder stood still
)
MOMENT = (
    "pass",
    "stand still",
    "no worker is alive",
    "workers are alive",
    "the done-list is lost",
    "leases lapse",
)

Strikes = list[tuple[str, str]]
strikes = st.lists(st.tuples(st.sampled_from(MOMENT), st.sampled_from(MESSAGE)), max_size=12)


@dataclass
class Holder:
    """Of a lease. ``until``: when it ends its work; None: it is dead."""

    lapses: float
    until: float | None


class World:
    """What is outstanding, its servers, and workers that do what they are told. ``now``: seconds."""

    def __init__(self, nodes: RedisNodes, kind: str = "step") -> None:
        self.nodes, self.attempt, self.now, self.kind = nodes, RUN, 0.0, kind
        self.keys, self.whole_name = AttemptKeys(RUN), "layer {depth}"
        self.done: set[int] = set()
        self.others = False  # keep the queue long
        self._leases = Leases(nodes, RUN, "step", 1000.0)  # which the world ends
        self._holders: dict[int, Holder] = {}
        nodes.main.flushall()
        both = cast(Any, self)  # the work, and what publishes its messages
        self.outstanding = Outstanding(both, DEPTH, both)

    # Work

    def finished(self, depth: int) -> Collection[int]:
        return set(self.done)

    def name(self, depth: int, item: int) -> str:
        return f"item {item}"

    # Publisher

    def publish(self, kind: str, run: str, depth: int, items: Iterable[int], *, urgent: bool = False) -> None:
        for item in items:
            self.nodes.main.lpush(QUEUES[urgent], item)

    # Workers

    def messages(self) -> list[int]:
        """All that wait, in the order in which they are received; those of other jobs go with them."""
        found: list[bytes] = []
        for urgent in (True, False):
            waiting: Any = self.nodes.main.lrange(QUEUES[urgent], 0, -1)
            found += reversed(waiting)
            self.nodes.main.delete(QUEUES[urgent])
        return [int(text) for text in found if text != b"other"]

    def lease(self, item: int, until: float | None) -> bool:
        if not self._leases.take(DEPTH, item, f"w/{item}/{self.now}"):
            return False
        self._holders[item] = Holder(self.now + LEASE, until)
        return True

    def commit(self, item: int, *, report: bool = True) -> None:
        if item not in self.done and report:
            self.nodes.main.rpush(self.keys.done_key, Report(DEPTH, item, "w/1").text())
        self.done.add(item)

    def release(self, item: int) -> None:
        self._holders.pop(item, None)
        self.nodes.main.delete(f"{prefix(RUN)}lease:step:{DEPTH}:{item}")

    def work(self, item: int) -> None:
        """What a healthy worker does."""
        if item not in self.done and self.lease(item, None):
            self.commit(item)
            self.release(item)

    def misbehave(self, item: int, how: str) -> None:
        if how == "repeat it":
            self.publish("step", RUN, DEPTH, [item, item])
        elif how == "commit late":
            self.commit(item)
        elif how != "lose it" and self.lease(item, self.now + 3 * LEASE if how == "hold for long" else None):
            if how.startswith("work"):
                self.commit(item, report=how == "work")
            if how.startswith(("work", "give up")):
                self.release(item)

    def strike(self, moment: str) -> None:
        if moment == "stand still":
            self.now += 4 * LEASE
        elif moment == "the done-list is lost":
            self.nodes.main.delete(self.keys.done_key)
        elif moment == "leases lapse":
            for item in list(self._holders):
                self.release(item)
        elif moment != "pass":
            self.outstanding.alive = moment == "workers are alive"

    def round(self, seconds: float = ROUND) -> None:
        """Time passes: leases end, holders go on; the coordinator waits and looks."""
        self.now += seconds
        for item, holder in list(self._holders.items()):
            if holder.until is not None and holder.until <= self.now:
                self.commit(item)
                self.release(item)
            elif holder.until is None and holder.lapses <= self.now:
                self.release(item)
        if self.others:
            self.nodes.main.lpush(QUEUES[False], "other")
        self.report_of_another_layer()  # which ends the wait at once
        self.outstanding.wait()

    def report_of_another_layer(self) -> None:
        self.nodes.main.rpush(self.keys.done_key, Report(DEPTH - 1, 0, "w/1").text())

    def play(self, strikes: Strikes) -> None:
        """One strike a round, at all messages that there are."""
        for moment, how in strikes:
            self.strike(moment)
            for item in self.messages():
                self.misbehave(item, how)
            self.round()

    def seconds_until_done(self, most: float, rounds: Iterable[float] = (ROUND,)) -> float:
        """How long it takes when all workers are healthy, in rounds of so many seconds. A layer has ended when nothing
        is outstanding any more, and what was said to be done is."""
        self.outstanding.alive = True
        begun, seconds = self.now, cycle(rounds)
        while self.now - begun <= most:
            for item in self.messages():
                self.work(item)
            self.round(next(seconds))
            if not self.outstanding:
                self.outstanding.expect(set(range(ITEMS)) - self.done)
                if not self.outstanding:
                    return self.now - begun
        pytest.fail(f"after {most:g} s without a fault these are not done: {set(range(ITEMS)) - self.done}")


@pytest.fixture
def world(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    nodes = RedisNodes([redis_url])
    made = World(nodes)
    monkeypatch.setattr(workers, "monotonic", lambda: made.now)
    yield made
    nodes.close()


fault_rounds = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def begin(world: World, kind: str = "step") -> None:
    world.__init__(world.nodes, kind)  # type: ignore[misc]
    world.outstanding.send(list(range(ITEMS)))


@pytest.mark.slow
@given(strikes)
@fault_rounds
def test_after_the_last_fault_all_is_done_soon(world: World, played: Strikes) -> None:
    """Who holds for long may do so for three leases; who is dead is believed to live for one, and what was sent last
    may be on its way for one."""
    begin(world)
    world.play(played)
    world.seconds_until_done(3 * LEASE + LEASE + 4 * ROUND)


@pytest.mark.slow
@given(strikes, st.lists(st.sampled_from([0.5, 1.0, 2.6, 4.0, 9.0]), min_size=1, max_size=4))
@fault_rounds
def test_all_is_done_where_rounds_are_slow(world: World, played: Strikes, rounds: list[float]) -> None:
    """Looks then find that much time has passed: that is no reason to wait for ever."""
    begin(world)
    world.play(played)
    world.seconds_until_done(5 * LEASE + 6 * max(rounds), rounds)


@pytest.mark.slow
@given(strikes)
@fault_rounds
def test_all_is_done_where_other_jobs_keep_the_queue_long(world: World, played: Strikes) -> None:
    begin(world)
    world.others = True
    world.play(played)
    world.seconds_until_done(LONGEST_QUEUE_SECONDS + 4 * LEASE + 6 * ROUND)


def test_parts_of_surveys_that_wait_for_hours_fill_no_queue(world: World) -> None:
    begin(world, "survey")
    while world.now < 2 * 3600:
        world.round(20.0)
    assert 0 < world.outstanding.resent < 10 * ITEMS


def test_reports_of_other_layers_change_nothing(world: World) -> None:
    begin(world)
    for _ in range(ITEMS):
        world.report_of_another_layer()
    world.round()
    assert len(world.outstanding) == ITEMS
