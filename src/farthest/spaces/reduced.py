"""Spaces of representatives: of the states that symmetries take to each other, those of one outer number are kept.

A state is an *outer number* and inner digits. What a move or a symmetry makes of the outer number depends on it alone,
so of the outer numbers that symmetries take to each other one has a shard, the least (H. Kociemba's coordinates reduced
by symmetry; docs/symmetry.md). A key of a shard stands for as many states as there are such outer numbers: its
*weight*. A family says how its states are cut (``Cut``). The kernel's part is kernel/include/farthest/reduced.hpp.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeVar

from farthest import _kernel
from farthest.arrays import np
from farthest.errors import StorageError
from farthest.puzzles.grid import closure
from farthest.spaces.arrangement import WORD_BITS
from farthest.spaces.contract import NO_KEY, REPRESENTATIVES, OfBoards, check_version, damaged_layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.spaces.contract import Boards, Codes, EngineKind, MovedBoards, Space

    Numbers = NDArray[np.int64]

VERSION = 1

NO_LINE, NO_BIT = 2**31, 2**16 - 1
"""What the kernel takes for a term, and in a map of bits, where a pull cannot be made."""

MOST_GROUPS = 500
"""Subgroups that are tried, at the most."""

LARGEST_SHARD = 2**26
"""Words of a shard at the most where a run is to pay: a step needs several in memory."""

LEAST_SYMMETRIES = 4
"""A link by a symmetry costs up to twice as much as one without."""


class Symmetry(Protocol):
    """A symmetry of a puzzle that fixes the origin."""

    @property
    def image(self) -> Hashable:
        """What it does: equal for equal symmetries."""

    def then(self, other: Self) -> Self:
        """This symmetry and then the other."""

    def images(self, boards: Boards) -> Boards:
        """The images of boards, uint8 (N, cells)."""


S = TypeVar("S", bound=Symmetry)


def distinct_rows(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The rows that differ, in the order of their bytes, and for each row the number of its like among them.

    ``numpy.unique`` by rows compares structured arrays, where a Ctrl-C becomes a TypeError; strings of bytes do not."""
    size = rows[:1].nbytes
    if not size:
        return rows[:1], np.zeros(len(rows), dtype=np.intp)
    strings = np.frombuffer(np.ascontiguousarray(rows), dtype=f"S{size}")
    once, which = np.unique(strings, return_inverse=True)
    return once.view(rows.dtype).reshape(-1, *rows.shape[1:]), which


class DigitImages(NamedTuple):
    """What becomes of a digit of the states of some outer numbers. It depends on ``name`` and on the number's row of
    ``rows``, shape (outer numbers, any). ``there``: the place of the digit that it becomes. ``values``: makes of a row
    the new value of each value; -1 where the pull cannot be made."""

    name: Hashable
    rows: NDArray[Any]
    there: int
    values: Callable[[NDArray[Any]], Numbers]


class Odd(NamedTuple):
    """Of outer numbers, of each digit that numbers lines, and of the last digit: which values are odd, 0 or 1."""

    outer: NDArray[np.uint8]
    line: Sequence[NDArray[np.uint8]]
    word: NDArray[np.uint8]


class Cut(ABC):
    """How states are cut into an outer number and inner digits, and what *pulls*, moves away from the origin undone,
    and symmetries make of these.

    ``maps``: the symmetries, a group, the identity first. ``outer``: the number of outer numbers. ``line``: for each
    digit that numbers lines how many values it has, the first most significant; ``word``: how many values the last
    digit has, which are the bits of a line; 1: there is none. ``odd``: where only that is a state of which an even
    number of values is odd; half of the values of the last digit are, and every pull can be made.
    """

    maps: Sequence[Symmetry]
    outer: int
    line: Sequence[int]
    word: int
    pulls: int
    odd: Odd | None = None

    @abstractmethod
    def outer_images(self, symmetry: int) -> Numbers:
        """What a symmetry makes of each outer number."""

    @abstractmethod
    def outer_pulls(self, pull: int) -> Numbers:
        """What a pull makes of each outer number; -1 where it cannot be made."""

    @abstractmethod
    def digit_images(self, place: int, outer: Numbers, pull: int | None, symmetry: int) -> DigitImages:
        """What a pull, or none, and then a symmetry make of a digit of the states of outer numbers. Places: those of
        ``line``, and then ``word``, which becomes itself."""

    @abstractmethod
    def split(self, boards: Boards) -> tuple[Numbers, Numbers]:
        """The outer numbers of boards, and their digits, shape (boards, digits), ``word`` last."""

    @abstractmethod
    def joined(self, outer: Numbers, digits: Numbers) -> Boards:
        """Inverse of ``split``."""


class Representatives(OfBoards, ABC):
    """A space of representatives of the boards of ``plain``. See ``contract.ReducedSpace``. ``maps``: the symmetries, a
    group, the identity first. ``outer``: the number of outer numbers; ``outer_images``: what the symmetry of a number
    makes of each."""

    engine: EngineKind = "gather"
    code_bytes = 8
    moves_both_ways = True

    def __init__(
        self,
        plain: MovedBoards,
        maps: Sequence[Symmetry],
        outer: int,
        outer_images: Callable[[int], Numbers],
        *,
        undirected: bool,
    ) -> None:
        super().__init__(plain, undirected=undirected)
        self.maps = maps
        least = np.arange(outer)
        symmetry = np.zeros(outer, dtype=np.int64)
        size = np.zeros(outer, dtype=np.int64)
        for number in range(self.order):
            image = outer_images(number)
            less = image < least
            least[less], symmetry[less] = image[less], number
            size += image == np.arange(outer)
        self.representatives, self._shard = np.unique(least, return_inverse=True)
        self._symmetry = symmetry
        """Of each outer number its shard, and the first symmetry that takes it to the shard's."""
        self.weights = self.order // size[self.representatives]

    @property
    def order(self) -> int:
        """The number of symmetries."""
        return len(self.maps)

    @property
    @abstractmethod
    def keys(self) -> int:
        """The number of keys."""

    @cached_property
    def kernel(self) -> _kernel.Space:
        return self.compile_kernel()

    @abstractmethod
    def compile_kernel(self, shard_classes: int = 1, isa: str = "") -> _kernel.Space:
        """One shard for each class of outer numbers, at every level."""

    @abstractmethod
    def pays(self, *, mapped: bool) -> bool:
        """See ``contract.ReducedSpace``."""

    def check(self, codes: Codes) -> None:
        """Raises ValueError when a code is out of range."""
        if len(codes) and int(codes.max()) >= self.keys:
            raise ValueError(f"key {int(codes.max())} is out of range, expected less than {self.keys}")

    def layout_fields(self) -> dict[str, Any]:
        return {"version": VERSION, "kind": REPRESENTATIVES, "symmetries": self.order}

    def shards_at(self, shard_classes: int) -> int:
        return len(self.representatives)

    def shard_order(self, shards: int) -> Sequence[int]:
        return range(shards)

    def keys_of(self, boards: Sequence[Sequence[int]]) -> list[int]:
        return [int(key) for key in self.encode(np.array(boards, dtype=np.uint8))]

    def weights_of(self, codes: Codes) -> Numbers:
        """How many states each code stands for."""
        found: Numbers = self.weights[codes.astype(np.int64) // (self.keys // len(self.weights))]
        return found

    def members(self, codes: Codes) -> tuple[NDArray[np.intp], Boards]:
        """The boards of all states that the codes, none twice, stand for: the row of its code, ascending, and the board
        of each, those of a code in the order of their cells."""
        boards, rows, found = self.decode(codes), [], []
        held = np.flatnonzero(self.weights_of(codes) < self.order)  # a symmetry fixes the outer number
        for each in self.maps:
            images, own = each.images(boards), np.ones(len(boards), dtype=np.bool_)
            own[held] = self.encode(images[held]) == codes[held]
            rows.append(np.flatnonzero(own))
            found.append(images[own])
        names = np.empty((sum(map(len, rows)), 8 + self.cells), dtype=np.uint8)
        names[:, :8] = np.concatenate(rows).astype(">u8").view(np.uint8).reshape(-1, 8)
        names[:, 8:] = np.concatenate(found)
        once, _ = distinct_rows(names)
        return once[:, :8].copy().view(">u8").ravel().astype(np.intp), once[:, 8:]

    def alike(self, codes: Codes) -> Codes:
        """The codes, ascending, of all states that symmetries take to those of the codes."""
        held = self.decode(codes[self.weights_of(codes) < self.order])
        return np.unique(np.concatenate([codes, *(self.encode(each.images(held)) for each in self.maps)]))

    @abstractmethod
    def encode(self, boards: Boards) -> Codes:
        """The boards' codes."""

    @abstractmethod
    def decode(self, codes: Codes) -> Boards:
        """One of the boards of each code."""


class RepresentativeSpace(Representatives):
    """One whose states are cut into digits."""

    def __init__(self, plain: MovedBoards, cut: Cut, *, undirected: bool) -> None:
        super().__init__(plain, cut.maps, cut.outer, cut.outer_images, undirected=undirected)
        self.cut, self._odd = cut, cut.odd
        self._values: Numbers = np.arange(cut.word)[None]
        """The values of the last digit, even and odd ones, and of each its number among these."""
        if self._odd is not None:
            self._values = np.argsort(self._odd.word, kind="stable").reshape(2, -1)
        self._number: Numbers = np.argsort(self._values.ravel()) % self._values.shape[1]
        self._radices: list[int] = [*cut.line, self._values.shape[1]]

    @property
    def lines(self) -> int:
        """Lines of a shard."""
        return prod(self.cut.line)

    @property
    def keys(self) -> int:
        return len(self.representatives) * prod(self._radices)

    def layout_fields(self) -> dict[str, Any]:
        return super().layout_fields() | ({} if self._odd is None else {"halved": True})

    def pays(self, *, mapped: bool) -> bool:
        bits, words = word_bits(self._radices[-1])
        enough = bits * self.order >= WORD_BITS * LEAST_SYMMETRIES
        return enough and words * self.lines <= LARGEST_SHARD

    def compile_kernel(self, shard_classes: int = 1, isa: str = "") -> _kernel.Space:
        tables = _Tables(self.cut)
        shape = len(self.representatives), self.cut.pulls
        sources = np.full(shape, -1)
        lists = np.zeros((*shape, len(self._radices)), dtype=np.int64)
        for pull in range(self.cut.pulls):
            there = self.cut.outer_pulls(pull)[self.representatives]
            for symmetry in np.unique(self._symmetry[there[there >= 0]]).tolist():
                shards = np.flatnonzero((there >= 0) & (self._symmetry[there] == symmetry))
                sources[shards, pull] = self._shard[there[shards]]
                lists[shards, pull] = tables.numbers(self.representatives[shards], pull, symmetry)
        links = sources >= 0
        first = np.concatenate([[0], np.cumsum(links.sum(axis=1))])
        keep = self._keeping()
        held = np.zeros((*keep.shape, len(self._radices)), dtype=np.int64)
        for number in range(1, self.order):
            shards = np.flatnonzero(keep[:, number])
            if len(shards):
                held[shards, number] = tables.numbers(self.representatives[shards], None, number)
        bits, words = word_bits(self._radices[-1])
        maps, held_maps = lists[links][:, -1], held[keep][:, -1]
        odd_values = [np.zeros(0, dtype=np.uint8) for _ in self.cut.line]
        if self._odd is not None:  # two maps for each, that of even values of the line and that of odd ones
            odd_values = list(self._odd.line)
            of_shard = self._odd.outer[self.representatives]
            maps = 2 * maps + of_shard[np.nonzero(links)[0]]
            held_maps = 2 * held_maps + of_shard[np.nonzero(keep)[0]]
        return _kernel.ReducedSpace(
            words,
            bits,
            [
                (size, np.array(terms, dtype=np.uint32).ravel(), odd.tobytes())
                for size, terms, odd in zip(self.cut.line, tables.lists, odd_values, strict=False)
            ],
            first.astype(np.uint64),
            sources[links].astype(np.uint32),
            maps.astype(np.uint32),
            lists[links][:, :-1].astype(np.uint32).ravel(),
            np.concatenate([[0], np.cumsum(keep.sum(axis=1))]).astype(np.uint64),
            held_maps.astype(np.uint32),
            held[keep][:, :-1].astype(np.uint32).ravel(),
            self.weights.astype(np.uint32),
            tables.lists[-1]
            if self._odd is None
            else [
                self._number[each[values]].astype(np.uint16)
                for each in tables.lists[-1]
                for values in self._values
            ],
            self.undirected,
            isa,
        )

    def _keeping(self) -> NDArray[np.bool_]:
        """By shard, whether each symmetry but the identity keeps its outer number."""
        keep = [
            self.cut.outer_images(number)[self.representatives] == self.representatives
            for number in range(self.order)
        ]
        keep[0][:] = False
        return np.array(keep).T

    def encode(self, boards: Boards) -> Codes:
        rows = np.ascontiguousarray(boards, dtype=np.uint8).reshape(-1, self.cells)
        outer = self.cut.split(rows)[0]
        symmetry = self._symmetry[outer]
        images = np.empty_like(rows)
        for number in np.unique(symmetry):
            images[symmetry == number] = self.maps[number].images(rows[symmetry == number])
        keys = self.told(outer)[1]
        outer, digits = self.cut.split(images)
        keys += self._inner(digits)
        # A board that is no state, as its orientations do not sum up to that of the origin, has the digits of another.
        states = (self.cut.joined(outer, digits) == images).all(axis=1)
        if self._odd is not None:
            states &= self._odd.word[digits[:, -1]] == self._parities(outer, digits)
        return np.where(states, keys.astype(np.uint64), np.uint64(NO_KEY))

    def told(self, outer: Numbers) -> tuple[Numbers, Numbers]:
        """Of outer numbers the symmetry that takes each to its shard's, and the shard's first key."""
        return self._symmetry[outer], self._shard[outer] * (self.keys // len(self.weights))

    def inner_of(self, boards: Boards) -> Numbers:
        """What boards that are not coded by a symmetry add to the first key of a shard."""
        return self._inner(self.cut.split(boards)[1])

    def _inner(self, digits: Numbers) -> Numbers:
        found = np.zeros(len(digits), dtype=np.int64)
        for radix, digit in zip(self._radices[:-1], digits.T, strict=False):
            found = found * radix + digit
        found = found * self._radices[-1] + self._number[digits[:, -1]]
        return found

    def _parities(self, outer: Numbers, digits: Numbers) -> NDArray[np.uint8]:
        """Whether the last digit of states with these outer numbers and digits is odd."""
        found = np.zeros(len(outer), dtype=np.uint8)
        if self._odd is not None:
            found = self._odd.outer[outer].copy()
            for odd, digit in zip(self._odd.line, digits.T, strict=False):
                found ^= odd[digit]
        return found

    def decode(self, codes: Codes) -> Boards:
        self.check(codes)
        keys = codes.astype(np.int64)
        digits = np.empty((len(keys), len(self._radices)), dtype=np.int64)
        for place in reversed(range(len(self._radices))):
            digits[:, place] = keys % self._radices[place]
            keys //= self._radices[place]
        outer = self.representatives[keys]
        digits[:, -1] = self._values[self._parities(outer, digits), digits[:, -1]]
        return self.cut.joined(outer, digits)


class _Tables:
    """The lists of terms and the maps of bits that links share, numbered."""

    def __init__(self, cut: Cut) -> None:
        self._cut = cut
        self._weights = [*(prod(cut.line[place + 1 :]) for place in range(len(cut.line))), 1]
        self._none = [*(NO_LINE for _ in cut.line), NO_BIT]
        self.lists: list[list[NDArray[Any]]] = [[] for _ in self._weights]
        self._known: dict[tuple[int, Hashable, bytes], int] = {}

    def numbers(self, outer: Numbers, pull: int | None, symmetry: int) -> Numbers:
        """For each outer number and each digit the number of its list."""
        found = np.empty((len(outer), len(self.lists)), dtype=np.int64)
        for place, lists in enumerate(self.lists):
            name, rows, there, values = self._cut.digit_images(place, outer, pull, symmetry)
            each, which = distinct_rows(rows)
            numbers = []
            for row in each:
                numbers.append(self._known.setdefault((place, name, row.tobytes()), len(lists)))
                if numbers[-1] == len(lists):
                    terms = values(row)
                    made = np.where(terms < 0, self._none[place], terms * self._weights[there])
                    lists.append(made.astype(np.uint16 if place == len(self._cut.line) else np.uint32))
            found[:, place] = np.array(numbers)[which]
        return found


def word_bits(size: int) -> tuple[int, int]:
    """Bits of a word, and words, of a line of so many states."""
    bits = next(bits for bits in range(min(size, WORD_BITS), 0, -1) if size % bits == 0)
    return bits, size // bits


def subgroup(maps: Sequence[S], order: int) -> list[S] | None:
    """All of the maps, or the first of their subgroups that has so many."""
    if order == len(maps):
        return list(maps)
    if len(maps) % order != 0:
        return None
    return next((group for group in subgroups(maps) if len(group) == order), None)


def subgroups(maps: Sequence[S]) -> Iterator[list[S]]:
    """The groups that one, two or three of the maps make, each once, while they are not very many. The maps: a group,
    the identity first, as in each subgroup; where two maps do the same to all states, names may be missing of it."""
    after = _products(maps)
    trivial = frozenset({0})
    known = {trivial}
    layer: list[tuple[frozenset[int], tuple[int, ...]]] = [(trivial, ())]
    yield [maps[0]]
    for _ in range(3):
        following = []
        for group, generators in layer:
            left = set(range(len(maps))) - group
            while left:
                each = min(left)
                left -= {after[member][each] for member in group}
                made = _closure((*generators, each), after)
                if made not in known and -1 not in made and len(known) < MOST_GROUPS:
                    known.add(made)
                    following.append((made, (*generators, each)))
                    yield [maps[i] for i in sorted(made)]
        layer = following


def _products(maps: Sequence[S]) -> list[list[int]]:
    """Of each map and then each map the number of the map that they are, -1 where it is none of them."""
    number = {each.image: i for i, each in enumerate(maps)}
    then = {-1: np.full(len(maps) + 1, -1), 0: np.array([*range(len(maps)), -1])}
    generators: list[NDArray[np.intp]] = []
    for made in maps:
        if number[made.image] in then:
            continue
        products = [number.get(each.then(made).image, -1) for each in maps]
        generators.append(np.array([*products, -1]))
        queue = list(then)
        for each in queue:
            for generator in generators:
                product = int(generator[each])
                if product not in then:
                    then[product] = generator[then[each]]
                    queue.append(product)
    found: list[list[int]] = np.stack([then[each] for each in range(len(maps))], axis=1).tolist()
    return found


def _closure(generators: Sequence[int], after: Sequence[Sequence[int]]) -> frozenset[int]:
    return frozenset(closure(0, lambda each: (after[each][other] for other in generators)))


def stored_reduced(layout: dict[str, Any], space_of: Callable[[int], Space | None]) -> Space:
    """The space of a stored layout. ``space_of``: makes that of so many symmetries. Raises StorageError."""
    check_version(layout, VERSION)
    order = layout.get("symmetries")
    space = space_of(order) if isinstance(order, int) else None
    if space is not None and space.layout_fields() == layout | {"halved": True} != layout:
        raise StorageError(
            "stored key layout: an earlier version of farthest wrote this map of representatives, with twice as many "
            "keys, which this one does not read; enumerate the puzzle again, or use that version"
        )
    if space is None or space.layout_fields() != layout:
        raise damaged_layout(f"{layout!r}")
    return space
