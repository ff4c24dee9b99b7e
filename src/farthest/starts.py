"""What a survey is of, and how a part of it is done.

A *survey* finds the components of many small spaces: how many states each has, and its hardest board, the one that
takes most moves to the nearest goal. Or it enumerates cosets (``farthest.cosets``). It is done part by part; a part is
some seconds of one thread, or one coset, and depends on nothing but its number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Protocol, cast, get_args

import msgspec

from farthest import _kernel
from farthest.cosets import Chosen, CosetRow, CosetSet, Kept, Stage
from farthest.errors import (
    BoardError,
    BusyError,
    ForbiddenCodeError,
    PuzzleError,
    ResourceError,
    SettingError,
)
from farthest.families.blocks.reader import read_rush_hour
from farthest.families.user_input import board_given, puzzle_given
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces import compile_space
from farthest.typed import convert
from farthest.wording import counted, sample, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from farthest.families.blocks.space import BlockSpace
    from farthest.families.user_input import GivenBoard, GivenPuzzle
    from farthest.spaces.contract import Codes, Space
    from farthest.subgroups import Needs

Keep = Literal["minimal", "solvable", "all"]
KEEPS: tuple[Keep, ...] = get_args(Keep)

STARTS_IN_A_PART = 10_000
MOST_PIECES = 18
"""Of the largest boards: no board has more."""
SETS_COUNTED = 16
"""Of walls, whose starts are counted to divide a survey: all would take minutes."""


class Component(NamedTuple):
    """A component: ``board`` is its hardest; ``layers``: states at each distance from the nearest goal; none, and no
    ``moves``, where no goal can be reached. ``minimal``: whether each other piece is needed to make it as hard."""

    pieces: int
    states: int
    moves: int | None
    minimal: bool | None
    board: str
    layers: list[int]


Count = Annotated[int, msgspec.Meta(ge=0)]


class Counts(msgspec.Struct, frozen=True):
    """Of some components, such as those whose boards have one number of pieces; ``moves``: of the hardest board;
    ``minimal``, ``minimal_states``: None where that is not asked. Counts of different components can be added."""

    starts: Count
    components: Count
    solvable: Count
    minimal: Count | None
    states: Count
    solvable_states: Count
    minimal_states: Count | None
    moves: Count

    def __add__(self, other: Counts) -> Counts:
        pairs = ((name, getattr(self, name), getattr(other, name)) for name in self.__struct_fields__)
        sums: dict[str, Any] = {name: None if None in (one, two) else one + two for name, one, two in pairs}
        return Counts(**{**sums, "moves": max(self.moves, other.moves)})


NOTHING = Counts(*[0] * len(Counts.__struct_fields__))
"""No components."""


class Part(msgspec.Struct, frozen=True, tag="components"):
    """What a part has found. ``totals``: counts for each number of pieces, of components that are not kept too."""

    totals: dict[int, Counts]
    components: list[Component]


Found = Part | CosetRow
"""What a part has found."""


class Starts(Protocol):
    """What a survey is of: a set of starts, or of cosets."""

    @property
    def name(self) -> str:
        """As users write it."""

    @property
    def parts(self) -> int:
        """Into how many parts it is divided unless something else is asked for."""

    def __str__(self) -> str:
        """What it is, for people."""

    def fields(self) -> dict[str, Any]:
        """What it is, as JSON; ``starts_of`` is the inverse."""

    def survey(self, part: int, parts: int) -> Found:
        """Does a part; takes as much of the processor as one thread."""


def needs_of(starts: Starts) -> Needs | None:
    """What a part takes, where that is more than some memory and a thread. Raises SettingError, ResourceError."""
    return starts.of.needs if isinstance(starts, CosetSet) else None


TABLES = "the tables of all cosets"
"""What is told while a process makes them."""


def surveyed(
    starts: Starts,
    part: int,
    parts: int,
    threads: int,
    heed: Callable[[str], None],
    kept: Kept | None = None,
) -> tuple[Found, float]:
    """Does a part, by so many threads where it takes more than one; what it has found, and the seconds that it took,
    without those of tables that serve all parts. ``heed`` hears ``TABLES``, and now and then how far a long part is; an
    exception that it raises ends the part, of which BusyError says that it is to be gone on with, from what is
    ``kept``."""
    if not isinstance(starts, CosetSet):
        began = perf_counter()
        return starts.survey(part, parts), perf_counter() - began
    if not starts.made:
        heed(TABLES)
    starts.ready()
    began = perf_counter()
    with closing(starts.stages(part, threads, kept)) as stages:
        try:
            for stage in stages:
                heed(_told(stage))
        except BusyError:
            if kept is not None:
                kept.stopping = True
            raise
    return stage.row, perf_counter() - began + (0.0 if kept is None else kept.seconds)


def _told(stage: Stage) -> str:
    distance = len(stage.row.layers) + len(stage.row.bounds)
    return f"distance {distance}" + (f", {stage.share:.0%} listed" if stage.share else "")


@dataclass(frozen=True)
class _RushHour:
    """A set of boards of Rush Hour; the piece that leaves is in the row ``row``, from 1."""

    size: int
    row: int

    @property
    def name(self) -> str:
        """As users write it."""
        return f"rush-hour-{self.size}x{self.size}"

    def puzzle_of(self, board: str) -> Puzzle:
        """The puzzle that a component's board is a board of."""
        return puzzle_given(f"rush-{board}")


@dataclass(frozen=True)
class RushHour(_RushHour):
    """All boards of a square grid of ``size`` cells a side with at most so many ``pieces`` of 2 and 3 cells, which stay
    in their lines, none of them full, and at most so many ``walls``, cells where no piece may be. The only horizontal
    piece of the row ``row``, from 1, is to reach its right end, and no wall is on its way. ``keep``: which components
    have a row.

    The boards, the hardest one of a component and minimal boards are those of M. Fogleman, Solving Rush Hour, the
    Puzzle, 2018."""

    pieces: int
    keep: Keep
    walls: int = 0

    def __post_init__(self) -> None:
        problem = next(
            (
                f"{what} {value}: expected {least} to {most}"
                for what, value, least, most in (
                    ("size", self.size, 3, 6),
                    ("row", self.row, 1, self.size),
                    ("pieces", self.pieces, 1, MOST_PIECES),
                    ("walls", self.walls, 0, 3),
                )
                if not least <= value <= most
            ),
            None if self.keep in KEEPS else f"keep {self.keep}: expected minimal, solvable or all",
        )
        if problem:
            raise SettingError(f"{self.name}: {problem}")

    def __str__(self) -> str:
        pieces = f"at most {counted(self.pieces, 'piece')}"
        if self.pieces == MOST_PIECES:
            pieces = "any number of pieces"
        walls = f", at most {counted(self.walls, 'wall')}" if self.walls else ""
        return f"{pieces}{walls}, row {self.row}; kept: {self.keep}"

    @cached_property
    def _kernel(self) -> _kernel.LineSurvey:
        return _kernel.LineSurvey(self.size, self.row - 1, self.pieces, self.walls)

    @property
    def parts(self) -> int:
        """About ``STARTS_IN_A_PART`` starts each."""
        return self._kernel.starts(SETS_COUNTED) // STARTS_IN_A_PART + 1

    def fields(self) -> dict[str, Any]:
        """See ``Starts``. Surveys of older versions, which knew no walls, are gone on with."""
        fields = {"kind": "rush-hour", **asdict(self)}
        return fields if self.walls else {name: value for name, value in fields.items() if name != "walls"}

    def survey(self, part: int, parts: int) -> Part:
        """See ``Starts``."""
        return _part(self._kernel.survey(part, parts, self.keep))


def _part(found: tuple[dict[int, dict[str, int]], list[tuple[int, int, str, list[int], bool]]]) -> Part:
    """What the kernel has found of a part."""
    totals, rows = found
    return Part(
        {pieces: Counts(**counts) for pieces, counts in totals.items()},
        [
            Component(pieces, states, len(layers) - 1 if layers else None, minimal, board, layers)
            for pieces, states, board, layers, minimal in rows
        ],
    )


BOARDS_IN_A_PART = 200
MOST_BOARDS = 200_000
"""Of one survey: they are stored with it, and each worker reads them all."""


@dataclass(frozen=True)
class RushHourBoards(_RushHour):
    """The components of some boards of Rush Hour, each with its own pieces and walls, in 9, 16, 25 or 36 characters
    (``families.blocks.reader``); the letters are those of reading order, but A is the piece that leaves."""

    boards: tuple[str, ...]
    keep: Keep

    def __post_init__(self) -> None:
        RushHour(self.size, self.row, 1, self.keep)  # checks these
        try:
            for board in self.boards:
                self._kernel.check(board)
        except ValueError as error:
            raise SettingError(f"{self.name}: a board: {error}") from None

    @cached_property
    def _kernel(self) -> _kernel.LineSurvey:
        return _kernel.LineSurvey(self.size, self.row - 1, 1)

    def __str__(self) -> str:
        return f"{sample(self.boards, 'board', 1)}, row {self.row}; kept: {self.keep}"

    @property
    def parts(self) -> int:
        """Some seconds each at the most."""
        return len(self.boards) // BOARDS_IN_A_PART + 1

    def fields(self) -> dict[str, Any]:
        """See ``Starts``."""
        return {"kind": "rush-hour-boards", **asdict(self), "boards": list(self.boards)}

    def survey(self, part: int, parts: int) -> Part:
        """See ``Starts``."""
        return _part(self._kernel.survey_boards(list(self.boards), part, parts, self.keep))


MOST_STATES = 2_000_000
"""Of a component of a sliding block puzzle, and placements of a part."""
STATES_AT_ONCE = 50_000
"""A part's components are taken together up to so many states."""
PLACEMENTS_IN_A_PART = 50_000
SAMPLED_PARTS = 64
"""Placements are counted in one of so many parts, which are about equal."""


@dataclass(frozen=True)
class BlockBoards:
    """The components of a sliding block puzzle: those of ``boards``, in canonical text, or with None all placements of
    its pieces. A component is in the part that has its least start."""

    puzzle: Puzzle
    boards: tuple[str, ...] | None
    keep: Keep

    def __post_init__(self) -> None:
        if self.puzzle.family != "blocks":
            raise SettingError(
                f"puzzle {self.puzzle.name}: it is of the family {self.puzzle.family}; only sliding blocks are surveyed"
            )
        if self.keep not in ("solvable", "all"):
            raise SettingError(
                f"keep {self.keep}: expected solvable or all; minimal is asked of rush-hour-NxN alone"
            )

    @property
    def name(self) -> str:
        """As users write it."""
        return self.puzzle.name

    @cached_property
    def _space(self) -> BlockSpace:
        definition = self.puzzle.definition
        start = Origin("from", "start") if definition.has_origin("start") else self.puzzle.origin
        return cast("BlockSpace", compile_space(self.puzzle, start))

    @cached_property
    def _codes(self) -> Codes | None:
        """The codes of ``boards``, ascending."""
        import numpy

        if self.boards is None:
            return None
        labels = [self.puzzle.definition.parse_board(board) for board in self.boards]
        return numpy.unique(self._space.encode(numpy.array(labels, dtype=numpy.uint8)))

    @property
    def parts(self) -> int:
        """Some seconds each, but a large component is not divided."""
        if self.boards is not None:
            return len(self.boards) // BOARDS_IN_A_PART + 1
        sampled = len(self._space.placements(MOST_STATES, 0, SAMPLED_PARTS))
        return sampled * SAMPLED_PARTS // PLACEMENTS_IN_A_PART + 1

    def __str__(self) -> str:
        goals, start = self.puzzle.definition.origin_boards
        pieces = self.puzzle.definition.format_board(start or goals[0])
        what = f"all placements of {pieces}" if self.boards is None else sample(self.boards, "board", 1)
        return f"{what}, metric {self.puzzle.metric}; kept: {self.keep}"

    def fields(self) -> dict[str, Any]:
        """See ``Starts``."""
        boards = None if self.boards is None else list(self.boards)
        return {"kind": "blocks", "puzzle": self.puzzle.to_json(), "boards": boards, "keep": self.keep}

    def puzzle_of(self, board: str) -> Puzzle:
        """The puzzle that a component's board is a board of."""
        return self.puzzle

    def survey(self, part: int, parts: int) -> Part:
        """See ``Starts``. Raises ResourceError for a component of more than ``MOST_STATES`` states."""
        space, known = self._space, self._codes
        starts = space.placements(MOST_STATES, part, parts) if known is None else known[part::parts]
        if len(starts) > MOST_STATES:
            raise ResourceError(
                f"puzzle {self.name}: more than {MOST_STATES:,} placements in one of {counted(parts, 'part')}; "
                "divide a new survey into more parts"
            )
        pieces = sum(len(kind.tokens) for kind in space.definition.kinds)
        counts = msgspec.structs.replace(NOTHING, starts=len(starts), minimal=None, minimal_states=None)
        kept: list[Component] = []
        try:
            for codes, of_states in space.components(starts, known, MOST_STATES, STATES_AT_ONCE):
                found = self._components(codes, of_states, pieces)
                solvable = [each for each in found if each.layers]
                counts += Counts(
                    starts=0,
                    components=len(found),
                    solvable=len(solvable),
                    minimal=None,
                    states=len(codes),
                    solvable_states=sum(each.states for each in solvable),
                    minimal_states=None,
                    moves=max((each.moves or 0 for each in solvable), default=0),
                )
                kept += found if self.keep == "all" else solvable
        except _kernel.LimitError:
            raise ResourceError(
                f"puzzle {self.name}: more than {MOST_STATES:,} states in a component; survey other boards, or "
                "enumerate one with `farthest enumerate`"
            ) from None
        return Part({pieces: counts} if counts.starts else {}, kept)

    def _components(self, codes: Codes, of_states: NDArray[Any], pieces: int) -> list[Component]:
        """Some components; ``codes``: all their states, ``of_states``: the component of each."""
        import numpy

        from farthest.spaces.graph import MoveGraph, edges_of

        space, definition = self._space, self.puzzle.definition
        graph = MoveGraph(codes, edges_of(cast("Space", space), codes)).kernel
        boards = space.decode(codes)
        goals = numpy.flatnonzero(definition.at_goal(boards)).astype(numpy.uint32)
        distances = numpy.frombuffer(graph.distances(goals), dtype=numpy.int32)
        order = numpy.argsort(of_states, kind="stable")
        ends = numpy.cumsum(numpy.bincount(of_states))
        members = numpy.split(order, ends[:-1])
        hardest = [int(states[distances[states].argmax()]) for states in members]
        components = []
        for states, at, text in zip(members, hardest, definition.texts(boards[hardest]), strict=True):
            moves = int(distances[at])
            layers = [] if moves < 0 else numpy.bincount(distances[states]).tolist()
            components.append(
                Component(pieces, len(states), None if moves < 0 else moves, None, text, layers)
            )
        return components


_NAME = re.compile(r"rush-hour-(\d)x(\d)")


def starts_named(
    starts: GivenPuzzle,
    pieces: int | None = None,
    row: int | None = None,
    keep: Keep | None = None,
    boards: Sequence[GivenBoard] | None = None,
    walls: int | None = None,
) -> Starts:
    """The set that is called ``rush-hour-NxN``, or a sliding block puzzle; with ``boards`` these alone: empty texts are
    none, and one text has a board on each line. ``keep``: None: minimal components, of boards or of a puzzle all.
    Raises SettingError, PuzzleError, BoardError."""
    found = _NAME.fullmatch(starts) if isinstance(starts, str) else None
    if found:
        if found[1] != found[2]:
            raise SettingError(f"{starts}: expected a square, rush-hour-NxN, with N from 3 to 6")
        size = int(found[1])
        middle = (size + 1) // 2 if row is None else row
        most = MOST_PIECES if pieces is None else pieces
        whole = RushHour(size, middle, most, keep or "minimal", walls or 0)
        if boards is None:
            return whole
        if pieces is not None or walls is not None:
            raise SettingError(f"{starts}: boards are given, and a number of pieces or walls; leave one out")
        check = _kernel.LineSurvey(size, middle - 1, 1).check
        read = _each_board(boards, lambda board: _rush_hour_board(board, size, check))
        return RushHourBoards(size, middle, read, keep or "all")
    try:
        puzzle = puzzle_given(starts)
    except ForbiddenCodeError:
        raise SettingError(
            f"{shown(starts)}: it is a class in Python; only sliding blocks are surveyed"
        ) from None
    except PuzzleError:
        if not isinstance(starts, str) or not re.fullmatch(r"rush-hour[-\dx]*", starts):
            raise
        raise SettingError(
            f"{shown(starts)}: expected rush-hour-NxN, with N from 3 to 6, such as rush-hour-6x6, or a puzzle"
        ) from None
    if pieces is not None or row is not None or walls is not None:
        raise SettingError(
            f"{puzzle.name} is one puzzle; a number of pieces or walls and a row are for rush-hour-NxN"
        )
    if boards is None:
        return BlockBoards(puzzle, None, keep or "all")
    texts = _each_board(boards, lambda board: puzzle.definition.format_board(board_given(puzzle, board)))
    return BlockBoards(puzzle, texts, keep or "all")


def _each_board(boards: Sequence[GivenBoard], read: Callable[[GivenBoard], str]) -> tuple[str, ...]:
    """The boards as they are kept. Raises BoardError."""
    if not isinstance(boards, Iterable):
        raise TypeError(f"boards: expected a text or a list of boards, got {shown(boards)}")
    found = set()
    lines, place = (boards.splitlines(), "line") if isinstance(boards, str) else (boards, "board")
    for number, board in enumerate(lines, 1):
        given = board.strip() if isinstance(board, str) else board
        if not isinstance(given, str) or given:
            try:
                found.add(read(given))
            except (BoardError, PuzzleError, ValueError) as error:
                raise BoardError(f"{place} {number}: {error}") from None
    if not 0 < len(found) <= MOST_BOARDS:
        count = f"{len(found):,}" if found else "no"
        raise BoardError(f"{count} boards: expected 1 to {MOST_BOARDS:,}, one on each line")
    return tuple(sorted(found))


def _rush_hour_board(given: GivenBoard, size: int, check: Callable[[str], None]) -> str:
    """The board as it is kept. A line may have numbers beside it, as those of Fogleman's database have. Raises
    BoardError, PuzzleError, ValueError."""
    words = [word for word in str(given).split() if not word.isdecimal()]
    if [len(word) for word in words] != [size**2]:
        raise BoardError(
            f"got {shown(str(given))}, {' and '.join(str(len(word)) for word in words) or 'no'} characters; expected a "
            f"board of {size}x{size} cells, {size**2} characters without marks between: A the car that leaves, o an "
            "empty cell, x a wall"
        )
    read_rush_hour(words[0], PuzzleError)
    letters = {"A": "A", "o": "o", ".": "o", "x": "x", "#": "x"}
    for sign in words[0]:
        letters.setdefault(sign, chr(ord("A") + len(letters) - 4))
    board = "".join(letters[sign] for sign in words[0])
    check(board)
    return board


def starts_of(fields: dict[str, Any]) -> Starts:
    """Inverse of ``Starts.fields``. Raises ValueError where they are none."""
    given = {name: value for name, value in fields.items() if name != "kind"}
    try:
        if fields.get("kind") == "cosets":
            return CosetSet(
                Puzzle.from_json(convert(given["puzzle"], str)),
                convert(given["subgroup"], str),
                convert(given["depth"], int),
                convert(given["cosets"], Chosen),
            )
        if fields.get("kind") == "blocks":
            return BlockBoards(
                Puzzle.from_json(convert(given["puzzle"], str)),
                convert(given["boards"], tuple[str, ...] | None),
                convert(given["keep"], Keep),
            )
        if fields.get("kind") == "rush-hour-boards":
            return convert(given, RushHourBoards)
        return convert(given, RushHour)
    except (msgspec.ValidationError, SettingError, PuzzleError, LookupError) as error:
        raise ValueError(str(error)) from None
