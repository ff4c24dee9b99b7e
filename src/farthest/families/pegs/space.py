"""The pegs family: a class of boards as bits of a key, jumped by the kernel line by line; else board by board.

Bits are taken where a move is one jump, all origins have the same number of pegs and agree in the parities that jumps
keep, and the class has at most 2^MAX_INDEX_BITS boards (families/pegs/layout.py). All else, and what is asked for as
packed boards, is in families/pegs/space.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

from farthest import _kernel
from farthest.errors import PuzzleError
from farthest.families.pegs.definition import pegs
from farthest.families.pegs.layout import BOARDS, LINES, VERSION, Layout, choose_layout, kind_of, parities
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.family import undecided
from farthest.puzzles.origin import MAX_ORIGINS, origin_patterns
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.contract import NO_KEY, is_packed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from farthest.puzzles.definition import MoveName
    from farthest.random_source import RandomSource
    from farthest.spaces.contract import Boards, Codes, EngineKind, Space


# --- What the two kinds of peg spaces have in common: boards as bit masks, jumps and chains of them, what jumps
# keep.
#
# A mask has bit i where hole i has a peg.

if TYPE_CHECKING:
    Masks = NDArray[np.uint64]
    """Bit masks of holes: shape (boards,)."""


@dataclass(frozen=True, slots=True)
class Jump:
    """A peg goes from one hole to another where those of ``full`` have a peg and those of ``empty`` have none; all of
    them change."""

    start: int
    end: int
    full: int
    empty: int

    @property
    def changed(self) -> int:
        """The mask of holes that change."""
        return self.full | self.empty

    def back(self) -> Jump:
        """The jump taken back."""
        return Jump(self.end, self.start, self.empty, self.full)


class PegBoards:
    """Boards and moves of a peg puzzle with its origin: the part of ``Space`` that does not depend on codes."""

    def __init__(self, puzzle: Puzzle, origin: Origin, origins: list[Board]) -> None:
        self.puzzle = puzzle
        self.origin = origin
        self.cells = puzzle.definition.cells
        self.origins = origins
        self.jumps = jumps_of(puzzle)
        self.moves_both_ways = True

    @property
    def jumps_away(self) -> list[Jump]:
        """The jumps that lead away from the origin: the player's, or those taken back."""
        return self.jumps if self.origin.direction == "from" else [jump.back() for jump in self.jumps]

    def neighbours(
        self, boards: Boards, *, toward: bool
    ) -> Iterator[tuple[MoveName, NDArray[np.intp], Boards]]:
        """A move is named by the holes that its peg stands in, one after the other."""
        import numpy as np

        forward = (self.origin.direction == "to") == toward
        jumps = self.jumps if forward else [jump.back() for jump in self.jumps]
        masks, rows = masks_of(boards.reshape(-1, self.cells)), np.arange(len(boards))
        for path, reached_rows, reached in self._moves(jumps, masks, rows):
            name = "-".join(map(str, path if forward else path[::-1]))
            yield name, reached_rows, boards_of(reached, self.cells)

    def _moves(
        self, jumps: Sequence[Jump], masks: Masks, rows: NDArray[np.intp], path: tuple[int, ...] = ()
    ) -> Iterator[tuple[tuple[int, ...], NDArray[np.intp], Masks]]:
        """Each jump, and in the metric ``chain`` each longer one of the same peg: the holes of the peg, the rows, the
        masks that it leads to. ``path``: the holes so far."""
        import numpy as np

        for jump in jumps:
            if path and jump.start != path[-1]:
                continue
            can = (masks & np.uint64(jump.changed)) == np.uint64(jump.full)
            if not can.any():
                continue
            longer = (*(path or (jump.start,)), jump.end)
            reached = masks[can] ^ np.uint64(jump.changed)
            yield longer, rows[can], reached
            if self.puzzle.metric == "chain":
                yield from self._moves(jumps, reached, rows[can], longer)

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        """Jumps keep some parities, and only ever take pegs away."""
        mask = mask_of(board)
        classes = [mask_of(origin) for origin in self.origins]
        kept = parities(self.cells, [jump.changed for jump in self.jumps])
        changed = [
            next((parity for parity in kept if ((mask ^ other) & parity).bit_count() & 1), 0)
            for other in classes
        ]
        if all(changed):
            parity = changed[0]
            holes = " ".join(str(hole) for hole in range(self.cells) if parity >> hole & 1)
            odd = "odd" if (mask & parity).bit_count() & 1 else "even"
            return (
                f"position class: every jump changes an even number of the holes {holes}, so whether an even number of "
                f"them have a peg never changes; here that number is {odd}, and at the origin it is not"
            )
        counts = [other.bit_count() for other in classes]
        if self.origin.direction == "from" and mask.bit_count() > max(counts):
            return f"pegs: jumps only take pegs away, and this board has {mask.bit_count()}, the origin {max(counts)}"
        if self.origin.direction == "to" and mask.bit_count() < min(counts):
            return f"pegs: jumps only take pegs away, and this board has {mask.bit_count()}, the origin {min(counts)}"
        return None


def jumps_of(puzzle: Puzzle) -> list[Jump]:
    """The player's jumps."""
    return [Jump(a, c, 1 << a | 1 << b, 1 << c) for a, b, c in pegs(puzzle).jumps]


def origin_boards(puzzle: Puzzle, origin: Origin) -> list[Board]:
    """The boards at depth 0, wildcards filled in, sorted, none twice.

    Raises BoardError when the origin is not a board, PuzzleError when there is no start, no goal or too many.
    """
    definition = pegs(puzzle)
    found: set[Board] = set()
    total = 0
    for pattern in origin_patterns(puzzle.definition, origin.where, puzzle.name):
        total += 1 << pattern.count(WILDCARD)
        if total > MAX_ORIGINS:
            raise PuzzleError(
                f"puzzle {puzzle.name}: the goals stand for more than {MAX_ORIGINS:,} boards "
                f"(goal {definition.format_board(pattern)}); use fewer wildcards"
            )
        found.update(product(*((0, 1) if hole == WILDCARD else (hole,) for hole in pattern)))
    return sorted(found)


def mask_of(board: Sequence[int]) -> int:
    """The mask of a board."""
    return sum(1 << hole for hole, peg in enumerate(board) if peg)


def masks_of(boards: Boards) -> Masks:
    """The masks of boards, shape (boards, holes)."""
    import numpy as np

    masks = np.zeros(len(boards), dtype=np.uint64)
    for hole in range(boards.shape[1]):
        masks |= (boards[:, hole] != 0).astype(np.uint64) << np.uint64(hole)
    return masks


def boards_of(masks: Masks, holes: int) -> Boards:
    """Inverse of ``masks_of``."""
    import numpy as np

    boards = np.empty((masks.size, holes), dtype=np.uint8)
    for hole in range(holes):
        boards[:, hole] = (masks >> np.uint64(hole)) & np.uint64(1)
    return boards


# --- Peg puzzles board by board: codes are bit masks of holes, and the kernel finds the successors of each.

_MOST_HOLES = 63
"""The mask of 64 pegs is no code: NO_KEY."""


class PegScatterSpace(PegBoards):
    """A ScatterSpace, sparse: few boards of all can be reached."""

    engine: EngineKind = "scatter"
    code_bytes = 8
    keys: int | None = None
    undirected = False

    def __init__(self, puzzle: Puzzle, origin: Origin, origins: list[Board]) -> None:
        super().__init__(puzzle, origin, origins)
        # Each jump takes away one peg; a chain any number.
        self.graded = puzzle.metric == "jump" and len({sum(board) for board in origins}) == 1

    @cached_property
    def expander(self) -> _kernel.PegExpander:
        """The kernel's successors."""
        moves = [(jump.start, jump.end, jump.full, jump.empty) for jump in self.jumps_away]
        return _kernel.PegExpander(moves, self.puzzle.metric == "chain")

    def layout_fields(self) -> dict[str, Any]:
        return {"version": VERSION, "kind": BOARDS}

    def encode(self, boards: Boards) -> Codes:
        masks = masks_of(boards.reshape(-1, self.cells))
        masks[(boards.reshape(-1, self.cells) > 1).any(axis=1)] = NO_KEY
        return masks

    def decode(self, codes: Codes) -> Boards:
        import numpy as np

        masks = np.ascontiguousarray(codes, dtype=np.uint64)
        if self.cells <= _MOST_HOLES and masks.size and int(masks.max()) >= 1 << self.cells:
            raise ValueError(f"code {int(masks.max())} is out of range, expected less than {1 << self.cells}")
        return boards_of(masks, self.cells)

    def origin_codes(self) -> Buffer:
        import numpy as np

        boards = np.array(self.origins, dtype=np.uint8).reshape(-1, self.cells)
        return np.ascontiguousarray(self.encode(boards)).data

    def successors(self, codes: Buffer, threads: int) -> Buffer:
        return _kernel.expand_codes(self.expander, codes, threads)


MAX_INDEX_BITS = 34
"""Of a class that is enumerated by bits: its layers have 2 GiB."""


def compile(  # noqa: A001 - what families call it
    puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None
) -> Space:

    origins = origin_boards(puzzle, origin)
    if is_packed(layout):
        chosen = None
    elif layout is None:
        chosen = _layout_of(puzzle, origins)
    else:
        chosen = Layout.from_dict(layout, puzzle.definition.cells) if kind_of(layout) == LINES else None
    if chosen is None:
        return PegScatterSpace(puzzle, origin, origins)
    return PegSpace(puzzle, origin, origins, chosen)


def _layout_of(puzzle: Puzzle, origins: Sequence[Board]) -> Layout | None:
    """The layout for bits, or None where they will not do."""
    changes = [jump.changed for jump in jumps_of(puzzle)]
    holes = puzzle.definition.cells
    kept = parities(holes, changes)
    masks = [mask_of(board) for board in origins]
    same = all(
        mask.bit_count() == masks[0].bit_count()
        and not any(((mask ^ masks[0]) & parity).bit_count() & 1 for parity in kept)
        for mask in masks
    )
    if puzzle.metric != "jump" or not same or holes - len(kept) > MAX_INDEX_BITS:
        return None
    return choose_layout(holes, changes, masks[0])


class PegSpace(PegBoards):
    """A GatherSpace: all boards of one class by keys."""

    engine: EngineKind = "gather"
    code_bytes = 8
    undirected = False

    def __init__(self, puzzle: Puzzle, origin: Origin, origins: list[Board], layout: Layout) -> None:
        super().__init__(puzzle, origin, origins)
        self.layout = layout

    @property
    def keys(self) -> int:
        """The number of keys: boards of the class."""
        return 1 << len(self.layout.holes)

    def shards_at(self, shard_classes: int) -> int:
        return 1 << min(shard_classes, self.kernel.shard_levels) - 1

    def compile_kernel(self, shard_classes: int = 1, isa: str = "") -> _kernel.PegSpace:
        """Each level cuts shards in halves."""
        jumps = [(jump.full, jump.empty) for jump in self.jumps_away]
        dropped = [(one.hole, one.parity, one.flipped) for one in self.layout.dropped]

        def build(level: int) -> _kernel.PegSpace:
            return _kernel.PegSpace(self.layout.holes, dropped, jumps, level, isa)

        kernel = build(1)
        level = min(shard_classes, kernel.shard_levels)
        return kernel if level == 1 else build(level)

    @cached_property
    def kernel(self) -> _kernel.PegSpace:
        return self.compile_kernel()

    def layout_fields(self) -> dict[str, Any]:
        return self.layout.to_dict()

    def shard_order(self, shards: int) -> range:
        """In the order of the keys."""
        return range(shards)

    def keys_of(self, boards: Sequence[Sequence[int]]) -> list[int]:
        return [self._key(board) for board in boards]

    def _key(self, board: Sequence[int]) -> int:
        key = sum(1 << i for i, hole in enumerate(self.layout.holes) if board[hole])
        for one in self.layout.dropped:
            if bool(board[one.hole]) != one.flipped ^ (key & one.parity).bit_count() & 1:
                return NO_KEY
        return key

    def encode(self, boards: Boards) -> Codes:
        import numpy as np

        masks = masks_of(boards.reshape(-1, self.cells))
        keys = np.zeros(masks.size, dtype=np.uint64)
        for i, hole in enumerate(self.layout.holes):
            keys |= (masks >> np.uint64(hole) & np.uint64(1)) << np.uint64(i)
        keys[(self._masks(keys) != masks) | (boards.reshape(-1, self.cells) > 1).any(axis=1)] = NO_KEY
        return keys

    def decode(self, codes: Codes) -> Boards:
        import numpy as np

        keys = np.ascontiguousarray(codes, dtype=np.uint64)
        if keys.size and int(keys.max()) >= self.keys:
            raise ValueError(f"key {int(keys.max())} is out of range, expected less than {self.keys}")
        return boards_of(self._masks(keys), self.cells)

    def _masks(self, keys: Codes) -> Codes:
        """The masks of the boards of keys."""
        import numpy as np

        masks = np.zeros(keys.size, dtype=np.uint64)
        for i, hole in enumerate(self.layout.holes):
            masks |= (keys >> np.uint64(i) & np.uint64(1)) << np.uint64(hole)
        for one in self.layout.dropped:
            odd = np.bitwise_count(keys & np.uint64(one.parity)).astype(np.uint64) & np.uint64(1)
            masks |= (odd ^ np.uint64(one.flipped)) << np.uint64(one.hole)
        return masks


# --- Peg solitaire: why a board can surely not be solved. That it can, nobody knows without a search.


class PegsBoards:
    """Position classes, and that jumps only take pegs away."""

    def __init__(self, puzzle: Puzzle, targets: tuple[Board, ...]) -> None:
        self._puzzle = puzzle
        self._targets = targets
        self._changes = [jump.changed for jump in jumps_of(puzzle)]

    def why_not(self, board: Board) -> str | None:
        reasons = [self._why_not(board, target) for target in self._targets]
        if None in reasons:
            raise undecided(self._puzzle)
        return reasons[0] if len(reasons) == 1 else f"{reasons[0]}; nor can any other target be reached"

    def draw(self, rng: RandomSource) -> Board:
        del rng
        raise undecided(self._puzzle)

    def _why_not(self, board: Board, target: Board) -> str | None:
        pegs, fewest = sum(board), target.count(1)
        if pegs < fewest:
            return (
                f"pegs: jumps only take pegs away, and this board has {pegs}, the target {fewest}; add pegs"
            )
        if pegs == fewest and WILDCARD not in target and board != target:
            return f"pegs: the target has as many pegs, {pegs}, in other holes, and each jump takes one away; add pegs"
        here, there = mask_of(board), mask_of([hole == 1 for hole in target])
        # A hole that may be anything is as if it could be changed alone.
        anything = [1 << hole for hole, content in enumerate(target) if content == WILDCARD]
        for parity in parities(len(board), [*self._changes, *anything]):
            if ((here ^ there) & parity).bit_count() & 1:
                holes = " ".join(str(hole) for hole in range(len(board)) if parity >> hole & 1)
                return (
                    f"position class: every jump changes an even number of the holes {holes}, so whether an even "
                    f"number of them have a peg never changes; here {(here & parity).bit_count()} of them have "
                    f"one, at the target {(there & parity).bit_count()}; change one of them"
                )
        return None


def solvable(puzzle: Puzzle, targets: tuple[Board, ...]) -> PegsBoards:
    return PegsBoards(puzzle, targets)
