"""The layout of a space of representatives: which symmetries it has, and which digits of a state are its outer number,
number its lines, or are the bits of a line.

Symmetries may exchange orbits. An orbit's labels are in blocks that symmetries permute, also with those of other
orbits. What a symmetry makes of orientations depends on slots alone, and on the block of the piece, where these are
counted from suitable references.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, product
from math import factorial, gcd, prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from farthest.errors import ResourceError
from farthest.families.permutation.layout import twist_sum
from farthest.families.permutation.moves import Move, odd
from farthest.families.permutation.symmetries import Conjugation, Image, symmetries

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.families.permutation.definition import Permutation
    from farthest.puzzles.definition import Board

    Numbers = NDArray[np.int64]
    Rows = NDArray[np.int8]
    """Shape (boards, slots of an orbit)."""
    Labels = tuple[int, ...]
    Blocks = dict[int, tuple[Labels, ...]]
    """The blocks of the labels of orbits."""
    Place = tuple[int, int]
    """An orbit and a slot or label of it."""

MOST_OUTER = 2**22
"""Outer numbers at the most: what symmetries make of each is a table."""

FEW_OUTER = 2**18
"""Outer numbers of an orbit at the most, a row of a table each; with more of all, shards are very many, and small."""

MOST_SYMMETRIES = 1000
"""Symmetries at the most."""

MOST_STATES = 2**61
"""Arrangements at the most: outer numbers, times lines, times bits."""

MOST_ORDERS = 5040
"""Orders of the pieces of a block at the most."""

MOST_BITS = 4096
"""Values of the digits whose values are the bits of a line, at the most."""

LEAST_BITS = 8
"""The same at the least: a line takes a word."""

MOST_LINES = 2**31
"""Lines of a shard at the most; the kernel numbers them by 32 bits."""

MOST_TERMS = 2**26
"""Values of a digit, times the maps of these that there can be, at the most: 256 MB of tables."""

MOST_MODULUS = 40
"""Of orientations: a sum of three of them fits a byte with a sign."""

MOST_LAYOUTS = 20_000
"""Layouts that are compared; a puzzle of many orbits would have millions."""

MOST_SYSTEMS = 12
"""Of the partitions into so many blocks those that are tried, the most even ones."""

MOST_GROUPS = 10
"""Groups of digits of which any may be the bits of a line."""


@dataclass(frozen=True, slots=True)
class Action:
    """What a move or a symmetry makes of an orbit: what is in slot i goes to slot ``to[i]`` of the orbit ``there``,
    label k becomes its label ``labels[k]``, an orientation x becomes ``sign[i]`` x + ``turn[i]`` - ``off[k]``."""

    there: int
    to: NDArray[np.intp]
    labels: NDArray[np.int8]
    sign: NDArray[np.int8]
    turn: NDArray[np.int8]
    off: NDArray[np.int8]


class Orbit:
    """The slots of an orbit in which pieces or orientations differ, its labels from 0 on, its orientations counted so
    that symmetries turn slots alike where they can, and what moves and symmetries do to it."""

    def __init__(self, definition: Permutation, number: int, fixed: Board, total: int | None) -> None:
        self.number = number
        self.slots = np.array(definition.orbits[number])
        self.labels = [label for label, of in enumerate(definition.label_orbit) if of == number]
        self.counts = [definition.counts[label] for label in self.labels]
        self.modulus = definition.moduli[number]
        self.ignored = np.array([definition.ignore[label] for label in self.labels])
        local = {label: i for i, label in enumerate(self.labels)}
        self.home = np.array([local[fixed[slot]] for slot in self.slots], dtype=np.int8)
        self.total = total
        self.reference = np.zeros(len(self.slots), dtype=np.int8)
        self.symmetries: list[Action] = []
        self.pulls: list[Action] = []

    @property
    def size(self) -> int:
        """The number of slots."""
        return len(self.slots)

    @property
    def turns(self) -> bool:
        """Whether orientations count."""
        return self.modulus > 1

    @property
    def counted(self) -> int:
        """The number of pieces whose orientations count."""
        return sum(count for count, ignored in zip(self.counts, self.ignored, strict=True) if not ignored)

    @property
    def homes(self) -> list[int]:
        """Of each label a slot that has it on the fixed board."""
        return [int(np.flatnonzero(self.home == label)[0]) for label in range(len(self.labels))]

    def after(self, pull: int | None, symmetry: int) -> Action:
        """The pull, if any, and then the symmetry."""
        if pull is None:
            return self.symmetries[symmetry]
        first, then = self.pulls[pull], self.symmetries[symmetry]
        sign = then.sign[first.to]
        turn = (sign * first.turn + then.turn[first.to]) % self.modulus
        return Action(then.there, then.to[first.to], then.labels, sign, turn.astype(np.int8), then.off)


def orbits_of(
    definition: Permutation, origins: Sequence[Board], pulls: Sequence[Move], maps: Sequence[Conjugation]
) -> list[Orbit]:
    """The orbits in which pieces or orientations differ; ``there`` of an action is the place in this list."""
    found = []
    for number in range(len(definition.orbits)):
        orbit = Orbit(definition, number, origins[0], twist_sum(definition, number, list(origins)))
        if len(orbit.labels) > 1 or orbit.turns:
            found.append(orbit)
    slot_at = {int(slot): (o, i) for o, orbit in enumerate(found) for i, slot in enumerate(orbit.slots)}
    label_at = {label: i for orbit in found for i, label in enumerate(orbit.labels)}
    for orbit in found:
        labels = np.array(orbit.labels)
        for each in maps:
            goes = [slot_at[int(each.to[slot])] for slot in orbit.slots]
            orbit.symmetries.append(
                Action(
                    goes[0][0],
                    np.array([slot for _, slot in goes]),
                    np.array([label_at[int(label)] for label in each.labels[labels]], dtype=np.int8),
                    each.sign[orbit.slots].astype(np.int8),
                    (each.shift[orbit.slots] % orbit.modulus).astype(np.int8),
                    (each.off[labels] % orbit.modulus).astype(np.int8),
                )
            )
    _count_from_references(found)
    for place, orbit in enumerate(found):
        same, none = np.arange(len(orbit.labels), dtype=np.int8), np.zeros(len(orbit.labels), dtype=np.int8)
        for move in pulls:
            to = np.array([slot_at[move.to[slot]][1] for slot in orbit.slots])
            turn = (
                np.array([move.delta[slot] for slot in orbit.slots]) + orbit.reference[to] - orbit.reference
            )
            turned = (turn % orbit.modulus).astype(np.int8)
            orbit.pulls.append(Action(place, to, same, np.ones_like(turned), turned, none))
    return found


def _count_from_references(orbits: Sequence[Orbit]) -> None:
    """Counts orientations so that a symmetry turns what is in the slots of an orbit alike, where that can be."""
    for members in classes(orbits):
        places = [(o, slot) for o in members for slot in range(orbits[o].size)]
        actions = [
            [(orbits[o].symmetries[s].there, o, orbits[o].symmetries[s]) for o in members]
            for s in range(len(orbits[0].symmetries))
        ]
        groups = [
            [
                [
                    ((o, i), (there, int(a.to[i])), int(a.sign[i]), int(a.turn[i]))
                    for i in range(orbits[o].size)
                ]
                for there, o, a in each
            ]
            for each in actions
        ]
        at = _references(places, [group for each in groups for group in each], orbits[members[0]].modulus)
        if at is None:
            continue
        for o in members:
            orbits[o].reference = np.array([at[o, slot] for slot in range(orbits[o].size)], dtype=np.int8)
        for o in members:
            for number, each in enumerate(orbits[o].symmetries):
                turn = each.turn + orbits[each.there].reference[each.to] - each.sign * orbits[o].reference
                turned = (turn % orbits[o].modulus).astype(np.int8)
                orbits[o].symmetries[number] = replace(each, turn=turned)


def _references(
    places: Sequence[Place], groups: Sequence[Sequence[tuple[Place, Place, int, int]]], modulus: int
) -> dict[Place, int] | None:
    """Numbers a of the places such that in each group a[there] - sign a[here] + turn is the same for all its
    (here, there, sign, turn); None where none are found."""
    number = {place: i for i, place in enumerate(places)}
    rows = set()
    for group in groups:
        first = np.zeros(len(places) + 1, dtype=np.int64)
        for i, (here, there, sign, turn) in enumerate(group):
            row = np.zeros(len(places) + 1, dtype=np.int64)
            row[number[there]] += 1
            row[number[here]] -= sign
            row[-1] -= turn
            if i == 0:
                first = row
            rows.add(((row - first) % modulus).tobytes())
    matrix = np.array([np.frombuffer(row, dtype=np.int64) for row in sorted(rows)])
    found = _solved(matrix, modulus)
    return None if found is None else dict(zip(places, found.tolist(), strict=True))


def _solved(matrix: Numbers, modulus: int) -> Numbers | None:
    """A solution of the equations, a row each, what is wanted last; None: not found, which is sure for primes alone."""
    left, found = matrix.copy(), np.zeros(matrix.shape[1] - 1, dtype=np.int64)
    pivots: list[int] = []
    for column in range(len(found)):
        units = [row for row in range(len(pivots), len(left)) if gcd(int(left[row, column]), modulus) == 1]
        if not units:
            continue
        done = len(pivots)
        left[[done, units[0]]] = left[[units[0], done]]
        left[done] = left[done] * pow(int(left[done, column]), -1, modulus) % modulus
        others = np.flatnonzero(left[:, column])
        others = others[others != done]
        left[others] = (left[others] - left[others, column, None] * left[done]) % modulus
        pivots.append(column)
    found[pivots] = left[: len(pivots), -1]
    right = ((matrix[:, :-1] @ found - matrix[:, -1]) % modulus == 0).all()
    return found if right else None


def classes(orbits: Sequence[Orbit]) -> list[list[int]]:
    """The orbits that symmetries take to each other."""
    found: dict[int, list[int]] = {}
    for number, orbit in enumerate(orbits):
        found.setdefault(min(each.there for each in orbit.symmetries), []).append(number)
    return list(found.values())


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
    """Orientations of pieces as a number; with a sum that never changes, the last follows."""

    def __init__(self, pieces: int, modulus: int, total: int | None) -> None:
        self._modulus, self._total = modulus, total
        self._digits = pieces if total is None else pieces - 1
        self.size: int = modulus**self._digits
        self._weights = modulus ** np.arange(self._digits, dtype=np.int64)

    def rows(self, numbers: Numbers) -> Rows:
        """The orientations of all pieces."""
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
    tells which block's piece is in a slot, or where ``in_line`` a digit does (then a block is a label). ``turns``: "",
    or "outer", or "inner": a digit. ``reference``: for each label what is taken off its orientations, such that a
    symmetry turns the pieces of a block alike."""

    orbit: int
    blocks: tuple[Labels, ...]
    in_line: bool
    turns: str
    reference: Labels


class Digit(NamedTuple):
    """An inner digit: of a part the arrangement, the order of the pieces of a block, or the orientations."""

    part: int
    kind: str
    block: int = 0


@dataclass(frozen=True, slots=True)
class Layout:
    """``parts``: one for each of ``orbits_of``. ``line``: the digits that number lines, ``word``: those whose values
    are the bits of a line. ``even``: parts whose pieces, all different, every move permutes evenly, if half of the
    values of ``word`` are left out for that."""

    parts: tuple[Part, ...]
    line: tuple[Digit, ...]
    word: tuple[Digit, ...]
    even: tuple[int, ...] = ()


def digits_of(orbits: Sequence[Orbit], parts: Sequence[Part]) -> dict[Digit, int]:
    """The inner digits and their numbers of values."""
    found = {}
    for number, (orbit, part) in enumerate(zip(orbits, parts, strict=True)):
        if part.in_line:
            found[Digit(number, "arrangement")] = _arrangements(orbit.counts)
        else:
            for block, labels in enumerate(part.blocks):
                orders = _arrangements([orbit.counts[label] for label in labels])
                if orders > 1:
                    found[Digit(number, "order", block)] = orders
        if part.turns == "inner":
            found[Digit(number, "turns")] = _turns(orbit)
    return found


def image_of(orbits: Sequence[Orbit], parts: Sequence[Part], digit: Digit, symmetry: int) -> Digit:
    """The digit that a symmetry makes of one."""
    action = orbits[digit.part].symmetries[symmetry]
    if digit.kind != "order":
        return digit._replace(part=action.there)
    label = int(action.labels[parts[digit.part].blocks[digit.block][0]])
    blocks = parts[action.there].blocks
    return Digit(action.there, digit.kind, next(b for b, block in enumerate(blocks) if label in block))


def slot_symmetries(definition: Permutation, origins: list[Board]) -> list[Conjugation] | None:
    """The symmetries that take slots to slots, the identity first: pieces that hold the puzzle stay where they are."""
    if len(origins) != 1:
        return None
    try:
        maps = symmetries(definition, origins[0]).maps
    except ResourceError:
        return None
    kept = [each for each in maps if isinstance(each, Conjugation) and each.holds]
    kept.sort(key=lambda each: (not _is_identity(each), each.image))
    return kept if len(kept) > 1 else None


def group_of(maps: Sequence[Conjugation]) -> list[Conjugation] | None:
    """All that the symmetries make, the identity first: more, where there are several ways to take the moves to the
    same moves. None where they are more than ``MOST_SYMMETRIES``."""
    found: dict[Image, Conjugation] = {}
    generators: list[Conjugation] = []
    for each in maps:
        if each.image in found:
            continue
        generators.append(each)
        found.setdefault(each.image, each)
        queue = list(found.values())
        for one in queue:
            for other in generators:
                made = one.then(other)
                if made.image not in found:
                    found[made.image] = made
                    queue.append(made)
        if len(found) > MOST_SYMMETRIES:
            return None
    return sorted(found.values(), key=lambda each: (not _is_identity(each), each.image))


def _is_identity(symmetry: Conjugation) -> bool:
    to, shift, sign = symmetry.image
    return to == tuple(range(len(to))) and not any(shift) and min(sign) == 1


def best_layout(definition: Permutation, origins: list[Board], maps: Sequence[Conjugation]) -> Layout | None:
    """The best layout of the space: many bits that are linear, outer numbers enough that few representatives have a
    stabiliser, and then as few as that."""
    orbits = orbits_of(definition, origins, (), maps)
    if not orbits or any(orbit.modulus > MOST_MODULUS for orbit in orbits):
        return None
    links = len(definition.generators) * len(maps)
    states = prod(_arrangements(orbit.counts) * _turns(orbit) for orbit in orbits)
    alike = classes(orbits)
    most = int(MOST_LAYOUTS ** (1 / len(alike)))
    options = [list(islice(_options(orbits, members, MOST_TERMS // links), most)) for members in alike]
    even = even_orbits(orbits, definition.generators)
    best: tuple[tuple[float, ...], Layout] | None = None
    for chosen in product(*options):
        parts = tuple(sorted((part for each in chosen for part in each), key=lambda part: part.orbit))
        outer = prod(_outer_size(orbit, part) for orbit, part in zip(orbits, parts, strict=True))
        if outer > MOST_OUTER:
            continue
        digits = digits_of(orbits, parts)
        for word in _words(orbits, parts, digits, links):
            halved = any(digit.kind != "turns" and digit.part in even for digit in word)
            size = prod(digits[digit] for digit in word) // (2 if halved else 1)
            if states // outer // size > MOST_LINES:
                continue
            linear = is_linear(orbits, word) and size >= 64
            waste = 0 if linear else 64 // bits_of(size)
            rank = (
                outer > FEW_OUTER,
                not linear,
                -min(outer, 64 * len(maps)),
                waste,
                outer,
                -size if linear else size,
            )
            if best is None or rank < best[0]:
                line = tuple(digit for digit in digits if digit not in word)
                best = rank, Layout(parts, line, word, even if halved else ())
    return None if best is None else best[1]


def even_orbits(orbits: Sequence[Orbit], moves: Sequence[Move]) -> tuple[int, ...]:
    """Orbits of which symmetries make themselves, whose pieces all differ, and are permuted evenly by every move."""
    groups = [
        group for group in classes(orbits) if all(len(orbits[o].labels) == orbits[o].size > 1 for o in group)
    ][:MOST_GROUPS]
    for number in range(1, len(groups) + 1):
        for chosen in combinations(groups, number):
            found = tuple(sorted(o for group in chosen for o in group))
            slots = [int(slot) for o in found for slot in orbits[o].slots]
            if not any(odd(move.to, slots) for move in moves):
                return found
    return ()


def is_linear(orbits: Sequence[Orbit], word: Sequence[Digit]) -> bool:
    """Whether the values of the digits are vectors of flips, of which moves and symmetries make linear maps."""
    return all(digit.kind == "turns" and orbits[digit.part].modulus == 2 for digit in word)


def bits_of(size: int) -> int:
    """The bits of a word, where words hold so many values."""
    return next(bits for bits in range(min(size, 64), 0, -1) if size % bits == 0)


def _words(
    orbits: Sequence[Orbit], parts: Sequence[Part], digits: dict[Digit, int], links: int
) -> Iterator[tuple[Digit, ...]]:
    """Digits that may be the bits of a line: with each all that symmetries make of it."""
    count = len(orbits[0].symmetries)
    groups = list(
        dict.fromkeys(
            tuple(sorted({image_of(orbits, parts, digit, symmetry) for symmetry in range(count)}))
            for digit in digits
        )
    )
    groups = [group for group in groups if prod(digits[digit] for digit in group) <= MOST_BITS]
    for number in range(1, min(len(groups), MOST_GROUPS) + 1):
        for chosen in combinations(groups[:MOST_GROUPS], number):
            word = tuple(sorted(digit for group in chosen for digit in group))
            size = prod(digits[digit] for digit in word)
            orders = prod(digits[digit] for digit in word if digit.kind == "order")
            by_move = any(digit.kind != "order" for digit in word)
            maps = orders * (links if by_move else count)
            if LEAST_BITS <= size <= MOST_BITS and maps * size <= MOST_TERMS:
                yield word


def _options(orbits: Sequence[Orbit], members: Sequence[int], most: int) -> Iterator[list[Part]]:
    """Parts for orbits that symmetries join. ``most``: values of a digit of which there is a table for each link."""
    orbit = orbits[members[0]]
    whole: Blocks = {o: (tuple(range(len(orbits[o].labels))),) for o in members}
    singles: Blocks = {o: tuple((label,) for label in range(len(orbits[o].labels))) for o in members}
    choices = [(blocks, blocks, False) for blocks in _block_systems(orbits, members, whole)]
    few = _arrangements(orbit.counts) <= most and len(orbit.labels) ** orbit.size < 2**62
    if few and not orbit.ignored.any():
        # Arrangements that a digit tells do not tell how the pieces of a block are turned.
        choices.append((singles, whole, True))
    references: dict[int, Labels] | None = {o: (0,) * len(orbits[o].labels) for o in members}
    alike = label_references(orbits, members, whole) if orbit.turns else references
    for turns in ["outer", "inner"] if orbit.turns else [""]:
        if turns == "inner" and _turns(orbit) > max(most, MOST_BITS):
            continue
        for blocks, turned, in_line in choices:
            if in_line and turns == "outer":
                continue
            parts = [Part(o, blocks[o], in_line, turns, ()) for o in members]
            if not in_line and not all(_fits(orbits[part.orbit], part) for part in parts):
                continue
            references = alike or label_references(orbits, members, turned)
            if references is not None:
                yield [replace(part, reference=references[part.orbit]) for part in parts]


def _fits(orbit: Orbit, part: Part) -> bool:
    """Whether the orders of blocks are few enough, and orientations count of all pieces of a block or of none."""
    orders = [_arrangements([orbit.counts[label] for label in block]) for block in part.blocks]
    return (
        max(orders) <= MOST_ORDERS
        and _outer_size(orbit, part) <= FEW_OUTER
        and len(part.blocks) ** orbit.size < 2**62
        and all(len({bool(orbit.ignored[label]) for label in block}) == 1 for block in part.blocks)
    )


def label_references(
    orbits: Sequence[Orbit], members: Sequence[int], blocks: Blocks
) -> dict[int, Labels] | None:
    """For each label of the orbits what is taken off orientations, such that a symmetry turns the pieces of a block
    alike; None where there is nothing such."""
    groups = []
    for o in members:
        homes = orbits[o].homes
        for action in orbits[o].symmetries:
            for block in blocks[o]:
                if not orbits[o].ignored[block[0]]:
                    groups.append(
                        [
                            (
                                (o, label),
                                (action.there, int(action.labels[label])),
                                int(action.sign[homes[label]]),
                                int(action.off[label]),
                            )
                            for label in block
                        ]
                    )
    places = [(o, label) for o in members for label in range(len(orbits[o].labels))]
    at = _references(places, groups, orbits[members[0]].modulus)
    if at is None:
        return None
    return {o: tuple(at[o, label] for label in range(len(orbits[o].labels))) for o in members}


def _outer_size(orbit: Orbit, part: Part) -> int:
    turns = _turns(orbit) if part.turns == "outer" else 1
    blocks = [sum(orbit.counts[label] for label in block) for block in part.blocks]
    return (1 if part.in_line else _arrangements(blocks)) * turns


def _turns(orbit: Orbit) -> int:
    """How many orientations its pieces have together."""
    return Turns(orbit.counted, orbit.modulus, orbit.total).size if orbit.turns else 1


def _arrangements(counts: Sequence[int]) -> int:
    return factorial(sum(counts)) // prod(factorial(count) for count in counts)


def _block_systems(orbits: Sequence[Orbit], members: Sequence[int], whole: Blocks) -> list[Blocks]:
    """Partitions of the labels of each orbit that symmetries keep: the finest, and those that joining two blocks of
    one makes, of each number of blocks the most even; the coarsest."""
    found = [whole]
    layer = [_joined(orbits, members, [])]
    while layer:
        found += layer
        following: list[Blocks] = []
        for each in layer:
            firsts = [(o, block[0]) for o in members for block in each[o]]
            kept = [((o, block[0]), (o, label)) for o in members for block in each[o] for label in block[1:]]
            for one, other in combinations([first for first in firsts if first[0] == members[0]], 2):
                made = _joined(orbits, members, [*kept, (one, other)])
                if made not in following and made != whole:
                    following.append(made)
        following.sort(key=lambda each: sum(factorial(len(block)) for o in members for block in each[o]))
        layer = following[:MOST_SYSTEMS]
    return found


def _joined(orbits: Sequence[Orbit], members: Sequence[int], pairs: list[tuple[Place, Place]]) -> Blocks:
    """The finest partition that symmetries keep in which the labels of each pair are in one block."""
    places = [(o, label) for o in members for label in range(len(orbits[o].labels))]
    block = {place: place for place in places}
    queue = list(pairs)
    for one, other in queue:
        a, b = block[one], block[other]
        if a == b:
            continue
        block = {place: a if each == b else each for place, each in block.items()}
        queue += [
            ((action.there, int(action.labels[one[1]])), (action.there, int(action.labels[other[1]])))
            for action in orbits[one[0]].symmetries
        ]
    found: dict[int, dict[Place, list[int]]] = {o: {} for o in members}
    for (o, label), each in block.items():
        found[o].setdefault(each, []).append(label)
    return {o: tuple(tuple(each) for each in blocks.values()) for o, blocks in found.items()}
