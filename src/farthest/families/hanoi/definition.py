"""The family ``hanoi``: discs on pegs, moved one at a time, never onto a smaller one.

A board is the peg of each disc, the smallest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farthest.errors import BoardError, PuzzleError
from farthest.families.hanoi.variants import VARIANTS, variant_arcs
from farthest.json_fields import integers, pair
from farthest.puzzles.definition import WILDCARD, Board, PuzzleDefinition, board_place
from farthest.puzzles.goal_keys import check_digits
from farthest.puzzles.grid import Passages, disconnection
from farthest.wording import counted, shown

if TYPE_CHECKING:
    from farthest.puzzles.puzzle import Puzzle

MAX_PEGS = 64
MAX_DISCS = 64


@dataclass(frozen=True, slots=True)
class Hanoi(PuzzleDefinition):
    """Pegs, discs, and the pegs between which discs may move.

    ``arcs``: (from, to), sorted; both ways are two arcs. ``goals``: boards, perhaps with ``WILDCARD``.
    Raises PuzzleError when these do not fit together.
    """

    pegs: int
    discs: int
    arcs: Passages
    goals: tuple[Board, ...]
    start: Board | None = None

    def __post_init__(self) -> None:
        problem = _problem(self)
        if problem:
            raise PuzzleError(f"hanoi puzzle: {problem}")

    @property
    def cells(self) -> int:
        """See PuzzleDefinition: one a disc."""
        return self.discs

    @property
    def origin_boards(self) -> tuple[tuple[Board, ...], Board | None]:
        """See PuzzleDefinition."""
        return self.goals, self.start

    @property
    def radices(self) -> tuple[int, ...]:
        """For each cell, the number of values that it can have."""
        return (self.pegs,) * self.discs

    @property
    def undirected(self) -> bool:
        """Whether each move can be taken back."""
        return all((b, a) in self.arcs for a, b in self.arcs)

    @property
    def variant(self) -> str:
        """One of VARIANTS, or ``graph``."""
        return next((name for name in VARIANTS if variant_arcs(name, self.pegs) == self.arcs), "graph")

    def arrangements(self) -> int:
        """See PuzzleDefinition."""
        return int(self.pegs**self.discs)

    def size(self) -> str:
        """See PuzzleDefinition."""
        return f"{counted(self.pegs, 'peg')}, {counted(self.discs, 'disc')}"

    def facts(self) -> list[tuple[str, str]]:
        """See PuzzleDefinition."""
        both = [f"{a}-{b}" for a, b in self.arcs if a < b and (b, a) in self.arcs]
        one = [f"{a}→{b}" for a, b in self.arcs if (b, a) not in self.arcs]
        return [("variant", self.variant), ("discs move", " ".join(both + one))]

    def parse_board(self, text: str, *, name: str = "") -> Board:
        """See PuzzleDefinition: the pegs of the discs, smallest first; or the discs of each peg, pegs ended by /."""
        return parse_pegs(text, self.pegs, self.discs, board_place(text, self, name), wildcards=False)

    def format_board(self, board: Sequence[int]) -> str:
        """See PuzzleDefinition."""
        between = "" if self.pegs <= 10 else " "
        return between.join("*" if peg == WILDCARD else str(peg) for peg in board)

    def check_board(self, board: Sequence[int], *, name: str = "") -> Board:
        """See PuzzleDefinition."""
        place = f"board{f' for {name}' if name else ''}"
        if not hasattr(board, "__len__") or len(board) != self.discs:
            raise BoardError(
                f"{place}: expected the pegs of {counted(self.discs, 'disc')}, the smallest first"
            )
        for disc, peg in enumerate(board, 1):
            if not hasattr(peg, "__index__") or not 0 <= peg < self.pegs:
                raise BoardError(
                    f"{place}: disc {disc} is on {peg!r}, expected a peg from 0 to {self.pegs - 1}"
                )
        return tuple(int(peg) for peg in board)

    def draw_board(self, board: Sequence[int]) -> list[str]:
        """See PuzzleDefinition: the discs by number on each peg, the smallest 1, the bottom one first."""
        width = len(str(self.pegs - 1))
        lines = []
        for peg in range(self.pegs):
            discs = [str(disc + 1) for disc in reversed(range(self.discs)) if board[disc] == peg]
            lines.append(f"{peg:>{width}} | {' '.join(discs)}".rstrip())
        free = [str(disc + 1) for disc in reversed(range(self.discs)) if board[disc] == WILDCARD]
        return [*lines, f"{'*':>{width}} | {' '.join(free)}"] if free else lines


def hanoi(puzzle: Puzzle) -> Hanoi:
    """The definition of a puzzle of this family."""
    assert isinstance(puzzle.definition, Hanoi), f"puzzle {puzzle.name} is of the family {puzzle.family}"
    return puzzle.definition


def from_fields(fields: dict[str, Any]) -> Hanoi:
    """The definition that had these ``fields``."""
    pegs, discs = integers([fields["pegs"], fields["discs"]])
    return Hanoi(
        pegs,
        discs,
        tuple(pair(arc) for arc in fields["arcs"]),
        tuple(integers(goal) for goal in fields["goals"]),
        None if fields["start"] is None else integers(fields["start"]),
    )


def parse_pegs(text: str, pegs: int, discs: int, place: str, *, wildcards: bool) -> Board:
    """The peg of each disc of a board given as text. Raises BoardError, the message beginning with ``place``."""
    example = ("" if pegs <= 10 else " ").join(["0"] * discs)
    mend = f"write the peg of each disc, the smallest first, such as {example!r}"
    if "/" in text or "|" in text:
        return _parse_stacks(text.replace("|", "/"), pegs, discs, place)
    tokens = text.replace(",", " ").split()
    if pegs <= 10 and len(tokens) == 1:
        tokens = list(tokens[0])
    if len(tokens) != discs:
        raise BoardError(f"{place}: {counted(len(tokens), 'peg')}, expected {discs}, one a disc; {mend}")
    board = []
    for disc, token in enumerate(tokens, 1):
        if token == "*" and wildcards:
            board.append(WILDCARD)
        elif token.isascii() and token.isdigit() and len(token) <= 3 and int(token) < pegs:
            board.append(int(token))
        else:
            raise BoardError(
                f"{place}: disc {disc} is on {shown(token)}, expected a peg from 0 to {pegs - 1}; {mend}"
            )
    return tuple(board)


def _parse_stacks(text: str, pegs: int, discs: int, place: str) -> Board:
    mend = "write the discs of each peg, 1 the smallest, pegs ended by /, such as " + repr(
        "/".join([" ".join(str(disc) for disc in range(discs, 0, -1)), *["-"] * (pegs - 1)])
    )
    stacks = text.split("/")
    if len(stacks) != pegs:
        raise BoardError(f"{place}: {counted(len(stacks), 'peg')}, expected {pegs}; {mend}")
    board: dict[int, int] = {}
    for peg, stack in enumerate(stacks):
        tokens = [token for token in stack.replace(",", " ").split() if token != "-"]
        for token in tokens:
            if not (token.isascii() and token.isdigit() and len(token) <= 3 and 1 <= int(token) <= discs):
                raise BoardError(
                    f"{place}: peg {peg} holds {shown(token)}, expected discs from 1 to {discs}; {mend}"
                )
            if int(token) in board:
                raise BoardError(
                    f"{place}: disc {int(token)} is there twice, expected each disc once; {mend}"
                )
            board[int(token)] = peg
        if sorted(map(int, tokens)) not in ([*map(int, tokens)], [*map(int, tokens)][::-1]):
            raise BoardError(
                f"{place}: on peg {peg} a disc lies on a smaller one, expected an order of size; {mend}"
            )
    missing = [str(disc) for disc in range(1, discs + 1) if disc not in board]
    if missing:
        raise BoardError(
            f"{place}: {'discs' if len(missing) > 1 else 'disc'} {' '.join(missing)} missing; {mend}"
        )
    return tuple(board[disc] for disc in range(1, discs + 1))


def _problem(definition: Hanoi) -> str | None:
    if not 2 <= definition.pegs <= MAX_PEGS or not 1 <= definition.discs <= MAX_DISCS:
        return f"expected 2 to {MAX_PEGS} pegs and 1 to {MAX_DISCS} discs"
    if list(definition.arcs) != sorted(set(definition.arcs)):
        return "the arcs are not sorted, or one is there twice"
    for a, b in definition.arcs:
        if not (0 <= a < definition.pegs and 0 <= b < definition.pegs) or a == b:
            return f"arcs hold {[a, b]}; expected two different pegs from 0 to {definition.pegs - 1}"
    if not definition.goals or len(set(definition.goals)) != len(definition.goals):
        return "expected at least one goal, and none twice"
    boards = [(f"goal {i}", goal) for i, goal in enumerate(definition.goals, 1)]
    for name, board in boards + ([("start", definition.start)] if definition.start is not None else []):
        problem = check_digits(board, definition.radices, name, wildcards=name != "start")
        if problem:
            return problem
    return disconnection(definition.pegs, definition.arcs)
