"""The layout of a space of representatives: which symmetries it has, and which digits of a state are its outer number.

An orbit's labels are in blocks that symmetries permute. What a symmetry makes of orientations depends on slots alone
where these are counted from suitable references.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import factorial, prod
from typing import TYPE_CHECKING

import numpy as np

from farthest.errors import ResourceError
from farthest.families.permutation.layout import counted_labels, twist_sum
from farthest.families.permutation.symmetries import Conjugation, symmetries

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.families.permutation.definition import Permutation
    from farthest.families.permutation.moves import Move
    from farthest.puzzles.definition import Board

    Numbers = NDArray[np.int64]
    Rows = NDArray[np.int8]
    """Shape (boards, slots of an orbit)."""

MOST_OUTER = 2**18
"""Outer numbers, and arrangements of a digit, at the most: what symmetries make of each is a table."""

MOST_ORDERS = 5040
"""Orders of the pieces of a block at the most."""

MOST_BITS = 4096
"""Values of the digit whose values are the bits of a line, at the most."""

MOST_LINES = 2**31
"""Lines of a shard at the most; the kernel numbers them by 32 bits."""

MOST_TERMS = 2**26
"""Values of a digit, times moves and symmetries, at the most: 256 MB of tables."""

MOST_MODULUS = 40
"""Of orientations: a sum of three of them fits a byte with a sign."""

MOST_LAYOUTS = 20_000
"""Layouts that are compared; a puzzle of many orbits would have millions."""


@dataclass(frozen=True, slots=True)
class Action:
    """What a move or a symmetry does to an orbit: what is in slot i goes to slot ``to[i]``, label k becomes
    ``labels[k]``, an orientation x becomes ``sign[i]`` x + ``turn[i]`` - ``off[k]``."""

    to: NDArray[np.intp]
    labels: NDArray[np.int8]
    sign: NDArray[np.int8]
    turn: NDArray[np.int8]
    off: NDArray[np.int8]


class Orbit:
    """The slots of an orbit, its labels from 0 on, its orientations counted so that symmetries turn as little as can
    be, and what moves and symmetries do to it."""

    def __init__(
        self,
        definition: Permutation,
        number: int,
        fixed: Board,
        pulls: Sequence[Move],
        maps: Sequence[Conjugation],
        total: int | None,
    ) -> None:
        self.number = number
        self.slots = np.array(definition.orbits[number])
        self.labels = [label for label, of in enumerate(definition.label_orbit) if of == number]
        self.counts = [definition.counts[label] for label in self.labels]
        counted = len(counted_labels(definition, number))
        self.modulus = definition.moduli[number] if counted == len(self.labels) else 1
        self.fits = counted in (0, len(self.labels)) and self.modulus <= MOST_MODULUS
        local = {label: i for i, label in enumerate(self.labels)}
        place = {int(slot): i for i, slot in enumerate(self.slots)}
        self.home = np.array([local[fixed[slot]] for slot in self.slots], dtype=np.int8)
        same = np.arange(len(self.labels), dtype=np.int8)
        count = len(self.slots)
        raw = [
            Action(
                np.array([place[int(each.to[slot])] for slot in self.slots]),
                np.array([local[int(each.labels[label])] for label in self.labels], dtype=np.int8),
                each.sign[self.slots].astype(np.int8),
                each.shift[self.slots].astype(np.int8),
                each.off[self.labels].astype(np.int8),
            )
            for each in maps
        ]
        self.reference, self.piece_reference = self._references(raw)
        shift = int(self.reference.sum()) - int(self.piece_reference[self.home].sum())
        self.total = None if total is None else (total + shift) % self.modulus
        self.symmetries = [self._counted(action) for action in raw]
        self.pulls = [
            self._counted(
                Action(
                    np.array([place[move.to[slot]] for slot in self.slots]),
                    same,
                    np.ones(count, dtype=np.int8),
                    np.array([move.delta[slot] for slot in self.slots], dtype=np.int8),
                    np.zeros(len(self.labels), dtype=np.int8),
                )
            )
            for move in pulls
        ]

    @property
    def size(self) -> int:
        """The number of slots."""
        return len(self.slots)

    @property
    def turns(self) -> bool:
        """Whether orientations count."""
        return self.modulus > 1

    def _references(self, raw: Sequence[Action]) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """For each slot what is added to orientations there, and for each label what is taken off: where it can be such
        that each symmetry turns all pieces alike."""
        none = np.zeros(self.size, dtype=np.int8), np.zeros(len(self.labels), dtype=np.int8)
        if not self.turns:
            return none
        homes = [int(np.flatnonzero(self.home == label)[0]) for label in range(len(self.labels))]
        of_slots = _potential([(each.to, each.sign, each.turn) for each in raw], self.modulus)
        of_labels = _potential([(each.labels, each.sign[homes], each.off) for each in raw], self.modulus)
        return none if of_slots is None or of_labels is None else (of_slots, of_labels)

    def _counted(self, action: Action) -> Action:
        """The action on orientations that are counted from the references."""
        slots, pieces = self.reference, self.piece_reference
        homes = [int(np.flatnonzero(self.home == label)[0]) for label in range(len(self.labels))]
        turn = (action.turn + slots[action.to] - action.sign * slots) % self.modulus
        off = (action.off + pieces[action.labels] - action.sign[homes] * pieces) % self.modulus
        return Action(action.to, action.labels, action.sign, turn.astype(np.int8), off.astype(np.int8))

    def after(self, pull: int | None, symmetry: int) -> Action:
        """The pull, if any, and then the symmetry."""
        if pull is None:
            return self.symmetries[symmetry]
        first, then = self.pulls[pull], self.symmetries[symmetry]
        sign = then.sign[first.to]
        turn = (sign * first.turn + then.turn[first.to]) % self.modulus
        return Action(then.to[first.to], then.labels, sign, turn.astype(np.int8), then.off)


def _potential(
    actions: Sequence[tuple[NDArray[np.integer], NDArray[np.int8], NDArray[np.int8]]], modulus: int
) -> NDArray[np.int8] | None:
    """Numbers a of the places with a[to[i]] = c - turn[i] + sign[i] a[i] for each action (to, sign, turn), c a constant
    of the action; None where there are none."""
    generators, made = [], {tuple(range(len(actions[0][0])))}
    for to, sign, turn in actions:
        if tuple(to.tolist()) in made:
            continue
        generators.append((to.tolist(), sign.tolist(), turn.tolist()))
        queue = list(made)
        for each in queue:
            for other, _, _ in generators:
                image = tuple(other[place] for place in each)
                if image not in made:
                    made.add(image)
                    queue.append(image)
    for constants in product(range(modulus), repeat=len(generators)):
        at = _along(generators, constants, len(actions[0][0]), modulus)
        if at is not None:
            found = np.array(at, dtype=np.int8)
            if all(
                len(set(((found[to] + turn - sign * found) % modulus).tolist())) == 1
                for to, sign, turn in actions
            ):
                return found
    return None


def _along(
    generators: Sequence[tuple[list[int], list[int], list[int]]],
    constants: Sequence[int],
    places: int,
    modulus: int,
) -> list[int] | None:
    """The numbers that the generators' equations give, where the first place of each orbit has 0."""
    at: dict[int, int] = {}
    for first in range(places):
        if first in at:
            continue
        at[first] = 0
        queue = [first]
        for place in queue:
            for (to, sign, turn), constant in zip(generators, constants, strict=True):
                value = (constant - turn[place] + sign[place] * at[place]) % modulus
                if to[place] not in at:
                    at[to[place]] = value
                    queue.append(to[place])
                elif at[to[place]] != value:
                    return None
    return [at[place] for place in range(places)]


class Arrangements:
    """All ways to put things of so many kinds on slots, in the order of their rows: int8 (arrangements, slots)."""

    def __init__(self, counts: Sequence[int]) -> None:
        slots = sum(counts)
        rows = np.zeros((1, 0), dtype=np.int8)
        left = np.array([counts], dtype=np.int8)
        for _ in range(slots):
            row, kind = np.nonzero(left)
            rows = np.concatenate([rows[row], kind[:, None].astype(np.int8)], axis=1)
            left = left[row]
            left[np.arange(len(left)), kind] -= 1
        self.rows = rows
        self._weights = len(counts) ** np.arange(slots, dtype=np.int64)[::-1]
        self._codes = rows.astype(np.int64) @ self._weights

    def __len__(self) -> int:
        return len(self.rows)

    def numbers(self, rows: Rows) -> Numbers:
        """The numbers of rows that are arrangements."""
        return np.searchsorted(self._codes, rows.astype(np.int64) @ self._weights)


class Turns:
    """Orientations of slots as a number; with a sum that never changes, that of the last slot follows."""

    def __init__(self, slots: int, modulus: int, total: int | None) -> None:
        self._modulus, self._total = modulus, total
        self._digits = slots if total is None else slots - 1
        self.size: int = modulus**self._digits
        self._weights = modulus ** np.arange(self._digits, dtype=np.int64)

    def rows(self, numbers: Numbers) -> Rows:
        """The orientations of all slots."""
        found = numbers[:, None] // self._weights % self._modulus
        if self._total is not None:
            last = (self._total - found.sum(axis=1)) % self._modulus
            found = np.concatenate([found, last[:, None]], axis=1)
        return found.astype(np.int8)

    def numbers(self, rows: Rows) -> Numbers:
        return rows[:, : self._digits].astype(np.int64) @ self._weights


@dataclass(frozen=True, slots=True)
class Part:
    """Where the digits of an orbit are. ``blocks``: its labels, in blocks that symmetries permute. The outer number
    tells which block's piece is in a slot, or where ``in_line`` a digit of the line does (then a block is a label).
    ``turns``: "", or "outer", "line", "word"."""

    orbit: int
    blocks: tuple[tuple[int, ...], ...]
    in_line: bool
    turns: str


def slot_symmetries(definition: Permutation, origins: list[Board]) -> list[Conjugation] | None:
    """The symmetries that move pieces within their orbits, the identity first."""
    if len(origins) != 1 or definition.turns is not None or any(definition.ignore):
        return None
    try:
        maps = [each for each in symmetries(definition, origins[0]).maps if isinstance(each, Conjugation)]
    except ResourceError:
        return None
    kept = [
        each
        for each in maps
        if all({int(each.to[slot]) for slot in slots} == set(slots) for slots in definition.orbits)
    ]
    kept.sort(key=lambda each: (each.to.tolist() != list(range(len(each.to))), each.image))
    return kept if len(kept) > 1 else None


def layouts(
    definition: Permutation, origins: list[Board], maps: Sequence[Conjugation]
) -> list[tuple[Part, ...]]:
    """Layouts of the space, the best first: many bits that are linear, outer numbers enough that few representatives
    have a stabiliser, and then as few as that."""
    orbits = [
        Orbit(definition, number, origins[0], (), maps, twist_sum(definition, number, origins))
        for number in range(len(definition.orbits))
    ]
    if not all(orbit.fits for orbit in orbits):
        return []
    told = [orbit for orbit in orbits if len(orbit.labels) > 1 or orbit.turns]
    links = len(definition.generators) * len(maps)
    options = [list(_options(orbit, MOST_TERMS // links)) for orbit in told]
    if prod(map(len, options)) > MOST_LAYOUTS:
        return []
    ranked = []
    for parts in product(*options):
        words = [orbit for orbit, part in zip(told, parts, strict=True) if part.turns == "word"]
        outer = prod(_outer_size(orbit, part) for orbit, part in zip(told, parts, strict=True))
        states = prod(_arrangements(orbit.counts) * _turns(orbit) for orbit in told)
        if len(words) == 1 and outer <= MOST_OUTER and states // outer // _turns(words[0]) <= MOST_LINES:
            size = _turns(words[0])
            linear = size >= 64 and size & (size - 1) == 0
            ranked.append(((not linear, -min(outer, 64 * len(maps)), outer), parts))
    return [parts for _, parts in sorted(ranked, key=lambda each: each[0])]


def _options(orbit: Orbit, most: int) -> Iterator[Part]:
    """``most``: values of a digit of which there is a table for each link."""
    size = _turns(orbit)
    turns = [""]
    if orbit.turns:
        turns = ["outer", *(["word"] if size <= MOST_BITS else []), *(["line"] if size <= most else [])]
    whole = (tuple(range(len(orbit.labels))),)
    singles = tuple((label,) for label in whole[0])
    few = _arrangements(orbit.counts) <= most
    for each in turns:
        if few and each != "outer" and _turns_by_block(orbit, whole):
            yield Part(orbit.number, singles, True, each)
        for blocks in _block_systems(orbit):
            orders = [_arrangements([orbit.counts[label] for label in block]) for block in blocks]
            if max(orders) <= MOST_ORDERS and _turns_by_block(orbit, blocks):
                yield Part(orbit.number, blocks, False, each)


def _turns_by_block(orbit: Orbit, blocks: Sequence[Sequence[int]]) -> bool:
    """Whether symmetries turn the pieces of a block alike."""
    return all(
        len(set(action.off[list(block)].tolist())) == 1 for action in orbit.symmetries for block in blocks
    )


def _outer_size(orbit: Orbit, part: Part) -> int:
    turns = _turns(orbit) if part.turns == "outer" else 1
    blocks = [sum(orbit.counts[label] for label in block) for block in part.blocks]
    return (1 if part.in_line else _arrangements(blocks)) * turns


def _turns(orbit: Orbit) -> int:
    """How many orientations its pieces have together."""
    return Turns(orbit.size, orbit.modulus, orbit.total).size if orbit.turns else 1


def _arrangements(counts: Sequence[int]) -> int:
    return factorial(sum(counts)) // prod(factorial(count) for count in counts)


def _block_systems(orbit: Orbit) -> list[tuple[tuple[int, ...], ...]]:
    """Partitions of the labels that symmetries keep: the finest, those that two labels in one block make, and the
    coarsest."""
    labels = range(len(orbit.labels))
    found = [_joined(orbit, []), *(_joined(orbit, [(0, label)]) for label in labels), (tuple(labels),)]
    return list(dict.fromkeys(found))


def _joined(orbit: Orbit, pairs: list[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """The finest partition that symmetries keep in which the labels of each pair are in one block."""
    block = list(range(len(orbit.labels)))
    queue = list(pairs)
    for one, other in queue:
        a, b = block[one], block[other]
        if a == b:
            continue
        block = [a if each == b else each for each in block]
        queue += [(int(action.labels[one]), int(action.labels[other])) for action in orbit.symmetries]
    members: dict[int, list[int]] = {}
    for label, each in enumerate(block):
        members.setdefault(each, []).append(label)
    return tuple(tuple(each) for each in members.values())
