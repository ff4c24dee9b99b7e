"""Distances in a residue map by walks: from a key to one that is nearer, until the origin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.verify.models import Codes
from farthest.verify.models.representatives import Representatives
from farthest.verify.recount import WORD_BITS, BitOrder

NO_END = 2**31
"""The distance of a key whose residue is that of a reached one, from which no walk leads to the origin."""


class Numbers:
    """The numbers of keys in ``words``, of a map in memory."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.order = BitOrder(fields)
        self.keys = self.order.keys
        self.modulus = int(fields["modulus"])
        self.planes = 1 if self.modulus == 4 else 2
        self.words: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
        self._ones = tuple(fields["ones"])
        self._colours = np.array([int(digit) for digit in fields["colours"]], dtype=np.int64)

    def number(self, depth: int) -> int:
        """That of the states of a layer."""
        return int(depth % 4 in self._ones) if self.modulus == 4 else depth % 3 + 1

    def beyond(self, depth: int) -> int:
        """That of keys at a depth that the map does not reach any more."""
        return self.number(depth) if self.modulus == 4 else 0

    def are(self, codes: Codes, depth: int, number: int) -> NDArray[np.bool_]:
        """Which keys have a number, and the colour of states of a depth."""
        word, bit = np.divmod(self.order.places(codes), WORD_BITS)
        found = np.zeros(len(codes), dtype=np.int64)
        for plane in range(self.planes):
            part = self.words[word * self.planes + plane] >> bit.astype(np.uint64) & np.uint64(1)
            found += part.astype(np.int64) << plane
        right: NDArray[np.bool_] = found == number
        if self.modulus == 4:
            colour = self._colours[(codes // np.uint64(self.keys // len(self._colours))).astype(np.int64)]
            right &= colour == depth % 2
        return right

    def residues(self, codes: Codes) -> NDArray[np.int64]:
        """The residues of the distances of codes, -1 where there is none."""
        inside = codes < self.keys
        keys = np.where(inside, codes, np.uint64(0))
        found = np.full(len(codes), -1)
        for depth in range(self.modulus):
            found[inside & self.are(keys, depth, self.number(depth))] = depth
        return found

    def counts(self, words: NDArray[np.uint64]) -> dict[int, int]:
        """How many keys of words have each number but 0; bits that belong to no key are counted too."""
        if self.planes == 1:
            return {1: int(np.bitwise_count(words).sum(dtype=np.int64))}
        low, high = words[0::2], words[1::2]
        numbers = (low & ~high, high & ~low, low & high)
        return {n: int(np.bitwise_count(at).sum(dtype=np.int64)) for n, at in enumerate(numbers, 1)}

    def weighed(self, weights: Sequence[int] | NDArray[np.int64]) -> dict[int, int]:
        """How many states have each number but 0, where each key of a shard stands for so many. ``weights``: of each
        shard; a shard is whole groups of words."""
        found = self.counts(self.words[:0])
        size = self.keys // max(len(weights), 1) // self.order.group * self.order.group_words * self.planes
        for shard, weight in enumerate(weights):
            for number, count in self.counts(self.words[shard * size : (shard + 1) * size]).items():
                found[number] += count * int(weight)
        return found


class Walks:
    """The length of a walk from each of some codes, -1 where the map does not reach them. ``most``: the last layer;
    ``every``: whether the map reaches all keys. ``coded``: boards that are coded for a distance, at the most."""

    def __init__(self, model: Representatives, numbers: Numbers, most: int, *, every: bool) -> None:
        self._model, self._numbers, self._most = model, numbers, most
        # A key without a distance may have a number that others have, where numbers have one bit.
        self._no_end = NO_END if every or numbers.modulus == 3 else -1
        self._origins = np.unique(model.codes(model.origins()))
        self.coded = max(1, most * model.moves)

    def __call__(self, codes: Codes) -> NDArray[np.int64]:
        at, back = np.unique(codes, return_inverse=True)
        residues = self._numbers.residues(at)
        lengths = np.where(residues < 0, -1, self._no_end)
        left = np.flatnonzero(residues >= 0)
        at, residues = at[left], residues[left]
        for length in range(self._most + 1):
            ends = (residues == 0) & among(at, self._origins)
            lengths[left[ends]] = length
            left, at, residues = left[~ends], at[~ends], residues[~ends]
            rows, boards = self._model.predecessors(self._model.boards(at))
            reached = self._model.codes(boards)
            wanted = (residues - 1) % self._numbers.modulus
            nearer = np.flatnonzero(self._numbers.residues(reached) == wanted[rows])
            some, first = np.unique(rows[nearer], return_index=True)
            left, at, residues = left[some], reached[nearer[first]], wanted[some]
        return lengths[back]


def first_layers(model: Representatives, most: int) -> list[Codes]:
    """The codes of the first layers, which are at most so many."""
    layer: Codes = np.unique(model.codes(model.origins()))
    layers = [layer]
    before = layer[:0]
    while len(layer) and sum(map(len, layers)) <= most:
        found = model.alike(np.unique(model.codes(model.successors(model.boards(layer))[1])))
        before, layer = layer, found[~among(found, before) & ~among(found, layer)]
        layers.append(layer)
    return layers[:-1]


def among(codes: Codes, ascending: Codes) -> NDArray[np.bool_]:
    """Which codes are among others."""
    if not len(ascending):
        return np.zeros(len(codes), dtype=np.bool_)
    places = np.searchsorted(ascending, codes)
    places[places == len(ascending)] = 0
    found: NDArray[np.bool_] = ascending[places] == codes
    return found
