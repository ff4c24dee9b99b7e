"""The proof of a map of representatives of symmetries: what its codes are, and then the distances of these.

See ``models/representatives.py`` for what is proved of codes. Each key is checked by itself, with its successors and
its predecessors: those of large maps are a sample. It has all keys of the first and of the last layers, while these are
few; those of some shards, chosen at random, or of a part of each; and keys chosen at random among all. What takes
little time is checked of the whole map: layers, origin, depth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from farthest.verify.local import (
    BLOCK_STATES,
    Finding,
    Findings,
    GatheredMap,
    Means,
    StateProof,
    in_blocks,
    merge_findings,
)
from farthest.verify.models import Boards, Codes
from farthest.verify.models.representatives import Representatives
from farthest.verify.report import PROVES, BadState, Proof, Stored
from farthest.verify.rows import Rows, RowsFinding, compare_members

EVERY_SYMMETRY = 2**12
"""Of maps of at most so many keys each symmetry is tried on the boards of all keys; of larger ones on as many, each of
which is tried with one."""

MOST_CODED = 2**24
"""Boards that are coded for the check of keys, about: in larger maps it is made for a sample."""

SEED = 20_261_124
"""The seed of samples: each proof takes the same."""

OF_KEYS = ("codes", "nearer", "jump", "closed", "members", "alike")
"""The checks of keys."""

Distances = Callable[[Codes], NDArray[np.int64]]
"""The distances of codes, -1 where there is none."""


class ReducedProof(StateProof):
    """The proof by the successors and predecessors of one state of each code."""

    model: Representatives

    def __init__(self, stored: Stored, means: Means) -> None:
        super().__init__(stored, Representatives(stored.puzzle, stored.origin, stored.layout), means)

    def prove(self, proof: Proof, whole: GatheredMap) -> None:
        keys_of, proof.counts = self._layers(whole)
        most = sample_size(self.model)
        codes = sample(self.model, most, _small_layers(whole, keys_of, most // 8))
        found = check_keys(self.model, codes, lambda some: self._distances(whole, some), whole.depth)
        found |= {"origin": self.check_origins(whole)} | self.check_depth(whole, sum(proof.counts))
        add_checks(proof, self.model, found, len(codes), lambda code: self.explain(whole, code))
        prove_codes(proof, self.model, whole.depth)

    def _distances(self, whole: GatheredMap, codes: Codes) -> NDArray[np.int64]:
        places = whole.places_of(codes)
        return np.where(places < 0, -1, whole.distances[places].astype(np.int64))

    def _layers(self, whole: GatheredMap) -> tuple[NDArray[np.int64], tuple[int, ...]]:
        """The keys and the states of each layer; the weight of each key is that of its shard."""
        keys, states = np.zeros((2, whole.unreachable + 1), dtype=np.int64)
        for weight, shard in zip(
            self.model.shard_weights.tolist(),
            whole.distances.reshape(len(self.model.shard_weights), -1),
            strict=True,
        ):
            here = np.bincount(shard)
            keys[: len(here)] += here
            states[: len(here)] += here * weight
        return keys[:-1], tuple(np.trim_zeros(states[:-1], "b").tolist())

    def nearest_goal(self, whole: GatheredMap) -> int | None:
        return nearest(self._distances(whole, self.model.goals()))

    def boards_at(self, whole: GatheredMap, places: NDArray[np.int64]) -> Boards:
        return self.model.members(whole.codes_at(places))

    def compare_rows(self, whole: GatheredMap, rows: Rows, counts: Sequence[int]) -> RowsFinding:
        return compare_members(
            rows,
            self.puzzle.definition,
            lambda boards: self._distances(whole, self.model.codes(boards)),
            counts,
        )


def nearest(distances: NDArray[np.int64]) -> int | None:
    """The least distance, where there is one."""
    return min(distances[distances >= 0].tolist(), default=None)


def _small_layers(whole: GatheredMap, keys: NDArray[np.int64], most: int) -> Codes:
    """The keys of the first and of the last layers that have at most so many. ``keys``: how many each layer has."""
    last = len(np.trim_zeros(keys, "b"))
    first = int((np.cumsum(keys[:last]) <= most).sum())
    after = last - int((np.cumsum(keys[:last][::-1]) <= most).sum())
    distances = whole.distances
    few = (distances < first) | ((distances >= after) & (distances != whole.unreachable))
    return np.flatnonzero(few).astype(np.uint64)


def sample_size(model: Representatives, each: int = 1) -> int:
    """How many keys may be checked; ``each``: boards that are coded for each distance."""
    return MOST_CODED // ((1 + model.moves) * each + len(model.maps))


def sample(model: Representatives, most: int, small: Codes) -> Codes:
    """All codes where these are at most so many, else a sample that has the codes ``small``. Ascending."""
    if model.keys <= most:
        return np.arange(model.keys, dtype=np.uint64)
    rng = np.random.default_rng(SEED)
    shards = len(model.shard_weights)
    keys = model.keys // shards
    run = min(keys, most // 8)
    chosen = rng.choice(shards, min(shards, most // 2 // run), replace=False)
    firsts = chosen * keys + rng.integers(keys - run + 1, size=len(chosen))
    runs = (firsts[:, None] + np.arange(run)).ravel().astype(np.uint64)
    return np.unique(np.concatenate([small, runs, rng.integers(model.keys, size=most // 4, dtype=np.uint64)]))


def add_checks(
    proof: Proof,
    model: Representatives,
    found: Findings,
    checked: int,
    explain: Callable[[int], BadState | None],
) -> None:
    """Adds what was found, and of the checks of keys how many they were made of."""
    for name in dict.fromkeys(("origin", *OF_KEYS, *found)):
        one = found[name]
        first = None if one.first is None else explain(one.first)
        proves = sampled(name, checked, model.keys) if name in OF_KEYS else ""
        proof.check(name, one.checked, one.failed, first=first, proves=proves)


def sampled(name: str, checked: int, keys: int) -> str:
    """What a check proves; where it is made for some of the keys alone, it says so."""
    return PROVES[name] + (f" (sampled: {checked:,} of {keys:,} keys)" if checked < keys else "")


def check_keys(model: Representatives, codes: Codes, distances: Distances, depth: int | None) -> Findings:
    """What is found of codes, ascending. ``depth``: of the last layer of a map that has not all."""

    def check(first: int, last: int) -> Findings:
        return _check(model, codes[first:last], distances, depth)

    findings: Findings = {}
    states = BLOCK_STATES * 4 // (1 + model.moves + len(model.maps))
    for found in in_blocks(len(codes), max(states, 1), check):
        merge_findings(findings, found)
    return findings


def _check(model: Representatives, codes: Codes, distances: Distances, depth: int | None) -> Findings:
    boards = model.boards(codes)
    here = distances(codes)
    rows, after = model.successors(boards)
    there = distances(model.codes(after))
    rows_before, earlier = rows, there
    if not model.undirected:
        rows_before, before = model.predecessors(boards)
        earlier = distances(model.codes(before))
    own, own_before = here[rows], here[rows_before]
    end = -1 if depth is None else depth
    followed = np.zeros(len(codes), dtype=np.bool_)
    followed[rows_before[earlier == own_before - 1]] = True
    jumps = [rows[(own >= 0) & (there > own + 1)], rows_before[(earlier >= 0) & (earlier < own_before - 1)]]
    opens = [
        rows[(own >= 0) & (own != end) & (there < 0)],
        rows_before[(own_before < 0) & (earlier >= 0) & (earlier != end)],
    ]
    members, fixed, of_images = model.images(codes)
    differing = distances(of_images.ravel()).reshape(of_images.shape) != here
    wrong = {
        "codes": model.codes(boards) != codes,
        "nearer": (here > 0) & ~followed,
        "jump": np.unique(np.concatenate(jumps)),
        "closed": np.unique(np.concatenate(opens)),
        "members": (members % fixed != 0) | (members // fixed != model.weights(codes)),
        "alike": differing.any(axis=0),
    }
    return {name: Finding.at(len(codes), codes[those]) for name, those in wrong.items()}


def prove_codes(proof: Proof, model: Representatives, depth: int | None) -> None:
    """Adds the checks that need no map: of symmetries, classes, the number of states. ``depth``: see ``check_keys``."""
    origins = model.origins()
    named = {board.tobytes() for board in origins}
    wrong = sum({board.tobytes() for board in each.images(origins)} != named for each in model.maps)
    codes = np.arange(0, model.keys, model.step, dtype=np.uint64)
    some = max(BLOCK_STATES // len(model.maps), 1)
    share = 1 if len(codes) <= EVERY_SYMMETRY else len(model.maps)
    broken = strays = 0
    for at in range(0, len(codes), some):
        boards = model.boards(codes[at : at + some])
        broken += sum(model.breaks(boards[n % share :: share], each) for n, each in enumerate(model.maps))
        around = [model.successors(boards)[1], *(each.images(boards) for each in model.maps)]
        strays += sum(len(model.strays(each)) for each in around)
        strays += int((model.codes(boards) != codes[at : at + some]).sum())
    proves = sampled("symmetries", len(codes) // share, model.keys)
    proof.check("symmetries", len(model.maps), wrong + broken, proves=proves)
    proof.check("classes", len(codes), strays, proves=sampled("classes", len(codes), model.keys))
    least, most = model.plain_keys or 0, proof.arrangements
    right = least <= model.states <= most
    detail = "" if right else f"all codes stand for {model.states:,} states, expected {least:,} to {most:,}"
    proof.check("complete", 1, int(not right), detail)
    if model.reachable is not None and depth is None:
        found = sum(proof.counts)
        detail = f"{found:,} states are reached; the group has {model.reachable:,}"
        proof.check("reached", 1, int(found != model.reachable), "" if found == model.reachable else detail)
