"""What a permutation puzzle is made of: its slots, pieces, moves and goals.

Slots are numbered from 0. A board is the label of each slot; where any piece can be turned, the orientations of all
slots follow, 0 where there is none. Equal pieces have equal labels. docs/permutations.md has the conventions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property, lru_cache
from itertools import pairwise
from math import factorial, prod
from typing import Any

from farthest.families.permutation.groups import Turns, turns_problem
from farthest.families.permutation.guards import MoveGuards
from farthest.families.permutation.moves import MAX_MOVES, Move, identity, inverse
from farthest.families.permutation.net import Net, net_problem
from farthest.puzzles.definition import Board, GoalPuzzle
from farthest.puzzles.grid import token_problem
from farthest.wording import counted, times

MAX_SLOTS = 64
"""The kernel keeps a set of slots in one 64-bit mask. Of puzzles with more there are first layers, and all where the
elements of the group can be numbered."""

MAX_POINTS = 4999
"""Slots of a puzzle, and points of a group."""

MAX_LABELS = 255
"""Kinds of piece: a board has a byte for each slot."""

MAX_MODULUS = 64
"""Orientations of a piece."""

MAX_NAME = 64
"""Characters of a move's name."""

_SHOWN = ("net", "turns")
"""Fields that do not decide what is enumerated."""

_OPTIONAL = (*_SHOWN, "guards")


@dataclass(frozen=True)
class PermutationFields(GoalPuzzle):
    """The slots, pieces, moves and goals of a permutation puzzle.

    ``orbits``: the slots that exchange pieces, ascending; no two parts of an orbit are kept apart by the moves.
    ``orbit_names``: of the set of pieces that an orbit is, or is part of: the slots of a set are consecutive.
    ``moduli``: for each orbit the number of orientations of its pieces, 1: they are not turned.
    ``tokens``, ``counts``, ``label_orbit``, ``ignore``: for each label, how it is written (once in an orbit), how many
    slots hold it, the orbit of these, and whether its orientation does not matter: it is 0 in every board.
    ``generators``: all moves of the puzzle's metric, inverses and powers among them.
    ``guards``: for each generator on which boards it can be made; none: on all.
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
    guards: tuple[MoveGuards, ...] = ()
    net: Net | None = field(default=None, compare=False)
    turns: Turns | None = field(default=None, compare=False)

    called = "permutation"

    def problem(self) -> str | None:
        problem = slots_problem(self) or labels_problem(self) or moves_problem(self)
        problem = problem or guards_problem(self)
        if problem is None and (not self.goals or len(set(self.goals)) != len(self.goals)):
            problem = "expected at least one goal, and none twice"
        if problem is None:
            problems = ((name, board_problem(self, board)) for name, board in self.named_boards)
            problem = next((f"{name}: {wrong}" for name, wrong in problems if wrong), None)
        if problem is None and self.net is not None:
            problem = net_problem(self.net, self.slot_moduli, self.goals[0])
        if problem is None and self.turns is not None:
            problem = turns_problem(self.turns, self.slot_moduli, self.generators)
        return problem

    @cached_property
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
    def is_group(self) -> bool:
        """Where no pieces are alike, and each move can be made on every board."""
        return len(self.tokens) == self.slots and not any(self.ignore) and not self.guards

    @cached_property
    def slot_orbits(self) -> tuple[int, ...]:
        """The orbit of each slot."""
        return tuple(
            orbit
            for _, orbit in sorted((slot, orbit) for orbit, own in enumerate(self.orbits) for slot in own)
        )

    @cached_property
    def slot_moduli(self) -> tuple[int, ...]:
        """The number of orientations in each slot."""
        return tuple(self.moduli[orbit] for orbit in self.slot_orbits)

    def labels_of(self, orbit: int) -> list[int]:
        """The labels of the pieces of an orbit."""
        return [label for label, of in enumerate(self.label_orbit) if of == orbit]

    @property
    def symmetric(self) -> bool:
        """Whether each move can be taken back by a move."""
        guards = {move.effect: self.guards_of(number) for number, move in enumerate(self.generators)}
        return all(
            guards.get(inverse(move, self.slot_moduli).effect)
            == tuple(sorted(guard.taken_back(move.to) for guard in guards[move.effect]))
            for move in self.generators
        )

    def guards_of(self, move: int) -> MoveGuards:
        """The guards of a generator, ascending."""
        return self.guards[move] if self.guards else ()

    def fields(self) -> dict[str, Any]:
        """All; ``net``, ``turns`` and ``guards`` where there are such."""
        fields = asdict(self)
        return {name: value for name, value in fields.items() if name not in _OPTIONAL or value}

    def deciding(self) -> dict[str, Any]:
        """All but the net and the turns."""
        return {
            one.name: getattr(self, one.name)
            for one in fields(self)
            if one.name not in _SHOWN and (one.name not in _OPTIONAL or getattr(self, one.name))
        }

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
    if not name or len(name) > MAX_NAME:
        return f"has {len(name)} characters; expected 1 to {MAX_NAME}"
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
        if problem := name_problem(move.name):
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


def guards_problem(definition: PermutationFields) -> str | None:
    if not definition.guards:
        return None
    if len(definition.guards) != len(definition.generators):
        return "expected guards for each move"
    labels, slots = range(len(definition.tokens)), range(definition.slots)
    for guard in (guard for guards in definition.guards for guard in guards):
        if not ({*guard.labels} <= {*labels} and {*guard.slots} <= {*slots}):
            return "a guard names a label or a slot that there is not"
        if any(list(part) != sorted({*part}) for part in (guard.labels, guard.slots)):
            return "the labels or slots of a guard are not ascending"
    return None


@dataclass(frozen=True, slots=True)
class Row:
    """The slots of one set of pieces, consecutive, and its name, perhaps empty."""

    name: str
    slots: range


class Tables:
    """Tables for reading and writing the boards of one puzzle.

    ``rows``: the sets in the order of their slots. ``orbit``, ``modulus``: of each slot.
    ``labels``: for each orbit, token -> label. ``single``: every token is one character.
    """

    __slots__ = ("labels", "modulus", "orbit", "row_marks", "rows", "single")

    def __init__(self, definition: PermutationFields) -> None:
        self.orbit = definition.slot_orbits
        self.modulus = definition.slot_moduli
        names = [definition.orbit_names[orbit] for orbit in self.orbit]
        starts = [slot for slot in range(definition.slots) if slot == 0 or names[slot] != names[slot - 1]]
        ends = [*starts[1:], definition.slots]
        self.rows = [Row(names[start], range(start, end)) for start, end in zip(starts, ends, strict=True)]
        self.labels: list[dict[str, int]] = [{} for _ in definition.orbits]
        for label, (token, of) in enumerate(zip(definition.tokens, definition.label_orbit, strict=True)):
            self.labels[of][token] = label
        self.single = all(len(token) == 1 for token in definition.tokens)
        self.row_marks = ";\n\r" if any("|" in token for token in definition.tokens) else ";\n\r|"


@lru_cache(maxsize=16)
def tables(definition: PermutationFields) -> Tables:
    """The tables of a puzzle; the last few are kept."""
    return Tables(definition)


def board_problem(definition: PermutationFields, board: Sequence[int]) -> str | None:
    """Why the numbers, ``cells`` of them or not, are no board of the puzzle, or None when they are one."""
    if len(board) != definition.cells:
        what = "labels and orientations" if definition.oriented else "labels"
        return f"{counted(len(board), 'number')}, expected {definition.cells}: the {what} of the slots"
    table = tables(definition)
    for slot in range(definition.slots):
        label = board[slot]
        if not 0 <= label < len(definition.tokens):
            return f"slot {slot} holds {label}, expected a label from 0 to {len(definition.tokens) - 1}"
        if definition.label_orbit[label] != table.orbit[slot]:
            return f"slot {slot} holds {definition.tokens[label]}, which no move can bring there"
        if definition.oriented:
            turn, most = (
                board[definition.slots + slot],
                0 if definition.ignore[label] else table.modulus[slot] - 1,
            )
            if not 0 <= turn <= most:
                return f"slot {slot} has the orientation {turn}, expected at most {most}"
    return next(iter(pieces_problems(definition, board[: definition.slots])), None)


def pieces_problems(definition: PermutationFields, labels: Sequence[int]) -> list[str]:
    """Which pieces the slots hold too often or too seldom."""
    held = Counter(labels)
    return [
        f"piece {definition.tokens[label]} appears {times(held[label])}, expected {times(count)}"
        if held[label]
        else f"piece {definition.tokens[label]} is missing"
        for label, count in enumerate(definition.counts)
        if held[label] != count
    ]
