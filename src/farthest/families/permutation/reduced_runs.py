"""Packed boards by representatives of symmetries: for permutation puzzles of which only some layers are counted.

The *outer number* of a state tells where the pieces of some labels are, a set that symmetries keep. Of the outer numbers
that symmetries take to each other the least one has a shard, which holds all states that have it (kernel/include/
farthest/reduced_runs.hpp). Where the labels are all those of some orbits, and all pieces differ, the inverse of a state
is one more symmetry: it makes of each piece in a slot the piece whose home the slot is, at home of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import factorial, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from farthest import _kernel
from farthest.families.permutation.definition import permutation
from farthest.families.permutation.gather_space import origin_boards
from farthest.families.permutation.reduced_layout import slot_symmetries, subgroup
from farthest.families.permutation.scatter_space import PackedPermutationSpace
from farthest.families.permutation.symmetries import Pieces
from farthest.spaces.contract import REPRESENTATIVES, check_version, damaged_layout
from farthest.spaces.packed import CONTENTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.families.permutation.definition import Permutation
    from farthest.families.permutation.symmetries import Conjugation
    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Origin, Puzzle
    from farthest.spaces.contract import Boards, Codes

    Numbers = NDArray[np.int64]
    PointMap = NDArray[np.uint16]
    """For each slot and content (slots, CONTENTS) the slot, times CONTENTS, and the content that it becomes."""

VERSION = 1
RUNS = "runs"
"""The field of a layout that tells these spaces from those of bitmaps."""

MOST_OUTER = 2**16
"""Outer numbers at the most: what symmetries make of each is a table."""

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


class ReducedRunsSpace(PackedPermutationSpace):
    """``runs``: the kernel's shards; of each ``weights`` outer numbers. Codes are those of packed boards."""

    def __init__(self, puzzle: Puzzle, origin: Origin, origins: list[Board], kept: Symmetric) -> None:
        super().__init__(puzzle, origin, origins)
        self._kept = kept
        self._pieces = Pieces(self._definition, origins[0])
        self._labels_seen = np.array(sorted(kept.labels))
        self._marks = np.zeros(len(self._definition.tokens), dtype=np.int64)
        self._marks[self._labels_seen] = np.arange(1, len(kept.labels) + 1)
        self._seen = np.array(
            [
                slot
                for slot in range(self._definition.slots)
                if kept.labels.intersection(self._definition.labels_of(self._definition.slot_orbits[slot]))
            ]
        )
        self._radix = (len(kept.labels) + 1) ** np.arange(len(self._seen), dtype=np.int64)

    @property
    def order(self) -> int:
        """The number of symmetries."""
        return self._kept.order

    @property
    def shards(self) -> int:
        return len(self.weights)

    def layout_fields(self) -> dict[str, Any]:
        return {"version": VERSION, "kind": REPRESENTATIVES, RUNS: True, "symmetries": self.order}

    @property
    def weights(self) -> list[int]:
        """Of each shard the number of outer numbers that symmetries take to its own."""
        return self._shards[2]

    @property
    def origin_shard(self) -> int:
        """The shard of the origin, which all symmetries fix."""
        labels = np.array(self.origins, dtype=np.int64)[:, : self._definition.slots]
        return int(self._shards[0][self._found(self._marks[labels])][0])

    @cached_property
    def share(self) -> float:
        """The part of all outer numbers that have a shard."""
        return self.shards / len(self._outer[0])

    def images(self, boards: Boards, most: int | None = None) -> Boards:
        """The boards that symmetries take the boards to, each once, in the order of their codes; ``most`` of them, where
        there are more."""
        step = len(boards) if most is None else most // self.order + 1
        found = np.empty((0, self._definition.slots), dtype=np.uint8)
        for first in range(0, len(boards), step):
            contents = self.contents(boards[first : first + step])
            found = np.unique(
                np.concatenate([found, *(_applied(each, contents) for each in self._symmetries)]), axis=0
            )
            if most is not None and len(found) >= most:
                break
        return self.boards(found[:most])

    @cached_property
    def runs(self) -> _kernel.ReducedRuns:
        """The kernel's shards."""
        shard_of, symmetry_of, _ = self._shards
        rows, _ = self._outer
        first = np.unique(shard_of, return_index=True)[1]
        back = [_inverse(each) for each in self._symmetries]
        moved = [self._move(move.to, move.delta) for move in self._moves_away]
        maps: dict[tuple[int, int], int] = {}
        tables: list[PointMap] = []
        links: list[list[tuple[int, int]]] = [[] for _ in first]
        for number, move in enumerate(self._moves_toward):
            there = self._found(_moved(rows[first], move.to))
            for shard, (source, symmetry) in enumerate(
                zip(shard_of[there].tolist(), symmetry_of[there].tolist(), strict=True)
            ):
                name = (number, symmetry)
                if name not in maps:
                    maps[name] = len(tables)
                    tables.append(_then(back[symmetry], moved[number]))
                links[shard].append((source, maps[name]))
        fixing: list[list[int]] = [[] for _ in first]
        for symmetry in range(1, self.order):
            for shard in np.flatnonzero(self._image_of(symmetry)[first] == first).tolist():
                fixing[shard].append(len(tables))
            tables.append(self._symmetries[symmetry])
        return _kernel.ReducedRuns(
            self.code_bytes,
            self.fields,
            [table.ravel() for table in tables],
            list(zip(links, fixing, strict=True)),
        )

    # Symmetries as maps of contents

    @cached_property
    def _symmetries(self) -> list[PointMap]:
        """The identity first, inverses last."""
        found = [self._conjugation(each) for each in self._kept.maps]
        return found + [_then(each, self._inversion()) for each in found] if self._kept.inverses else found

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

    def _move(self, to: Sequence[int], delta: Sequence[int]) -> PointMap:
        moduli = self._definition.slot_moduli
        return self._map(lambda slot, label, turn: (to[slot], label, (turn + delta[slot]) % moduli[slot]))

    # Outer numbers: rows of marks, int64 (outer numbers, slots), 0 where no label of the set is

    @cached_property
    def _outer(self) -> tuple[Numbers, Numbers]:
        """The rows of all outer numbers that moves lead to, and their numbers, which ascend."""
        rows = new = self._marks[np.array(self.origins, dtype=np.int64)[:, : self._definition.slots]]
        known = self._numbers(rows)
        while len(new):
            images = np.concatenate([_moved(new, move.to) for move in self._moves_toward])
            numbers, first = np.unique(self._numbers(images), return_index=True)
            new = images[first[~np.isin(numbers, known)]]
            rows = np.concatenate([rows, new])
            known = np.union1d(known, numbers)
        return rows[np.argsort(self._numbers(rows))], known

    def _numbers(self, rows: Numbers) -> Numbers:
        found: Numbers = rows[:, self._seen] @ self._radix
        return found

    def _found(self, rows: Numbers) -> Numbers:
        """The places of rows among all outer numbers."""
        return np.searchsorted(self._outer[1], self._numbers(rows))

    def _image_of(self, symmetry: int) -> Numbers:
        """What a symmetry makes of each outer number, by their places."""
        rows, _ = self._outer
        maps = self._kept.maps
        each = maps[symmetry % len(maps)]
        marked = np.zeros(len(self._kept.labels) + 1, dtype=np.int64)
        marked[1:] = self._marks[each.labels[self._labels_seen]]
        images = _moved(marked[rows], each.to.tolist())
        if symmetry < len(maps):
            return self._found(images)
        inverses = np.zeros_like(images)
        home = self._pieces.home[self._labels_seen[images[:, self._seen] - 1]]
        own = self._marks[self._pieces.labels[self._seen]]
        np.put_along_axis(inverses, home, np.broadcast_to(own, home.shape), axis=1)
        return self._found(inverses)

    @cached_property
    def _shards(self) -> tuple[Numbers, Numbers, list[int]]:
        """Of each outer number its shard, and the first symmetry that takes it to the shard's own; of each shard how
        many outer numbers it has. The first of them is the shard's own."""
        least = np.arange(len(self._outer[0]))
        symmetry_of = np.zeros(len(least), dtype=np.int64)
        for symmetry in range(self.order):
            image = self._image_of(symmetry)
            less = image < least
            least[less], symmetry_of[less] = image[less], symmetry
        _, shard_of, weights = np.unique(least, return_inverse=True, return_counts=True)
        return shard_of, symmetry_of, weights.tolist()


def _moved(rows: Numbers, to: Sequence[int]) -> Numbers:
    """What is in slot i goes to slot ``to[i]``."""
    found = np.empty_like(rows)
    found[:, np.array(to)] = rows
    return found


def _then(first: PointMap, second: PointMap) -> PointMap:
    """One map and then the other."""
    found: PointMap = second.ravel()[first]
    return found


def _inverse(points: PointMap) -> PointMap:
    found = np.zeros_like(points)
    found.ravel()[points.ravel()] = np.arange(points.size, dtype=np.uint16)
    return found


def _applied(points: PointMap, contents: NDArray[Any]) -> NDArray[np.uint8]:
    """What the map makes of contents (N, slots)."""
    images = points[np.arange(contents.shape[1]), contents].astype(np.intp)
    found = np.empty(contents.shape, dtype=np.uint8)
    np.put_along_axis(found, images // CONTENTS, (images % CONTENTS).astype(np.uint8), axis=1)
    return found


# The choice of symmetries


def reduced_runs(puzzle: Puzzle, origin: Origin, order: int | None = None) -> ReducedRunsSpace | None:
    """The space by as many symmetries as there are, or by a group of ``order`` of them; None where there is none, or no
    set of labels whose places are an outer number of a fitting size."""
    origins = origin_boards(puzzle, origin)
    definition = permutation(puzzle)
    maps = slot_symmetries(definition, origins)
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
    """Sets of labels that the symmetries keep, with at most MOST_OUTER outer numbers: from each of the smallest ones on,
    as many as fit."""
    if inverses:
        units = [frozenset(definition.labels_of(orbit)) for orbit in range(len(definition.orbits))]
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
    seen = sum(len(slots) for orbit, slots in enumerate(definition.orbits) if labels & {*definition.labels_of(orbit)})
    return _places(definition, labels) <= MOST_OUTER and (len(labels) + 1) ** seen < 2**63


def _places(definition: Permutation, labels: frozenset[int]) -> int:
    """In how many ways the pieces of some labels can be placed in the slots of their orbits."""
    ways = 1
    for orbit, slots in enumerate(definition.orbits):
        counts = [definition.counts[label] for label in definition.labels_of(orbit) if label in labels]
        rest = len(slots) - sum(counts)
        ways *= factorial(len(slots)) // (factorial(rest) * prod(map(factorial, counts)))
    return ways


def stored_runs(puzzle: Puzzle, origin: Origin, layout: dict[str, Any]) -> ReducedRunsSpace:
    """The space of a stored layout. Raises StorageError."""
    check_version(layout, VERSION)
    order = layout.get("symmetries")
    space = reduced_runs(puzzle, origin, order) if isinstance(order, int) else None
    if space is None or space.layout_fields() != layout:
        raise damaged_layout(f"{layout!r}")
    return space
