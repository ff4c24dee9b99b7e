"""What every family's definition offers: boards as small integers, read, checked, written and drawn.

A board is one integer from 0 to 255 for each *cell*; what a cell is, each family says (puzzles/puzzle.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, cast

from farthest.arrays import np
from farthest.errors import BoardError, PuzzleError
from farthest.wording import counted, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.puzzles.picture import Picture

Board = tuple[int, ...]

MoveName = str | tuple[int, int]
"""A move as `farthest path` writes it; of sliding puzzles (cell that becomes blank, cell that is filled)."""

WILDCARD = -1
"""In a goal: any content that the family allows there (sliding: any piece, never the blank)."""


@dataclass(frozen=True, slots=True)
class NamedPath:
    """Boards, uint8 (moves + 1, cells), and the moves between them, as they are shown; ``definition`` writes them."""

    definition: PuzzleDefinition
    boards: NDArray[np.uint8]
    moves: list[MoveName]

    @property
    def texts(self) -> list[str]:
        """The boards in canonical text."""
        return self.definition.texts(self.boards)


def matching(boards: NDArray[np.uint8], patterns: Iterable[Board]) -> NDArray[np.bool_]:
    """Which of the boards (uint8, shape (boards, cells)) fit one of the patterns, in which ``WILDCARD`` is anything."""
    found = np.zeros(len(boards), dtype=np.bool_)
    for pattern in patterns:
        cells = [cell for cell, content in enumerate(pattern) if content != WILDCARD]
        found |= (boards[:, cells] == np.array(pattern, dtype=np.int16)[cells]).all(axis=1)
    return found


class PuzzleDefinition(ABC):
    """What can be arranged how: the part of a puzzle that its family reads. Implemented by frozen dataclasses whose
    fields are the definition.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def cells(self) -> int:
        """The length of a board."""

    @property
    @abstractmethod
    def origin_boards(self) -> tuple[tuple[Board, ...], Board | None]:
        """The goals, perhaps with ``WILDCARD``, and the start or None."""

    @property
    def starts(self) -> tuple[Board, ...]:
        """The boards that the word ``start`` means: one, or none where there is no start."""
        start = self.origin_boards[1]
        return () if start is None else (start,)

    def has_origin(self, where: str) -> bool:
        """Whether there is a ``goal``, or a ``start``."""
        goals, start = self.origin_boards
        return bool(goals) if where == "goal" else start is not None

    @property
    def contents(self) -> int:
        """The integers in boards are below this."""
        return 256

    @property
    def is_group(self) -> bool:
        """Whether the states that one leads to are the elements of a group, and the moves some of them, so that the
        graph is the same from each state."""
        return False

    @property
    def module(self) -> str | None:
        """The Python module that the moves are written in, which users have to allow; None: there is none."""
        return None

    @property
    def has_moves(self) -> bool:
        """Whether boards are joined by moves, each of which costs one; not so of an additive pattern, which is
        enumerated as a whole by one process and only serves as a heuristic."""
        return True

    def net_picture(self, board: Sequence[int]) -> Picture | None:
        """The net of a twisty puzzle, as flat coloured shapes; None: the puzzle has none."""
        del board
        return None

    @property
    def ready(self) -> bool:
        """Whether boards can be read and drawn without importing anything, as a user's class has to be."""
        return True

    def metric_problem(self, metric: str) -> str | None:
        """Why the puzzle cannot be played in one of its family's metrics, or None when it can."""
        del metric
        return None

    @abstractmethod
    def arrangements(self) -> int:
        """No more states can there be."""

    def reachable(self, boards: Sequence[Board]) -> int | None:
        """How many boards moves join to these, where that is known without trying them; else None."""
        del boards
        return None

    @abstractmethod
    def size(self) -> str:
        """How large it is, in a few words, for lists: ``3×3``."""

    @abstractmethod
    def facts(self) -> list[tuple[str, str]]:
        """What else is told of the puzzle to people: (name, value)."""

    def fields(self) -> dict[str, Any]:
        """The definition, for JSON; the family's ``from_fields`` is its inverse."""
        return asdict(cast(Any, self))

    def deciding(self) -> dict[str, Any]:
        """Those of ``fields`` that decide the distances: not how the puzzle looks."""
        return self.fields()

    # Boards

    @abstractmethod
    def parse_board(self, text: str, *, name: str = "") -> Board:
        """The board written in any reasonable form; ``name`` is the puzzle's, for messages. Raises BoardError."""

    @abstractmethod
    def format_board(self, board: Sequence[int]) -> str:
        """The canonical text, one line, that ``parse_board`` reads; ``WILDCARD`` is allowed."""

    @abstractmethod
    def check_board(self, board: Sequence[int], *, name: str = "") -> Board:
        """The board as a tuple of ints. Raises BoardError unless it is a board of the puzzle."""

    @abstractmethod
    def draw_board(self, board: Sequence[int]) -> list[str]:
        """The lines of a drawing for people; ``WILDCARD`` is allowed."""

    def palette(self) -> Mapping[str, int]:
        """The colour numbers of the signs in a drawing, where pieces have colours (puzzles/picture.py)."""
        return {}

    def parse_boards(self, lines: Iterable[str], *, name: str = "") -> bytes:
        """Many boards, one per line, a byte per cell. Raises BoardError with the number of the wrong line, from 1."""
        boards = bytearray()
        for number, line in enumerate(lines, 1):
            try:
                boards += bytes(self.parse_board(line, name=name))
            except BoardError as error:
                raise BoardError(f"line {number}: {error}") from None
        return bytes(boards)

    def first_wrong(self, boards: NDArray[np.integer]) -> int | None:
        """The first of the rows (boards, cells) that ``check_board`` refuses, or None."""
        for number, board in enumerate(boards.tolist()):
            try:
                self.check_board(board)
            except BoardError:
                return number
        return None

    def line_template(self) -> tuple[bytes, tuple[int, ...], str] | None:
        """For writing many boards fast without numpy: (template, position of each cell in it, 256-character decoding
        table), or None. Board bytes written at the positions of a copy of the template give, by
        ``codecs.charmap_decode(copy, "strict", table)``, what ``format_board`` does, and the line's end."""
        return None

    def texts(self, boards: NDArray[np.uint8]) -> list[str]:
        """The canonical texts of boards: uint8, shape (boards, cells)."""
        return [self.format_board(board) for board in boards.tolist()]

    @property
    def names_swap(self) -> bool:
        """Whether a board alone does not tell the names of its pieces: interchangeable ones are written differently."""
        return False

    def unnamed(self, move: str) -> str:
        """What a move's name says besides the piece, where ``names_swap``."""
        return move

    def named_path(self, boards: NDArray[np.uint8], moves: Sequence[MoveName]) -> NamedPath:
        """A path as it is shown: each piece keeps its name. ``boards``: uint8, shape (moves + 1, cells)."""
        return NamedPath(self, boards, list(moves))

    def at_goal(self, boards: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which of the boards (uint8, shape (boards, cells)) are goals, ``WILDCARD`` standing for anything."""
        return matching(boards, self.origin_boards[0])

    def uncertainty(self, states: int) -> str | None:
        """What is to be told at the end of an enumeration that found so many states, if they may not be all."""
        del states
        return None

    def example(self) -> str:
        """A board in canonical text, for messages."""
        goals, start = self.origin_boards
        return self.format_board(start if start is not None else goals[0])


class GoalPuzzle(PuzzleDefinition):
    """A definition with the fields ``goals``, boards perhaps with ``WILDCARD``, and ``start``, a board or None.

    Raises PuzzleError when its fields do not fit together.
    """

    __slots__ = ()

    called: ClassVar[str]
    """What messages call such a puzzle: ``sliding``."""
    goals: tuple[Board, ...]
    start: Board | None

    def __post_init__(self) -> None:
        if problem := self.problem():
            raise PuzzleError(f"{self.called} puzzle: {problem}")

    @abstractmethod
    def problem(self) -> str | None:
        """Why the fields do not fit together; None: they do."""

    @property
    def origin_boards(self) -> tuple[tuple[Board, ...], Board | None]:
        return self.goals, self.start

    @property
    def named_boards(self) -> list[tuple[str, Board]]:
        """The goals and the start, each after what messages call it."""
        start = [] if self.start is None else [("start", self.start)]
        return [*((f"goal {i}", goal) for i, goal in enumerate(self.goals, 1)), *start]


class DigitPuzzle(GoalPuzzle):
    """A puzzle whose boards are digits, each below its radix: the pegs of discs, the colours of lamps. A digit is a
    cell, or as many cells as ``digit_bytes``, the highest first."""

    __slots__ = ()

    digit_bytes: ClassVar[int] = 1
    meaning: ClassVar[str]
    """What the digits are, for messages: ``the peg of each disc``."""
    wrong: ClassVar[str]
    """What messages say of a ``digit`` that is more than ``most``, in the ``cell`` from 0, or ``number`` from 1."""

    @property
    @abstractmethod
    def radices(self) -> tuple[int, ...]:
        """For each digit, the number of values that it can have."""

    @property
    def cells(self) -> int:
        return self.digit_bytes * len(self.radices)

    @property
    def contents(self) -> int:
        return max(self.radices) if self.digit_bytes == 1 else 256

    def arrangements(self) -> int:
        return prod(self.radices)

    def digits(self, board: Sequence[int]) -> Board:
        """The digits of a board, ``WILDCARD`` where any."""
        if self.digit_bytes == 1:
            return tuple(board)
        pairs = zip(board[::2], board[1::2], strict=True)
        return tuple(WILDCARD if high == WILDCARD else int(high) * 256 + int(low) for high, low in pairs)

    def board_of(self, digits: Iterable[int]) -> Board:
        """Inverse of ``digits``."""
        if self.digit_bytes == 1:
            return tuple(digits)
        pairs = ((WILDCARD, WILDCARD) if digit == WILDCARD else divmod(digit, 256) for digit in digits)
        return tuple(byte for pair in pairs for byte in pair)

    def parse_board(self, text: str, *, name: str = "") -> Board:
        """See ``parsed``."""
        return self.parsed(text, board_place(text, self, name), wildcards=False)

    @abstractmethod
    def parsed(self, text: str, place: str, *, wildcards: bool) -> Board:
        """The board of a text, in which ``wildcards`` may be. Raises BoardError, which begins with ``place``."""

    def read_digits(
        self, tokens: Sequence[str], what: tuple[str, str], place: str, mend: str, *, wildcards: bool
    ) -> Board:
        """The board whose digits, or ``*`` with ``wildcards``, are written so. ``what``: what messages call a digit,
        and that which has it. Raises BoardError."""
        if len(tokens) != len(self.radices):
            found = f"{counted(len(tokens), what[0])}, expected {len(self.radices)}, one per {what[1]}"
            raise BoardError(f"{place}: {found}; {mend}")
        digits = []
        for number, (token, radix) in enumerate(zip(tokens, self.radices, strict=True), 1):
            plain = token.isascii() and token.isdigit() and len(token) <= 5 and int(token) < radix
            if not plain and not (wildcards and token == "*"):
                wrong = self.wrong.format(number=number, digit=shown(token), most=radix - 1)
                raise BoardError(f"{place}: {wrong}; {mend}")
            digits.append(int(token) if plain else WILDCARD)
        return self.board_of(digits)

    def check_board(self, board: Sequence[int], *, name: str = "") -> Board:
        place = f"board{f' for {name}' if name else ''}"
        if not hasattr(board, "__len__") or len(board) != self.cells:
            raise BoardError(f"{place}: expected {counted(self.cells, 'number')}: {self.meaning}")
        if any(not hasattr(byte, "__index__") or not 0 <= byte <= 255 for byte in board):
            raise BoardError(f"{place}: expected numbers from 0 to 255: {self.meaning}")
        for cell, (digit, radix) in enumerate(zip(self.digits(board), self.radices, strict=True)):
            if digit >= radix:
                wrong = self.wrong.format(cell=cell, number=cell + 1, digit=digit, most=radix - 1)
                raise BoardError(f"{place}: {wrong}")
        return tuple(int(byte) for byte in board)

    def boards_problem(self) -> str | None:
        """Why goals and start are no boards; None: they are."""
        if len(set(self.goals)) != len(self.goals):
            return "a goal appears twice"
        for name, board in self.named_boards:
            least = 0 if name == "start" else WILDCARD
            in_bytes = len(board) == self.cells and all(WILDCARD <= byte <= 255 for byte in board)
            digits = self.digits(board) if in_bytes else ()
            ranges = zip(digits, self.radices, strict=False)
            if (
                not in_bytes
                or self.board_of(digits) != board
                or not all(least <= digit < radix for digit, radix in ranges)
            ):
                return f"{name} is not {counted(self.cells, 'number')} in their ranges: {self.meaning}"
        return None


def check_cells(board: Sequence[int], cells: int, contents: int, what: str, name: str) -> Board:
    """The board as a tuple of ints. Raises BoardError unless it has a number below ``contents`` for each cell.
    ``what``: what messages call these numbers; ``name``: the puzzle."""
    place = f"board{f' for {name}' if name else ''}"
    if not hasattr(board, "__len__"):
        raise BoardError(f"{place}: expected the {what}s of {cells} cells, got {type(board).__name__}")
    if len(board) != cells:
        raise BoardError(f"{place}: {counted(len(board), what)}, expected {cells}, one per cell")
    for cell, number in enumerate(board):
        if not hasattr(number, "__index__") or not 0 <= number < contents:
            raise BoardError(
                f"{place}: cell {cell} holds {number!r}, expected a {what} from 0 to {contents - 1}"
            )
    return tuple(int(number) for number in board)


def board_place(text: object, definition: PuzzleDefinition, name: str) -> str:
    """How messages call a board that was given as text. Raises BoardError unless it is one."""
    if not isinstance(text, str):
        raise BoardError(
            f"board: expected a text such as {definition.example()!r}, got {type(text).__name__}"
        )
    return f"board {shown(text)}{f' for {name}' if name else ''}"
