"""Boards given as moves: ``moves: R U' F2``, ``scramble: R U' F2``, ``moves from start: 6 down, 1 right``.

The moves are made one after the other on the board that the puzzle counts from, its goal or its start; on its start
too where its goal stands for many boards; or on the board after ``from``. ``(...)'`` is undone: it is the board from
which the moves in parentheses lead to the board at hand. So the moves that `farthest path` prints for a board give that
board again as ``moves: (MOVES)'``, where they end at that goal.

Where several pieces are alike, a name is that of the board on which a row of moves begins, as in a path.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import groupby

from farthest.arrays import np
from farthest.errors import BoardError, FarthestError
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.family import family
from farthest.puzzles.move_text import MoveMaker, Step, read_moves
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces import compile_space
from farthest.spaces.contract import Space
from farthest.wording import near_match, shown

MOST_BOARDS = 100
"""Boards from which undone moves may lead to one, that are gone after at a time."""
MOST_UNDONE = 100_000
"""Moves of all these boards together."""

_FORM = re.compile(r"\s*(moves|scramble)(?:\s+from\s+([^:]+?))?\s*:(.*)", re.DOTALL | re.IGNORECASE)
LISTED = 24
"""Possible moves that a message lists at most."""

_BETWEEN = re.compile(r"(?<=\w)\s*[-→>]+\s*(?=\w)")
_PLACE = re.compile(r" at \d+,\d+(?= )")
_TIMES = re.compile(r"\s*[x*×]\s*(?=\d+\Z)")


def board_after_moves(puzzle: Puzzle, text: str, read_board: Callable[[str], Board]) -> Board:
    """The board that the text gives. ``read_board``: reads the board after ``from``.

    Raises BoardError with the number of the wrong move and what was expected, ResourceError or PuzzleError where the
    puzzle is too large for its moves to be made.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise BoardError(
            f"puzzle {puzzle.name}: {shown(text)}: expected a colon between the word and the moves; "
            "write moves: MOVES, or moves from BOARD: MOVES"
        )
    word, base, moves = found[1].lower(), found[2], found[3].strip()
    place = f"puzzle {puzzle.name}: {word} {shown(moves)}"
    if not puzzle.definition.has_moves:
        raise BoardError(f"{place}: the puzzle has no moves, expected a board; write its pieces")
    board = read_board(base) if base is not None else _base(puzzle, word)
    # A user's class may be another the next time.
    maker = _maker(puzzle, board) if puzzle.definition.module is None else _new_maker(puzzle, board)
    try:
        steps = maker.held(read_moves(moves, spaced=maker.spaced))
        for undone, run in groupby(steps, key=lambda step: step.undone):
            board = (_undo if undone else _make)(maker, board, list(run))
    except BoardError as error:
        raise BoardError(f"{place}: {error}") from None
    return board


def only_moves(puzzle: Puzzle, text: str) -> bool:
    """Whether moves that are written without ``moves:`` cannot be a board of the puzzle with a mistake in it."""
    return _maker(puzzle, _base(puzzle, "moves")).only_moves(text)


def first_is_a_move(puzzle: Puzzle, text: str) -> bool:
    """Whether a text that is no board begins with a move, and has more words."""
    first, *rest = text.replace(",", " ").split()
    if not rest or not only_moves(puzzle, text):
        return False
    try:
        board_after_moves(puzzle, f"moves: {first}", puzzle.definition.parse_board)
    except FarthestError:
        return False
    return True


def _base(puzzle: Puzzle, word: str) -> Board:
    """The board that moves begin at, where none is named."""
    goals, start = puzzle.definition.origin_boards
    where = puzzle.origin.where
    if where not in ("goal", "start"):
        return puzzle.definition.parse_board(where, name=puzzle.name)
    goal = next((goal for goal in goals[:1] if WILDCARD not in goal), None)
    board = start if where == "start" or goal is None else goal
    if board is None:
        raise BoardError(
            f"puzzle {puzzle.name}: its goal stands for many boards, expected one that the moves begin at; "
            f"write {word} from BOARD: MOVES"
        )
    return board


def _new_maker(puzzle: Puzzle, board: Board) -> MoveMaker:
    return family(puzzle.family).move_maker(puzzle) or NamedMoves(puzzle, board)


_maker = lru_cache(maxsize=16)(_new_maker)


def _make(maker: MoveMaker, board: Board, steps: Sequence[Step]) -> Board:
    """The board after the moves."""
    naming, board = maker.naming(board)
    for step in steps:
        try:
            reached = set(naming.moved(board, step.word, undone=False))
        except BoardError as error:
            raise _wrong(step, error) from None
        if len(reached) > 1:
            raise _wrong(
                step,
                f"it stands for {len(reached)} moves that can be made on this board, expected one; "
                "write it as `farthest path` does",
            )
        (board,) = reached
    return naming.renamed(board)


def _undo(maker: MoveMaker, board: Board, steps: Sequence[Step]) -> Board:
    """The board from which the moves, the last of them first in ``steps``, lead to ``board``."""
    before = {board}
    undone = 0
    for step in steps:
        undone += len(before)
        found: set[Board] = set()
        problem: BoardError | None = None
        for each in before:
            try:
                found.update(maker.moved(each, step.word, undone=True))
            except BoardError as error:
                problem = error
        if not found:
            raise _wrong(step, problem or "it does not lead to this board")
        if len(found) > MOST_BOARDS or undone > MOST_UNDONE:
            raise _wrong(
                step, "too many boards may be those before it; write fewer moves, or the board itself"
            )
        before = found
    right = [each for each in before if _leads(maker, each, steps[::-1], board)]
    if len(right) != 1:
        many = f"from {len(right)} boards" if right else "from no board"
        raise BoardError(f"the moves that are undone lead there {many}, expected one; write the board itself")
    return right[0]


def _wrong(step: Step, problem: BoardError | str) -> BoardError:
    return BoardError(f"move {step.number}, {shown(step.word)}: {problem}")


def _leads(maker: MoveMaker, board: Board, steps: Sequence[Step], end: Board) -> bool:
    try:
        return _make(maker, board, steps) == end
    except BoardError:
        return False


class NamedMoves(MoveMaker):
    """Moves by the names that a puzzle's space gives them: what families without a reader of their own use."""

    def __init__(self, puzzle: Puzzle, board: Board) -> None:
        """``board``: any that moves are made on."""
        self._puzzle = puzzle
        self._board = board

    @cached_property
    def _space(self) -> Space:
        origin = Origin("from", self._puzzle.definition.format_board(self._board))
        return compile_space(self._puzzle, origin)

    @cached_property
    def spaced(self) -> bool:
        names = [name for back in self._ways for name, _ in self._moves(self._board, back=back)]
        return any(" " in name for name in names)

    @property
    def _ways(self) -> tuple[bool, ...]:
        return (False, True) if self._space.moves_both_ways else (False,)

    def moved(self, board: Board, word: str, *, undone: bool) -> list[Board]:
        if undone and not self._space.moves_both_ways:
            raise BoardError("it cannot be undone: the puzzle does not tell the states before a state")
        moves = self._moves(board, back=undone)
        if undone and self._puzzle.definition.names_swap:
            unnamed = self._puzzle.definition.unnamed
            found = [before for name, before in moves if unnamed(name) == unnamed(word)]
        else:
            found = _chosen(moves, word)
        problem = "it does not lead to this board" if undone else "it cannot be made on this board"
        return found or self._refuse(word, moves, problem)

    def naming(self, board: Board) -> tuple[MoveMaker, Board]:
        """A maker of the puzzle whose pieces are told apart by their names."""
        if not self._puzzle.definition.names_swap:
            return self, board
        path = self._puzzle.definition.named_path(np.array([board], dtype=np.uint8), [])
        named_apart = replace(
            self._puzzle, definition=path.definition, origin=Origin("from", "start"), known=()
        )
        (named,) = path.boards.tolist()
        return _NamedApart(named_apart, tuple(named), self._puzzle), tuple(named)

    def _moves(self, board: Board, *, back: bool) -> list[tuple[str, Board]]:
        row = np.array([board], dtype=np.uint8)
        found = self._space.neighbours(row, toward=back)
        return [(str(name), tuple(each)) for name, _, after in found for each in after.tolist()]

    def _refuse(self, word: str, moves: list[tuple[str, Board]], problem: str) -> list[Board]:
        names = list(dict.fromkeys(name for name, _ in moves))
        if not names:
            raise BoardError(f"{problem}, and no other move does")
        listed = ", ".join(
            name if name.isprintable() and len(name) <= 40 else shown(name) for name in names[:LISTED]
        )
        mend = ""
        if self.spaced and any(word.startswith((f"{name} ", f"{_placeless(name)} ")) for name in names):
            mend = "; write a comma between two moves"
        elif len(names) > LISTED:
            guess = near_match(word, names)
            mend = f" and {len(names) - LISTED} more{'; ' if guess else ''}{guess}"
        raise BoardError(f"{problem}, expected one of {listed}{mend}")


class _NamedApart(NamedMoves):
    def __init__(self, puzzle: Puzzle, board: Board, plain: Puzzle) -> None:
        super().__init__(puzzle, board)
        self._plain = plain

    def renamed(self, board: Board) -> Board:
        return self._plain.definition.parse_board(self._puzzle.definition.format_board(board))


def _chosen(moves: list[tuple[str, Board]], word: str) -> list[Board]:
    """The boards of moves with this name; else of names that differ in signs; else in the place of the piece too."""
    return (
        [board for name, board in moves if name == word]
        or [board for name, board in moves if _plain(name) == _plain(word)]
        or [board for name, board in moves if _placeless(name) == _plain(word)]
    )


def _plain(name: str) -> str:
    """A name with one sign for each: ``0->1`` and ``0-1`` as ``0→1``, ``press 3 x2`` as ``press 3 ×2``."""
    return _TIMES.sub(" ×", _BETWEEN.sub("→", " ".join(name.split())))


def _placeless(name: str) -> str:
    """``7 at 5,1 right`` as ``7 right``."""
    return _PLACE.sub("", _plain(name))
