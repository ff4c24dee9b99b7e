"""Subgroups of permutation puzzles that some of the moves generate, and the tables with which the kernel enumerates
their cosets.

A subgroup H is that of its moves. The coset of a sequence of moves r is H r: the elements that are one of H and then r.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, Protocol

from farthest import _kernel
from farthest.arrays import np
from farthest.errors import ResourceError, SettingError
from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.groups import Element, Group, Points, conjugate
from farthest.families.permutation.reach import MOST_PRODUCTS, whole_group
from farthest.families.permutation.some_moves import moves_named
from farthest.families.permutation.symmetries import TooManyError, automorphisms
from farthest.families.permutation.written_moves import WrittenMoves
from farthest.puzzles.move_text import moves_text, read_moves
from farthest.puzzles.puzzle import Puzzle
from farthest.random_source import RandomSource
from farthest.wording import counted, shown

MOST_COSETS = 2**21
"""Their tables are made in seconds to a minute."""
MOST_POINTS = MOST_MOVES = 64
"""Of a puzzle: a piece in one of its orientations is a point."""


class Coset(NamedTuple):
    """A coset. ``distance``: the moves from it to the subgroup. ``representative``: a shortest sequence to the first of
    the ``weight`` cosets that symmetries take it to."""

    distance: int
    representative: str
    weight: int


class Run(Protocol):
    """A coset that is enumerated, distance by distance."""

    def advance(self, listed: bool, /) -> tuple[int, int] | None:
        """Goes on with the next distance, from 0: the positions that are new there, and the sequences that were listed;
        None: some work is done, and more is left. Without ``listed`` only moves of the subgroup are made."""

    @property
    def share(self) -> float:
        """Of the work of the distance under way what is done."""


class Tables(Protocol):
    """What cosets of a subgroup need together. ``classes``: of cosets that symmetries take to each other."""

    @property
    def classes(self) -> int: ...

    def first(self, number: int, /) -> str:
        """A shortest sequence to the first coset of a class, by the class's number."""

    def drawn(self, source: RandomSource, /) -> str:
        """A shortest sequence to a coset at random."""

    def coset(self, text: str, /) -> Coset:
        """The coset of a sequence. Raises BoardError."""

    def begin(self, text: str, threads: int, /) -> Run:
        """A run of the coset of a sequence by so many threads."""


@dataclass(frozen=True)
class Needs:
    """What enumerating cosets takes: so many bytes of tables in each process, and of each coset that is under way.

    ``all_threads``: one coset takes all threads of a process, so that one is enumerated at a time."""

    table_bytes: int
    coset_bytes: int
    all_threads: bool


@dataclass(frozen=True, eq=False)
class Subgroup:
    """A subgroup of a puzzle, ``text`` as in ``<U,R2,F2>``. Permutations are of ``points``; ``inside``: which moves are
    in the subgroup."""

    puzzle: Puzzle
    text: str
    points: Points
    moves: tuple[Element, ...]
    inside: tuple[bool, ...]
    whole: Group
    own: Group

    @property
    def name(self) -> str:
        """As it is shown."""
        return f"{self.puzzle.name} by {self.text}"

    @property
    def positions(self) -> int:
        """Of a coset."""
        return self.own.order

    @property
    def cosets(self) -> int:
        """How many there are."""
        return self.whole.order // self.own.order

    @cached_property
    def needs(self) -> Needs:
        """What its cosets take. Raises ResourceError where they cannot be enumerated."""
        for what, number, most in (
            ("points", len(self.points.places), MOST_POINTS),
            ("moves", len(self.moves), MOST_MOVES),
        ):
            if number > most:
                raise ResourceError(f"{self.name}: the puzzle has {number} {what}, expected at most {most}")
        if self.cosets > MOST_COSETS:
            raise ResourceError(
                f"{self.name}: {self.cosets:,} cosets of {counted(self.positions, 'position')}, more than the "
                f"{MOST_COSETS:,} for which there are tables; choose a larger subgroup, or a smaller puzzle"
            )
        each = 4 * (len(self.moves) + 4) + len(self.points.places) + 22
        return Needs(self.cosets * each, 3 * self.positions // 8 + 2**20, all_threads=False)

    def tables(self) -> Tables:
        """Makes the tables of its cosets. Raises ResourceError."""
        assert not self.needs.all_threads
        return SmallTables(self)

    def element(self, text: str) -> Any:
        """What a sequence of moves does, as the kernel takes it. Raises BoardError."""
        maker = WrittenMoves(self.puzzle)
        move = maker.product(maker.held(read_moves(text, spaced=maker.spaced)))
        return np.array(self.points.element(*move.effect), dtype=np.uint16)

    def text_of(self, way: Sequence[int]) -> str:
        """The text of moves by number."""
        names = [move.name for move in permutation(self.puzzle).generators]
        return moves_text([names[move] for move in way])

    def renamings(self) -> list[Any]:
        """For each symmetry that keeps the subgroup the moves that take the place of moves."""
        number = {move: at for at, move in enumerate(self.moves)}
        found = []
        try:
            for each in automorphisms(self.moves, [slot for slot, _ in self.points.places]):
                renamed = [number[conjugate(each, move)] for move in self.moves]
                if all(self.inside[image] == own for image, own in zip(renamed, self.inside, strict=True)):
                    found.append(np.array(renamed, dtype=np.uint16))
        except TooManyError:
            return []
        return found


def own_moves(puzzle: Puzzle, text: str) -> tuple[list[Element], str]:
    """The moves that generate a subgroup, as permutations of the points, and its text. Raises SettingError."""

    def fail(problem: str) -> SettingError:
        return SettingError(f"subgroup {shown(text)} of {puzzle.name}: {problem}")

    if puzzle.family != "permutation":
        raise fail(f"the puzzle is of the family {puzzle.family}; only permutation puzzles have cosets")
    definition = permutation(puzzle)
    if not definition.is_group or not definition.symmetric:
        raise fail(
            "some pieces are alike, or some moves cannot be made or taken back on every board; positions are then no "
            "elements of a group"
        )
    inner = text.strip()
    if not (inner.startswith("<") and inner.endswith(">")):
        raise fail("expected moves between < and >, such as '<U,R2,F2>'")
    moves, inner = moves_named(puzzle, inner[1:-1], fail)
    known = {move.effect for move in definition.generators}
    strange = next((move.name for move in moves if move.effect not in known), None)
    if strange is not None:
        names = " ".join(move.name for move in definition.generators)
        raise fail(f"{strange} is not a single move here; the moves are {names}")
    return Points(definition.slot_moduli).elements(moves), f"<{inner}>"


@lru_cache(maxsize=8)
def subgroup_of(puzzle: Puzzle, text: str) -> Subgroup:
    """The subgroup of a text. Raises SettingError; ResourceError where the group takes too long."""
    generators, text = own_moves(puzzle, text)
    definition: Permutation = permutation(puzzle)
    points = Points(definition.slot_moduli)
    moves = points.elements(definition.generators)
    whole, own = whole_group(definition), Group(len(points.places), generators)
    if whole is None or not own.is_whole(MOST_PRODUCTS):
        raise ResourceError(
            f"{puzzle.name} by {text}: it takes too long to know the group; choose a smaller puzzle"
        )
    return Subgroup(puzzle, text, points, tuple(moves), tuple(own.knows(move) for move in moves), whole, own)


class SmallTables:
    """Those of a subgroup with a row for each coset."""

    def __init__(self, subgroup: Subgroup) -> None:
        self._subgroup = subgroup
        levels = [
            (level.point, np.array(list(level.ways.values()), dtype=np.uint16))
            for level in subgroup.own.levels
            if len(level.ways) > 1
        ]
        self.kernel = _kernel.Cosets(
            len(subgroup.points.places),
            levels,
            [np.array(move, dtype=np.uint16) for move in subgroup.moves],
            list(subgroup.inside),
            subgroup.renamings(),
            MOST_COSETS,
        )
        if self.kernel.count != subgroup.cosets:
            raise AssertionError(
                f"{subgroup.name}: {self.kernel.count:,} cosets, expected {subgroup.cosets:,}"
            )

    @property
    def classes(self) -> int:
        """See ``Tables``."""
        return len(self.firsts)

    @cached_property
    def firsts(self) -> list[int]:
        """Of the cosets that symmetries take to each other the first."""
        return self.kernel.firsts()

    def _way(self, coset: int) -> str:
        return self._subgroup.text_of(self.kernel.way(coset))

    def first(self, number: int) -> str:
        """See ``Tables``."""
        return self._way(self.firsts[number])

    def drawn(self, source: RandomSource) -> str:
        """See ``Tables``."""
        element = np.array(self._subgroup.whole.random(source), dtype=np.uint16)
        return self._way(self.kernel.coset_of(element))

    def coset(self, text: str) -> Coset:
        """See ``Tables``."""
        coset = self.kernel.coset_of(self._subgroup.element(text))
        first = self._way(self.kernel.first_of_class(coset))
        return Coset(self.kernel.distance(coset), first, self.kernel.class_size(coset))

    def begin(self, text: str, threads: int) -> Run:
        """See ``Tables``. It takes one thread."""
        return _SmallRun(self.kernel, self._subgroup.element(text))


class _SmallRun(_kernel.CosetRun):
    """A run, of which each distance is done at once."""

    share = 0.0
