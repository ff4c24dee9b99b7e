"""Leases of steps on a real Redis server."""

import time

import pytest

from farthest.errors import UnavailableError
from farthest.stores.redis.connections import RedisNodes
from farthest.worker.leases import Leases, renewed, working_key


def leases_of(nodes: RedisNodes, seconds: float = 5.0, run: str = "1-a") -> Leases:
    return Leases(nodes, run, "step", seconds)


def test_one_holder_has_a_lease_until_it_gives_it_back(nodes: RedisNodes) -> None:
    leases = leases_of(nodes)
    assert leases.take(3, 7, "one")
    assert not leases.take(3, 7, "other")
    leases.release(3, 7, "other")
    assert leases.held(3, [7]) == {7: "one"}
    leases.release(3, 7, "one")
    assert leases.take(3, 7, "other")


def test_a_holder_may_take_its_lease_again(nodes: RedisNodes) -> None:
    """The client repeats commands whose answer was lost."""
    leases = leases_of(nodes)
    assert leases.take(3, 7, "one")
    assert leases.take(3, 7, "one")


def test_leases_are_of_one_run_one_depth_and_one_block(nodes: RedisNodes) -> None:
    leases, other = leases_of(nodes), leases_of(nodes, run="1-b")
    assert leases.take(3, 7, "one")
    assert leases.take(3, 8, "two")
    assert leases.take(4, 7, "three")
    assert other.take(3, 7, "four")
    assert leases.held(3, [6, 7, 8]) == {7: "one", 8: "two"}
    assert leases.held(3, []) == {}


def test_a_lease_ends_when_its_holder_is_silent(nodes: RedisNodes) -> None:
    leases = leases_of(nodes, seconds=0.05)
    assert leases.take(3, 7, "one")
    time.sleep(0.1)
    assert leases.held(3, [7]) == {}
    assert leases.take(3, 7, "other")
    assert not leases.take(3, 7, "one")


def test_a_lease_does_not_last_as_long_as_a_clock_was_set_back(nodes: RedisNodes) -> None:
    """Redis says how long keys last by the clock of its host."""
    leases, key = leases_of(nodes, seconds=0.05), "farthest:attempt:1-a:lease:step:3:7"
    assert leases.take(3, 7, "who dies")
    nodes.main.pexpire(key, 3_600_000)
    assert leases.held(3, [7]) == {7: "who dies"}
    assert nodes.main.pttl(key) <= 60_000
    assert leases_of(nodes, seconds=60).take(3, 8, "another setting")
    assert leases.held(3, [8]) == {8: "another setting"}
    assert nodes.main.pttl("farthest:attempt:1-a:lease:step:3:8") > 59_000


@pytest.mark.slow
def test_renewed_keeps_a_lease_and_gives_it_back(nodes: RedisNodes) -> None:
    leases = leases_of(nodes, seconds=0.15)
    assert leases.take(3, 7, "one")
    with renewed(leases, 3, 7, "one"):
        time.sleep(0.5)
        assert leases.held(3, [7]) == {7: "one"}
    assert leases.held(3, [7]) == {}


def test_renewed_takes_a_lease_back_that_lapsed(nodes: RedisNodes) -> None:
    leases = leases_of(nodes, seconds=0.15)
    with renewed(leases, 3, 7, "one"):
        nodes.main.flushall()
        time.sleep(0.2)
        assert leases.held(3, [7]) == {7: "one"}


def test_renewed_leaves_a_lease_to_another_who_took_it(nodes: RedisNodes) -> None:
    leases = leases_of(nodes, seconds=0.15)
    with renewed(leases, 3, 7, "one"):
        assert leases_of(nodes).take(3, 7, "other")
        time.sleep(0.2)
    assert leases.held(3, [7]) == {7: "other"}


def test_what_a_holder_does_is_known_as_long_as_its_lease(nodes: RedisNodes) -> None:
    leases = leases_of(nodes)
    assert leases.take(3, 7, "one")
    assert '"block":7' in str(nodes.main.get(working_key("one")))
    leases.release(3, 7, "one")
    assert nodes.main.get(working_key("one")) is None


def test_the_body_is_not_disturbed_when_redis_is_away() -> None:
    leases = leases_of(RedisNodes(["redis://127.0.0.1:1"]), seconds=0.03)
    with pytest.raises(UnavailableError):
        leases.take(3, 7, "one")
    with renewed(leases, 3, 7, "one"):
        time.sleep(0.1)
