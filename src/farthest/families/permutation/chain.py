"""Boards that are known by the pieces of a base: the element of the group that takes the origin to a board is found
from where these pieces are, and takes all the others (families/permutation/reach.py)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from farthest.errors import StorageError
from farthest.families.permutation.points import Points
from farthest.families.permutation.reach import Level
from farthest.json_fields import integers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.families.permutation.definition import Permutation
    from farthest.families.permutation.groups import Permutation as Element
    from farthest.puzzles.definition import Board

NOWHERE = 2**15 - 1
"""In place of the number of an element where there is none."""


def level_fields(levels: Sequence[Level]) -> list[dict[str, Any]]:
    """As stored with a job."""
    return [
        {"slot": level.slot, "elements": [[list(to), list(turn)] for to, turn in level.elements]}
        for level in levels
    ]


def stored_levels(fields: Any, definition: Permutation) -> tuple[Level, ...]:
    """Inverse of ``level_fields``. Raises StorageError when they are damaged or of another puzzle."""
    try:
        levels = tuple(
            Level(
                integers([each["slot"]])[0],
                tuple((integers(to), integers(turn)) for to, turn in each["elements"]),
            )
            for each in fields
        )
        if not levels or len({level.slot for level in levels}) != len(levels):
            raise ValueError("a base slot is there twice, or there is none")
        for level in levels:
            if not 0 <= level.slot < definition.slots or not all(
                sorted(to) == list(range(definition.slots)) and len(turn) == definition.slots
                for to, turn in level.elements
            ):
                raise ValueError("an element is no permutation of the slots")
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(f"stored key layout is damaged ({error!r}); enumerate the puzzle again") from None
    return levels


class Chain:
    """The elements of one puzzle's group by the images of the slots of a base.

    ``ways[i][d]``: of level i the element with number d, as a permutation of points, uint16 (elements, points);
    ``back[i]``: their inverses; ``number[i]``: of the element that takes the base point to a point, or NOWHERE.
    Elements are numbered in the order in which their images of the base point are found, breadth first, from the
    level's elements in the order in which they are given; each is the one found before, and then that element.
    """

    def __init__(self, definition: Permutation, origin: Board, levels: Sequence[Level]) -> None:
        self._body = definition
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
        """Of the element that takes the base points to ``images`` (N, levels): whether there is one, and its number on
        each level."""
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
        slots = self._body.slots
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
        slots = self._body.slots
        boards = np.zeros((len(goes), self._body.cells), dtype=np.uint8)
        rows = np.arange(len(goes))[:, None]
        to = self._slot_of[goes]
        boards[rows, to] = self._origin[:slots]
        if self._body.oriented:
            turns = (self._turn_of[goes] + self._origin[slots:]) % self._moduli
            turns[:, np.array(self._body.ignore)[self._origin[:slots]]] = 0
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
