"""The pegs family: a class of boards as bits of a key, jumped by the kernel line by line; else board by board. And why
a board can surely not be solved; that it can, nobody knows without a search.

Bits are taken where a move is one jump, all origins have the same number of pegs and agree in the parities that jumps
keep, and the class has at most 2^MAX_INDEX_BITS boards (families/pegs/layout.py). In all other cases, and where packed
boards are asked for, codes are bit masks of holes: bit i is 1 where hole i has a peg.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from farthest import _kernel
from farthest.arrays import np
from farthest.families.pegs.definition import Pegs
from farthest.families.pegs.layout import BOARDS, LINES, VERSION, Layout, choose_layout, kind_of, parities
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.family import undecided, why_none
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.contract import NO_KEY, OfBoards, is_packed
from farthest.spaces.digits import DigitBoards
from farthest.spaces.packed import CodedSpace
from farthest.wording import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.random_source import RandomSource
    from farthest.spaces.contract import Boards, Codes, EngineKind, Space
    from farthest.spaces.digits import Digits, Step

    Masks = NDArray[np.uint64]
    """Bit masks of holes: shape (boards,)."""


MAX_INDEX_BITS = 34
"""Of a class that is enumerated by bits: its layers have 2 GiB."""


def compile(  # noqa: A001 - what families call it
    puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None
) -> Space:
    boards = PegBoards(puzzle, origin)
    chosen = None
    if layout is None:
        changes = tuple(jump.changed for jump in boards.jumps)
        unchanged = parities(boards.cells, changes)
        first, *others = map(mask_of, boards.origins)
        same = all(
            mask.bit_count() == first.bit_count() and not changed_parity(unchanged, mask, first)
            for mask in others
        )
        if puzzle.metric == "jump" and same and boards.cells - len(unchanged) <= MAX_INDEX_BITS:
            chosen = choose_layout(boards.cells, changes, first)
    elif not is_packed(layout) and kind_of(layout) == LINES:
        chosen = Layout.from_dict(layout, boards.cells)
    return PegScatterSpace(boards) if chosen is None else PegSpace(boards, chosen)


@dataclass(frozen=True, slots=True)
class Jump:
    """A peg goes from hole to hole where those of ``full`` have a peg, those of ``empty`` none; all of them change."""

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


class PegBoards(DigitBoards):
    """A digit is 1 where the hole has a peg, else 0."""

    def __init__(self, puzzle: Puzzle, origin: Origin) -> None:
        self.jumps = jumps_of(puzzle)
        super().__init__(puzzle, origin, puzzle.defined_as(Pegs), undirected=False)

    @property
    def jumps_away(self) -> list[Jump]:
        """The jumps that lead away from the origin: the player's, or those taken back."""
        return self.jumps if self.origin.direction == "from" else [jump.back() for jump in self.jumps]

    def digits(self, boards: Boards) -> Digits:
        return boards

    def steps(self, digits: Digits, *, forward: bool) -> Iterator[Step]:
        """A move is named by the holes that its peg stands in, one after the other."""
        jumps = self.jumps if forward else [jump.back() for jump in self.jumps]
        for path, rows, reached in self._moves(jumps, masks_of(digits), np.arange(len(digits))):
            name = "-".join(map(str, path if forward else path[::-1]))
            yield name, rows, boards_of(reached, self.cells)

    def _moves(
        self, jumps: Sequence[Jump], masks: Masks, rows: NDArray[np.intp], path: tuple[int, ...] = ()
    ) -> Iterator[tuple[tuple[int, ...], NDArray[np.intp], Masks]]:
        """Each jump, and in the metric ``chain`` each longer one of the same peg: the holes of the peg, the rows, the
        masks that it leads to. ``path``: the holes so far."""
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
        to_origin = self.origin.direction == "to"
        ways = [(board, origin) if to_origin else (origin, board) for origin in self.origins]
        return why_none([why_never(self.jumps, *way) for way in ways])


def jumps_of(puzzle: Puzzle) -> list[Jump]:
    """The player's jumps."""
    return [Jump(a, c, 1 << a | 1 << b, 1 << c) for a, b, c in puzzle.defined_as(Pegs).jumps]


def changed_parity(parities: Sequence[int], mask: int, other: int) -> int:
    """The first of the parities in which two boards differ; 0: none."""
    return next((parity for parity in parities if ((mask ^ other) & parity).bit_count() & 1), 0)


def why_never(jumps: Sequence[Jump], before: Sequence[int], after: Sequence[int]) -> str | None:
    """Why jumps surely never make the board ``after``, perhaps with ``WILDCARD``, of the board ``before``: they keep
    some parities, and only ever take pegs away. None: nobody knows without a search."""
    pegs, fewest = sum(before), sum(hole == 1 for hole in after)
    if pegs < fewest:
        return (
            f"pegs: jumps only take pegs away, so they never make a board of {fewest} pegs of one of {pegs}"
        )
    if pegs == fewest and WILDCARD not in after and tuple(before) != tuple(after):
        return f"pegs: both boards have {counted(pegs, 'peg')}, in other holes, and each jump takes one away"
    here, there = mask_of(before), mask_of([hole == 1 for hole in after])
    # A hole that may be anything is as if it could be changed alone.
    anything = [1 << hole for hole, content in enumerate(after) if content == WILDCARD]
    unchanged = parities(len(before), (*(jump.changed for jump in jumps), *anything))
    parity = changed_parity(unchanged, here, there)
    if not parity:
        return None
    holes = " ".join(str(hole) for hole in range(parity.bit_length()) if parity >> hole & 1)
    return (
        f"position class: every jump changes an even number of the holes {holes}, so whether an even number of them "
        f"have a peg never changes; {(here & parity).bit_count()} have one before all jumps, "
        f"{(there & parity).bit_count()} after them"
    )


def mask_of(board: Sequence[int]) -> int:
    """The mask of a board."""
    return sum(1 << hole for hole, peg in enumerate(board) if peg)


def masks_of(boards: Boards | Digits) -> Masks:
    """The masks of boards, shape (boards, holes)."""
    masks = np.zeros(len(boards), dtype=np.uint64)
    for hole in range(boards.shape[1]):
        masks |= (boards[:, hole] != 0).astype(np.uint64) << np.uint64(hole)
    return masks


def boards_of(masks: Masks, holes: int) -> Boards:
    """Inverse of ``masks_of``."""
    boards = np.empty((masks.size, holes), dtype=np.uint8)
    for hole in range(holes):
        boards[:, hole] = (masks >> np.uint64(hole)) & np.uint64(1)
    return boards


class PegScatterSpace(CodedSpace):
    """Board by board: sparse, as few boards of all can be reached."""

    def __init__(self, plain: PegBoards) -> None:
        super().__init__(plain, undirected=False)
        self._jumps = plain.jumps_away
        # Each jump takes away one peg; a chain any number.
        self.graded = self.puzzle.metric == "jump" and len({sum(board) for board in self.origins}) == 1

    @cached_property
    def expander(self) -> _kernel.PegExpander:
        moves = [(jump.start, jump.end, jump.full, jump.empty) for jump in self._jumps]
        return _kernel.PegExpander(moves, self.puzzle.metric == "chain")

    def layout_fields(self) -> dict[str, Any]:
        return {"version": VERSION, "kind": BOARDS}

    def encode(self, boards: Boards) -> Codes:
        """The mask of 64 pegs is no code: it is NO_KEY."""
        masks = masks_of(boards.reshape(-1, self.cells))
        masks[(boards.reshape(-1, self.cells) > 1).any(axis=1)] = NO_KEY
        return masks

    def decode(self, codes: Codes) -> Boards:
        masks = np.ascontiguousarray(codes, dtype=np.uint64)
        if masks.size and int(masks.max()) >= 1 << self.cells:
            raise ValueError(f"code {int(masks.max())} is out of range, expected less than {1 << self.cells}")
        return boards_of(masks, self.cells)


class PegSpace(OfBoards):
    """A GatherSpace: all boards of one class by keys."""

    engine: EngineKind = "gather"
    code_bytes = 8
    moves_both_ways = True

    def __init__(self, plain: PegBoards, layout: Layout) -> None:
        super().__init__(plain, undirected=False)
        self._jumps = plain.jumps_away
        self.layout = layout

    @property
    def keys(self) -> int:
        """The number of keys: boards of the class."""
        return 1 << len(self.layout.holes)

    def shards_at(self, shard_classes: int) -> int:
        return 1 << min(shard_classes, self.kernel.shard_levels) - 1

    def compile_kernel(self, shard_classes: int = 1, isa: str = "") -> _kernel.PegSpace:
        """Each level cuts shards in halves."""
        jumps = [(jump.full, jump.empty) for jump in self._jumps]

        def build(level: int) -> _kernel.PegSpace:
            return _kernel.PegSpace(self.layout.holes, self.layout.dropped, jumps, level, isa)

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
        masks = masks_of(boards.reshape(-1, self.cells))
        keys = np.zeros(masks.size, dtype=np.uint64)
        for i, hole in enumerate(self.layout.holes):
            keys |= (masks >> np.uint64(hole) & np.uint64(1)) << np.uint64(i)
        keys[(self._masks(keys) != masks) | (boards.reshape(-1, self.cells) > 1).any(axis=1)] = NO_KEY
        return keys

    def decode(self, codes: Codes) -> Boards:
        keys = np.ascontiguousarray(codes, dtype=np.uint64)
        if keys.size and int(keys.max()) >= self.keys:
            raise ValueError(f"key {int(keys.max())} is out of range, expected less than {self.keys}")
        return boards_of(self._masks(keys), self.cells)

    def _masks(self, keys: Codes) -> Codes:
        """The masks of the boards of keys."""
        masks = np.zeros(keys.size, dtype=np.uint64)
        for i, hole in enumerate(self.layout.holes):
            masks |= (keys >> np.uint64(i) & np.uint64(1)) << np.uint64(hole)
        for one in self.layout.dropped:
            odd = np.bitwise_count(keys & np.uint64(one.parity)).astype(np.uint64) & np.uint64(1)
            masks |= (odd ^ np.uint64(one.flipped)) << np.uint64(one.hole)
        return masks


class SolvablePegs:
    """That a board can be solved is never known."""

    def __init__(self, puzzle: Puzzle, targets: tuple[Board, ...]) -> None:
        self._puzzle = puzzle
        self._targets = targets
        self._jumps = jumps_of(puzzle)

    def why_not(self, board: Board) -> str | None:
        reason = why_none([why_never(self._jumps, board, target) for target in self._targets])
        if reason is None:
            raise undecided(self._puzzle)
        return reason

    def draw(self, rng: RandomSource) -> Board:
        del rng
        raise undecided(self._puzzle)
