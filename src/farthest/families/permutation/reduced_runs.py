"""Packed boards by representatives of symmetries: for permutation puzzles of which only some layers are counted.

The *outer number* of a state tells where the pieces of some labels are, a set that symmetries keep. Of the outer
numbers that symmetries take to each other the least one has a shard, which holds all states that have it
(kernel/include/farthest/reduced_runs.hpp). Where the labels are all those of some orbits, and all pieces differ, the
inverse of a state is one more symmetry: a piece in a slot becomes the piece whose home the slot is, at the home of the
first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import factorial, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from farthest import _kernel
from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.gather_space import origin_boards
from farthest.families.permutation.reduced_layout import slot_symmetries
from farthest.families.permutation.scatter_space import PackedPermutationSpace
from farthest.families.permutation.symmetries import Conjugation, Pieces
from farthest.spaces.contract import PACKED_REPRESENTATIVES
from farthest.spaces.packed import CONTENTS
from farthest.spaces.reduced import distinct_rows, subgroup

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.families.permutation.moves import Move
    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Origin, Puzzle
    from farthest.spaces.contract import Boards

    Numbers = NDArray[np.int64]
    PointMap = NDArray[np.uint16]
    """For each slot and content (slots, CONTENTS) the slot, times CONTENTS, and the content that it becomes."""

VERSION = 1

MOST_OUTER = 2**16
"""Outer numbers at the most: what symmetries make of each is a table."""

MOST_IMAGES = 2**17
"""Images of boards that are sorted at once: a tenth of a second."""

LEAST_OUTER = 4
"""Outer numbers for each symmetry at the least: of fewer, most are fixed by symmetries, which saves nothing."""


@dataclass(frozen=True, slots=True)
class Symmetric:
    """A group of symmetries, with inverses or without, and the labels whose places are the outer number."""

    maps: Sequence[Conjugation]
    inverses: bool
    labels: frozenset[int]

    @property
    def order(self) -> int:
        return len(self.maps) * (1 + self.inverses)


class OuterNumbers:
    """All outer numbers that moves lead to, ascending: rows of marks, one for each label of the set and 0 for others,
    in the slots where pieces of these can be.

    Of each outer number, by its place: ``shard_of``, and ``symmetry_of``, the first symmetry that takes it to the
    shard's own. Of each shard: ``own``, the place of its own, and ``weights``, how many symmetries take to that.
    ``fixed``: of each symmetry the shards whose own number it fixes."""

    def __init__(
        self, definition: Permutation, pieces: Pieces, moves: Sequence[Move], kept: Symmetric
    ) -> None:
        self._pieces, self.kept = pieces, kept
        self._labels = np.array(sorted(kept.labels))
        self._marks = np.zeros(len(definition.tokens), dtype=np.int64)
        self._marks[self._labels] = np.arange(1, len(self._labels) + 1)
        orbits = {definition.label_orbit[label] for label in kept.labels}
        self._slots = np.array(sorted(slot for orbit in orbits for slot in definition.orbits[orbit]))
        self._place = np.zeros(pieces.slots, dtype=np.intp)
        self._place[self._slots] = np.arange(len(self._slots))
        self._radix = (len(self._labels) + 1) ** np.arange(len(self._slots), dtype=np.int64)
        self._rows, self._numbers = self._reached(moves)
        self._divide()

    def __len__(self) -> int:
        return len(self._rows)

    def at(self, boards: Boards) -> Numbers:
        """The places of the outer numbers of boards."""
        return self._found(self._marks[boards[:, self._slots].astype(np.intp)])

    def moved(self, move: Move) -> Numbers:
        """The places of what the move makes of the shards' own."""
        return self._found(self._to(self._rows[self.own], move.to))

    def _to(self, rows: Numbers, to: Sequence[int]) -> Numbers:
        """What is in slot i goes to slot ``to[i]``."""
        found = np.empty_like(rows)
        found[:, self._place[np.array(to)[self._slots]]] = rows
        return found

    def _found(self, rows: Numbers) -> Numbers:
        return np.searchsorted(self._numbers, rows @ self._radix)

    def _reached(self, moves: Sequence[Move]) -> tuple[Numbers, Numbers]:
        rows = new = self._marks[self._pieces.labels[None, self._slots]]
        known = rows @ self._radix
        while len(new):
            images = np.concatenate([self._to(new, move.to) for move in moves])
            numbers, first = np.unique(images @ self._radix, return_index=True)
            new = images[first[~np.isin(numbers, known)]]
            rows = np.concatenate([rows, new])
            known = np.union1d(known, numbers)
        return rows[np.argsort(rows @ self._radix)], known

    def _divide(self) -> None:
        places = np.arange(len(self))
        least, fixed = places.copy(), []
        self.symmetry_of = np.zeros(len(self), dtype=np.int64)
        for symmetry in range(self.kept.order):
            image = self._image(symmetry)
            less = image < least
            least[less], self.symmetry_of[less] = image[less], symmetry
            fixed.append(image == places)
        self.own, self.shard_of, self.weights = np.unique(least, return_inverse=True, return_counts=True)
        self.fixed = [np.flatnonzero(each[self.own]).tolist() for each in fixed]

    def _image(self, symmetry: int) -> Numbers:
        """The places of what a symmetry makes of the outer numbers."""
        maps = self.kept.maps
        each = maps[symmetry % len(maps)]
        becomes = np.zeros(len(self._labels) + 1, dtype=np.int64)
        becomes[1:] = self._marks[each.labels[self._labels]]
        rows = self._to(becomes[self._rows], each.to.tolist())
        if symmetry < len(maps):
            return self._found(rows)
        home = self._place[self._pieces.home[self._labels[rows - 1]]]
        own = self._marks[self._pieces.labels[self._slots]]
        np.put_along_axis(rows, home, np.broadcast_to(own, home.shape), axis=1)
        return self._found(rows)


class ReducedRunsSpace(PackedPermutationSpace):
    """The space by the symmetries of ``kept``. Codes are those of packed boards."""

    def __init__(self, puzzle: Puzzle, origin: Origin, origins: list[Board], kept: Symmetric) -> None:
        super().__init__(puzzle, origin, origins)
        self.kept = kept
        self._pieces = Pieces(self._definition, origins[0])

    @property
    def order(self) -> int:
        """The number of symmetries."""
        return self.kept.order

    @property
    def moves(self) -> int:
        return len(self._moves_toward)

    @property
    def shards(self) -> int:
        return len(self.weights)

    def layout_fields(self) -> dict[str, Any]:
        return {"version": VERSION, "kind": PACKED_REPRESENTATIVES, "symmetries": self.order}

    @property
    def weights(self) -> list[int]:
        """Of each shard the number of outer numbers that symmetries take to its own."""
        found: list[int] = self._outer.weights.tolist()
        return found

    @property
    def origin_shard(self) -> int:
        """The shard of the origin, which all symmetries fix."""
        return int(self._outer.shard_of[self._outer.at(np.array(self.origins, dtype=np.uint8))][0])

    @cached_property
    def share(self) -> float:
        """The part of all outer numbers that have a shard."""
        return self.shards / len(self._outer)

    @cached_property
    def _outer(self) -> OuterNumbers:
        return OuterNumbers(self._definition, self._pieces, self._moves_toward, self.kept)

    def images(self, boards: Boards, most: int | None = None) -> Boards:
        """The boards that symmetries take the boards to, each once, in the order of their codes; where there are more
        than ``most``, so many of them, the least of some."""
        step = MOST_IMAGES // self.order
        found = np.empty((0, self._definition.slots), dtype=np.uint8)
        for first in range(0, len(boards), step):
            contents = self.contents(boards[first : first + step])
            images = []
            for each in self._symmetries:
                to, becomes = np.divmod(
                    each[np.arange(contents.shape[1]), contents].astype(np.intp), CONTENTS
                )
                images.append(np.empty(contents.shape, dtype=np.uint8))
                np.put_along_axis(images[-1], to, becomes.astype(np.uint8), axis=1)
            found, _ = distinct_rows(np.concatenate([found, *images]))
            if most is not None and len(found) >= most:
                break
        return self.boards(found[:most])

    @property
    def runs(self) -> _kernel.ReducedRuns:
        """The kernel's shards."""
        return self._kernel[0]

    def sources(self, shard: int) -> set[int]:
        """The shards of the layer before that lead into a shard."""
        return {source for source, _ in self._kernel[1][shard]}

    @cached_property
    def _kernel(self) -> tuple[_kernel.ReducedRuns, list[list[tuple[int, int]]]]:
        """With the links of each shard: (shard, map)."""
        back = [_inverse(each) for each in self._symmetries]
        maps: dict[tuple[int, int], int] = {}
        tables: list[PointMap] = []
        links: list[list[tuple[int, int]]] = [[] for _ in range(self.shards)]
        for number, (pull, move) in enumerate(zip(self._moves_toward, self._moves_away, strict=True)):
            there, moved = self._outer.moved(pull), self._move(move)
            sources, symmetries = self._outer.shard_of[there], self._outer.symmetry_of[there]
            for symmetry in np.unique(symmetries).tolist():
                maps[number, symmetry] = len(tables)
                tables.append(_then(back[symmetry], moved))
            for shard, (source, symmetry) in enumerate(
                zip(sources.tolist(), symmetries.tolist(), strict=True)
            ):
                links[shard].append((source, maps[number, symmetry]))
        fixing: list[list[int]] = [[] for _ in range(self.shards)]
        for symmetry in range(1, self.order):
            for shard in self._outer.fixed[symmetry]:
                fixing[shard].append(len(tables))
            tables.append(self._symmetries[symmetry])
        flat = [table.ravel() for table in tables]
        shards = list(zip(links, fixing, strict=True))
        return _kernel.ReducedRuns(self.code_bytes, self.fields, flat, shards), links

    # Symmetries as maps of contents

    @cached_property
    def _symmetries(self) -> list[PointMap]:
        """The identity first, inverses last."""
        found = [self._conjugation(each) for each in self.kept.maps]
        return found + [_then(each, self._inversion()) for each in found] if self.kept.inverses else found

    def _map(self, image: Callable[[int, int, int], tuple[int, int, int]]) -> PointMap:
        """``image``: of slot, label and orientation."""
        definition = self._definition
        found = np.arange(definition.slots * CONTENTS, dtype=np.uint16).reshape(-1, CONTENTS)
        for slot, orbit in enumerate(definition.slot_orbits):
            modulus = definition.moduli[orbit]
            for number, label in enumerate(self._labels[orbit]):
                for turn in range(modulus):
                    to, becomes, turned = image(slot, label, turn)
                    content = self._number[becomes] * modulus + turned
                    found[slot, number * modulus + turn] = to * CONTENTS + content
        return found

    def _conjugation(self, symmetry: Conjugation) -> PointMap:
        by_slot = symmetry.slotwise()
        assert by_slot is not None, "symmetries of slots"
        labels = len(by_slot.labels)

        def image(slot: int, label: int, turn: int) -> tuple[int, int, int]:
            turned = by_slot.turned[(slot * labels + label) * by_slot.turns + turn]
            return by_slot.to[slot], by_slot.labels[label], turned

        return self._map(image)

    def _inversion(self) -> PointMap:
        home, labels, turned = self._pieces.home, self._pieces.labels, self._pieces.turned
        moduli = self._pieces.moduli

        def image(slot: int, label: int, turn: int) -> tuple[int, int, int]:
            to = int(home[label])
            return to, int(labels[slot]), int((turned[to] - turn + turned[slot]) % moduli[slot])

        return self._map(image)

    def _move(self, move: Move) -> PointMap:
        moduli = self._definition.slot_moduli
        return self._map(
            lambda slot, label, turn: (move.to[slot], label, (turn + move.delta[slot]) % moduli[slot])
        )


def _then(first: PointMap, second: PointMap) -> PointMap:
    """One map and then the other."""
    found: PointMap = second.ravel()[first]
    return found


def _inverse(points: PointMap) -> PointMap:
    found = np.zeros_like(points)
    found.ravel()[points.ravel()] = np.arange(points.size, dtype=np.uint16)
    return found


# The choice of symmetries


def reduced_runs(puzzle: Puzzle, origin: Origin, order: int | None = None) -> ReducedRunsSpace | None:
    """The space by as many symmetries as there are, or by a group of ``order`` of them; None where there is none, or no
    set of labels whose places are an outer number of a fitting size."""
    origins = origin_boards(puzzle, origin)
    definition = permutation(puzzle)
    counted = definition.turns is None and not any(definition.ignore)
    maps = slot_symmetries(definition, origins) if counted else None
    if maps is None:
        return None
    kept = _chosen(definition, maps, order)
    return None if kept is None else ReducedRunsSpace(puzzle, origin, origins, kept)


def _chosen(definition: Permutation, maps: list[Conjugation], order: int | None) -> Symmetric | None:
    invertible = max(definition.counts) == 1 and definition.symmetric
    groups = _groups(maps, len(definition.tokens))
    if order is not None:
        found = {len(group) for group in groups}
        more = (subgroup(maps, each) for each in (order, order // 2) if each > 1 and each not in found)
        groups += [group for group in more if group is not None]
    choices = [
        (group, inverses)
        for group in groups
        for inverses in (False, True)[: 1 + invertible]
        if order in (None, len(group) * (1 + inverses))
    ]
    for group, inverses in sorted(choices, key=lambda each: (-len(each[0]) * (1 + each[1]), each[1])):
        sets = _label_sets(definition, group, inverses=inverses)
        best = max(sets, key=lambda labels: _places(definition, labels), default=None)
        if best is not None and _places(definition, best) >= LEAST_OUTER * len(group) * (1 + inverses):
            return Symmetric(group, inverses, best)
    return None


def _groups(maps: list[Conjugation], labels: int) -> list[list[Conjugation]]:
    """All symmetries, and those that keep one or two labels together."""
    found = {len(maps): maps}
    to = np.array([each.labels[:labels] for each in maps])
    for first in range(labels):
        for second in range(first, labels):
            kept = ((to[:, first] == first) & (to[:, second] == second)) | (
                (to[:, first] == second) & (to[:, second] == first)
            )
            found.setdefault(int(kept.sum()), [each for each, here in zip(maps, kept, strict=True) if here])
    return [group for group in found.values() if len(group) > 1]


def _label_sets(
    definition: Permutation, maps: Sequence[Conjugation], *, inverses: bool
) -> list[frozenset[int]]:
    """Sets of labels that the symmetries keep, each begun with a smallest one, as far as MOST_OUTER allows."""
    if inverses:
        units = [
            frozenset(int(each.labels[label]) for each in maps for label in definition.labels_of(orbit))
            for orbit in range(len(definition.orbits))
        ]
    else:
        labels = range(len(definition.tokens))
        units = list(dict.fromkeys(frozenset(int(each.labels[label]) for each in maps) for label in labels))
    found = []
    for first in units:
        joined = first
        for unit in sorted(units, key=lambda unit: _places(definition, unit)):
            if _fits(definition, joined | unit):
                joined |= unit
        if _fits(definition, joined):
            found.append(joined)
    return found


def _fits(definition: Permutation, labels: frozenset[int]) -> bool:
    seen = sum(
        len(slots) for orbit, slots in enumerate(definition.orbits) if labels & {*definition.labels_of(orbit)}
    )
    return _places(definition, labels) <= MOST_OUTER and (len(labels) + 1) ** seen < 2**63


def _places(definition: Permutation, labels: frozenset[int]) -> int:
    """In how many ways the pieces of some labels can be placed in the slots of their orbits."""
    ways = 1
    for orbit, slots in enumerate(definition.orbits):
        counts = [definition.counts[label] for label in definition.labels_of(orbit) if label in labels]
        rest = len(slots) - sum(counts)
        ways *= factorial(len(slots)) // (factorial(rest) * prod(map(factorial, counts)))
    return ways
