"""What a family offers beside its definitions and its space; most of it is optional."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, cast

from farthest.puzzles.families import FAMILIES, rules
from farthest.puzzles.picture import text_picture
from farthest.puzzles.solvable import Solvable, undecided

if TYPE_CHECKING:
    from farthest.errors import PuzzleError
    from farthest.puzzles.definition import Board, MoveName, PuzzleDefinition
    from farthest.puzzles.holds import Hold
    from farthest.puzzles.move_maker import MoveMaker
    from farthest.puzzles.pattern_maker import PatternMaker
    from farthest.puzzles.picture import Picture
    from farthest.puzzles.puzzle import Puzzle
    from farthest.puzzles.source import Source
    from farthest.puzzles.symmetry import Symmetries


class Family(ABC):
    """A family: ``FAMILY`` of the package ``farthest.families.NAME``. See Rules for what is not said here."""

    metrics: ClassVar[tuple[str, ...]]
    default_origin: ClassVar[str]
    example: ClassVar[str]
    forms: ClassVar[tuple[tuple[str, str], ...]] = ()
    """How its parametric names are written, each with what people call such puzzles."""
    files: ClassVar[tuple[str, ...]] = ()
    """The endings of files of other programs that hold its puzzles."""

    @abstractmethod
    def read(self, table: dict[str, Any], source: Source, metric: str) -> PuzzleDefinition:
        """See Rules."""

    @abstractmethod
    def from_fields(self, fields: dict[str, Any]) -> PuzzleDefinition:
        """See Rules."""

    def parametric(self, name: str) -> Puzzle | None:
        """The puzzle of a parametric name; None: it is not one. Raises PuzzleError for a size that cannot be."""
        del name
        return None

    def written(self, text: str) -> Puzzle | None:
        """The puzzle that a text without a file or a name tells; None: it is not one of the family's. Raises
        PuzzleError."""
        del text
        return None

    def read_file(self, data: bytes, place: str) -> Puzzle:
        """The puzzle of a file with one of the endings ``files``; messages call it ``place``. Raises PuzzleError."""
        raise NotImplementedError("the family has no files of other programs")

    def solvable(self, puzzle: Puzzle, targets: tuple[Board, ...]) -> Solvable:
        """The boards from which moves lead to one of ``targets``. Raises UndecidedError where that is not known."""
        del targets
        raise undecided(puzzle)

    def picture(self, definition: PuzzleDefinition, board: Sequence[int]) -> Picture:
        """The picture of a board; ``WILDCARD`` is allowed."""
        return text_picture(definition.draw_board(board), definition.palette())

    def hold(
        self, definition: PuzzleDefinition, board: Sequence[int], move: MoveName, after: Sequence[int]
    ) -> Hold | None:
        """Where people take hold of the picture of a board for a move that leads to ``after``; None: nowhere."""
        del definition, board, move, after
        return None

    def move_maker(self, puzzle: Puzzle) -> MoveMaker | None:
        """What makes moves from their written names; None: the names that the puzzle's space gives are enough."""
        del puzzle
        return None

    def symmetries(self, definition: PuzzleDefinition, fixed: Board) -> Symmetries | None:
        """Those of the puzzle that fix a board (puzzles/symmetry.py); None where the family knows of none. Raises
        ResourceError where they are too many to be found."""
        del definition, fixed
        return None

    def with_moves(self, puzzle: Puzzle, text: str, fail: Callable[[str], PuzzleError]) -> Puzzle:
        """The puzzle with some of its moves alone (puzzles/some_moves.py). Raises what ``fail`` makes of a problem."""
        able = " and ".join(
            name for name in FAMILIES if type(family(name)).with_moves is not Family.with_moves
        )
        raise fail(
            f"moves are chosen of {able} puzzles, and this is of the family {puzzle.family}; write the puzzle alone"
        )

    def patterns(self) -> PatternMaker | None:
        """What makes patterns of its puzzles (puzzles/patterns.py); None: there are none."""
        return None


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
    """A board in any form that users write (families/given.py). Raises BoardError, PuzzleError or ResourceError."""
    return cast("Board", import_module("farthest.families.given").board_given(puzzle, text))


def board_hold(puzzle: Puzzle, board: Board, move: MoveName, after: Board) -> Hold | None:
    """Where people take hold of the picture of a board of the puzzle for one of its moves; see Family."""
    return family(puzzle.family).hold(puzzle.definition, board, move, after)


def board_picture(
    puzzle: Puzzle, board: Sequence[int], definition: PuzzleDefinition | None = None
) -> Picture:
    """The picture of a board of the puzzle, or of another ``definition`` of its family; ``WILDCARD`` is allowed."""
    return family(puzzle.family).picture(definition or puzzle.definition, board)
