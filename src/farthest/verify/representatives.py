"""The proof of a map of representatives of symmetries: what its codes are, and then the distances of these.

See ``models/representatives.py`` for what is proved of codes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from farthest.verify.local import BLOCK_STATES, Finding, Findings, MapInMemory, StateProof
from farthest.verify.models import Boards
from farthest.verify.models.representatives import Representatives
from farthest.verify.report import Proof, Stored
from farthest.verify.rows import Rows, RowsFinding, compare_members

EVERY_SYMMETRY = 2**12
"""Of maps of at most so many keys each symmetry is tried on the boards of all keys; of larger ones on as many, each of
which is tried with one."""


class ReducedProof(StateProof):
    """The proof by the successors of one state of each code."""

    model: Representatives

    def __init__(self, stored: Stored) -> None:
        super().__init__(stored, Representatives(stored.puzzle, stored.origin, stored.layout))

    def prove(self, proof: Proof, whole: MapInMemory) -> None:
        super().prove(proof, whole)
        prove_codes(proof, self.model)

    def findings(self, whole: MapInMemory) -> tuple[tuple[int, ...], Findings]:
        self._members = np.zeros(len(whole.distances), dtype=np.int64)
        _, found = super().findings(whole)
        reached = whole.distances != whole.unreachable
        counts = np.bincount(whole.distances[reached], self._members[reached]).astype(np.int64)
        return tuple(counts.tolist()), found

    @property
    def block_states(self) -> int:
        return max(BLOCK_STATES // len(self.model.maps), 1)

    def check_block(self, whole: MapInMemory, preceded: NDArray[np.bool_], first: int, last: int) -> Findings:
        found = super().check_block(whole, preceded, first, last)
        places = np.flatnonzero(whole.distances[first:last] != whole.unreachable) + first
        if not places.size:
            return found
        own, fixed, of_images = self.model.images(whole.codes_at(places))
        self._members[places] = own // fixed
        reached = whole.places_of(of_images.ravel()).reshape(of_images.shape)
        differing = (reached < 0) | (whole.distances[reached] != whole.distances[places])
        weights = self.model.weights(whole.codes_at(places))
        return found | {
            "members": Finding.at(len(places), places[(own % fixed != 0) | (own // fixed != weights)]),
            "alike": Finding.at(len(places), places[differing.any(axis=0)]),
        }

    def orphans(self, whole: MapInMemory, preceded: NDArray[np.bool_]) -> NDArray[np.int64]:
        """A state follows another where one that is alike does."""
        left = super().orphans(whole, preceded)
        if not left.size:
            return left
        reached = whole.places_of(self.model.images(whole.codes_at(left))[2].ravel()).reshape(-1, len(left))
        return left[~(preceded[reached] & (reached >= 0)).any(axis=0)]

    def boards_at(self, whole: MapInMemory, places: NDArray[np.int64]) -> Boards:
        return self.model.members(whole.codes_at(places))

    def compare_rows(self, whole: MapInMemory, rows: Rows, counts: Sequence[int]) -> RowsFinding:
        def distances(boards: Boards) -> NDArray[np.int64]:
            places = whole.places_of(self.model.codes(boards))
            return np.where(places < 0, -1, whole.distances[places].astype(np.int64))

        return compare_members(rows, self.puzzle.definition, distances, counts)


def prove_codes(proof: Proof, model: Representatives) -> None:
    """Adds the checks of symmetries and of classes, which do not need the map."""
    origins = model.origins()
    named = {board.tobytes() for board in origins}
    wrong = sum({board.tobytes() for board in each.images(origins)} != named for each in model.maps)
    codes = np.arange(0, model.keys, model.step, dtype=np.uint64)
    some = max(BLOCK_STATES // len(model.maps), 1)
    share = 1 if len(codes) <= EVERY_SYMMETRY else len(model.maps)
    broken = strays = checked = 0
    for at in range(0, len(codes), some):
        boards = model.boards(codes[at : at + some])
        broken += sum(model.breaks(boards[n % share :: share], each) for n, each in enumerate(model.maps))
        around = [model.successors(boards)[1], *(each.images(boards) for each in model.maps)]
        strays += sum(len(model.strays(each)) for each in around)
        strays += int((model.codes(boards) != codes[at : at + some]).sum())
        checked += len(boards)
    detail = "" if model.step == 1 else f"on the boards of {checked:,} of the {model.keys:,} keys"
    proof.check("symmetries", len(model.maps), wrong + broken, detail)
    proof.check("classes", checked, strays, detail)
    least, most = model.plain_keys or 0, proof.arrangements
    right = least <= model.states <= most
    detail = "" if right else f"all codes stand for {model.states:,} states, expected {least:,} to {most:,}"
    proof.check("complete", 1, int(not right), detail)
