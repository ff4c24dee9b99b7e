"""The family ``pegs``: peg solitaire. A peg jumps over a neighbouring one into an empty hole; the other is taken away.

start    = ["  ooo  ", "  o.o  ", ...]  # o or 1: peg, . or 0: empty hole; # or space: no hole
goal     = ["  ...  ", "  .o.  ", ...]  # or goals = [...]; * = peg or not
diagonal = true                         # jumps along the diagonals too
grid     = "triangle"                   # rows of 1, 2, 3 ... holes, jumps along three directions; spaces are nothing
jumps    = [[0, 1, 2], [0, 3, 6]]       # instead of a grid: from, over, to; boards are then one line, hole 0 first

Metrics: ``jump``; ``chain``: consecutive jumps of one peg are one move. A board is 0 or 1 a hole, in reading order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farthest.errors import BoardError, PuzzleError
from farthest.json_fields import integers
from farthest.puzzles.definition import WILDCARD, Board, PuzzleDefinition, board_place
from farthest.wording import counted, shown

if TYPE_CHECKING:
    from farthest.puzzles.puzzle import Puzzle

MAX_HOLES = 64
"""The kernel keeps a set of holes in one 64-bit mask."""
MAX_JUMPS = 1024
MAX_PLACES = 1024
"""Places of a drawing, holes or not."""

PEGS, EMPTY, ANY = "o1O●", ".0○", "*"
Jump = tuple[int, int, int]
"""The holes that a jump goes from, over and to."""


@dataclass(frozen=True, slots=True)
class Pegs(PuzzleDefinition):
    """Holes and jumps. ``rows``: a drawing, hole numbers and -1 where there is none; empty: the holes in one line.

    ``goals``: boards, perhaps with ``WILDCARD``. Raises PuzzleError when these do not fit together.
    """

    holes: int
    jumps: tuple[Jump, ...]
    rows: tuple[tuple[int, ...], ...]
    goals: tuple[Board, ...]
    start: Board | None = None

    def __post_init__(self) -> None:
        problem = _problem(self)
        if problem:
            raise PuzzleError(f"peg puzzle: {problem}")

    @property
    def cells(self) -> int:
        """See PuzzleDefinition: one a hole."""
        return self.holes

    @property
    def origin_boards(self) -> tuple[tuple[Board, ...], Board | None]:
        """See PuzzleDefinition."""
        return self.goals, self.start

    @property
    def hole_rows(self) -> tuple[tuple[int, ...], ...]:
        """The holes of each row that has any."""
        rows = [tuple(hole for hole in row if hole >= 0) for row in self.rows]
        return tuple(row for row in rows if row) or (tuple(range(self.holes)),)

    def arrangements(self) -> int:
        """See PuzzleDefinition."""
        return int(2**self.holes)

    def size(self) -> str:
        """See PuzzleDefinition."""
        return counted(self.holes, "hole")

    def facts(self) -> list[tuple[str, str]]:
        """See PuzzleDefinition."""
        facts = [("holes", str(self.holes)), ("jumps", str(len(self.jumps)))]
        if self.start is not None:
            facts.append(("pegs at the start", str(sum(self.start))))
        return facts

    def parse_board(self, text: str, *, name: str = "") -> Board:
        """See PuzzleDefinition: a sign for each hole in reading order; rows may end at / or a new line."""
        board = _parse(text, self.hole_rows, board_place(text, self, name), self.example())
        if WILDCARD in board:
            raise BoardError(
                f"{board_place(text, self, name)}: * stands for any content, expected in goals only; write o or ."
            )
        return board

    def format_board(self, board: Sequence[int]) -> str:
        """See PuzzleDefinition."""
        signs = [ANY if hole == WILDCARD else "o" if hole else "." for hole in board]
        return "/".join("".join(signs[hole] for hole in row) for row in self.hole_rows)

    def check_board(self, board: Sequence[int], *, name: str = "") -> Board:
        """See PuzzleDefinition."""
        place = f"board{f' for {name}' if name else ''}"
        if not hasattr(board, "__len__") or len(board) != self.holes:
            raise BoardError(
                f"{place}: expected {counted(self.holes, 'number')}, 1 for a peg, 0 for an empty hole"
            )
        for hole, content in enumerate(board):
            if not hasattr(content, "__index__") or content not in (0, 1):
                raise BoardError(f"{place}: hole {hole} holds {content!r}, expected 1 for a peg, 0 for none")
        return tuple(int(content) for content in board)

    def draw_board(self, board: Sequence[int]) -> list[str]:
        """See PuzzleDefinition."""
        if not self.rows:
            return [self.format_board(board)]
        signs = {WILDCARD: ANY, 0: ".", 1: "o"}
        lines = [" ".join(signs[board[hole]] if hole >= 0 else " " for hole in row) for row in self.rows]
        return [line.rstrip() for line in lines]

    def palette(self) -> Mapping[str, int]:
        """See PuzzleDefinition: pegs are blue."""
        return {"o": 1}


def pegs(puzzle: Puzzle) -> Pegs:
    """The definition of a puzzle of this family."""
    assert isinstance(puzzle.definition, Pegs), f"puzzle {puzzle.name} is of the family {puzzle.family}"
    return puzzle.definition


def from_fields(fields: dict[str, Any]) -> Pegs:
    """The definition that had these ``fields``."""
    return Pegs(
        integers([fields["holes"]])[0],
        tuple(_jump(jump) for jump in fields["jumps"]),
        tuple(integers(row) for row in fields["rows"]),
        tuple(integers(goal) for goal in fields["goals"]),
        None if fields["start"] is None else integers(fields["start"]),
    )


def _jump(values: Any) -> Jump:
    a, b, c = integers(values)
    return a, b, c


def parse_signs(text: str, place: str, example: str) -> list[int]:
    """The contents of the holes that a line draws, signs for no hole left out. Raises BoardError."""
    board = []
    for sign in text:
        if sign in PEGS:
            board.append(1)
        elif sign in EMPTY:
            board.append(0)
        elif sign == ANY:
            board.append(WILDCARD)
        elif not (sign.isspace() or sign in "#,"):
            raise BoardError(
                f"{place}: {shown(sign)} does not stand for a hole; expected o for a peg or . for an empty hole; "
                f"write for example {example!r}"
            )
    return board


def _parse(text: str, rows: Sequence[Sequence[int]], place: str, example: str) -> Board:
    drawn = [
        parse_signs(line, place, example) for line in text.replace("|", "/").replace("/", "\n").splitlines()
    ]
    drawn = [row for row in drawn if row]
    expected = sum(map(len, rows))
    found = sum(map(len, drawn))
    if found != expected:
        raise BoardError(
            f"{place}: {counted(found, 'hole')}, expected {expected}; write for example {example!r}"
        )
    lengths = [len(row) for row in rows]
    if len(drawn) > 1 and [len(row) for row in drawn] != lengths:
        raise BoardError(
            f"{place}: rows of {' '.join(str(len(row)) for row in drawn)} holes, expected "
            f"{' '.join(map(str, lengths))}; write for example {example!r}"
        )
    return tuple(hole for row in drawn for hole in row)


def _problem(definition: Pegs) -> str | None:
    if not 3 <= definition.holes <= MAX_HOLES:
        return f"expected 3 to {MAX_HOLES} holes"
    drawn = [hole for row in definition.rows for hole in row if hole != -1]
    if definition.rows and drawn != list(range(definition.holes)):
        return "the rows do not hold each hole once, in order"
    if not 1 <= len(definition.jumps) <= MAX_JUMPS:
        return f"expected 1 to {MAX_JUMPS} jumps"
    ends = set()
    for jump in definition.jumps:
        if len(set(jump)) != 3 or not all(0 <= hole < definition.holes for hole in jump):
            return f"jump {list(jump)}: expected three different holes from 0 to {definition.holes - 1}"
        if (jump[0], jump[2]) in ends:
            return f"two jumps go from hole {jump[0]} to hole {jump[2]}; a jump is told by its ends"
        ends.add((jump[0], jump[2]))
    if not definition.goals and definition.start is None:
        return "expected a start or a goal"
    if len(set(definition.goals)) != len(definition.goals):
        return "a goal is there twice"
    for name, board in [
        ("start", definition.start),
        *((f"goal {i}", goal) for i, goal in enumerate(definition.goals, 1)),
    ]:
        least = 0 if name == "start" else WILDCARD
        if board is not None and (
            len(board) != definition.holes or any(not least <= content <= 1 for content in board)
        ):
            return f"{name} is not {definition.holes} numbers, 1 for a peg and 0 for none"
        if board is not None and board == (1,) * MAX_HOLES:
            return f"{name} has {MAX_HOLES} pegs, expected an empty hole"
    return None
