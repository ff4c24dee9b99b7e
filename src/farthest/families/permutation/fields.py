"""What a permutation puzzle is made of: its slots, pieces, moves and goals.

Slots are numbered from 0. A board is the label of each slot; where any piece can be turned, the orientations of all
slots follow, 0 where there is none. Equal pieces have equal labels. docs/permutations.md has the conventions.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from math import factorial, prod
from typing import TYPE_CHECKING, Any

from farthest.families.permutation.groups import Points, closure, conjugate, product
from farthest.families.permutation.moves import MAX_MOVES, Move, closed, identity
from farthest.families.permutation.net import Net
from farthest.puzzles.definition import Board, PuzzleDefinition
from farthest.puzzles.grid import token_problem
from farthest.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.families.permutation.groups import Element


MOST_TURNS = 1_000
"""Ways to turn a whole puzzle."""


@dataclass(frozen=True, slots=True)
class Turns:
    """Turns of a whole puzzle that a piece holds.

    A puzzle without fixed parts, such as the 2x2x2 cube, is enumerated with a piece held: boards that are one another
    turned as a whole are one state. Its moves then do not show all its symmetries.
    ``held``: for each held piece the number of its orientations. ``moves``: turns that make all; each acts on the
    puzzle's slots, then on those of the held pieces."""

    held: tuple[int, ...]
    moves: tuple[Move, ...]

    def points(self, moduli: Sequence[int]) -> Points:
        """The points of the puzzle's slots, whose orientations are ``moduli``, and of the held ones."""
        return Points((*moduli, *self.held))


def turn_group(turns: Turns, points: Points) -> list[Element] | None:
    """All turns as permutations of the points; None where they are more than ``MOST_TURNS``."""
    moves = [points.element(move.to, move.delta) for move in turns.moves]
    unit = tuple(range(len(points.places)))
    found = closure(unit, lambda element: (product(element, move) for move in moves), MOST_TURNS)
    return found if len(found) <= MOST_TURNS else None


def all_moves(moves: Sequence[Element], group: Sequence[Element]) -> list[Element]:
    """The moves, each seen from every side: conjugated by every turn."""
    return list(dict.fromkeys(conjugate(turn, move) for turn in group for move in moves))


def turns_problem(turns: Turns, moduli: Sequence[int], moves: Sequence[Move]) -> str | None:
    """Why these cannot be the turns of a puzzle with these slots and moves, or None when they can."""
    slots = len(moduli) + len(turns.held)
    points = turns.points(moduli)
    for move in turns.moves:
        if sorted(move.to) != list(range(slots)) or len(move.delta) != slots:
            return f"the turn {move.name} is not a permutation of {slots} slots, those of the held pieces among them"
        for slot, (to, delta) in enumerate(zip(move.to, move.delta, strict=True)):
            if points.moduli[slot] != points.moduli[to] or not 0 <= delta < points.moduli[slot]:
                return f"the turn {move.name} takes a piece to a slot with other orientations"
    group = turn_group(turns, points)
    if group is None:
        return f"they make more than {MOST_TURNS:,} turns of the whole puzzle"
    first = len(points.places) - sum(turns.held)
    homes = {tuple(turn[first:]): turn for turn in group}
    if len(homes) < len(group):
        return "two turns take the held pieces to the same places; hold more pieces"
    held = tuple(range(first, len(points.places)))
    own = [
        points.element((*move.to, *range(len(moduli), slots)), (*move.delta, *[0] * len(turns.held)))
        for move in moves
    ]
    own_moves = set(own)
    back = {tuple(turn.index(point) for point in held): turn for turn in group}
    for seen in all_moves(own, group):
        turn = back.get(tuple(seen[point] for point in held))
        if turn is None or product(seen, turn) not in own_moves:
            return "a move, seen from another side, is none of the moves followed by a turn"
    return None


MAX_SLOTS = 64
"""The kernel keeps a set of slots in one 64-bit mask."""

MAX_POINTS = 999
"""Slots of a puzzle that is given by the generators of its group, whose elements are numbered."""

MAX_MODULUS = 64
"""Orientations of a piece."""

_SHOWN = ("net", "turns")
"""Fields that do not decide what is enumerated."""


@dataclass(frozen=True, slots=True)
class PermutationFields(PuzzleDefinition):
    """The slots, pieces, moves and goals of a permutation puzzle.

    ``orbits``: the slots that exchange pieces, ascending; no two parts of an orbit are kept apart by the moves.
    ``orbit_names``: of the set of pieces that an orbit is, or is part of: the slots of a set are consecutive.
    ``moduli``: for each orbit the number of orientations of its pieces, 1: they are not turned.
    ``tokens``, ``counts``, ``label_orbit``, ``ignore``: for each label, how it is written (once in an orbit), how many
    slots hold it, the orbit of these, and whether its orientation does not matter: it is 0 in every board.
    ``generators``: all moves of the puzzle's metric, inverses and powers among them.
    ``goals``: boards; ``start``: a board or None. ``net``: how the puzzle looks, ``turns``: how it may be turned as a
    whole, or None; they are no part of what a definition is compared by.
    """

    slots: int
    orbit_names: tuple[str, ...]
    orbits: tuple[tuple[int, ...], ...]
    moduli: tuple[int, ...]
    tokens: tuple[str, ...]
    counts: tuple[int, ...]
    label_orbit: tuple[int, ...]
    ignore: tuple[bool, ...]
    generators: tuple[Move, ...]
    goals: tuple[Board, ...]
    start: Board | None
    net: Net | None = field(default=None, compare=False)
    turns: Turns | None = field(default=None, compare=False)

    @property
    def oriented(self) -> bool:
        """Whether boards tell orientations."""
        return any(modulus > 1 for modulus in self.moduli)

    @property
    def cells(self) -> int:
        """The number of slots, or twice that number with orientations."""
        return 2 * self.slots if self.oriented else self.slots

    @property
    def contents(self) -> int:
        """Labels, and orientations."""
        return max(len(self.tokens), *self.moduli)

    @property
    def slot_orbits(self) -> tuple[int, ...]:
        """The orbit of each slot."""
        return tuple(
            orbit
            for _, orbit in sorted((slot, orbit) for orbit, own in enumerate(self.orbits) for slot in own)
        )

    @property
    def slot_moduli(self) -> tuple[int, ...]:
        """The number of orientations in each slot."""
        return tuple(self.moduli[orbit] for orbit in self.slot_orbits)

    def labels_of(self, orbit: int) -> list[int]:
        """The labels of the pieces of an orbit."""
        return [label for label, of in enumerate(self.label_orbit) if of == orbit]

    @property
    def symmetric(self) -> bool:
        """Whether each move can be taken back by a move."""
        return closed(self.generators, self.slot_moduli)

    @property
    def origin_boards(self) -> tuple[tuple[Board, ...], Board | None]:
        return self.goals, self.start

    def fields(self) -> dict[str, Any]:
        """All; ``net`` and ``turns`` where there are such."""
        fields = asdict(self)
        return {name: value for name, value in fields.items() if name not in _SHOWN or value is not None}

    def deciding(self) -> dict[str, Any]:
        """All but the net and the turns."""
        return {name: value for name, value in asdict(self).items() if name not in _SHOWN}

    def after(self, board: Board, to: Sequence[int], delta: Sequence[int]) -> Board:
        """The board after a move."""
        found, moduli = list(board), self.slot_moduli
        for slot, there in enumerate(to):
            found[there] = board[slot]
            if self.oriented:
                turned = (board[self.slots + slot] + delta[slot]) % moduli[slot]
                found[self.slots + there] = 0 if self.ignore[board[slot]] else turned
        return tuple(found)

    def arrangements(self) -> int:
        """For each orbit the arrangements of its pieces times those of their orientations."""
        arranged = prod(factorial(len(orbit)) for orbit in self.orbits)
        alike = prod(factorial(count) for count in self.counts)
        turned = 1
        for orbit, count, ignored in zip(self.label_orbit, self.counts, self.ignore, strict=True):
            turned *= 1 if ignored else int(self.moduli[orbit] ** count)
        return arranged // alike * turned

    def size(self) -> str:
        return counted(self.slots, "slot")


def name_problem(name: str) -> str | None:
    """Why the text cannot be the name of a move, or None when it can."""
    if not name or len(name) > 32:
        return f"has {len(name)} characters; expected 1 to 32"
    if not name.isprintable() or " " in name or "," in name:
        return "holds a space, a comma or a character that cannot be seen"
    return None


def slots_problem(definition: PermutationFields) -> str | None:
    if not 2 <= definition.slots <= MAX_POINTS:
        return f"{definition.slots} slots; expected 2 to {MAX_POINTS}"
    if sorted(slot for orbit in definition.orbits for slot in orbit) != list(range(definition.slots)):
        return f"the orbits do not hold each slot from 0 to {definition.slots - 1} once"
    if any(not orbit or list(orbit) != sorted(orbit) for orbit in definition.orbits):
        return "an orbit is empty, or its slots are not ascending"
    if len(definition.moduli) != len(definition.orbits) or len(definition.orbit_names) != len(
        definition.orbits
    ):
        return "expected a name and a modulus for each orbit"
    if any(not 1 <= modulus <= MAX_MODULUS for modulus in definition.moduli):
        return f"an orbit's modulus is not 1 to {MAX_MODULUS}"
    names = [definition.orbit_names[orbit] for orbit in definition.slot_orbits]
    if sum(a != b for a, b in pairwise(names)) + 1 != len(set(names)):
        return "the slots of a set are not consecutive"
    return None


def labels_problem(definition: PermutationFields) -> str | None:
    labels = len(definition.tokens)
    if not labels or {len(definition.counts), len(definition.label_orbit), len(definition.ignore)} != {
        labels
    }:
        return "expected a count, an orbit and whether its orientation is ignored for each token"
    if min(definition.counts) < 1 or any(
        not 0 <= orbit < len(definition.orbits) for orbit in definition.label_orbit
    ):
        return "a label has no pieces, or an orbit that is not there"
    held = Counter[int]()
    for orbit, count in zip(definition.label_orbit, definition.counts, strict=True):
        held[orbit] += count
    if any(held[orbit] != len(slots) for orbit, slots in enumerate(definition.orbits)):
        return "an orbit has more or fewer pieces than slots"
    if len(set(zip(definition.label_orbit, definition.tokens, strict=True))) != labels:
        return "two labels of an orbit have the same token"
    for token in definition.tokens:
        problem = token_problem(token) or ("holds +, which begins an orientation" if "+" in token else None)
        if problem:
            return f"token {token!r} {problem}"
    return None


def moves_problem(definition: PermutationFields) -> str | None:
    moves, moduli = definition.generators, definition.slot_moduli
    if not 1 <= len(moves) <= MAX_MOVES:
        return f"{counted(len(moves), 'move')}; expected 1 to {MAX_MOVES}"
    if len({move.name for move in moves}) != len(moves) or len({move.effect for move in moves}) != len(moves):
        return "two moves have the same name or the same effect"
    orbit_of = definition.slot_orbits
    for move in moves:
        problem = name_problem(move.name)
        if problem:
            return f"the move {move.name!r} {problem}"
        if (
            sorted(move.to) != list(range(definition.slots))
            or move.effect == identity(definition.slots).effect
        ):
            return f"the move {move.name} is not a permutation of the slots, or changes nothing"
        if any(orbit_of[slot] != orbit_of[to] for slot, to in enumerate(move.to)):
            return f"the move {move.name} joins two orbits"
        if len(move.delta) != definition.slots or any(
            not 0 <= turn < modulus for turn, modulus in zip(move.delta, moduli, strict=True)
        ):
            return f"the move {move.name} does not turn by 0 to the modulus less one in each slot"
    return None
