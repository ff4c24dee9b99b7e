"""The family ``permutation``: pieces on slots, and moves that permute the contents of the slots and turn them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from farthest.puzzles.family import Family

if TYPE_CHECKING:
    from farthest.errors import PuzzleError
    from farthest.families.permutation.definition import Permutation
    from farthest.puzzles.definition import Board, MoveName, PuzzleDefinition
    from farthest.puzzles.family import PatternMaker, Solvable, Symmetries
    from farthest.puzzles.move_text import MoveMaker
    from farthest.puzzles.picture import Hold, Picture
    from farthest.puzzles.puzzle import Puzzle
    from farthest.puzzles.tables import Source


class PermutationFamily(Family):
    """See Family."""

    metrics = ("generator", "power")
    default_origin = "to goal"
    example = 'goal = "1 2 3" and [permutation.generators]'
    forms = (
        ("pancake-N", "pancakes, pancake sorting by prefix reversals"),
        ("burnt-pancake-N", "burnt pancakes"),
        ("topspin-N-K", "Top Spin"),
        ("lrx-N", "a ring turned left and right, and an exchange"),
    )
    files = (".tws", ".def", ".gap", ".g")

    def read(self, table: dict[str, Any], source: Source, metric: str) -> Permutation:
        """See Family."""
        from farthest.families.permutation.reader import read_permutation

        return read_permutation(table, source, metric)

    def from_fields(self, fields: dict[str, Any]) -> Permutation:
        """See Family."""
        from farthest.families.permutation.definition import from_fields

        return from_fields(fields)

    def parametric(self, name: str) -> Puzzle | None:
        """See Family."""
        from farthest.families.permutation.forms import parametric_puzzle

        return parametric_puzzle(name)

    def written(self, text: str) -> Puzzle | None:
        """See Family: generators, ``(1,2,3)(4,5);(1,5)``."""
        from farthest.families.permutation.generator_text import (
            is_generators,
            puzzle_of_generators,
            read_generators,
        )

        return puzzle_of_generators(read_generators(text), "generator") if is_generators(text) else None

    def read_file(self, data: bytes, place: str) -> Puzzle:
        """See Family: twsearch ``.tws``, ksolve ``.def``, generators as GAP writes them."""
        from farthest.families.permutation.foreign import parse_foreign

        return parse_foreign(data, place)

    def solvable(self, puzzle: Puzzle, targets: tuple[Board, ...]) -> Solvable:
        """See Family."""
        from farthest.families.permutation.solvable import solvable

        return solvable(puzzle, targets)

    def move_maker(self, puzzle: Puzzle) -> MoveMaker:
        """See Family."""
        from farthest.families.permutation.written_moves import WrittenMoves

        return WrittenMoves(puzzle)

    def picture(self, definition: PuzzleDefinition, board: Sequence[int]) -> Picture:
        """See Family."""
        from farthest.families.permutation.picture import picture

        return picture(cast("Permutation", definition), board)

    def hold(
        self, definition: PuzzleDefinition, board: Sequence[int], move: MoveName, after: Sequence[int]
    ) -> Hold | None:
        """See Family."""
        from farthest.families.permutation.picture import hold

        del after
        return hold(cast("Permutation", definition), board, move)

    def symmetries(self, definition: PuzzleDefinition, fixed: Board) -> Symmetries:
        """See Family: conjugations, and the inverses of boards."""
        from farthest.families.permutation.symmetries import symmetries

        return symmetries(cast("Permutation", definition), fixed)

    def with_moves(self, puzzle: Puzzle, text: str, fail: Callable[[str], PuzzleError]) -> Puzzle:
        """See Family."""
        from farthest.families.permutation.some_moves import with_moves

        return with_moves(puzzle, text, fail)

    def patterns(self) -> PatternMaker:
        """See Family."""
        from farthest.families.permutation.patterns import PermutationPatterns

        return PermutationPatterns()


FAMILY = PermutationFamily()
