"""Searches for tests of the stores that scatter: spaces of each kind, with their layers from plain sets of codes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, cast

from farthest import _kernel
from farthest.families.blocks.reader import board_puzzle
from farthest.models.chunks import digest_of
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces import compile_space
from farthest.spaces.contract import ScatterSpace, scatter
from farthest.stores.contract import step
from farthest.stores.memory.scatter_store import ScatterMemoryStore

PUZZLES = {
    "dense": "hanoi-3-3",
    "dense one-way": "hanoi-cyclic-3-2",
    "sparse": "rush-BBoooooooooCAAoooCooooooooDDoooooooo",
}
NAMES = (*PUZZLES, "byte strings", "byte strings, graded")


class Subsets:
    """Subsets of six things, to which things are added; ``graded``: by one of what is greater than all, else by any, or
    all are taken away. Codes are byte strings of three bytes."""

    engine = "scatter"
    code_bytes = 3
    keys = None
    undirected = False

    def __init__(self, graded: bool) -> None:
        self.graded = graded
        self.puzzle = load("hanoi-3-4")
        self.origin = self.puzzle.origin

    def layout_fields(self) -> dict[str, Any]:
        return {"version": 1, "graded": self.graded}

    def origin_codes(self) -> bytes:
        return bytes(3)

    def successors(self, codes: Any, threads: int) -> bytes:
        found = bytearray()
        for code in codes_in(codes, 3):
            number = int.from_bytes(code, "big")
            first = number.bit_length() if self.graded else 0
            for thing in range(first, 6):
                found += (number | 1 << thing).to_bytes(3, "big")
            if not self.graded:
                found += bytes(3)
        return bytes(found)


def compiled(puzzle: Puzzle, origin: Origin | None = None, layout: dict[str, Any] | None = None) -> Any:
    """``compile_space`` for the spaces of all cases."""
    if layout is not None and "graded" in layout:
        return Subsets(layout["graded"])
    return compile_space(puzzle, origin, layout)


def codes_in(codes: Any, width: int) -> Iterator[bytes]:
    """The codes one by one."""
    data = bytes(memoryview(codes))
    return (data[begin:end] for begin, end in pairwise(range(0, len(data) + 1, width)))


@dataclass(frozen=True)
class ScatterCase:
    """A search: a space, and the codes at each depth, ascending, as bytes."""

    space: ScatterSpace
    layers: tuple[tuple[bytes, ...], ...]

    def states(self, depth: int) -> int:
        """The states of a layer."""
        return len(self.layers[depth])

    def classes(self, depth: int) -> None:
        """They are not counted."""

    def counts(self, depth: int, shards: int) -> dict[int, int]:
        """The states of a layer in each shard that has some, if there are so many shards."""
        if not 0 <= depth < len(self.layers):
            return {}
        boxes = _kernel.Outboxes(self.space.code_bytes, shards, self.space.keys or 0, 2**20)
        boxes.add(b"".join(self.layers[depth]))
        filled = boxes.filled()
        taken = boxes.take(filled, [[]] * len(filled))
        return {shard: states for shard, (states, _) in zip(filled, taken, strict=True)}

    def least(self, depth: int, limit: int) -> list[int] | list[bytes]:
        """What a store's ``keys`` is to give."""
        codes = self.layers[depth][:limit]
        return (
            [int.from_bytes(code, "little") for code in codes] if self.space.code_bytes == 8 else list(codes)
        )


def _puzzle(name: str) -> Puzzle:
    return board_puzzle(name) or load(name)


@cache
def scatter_case(name: str) -> ScatterCase:
    """A search by its name in NAMES."""
    if name in PUZZLES:
        space = scatter(compile_space(_puzzle(PUZZLES[name])))
    else:
        space = cast(ScatterSpace, Subsets("graded" in name))
    width = space.code_bytes
    layers, seen = [set(codes_in(space.origin_codes(), width))], set[bytes]()
    while layers[-1]:
        seen |= layers[-1]
        layers.append(set(codes_in(space.successors(b"".join(layers[-1]), 1), width)) - seen)
    ordered = [sorted(layer, key=lambda code: code[::-1] if width == 8 else code) for layer in layers[:-1]]
    return ScatterCase(space, tuple(map(tuple, ordered)))


def in_memory(of: ScatterCase, depth: int) -> ScatterMemoryStore:
    """The store of this process after so many layers."""
    store = ScatterMemoryStore(of.space, distances=True)
    for known in range(1, depth + 1):
        step(store, known, store.begin(known, store.reachable(known)))
    return store


def digest(store: Any, of: ScatterCase, depth: int, size: int = 50) -> str:
    """The digest of a store's map up to a depth, in pieces of so many states."""
    return digest_of([len(layer) for layer in of.layers[: depth + 1]], store.chunks(depth, size))


def expected(of: ScatterCase, depth: int) -> str:
    """What ``digest`` is to be."""
    return digest(in_memory(of, depth), of, depth, 64)
