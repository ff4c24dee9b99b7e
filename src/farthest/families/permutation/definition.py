"""The family ``permutation``: pieces on slots, and moves that permute the slots' contents and turn them.

Slots are numbered from 0. A board is the label of each slot; where any piece can be turned, the orientations of all
slots follow, 0 where there is none. Equal pieces have equal labels. docs/permutations.md has the conventions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import factorial, prod
from typing import TYPE_CHECKING, Any, TypeVar

from farthest.errors import PuzzleError
from farthest.families.permutation import boards
from farthest.families.permutation.moves import MAX_MOVES, Move, closed, identity
from farthest.json_fields import integers, text
from farthest.puzzles.definition import Board, PuzzleDefinition
from farthest.puzzles.tokens import token_problem
from farthest.wording import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest.puzzles.puzzle import Puzzle
    from farthest.puzzles.source import Source

METRICS = ("generator", "power")
DEFAULT_ORIGIN = "to goal"
EXAMPLE = 'goal = "1 2 3" and [permutation.generators]'
FORMS = ("pancake-N", "burnt-pancake-N", "topspin-N-K", "lrx-N")

Value = TypeVar("Value")

MAX_SLOTS = 64
"""The kernel keeps a set of slots in one 64-bit mask."""

MAX_MODULUS = 64
"""Orientations of a piece."""


@dataclass(frozen=True, slots=True)
class Permutation(PuzzleDefinition):
    """The slots, pieces, moves and goals of a permutation puzzle.

    ``orbits``: the slots that exchange pieces, ascending; no two parts of an orbit are kept apart by the moves.
    ``orbit_names``: of the set of pieces that an orbit is, or is part of: the slots of a set are consecutive.
    ``moduli``: for each orbit the number of orientations of its pieces, 1: they are not turned.
    ``tokens``, ``counts``, ``label_orbit``, ``ignore``: for each label, how it is written (once in an orbit), how many
    slots hold it, the orbit of these, and whether its orientation does not matter: it is 0 in every board.
    ``generators``: all moves of the puzzle's metric, inverses and powers among them.
    ``goals``: boards; ``start``: a board or None.
    Raises PuzzleError when these do not fit together.
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
    start: Board | None = None

    def __post_init__(self) -> None:
        problem = (
            _slots_problem(self) or _labels_problem(self) or _moves_problem(self) or _boards_problem(self)
        )
        if problem:
            raise PuzzleError(f"permutation puzzle: {problem}")

    @property
    def oriented(self) -> bool:
        """Whether boards tell orientations."""
        return any(modulus > 1 for modulus in self.moduli)

    @property
    def cells(self) -> int:
        """The number of slots, or twice that number with orientations."""
        return 2 * self.slots if self.oriented else self.slots

    @property
    def slot_moduli(self) -> tuple[int, ...]:
        """The number of orientations in each slot."""
        return tuple(modulus for _, modulus in sorted(_by_slot(self.orbits, self.moduli)))

    @property
    def symmetric(self) -> bool:
        """Whether each move can be taken back by a move."""
        return closed(self.generators, self.slot_moduli)

    @property
    def origin_boards(self) -> tuple[tuple[Board, ...], Board | None]:
        """See PuzzleDefinition."""
        return self.goals, self.start

    def arrangements(self) -> int:
        """See PuzzleDefinition: for each orbit the arrangements of its pieces times those of their orientations."""
        arranged = prod(factorial(len(orbit)) for orbit in self.orbits)
        alike = prod(factorial(count) for count in self.counts)
        turned = 1
        for orbit, count, ignored in zip(self.label_orbit, self.counts, self.ignore, strict=True):
            turned *= 1 if ignored else int(self.moduli[orbit] ** count)
        return arranged // alike * turned

    def size(self) -> str:
        """See PuzzleDefinition."""
        return counted(self.slots, "slot")

    def facts(self) -> list[tuple[str, str]]:
        """See PuzzleDefinition."""
        names = " ".join(move.name for move in self.generators)
        return [
            ("sets", ", ".join(_told(self, row) for row in boards.layout(self).rows)),
            ("pieces", f"{self.slots} of {counted(len(self.tokens), 'kind')}"),
            ("moves", f"{len(self.generators)}: {names if len(names) <= 400 else names[:397] + '...'}"),
            *([] if self.symmetric else [("one-way", "not every move can be taken back by one move")]),
        ]

    def parse_board(self, text: str, *, name: str = "") -> Board:
        """See PuzzleDefinition."""
        return boards.parse_board(self, text, name)

    def format_board(self, board: Sequence[int]) -> str:
        """See PuzzleDefinition."""
        return boards.format_board(self, board)

    def check_board(self, board: Sequence[int], *, name: str = "") -> Board:
        """See PuzzleDefinition."""
        return boards.check_board(self, board, name)

    def draw_board(self, board: Sequence[int]) -> list[str]:
        """See PuzzleDefinition."""
        return boards.draw_board(self, board)

    def palette(self) -> Mapping[str, int]:
        """See PuzzleDefinition: as many colours as ways to write a piece."""
        return {token: number for number, token in enumerate(dict.fromkeys(self.tokens))}

    def first_wrong(self, boards: NDArray[np.integer]) -> int | None:
        """See PuzzleDefinition."""
        from farthest.families.permutation.board_arrays import first_wrong

        return first_wrong(self, boards)

    def texts(self, boards: NDArray[np.uint8]) -> list[str]:
        """See PuzzleDefinition."""
        from farthest.families.permutation.board_arrays import texts

        return texts(self, boards)


def permutation(puzzle: Puzzle) -> Permutation:
    """The body of a permutation puzzle."""
    assert isinstance(puzzle.definition, Permutation), (
        f"puzzle {puzzle.name} is of the family {puzzle.family}"
    )
    return puzzle.definition


def read(table: dict[str, Any], source: Source, metric: str) -> Permutation:
    """See families."""
    from farthest.families.permutation.reader import read_permutation

    return read_permutation(table, source, metric)


def from_fields(fields: dict[str, Any]) -> Permutation:
    """See families."""
    return Permutation(
        slots=integers([fields["slots"]])[0],
        orbit_names=tuple(text(name) for name in fields["orbit_names"]),
        orbits=tuple(integers(orbit) for orbit in fields["orbits"]),
        moduli=integers(fields["moduli"]),
        tokens=tuple(text(token) for token in fields["tokens"]),
        counts=integers(fields["counts"]),
        label_orbit=integers(fields["label_orbit"]),
        ignore=tuple(_truth(ignored) for ignored in fields["ignore"]),
        generators=tuple(
            Move(text(move["name"]), integers(move["to"]), integers(move["delta"]))
            for move in fields["generators"]
        ),
        goals=tuple(integers(goal) for goal in fields["goals"]),
        start=None if fields["start"] is None else integers(fields["start"]),
    )


def parametric(name: str) -> Puzzle | None:
    """See families."""
    from farthest.families.permutation.forms import parametric_puzzle

    return parametric_puzzle(name)


def name_problem(name: str) -> str | None:
    """Why the text cannot be the name of a move, or None when it can."""
    if not name or len(name) > 32:
        return f"has {len(name)} characters; expected 1 to 32"
    if not name.isprintable() or " " in name or "," in name:
        return "holds a space, a comma or a character that cannot be seen"
    return None


def _by_slot(orbits: tuple[tuple[int, ...], ...], values: Iterable[Value]) -> list[tuple[int, Value]]:
    """The value of each slot's orbit, in the order of the orbits."""
    return [(slot, value) for orbit, value in zip(orbits, values, strict=True) for slot in orbit]


def _told(definition: Permutation, row: boards.Row) -> str:
    held = Counter(definition.slot_moduli[slot] for slot in row.slots)
    kinds = [
        f"{count} of {modulus} orientations" if modulus > 1 else str(count) for modulus, count in held.items()
    ]
    return f"{row.name or 'pieces'} {' and '.join(kinds)}"


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"expected a truth value, got {value!r}")
    return value


def _slots_problem(definition: Permutation) -> str | None:
    if not 2 <= definition.slots <= MAX_SLOTS:
        return f"{definition.slots} slots; expected 2 to {MAX_SLOTS}"
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
    names = [name for _, name in sorted(_by_slot(definition.orbits, definition.orbit_names))]
    if sum(a != b for a, b in pairwise(names)) + 1 != len(set(names)):
        return "the slots of a set are not consecutive"
    return None


def _labels_problem(definition: Permutation) -> str | None:
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


def _moves_problem(definition: Permutation) -> str | None:
    moves, moduli = definition.generators, definition.slot_moduli
    if not 1 <= len(moves) <= MAX_MOVES:
        return f"{counted(len(moves), 'move')}; expected 1 to {MAX_MOVES}"
    if len({move.name for move in moves}) != len(moves) or len({move.effect for move in moves}) != len(moves):
        return "two moves have the same name or the same effect"
    orbit_of = [orbit for _, orbit in sorted(_by_slot(definition.orbits, range(len(definition.orbits))))]
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


def _boards_problem(definition: Permutation) -> str | None:
    if not definition.goals or len(set(definition.goals)) != len(definition.goals):
        return "expected at least one goal, and none twice"
    named = [(f"goal {i}", goal) for i, goal in enumerate(definition.goals, 1)]
    for name, board in named + ([("start", definition.start)] if definition.start is not None else []):
        problem = boards.board_problem(definition, board)
        if problem:
            return f"{name}: {problem}"
    return None
