"""Representatives of puzzles whose boards are contents of cells, where a move or a symmetry takes each cell to a cell,
and what it makes of a cell's content depends on that content alone: which symmetries there are, and which cells are the
outer number, the lines and the bits of a line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from farthest.arrays import np
from farthest.puzzles.grid import closure
from farthest.spaces.reduced import Cut, DigitImages, RepresentativeSpace, subgroups, word_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.spaces.contract import Boards
    from farthest.spaces.digits import DigitBoards

    Numbers = NDArray[np.int64]

MOST_MAPS = 4096
MOST_TRIED = 200_000
"""Images of points that are tried, at the most."""

MOST_OUTER = 2**18
LEAST_OUTER = 64
"""Outer numbers for each symmetry: few of so many are taken to themselves."""

MOST_LINES = 2**31
MOST_VALUES = 2**12
"""Values of a digit of lines, but for cells that symmetries take to each other."""

MOST_TERMS = 2**26
"""Values of a digit, times moves and symmetries."""

MOST_WORDS = 256
"""Words of a line, at the most."""


@dataclass(frozen=True, slots=True)
class CellMap:
    """What is in cell i goes to cell ``to[i]``, and content x becomes ``contents[i][x]``; -1: with x in cell i the map
    cannot be made, be it a pull."""

    to: tuple[int, ...]
    contents: tuple[tuple[int, ...], ...]

    @property
    def image(self) -> tuple[Any, ...]:
        return self.to, self.contents

    def then(self, other: CellMap) -> CellMap:
        """This map and then the other."""
        return CellMap(
            tuple(other.to[cell] for cell in self.to),
            tuple(
                tuple(content if content < 0 else other.contents[cell][content] for content in contents)
                for cell, contents in zip(self.to, self.contents, strict=True)
            ),
        )

    def images(self, boards: Boards) -> Boards:
        """The images of boards, uint8 (N, cells)."""
        found = np.empty_like(boards)
        found[:, list(self.to)] = np.array(self.contents, dtype=np.uint8)[np.arange(len(self.to)), boards]
        return found


def automorphisms(points: int, relation: Collection[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The permutations of points that take each tuple of a relation to one of it, the identity first; the identity
    alone where they are too many."""
    tuples = set(relation)
    of_point: list[list[tuple[int, ...]]] = [[] for _ in range(points)]
    for each in sorted(tuples):
        for point in set(each):
            of_point[point].append(each)
    kinds = [Counter((len(each), each.index(point)) for each in of_point[point]) for point in range(points)]
    near = [sorted({other for each in of_point[point] for other in each}) for point in range(points)]
    order: list[int] = []
    for first in range(points):
        if first not in order:
            order += closure(first, near.__getitem__)
    place = {point: i for i, point in enumerate(order)}
    tried = 0

    def extended(to: dict[int, int]) -> Iterator[tuple[int, ...]]:
        nonlocal tried
        if len(to) == points:
            yield tuple(to[point] for point in range(points))
            return
        point = order[len(to)]
        before = next((other for other in near[point] if place[other] < place[point]), None)
        taken = set(to.values())
        for there in range(points) if before is None else near[to[before]]:
            tried += 1
            if there in taken or kinds[there] != kinds[point] or tried > MOST_TRIED:
                continue
            made = {**to, point: there}
            if all(
                tuple(made[other] for other in each) in tuples
                for each in of_point[point]
                if all(other in made for other in each)
            ):
                yield from extended(made)

    identity = tuple(range(points))
    found = [identity]
    for image in extended({}):
        if image != identity:
            found.append(image)
        if len(found) > MOST_MAPS:
            break
    return found if len(found) <= MOST_MAPS and tried <= MOST_TRIED else [identity]


class CellCut(Cut):
    """``groups``: the cells of the outer number, of each digit of lines, and of the bits of a line: maps take each to
    one of them. ``contents``: how many a cell has."""

    def __init__(
        self,
        maps: Sequence[CellMap],
        pulls: Sequence[CellMap],
        contents: int,
        groups: Sequence[tuple[int, ...]],
    ) -> None:
        self.maps = self._maps = maps
        self._pulls, self.pulls = pulls, len(pulls)
        self._contents, self._groups = contents, groups
        self._weight = np.zeros(sum(map(len, groups)), dtype=np.int64)
        self._group_of = np.zeros(len(self._weight), dtype=np.int64)
        for number, group in enumerate(groups):
            self._weight[list(group)] = contents ** np.arange(len(group), dtype=np.int64)
            self._group_of[list(group)] = number
        self.outer, *self.line, self.word = (contents ** len(group) for group in groups)

    def _image(self, group: tuple[int, ...], image: CellMap) -> Numbers:
        """What a map makes of each value of the digit of a group; -1: it cannot be made."""
        values = np.arange(self._contents ** len(group))
        found, none = np.zeros_like(values), np.zeros(len(values), dtype=np.bool_)
        for cell in group:
            contents = np.array(image.contents[cell])[values // self._weight[cell] % self._contents]
            found += contents * self._weight[image.to[cell]]
            none |= contents < 0
        found[none] = -1
        return found

    def outer_images(self, symmetry: int) -> Numbers:
        return self._image(self._groups[0], self._maps[symmetry])

    def outer_pulls(self, pull: int) -> Numbers:
        return self._image(self._groups[0], self._pulls[pull])

    @cached_property
    def _links(self) -> dict[tuple[int | None, int], CellMap]:
        return {}

    def digit_images(self, place: int, outer: Numbers, pull: int | None, symmetry: int) -> DigitImages:
        if (pull, symmetry) not in self._links:
            after = self._maps[symmetry]
            self._links[pull, symmetry] = after if pull is None else self._pulls[pull].then(after)
        link, group = self._links[pull, symmetry], self._groups[place + 1]
        return DigitImages(
            tuple((link.to[cell], link.contents[cell]) for cell in group),
            np.zeros((len(outer), 0), dtype=np.int8),
            int(self._group_of[link.to[group[0]]]) - 1,
            lambda _: self._image(group, link),
        )

    def split(self, boards: Boards) -> tuple[Numbers, Numbers]:
        digits = np.stack(
            [boards[:, list(group)].astype(np.int64) @ self._weight[list(group)] for group in self._groups],
            axis=1,
        )
        return digits[:, 0], digits[:, 1:]

    def joined(self, outer: Numbers, digits: Numbers) -> Boards:
        every = np.concatenate([outer[:, None], digits], axis=1)
        return (every[:, self._group_of] // self._weight % self._contents).astype(np.uint8)


def cell_space(
    plain: DigitBoards, maps: Sequence[CellMap], pulls: Sequence[CellMap], order: int | None
) -> RepresentativeSpace | None:
    """The space by the largest group of the maps, or one of ``order``, for which the cells divide; None where there is
    none. The maps: a group, the identity first; those that do not take origins to origins are left out."""
    origins = np.array(plain.origins, dtype=np.uint8)
    kept = [each for each in maps if _same_rows(each.images(origins), origins)]
    contents = plain.radices[0]
    groups = [group for group in subgroups(kept) if order in (None, len(group))]
    for group in sorted(groups, key=len, reverse=True):
        cells = _groups(plain.cells, contents, len(pulls), group)
        if cells is not None:
            return RepresentativeSpace(
                plain, CellCut(group, pulls, contents, cells), undirected=plain.undirected
            )
    return None


def _same_rows(some: Boards, others: Boards) -> bool:
    return sorted(some.tolist()) == sorted(others.tolist())


def _groups(cells: int, contents: int, pulls: int, maps: Sequence[CellMap]) -> list[tuple[int, ...]] | None:
    """The cells of the outer number, of lines and of a line, unions of orbits: a line, of the first cells that can be,
    of full words, of 8 to 32 if that can be; outer numbers, of the last, enough for few stabilisers, and then as few as
    that."""
    orbits = sorted(
        {tuple(sorted({each.to[cell] for each in maps})) for cell in range(cells)},
        key=lambda orbit: (len(orbit), orbit),
    )
    least = min(LEAST_OUTER * len(maps), MOST_OUTER)

    def rank(word: Sequence[int]) -> tuple[Any, ...]:
        bits, words = word_bits(contents ** len(word))
        return bits, 8 <= words <= 32, words

    for word in sorted(_unions(orbits), key=rank, reverse=True):
        if word_bits(contents ** len(word))[1] > MOST_WORDS:
            continue
        rest = [orbit for orbit in orbits if not set(orbit) & set(word)]
        outers = [
            outer
            for outer in _unions(rest[::-1])
            if contents ** len(outer) <= MOST_OUTER
            and contents ** (cells - len(word) - len(outer)) <= MOST_LINES
        ]
        for outer in sorted(
            outers, key=lambda each: (contents ** len(each) < least, abs(contents ** len(each) - least))
        ):
            digits: list[tuple[int, ...]] = []
            for orbit in rest:
                if set(orbit) & set(outer):
                    continue
                if digits and contents ** (len(digits[-1]) + len(orbit)) <= MOST_VALUES:
                    digits[-1] += orbit
                else:
                    digits.append(orbit)
            if all(contents ** len(each) * pulls * len(maps) <= MOST_TERMS for each in digits):
                return [outer, *digits, word]
    return None


def _unions(orbits: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Of the unions of orbits the first of each size."""
    found: dict[int, tuple[int, ...]] = {0: ()}
    for orbit in orbits:
        for size, cells in list(found.items()):
            found.setdefault(size + len(orbit), cells + orbit)
    return [cells for cells in found.values() if cells]
