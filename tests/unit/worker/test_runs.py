"""Runs as workers find them: of other versions, on other nodes, ended."""

from collections.abc import Callable

import pytest

from farthest.errors import LateStepError, VersionError
from farthest.stores.redis import attempts
from farthest.stores.redis.attempts import AttemptFacts, new_attempt, prefix
from farthest.stores.redis.gather_attempt import GatherAttempt
from run_cases import Nodes, worker_store
from store_cases import NAMES, case

Begin = Callable[..., GatherAttempt]


def test_attempts_at_a_job_have_names_of_their_own() -> None:
    assert new_attempt("7-ab") != new_attempt("7-ab")
    assert new_attempt("7-ab").rpartition("-")[0] == "7-ab"
    assert prefix("7-ab-1") == "farthest:attempt:7-ab-1:"


@pytest.mark.parametrize("name", NAMES)
def test_facts_are_read_as_written_and_make_the_same_space(begin: Begin, name: str) -> None:
    run = begin(case(name, 2))
    facts = AttemptFacts.of(run.facts.fields(), run.attempt)
    assert facts == run.facts
    kernel = worker_store(run).kernel
    assert (kernel.keys, kernel.shards) == (run.kernel.keys, run.kernel.shards)


@pytest.mark.parametrize(
    "fields",
    [
        {"protocol": str(attempts.PROTOCOL + 1), "version": "9.9"},
        {"protocol": "?", "version": "9.9"},
        {"version": "9.9", "keys": "12"},
        {"version": "9.9", "shards": "12"},
        {"version": "9.9", "per_block": ""},
        {"version": "9.9", "exclude": "some"},
        {"version": "9.9", "engine": "scatter", "exclude": "before"},
        {"version": "9.9", "engine": "some"},
    ],
)
def test_a_run_of_another_version_is_refused(begin: Begin, fields: dict[str, str]) -> None:
    run = begin(case("two colours", 2))
    for field, value in fields.items():
        run.nodes.main.hset(run.meta_key, field, value)
    with pytest.raises(
        VersionError,
        match=f"attempt {run.attempt} was begun by farthest 9.9, this worker is .*: run the same version in all",
    ):
        worker_store(run)


def test_a_run_without_a_field_is_of_another_version(begin: Begin) -> None:
    run = begin(case("two colours", 2))
    run.nodes.main.hdel(run.meta_key, "exclude", "version")
    with pytest.raises(VersionError, match="begun by farthest unknown"):
        worker_store(run)


def test_a_worker_that_knows_other_nodes_is_refused(begin: Begin, redis_url: str) -> None:
    run, nodes = begin(case("two colours", 2)), Nodes([redis_url])
    with pytest.raises(
        VersionError, match=r"on 2 Redis servers, this process knows 1: .*same FARTHEST_REDIS_NODES"
    ):
        worker_store(run, nodes)
    nodes.close()


def test_a_run_that_has_ended_is_late(begin: Begin) -> None:
    run = begin(case("two colours", 2))
    run.drop()
    with pytest.raises(LateStepError, match=f"attempt {run.attempt} has ended"):
        worker_store(run)
