"""The definition of a permutation puzzle: its fields, and its boards as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farthest.errors import PuzzleError
from farthest.families.permutation import boards
from farthest.families.permutation.fields import (
    PermutationFields,
    labels_problem,
    moves_problem,
    slots_problem,
)
from farthest.families.permutation.moves import Move
from farthest.families.permutation.net import net_from_fields, net_problem
from farthest.families.permutation.turns import turns_from_fields, turns_problem
from farthest.json_fields import integers, text
from farthest.puzzles.definition import Board
from farthest.wording import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest.puzzles.puzzle import Puzzle


@dataclass(frozen=True, slots=True)
class Permutation(PermutationFields):
    """A permutation puzzle; see PermutationFields. Raises PuzzleError when the fields do not fit together."""

    def __post_init__(self) -> None:
        problem = slots_problem(self) or labels_problem(self) or moves_problem(self) or _boards_problem(self)
        if problem is None and self.net is not None:
            problem = net_problem(self.net, self.slot_moduli, self.goals[0])
        if problem is None and self.turns is not None:
            problem = turns_problem(self.turns, self.slot_moduli, self.generators)
        if problem:
            raise PuzzleError(f"permutation puzzle: {problem}")

    def facts(self) -> list[tuple[str, str]]:
        """See PuzzleDefinition."""
        from farthest.families.permutation.reach import whole_group

        group = whole_group(self)
        names = " ".join(move.name for move in self.generators)
        return [
            ("sets", ", ".join(_told(self, row) for row in boards.layout(self).rows)),
            ("pieces", f"{self.slots} of {counted(len(self.tokens), 'kind')}"),
            ("moves", f"{len(self.generators)}: {names if len(names) <= 400 else names[:397] + '...'}"),
            *([] if group is None else [("group", f"of order {group.order:,}")]),
            *([] if self.symmetric else [("one-way", "not every move can be taken back by one move")]),
        ]

    def reachable(self, boards: Sequence[Board]) -> int | None:
        """See PuzzleDefinition: by the order of the group of the moves."""
        from farthest.families.permutation.reach import states_reached

        return states_reached(self, boards[0]) if len(boards) == 1 else None

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
    """The definition of a permutation puzzle."""
    assert isinstance(puzzle.definition, Permutation), (
        f"puzzle {puzzle.name} is of the family {puzzle.family}"
    )
    return puzzle.definition


def from_fields(fields: dict[str, Any]) -> Permutation:
    """The definition that had these ``fields``."""
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
        net=None if fields.get("net") is None else net_from_fields(fields["net"]),
        turns=None if fields.get("turns") is None else turns_from_fields(fields["turns"]),
    )


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


def _boards_problem(definition: Permutation) -> str | None:
    if not definition.goals or len(set(definition.goals)) != len(definition.goals):
        return "expected at least one goal, and none twice"
    named = [(f"goal {i}", goal) for i, goal in enumerate(definition.goals, 1)]
    for name, board in named + ([("start", definition.start)] if definition.start is not None else []):
        problem = boards.board_problem(definition, board)
        if problem:
            return f"{name}: {problem}"
    return None
