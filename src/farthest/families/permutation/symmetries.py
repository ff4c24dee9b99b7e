"""Symmetries of a permutation puzzle: maps of boards to boards that keep the moves and fix one board.

They are conjugations by automorphisms of the move set: turn or mirror the whole puzzle, make what the board is, and
turn it back. Where a piece holds the puzzle, it is brought home by one more turn. The inverse of a board, the moves
of a solution undone, is as far where each move can be taken back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from farthest.errors import ResourceError
from farthest.families.permutation.groups import (
    Element,
    Points,
    all_moves,
    conjugate,
    inverse,
    orbit_map,
    product,
    turn_group,
)
from farthest.families.permutation.guards import Guard
from farthest.families.permutation.moves import cycles
from farthest.puzzles.family import Symmetries

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.families.permutation.definition import Permutation
    from farthest.puzzles.definition import Board
    from farthest.spaces.contract import Boards

    Values = NDArray[np.int16]
    """Shape (boards, slots)."""


MOST_TRIED = 200_000
"""Images of moves that are tried: a second or two."""


class TooManyError(Exception):
    """More images of moves would have to be tried than ``MOST_TRIED``."""


def automorphisms(moves: Sequence[Element], slot_of: Sequence[int]) -> Iterator[Element]:
    """For each way to take moves to moves a permutation of the points that does it and takes the points of a slot to
    those of a slot; the identity is one. ``slot_of``: the slot of each point. Raises TooManyError.

    Where s m s^-1 is a move for each move m, conjugation by s is an automorphism of the graph of the states that fixes
    the solved one. They are found as those of a graph are: choose the images of some moves that make all, then that of
    one point of each orbit; all other images follow, or a contradiction does.
    """
    basis = _basis(moves)
    kinds = {move: _cycle_lengths(move) for move in moves}
    alike = {kind: [move for move in moves if kinds[move] == kind] for kind in set(kinds.values())}
    kind_of_product = cache(lambda first, second: _cycle_lengths(product(first, second)))
    tried = 0

    def assigned(images: list[Element]) -> Iterator[list[Element]]:
        """Images of the basis; products of two have cycles as long as the products of their images."""
        nonlocal tried
        if len(images) == len(basis):
            yield images
            return
        move = basis[len(images)]
        for image in alike[kinds[move]]:
            tried += 1
            if tried > MOST_TRIED:
                raise TooManyError
            if all(
                kind_of_product(move, other) == kind_of_product(image, there)
                for other, there in zip(basis, images, strict=False)
            ):
                yield from assigned([*images, image])

    every = set(moves)
    for images in assigned([]):
        found = _point_map(basis, images, slot_of)
        if found is not None and all(conjugate(found, move) in every for move in moves):
            yield found


def _basis(moves: Sequence[Element]) -> list[Element]:
    """The moves that are no powers of moves before them."""
    found: list[Element] = []
    made: set[Element] = set()
    for move in moves:
        if move in made:
            continue
        found.append(move)
        power = move
        while power not in made:
            made.add(power)
            power = product(power, move)
    return found


def _point_map(basis: list[Element], images: list[Element], slot_of: Sequence[int]) -> Element | None:
    """A permutation of the points that takes the basis to the images; None: there is none."""
    points = range(len(slot_of))
    to: dict[int, int] = {}
    taken: set[int] = set()
    for first in points:
        if first in to:
            continue
        for there in points:
            orbit = None if there in taken else orbit_map(first, there, basis, images)
            if orbit is None or len({*orbit.values()}) < len(orbit):
                continue
            slots = {(slot_of[point], slot_of[image]) for point, image in orbit.items()}
            if len(slots) == len({slot for slot, _ in slots}):  # points of one slot go to points of one slot
                to |= orbit
                taken |= {*orbit.values()}
                break
        else:
            return None
    return tuple(to[point] for point in points)


def _cycle_lengths(element: Element) -> tuple[int, ...]:
    return tuple(sorted(len(cycle) for cycle in cycles(element, range(len(element)))))


class Image(NamedTuple):
    """What a symmetry does to points: (i, x) goes to slot ``to[i]``, orientation ``shift[i]`` + ``sign[i]`` x."""

    to: tuple[int, ...]
    shift: tuple[int, ...]
    sign: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SlotImages:
    """What is in slot i goes to slot ``to[i]``, label k becomes ``labels[k]``, and an orientation what ``turned`` has
    for slot, label and orientation before, flat, ``turns`` orientations for each label."""

    to: tuple[int, ...]
    labels: tuple[int, ...]
    turned: bytes
    turns: int


class Pieces:
    """Boards as labels and orientations, both int16 (N, slots): those of the puzzle, then those of held pieces.

    ``home`` is the slot of each label on the fixed board, of alike ones the first; ``turned`` its orientations there.
    """

    def __init__(self, definition: Permutation, fixed: Board) -> None:
        self.definition = definition
        slots = definition.slots
        held = () if definition.turns is None else definition.turns.held
        self.moduli = np.array((*definition.slot_moduli, *held), dtype=np.int16)
        self.slots, self.own = len(self.moduli), slots
        labels = len(definition.tokens)
        self.labels = np.array((*fixed[:slots], *range(labels, labels + len(held))), dtype=np.int16)
        turned = fixed[slots:] if definition.oriented else (0,) * slots
        self.turned = np.array((*turned, *(0 for _ in held)), dtype=np.int16)
        self.counts = (*definition.counts, *(1 for _ in held))
        self.ignored = np.array((*definition.ignore, *(False for _ in held)))
        self.home = np.array([self.labels.tolist().index(label) for label in range(labels + len(held))])

    def split(self, boards: Boards) -> tuple[Values, Values]:
        """Labels and orientations of boards (N, cells)."""
        found = []
        for part, rest in ((boards[:, : self.own], self.labels), (boards[:, self.own :], self.turned)):
            whole = np.empty((len(boards), self.slots), dtype=np.int16)
            whole[:] = rest
            if part.shape[1]:
                whole[:, : self.own] = part
            found.append(whole)
        return found[0], found[1]

    def joined(self, labels: Values, turns: Values) -> Boards:
        """Inverse of ``split``."""
        parts = [labels[:, : self.own]] + ([turns[:, : self.own]] if self.definition.oriented else [])
        return np.concatenate(parts, axis=1).astype(np.uint8)


class Conjugation:
    """The piece whose home is slot g, in slot i, becomes the piece whose home is ``to[g]``, in slot ``to[i]``; its
    orientation x becomes ``shift[i]`` + ``sign[i]`` x - ``off[label]``. All int16."""

    def __init__(self, pieces: Pieces, image: Image, turns: _TurnsHome | None) -> None:
        self._pieces = pieces
        self._turns = turns
        self.to, self.shift, self.sign = (np.array(part, dtype=np.int16) for part in image)
        home = pieces.home
        self.labels = pieces.labels[self.to[home]]
        # What is taken off for a label: the shift of its home, and the orientations that count from there.
        self.off = self.shift[home] + self.sign[home] * pieces.turned[home] - pieces.turned[self.to[home]]

    @property
    def holds(self) -> bool:
        """Whether held pieces stay at home, so that they never have to be brought there."""
        held = np.arange(self._pieces.own, self._pieces.slots)
        return bool((self.to[held] == held).all())

    @property
    def image(self) -> Image:
        """What it does to slots and orientations. Orientations of an orbit may be counted from another one: then boards
        have the same images."""
        pieces = self._pieces
        shift = self.shift.copy()
        for slots in pieces.definition.orbits:
            shift[list(slots)] -= shift[slots[0]]
        return _image(self.to, shift % pieces.moduli, self.sign)

    def then(self, other: Conjugation) -> Conjugation:
        """This symmetry and then the other."""
        to = other.to[self.to]
        shift = (other.shift[self.to] + other.sign[self.to] * self.shift) % self._pieces.moduli[to]
        return Conjugation(self._pieces, _image(to, shift, other.sign[self.to] * self.sign), self._turns)

    def slotwise(self) -> SlotImages | None:
        """The images slot by slot; None where held pieces are brought home, or some orientations do not count."""
        pieces = self._pieces
        if self._turns is not None or any(pieces.ignored):
            return None
        turns = np.arange(int(pieces.moduli.max()))
        turned = (
            self.shift[:, None, None]
            + self.sign[:, None, None] * turns[None, None, :]
            - self.off[None, :, None]
        ) % pieces.moduli[:, None, None]
        return SlotImages(
            tuple(self.to.tolist()),
            tuple(self.labels.tolist()),
            turned.astype(np.uint8).tobytes(),
            len(turns),
        )

    def images(self, boards: Boards) -> Boards:
        """The images of boards, uint8 (N, cells)."""
        pieces = self._pieces
        labels, turns = pieces.split(boards)
        turns = (self.shift + self.sign * turns - self.off[labels]) % pieces.moduli
        turns[pieces.ignored[labels]] = 0
        found, turned = np.empty_like(labels), np.empty_like(turns)
        found[:, self.to] = self.labels[labels]
        turned[:, self.to] = turns
        if self._turns is not None:
            found, turned = self._turns.brought(found, turned)
        return pieces.joined(found, turned)


class Inversion:
    """The board that the moves from a board to the fixed one make of the fixed one. All pieces differ."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces

    def images(self, boards: Boards) -> Boards:
        """The images of boards, uint8 (N, cells)."""
        pieces = self._pieces
        labels, turns = pieces.split(boards)
        home = pieces.home[labels]
        found, turned = np.empty_like(labels), np.empty_like(turns)
        np.put_along_axis(found, home, np.broadcast_to(pieces.labels, home.shape), axis=1)
        np.put_along_axis(turned, home, (pieces.turned[home] - turns + pieces.turned) % pieces.moduli, axis=1)
        return pieces.joined(found, turned)


class _TurnsHome:
    """Brings held pieces home by turns of the whole puzzle."""

    def __init__(self, pieces: Pieces, points: Points, group: Sequence[Element]) -> None:
        self._pieces = pieces
        self._held = range(pieces.own, pieces.slots)
        self._step = int(pieces.moduli.max())
        slotwise = [
            points.slotwise(inverse(turn)) for turn in group
        ]  # where the content of each slot comes from
        self._source = np.array([source for source, _ in slotwise])
        self._delta = np.array([delta for _, delta in slotwise], dtype=np.int16)
        places = [[points.places[turn.index(points.first[slot])] for slot in self._held] for turn in group]
        numbers = np.array([self._number(place) for place in places])
        self._order = np.argsort(numbers)
        self._numbers = numbers[self._order]

    def _number(self, places: Iterable[tuple[Any, Any]]) -> Any:
        """A number for the slots and orientations of the held pieces, numbers or arrays: equal for equal places."""
        number = 0
        for slot, turn in places:
            number = (number * self._pieces.slots + slot) * self._step + turn
        return number

    def brought(self, labels: Values, turns: Values) -> tuple[Values, Values]:
        """The boards after the turn that takes the held pieces home."""
        pieces = self._pieces
        rows = np.arange(len(labels))
        there = [(labels == pieces.labels[slot]).argmax(axis=1) for slot in self._held]
        number = self._number((slot, turns[rows, slot]) for slot in there)
        turn = self._order[np.searchsorted(self._numbers, number)]
        source = self._source[turn] + (rows * pieces.slots)[:, None]
        turned = (turns.ravel()[source] - self._delta[turn]) % pieces.moduli
        return labels.ravel()[source], turned


def symmetries(definition: Permutation, fixed: Board) -> Symmetries:
    """All conjugations that fix the board, and the inversion unless pieces are alike, orientations do not count, or
    moves cannot be taken back, or not be made on every board. Raises ResourceError where the moves
    are too many to be tried."""
    return _symmetries(definition, definition.turns, fixed)


@lru_cache(maxsize=2)
def _symmetries(definition: Permutation, turns: object, fixed: Board) -> Symmetries:
    """``turns``: those of the definition, which are no part of what definitions are compared by."""
    del turns
    pieces = Pieces(definition, fixed)
    invertible = max(definition.counts) == 1 and not any(definition.ignore) and definition.symmetric
    try:
        maps = _conjugations(definition, pieces)
        if definition.guards:
            return Symmetries([each for each in maps if each.holds and _keeps_guards(definition, each)])
        return Symmetries(maps, Inversion(pieces) if invertible else None)
    except TooManyError:
        many = f"{len(definition.generators)} moves can be taken to each other in too many ways"
        raise ResourceError(f"symmetries: its {many}; they are not known") from None


def _keeps_guards(definition: Permutation, each: Conjugation) -> bool:
    """Whether it takes each move to moves that can be made on the images of the boards."""
    to, shift, sign = each.to.tolist(), each.shift.tolist(), each.sign.tolist()
    labels, moduli = each.labels.tolist(), [definition.moduli[orbit] for orbit in definition.slot_orbits]
    numbers = {move.effect: number for number, move in enumerate(definition.generators)}
    for number, move in enumerate(definition.generators):
        image_to, image_delta = [0] * len(to), [0] * len(to)
        for slot, image in enumerate(move.to):
            image_to[to[slot]] = to[image]
            turn = shift[image] - shift[slot] + sign[slot] * move.delta[slot]
            image_delta[to[slot]] = turn % moduli[slot]
        guards = {
            Guard(
                tuple(sorted(labels[label] for label in guard.labels)),
                tuple(sorted(to[slot] for slot in guard.slots)),
                guard.joined,
            )
            for guard in definition.guards_of(number)
        }
        there = numbers.get((tuple(image_to), tuple(image_delta)))
        if there is None or {*definition.guards_of(there)} != guards:
            return False
    return True


def _conjugations(definition: Permutation, pieces: Pieces) -> list[Conjugation]:
    points = Points(pieces.moduli.tolist())
    moves = points.elements(definition.generators)
    home = None
    if definition.turns is not None:
        group = turn_group(definition.turns, points)
        assert group is not None, "the definition was checked"
        moves = all_moves(moves, group)
        home = _TurnsHome(pieces, points, group)
    slot_of = [slot for slot, _ in points.places]
    images = (_image_of(points, each) for each in automorphisms(moves, slot_of))
    return [
        Conjugation(pieces, image, home) for image in images if image is not None and _fixes(pieces, image)
    ]


def _image(to: NDArray[np.int16], shift: NDArray[np.int16], sign: NDArray[np.int16]) -> Image:
    return Image(*(tuple(part.tolist()) for part in (to, shift, sign)))


def _image_of(points: Points, element: Element) -> Image | None:
    """What a permutation of the points that keeps slots together does; None where it neither keeps nor reverses the
    order of orientations."""
    to, shift = points.slotwise(element)
    sign = []
    for slot, modulus in enumerate(points.moduli):
        first = points.first[slot]
        second = points.places[element[first + 1]][1] if modulus > 1 else shift[slot]
        sign.append(1 if (second - shift[slot]) % modulus <= 1 else -1)
        base = points.first[to[slot]]
        images = [base + (shift[slot] + sign[slot] * turn) % modulus for turn in range(modulus)]
        if points.moduli[to[slot]] != modulus or images != list(element[first : first + modulus]):
            return None
    return Image(tuple(to), tuple(shift), tuple(sign))


def _fixes(pieces: Pieces, image: Image) -> bool:
    """Whether alike pieces stay alike, and are turned alike, and orientations count in one direction in an orbit."""
    to, shift, sign = image
    labels, turned, ignored = pieces.labels.tolist(), pieces.turned.tolist(), pieces.ignored.tolist()
    image_of: dict[int, int] = {}
    off: dict[int, int] = {}
    for slot in range(pieces.slots):
        label, there, modulus = labels[slot], labels[to[slot]], int(pieces.moduli[slot])
        if image_of.setdefault(label, there) != there or pieces.counts[label] != pieces.counts[there]:
            return False
        if ignored[label] != ignored[there]:
            return False
        taken = (shift[slot] + sign[slot] * turned[slot] - turned[to[slot]]) % modulus
        if not ignored[label] and off.setdefault(label, taken) != taken:
            return False
    definition = pieces.definition
    return all(
        len({sign[slot] for slot in orbit}) == 1
        for orbit, modulus in zip(definition.orbits, definition.moduli, strict=True)
        if modulus > 2
    )
