"""Subgroups of permutation puzzles that some of the moves generate, and the tables with which the kernel enumerates
their cosets.

A subgroup H is that of its moves. The coset of a sequence of moves r is H r: the elements that are one of H and then r.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import Any, NamedTuple, Protocol, cast

from farthest import _kernel
from farthest.arrays import np
from farthest.errors import ResourceError, SettingError
from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.groups import Element, Group, Points, conjugate, inverse, orbits, product
from farthest.families.permutation.reach import MOST_PRODUCTS, whole_group
from farthest.families.permutation.some_moves import moves_named
from farthest.families.permutation.symmetries import TooManyError, automorphisms
from farthest.families.permutation.written_moves import WrittenMoves
from farthest.machine import cores
from farthest.puzzles.move_text import moves_text, read_moves
from farthest.puzzles.puzzle import Puzzle
from farthest.wording import counted, shown

MOST_COSETS = 2**21
"""Their tables are made in seconds to a minute."""
MOST_POINTS = MOST_MOVES = 64
"""Of a puzzle: a piece in one of its orientations is a point."""
MOST_NUMBERS = 2**16 - 2
"""Of a coordinate."""


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

    def bits(self, positions: Any, /) -> bytes:
        """The bits (uint64) of positions of the coset, as ``Tables.rows`` makes them."""

    def watch(self, bits: Any, /) -> None:
        """Before the run: bits of which sequences are kept. Then ``advance`` gives None also before each listing,
        which may not be needed."""

    def reached(self, bits: Any, /) -> bytes:
        """For each bit a byte, 1 where it is at most at the distance under way."""

    def caught(self) -> list[tuple[int, list[int]]]:
        """The watched bits that a listed sequence was the first to set, with its moves."""


class Tables(Protocol):
    """What cosets of a subgroup need together. ``classes``: of cosets that symmetries take to each other."""

    @property
    def classes(self) -> int: ...

    def first(self, number: int, /) -> str:
        """A shortest sequence to the first coset of a class, by the class's number."""

    def sequence(self, element: Element, /) -> str:
        """A shortest sequence to the coset of an element: the same for each element of it."""

    def coset(self, text: str, /) -> Coset:
        """The coset of a sequence. Raises BoardError."""

    def begin(self, text: str, threads: int, /) -> Run:
        """A run of the coset of a sequence by so many threads."""

    def rows(self, elements: Any, /) -> Any:
        """Elements, a row of uint16 each, as a run takes positions: what the coset's sequence, then each, is."""


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
            ("places times orientations", len(self.points.places), MOST_POINTS),
            ("moves", len(self.moves), MOST_MOVES),
        ):
            if number > most:
                raise ResourceError(f"{self.name}: the puzzle has {number} {what}, expected at most {most}")
        if self.cosets <= MOST_COSETS:
            each = 4 * (len(self.moves) + 4) + len(self.points.places) + 22
            return Needs(self.cosets * each, 3 * self.positions // 8 + 2**20, all_threads=False)
        try:
            self._check_large()
        except (ResourceError, ValueError) as error:
            raise ResourceError(
                f"{self.name}: {self.cosets:,} cosets of {counted(self.positions, 'position')}, more than the "
                f"{MOST_COSETS:,} that get a row each in a table, and the subgroup is not like <U,D,R2,L2,F2,B2> of "
                f"the 3x3x3 cube: {error}; choose a larger subgroup, or a smaller puzzle"
            ) from None
        entries = self.cosets // len(self.renamings)
        return Needs(6 * entries + 2**27, _kernel.LargeCosets.run_bytes + 2**26, all_threads=True)

    def _check_large(self) -> None:
        """Raises ValueError or ResourceError unless its cosets can be enumerated by ``LargeTables``."""
        if self.positions != _kernel.LargeCosets.positions:
            raise ResourceError(f"that one has {_kernel.LargeCosets.positions:,} positions")
        moves = zip(self.moves, self.inside, strict=True)
        _kernel.LargeCosets.check([_sources(self, move) for move, inside in moves if inside])

    def tables(self) -> Tables:
        """Makes the tables of its cosets. Raises ResourceError."""
        return LargeTables(self) if self.needs.all_threads else SmallTables(self)

    def element(self, text: str) -> Any:
        """What a sequence of moves does, as the kernel takes it. Raises BoardError."""
        maker = WrittenMoves(self.puzzle)
        move = maker.product(maker.held(read_moves(text, spaced=maker.spaced)))
        return np.array(self.points.element(*move.effect), dtype=np.uint16)

    def text_of(self, way: Sequence[int]) -> str:
        """The text of moves by number."""
        names = [move.name for move in permutation(self.puzzle).generators]
        return moves_text([names[move] for move in way])

    @cached_property
    def renamings(self) -> list[Any]:
        """For each symmetry that keeps the subgroup the moves that take the place of moves; first the identity."""
        number = {move: at for at, move in enumerate(self.moves)}
        found = []
        try:
            for each in automorphisms(self.moves, [slot for slot, _ in self.points.places]):
                renamed = [number[conjugate(each, move)] for move in self.moves]
                if all(self.inside[image] == own for image, own in zip(renamed, self.inside, strict=True)):
                    found.append(renamed)
        except TooManyError:
            found = [[*range(len(self.moves))]]
        return [np.array(renamed, dtype=np.uint16) for renamed in sorted(found)]


def own_moves(puzzle: Puzzle, text: str) -> tuple[list[Element], str]:
    """The moves that generate a subgroup, as permutations of the points, and its text. Raises SettingError, and
    TypeError for what is no text."""
    if not isinstance(given := cast("object", text), str):
        raise TypeError(f"subgroup: expected a text such as '<U,R2,F2>', got {type(given).__name__}")

    def fail(problem: str) -> SettingError:
        return SettingError(f"subgroup {shown(text)} of {puzzle.name}: {problem}")

    if puzzle.family != "permutation":
        raise fail(f"the puzzle is of the family {puzzle.family}; only permutation puzzles have cosets")
    definition = permutation(puzzle)
    if not definition.is_group or not definition.symmetric:
        why = "some moves cannot be taken back"
        if definition.guards:
            why = "some moves cannot be made on every board"
        elif not definition.is_group:
            why = "some pieces are alike, or look the same however they are turned"
        raise fail(f"{why}; positions are then no elements of a group")
    if len(definition.goals) > 1:
        raise fail(f"it has {len(definition.goals):,} goals; cosets are counted from one solved board")
    inner = text.strip()
    if not (inner.startswith("<") and inner.endswith(">")):
        raise fail("expected moves between < and >, such as '<U,R2,F2>'")
    if "=" in inner:
        raise fail("moves have no other names here; write those of the puzzle, without =")
    moves, inner = moves_named(puzzle, inner[1:-1], fail, single=True)
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
            subgroup.renamings,
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

    def sequence(self, element: Element) -> str:
        """See ``Tables``."""
        return self._way(self.kernel.coset_of(np.array(element, dtype=np.uint16)))

    def coset(self, text: str) -> Coset:
        """See ``Tables``."""
        coset = self.kernel.coset_of(self._subgroup.element(text))
        first = self._way(self.kernel.first_of_class(coset))
        return Coset(self.kernel.distance(coset), first, self.kernel.class_size(coset))

    def begin(self, text: str, threads: int) -> Run:
        """See ``Tables``. It takes one thread."""
        return _SmallRun(self.kernel, self._subgroup.element(text))

    def rows(self, elements: Any) -> Any:
        """See ``Tables``."""
        return elements


class _SmallRun(_kernel.CosetRun):
    """A run that does not know how much is left of a distance."""

    share = 0.0


class _Coordinate:
    """A number that says how points are coloured after moves, of colours that the subgroup keeps: 0 as at the start.

    ``after``: uint16, by number and move. Raises ResourceError for too many numbers."""

    def __init__(self, subgroup: Subgroup, points: Sequence[int], colours: Sequence[int]) -> None:
        self._points = points
        at = {point: i for i, point in enumerate(points)}
        moved = [[at[back[point]] for point in points] for back in map(inverse, subgroup.moves)]
        self._colour = dict(zip(points, colours, strict=True))
        self._numbers = {tuple(colours): 0}
        after = []
        for values in (queue := [tuple(colours)]):
            for sources in moved:
                then = tuple([values[i] for i in sources])
                number = self._numbers.setdefault(then, len(self._numbers))
                if number == len(queue):
                    queue.append(then)
                    if number >= MOST_NUMBERS:
                        raise ResourceError(f"more than {MOST_NUMBERS:,} ways to turn or to place pieces")
                after.append(number)
        self.count = len(queue)
        self.after = np.array(after, dtype=np.uint16)

    def of(self, element: Element) -> int:
        """The number after an element."""
        back = inverse(element)
        return self._numbers[tuple([self._colour[back[point]] for point in self._points])]


def _coordinates(subgroup: Subgroup) -> list[_Coordinate]:
    """The coordinates of a coset: of each kind of pieces how they are turned, and which of the places that the subgroup
    takes to each other have whose pieces. Three, the last one with the most numbers. Raises ResourceError, whose text
    begins in the middle of a sentence."""
    points = len(subgroup.points.places)
    own = [move for move, inside in zip(subgroup.moves, subgroup.inside, strict=True) if inside]
    turn_of, place_of = [0] * points, [0] * points
    slots_met: dict[tuple[int, ...], int] = {}
    for orbit in orbits(points, own):
        slots = tuple(subgroup.points.places[point][0] for point in orbit)
        if len(set(slots)) < len(slots):
            raise ResourceError("its moves turn pieces in their places")
        turn = subgroup.points.places[orbit[0]][1]
        place = slots_met.setdefault(slots, len(slots_met))
        for point in orbit:
            turn_of[point], place_of[point] = turn, place
    found = [
        _Coordinate(subgroup, kind, [colours[point] for point in kind])
        for kind in orbits(points, subgroup.moves)
        for colours in (turn_of, place_of)
    ]
    found = sorted((each for each in found if each.count > 1), key=lambda each: each.count)
    if len(found) != 3 or prod(each.count for each in found) != subgroup.cosets:
        raise ResourceError("its cosets are not made of three coordinates, each independent of the others")
    return found


def _sources(subgroup: Subgroup, element: Element) -> list[int]:
    """For each slot the slot that its content was in before an element."""
    return [
        subgroup.points.places[point][0] for point in map(inverse(element).__getitem__, subgroup.points.first)
    ]


def _faces(moves: Sequence[Element]) -> list[list[int]]:
    """The moves that are powers of one of them, and of no other such."""
    number = {move: at for at, move in enumerate(moves)}
    faces: list[list[int]] = []
    powers: dict[int, list[int]] = {}
    for at, move in enumerate(moves):
        powers[at], power = [], move
        while power in number and number[power] not in powers[at]:
            powers[at].append(number[power])
            power = product(power, move)
    for at in sorted(powers, key=lambda each: -len(powers[each])):
        if not any(at in face for face in faces):
            faces.append(sorted(powers[at]))
    return faces


class LargeTables:
    """Those of a large subgroup of many cosets, where the distance of a coset follows from a table with an entry for
    one of those that symmetries take to each other."""

    def __init__(self, subgroup: Subgroup) -> None:
        self._subgroup = subgroup
        self._coordinates = _coordinates(subgroup)
        self._renamings = subgroup.renamings
        faces = _faces(subgroup.moves)
        firsts = [subgroup.moves[face[0]] for face in faces]
        self.kernel = _kernel.LargeCosets(
            [each.after for each in self._coordinates],
            [_sources(subgroup, move) for move in subgroup.moves],
            list(subgroup.inside),
            faces,
            [
                sum((product(one, other) == product(other, one)) << at for at, other in enumerate(firsts))
                for one in firsts
            ],
            self._renamings,
            cores(),
        )

    @property
    def classes(self) -> int:
        """See ``Tables``. Raises SettingError: they are not numbered."""
        raise SettingError(
            f"{self._subgroup.name}: all {self._subgroup.cosets:,} cosets would take centuries; choose some"
        )

    def first(self, number: int) -> str:
        """See ``Tables``."""
        return str(self.classes)

    def _state(self, element: Element) -> tuple[int, int, int]:
        first, second, other = (each.of(element) for each in self._coordinates)
        return first, second, other

    def _way(self, state: tuple[int, int, int]) -> list[int]:
        """A shortest sequence to a coset."""
        number = {move: at for at, move in enumerate(self._subgroup.moves)}
        way = [self._subgroup.moves[move] for move in self.kernel.way(state)]
        return [number[inverse(move)] for move in reversed(way)]

    def _end(self, way: Iterable[int]) -> tuple[int, int, int]:
        """The coset that a sequence leads to from the subgroup."""
        state = [0, 0, 0]
        for move in way:
            state = [
                int(each.after[at * len(self._subgroup.moves) + move])
                for each, at in zip(self._coordinates, state, strict=True)
            ]
        return state[0], state[1], state[2]

    def sequence(self, element: Element) -> str:
        """See ``Tables``."""
        return self._subgroup.text_of(self._way(self._state(element)))

    def coset(self, text: str) -> Coset:
        """See ``Tables``."""
        way = self._way(self._state(tuple(self._subgroup.element(text).tolist())))
        images = {self._end(renaming[move] for move in way) for renaming in self._renamings}
        return Coset(len(way), self._subgroup.text_of(self._way(min(images))), len(images))

    def begin(self, text: str, threads: int) -> Run:
        """See ``Tables``."""
        element = tuple(self._subgroup.element(text).tolist())
        return _kernel.LargeCosetRun(
            self.kernel, _sources(self._subgroup, element), self._state(element), threads
        )

    def rows(self, elements: Any) -> Any:
        """See ``Tables``."""
        slots = np.array([slot for slot, _ in self._subgroup.points.places], dtype=np.uint8)
        return slots[np.argsort(elements, axis=1)[:, self._subgroup.points.first]]
