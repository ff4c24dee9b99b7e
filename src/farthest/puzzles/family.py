"""What a family offers beside its definitions and its space; most of it is optional."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from farthest.errors import PuzzleError
from farthest.puzzles.move_text import MoveMaker, move_text
from farthest.puzzles.puzzle import FAMILIES, Puzzle, Rules, rules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest.puzzles.definition import Board, MoveName, NamedPath, PuzzleDefinition
    from farthest.puzzles.picture import Canvas, Hold, InSpace, Picture
    from farthest.random_source import RandomSource

    Boards = NDArray[np.uint8]


class UndecidedError(PuzzleError):
    """It is not known which boards can be solved."""


class Solvable(Protocol):
    """The boards of a puzzle from which moves lead to one of some targets."""

    def why_not(self, board: Board) -> str | None:
        """Why no moves lead from the board to a target, in one sentence, with a mend where there is one; None: they do.
        Raises UndecidedError."""

    def draw(self, rng: RandomSource) -> Board:
        """One of the boards, each with the same chance. Raises UndecidedError."""


def undecided(puzzle: Puzzle) -> UndecidedError:
    """Says so, and what helps."""
    return UndecidedError(
        f"puzzle {puzzle.name}: only a map of all distances to the target tells which of its boards can be solved; "
        f"store one first: `farthest enumerate {puzzle.name} --to goal`"
    )


class Target(Solvable, Protocol):
    """The boards from which moves lead to one target. ``size``: how many they are."""

    size: int


class SolvableUnion:
    """The boards from which moves lead to one of some targets."""

    def __init__(self, targets: Sequence[Target]) -> None:
        self._targets = targets

    def why_not(self, board: Board) -> str | None:
        return why_none([target.why_not(board) for target in self._targets])

    def draw(self, rng: RandomSource) -> Board:
        sizes = [target.size for target in self._targets]
        while True:
            board = self._targets[rng.weighed(sizes)].draw(rng)
            # A board of k targets is drawn k times as often as one of a single target.
            if rng.below(sum(target.why_not(board) is None for target in self._targets)) == 0:
                return board


def why_none(reasons: Sequence[str | None]) -> str | None:
    """Why a board leads to none of some targets, from the reason of each; None where one has no reason."""
    if None in reasons:
        return None
    return reasons[0] if len(reasons) == 1 else f"{reasons[0]}; no other target can be reached either"


class Family(Rules):
    """A family: ``FAMILY`` of the package ``farthest.families.NAME``.

    Each method calls the family's function of the same name, and says what holds where the family has none.
    """

    def parametric(self, name: str) -> Puzzle | None:
        """The puzzle of a parametric name; None: it is not one. Raises PuzzleError for a size that cannot be."""
        return cast("Puzzle | None", self.call("parametric", name))

    def written(self, text: str) -> Puzzle | None:
        """The puzzle that a text tells by itself; None: it is not one of the family's. Raises PuzzleError."""
        return cast("Puzzle | None", self.call("written", text))

    def read_file(self, data: bytes, place: str) -> Puzzle:
        """The puzzle of a file with one of the endings ``files``; messages call it ``place``. Raises PuzzleError."""
        return cast("Puzzle", self.call("read_file", data, place))

    def kpuzzle(self, puzzle: Puzzle) -> str:
        """The puzzle as KPuzzle JSON, the format of cubing.js and twips. Raises PuzzleError where it cannot be."""
        found: str | None = self.call("kpuzzle", puzzle)
        if found is None:
            able = " and ".join(each.name for each in families() if "kpuzzle" in each.functions)
            raise PuzzleError(
                f"puzzle {puzzle.name} is of the family {self.name}; KPuzzle JSON is written of puzzles of {able}"
            )
        return found

    def solvable(self, puzzle: Puzzle, targets: tuple[Board, ...]) -> Solvable:
        """The boards from which moves lead to one of ``targets``. Raises UndecidedError where that is not known."""
        found: Solvable | None = self.call("solvable", puzzle, targets)
        if found is None:
            raise undecided(puzzle)
        return found

    def picture(self, definition: PuzzleDefinition, board: Sequence[int]) -> Picture:
        """The picture of a board; ``WILDCARD`` is allowed."""
        found: Picture | None = self.call("picture", definition, board)
        if found is None:
            from farthest.puzzles.picture import text_picture

            return text_picture(definition.draw_board(board), definition.palette())
        return found

    def hold(
        self, definition: PuzzleDefinition, board: Sequence[int], move: MoveName, after: Sequence[int]
    ) -> Hold | None:
        """Where people take hold of the picture of a board for a move that leads to ``after``; None: nowhere."""
        return cast("Hold | None", self.call("hold", definition, board, move, after))

    def canvas(self, definition: PuzzleDefinition, board: Board | None) -> Canvas | None:
        """What people draw boards on, with a board on it, or the one that is best begun with; None: they are typed."""
        return cast("Canvas | None", self.call("canvas", definition, board))

    def in_space(self, definition: PuzzleDefinition, boards: Sequence[Sequence[int]]) -> InSpace | None:
        """What a script needs to draw the boards in space; None: the puzzle is flat."""
        return cast("InSpace | None", self.call("in_space", definition, boards))

    def move_maker(self, puzzle: Puzzle) -> MoveMaker | None:
        """What makes moves from their written names; None: the names that the puzzle's space gives are enough."""
        return cast("MoveMaker | None", self.call("move_maker", puzzle))

    def symmetries(self, definition: PuzzleDefinition, fixed: Board) -> Symmetries | None:
        """Those of the puzzle that fix a board; None: the family knows of none. Raises ResourceError for too many."""
        return cast("Symmetries | None", self.call("symmetries", definition, fixed))

    def with_moves(self, puzzle: Puzzle, text: str, fail: Callable[[str], PuzzleError]) -> Puzzle:
        """The puzzle with some of its moves alone (puzzles/catalogue.py). Raises what ``fail`` makes of a problem."""
        found: Puzzle | None = self.call("with_moves", puzzle, text, fail)
        if found is None:
            able = " and ".join(each.name for each in families() if "with_moves" in each.functions)
            raise fail(
                f"moves can be chosen only of puzzles of the family {able}, and this one is of {self.name}; write the "
                "puzzle alone"
            )
        return found


def family(name: str) -> Family:
    """One of ``FAMILIES``."""
    return cast(Family, rules(name))


def families() -> Iterator[Family]:
    """All of them."""
    return map(family, FAMILIES)


def file_endings() -> tuple[str, ...]:
    """The endings of files of other programs that can be read."""
    return tuple(ending for each in families() for ending in each.files)


def board_given(puzzle: Puzzle, text: str) -> Board:
    """A board in any form that users write (families/user_input.py).

    Raises BoardError, PuzzleError or ResourceError.
    """
    return cast("Board", import_module("farthest.families.user_input").board_given(puzzle, text))


def board_hold(puzzle: Puzzle, board: Board, move: MoveName, after: Board) -> Hold | None:
    """Where people take hold of the picture of a board of the puzzle for one of its moves; see Family."""
    return family(puzzle.family).hold(puzzle.definition, board, move, after)


def step_words(puzzle: Puzzle, path: NamedPath) -> list[str]:
    """The moves of a path as people say them: of sliding tiles ``6 up``, else their names."""
    hold, boards = family(puzzle.family).hold, path.boards.tolist()
    found = []
    for before, after, move in zip(boards, boards[1:], path.moves, strict=False):
        place = hold(path.definition, before, move, after)
        found.append((place.said.removeprefix("tile ") if place is not None else "") or move_text(move))
    return found


def board_picture(
    puzzle: Puzzle, board: Sequence[int], definition: PuzzleDefinition | None = None
) -> Picture:
    """The picture of a board of the puzzle, or of another ``definition`` of its family; ``WILDCARD`` is allowed."""
    return family(puzzle.family).picture(definition or puzzle.definition, board)


class BoardMap(Protocol):
    """A map of boards to boards."""

    def images(self, boards: Boards) -> Boards:
        """The images of boards, uint8 (N, cells)."""


@dataclass(frozen=True, slots=True)
class Symmetries:
    """``maps``: a group of maps of the states that take neighbours to neighbours and fix one board; the identity is
    one of them. ``inversion``: takes each state to the one that its solution makes of that board, which is as far from
    it, and a class of the maps to a class; None where there is no such map.
    """

    maps: Sequence[BoardMap]
    inversion: BoardMap | None = None
