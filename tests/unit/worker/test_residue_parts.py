"""Residue maps that workers make, block by block: each state has its number, whatever the layers were cut into."""

import numpy as np
import pytest

from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.errors import LostStateError, ResourceError
from farthest.map_files.form import ResidueForm
from farthest.models.database import open_database
from farthest.puzzles.catalogue import load
from farthest.stores.redis.gather_attempt import GatherAttempt
from farthest.stores.redis.map_parts import AttemptParts, PartMaker
from farthest.stores.redis.places import blob_key
from farthest.stores.redis.records import NO_JOB
from farthest.stores.residues import residue_form
from run_cases import Nodes, advance, keys, worker_store
from store_cases import Case, case
from unit.worker.conftest import Begin


def numbers(of: Case, form: ResidueForm, depth: int) -> dict[int, int]:
    """By key; 0 is left out."""
    return {
        key: form.number(known)
        for known, layer in enumerate(of.layers[: depth + 1])
        for key in layer
        if form.number(known)
    }


def marked(form: ResidueForm, words: np.ndarray) -> dict[int, int]:
    places, bits = form.order.places(np.arange(form.order.keys, dtype=np.uint64))
    found = np.zeros(form.order.keys, dtype=np.int64)
    for plane in range(form.planes):
        found |= (words[places * form.planes + plane] >> bits & np.uint64(1)).astype(np.int64) << plane
    return {int(key): int(found[key]) for key in np.flatnonzero(found)}


def make(run: GatherAttempt, parts: AttemptParts) -> None:
    parts.begin()
    maker = PartMaker(worker_store(run))
    for part in parts.parts:
        fold = maker.fold(parts.fold.depth)
        maker.commit(fold, part, *maker.make(fold, part, None), lambda nonce: False)


@pytest.mark.parametrize(("name", "max_depth"), [("two colours", None), ("two colours", 5), ("slides", None)])
def test_workers_mark_the_states_of_each_block(
    begin: Begin, nodes: Nodes, name: str, max_depth: int | None
) -> None:
    of = case(name, 2)
    form = residue_form(of.space, max_depth)
    run = begin(of, distances=False, residues=form)
    depth = max_depth or len(of.layers) - 1
    advance(run, 1, depth)
    run.removals.settle()
    left = {int(key.split(":")[4]) for key in keys(nodes) if ":b:" in key}
    assert left == {known for known in range(depth + 1) if form.number(known) or known > depth - 3}
    parts = AttemptParts.of(run, depth, NO_JOB, "")
    make(run, parts)
    by_workers = np.zeros(form.words, dtype=np.uint64)
    for first, some in parts.made(0).words():
        words = np.frombuffer(memoryview(some), dtype=np.uint64)
        by_workers[first : first + len(words)] = words
    assert marked(form, by_workers) == numbers(of, form, depth)
    alone = np.concatenate(
        [np.frombuffer(memoryview(some), dtype=np.uint64) for _, some in run.residue_blocks(form, depth)]
    )
    assert (alone == by_workers).all()


def test_what_is_lost_or_marked_twice_is_noticed(begin: Begin, nodes: Nodes) -> None:
    of = case("two colours", 2)
    form = residue_form(of.space, None)
    run = begin(of, distances=False, residues=form)
    advance(run, 1, 7)
    parts = AttemptParts.of(run, 7, NO_JOB, "")
    make(run, parts)
    layers = run._layers[3]  # as if a state of another layer were counted here, too
    run._layers[3] = run._layers[2]
    with pytest.raises(LostStateError, match="states"):
        parts.made(0)
    run._layers[3] = layers
    block, record = next((block, record) for block, record in layers.items() if record.nonce)
    name = run.found_name(3, block, record.nonce)
    nodes.node(block).delete(blob_key(name))
    with pytest.raises(LostStateError, match=f"the blob of block {block} at depth 3 is missing"):
        make(run, AttemptParts.of(run, 7, NO_JOB, ""))
    with pytest.raises(LostStateError, match=f"the blob of block {block} at depth 3 is missing"):
        list(run.residue_blocks(form, 7))


def test_a_job_without_a_place_for_its_map_fails_alone(
    nodes: Nodes, redis_url: str, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of settings would stop the coordinator, and all other jobs with it."""
    monkeypatch.setenv("FARTHEST_REDIS_URL", redis_url)
    monkeypatch.delenv("FARTHEST_MAPS", raising=False)
    with (
        open_database(postgres_url, create=True) as database,
        pytest.raises(ResourceError, match="no residue map: FARTHEST_MAPS is not set"),
    ):
        enumerate_puzzle(load("3-puzzle"), database, Settings(workers="celery", residues=True))
