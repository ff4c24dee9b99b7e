"""Permutation puzzles whose moves reach few of all arrangements.

The element of the group that takes the origin to a board is found from where the pieces of a *base* are (reach.py), and
tells where all others are. A ``BasedSpace`` is the pattern of these pieces, whose states are one for one those of the
puzzle. In a ``ChainSpace`` every key is a state: an element is a product of one of the chain's elements of each level,
and their numbers are the digits of the key, that of the first level the most significant.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from farthest import _kernel
from farthest.errors import PuzzleError
from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.fields import MAX_SLOTS
from farthest.families.permutation.gather_space import PermutationBoards, PermutationSpace
from farthest.families.permutation.groups import Element, Points
from farthest.families.permutation.layout import VERSION, Layout, choose_layout
from farthest.families.permutation.patterns import PermutationPatterns
from farthest.families.permutation.reach import DENSE, SMALL, Level, base
from farthest.puzzles.definition import Board
from farthest.puzzles.patterns import Choice
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.contract import NO_KEY, check_keys, damaged_layout, layout_json, read_layout
from farthest.spaces.packed import CodedSpace

if TYPE_CHECKING:
    from farthest.spaces.contract import EngineKind


NOWHERE = 2**15 - 1
"""In place of the number of an element where there is none."""


@dataclass(frozen=True, slots=True)
class Base:
    """A base as it is stored with a job."""

    base: tuple[Level, ...]


def _stored_levels(fields: dict[str, Any], definition: Permutation) -> tuple[Level, ...]:
    """The base of a stored layout. Raises StorageError when it is damaged or of another puzzle."""
    levels = read_layout(fields, Base, VERSION).base
    if not levels or len({level.slot for level in levels}) != len(levels):
        raise damaged_layout("a base slot appears twice, or there is none")
    for level in levels:
        if not 0 <= level.slot < definition.slots or not all(
            sorted(to) == list(range(definition.slots)) and len(turn) == definition.slots
            for to, turn in level.elements
        ):
            raise damaged_layout("an element is not a permutation of the slots")
    return levels


class Chain:
    """The elements of one puzzle's group by the images of the slots of a base.

    ``ways[i][d]``: of level i the element with number d, as a permutation of points, uint16 (elements, points);
    ``back[i]``: their inverses; ``number[i]``: of the element that takes the base point to a point, or NOWHERE.
    Elements are numbered in the order in which their images of the base point are found, breadth first, from the
    level's elements in the order in which they are given; each is the one found before, and then that element.
    """

    def __init__(self, definition: Permutation, origin: Board, levels: Sequence[Level]) -> None:
        self._definition = definition
        self._origin = np.array(origin, dtype=np.uint8)
        self._points = Points(definition.slot_moduli)
        self.ways: list[NDArray[np.uint16]] = []
        self.back: list[NDArray[np.uint16]] = []
        self.number: list[NDArray[np.int16]] = []
        for level in levels:
            self._add(
                self._points.first[level.slot], [self._points.element(*element) for element in level.elements]
            )
        self._first = np.array(self._points.first, dtype=np.int64)
        self._slot_of = np.array([slot for slot, _ in self._points.places], dtype=np.int64)
        self._turn_of = np.array([turn for _, turn in self._points.places], dtype=np.uint8)
        self._moduli = np.array(definition.slot_moduli, dtype=np.uint8)
        self._bases = [level.slot for level in levels]

    @property
    def order(self) -> int:
        """The number of elements."""
        return prod(map(len, self.ways))

    def whole(self, boards: NDArray[np.uint8]) -> tuple[NDArray[np.bool_], NDArray[np.uint8]]:
        """Whether an element takes the pieces of the base to where they are on the boards (N, cells), and what it makes
        of the origin; any board where there is none."""
        found, numbers = self.numbers(self.images(boards))
        return found, self.boards(numbers)

    def numbers(self, images: NDArray[Any]) -> tuple[NDArray[np.bool_], list[NDArray[np.intp]]]:
        """Whether there is an element that takes the base points to ``images`` (N, levels), and its number on each
        level."""
        found = np.ones(len(images), dtype=bool)
        numbers: list[NDArray[np.intp]] = []
        for back, number in zip(self.back, self.number, strict=True):
            which = number[images[:, len(numbers)]].astype(np.intp)
            found &= which != NOWHERE
            which[which == NOWHERE] = 0
            numbers.append(which)
            images = back[which[:, None], images]
        return found, numbers

    def boards(self, numbers: Sequence[NDArray[np.intp]]) -> NDArray[np.uint8]:
        """What the elements with these numbers make of the origin."""
        goes: NDArray[Any] = np.broadcast_to(self._first, (len(numbers[0]), len(self._first)))
        for ways, which in zip(reversed(self.ways), reversed(numbers), strict=True):
            goes = ways[which[:, None], goes]
        return self._moved(goes)

    def images(self, boards: NDArray[np.uint8]) -> NDArray[np.int64]:
        """The points (N, levels) where the base points are."""
        slots = self._definition.slots
        images = np.empty((len(boards), len(self._bases)), dtype=np.int64)
        for level, slot in enumerate(self._bases):
            here = (boards[:, :slots] == self._origin[slot]).argmax(axis=1)
            images[:, level] = self._first[here]
            if self._moduli[slot] > 1:
                turned = boards[np.arange(len(boards)), slots + here].astype(np.int64)
                modulus = int(self._moduli[slot])
                images[:, level] += (turned - int(self._origin[slots + slot])) % modulus
        return images

    def _moved(self, goes: NDArray[Any]) -> NDArray[np.uint8]:
        """The boards where the content of each slot of the origin is at the points ``goes`` (N, slots)."""
        slots = self._definition.slots
        boards = np.zeros((len(goes), self._definition.cells), dtype=np.uint8)
        rows = np.arange(len(goes))[:, None]
        to = self._slot_of[goes]
        boards[rows, to] = self._origin[:slots]
        if self._definition.oriented:
            turns = (self._turn_of[goes] + self._origin[slots:]) % self._moduli
            turns[:, np.array(self._definition.ignore)[self._origin[:slots]]] = 0
            boards[rows, slots + to] = turns
        return boards

    def _add(self, point: int, elements: Sequence[Element]) -> None:
        """One more level."""
        made = [np.array(element, dtype=np.uint16) for element in elements]
        ways = {point: np.arange(len(self._points.places), dtype=np.uint16)}
        queue = [point]
        for place in queue:
            for element in made:
                image = int(element[place])
                if image not in ways:
                    ways[image] = element[ways[place]]
                    queue.append(image)
        number = np.full(len(self._points.places), NOWHERE, dtype=np.int16)
        number[queue] = np.arange(len(queue))
        self.ways.append(np.array([ways[image] for image in queue]))
        self.back.append(np.argsort(self.ways[-1], axis=1).astype(np.uint16))
        self.number.append(number)


class GroupBoards(PermutationBoards):
    """The boards that elements of the group make of the first origin; moves join all origins. ``levels``: the base."""

    def __init__(self, puzzle: Puzzle, origin: Origin, origins: list[Board], levels: Sequence[Level]) -> None:
        super().__init__(puzzle, origin, origins)
        self._levels = tuple(levels)

    @cached_property
    def chain(self) -> Chain:
        """The elements."""
        return Chain(self.definition, self.origins[0], self._levels)

    @abstractmethod
    def encode(self, boards: NDArray[np.uint8]) -> NDArray[np.uint64]: ...

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        if self.encode(np.array([board], dtype=np.uint8))[0] != NO_KEY:
            return None
        return super().why_unreachable(board) or (
            f"group: the moves reach {self.chain.order:,} boards, and this is not one of them"
        )


class BasedSpace(GroupBoards):
    """The pieces of the base on the first origin are those of a pattern.

    ``pattern``: the space of the pattern; ``relabel``: for each label of the puzzle that of the pattern.
    """

    def __init__(
        self,
        puzzle: Puzzle,
        origin: Origin,
        origins: list[Board],
        levels: Sequence[Level],
        layout: Layout | None,
    ) -> None:
        super().__init__(puzzle, origin, origins, levels)
        self.engine: EngineKind = "gather"
        definition, self.relabel = pattern_of_base(self.definition, origins, levels)
        chosen = choose_layout(definition, definition.goals) if layout is None else layout
        made = replace(puzzle, definition=definition, known=(), origin=replace(origin, where="goal"))
        self.pattern = PermutationSpace(made, made.origin, list(definition.goals), chosen)
        self.keys = self.pattern.keys
        self.shards_at = self.pattern.shards_at
        self.shard_order = self.pattern.shard_order
        self.compile_kernel = self.pattern.compile_kernel

    @property
    def kernel(self) -> _kernel.ArrangementSpace:
        return self.pattern.kernel

    def layout_fields(self) -> dict[str, Any]:
        """The fields of the pattern's space, and ``base``."""
        return {**self.pattern.layout_fields(), "base": layout_json(self._levels)}

    def keys_of(self, boards: Sequence[Sequence[int]]) -> list[int]:
        if boards == self.origins:
            return self.pattern.keys_of(self.pattern.origins)
        keys: list[int] = self.encode(np.array(boards, dtype=np.uint8)).tolist()
        return keys

    def encode(self, boards: NDArray[np.uint8]) -> NDArray[np.uint64]:
        """A board on which some piece is not where it follows to be has no key."""
        patterns = self._patterns(boards)
        keys = self.pattern.encode(patterns)
        keys[(self._whole(patterns) != boards).any(axis=1)] = np.uint64(NO_KEY)
        return keys

    def decode(self, codes: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """On boards that cannot be reached the pieces that are not of the base are in the origin's order."""
        return self._whole(self.pattern.decode(codes))

    def _patterns(self, boards: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Boards of the puzzle as boards of the pattern."""
        relabel = np.array(self.relabel, dtype=np.uint8)
        return PermutationPatterns().boards(self.pattern.definition, relabel, boards)

    def _whole(self, patterns: NDArray[np.uint8]) -> NDArray[np.uint8]:
        boards = self._spread(patterns)
        found, whole = self.chain.whole(boards)
        boards[found] = whole[found]
        return boards

    def _spread(self, boards: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The pattern's boards as boards of the puzzle: pieces that are alike are as in the origin, not turned."""
        slots = self.definition.slots
        out = np.zeros((len(boards), self.cells), dtype=np.uint8)
        out[:, : boards.shape[1]] = boards
        for alike in range(len(self.pattern.definition.counts)):
            held = [label for label in self.origins[0][:slots] if self.relabel[label] == alike]
            out[:, :slots][boards[:, :slots] == alike] = np.tile(np.array(held, dtype=np.uint8), len(boards))
        return out


def pattern_of_base(
    definition: Permutation, origins: Sequence[Board], levels: Sequence[Level]
) -> tuple[Permutation, tuple[int, ...]]:
    """The pattern of the pieces that stand on the base in the first origin, its goals the origins; and for each label
    of the puzzle that of the pattern. Raises PuzzleError where these are all pieces."""
    labels = tuple(sorted(origins[0][level.slot] for level in levels))
    own = replace(definition, goals=tuple(origins), start=None, net=None)
    return PermutationPatterns().make(own, "", Choice(True, tuple((label,) for label in labels)), "base")


KIND = "chain"

BATCH = 1 << 14
"""Boards encoded at a time: what they need lies in the near caches."""


class ChainSpace(GroupBoards, CodedSpace):
    """Dense: all keys are states."""

    def __init__(self, puzzle: Puzzle, origin: Origin, origins: list[Board], levels: Sequence[Level]) -> None:
        super().__init__(puzzle, origin, origins, levels)
        self._radices = tuple(map(len, self.chain.ways))
        self.keys: int = self.chain.order
        check_keys(puzzle, self.keys, "take fewer points", what="elements")

    def layout_fields(self) -> dict[str, Any]:
        return {"version": VERSION, "kind": KIND, "base": layout_json(self._levels)}

    def encode(self, boards: NDArray[np.uint8]) -> NDArray[np.uint64]:
        keys = np.empty(len(boards), dtype=np.uint64)
        for first in range(0, len(boards), BATCH):
            part = boards[first : first + BATCH]
            found, numbers = self.chain.numbers(self.chain.images(part))
            found &= (self.chain.boards(numbers) == part).all(axis=1)
            own = np.ravel_multi_index(tuple(numbers), self._radices).astype(np.uint64)
            keys[first : first + BATCH] = np.where(found, own, np.uint64(NO_KEY))
        return keys

    def decode(self, codes: NDArray[np.uint64]) -> NDArray[np.uint8]:
        if codes.size and int(codes.max()) >= self.keys:
            raise ValueError("no such key")
        boards = np.empty((codes.size, self.cells), dtype=np.uint8)
        for first in range(0, codes.size, BATCH):
            part = codes[first : first + BATCH].astype(np.int64)
            boards[first : first + BATCH] = self.chain.boards(np.unravel_index(part, self._radices))
        return boards

    @cached_property
    def expander(self) -> _kernel.GroupExpander:
        points = Points(self.definition.slot_moduli)
        levels = [
            (points.first[level.slot], ways)
            for level, ways in zip(self._levels, self.chain.ways, strict=True)
        ]
        moves = [np.array(element, dtype=np.uint16) for element in points.elements(self.moves_away)]
        return _kernel.GroupExpander(len(points.places), levels, moves)


def space_of_few(
    puzzle: Puzzle, origin: Origin, origins: list[Board], states: int
) -> BasedSpace | ChainSpace | None:
    """The space, where so many states are reached from the first origin; None where not all origins are joined."""
    definition = permutation(puzzle)
    levels = base(definition, origins[0])
    if levels is None:
        return None
    if len(origins) > 1:
        numbered = ChainSpace(puzzle, origin, origins, levels)
        if (numbered.encode(np.array(origins, dtype=np.uint8)) == NO_KEY).any():
            return None
    if definition.slots <= MAX_SLOTS:
        with suppress(PuzzleError):  # the base are all pieces, or all but one
            space = BasedSpace(puzzle, origin, origins, levels, None)
            if space.keys <= max(SMALL, states * DENSE):
                return space
    return ChainSpace(puzzle, origin, origins, levels)


def stored_space(
    puzzle: Puzzle, origin: Origin, origins: list[Board], fields: dict[str, Any]
) -> BasedSpace | ChainSpace:
    """The space of a stored layout. Raises StorageError."""
    definition = permutation(puzzle)
    levels = _stored_levels(fields, definition)
    if fields.get("kind") == KIND:
        return ChainSpace(puzzle, origin, origins, levels)
    try:
        pattern, _ = pattern_of_base(definition, origins, levels)
    except PuzzleError as error:
        raise damaged_layout(error) from None
    return BasedSpace(puzzle, origin, origins, levels, Layout.from_dict(fields, pattern))
