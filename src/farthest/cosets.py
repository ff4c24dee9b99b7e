"""Coset enumeration: how many positions of cosets of a subgroup are at which distance from solved, coset by coset.

Some moves of a permutation puzzle generate a *subgroup* H. A *coset* is named by a sequence of moves r: it is the
positions w for which r, then w, is in H. The kernel enumerates one in a bit for each position (kernel/include/farthest/
cosets.hpp): exactly up to a *depth*, to which it lists sequences of moves, and from there on by the moves of H alone,
which shows that positions are no farther than so many moves.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Protocol, cast
from weakref import WeakValueDictionary

import msgspec

from farthest.errors import BoardError, ForbiddenCodeError, ResourceError, SettingError
from farthest.families.permutation.written_moves import WrittenMoves
from farthest.families.user_input import puzzle_given
from farthest.machine import cores, memory_limit
from farthest.puzzles.move_text import read_moves
from farthest.puzzles.puzzle import Puzzle
from farthest.random_source import RandomSource
from farthest.subgroups import Subgroup, Tables, own_moves, subgroup_of
from farthest.wording import bytes_text, counted, sample, shown

if TYPE_CHECKING:
    from farthest.families.user_input import GivenPuzzle

UNCHECKED_BYTES = 2**24
"""A coset that needs no more is enumerated in less time than it takes to ask for the memory that is free."""
NAMED = 3
"""Cosets whose sequences the text of a set has."""
Count = Annotated[int, msgspec.Meta(ge=0)]


class CosetRow(msgspec.Struct, frozen=True, tag="coset"):
    """What has been found of a coset.

    ``coset``: its sequence; ``distance``: the moves from it to the subgroup. ``representative``: a shortest sequence
    to the first of the ``weight`` cosets that symmetries take it to. ``layers``: positions at each distance up to the
    depth; ``bounds``: further positions at each distance beyond, at most; ``unreached``: those that are left."""

    coset: str
    distance: Count
    representative: str
    weight: Count
    layers: list[Count]
    bounds: list[Count]
    unreached: Count
    sequences: Count

    @property
    def digest(self) -> str:
        """Of the counts: the SHA-256 of their JSON, as short as can be."""
        return sha256(msgspec.json.encode([self.layers, self.bounds, self.unreached])).hexdigest()

    @property
    def farthest(self) -> int | None:
        """No position is farther; None where that is not known."""
        return None if self.unreached else len(self.layers) + len(self.bounds) - 1


class Stage(NamedTuple):
    """A coset that is being enumerated. ``row``: what has been found so far, whole distances alone; ``share``: of the
    work of the next distance what is done."""

    row: CosetRow
    share: float


class Kept(Protocol):
    """Keeps the bits of a coset of a large subgroup (``stores.blobs.coset_bits``). ``seconds``: that the coset took
    before it was gone on with. ``stopping``: it is left now, to be gone on with later; ``given_up``: without what is
    being written."""

    seconds: float
    stopping: bool
    given_up: bool

    def restored(self, run: Any, coset: str, /) -> CosetRow | None:
        """What had been found where the run, which has not begun, goes on from what was kept; else it is as before."""

    def offer(self, run: Any, row: CosetRow, /) -> None:
        """Keeps where the run is, if it is time. Raises nothing."""

    def drop(self) -> None:
        """Forgets it: the coset is done. Raises nothing."""


class Drawn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """So many cosets at random, each with the same chance."""

    random: Annotated[int, msgspec.Meta(ge=1)]
    seed: Count


Chosen = None | Drawn | tuple[str, ...]
"""All cosets (of those that symmetries take to each other one), some at random, or those of these sequences."""


@dataclass(frozen=True)
class CosetSet:
    """Cosets that are enumerated; a part is one coset. ``subgroup``: as in ``<U,R2,F2>``, canonical."""

    puzzle: Puzzle
    subgroup: str
    depth: int
    chosen: Chosen

    @property
    def name(self) -> str:
        """As it is shown."""
        return f"{self.puzzle.name} by {self.subgroup}"

    def __str__(self) -> str:
        which = "all cosets"
        if isinstance(self.chosen, Drawn):
            which = f"{counted(self.chosen.random, 'coset')} at random, seed {self.chosen.seed}"
        elif self.chosen is not None:
            which = sample([each or "(solved)" for each in self.chosen], "coset", NAMED)
        return f"{which}, listed to depth {self.depth}"

    def fields(self) -> dict[str, Any]:
        """See ``starts.Starts``."""
        return {
            "kind": "cosets",
            "puzzle": self.puzzle.to_json(),
            "subgroup": self.subgroup,
            "depth": self.depth,
            "cosets": msgspec.to_builtins(self.chosen),
        }

    @property
    def parts(self) -> int:
        """As many as cosets are enumerated."""
        if self.chosen is None:
            return self.tables.classes
        return self.chosen.random if isinstance(self.chosen, Drawn) else len(self.chosen)

    @property
    def of(self) -> Subgroup:
        """The subgroup. Raises SettingError, ResourceError."""
        return subgroup_of(self.puzzle, self.subgroup)

    @property
    def tables(self) -> Tables:
        """What its cosets need together. Raises SettingError, ResourceError."""
        with _LOCK:
            return _tables(self.puzzle, self.subgroup)

    @property
    def made(self) -> bool:
        """Whether this process holds the tables."""
        return self.of in _MADE

    def ready(self) -> Tables:
        """The tables, made where there are none; those of other sets are dropped where memory is too scarce. Raises
        ResourceError where it is too scarce for a coset nevertheless."""
        if self.of.needs.coset_bytes > UNCHECKED_BYTES:
            try:
                self.shares(1)
            except ResourceError:
                with _LOCK:
                    if not set(_MADE) - {self.of}:
                        raise
                    _tables.cache_clear()
                self.shares(1)
        return self.tables

    @property
    def bytes(self) -> int:
        """Memory of a process that enumerates one coset. Raises SettingError, ResourceError."""
        return self.of.needs.table_bytes + self.of.needs.coset_bytes

    def check(self) -> None:
        """Raises SettingError where there are fewer cosets than are asked for at random, or too many for all of them;
        ResourceError where they cannot be enumerated."""
        cosets, large = self.of.cosets, self.of.needs.all_threads
        if isinstance(self.chosen, Drawn) and self.chosen.random > cosets:
            raise SettingError(
                f"random {self.chosen.random}: there are {counted(cosets, 'coset')}; ask for all of them"
            )
        if self.chosen is None and large:
            raise SettingError(
                f"{self.name}: all {cosets:,} cosets would take centuries; choose some, or take some at random"
            )

    def shares(self, threads: int) -> tuple[int, int]:
        """How threads are shared: so many cosets at a time, as memory allows, by so many threads each. Raises
        ResourceError where memory is too scarce for one."""
        needs = self.of.needs
        tables = 0 if self.made else needs.table_bytes
        fit = max(0, memory_limit(None) - tables) // needs.coset_bytes
        if not fit:
            raise ResourceError(
                f"{self.name}: a coset of {self.of.positions:,} positions needs {bytes_text(needs.coset_bytes)} beside "
                f"{bytes_text(needs.table_bytes)} of tables, which is more than is free; choose a smaller subgroup"
            )
        return (1, threads) if needs.all_threads else (min(threads, fit), 1)

    def survey(self, part: int, parts: int) -> CosetRow:
        """See ``starts.Starts``. By all processors where one coset takes all threads. Raises ResourceError where memory
        is too scarce."""
        for stage in self.stages(part, cores()):
            row = stage.row
        return row

    def stages(self, part: int, threads: int, kept: Kept | None = None) -> Generator[Stage, None, None]:
        """Enumerates a coset, by so many threads where it takes more than one; the last row is the result. Comes after
        each distance, and inside of a long one every second or so. It is stopped, and its memory given back, by
        ``close``, which waits for nothing but for what is ``kept``. Raises ResourceError where memory is too scarce."""
        tables = self.ready()
        if isinstance(self.chosen, tuple):
            text = self.chosen[part]
        elif self.chosen is None:
            text = tables.first(part)
        else:  # the random numbers of a part are its own: the first cosets of more are those of fewer
            text = tables.sequence(self.of.whole.random(RandomSource(self.chosen.seed << 32 | part)))
        coset = tables.coset(text)
        run = tables.begin(text, threads)
        layers: list[int] = []
        bounds: list[int] = []
        left, sequences = self.of.positions, 0

        def stage() -> Stage:
            row = CosetRow(text, *coset, [*layers], [*bounds], left, sequences)
            return Stage(row, run.share)

        def keep() -> None:
            if kept is not None:
                kept.offer(run, stage().row)

        if kept is not None and (before := kept.restored(run, text)):
            layers, left, sequences = before.layers, before.unreached, before.sequences
        while left:
            listed = len(layers) <= self.depth
            found = run.advance(listed)
            if found is not None:
                fresh, more = found
                if not listed and not fresh:
                    break
                (layers if listed else bounds).append(fresh)
                left -= fresh
                sequences += more
            keep()
            try:
                yield stage()
            except GeneratorExit:
                if kept is not None and kept.stopping:
                    keep()
                raise
        yield stage()


_LOCK = Lock()


@lru_cache(maxsize=2)
def _tables(puzzle: Puzzle, subgroup: str) -> Tables:
    of = subgroup_of(puzzle, subgroup)
    _MADE[of] = tables = of.tables()
    return tables


_MADE: WeakValueDictionary[Subgroup, Tables] = WeakValueDictionary()
"""The tables that this process holds: what is free is what they have left."""


def cosets_named(given: GivenPuzzle, subgroup: str, depth: int, chosen: Chosen) -> CosetSet:
    """Cosets of a puzzle, a subgroup and sequences as users write them. Raises PuzzleError, SettingError,
    BoardError."""
    try:
        puzzle = puzzle_given(given)
    except ForbiddenCodeError:
        raise SettingError(
            f"{shown(str(given))}: it is a class in Python; only permutation puzzles have cosets"
        ) from None
    _, text = own_moves(puzzle, subgroup)
    if isinstance(chosen, tuple):
        chosen = _sequences_given(puzzle, chosen)
    return CosetSet(puzzle, text, depth, chosen)


def _sequences_given(puzzle: Puzzle, texts: Sequence[str]) -> tuple[str, ...]:
    """The texts of sequences as they are kept; of those that lead to one position the first."""
    if not texts:
        raise SettingError("cosets: none are given; leave them out for all cosets")
    maker = WrittenMoves(puzzle)
    found: dict[object, str] = {}
    for text in texts:
        if not isinstance(given := cast("object", text), str):
            raise TypeError(f"cosets: expected texts, got {type(given).__name__}")
        try:
            steps = read_moves(text, spaced=maker.spaced)
            maker.check_no_board(steps)
            effect = maker.product(maker.held(steps)).effect
        except BoardError as error:
            raise BoardError(f"coset {shown(text)}: {error}") from None
        found.setdefault(effect, " ".join(f"{step.word}'" if step.undone else step.word for step in steps))
    return tuple(found.values())
