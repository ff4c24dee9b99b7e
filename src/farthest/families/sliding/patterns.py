"""Patterns of sliding puzzles: additive ones, whose own moves alone cost; plain ones, whose other pieces are alike.

A state of an additive pattern is the cells of the pattern's pieces, one lane of the kernel's lines. The key of a
placement is the mixed-radix number of its digits, first label first; a digit is the number of cells before the piece's
that no earlier label holds (docs/key-layout.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import permutations
from math import perm
from typing import TYPE_CHECKING, Any, cast

from farthest import _kernel
from farthest.arrays import np
from farthest.errors import PuzzleError, ResourceError
from farthest.families.sliding.definition import Sliding, sliding
from farthest.puzzles.definition import WILDCARD, Board, MoveName, PuzzleDefinition
from farthest.puzzles.grid import others_token
from farthest.puzzles.origin import names_of
from farthest.puzzles.patterns import ALIKE, MAX_GOALS, PLAIN, Choice, Names, goal_boards
from farthest.puzzles.puzzle import MARK, Origin, Puzzle
from farthest.spaces.contract import NO_KEY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.spaces.contract import Boards, Codes, EngineKind


class SlidingPatterns:
    adds_up = True

    def names(self, definition: PuzzleDefinition) -> Names:
        """The blank cannot be named."""
        tokens = ("", *cast(Sliding, definition).tokens[1:])
        return Names(tokens, (0,) * len(tokens), (False,) * len(tokens), {})

    def make(
        self, definition: PuzzleDefinition, metric: str, choice: Choice, place: str
    ) -> tuple[Sliding, tuple[int, ...]]:
        """No two pieces of the pattern are alike."""
        own, labels = cast(Sliding, definition), choice.labels
        if len(choice.classes) < len(labels):
            raise PuzzleError(
                f"{place}: {ALIKE} joins alike pieces in patterns of permutation puzzles, and this is a sliding one; "
                "name the pieces with . between"
            )
        return _plain(own, labels, place) if choice.plain else _additive(own, metric, labels, place)

    def boards(
        self, pattern: PuzzleDefinition, relabel: NDArray[np.uint8], boards: NDArray[np.uint8]
    ) -> NDArray[np.uint8]:
        del pattern
        return relabel[boards]


def _plain(definition: Sliding, labels: tuple[int, ...], place: str) -> tuple[Sliding, tuple[int, ...]]:
    """The definition with all pieces alike but those in the pattern."""
    relabel = _relabel(definition, labels, place)
    shown_labels = [0, *labels]
    others = sum(definition.counts) - sum(definition.counts[label] for label in shown_labels)
    start = None if definition.start is None else tuple(relabel[label] for label in definition.start)
    made = replace(
        definition,
        tokens=(*(definition.tokens[label] for label in shown_labels), others_token(definition.tokens)),
        counts=(*(definition.counts[label] for label in shown_labels), others),
        goals=goal_boards(definition.goals, relabel),
        start=start,
    )
    return made, relabel


def _relabel(definition: Sliding, labels: tuple[int, ...], place: str) -> tuple[int, ...]:
    if len(labels) == len(definition.tokens) - 1:
        raise PuzzleError(
            f"{place}: the pattern has all pieces, so none are alike; leave some out, or enumerate the puzzle itself"
        )
    return tuple(
        0 if label == 0 else labels.index(label) + 1 if label in labels else len(labels) + 1
        for label in range(len(definition.tokens))
    )


def _additive(
    definition: Sliding, metric: str, labels: tuple[int, ...], place: str
) -> tuple[Sliding, tuple[int, ...]]:
    """The definition in which label 0 is every cell without a piece of the pattern."""
    mend = f"write {PLAIN} after {MARK}, which makes the other pieces alike and counts all moves"
    if definition.counts[0] != 1:
        raise PuzzleError(
            f"{place}: {definition.counts[0]} blanks; additive patterns need exactly one; {mend}"
        )
    if metric != "step":
        raise PuzzleError(f"{place}: the metric is {metric}; additive patterns need step; {mend}")
    for label in labels:
        if definition.counts[label] != 1:
            raise PuzzleError(
                f"{place}: there are {definition.counts[label]} pieces {definition.tokens[label]}; those of an "
                f"additive pattern must all be distinct; leave them out, or {mend}"
            )
    relabel = tuple(
        labels.index(label) + 1 if label in labels else 0 for label in range(len(definition.tokens))
    )
    goals = list(dict.fromkeys(_placements(definition, labels, relabel, place)))
    made = replace(
        definition,
        tokens=(others_token(definition.tokens), *(definition.tokens[label] for label in labels)),
        counts=(definition.cells - len(labels), *(1 for _ in labels)),
        goals=tuple(goal for goal, _ in goals),
        start=None,
        blanks=tuple(blank for _, blank in goals),
    )
    return made, relabel


def _placements(
    definition: Sliding, labels: tuple[int, ...], relabel: tuple[int, ...], place: str
) -> list[tuple[Board, int]]:
    """The goals as boards of the pattern, and the blank's cell in each. Pieces of the pattern that a goal leaves open
    are in any of its open cells."""
    found: list[tuple[Board, int]] = []
    for goal in definition.goals:
        blank = goal.index(0)
        fixed = [0 if label == WILDCARD else relabel[label] for label in goal]
        open_cells = [cell for cell, label in enumerate(goal) if label == WILDCARD]
        missing = [relabel[label] for label in labels if label not in goal]
        if len(found) + perm(len(open_cells), len(missing)) > MAX_GOALS:
            raise PuzzleError(
                f"{place}: its goals stand for more than {MAX_GOALS:,} places of its pieces; take pieces that the "
                "goals name"
            )
        for cells in permutations(open_cells, len(missing)):
            board = list(fixed)
            for label, cell in zip(missing, cells, strict=True):
                board[cell] = label
            found.append((tuple(board), blank))
    return found


LAYOUT = {"version": 1, "kind": "placements"}

MAX_KEYS = 2**40


class PatternSpace:
    """An additive pattern with its origin. ``pieces``: how many there are, with labels from 1 on."""

    engine: EngineKind = "pattern"
    code_bytes = 8
    moves_both_ways = True

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None) -> None:
        if layout not in (None, LAYOUT):
            raise PuzzleError(
                f"puzzle {puzzle.name}: its keys are stored in an unknown layout, {layout}; the map is of another "
                "version of farthest, use that one"
            )
        self.puzzle = puzzle
        self.origin = origin
        self.definition = sliding(puzzle)
        self.cells = self.definition.cells
        self.undirected = not self.definition.arcs
        self.pieces = len(self.definition.tokens) - 1
        self.keys: int = perm(self.cells, self.pieces)
        if self.keys > MAX_KEYS:
            raise ResourceError(
                f"puzzle {puzzle.name}: {self.keys:.2e} placements of its pieces, more than the {MAX_KEYS:.1e} that "
                "can be enumerated; take fewer pieces"
            )
        self._starts = list(_starts(puzzle, origin))
        self.origins = list(dict.fromkeys(board for board, _ in self._starts))

    @cached_property
    def kernel(self) -> _kernel.PatternSpace:
        """The kernel's search for the best instruction set."""
        return self.compile_kernel()

    def compile_kernel(self, isa: str = "") -> _kernel.PatternSpace:
        """The kernel's search; ``isa``: empty for the best instruction set."""
        passages = self.definition.ways
        if self.origin.direction == "to":
            passages = [(b, a) for a, b in passages]
        origins = [
            ([board.index(label) for label in range(1, self.pieces + 1)], blanks)
            for board, blanks in self._starts
        ]
        return _kernel.PatternSpace(self.cells, self.pieces, sorted(passages), origins, isa)

    def layout_fields(self) -> dict[str, Any]:
        return dict(LAYOUT)

    def encode(self, boards: Boards) -> Codes:
        boards = boards.reshape(-1, self.cells)
        keys = np.zeros(len(boards), dtype=np.uint64)
        valid = np.ones(len(boards), dtype=np.bool_)
        placed: list[NDArray[np.intp]] = []
        for label in range(1, self.pieces + 1):
            there = boards == label
            cell = there.argmax(axis=1)
            valid &= there.any(axis=1)
            digit = cell - sum((earlier < cell for earlier in placed), np.zeros(len(boards), dtype=np.intp))
            keys = keys * np.uint64(self.cells - len(placed)) + digit.astype(np.uint64)
            placed.append(cell)
        keys[~valid] = np.uint64(NO_KEY)
        return keys

    def decode(self, codes: Codes) -> Boards:
        keys = np.asarray(codes, dtype=np.uint64)
        if keys.size and int(keys.max()) >= self.keys:
            raise ValueError(f"key {int(keys.max())} is out of range; there are {self.keys}")
        digits = []
        for radix in range(self.cells - self.pieces + 1, self.cells + 1):
            digits.append((keys % np.uint64(radix)).astype(np.intp))
            keys = keys // np.uint64(radix)
        boards = np.zeros((len(keys), self.cells), dtype=np.uint8)
        rows = np.arange(len(keys))
        for label in range(1, self.pieces + 1):
            place = np.cumsum(boards == 0, axis=1) - 1
            free = (boards == 0) & (place == digits.pop()[:, np.newaxis])
            boards[rows, free.argmax(axis=1)] = label
        return boards

    def write_boards(self, keys: Sequence[int], rows: bytearray, positions: Sequence[int]) -> None:
        written = np.frombuffer(rows, dtype=np.uint8).reshape(len(keys), -1)
        written[:, list(positions)] = self.decode(np.array(keys, dtype=np.uint64))

    def neighbours(
        self, boards: Boards, *, toward: bool
    ) -> Iterator[tuple[MoveName, NDArray[np.intp], Boards]]:
        """Raises PuzzleError: whether a piece can move is not known where the blank is not."""
        raise PuzzleError(
            f"puzzle {self.puzzle.name}: an additive pattern has distances but no moves, as its states do not tell "
            "where the blank is; ask the puzzle itself"
        )

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        return None


def _starts(puzzle: Puzzle, origin: Origin) -> Iterator[tuple[Board, int]]:
    """The boards at distance 0, each with the cells where the blank may be, as a bit mask: where the goal has it, or
    anywhere if the origin is a board."""
    definition = sliding(puzzle)
    for name in names_of(origin.where):
        if name == "goal":
            for goal, blank in zip(definition.goals, definition.blanks, strict=True):
                yield goal, 1 << blank
            continue
        if name == "start":
            raise PuzzleError(f"puzzle {puzzle.name}: a pattern has no start; name a board instead")
        board = definition.parse_board(name, name=puzzle.name)
        yield board, sum(1 << cell for cell, label in enumerate(board) if label == 0)
