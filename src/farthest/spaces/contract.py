"""What every family's space offers, and what each of the two ways of enumerating needs besides; and what is told of
spaces before they are enumerated: how many states they have, which layout of codes a job has stored, what is too large.

A *code* names a state: in a *dense* space a key, a number below ``keys``; in a *sparse* one a 64-bit number or a byte
string of fixed length, of which few are states. Codes are ordered as numbers, byte strings as their bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, cast

from farthest.errors import ResourceError, StorageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from farthest import _kernel
    from farthest.puzzles.definition import Board, MoveName
    from farthest.puzzles.family import BoardMap
    from farthest.puzzles.puzzle import Origin, Puzzle

    Boards = NDArray[np.uint8]
    """Boards: shape (boards, cells)."""
    Codes = NDArray[Any]
    """Codes: uint64, or ``S<width>`` for byte strings; shape (states,)."""
    EngineKind = Literal["gather", "scatter", "pattern"]
    """The ways of enumerating."""

T = TypeVar("T")

NO_KEY = 2**64 - 1
"""The code of a board that has none, where codes are numbers; else as many bytes of 255 as codes have."""


class MovedBoards(Protocol):
    """The boards of a puzzle with its origin, and their moves: the part of a space that needs no codes."""

    puzzle: Puzzle
    origin: Origin
    cells: int
    origins: list[Board]
    """The boards at depth 0, none twice, in a fixed order."""

    def neighbours(
        self, boards: Boards, *, toward: bool
    ) -> Iterator[tuple[MoveName, NDArray[np.intp], Boards]]:
        """For each move: its name, the rows of ``boards`` that it can be made on, the boards that it leads to.

        ``toward``: to boards at most one nearer the origin, else at most one farther. The name is always that of the
        move that the player makes. Two moves that lead from one board to the same board are two items.
        """

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        """The structural reason why no moves join the board to the origin, or None when there is no obvious one."""


class OfBoards:
    """The part of a space that needs no codes, where that is another's, ``plain``."""

    def __init__(self, plain: MovedBoards, *, undirected: bool) -> None:
        self.puzzle = plain.puzzle
        self.origin = plain.origin
        self.origins = plain.origins
        self.cells = plain.cells
        self.undirected = undirected
        self.neighbours = plain.neighbours
        self.why_unreachable = plain.why_unreachable


class Space(MovedBoards, Protocol):
    """A puzzle compiled: boards to codes and back, and the neighbours of boards."""

    engine: EngineKind
    """Which way of enumerating is its own."""

    @property
    def keys(self) -> int | None:
        """The number of keys of a dense space; None: sparse."""

    @property
    def code_bytes(self) -> int:
        """Bytes of a code: 8 where codes are numbers (uint64)."""

    @property
    def undirected(self) -> bool:
        """Whether each move can be taken back by a move."""

    @property
    def moves_both_ways(self) -> bool:
        """Whether ``neighbours`` can go toward the origin."""

    def layout_fields(self) -> dict[str, Any]:
        """What decides the codes, as stored with a job: JSON, with its ``version``."""

    def encode(self, boards: Boards) -> Codes:
        """The boards' codes; NO_KEY or bytes of 255 where a board has none."""

    def decode(self, codes: Codes) -> Boards:
        """Inverse of ``encode``. Raises ValueError when a code is out of range."""


class GatherSpace(Space, Protocol):
    """Its states are bits, and moves send whole lines of them to lines: enumerated by the kernel's step."""

    @property
    def keys(self) -> int:
        """The number of keys."""

    @property
    def kernel(self) -> _kernel.Space:
        """The kernel's space with the fewest shards."""

    def shards_at(self, shard_classes: int) -> int:
        """The number of shards of the kernel's space cut at that level, 1 or more."""

    def compile_kernel(self, shard_classes: int = 1, isa: str = "") -> _kernel.Space:
        """The kernel's space cut into shards at level ``shard_classes`` (as many as it allows, if fewer). Raises
        ResourceError when there are more keys than it can number."""

    def keys_of(self, boards: Sequence[Sequence[int]]) -> list[int]:
        """``encode`` without numpy."""

    def shard_order(self, shards: int) -> Sequence[int]:
        """All of so many shards, in an order in which neighbours have sources in common."""


class ReducedSpace(GatherSpace, Protocol):
    """One that keeps representatives of symmetries: a key stands for several states (``_kernel.Space.states``), boards
    are coded by what a symmetry makes of them, and a code gives one of its boards."""

    @property
    def maps(self) -> Sequence[BoardMap]:
        """The symmetries, a group, the identity first."""

    @property
    def weights(self) -> NDArray[np.int64]:
        """For each shard how many states a key stands for."""

    @property
    def order(self) -> int:
        """The number of symmetries."""

    def pays(self, *, mapped: bool) -> bool:
        """Whether it takes less time than all states do, and shards are small enough. ``mapped``: with a map."""

    def weights_of(self, codes: Codes) -> NDArray[np.int64]:
        """How many states each code stands for."""

    def members(self, codes: Codes) -> tuple[NDArray[np.intp], Boards]:
        """The boards of all states that the codes, none twice, stand for: the row of its code, ascending, and the board
        of each. A state is of one code alone."""

    def alike(self, codes: Codes) -> Codes:
        """The codes, ascending, of all states that symmetries take to those of the codes."""


class ScatterSpace(Space, Protocol):
    """Enumerated by sorted runs of codes: its states are expanded one by one.

    What an ``undirected`` one finds need be compared with two layers only.
    One may have an ``expander`` (``_kernel.Expander``) with the same successors: they are then sorted as they come, and
    never all in memory.
    """

    graded: bool
    """Whether a state has only one possible depth: then what is found is always new."""

    def origin_codes(self) -> Buffer:
        """The codes at depth 0, in any order, perhaps repeated; of 8 bytes: uint64, lowest byte first."""

    def successors(self, codes: Buffer, threads: int) -> Buffer:
        """The codes one move away from the origin of all the codes, in any order, perhaps repeated."""


class ReducedRunsSpace(ScatterSpace, Protocol):
    """One that keeps representatives of symmetries as packed codes, of which only some layers are counted: sets of
    codes, found shard by shard."""

    @property
    def order(self) -> int:
        """The number of symmetries."""

    @property
    def shards(self) -> int:
        """The number of shards."""

    @property
    def share(self) -> float:
        """The part of all states that is in shards, about."""

    @property
    def moves(self) -> int:
        """The number of moves, which lead into each shard."""

    @property
    def weights(self) -> Sequence[int]:
        """Of each shard how many states a code stands for."""

    @property
    def origin_shard(self) -> int:
        """The shard of the origin, a single board."""

    def sources(self, shard: int) -> Iterable[int]:
        """The shards of the layer before that lead into a shard."""

    @property
    def runs(self) -> _kernel.ReducedRuns:
        """The kernel's shards."""

    def images(self, boards: Boards, most: int | None = None) -> Boards:
        """The boards that symmetries take the boards to, each once; ``most`` of them, where there are more."""


def gather(space: Space) -> GatherSpace:
    """The space, which is of that kind."""
    assert space.engine == "gather", f"puzzle {space.puzzle.name} is not enumerated by gathering"
    return cast(GatherSpace, space)


def scatter(space: Space) -> ScatterSpace:
    """The space, which is of that kind."""
    assert space.engine == "scatter", f"puzzle {space.puzzle.name} is not enumerated by scattering"
    return cast(ScatterSpace, space)


def reduced(space: Space) -> ReducedSpace | None:
    """The space where it keeps representatives of symmetries, else None."""
    kept = space.layout_fields().get("kind") == REPRESENTATIVES
    return cast(ReducedSpace, space) if kept else None


def reduced_runs(space: Space) -> ReducedRunsSpace | None:
    """The space where it keeps representatives as packed codes, else None."""
    kept = space.layout_fields().get("kind") == PACKED_REPRESENTATIVES
    return cast(ReducedRunsSpace, space) if kept else None


PUBLISHED = "published figures"
WORKED_OUT = "the order of the group of its moves"


def known_states(space: Space, *, own_origin: bool = False) -> tuple[int, str] | None:
    """The number of states and where it is known from, or None. Published figures are of the puzzle's own origin; with
    ``own_origin`` they count for that alone."""
    published = [answer.states for answer in space.puzzle.known if answer.states is not None]
    if published and (not own_origin or space.origin == space.puzzle.origin):
        return max(published), PUBLISHED
    reached = space.puzzle.definition.reachable(space.origins)
    return None if reached is None else (reached, WORKED_OUT)


def reached_by_moves(puzzle: Puzzle) -> int | None:
    """How many states moves join to the puzzle's goal, where that is published or known without trying them."""
    published = [answer.states for answer in puzzle.known if answer.states is not None]
    goals, _ = puzzle.definition.origin_boards
    return max(published) if published else puzzle.definition.reachable(goals) if goals else None


# Stored layouts

REPRESENTATIVES = "representatives"
"""The kind of layouts of spaces that keep representatives of symmetries alone."""

PACKED_REPRESENTATIVES = "packed representatives"
"""The same of packed codes."""

PACKED: dict[str, Any] = {"version": 1, "kind": "packed"}
"""The layout of packed codes: the definition decides all codes."""


def is_packed(layout: Mapping[str, Any] | None) -> bool:
    """Whether a stored layout is that of packed codes. Raises StorageError where it is of another version."""
    if layout is None or layout.get("kind") != PACKED["kind"]:
        return False
    check_version(layout, PACKED["version"])
    if layout != PACKED:
        raise damaged_layout(f"{dict(layout)!r}")
    return True


def check_version(layout: Mapping[str, Any], version: int) -> None:
    """Raises StorageError for a stored layout of another version."""
    if layout.get("version") != version:
        raise StorageError(
            f"stored key layout: version {layout.get('version')!r}, expected {version}; "
            "the map was written by another version of farthest, use that one"
        )


def damaged_layout(problem: object) -> StorageError:
    """The error of a stored layout that cannot be one of the puzzle."""
    return StorageError(f"stored key layout is damaged ({problem}); enumerate the puzzle again")


def layout_json(layout: object) -> Any:
    """A dataclass as it is read back from a job: with lists for its tuples, which are equal to no list."""
    import msgspec

    return msgspec.json.decode(msgspec.json.encode(layout))


def read_layout(fields: Mapping[str, Any], kind: type[T], version: int) -> T:
    """Inverse of ``layout_json``; other fields are not read. Raises StorageError where they are damaged, or of another
    version."""
    import msgspec

    from farthest.typed import convert

    check_version(fields, version)
    try:
        return convert(fields, kind)
    except msgspec.ValidationError as error:
        raise damaged_layout(error) from None


# What is too large

MAX_KEYS = 2**62

FULL_KEYS = 2**30
"""Most keys of a map whose distances are stored unless something else is asked for."""


def check_keys(puzzle: Puzzle, keys: int, mend: str, *, what: str = "arrangements") -> None:
    """Raises ResourceError where there are more keys than can be numbered. ``mend``: what makes them fewer."""
    if keys > MAX_KEYS:
        raise too_large(puzzle, keys, "more than the 4.6e18 that keys can number", mend, what=what)


@contextmanager
def kernel_limits(puzzle: Puzzle, keys: int, mend: str) -> Iterator[None]:
    """Turns a limit of the kernel into a ResourceError."""
    from farthest import _kernel

    try:
        yield
    except _kernel.LimitError as error:
        raise too_large(puzzle, keys, f"more than the kernel can step ({error})", mend) from None


def too_large(
    puzzle: Puzzle, keys: int, limit: str, mend: str, *, what: str = "arrangements"
) -> ResourceError:
    """The error: what there is, what the limit is, what can be done."""
    reached = reached_by_moves(puzzle)
    count, what = (keys, what) if reached is None or reached <= MAX_KEYS else (reached, "states")
    number = f"{count:.1e} {what}".replace("e+", "e")
    return ResourceError(
        f"puzzle {puzzle.name}: {number}, {limit}; it is too large to enumerate whole: solve single boards "
        f"(`farthest solve {puzzle.name} BOARD`), count its first layers (--max-depth N --map none), or {mend}"
    )
