"""Codes of representatives of symmetries: which boards a map says that a code stands for, and whether that is right.

Moves are those of the family's plain model. Codes and symmetries are those of the family's space, and nothing of them
is believed. Let S be the symmetries, b(k) the board of code k, and k(b) the code of board b. These are checked by the
plain model:

    symmetries   each takes the successors of a board to those of its image, and the origins to themselves
    classes      k(b(k)) = k; of each successor b of a b(k) an image by S is b(k(b)); so is one of each image of b(k)
    members      the images of b(k) whose code is k, divided by the symmetries that fix b(k), are as many states as k
                 is said to stand for; all codes together stand for the states of all that the layout numbers
    alike        the map has one distance for the codes of all images of a b(k)

Then the distances of all boards are right where those of all b(k) are: by induction along a shortest path each board
is an image of the b(k) of its code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.errors import ResourceError, StorageError
from farthest.puzzles.family import BoardMap
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces import compile_space
from farthest.spaces.contract import PACKED, reduced
from farthest.verify.models import Boards, Codes, LayoutError, model_of

MOST_IMAGES = 2**25
"""Images of boards that the check of classes compares: of larger maps it takes some codes, evenly spread."""

SOME = 2**8
"""Boards that tell of a puzzle's moves, at the most."""


class Representatives:
    """See Model."""

    code_bytes = 8
    block_sizes: Sequence[int] = ()

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> None:
        try:
            space = reduced(compile_space(puzzle, origin, dict(layout)))
        except StorageError as error:
            raise LayoutError(str(error)) from None
        assert space is not None, "the layout is of that kind"
        self._puzzle = puzzle
        self.keys = space.keys
        self.maps = space.maps
        self.codes, self.boards = space.encode, space.decode
        self.weights, self.alike, self.shard_weights = space.weights_of, space.alike, space.weights
        self.states = int(space.weights.sum()) * (space.keys // len(space.weights))
        try:
            self._plain_layout = compile_space(puzzle, origin).layout_fields()
        except ResourceError:
            self._plain_layout = PACKED
        plain = model_of(puzzle, origin, self._plain_layout)
        self.origins, self.successors = plain.origins, plain.successors
        self.plain_keys = plain.keys
        if plain.keys is not None and space.layout_fields().get(
            "halved"
        ):  # the plain layout keeps odd boards
            self.plain_keys = plain.keys // 2
        other = replace(origin, direction="to" if origin.direction == "from" else "from")
        self.predecessors = model_of(puzzle, other, self._plain_layout).successors
        self.reachable = puzzle.definition.reachable(space.origins)

    @cached_property
    def undirected(self) -> bool:
        """Whether the successors of some boards are their predecessors, by the plain model."""
        boards = self.boards(np.arange(0, self.keys, -(-self.keys // SOME), dtype=np.uint64))
        return len(np.setxor1d(_named(*self.successors(boards)), _named(*self.predecessors(boards)))) == 0

    @cached_property
    def moves(self) -> int:
        """The number of moves of a board, about."""
        boards = self.boards(np.arange(0, self.keys, -(-self.keys // SOME), dtype=np.uint64))
        return -(-len(self.successors(boards)[0]) // len(boards))

    @property
    def step(self) -> int:
        """Of so many codes one is taken for the check of classes."""
        return -(-self.keys * (self.moves + len(self.maps)) * len(self.maps) // MOST_IMAGES)

    def images(self, codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64], Codes]:
        """Of how many symmetries the image of each code's board has its code, how many fix it, and the codes of all
        images, shape (symmetries, codes)."""
        boards = self.boards(codes)
        own, fixed = np.zeros(len(codes), dtype=np.int64), np.zeros(len(codes), dtype=np.int64)
        found = np.empty((len(self.maps), len(codes)), dtype=np.uint64)
        for row, each in enumerate(self.maps):
            images = each.images(boards)
            found[row] = self.codes(images)
            own += found[row] == codes
            fixed += (images == boards).all(axis=1)
        return own, fixed, found

    def members(self, codes: Codes) -> Boards:
        """All boards that the codes stand for."""
        boards = self.boards(codes)
        images = [each.images(boards) for each in self.maps]
        own = [image[self.codes(image) == codes] for image in images]
        strings = np.concatenate(own).view(f"S{boards.shape[1]}")  # by rows, Ctrl-C would become a TypeError
        return np.unique(strings).view(boards.dtype).reshape(-1, boards.shape[1])

    def strays(self, boards: Boards) -> NDArray[np.intp]:
        """The rows of boards of which no image is the board of their code."""
        codes = self.codes(boards)
        left = np.arange(len(boards))
        inside = codes < self.keys
        told = np.zeros_like(boards)
        told[inside] = self.boards(codes[inside])
        for each in self.maps:
            left = left[(each.images(boards[left]) != told[left]).any(axis=1) | ~inside[left]]
        return left

    def breaks(self, boards: Boards, each: BoardMap) -> int:
        """How many successors of boards or of their images by the symmetry are not those of the other."""
        rows, after = self.successors(boards)
        of_images, after_images = self.successors(each.images(boards))
        return len(np.setxor1d(_named(rows, each.images(after)), _named(of_images, after_images)))

    def goals(self) -> Codes:
        """The codes of all goals of the puzzle."""
        plain = model_of(self._puzzle, Origin("to", "goal"), self._plain_layout)
        return self.codes(plain.origins())


def _named(rows: NDArray[np.intp], boards: Boards) -> NDArray[np.bytes_]:
    """Rows and boards as bytes."""
    names = np.empty((len(rows), 8 + boards.shape[1]), dtype=np.uint8)
    names[:, :8] = rows.astype(">u8").view(np.uint8).reshape(-1, 8)
    names[:, 8:] = boards
    return names.view(f"S{names.shape[1]}").ravel()


def model(puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> Representatives:
    """See ``model_of``."""
    return Representatives(puzzle, origin, layout)
