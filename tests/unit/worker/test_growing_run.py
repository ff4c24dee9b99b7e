"""Scatter runs that begin in one shard: when they go over to more, and that nothing is lost on the way."""

from collections.abc import Callable, Iterator

import pytest

from farthest.stores.contract import step
from farthest.stores.redis import scatter_attempt as growing_attempt
from farthest.stores.redis.attempts import new_attempt
from farthest.stores.redis.scatter_attempt import GrowingAttempt, ScatterAttempt
from run_cases import Nodes, keys
from scatter_cases import NAMES, ScatterCase, digest, expected, in_memory, scatter_case

Begin = Callable[..., GrowingAttempt]

names = pytest.mark.parametrize("name", NAMES)


pytestmark = pytest.mark.usefixtures("spaces_of_cases")


@pytest.fixture
def begin(nodes: Nodes) -> Iterator[Begin]:
    """Begins runs of at most seven shards, each filled by so many states, and drops them at the end."""
    made: list[GrowingAttempt] = []

    def begin_one(of: ScatterCase, shard_states: int, *, distances: bool = True) -> GrowingAttempt:
        def make(shards: int, keep: bool) -> ScatterAttempt:
            return ScatterAttempt.create(nodes, new_attempt("1"), of.space, shards, distances=keep)

        made.append(GrowingAttempt("job", make, 7, shard_states, distances=distances))
        return made[-1]

    yield begin_one
    for run in made:
        run.drop()


def advance(run: GrowingAttempt, of: ScatterCase, first: int, last: int) -> list[int]:
    """Steps the layers ``first`` to ``last``, which are right; the number of shards at each."""
    shards = []
    for depth in range(first, last + 1):
        step(run, depth, run.begin(depth, run.reachable(depth)))
        assert run.counts(depth) == of.counts(depth, run.shards)
        shards.append(run.shards)
    return shards


@names
@pytest.mark.parametrize("outboxes", [False, True])
def test_a_run_that_outgrows_its_shards_goes_on_in_more(
    begin: Begin, nodes: Nodes, monkeypatch: pytest.MonkeyPatch, name: str, outboxes: bool
) -> None:
    """Also where it sends outboxes once there are more than two shards."""
    if outboxes:
        monkeypatch.setattr(growing_attempt, "EXPANDING", 2)
        monkeypatch.setattr(growing_attempt, "LARGER", 1)
    of = scatter_case(name)
    run, last = begin(of, 1), len(of.layers) - 1
    shards = advance(run, of, 1, last + 1)
    assert shards[0] < shards[-1]
    assert run.current.facts.outboxes == (outboxes or "byte strings" in name)
    assert shards[-1] == 7 or not run.current.facts.outboxes
    assert shards == sorted(shards)
    assert run.keys(last, 10**6) == of.least(last, 10**6)
    assert digest(run, of, last) == expected(of, last)
    assert len({key.split(":")[2] for key in keys(nodes) if key.startswith("farthest:attempt:")}) == 1


@names
def test_layers_are_counted_by_a_run_that_keeps_no_map(begin: Begin, name: str) -> None:
    of = scatter_case(name)
    assert advance(begin(of, 1, distances=False), of, 1, len(of.layers))[-1] >= 6


def test_a_thin_space_stays_in_one_shard(begin: Begin) -> None:
    of = scatter_case("sparse")
    assert set(advance(begin(of, 10**6), of, 1, len(of.layers))) == {1}


@pytest.mark.parametrize("distances", [False, True])
def test_a_run_deeper_than_any_map_keeps_no_layers_to_grow(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, distances: bool
) -> None:
    monkeypatch.setattr(growing_attempt, "DEEP", 3)
    of = scatter_case("dense")
    shards = advance(begin(of, 10**6, distances=distances), of, 1, len(of.layers))
    assert shards[:3] == [1, 1, 1]
    assert set(shards[3:]) == {1 if distances else 7}


@names
def test_a_checkpoint_is_restored_in_the_shards_that_it_needs(begin: Begin, name: str) -> None:
    of = scatter_case(name)
    middle, last = len(of.layers) // 2, len(of.layers) - 1
    pieces = in_memory(of, middle).chunks(middle, 23)
    run = begin(of, 2)
    run.restore(middle, pieces, sum(map(len, of.layers[: middle + 1])))
    assert run.shards > 1
    advance(run, of, middle + 1, last + 1)
    assert digest(run, of, last) == expected(of, last)
