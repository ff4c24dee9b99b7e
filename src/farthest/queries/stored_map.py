"""The part of a stored distance map that all questions need: its record, the distances of codes and boards, its
chunks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Self

import numpy

from farthest.errors import BoardError, JobError, ResourceError, UnreachableError, named_in
from farthest.families.user_input import board_given, is_plain
from farthest.models.chunks import UNREACHED, Chunk
from farthest.models.job_reader import JobReader
from farthest.models.records import BOARDS_KEPT, FirstGoals, JobRecord
from farthest.models.stored_job import origin_of, puzzle_of, space_of, stored_answers
from farthest.puzzles.definition import WILDCARD
from farthest.queries.lookup import FullReader
from farthest.spaces.contract import reduced
from farthest.wording import bytes_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from farthest.families.user_input import GivenBoard
    from farthest.map_files.file import MapPages
    from farthest.models.database import Database
    from farthest.puzzles.puzzle import Origin, Puzzle
    from farthest.queries.residues import ResidueReader
    from farthest.spaces.contract import Boards, Codes, ReducedSpace, Space


# Many boards at a time: from text to labels.


def label_rows(puzzle: Puzzle, boards: Iterable[GivenBoard] | NDArray[numpy.integer]) -> NDArray[numpy.uint8]:
    """Boards as uint8, shape (boards, cells); given one by one or as an integer array of the same shape.

    Raises BoardError for the first that is malformed, with its number from 1; TypeError for a single text.
    """
    definition = puzzle.definition
    if isinstance(boards, str):
        raise TypeError("boards: expected a list of boards or an array, got a text; write [board]")
    if not isinstance(boards, numpy.ndarray):
        labels, rest, read = bytearray(), iter(boards), 0
        while batch := list(islice(rest, READ_AT_ONCE)):
            labels += _labels_of(puzzle, batch, read)
            read += len(batch)
        return numpy.frombuffer(bytes(labels), dtype=numpy.uint8).reshape(-1, definition.cells)
    if boards.ndim != 2 or boards.shape[1] != definition.cells or boards.dtype.kind not in "iu":
        raise BoardError(
            f"boards: expected an array of integers of shape (boards, {definition.cells}), "
            f"got {boards.dtype} of shape {boards.shape}"
        )
    wrong = definition.first_wrong(boards)
    if wrong is not None:
        definition.check_board(boards[wrong].tolist(), name=f"{puzzle.name}, board number {wrong + 1}")
    return numpy.ascontiguousarray(boards, dtype=numpy.uint8)


READ_AT_ONCE = 4096
"""Boards."""


def _labels_of(puzzle: Puzzle, boards: Sequence[GivenBoard], before: int) -> bytes:
    """The boards as bytes, of which there are so many ``before``."""
    plain = [board for board in boards if is_plain(board)]
    if len(plain) == len(boards):
        try:
            return puzzle.definition.parse_boards(plain, name=puzzle.name)
        except BoardError:  # one is moves without the word, or it is told below what is wrong with it
            pass
    labels = bytearray()
    for number, board in enumerate(boards, before + 1):
        try:
            labels += bytes(board_given(puzzle, board))
        except BoardError as error:
            raise BoardError(f"line {number}: {error}") from None
    return bytes(labels)


CACHE_BYTES = 256 * 2**20
"""Bounds the decoded chunks that are kept in memory."""

# Bounds the memory of one block to some tens of megabytes, the text of its boards included.
BLOCK_STATES = 131_072


@dataclass(frozen=True)
class StateBlock:
    """Some states in the order of their codes.

    ``keys``: uint64, shape (states,): keys, or in a sparse map the states' numbers. ``codes``: shape (states,), as the
    ``space`` has them; in a dense map the keys. ``distances``: uint8 or uint16, as in the map, shape (states,).
    ``boards``: shape (states, cells), where the code does not tell a state's board.
    """

    keys: NDArray[numpy.uint64]
    codes: Codes
    distances: NDArray[numpy.uint8] | NDArray[numpy.uint16]
    space: Space
    boards: Boards | None = None

    @cached_property
    def labels(self) -> Boards:
        """The boards, decoded when they are first asked for: uint8, shape (states, cells)."""
        return self.space.decode(self.codes) if self.boards is None else self.boards


class StoredMap:
    """The distances of all states of one finished job, read from the database chunk by chunk, or from a file page by
    page, when they are needed.

    A board is given as text in any form that its family reads, as ``goal`` (the first that the puzzle draws) or
    ``start``, as ``moves: ...``, or as labels by cell: a tuple, a list or an array. Distances are numbers of moves to
    the origin, or from it where the job's origin says so. ``close``, or leaving a ``with`` block, closes the database.
    """

    def __init__(self, database: Database, record: JobRecord) -> None:
        """``record``: a finished job with a map."""
        self.database = database
        self.record = record
        self.told: Callable[[str], None] = lambda text: None
        """Hears of work that takes long."""

    # --- what the map is ---------------------------------------------------------------------------------

    @property
    def job(self) -> int:
        """The job's number in its database."""
        return self.record.id

    @cached_property
    def puzzle(self) -> Puzzle:
        """The definition, as it was when it was enumerated."""
        return puzzle_of(self.record)

    @cached_property
    def space(self) -> Space:
        """The compiled puzzle: boards to keys and back, moves. Raises ForbiddenCodeError where a class may not run."""
        with self._named:
            return space_of(self.record, self.puzzle)

    @cached_property
    def origin(self) -> Origin:
        """The states at distance 0, and whether distances are to them or from them."""
        return origin_of(self.record)

    @property
    def states(self) -> int:
        """How many states have a distance."""
        return self.record.states or 0

    @property
    def eccentricity(self) -> int | None:
        """The largest distance; None where a depth limit ended the enumeration."""
        return self.record.eccentricity

    @property
    def depth(self) -> int:
        """The depth of the last layer of the map."""
        return len(self.layers) - 1

    @cached_property
    def layers(self) -> tuple[int, ...]:
        """The number of states at each distance, from 0."""
        return tuple(layer.states for layer in JobReader(self.database).layers(self.record.id))

    @cached_property
    def unit(self) -> numpy.dtype[numpy.uint8] | numpy.dtype[numpy.uint16]:
        """The type of the stored distances; its largest value stands for none."""
        return numpy.dtype(self._reader.unit)

    @property
    def complete(self) -> bool:
        """False where a depth limit left states without their distance."""
        return self.record.complete

    @property
    def digest(self) -> str:
        """The result's digest: equal for equal maps, however they were computed."""
        return self.record.digest or ""

    @property
    def seconds(self) -> float:
        """How long the enumeration took."""
        return self.record.seconds or 0.0

    def close(self) -> None:
        """Close the database and the map's file; nothing more can be read from them."""
        if "_reader" in self.__dict__:
            self._reader.close()
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        name = self.record.name
        return f"<{type(self).__name__} of job {self.job}: {name}, {self.states} states, depth {self.depth}>"

    # --- distances ---------------------------------------------------------------------------------------

    def distance(self, board: GivenBoard) -> int:
        """The distance of one board. Raises BoardError where it is malformed, UnreachableError where it has
        none."""
        return self._distance(self.labels(board))

    def distances(self, boards: Iterable[GivenBoard] | NDArray[numpy.integer]) -> NDArray[numpy.int32]:
        """The distances of many boards, int32, -1 where a board has none.

        ``boards``: each as for `distance`, or an integer array of shape (boards, cells) holding labels. Raises
        BoardError where one is malformed, with its number from 1.
        """
        if self._nearest_goal is not None and not isinstance(boards, (str, numpy.ndarray)):
            boards = map(self._meant, boards)
        with self._named:
            labels = label_rows(self.puzzle, boards)
        if not len(labels):
            return numpy.empty(0, dtype=numpy.int32)
        return self.lookup(self.space.encode(labels))

    def lookup(self, codes: Codes) -> NDArray[numpy.int32]:
        """The distances of codes, int32, -1 where there is none, also for the code that stands for no code."""
        return self._reader.distances(codes)

    def array(self) -> NDArray[numpy.uint8] | NDArray[numpy.uint16]:
        """All distances in key order, shape (keys,), uint8 or uint16; the type's largest value where there is none. In
        a sparse map those of all states, in the order of their codes.

        It takes one or two bytes per key in memory; ``space.encode`` and ``space.decode`` turn boards into codes and
        back. Raises ResourceError where that is more than four fifths of the free memory.
        """
        from farthest.machine import memory_limit

        needed = self._length * self.unit.itemsize
        if needed > memory_limit(None):
            raise ResourceError(
                f"job {self.job} ({self.record.name}): an array of the distances of all {self._length:,} keys takes "
                f"{bytes_text(needed)} of memory, more than four fifths of what is free; ask for single boards or "
                "layers, or export the map"
            )
        whole = numpy.empty(self._length, dtype=self.unit)
        for chunk in self.chunks_once():
            whole[chunk.first : chunk.last + 1] = chunk.distance_array()
        return whole

    def codes(self) -> Codes:
        """The code of each distance of `array`; in a dense map its key."""
        if self.space.keys is not None:
            return numpy.arange(self._length, dtype=numpy.uint64)
        return numpy.concatenate([chunk.code_array() for chunk in self.chunks()])

    def check_depth(self, depth: int) -> None:
        """Raises JobError unless the map has a layer of this depth."""
        if not 0 <= depth <= self.depth:
            raise JobError(
                f"job {self.job} ({self.record.name}) has no layer {depth}; its layers are 0 to {self.depth}"
            )

    def chunks(self, depth: int | None = None) -> Iterator[Chunk]:
        """All distances, chunk by chunk in order; with ``depth`` those of other layers may be left out."""
        return self._reader.chunks(depth)

    def chunks_once(self) -> Iterator[Chunk]:
        """As ``chunks``, in the least memory: nothing is kept for other questions."""
        return self._reader.chunks_once()

    def quick_layer(self, depth: int) -> Codes | None:
        """The codes of a layer, ascending, if there is a quicker way than reading all chunks."""
        return self._reader.layer(depth, sum(self.layers[: depth + 1]))

    @cached_property
    def reduced(self) -> ReducedSpace | None:
        """The space where the map is one of representatives of symmetries, else None."""
        return reduced(self.space)

    def weights(self, codes: Codes) -> NDArray[numpy.int64]:
        """How many states each code stands for: 1, but in a map of representatives."""
        return numpy.ones(len(codes), numpy.int64) if self.reduced is None else self.reduced.weights_of(codes)

    def members(self, codes: Codes) -> Iterator[tuple[NDArray[numpy.intp], Boards]]:
        """The boards of all states that different codes stand for, some at a time: the row of its code, ascending, and
        the board of each."""
        if self.reduced is None:
            yield numpy.arange(len(codes)), self.space.decode(codes)
            return
        some = max(BLOCK_STATES // self.reduced.order, 1)
        for at in range(0, len(codes), some):
            rows, boards = self.reduced.members(codes[at : at + some])
            yield rows + at, boards

    def state_blocks(self, depth: int | None = None) -> Iterator[StateBlock]:
        """The states at ``depth`` (None: all states) in the order of their codes, some at a time. In a map of
        representatives a code comes as often as it stands for states.

        Reads each chunk once, and none after the last state of the layer; none where the map finds the layer quicker.
        """
        for block in self.code_blocks(depth):
            if self.reduced is None:
                yield block
                continue
            for rows, boards in self.members(block.codes):
                codes = block.codes[rows]
                yield StateBlock(codes, codes, block.distances[rows], self.space, boards)

    def code_blocks(self, depth: int | None = None) -> Iterator[StateBlock]:
        """As ``state_blocks``, each code once."""
        quick = None if depth is None else self.quick_layer(depth)
        if quick is not None:
            for at in range(0, len(quick), BLOCK_STATES):
                codes = quick[at : at + BLOCK_STATES]
                yield StateBlock(codes, codes, numpy.full(len(codes), depth, dtype=self.unit), self.space)
            return
        left = self.states if depth is None else self.layers[depth]
        for chunk in self.chunks(depth):
            if not left:
                return
            distances, of_chunk = chunk.distance_array(), chunk.code_array()
            wanted = distances != UNREACHED[chunk.unit] if depth is None else distances == depth
            places = numpy.flatnonzero(wanted)
            for at in range(0, len(places), BLOCK_STATES):
                some = places[at : at + BLOCK_STATES]
                keys = some.astype(numpy.uint64) + numpy.uint64(chunk.first)
                codes = keys if of_chunk is None else of_chunk[some]
                left -= int(self.weights(codes).sum())
                yield StateBlock(keys, codes, distances[some], self.space)

    def first_goals(self) -> FirstGoals | None:
        """The goal states at the least distance; None where no goal is reached. Looks the goals up; where they have
        wildcards, reads the whole map."""
        definition = self.puzzle.definition
        patterns = definition.origin_boards[0]
        if not any(WILDCARD in pattern for pattern in patterns):
            boards = numpy.array(patterns, dtype=numpy.uint8)
            of_goals = self.lookup(self.space.encode(boards))
            if (of_goals < 0).all():
                return None
            least = int(of_goals[of_goals >= 0].min())
            found = boards[of_goals == least]
            return FirstGoals(least, len(found), definition.texts(found[:BOARDS_KEPT]))
        depth, states, texts = -1, 0, list[str]()
        for block in self.code_blocks():
            # Only states that are no farther than the nearest goal so far need be decoded.
            near = slice(None) if depth < 0 else block.distances <= depth
            distances = block.distances[near]
            if not distances.size:
                continue
            for rows, labels in self.members(block.codes[near]):
                goals = definition.at_goal(labels)
                if not goals.any():
                    continue
                nearest = int(distances[rows[goals]].min())
                if nearest > depth >= 0:
                    continue
                if nearest != depth:
                    depth, states, texts = nearest, 0, []
                found = labels[goals & (distances[rows] == nearest)]
                states += len(found)
                texts += definition.texts(found[: BOARDS_KEPT - len(texts)])
        return None if depth < 0 else FirstGoals(depth, states, texts)

    # --- inside ------------------------------------------------------------------------------------------

    def labels(self, board: GivenBoard) -> tuple[int, ...]:
        """The label of each cell of a board. Raises BoardError where it is malformed."""
        with self._named:
            return board_given(self.puzzle, self._meant(board))

    @cached_property
    def _nearest_goal(self) -> str | None:
        """Of a map that is not counted from the goal the first of the nearest goals: the job keeps them, unless its
        process was killed before."""
        kept = stored_answers(self.record)
        if (
            "goal" not in kept
            and self.origin.direction == "from"
            and self.puzzle.definition.has_origin("goal")
        ):
            kept = {"goal": self.first_goals()}
        found = kept.get("goal")
        return found.boards[0] if found and found.boards else None

    def _meant(self, board: GivenBoard) -> GivenBoard:
        """The board; ``goal`` is the nearest one of such a map."""
        asked = isinstance(board, str) and board.strip() == "goal"
        return (asked and self._nearest_goal) or board

    def text(self, board: GivenBoard) -> str:
        """The canonical text of a board. Raises BoardError where it is malformed."""
        return self.puzzle.definition.format_board(self.labels(board))

    def why_no_distance(self, labels: Sequence[int]) -> tuple[str, str]:
        """What stands for the distance of a well-formed board that has none, "unreachable" or such as ">12", and
        why."""
        reason = self.space.why_unreachable(labels)
        if reason is None and not self.complete:
            return (
                f">{self.depth}",
                f"it is more than {self.depth} moves away, where the map ends (--max-depth)",
            )
        way = "from it to" if self.origin.direction == "to" else "to it from"
        return "unreachable", reason or f"no moves lead {way} the origin"

    def _distance(self, labels: tuple[int, ...]) -> int:
        distance = int(self.lookup(self.space.encode(numpy.array([labels], dtype=numpy.uint8)))[0])
        if distance < 0:
            word, reason = self.why_no_distance(labels)
            raise UnreachableError(f"board {self.text(labels)}: distance {word}: {reason}")
        return distance

    @property
    def _named(self) -> AbstractContextManager[None]:
        return named_in(f"job {self.job} in {self.database.place}")

    @cached_property
    def _reader(self) -> FullReader | ResidueReader:
        if self.record.keeps_residues:
            from farthest.queries.residues import ResidueReader

            return ResidueReader(self.residue_bits(), self.record, self.space, CACHE_BYTES, self.told)
        layout = self.record.layout
        # For a user's class the stored layout says it, so that the bytes can be verified where the class may not run.
        sparse = layout.get("size") is None if self.puzzle.family == "python" else self.space.keys is None
        return FullReader(self.database, self.record.id, None if sparse else self._length, CACHE_BYTES)

    def residue_bits(self) -> MapPages:
        """All bits of a residue map, of which nothing was read yet. Raises DamagedMapError where the file is not what
        was stored."""
        from farthest.map_files.file import MapPages
        from farthest.map_files.form import layout_digest
        from farthest.models.maps import MapFiles

        files = MapFiles(self.database)
        row = files.get(self.job)
        pages = MapPages(files.place.source(row.name), row.bytes, row.checksum)
        expected = {"puzzle": self.record.puzzle_digest, "layout": layout_digest(self.record.layout)}
        pages.check_facts({**expected, "direction": self.origin.direction, "where": self.origin.where})
        pages.check_keys(self._length)
        return pages

    @property
    def _length(self) -> int:
        """How many distances are stored: those of all keys, or in a sparse map of all states."""
        return self.record.keys or 0
