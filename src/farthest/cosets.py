"""Coset enumeration: how many positions of cosets of a subgroup are at which distance from solved, coset by coset.

Some moves of a permutation puzzle generate a *subgroup* H. A *coset* is named by a sequence of moves r: it is the
positions w for which r, then w, is in H. The kernel enumerates one in a bit for each position (kernel/include/farthest/
cosets.hpp): exactly up to a *depth*, to which it lists sequences of moves, and from there on by the moves of H alone,
which shows that positions are no farther than so many moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from threading import Lock
from typing import Annotated, Any

import msgspec

from farthest import _kernel
from farthest.arrays import np
from farthest.errors import BoardError, ForbiddenCodeError, ResourceError, SettingError
from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.groups import Element, Group, Points, conjugate
from farthest.families.permutation.reach import MOST_PRODUCTS, whole_group
from farthest.families.permutation.some_moves import moves_named
from farthest.families.permutation.symmetries import TooManyError, automorphisms
from farthest.families.permutation.written_moves import WrittenMoves
from farthest.machine import memory_limit
from farthest.puzzles.catalogue import load
from farthest.puzzles.move_text import moves_text, read_moves
from farthest.puzzles.puzzle import Puzzle
from farthest.random_source import RandomSource
from farthest.wording import bytes_text, counted, shown

MOST_COSETS = 2**21
"""Their tables are made in seconds to a minute."""
UNCHECKED_BYTES = 2**24
"""A coset that needs no more is enumerated in less time than it takes to ask for the memory that is free."""
NAMED = 3
"""Cosets whose sequences the text of a set has."""
MOST_POINTS = MOST_MOVES = 64
"""Of a puzzle: a piece in one of its orientations is a point."""

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
            more = ", ..." if len(self.chosen) > NAMED else ""
            which = f"cosets {', '.join(each or '(solved)' for each in self.chosen[:NAMED])}{more}"
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
            return len(self.tables.firsts)
        return self.chosen.random if isinstance(self.chosen, Drawn) else len(self.chosen)

    @property
    def tables(self) -> Tables:
        """The subgroup and its cosets. Raises SettingError, ResourceError."""
        with _LOCK:
            return _tables(self.puzzle, self.subgroup)

    def threads(self, most: int) -> int:
        """As many cosets as are enumerated at a time: at most so many, and as memory allows. Raises ResourceError."""
        tables = self.tables
        fit = max(0, memory_limit(None) - tables.table_bytes) // tables.coset_bytes
        if not fit:
            raise ResourceError(
                f"{self.name}: a coset of {tables.kernel.positions:,} positions needs "
                f"{bytes_text(tables.coset_bytes)} beside {bytes_text(tables.table_bytes)} of tables, which is more "
                "than is free; choose a smaller subgroup"
            )
        return min(most, fit)

    def survey(self, part: int, parts: int) -> CosetRow:
        """See ``starts.Starts``. Raises ResourceError where memory is too scarce."""
        tables = self.tables
        if tables.coset_bytes > UNCHECKED_BYTES:
            self.threads(1)
        kernel = tables.kernel
        if isinstance(self.chosen, tuple):
            text = self.chosen[part]
            element = tables.element(text)
            coset = kernel.coset_of(element)
        else:
            coset = tables.firsts[part] if self.chosen is None else self._drawn(tables, self.chosen, part)
            text, element = tables.way(coset)
        run = _kernel.CosetRun(kernel, element)
        layers: list[int] = []
        bounds: list[int] = []
        left, sequences = kernel.positions, 0
        while left:
            listed = len(layers) <= self.depth
            fresh, found = run.advance(listed)
            if not listed and not fresh:
                break
            (layers if listed else bounds).append(fresh)
            left -= fresh
            sequences += found
        first, _ = tables.way(kernel.first_of_class(coset))
        return CosetRow(
            text, kernel.distance(coset), first, kernel.class_size(coset), layers, bounds, left, sequences
        )

    def _drawn(self, tables: Tables, drawn: Drawn, part: int) -> int:
        """The coset of a part, whose random numbers are its own: the first cosets of more are those of fewer."""
        element = tables.group.random(RandomSource(drawn.seed << 32 | part))
        return tables.kernel.coset_of(np.array(element, dtype=np.uint16))


_LOCK = Lock()


@dataclass(frozen=True)
class Tables:
    """A subgroup and its cosets, as the kernel has them. ``group``: of all moves, on the points."""

    puzzle: Puzzle
    group: Group
    kernel: _kernel.Cosets

    @cached_property
    def firsts(self) -> list[int]:
        """Of the cosets that symmetries take to each other the first."""
        return self.kernel.firsts()

    @property
    def definition(self) -> Permutation:
        """The puzzle's."""
        return permutation(self.puzzle)

    @property
    def table_bytes(self) -> int:
        """Memory that all cosets need together."""
        moves, points = len(self.definition.generators), len(self.group.unit)
        return self.kernel.count * (4 * (moves + 4) + points + 22)

    @property
    def coset_bytes(self) -> int:
        """Memory that each coset needs while it is enumerated: three bits a position, and the search."""
        return 3 * self.kernel.positions // 8 + 2**20

    def element(self, text: str) -> Any:
        """What a sequence of moves does, as the kernel takes it. Raises BoardError."""
        maker = WrittenMoves(self.puzzle)
        move = maker.product(maker.held(read_moves(text, spaced=maker.spaced)))
        return np.array(Points(self.definition.slot_moduli).element(*move.effect), dtype=np.uint16)

    def way(self, coset: int) -> tuple[str, Any]:
        """A shortest sequence to a coset, and what it does."""
        text = moves_text([self.definition.generators[move].name for move in self.kernel.way(coset)])
        return text, self.element(text)


def cosets_named(name: str, subgroup: str, depth: int, chosen: Chosen) -> CosetSet:
    """Cosets of a puzzle's name, a subgroup and sequences as users write them. Raises PuzzleError, SettingError,
    BoardError."""
    try:
        puzzle = load(name)
    except ForbiddenCodeError:
        raise SettingError(
            f"{shown(name)}: it is a class in Python; only permutation puzzles have cosets"
        ) from None
    _, text = _own_moves(puzzle, subgroup)
    if isinstance(chosen, tuple):
        chosen = _sequences_given(puzzle, chosen)
    return CosetSet(puzzle, text, depth, chosen)


def _sequences_given(puzzle: Puzzle, texts: Sequence[str]) -> tuple[str, ...]:
    """The texts of sequences as they are kept; of those that lead to one position the first."""
    maker = WrittenMoves(puzzle)
    found: dict[object, str] = {}
    for text in texts:
        try:
            steps = read_moves(text, spaced=maker.spaced)
            effect = maker.product(maker.held(steps)).effect
        except BoardError as error:
            raise BoardError(f"coset {shown(text)}: {error}") from None
        found.setdefault(effect, " ".join(f"{step.word}'" if step.undone else step.word for step in steps))
    return tuple(found.values())


def _own_moves(puzzle: Puzzle, text: str) -> tuple[list[Element], str]:
    """The moves that generate a subgroup, as permutations of the points, and its text."""

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


@lru_cache(maxsize=2)
def _tables(puzzle: Puzzle, subgroup: str) -> Tables:
    generators, _ = _own_moves(puzzle, subgroup)
    definition = permutation(puzzle)
    place = f"{puzzle.name} by {subgroup}"
    points = Points(definition.slot_moduli)
    moves = points.elements(definition.generators)
    for what, number, most in (
        ("points", len(points.places), MOST_POINTS),
        ("moves", len(moves), MOST_MOVES),
    ):
        if number > most:
            raise ResourceError(f"{place}: the puzzle has {number} {what}, expected at most {most}")
    whole, own = whole_group(definition), Group(len(points.places), generators)
    if whole is None or not own.is_whole(MOST_PRODUCTS):
        raise ResourceError(f"{place}: it takes too long to know the group; choose a smaller puzzle")
    cosets = whole.order // own.order
    if cosets > MOST_COSETS:
        raise ResourceError(
            f"{place}: {cosets:,} cosets of {counted(own.order, 'position')}, more than the {MOST_COSETS:,} for which "
            "there are tables; choose a larger subgroup, or a smaller puzzle"
        )
    levels = [
        (level.point, np.array(list(level.ways.values()), dtype=np.uint16))
        for level in own.levels
        if len(level.ways) > 1
    ]
    inside = [own.knows(move) for move in moves]
    kernel = _kernel.Cosets(
        len(points.places),
        levels,
        [np.array(move, dtype=np.uint16) for move in moves],
        inside,
        _renamings(moves, inside, points),
        MOST_COSETS,
    )
    if kernel.count != cosets:
        raise AssertionError(f"{place}: {kernel.count:,} cosets, expected {cosets:,}")
    return Tables(puzzle, whole, kernel)


def _renamings(moves: Sequence[Element], inside: Sequence[bool], points: Points) -> list[Any]:
    """For each symmetry that keeps the subgroup the moves that take the place of moves."""
    number = {move: at for at, move in enumerate(moves)}
    found = []
    try:
        for each in automorphisms(moves, [slot for slot, _ in points.places]):
            renamed = [number[conjugate(each, move)] for move in moves]
            if all(inside[image] == own for image, own in zip(renamed, inside, strict=True)):
                found.append(np.array(renamed, dtype=np.uint16))
    except TooManyError:
        return []
    return found
