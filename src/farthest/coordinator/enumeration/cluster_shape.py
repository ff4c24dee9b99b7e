"""What a distributed run works on: its layers, blocks and moves, and how often a worker has a block's input in memory.

Nothing is stepped here: the blocks come from the compiled space, the layers from the puzzle's published answers or from
whoever has counted them.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Any, cast

from farthest.puzzles.puzzle import Puzzle
from farthest.spaces import compile_space
from farthest.spaces.contract import gather
from farthest.stores.blobs.cache import BlobCache
from farthest.stores.blocks import Blocks
from farthest.stores.memory.gather_store import searches_in_place
from farthest.stores.redis.coded_steps import LEAST_SHARD
from farthest.stores.redis.cutting import cut_for_workers
from farthest.worker.enumeration.choice import Choice

if TYPE_CHECKING:
    from farthest.spaces.contract import GatherSpace
    from farthest.stores.redis.gather_store import GatherStore


@dataclass(frozen=True)
class Shape:
    """A space cut into blocks. ``layers``: states by depth. ``exclude``: as in stores/redis/gather_store.py.

    ``active[c]``: blocks that layers of colour c can have states in, with the keys that these can be at; without
    colours both are the same. ``bitmap``: bytes of a block's bitmap. ``coded``: whether blocks are stepped as
    stores/redis/coded_steps.py says, else as whole bitmaps. ``sources(b)``: the blocks that
    moves lead from into b.
    """

    name: str
    layers: tuple[int, ...]
    exclude: str
    keys: int
    shards: int
    lines: int
    blocks: int
    bitmap: int
    row_bytes: int
    coded: bool
    active: tuple[dict[int, int], dict[int, int]]
    sources: Callable[[int], list[int]]

    @classmethod
    def of(cls, puzzle: Puzzle, block_size: int, layers: Sequence[int] | None = None) -> Shape:
        """The shape of a puzzle's search; without ``layers`` they are the published ones. Raises ValueError where none
        are."""
        published = next((answer.layers for answer in puzzle.known if answer.layers), None)
        if layers is None and published is None:
            raise ValueError(f"puzzle {puzzle.name}: no layers are published; give them")
        return cls.of_space(gather(compile_space(puzzle)), block_size, layers or published or ())

    @classmethod
    def of_space(cls, space: GatherSpace, block_size: int, layers: Sequence[int]) -> Shape:
        """The shape of a space's search with these layers."""
        made = cut_for_workers(space, block_size)
        kernel, blocks = made.kernel, Blocks(made.kernel.shards, made.per_block)
        origins = space.keys_of(space.origins)
        in_place = searches_in_place(kernel, origins)
        per_shard = kernel.keys // kernel.shards
        colours = kernel.colours if in_place else []
        first = colours[origins[0] // per_shard] if colours else 0
        active: tuple[dict[int, int], dict[int, int]] = ({}, {})
        for shard in range(kernel.shards):
            block = shard // blocks.per_block
            for parity in (colours[shard] ^ first,) if colours else (0, 1):
                active[parity][block] = active[parity].get(block, 0) + per_shard
        known: dict[int, list[int]] = {}

        def sources(block: int) -> list[int]:
            if block not in known:
                shards = {source for shard in blocks.shards(block) for source in kernel.sources(shard)}
                known[block] = blocks.of(shards)
            return known[block]

        exclude = "before" if in_place else "two" if kernel.reversible else "all"
        return cls(
            name=space.puzzle.name,
            layers=tuple(layers),
            exclude=exclude,
            keys=kernel.keys,
            shards=kernel.shards,
            lines=kernel.lines,
            blocks=blocks.count,
            bitmap=(kernel.words_per_shard * 8 + kernel.lines_per_shard) * blocks.per_block,
            row_bytes=kernel.row_bytes,
            coded=exclude != "all" and kernel.words_per_shard * 8 >= LEAST_SHARD,
            active=active,
            sources=sources,
        )

    def with_layers(self, layers: Sequence[int]) -> Shape:
        """The same space with these layers."""
        return replace(self, layers=tuple(layers))

    def blocks_at(self, depth: int) -> dict[int, int]:
        """The blocks of a layer, with the keys in each that its states can be at."""
        return self.active[depth % 2]

    @cached_property
    def sizes(self) -> tuple[Counter[int], Counter[int]]:
        """How many blocks there are of each number of keys, for each parity of the depth."""
        even, odd = (Counter(blocks.values()) for blocks in self.active)
        return even, odd

    def inputs(self, depth: int, block: int) -> list[int]:
        """The blocks whose states at ``depth`` - 1 a step of the block reads: its sources, and its own."""
        before = self.blocks_at(depth - 1)
        return [one for one in sorted({block, *self.sources(block)}) if one in before]

    @cached_property
    def inputs_per_block(self) -> float:
        """How many those are, on average (of some thousand blocks)."""
        some = [
            (depth, block)
            for depth in (0, 1)
            for block in list(self.blocks_at(depth))[:: max(1, self.blocks // 2000)]
        ]
        return sum(len(self.inputs(depth, block)) for depth, block in some) / len(some)


@dataclass(frozen=True)
class Locality:
    """How much of a step's input its process has in memory already: of the layer before, and of that two before."""

    before: float
    two_before: float


LAYERS_PLAYED = 4


class _ToDo:
    """A layer's to-do set, as worker/enumeration/choice.py asks Redis for it."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._blocks: list[int] = []
        self._places: dict[int, int] = {}

    def fill(self, blocks: Sequence[int]) -> None:
        self._blocks = list(blocks)
        self._places = {block: place for place, block in enumerate(self._blocks)}

    def _remove(self, block: int) -> None:
        place, last = self._places.pop(block), self._blocks.pop()
        if last != block:
            self._blocks[place], self._places[last] = last, place

    def take(self, keys: Sequence[str], args: Sequence[str]) -> bytes | None:
        """What the script does."""
        wanted = next((int(block) for block in args if int(block) in self._places), None)
        if wanted is None and self._blocks:
            wanted = self._random.choice(self._blocks)
        if wanted is not None:
            self._remove(wanted)
        return None if wanted is None else str(wanted).encode()


class _Nodes:
    """What Choice needs of RedisNodes."""

    def __init__(self, todo: _ToDo) -> None:
        self._todo = todo
        self.main = self

    def register_script(self, script: str) -> Callable[..., bytes | None]:
        return self._todo.take

    def call(self, operation: Callable[[], bytes | None]) -> bytes | None:
        return operation()


@dataclass(frozen=True)
class _Store:
    """What Choice needs of a store."""

    attempt: str
    nodes: _Nodes
    sources_of: Callable[[int], list[int]]


@dataclass(frozen=True)
class _Bitmap:
    """What BlobCache needs of a bitmap."""

    bytes: int


def simulated_locality(shape: Shape, workers: int, memory: int) -> Locality:
    """Plays some layers in which all blocks have states, with the workers' own way to choose and to keep blocks.

    Processes take turns, as if all steps took equally long. Where there are few blocks, luck decides much: then it is
    the mean of several plays.
    """
    plays = [_played(shape, workers, memory, seed) for seed in range(max(1, min(20, 2000 // shape.blocks)))]
    return Locality(
        before=fmean(play.before for play in plays),
        two_before=fmean(play.two_before for play in plays),
    )


def _played(shape: Shape, workers: int, memory: int, seed: int) -> Locality:
    """One play: the figures of its last layer."""
    todo = _ToDo(seed)
    store = cast("GatherStore", _Store("1-0", _Nodes(todo), shape.sources))
    chooses = [Choice(store) for _ in range(workers)]
    caches = [BlobCache(memory) for _ in range(workers)]
    bitmap: Any = _Bitmap(shape.bitmap)
    hits = {1: 0, 2: 0}
    asked = {1: 0, 2: 0}
    for depth in range(2, LAYERS_PLAYED + 2):
        blocks = list(shape.blocks_at(depth))
        todo.fill(blocks)
        hits, asked = {1: 0, 2: 0}, {1: 0, 2: 0}
        for turn in range(len(blocks)):
            worker = turn % workers
            block, cache = chooses[worker].next(depth, 0), caches[worker]
            backs = [(1, source) for source in shape.inputs(depth, block)]
            if shape.exclude != "all":
                backs.append((2, block))
            for back, source in backs:
                if depth - back < 2:
                    continue
                asked[back] += 1
                if cache.get(f"{depth - back}:{source}", _Bitmap) is not None:
                    hits[back] += 1
                else:
                    cache.put(f"{depth - back}:{source}", bitmap)
            cache.put(f"{depth}:{block}", bitmap)
            chooses[worker].stepped(depth, block)
    return Locality(
        before=hits[1] / max(1, asked[1]),
        two_before=hits[2] / max(1, asked[2]),
    )
