"""A family for tests: counters that go round. It has every kind of space that the queries and the proof must cope with.

A state is a number below ``size``; a move (name, a, b) makes a * x + b of x. Codes are the numbers themselves (dense),
or scattered over 64 bits or three bytes (sparse). One module does for the family's three.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy
import pytest
from numpy.typing import NDArray

from farthest.coordinator.enumeration.record import Found, JobRecorder
from farthest.coordinator.settings import Settings
from farthest.errors import BoardError
from farthest.models.chunks import Chunk, Unit
from farthest.models.database import Database
from farthest.models.jobs import Jobs
from farthest.puzzles import puzzle as definition
from farthest.puzzles import puzzle as families
from farthest.puzzles.definition import Board, PuzzleDefinition
from farthest.puzzles.family import Family
from farthest.puzzles.puzzle import KnownAnswer, Origin, Puzzle
from farthest.queries.distance_map import DistanceMap
from farthest.spaces import compile_space
from farthest.verify.models import LayoutError

Moves = tuple[tuple[str, int, int], ...]
MIX = 0x9E3779B97F4A7C15
NONE = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Toy(PuzzleDefinition):
    """``codes``: dense, numbers or strings. ``both_ways``: whether predecessors are told."""

    size_: int
    moves: Moves
    codes: str
    both_ways: bool
    goals: tuple[Board, ...] = ()

    @property
    def cells(self) -> int:
        return 2

    @property
    def origin_boards(self) -> tuple[tuple[Board, ...], Board | None]:
        return self.goals, (0, 0)

    def arrangements(self) -> int:
        return self.size_

    def size(self) -> str:
        return str(self.size_)

    def facts(self) -> list[tuple[str, str]]:
        return []

    def parse_board(self, text: str, *, name: str = "") -> Board:
        if not text.strip().isdecimal() or int(text) >= self.size_:
            raise BoardError(f"board {text!r} for {name}: expected a number below {self.size_}")
        return divmod(int(text), 256)

    def format_board(self, board: Sequence[int]) -> str:
        return str(board[0] * 256 + board[1])

    def check_board(self, board: Sequence[int], *, name: str = "") -> Board:
        return self.parse_board(self.format_board(board), name=name)

    def draw_board(self, board: Sequence[int]) -> list[str]:
        return [f"({self.format_board(board)})"]

    def next(self, state: int) -> list[tuple[str, int]]:
        """The moves of a state, and what they lead to."""
        return [(name, (a * state + b) % self.size_) for name, a, b in self.moves]


class ToyFamily(Family):
    def from_fields(self, fields: dict[str, Any]) -> Toy:
        moves = tuple((name, a, b) for name, a, b in fields["moves"])
        goals = tuple(tuple(goal) for goal in fields["goals"])
        return Toy(fields["size_"], moves, fields["codes"], fields["both_ways"], goals)


FAMILY = ToyFamily("toy", metrics=("move",), default_origin="from start", example="size = 10")


def numbers(boards: NDArray[numpy.uint8]) -> NDArray[numpy.uint64]:
    """The states of boards."""
    return boards[:, 0].astype(numpy.uint64) * 256 + boards[:, 1]


def boards_of(states: Sequence[int] | NDArray[Any]) -> NDArray[numpy.uint8]:
    """The boards of states."""
    wanted = numpy.asarray(states, dtype=numpy.int64)
    return numpy.stack([wanted // 256, wanted % 256], axis=1).astype(numpy.uint8)


class ToySpace:
    engine = "scatter"
    cells = 2
    undirected = graded = False

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any] | None) -> None:
        assert isinstance(puzzle.definition, Toy)
        self.definition = puzzle.definition
        self.puzzle = puzzle
        self.origin = origin
        starts = {"start": ((0, 0),), "goal": self.definition.goals}
        self.origins = list(starts.get(origin.where) or [self.definition.parse_board(origin.where)])
        self.layout = dict(layout or {"version": 1, "codes": self.definition.codes})
        self.keys = self.definition.size_ if self.definition.codes == "dense" else None
        self.code_bytes = 3 if self.definition.codes == "strings" else 8
        self.moves_both_ways = self.definition.both_ways

    def layout_fields(self) -> dict[str, Any]:
        return self.layout

    def encode(self, boards: NDArray[numpy.uint8]) -> NDArray[Any]:
        states = numbers(boards)
        if self.definition.codes == "strings":
            rows = numpy.stack([boards[:, 1] ^ 0xA5, boards[:, 0], boards[:, 0] * 0], axis=1)
            return numpy.ascontiguousarray(rows).view("S3")[:, 0]
        codes = states if self.definition.codes == "dense" else states * numpy.uint64(MIX)
        return numpy.where(states < self.definition.size_, codes, numpy.uint64(NONE))

    def decode(self, codes: NDArray[Any]) -> NDArray[numpy.uint8]:
        if self.definition.codes == "strings":
            rows = numpy.ascontiguousarray(codes).view(numpy.uint8).reshape(-1, 3)
            return numpy.stack([rows[:, 1], rows[:, 0] ^ 0xA5], axis=1)
        if self.definition.codes == "numbers":
            codes = codes * numpy.uint64(pow(MIX, -1, 2**64))
        return boards_of((codes % numpy.uint64(65536)).astype(numpy.int64))

    def neighbours(
        self, boards: NDArray[numpy.uint8], *, toward: bool
    ) -> Iterator[tuple[str, NDArray[numpy.intp], NDArray[numpy.uint8]]]:
        played = toward == (self.origin.direction == "to")
        assert played or self.definition.both_ways, "it is not known what leads to a state"
        states = numbers(boards).astype(numpy.int64)
        for name, a, b in self.definition.moves:
            if played:
                yield name, numpy.arange(len(states)), boards_of((a * states + b) % self.definition.size_)
                continue
            targets = (a * numpy.arange(self.definition.size_) + b) % self.definition.size_
            rows, before = numpy.nonzero(states[:, None] == targets)
            yield name, rows, boards_of(before)

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        del board
        return None

    def origin_codes(self) -> bytes:
        return self.encode(numpy.array(self.origins, dtype=numpy.uint8)).tobytes()

    def successors(self, codes: Any, threads: int) -> bytes:
        del threads
        known = numpy.frombuffer(codes, dtype=f"S{self.code_bytes}" if self.code_bytes != 8 else "<u8")
        away = self.neighbours(self.decode(known), toward=False)
        return b"".join(self.encode(after).tobytes() for _, _, after in away)


def compile(  # noqa: A001
    puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any] | None
) -> ToySpace:
    return ToySpace(puzzle, origin, layout)


class ToyModel:
    """The space does for the model too: what is tested is what uses them."""

    def __init__(self, space: ToySpace) -> None:
        self._space = space
        self.keys, self.code_bytes = space.keys, space.code_bytes
        self.codes, self.boards = space.encode, space.decode

    def origins(self) -> NDArray[numpy.uint8]:
        return numpy.array(self._space.origins, dtype=numpy.uint8)

    def successors(self, boards: NDArray[numpy.uint8]) -> tuple[NDArray[numpy.intp], NDArray[numpy.uint8]]:
        found = [(rows, after) for _, rows, after in self._space.neighbours(boards, toward=False)]
        return numpy.concatenate([rows for rows, _ in found]), numpy.concatenate([to for _, to in found])


def model(puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> ToyModel:
    if layout.get("version") != 1:
        raise LayoutError("the key layout is of another version")
    return ToyModel(ToySpace(puzzle, origin, layout))


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes this a family of the program."""
    for name in ("farthest.families.toy", "farthest.families.toy.space", "farthest.verify.models.toy"):
        monkeypatch.setitem(sys.modules, name, sys.modules[__name__])
    for module in (families, definition):
        monkeypatch.setattr(module, "FAMILIES", (*families.FAMILIES, "toy"))


MOVES: Moves = (("double", 2, 0), ("inc", 1, 1), ("plus", 1, 1), ("leap", 1, 7))
"""One-way, and two of them always lead to the same state."""


def toy(
    codes: str = "dense",
    both_ways: bool = True,
    *,
    size: int = 300,
    moves: Moves = MOVES,
    goals: tuple[Board, ...] = ((0, 9),),
    known: tuple[KnownAnswer, ...] = (),
    origin: Origin = Origin("from", "start"),  # noqa: B008
) -> Puzzle:
    """A puzzle of the family."""
    definition = Toy(size, moves, codes, both_ways, goals)
    return Puzzle("toy", "A toy", "", "toy", "move", origin, known, definition)


# --- naively -------------------------------------------------------------------------------------------------


def distances(puzzle: Puzzle, origin: Origin | None = None, max_depth: int | None = None) -> dict[int, int]:
    """The distance of each state that has one."""
    definition = puzzle.definition
    assert isinstance(definition, Toy)
    where = origin or puzzle.origin
    space = ToySpace(puzzle, where, None)
    after: dict[int, set[int]] = {state: set() for state in range(definition.size_)}
    for state in range(definition.size_):
        for _, to in definition.next(state):
            after[state if where.direction == "from" else to].add(to if where.direction == "from" else state)
    found = dict.fromkeys(numbers(numpy.array(space.origins, dtype=numpy.uint8)).tolist(), 0)
    queue = list(found)
    for state in queue:
        if max_depth is not None and found[state] == max_depth:
            continue
        for to in sorted(after[state]):
            if to not in found:
                found[to] = found[state] + 1
                queue.append(to)
    return found


def solutions(puzzle: Puzzle, found: dict[int, int], state: int, direction: str) -> list[tuple[str, ...]]:
    """All optimal solutions of a state, as names of moves in the order in which they are made."""
    definition = puzzle.definition
    assert isinstance(definition, Toy)
    if found[state] == 0:
        return [()]
    ways = []
    for source in range(definition.size_):
        for name, target in definition.next(source):
            here, other = (source, target) if direction == "to" else (target, source)
            if here == state and found.get(other) == found[state] - 1:
                for rest in solutions(puzzle, found, other, direction):
                    ways.append((name, *rest) if direction == "to" else (*rest, name))
    return ways


# --- stored --------------------------------------------------------------------------------------------------


class ToyStore:
    """A ``JobStore`` that has its result already; pieces of ``size`` states or keys."""

    def __init__(self, space: ToySpace, found: dict[int, int], size: int, unit: Unit) -> None:
        self._space, self._size, self._unit = space, size, unit
        states = sorted(found)
        codes = space.encode(boards_of(states))
        order = numpy.argsort(codes)
        self.codes = codes[order]
        self.distances = numpy.array([found[state] for state in states])[order].astype(unit)

    def chunks(self, depth: int, size: int, threads: int = 1) -> Iterator[Chunk]:
        del depth, size, threads
        if self._space.keys is None:
            for first in range(0, len(self.codes), self._size):
                codes, part = (all_[first : first + self._size] for all_ in (self.codes, self.distances))
                last = first + len(part) - 1
                width = codes.dtype.itemsize
                yield Chunk(first, last, self._unit, part.tobytes(), width, codes.tobytes())
            return
        whole = numpy.full(self._space.keys, numpy.iinfo(self._unit).max, dtype=self._unit)
        whole[self.codes] = self.distances
        for first in range(0, len(whole), self._size):
            part = whole[first : first + self._size]
            yield Chunk(first, first + len(part) - 1, self._unit, memoryview(part.tobytes()))

    def keys(self, depth: int, limit: int) -> list[Any]:
        codes: list[Any] = self.codes[self.distances == depth][:limit].tolist()
        return codes

    def stored(self, depth: int, base: Any) -> None:
        del depth, base

    def restore(self, depth: int, chunks: Any, states: int, threads: int = 1) -> None:
        """Keeps what it is given, and the chunks of the checkpoint as the base has them."""
        del depth, states, threads
        self.restored: list[Chunk] = list(chunks)

    def counts(self, depth: int) -> dict[int, int]:
        return {0: int((self.distances == depth).sum())}


def store_map(
    database: Database,
    puzzle: Puzzle,
    origin: Origin | None = None,
    *,
    max_depth: int | None = None,
    piece: int = 7,
    state_rows: int = 1_000_000,
    unit: Unit = "uint8",
) -> DistanceMap:
    """The map of a toy, stored as an enumeration would."""
    found = distances(puzzle, origin, max_depth)
    settings = Settings(origin=origin, max_depth=max_depth)
    space: Any = compile_space(puzzle, origin)
    recorder = JobRecorder.begin(database, settings, space, lambda text: None)
    layers = numpy.bincount(list(found.values())).tolist()
    store: Any = ToyStore(space, found, piece, unit)
    seconds = [0.0] * len(layers)
    with patch("farthest.coordinator.enumeration.record.STATE_ROWS", state_rows):
        recorder.finish(
            Found(space, store, layers, seconds, [None] * len(layers), 1, complete=max_depth is None)
        )
    return DistanceMap(database, Jobs(database).get(recorder.job))
