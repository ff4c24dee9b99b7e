"""The store of spaces given by their successors, in this process's memory: each layer of each shard is a run.

A run is held as the kernel codes it (kernel/include/farthest/run_blob.hpp), about a byte or two a state. A layer is
stepped in two parts: all successors of the layer before go into the outboxes, as soon as the first of its shards is
stepped; then each shard takes its own out, without those that it has already. Which runs those are depends on the
graph:

    graded        none: a state has only one possible depth
    undirected    the two layers before
    any           all states found, kept in runs that double in size
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from farthest import _kernel
from farthest.errors import DamagedMapError, ResourceError, StorageError
from farthest.models.chunks import WIDTHS, Unit
from farthest.models.sparse import SparsePiece, chunk_states
from farthest.worker.bitmaps import zeros
from farthest.worker.distances import check_depth, typed, unit_for
from farthest.worker.store import Base

if TYPE_CHECKING:
    from farthest.models.pieces import Piece
    from farthest.spaces.contract import ScatterSpace

MOST_SHARDS = 256

KEYS_PER_SHARD = 4096
"""Of a dense space at least: small ones have fewer shards."""

ROOM = 2**30
"""Bytes of successors before repeated ones are removed early."""

SLICE = 2**20
"""States that are expanded between two looks at the memory and at the user's wishes."""

SHARDS_AT_ONCE = 64
"""Shards whose fresh states are found between two such looks."""

BATCH = 2**16
"""States whose successors a space is asked for at once."""

RUN_BYTES = 120
"""What a run takes besides its bytes: an object and its place in two dictionaries."""


@dataclass
class ScatterViews:
    """The shards of one layer that are to be stepped, and what came out: the runs of their fresh states."""

    store: ScatterMemoryStore
    depth: int
    shards: list[int]
    runs: list[bytes] = field(default_factory=list)

    def run(self, threads: int = 1) -> list[int]:
        """Steps the shards; returns the number of fresh states of each."""
        found = self.store.fresh(self.depth, self.shards, threads)
        self.runs = [run for _, run in found]
        return [states for states, _ in found]


class ScatterMemoryStore:
    """``JobStore`` over runs of this process.

    ``distances``: keep them, for ``chunks``. ``memory``: bytes that runs and successors may take, None for no limit.
    ``look_around`` is called now and then while a layer is stepped; it may raise.
    """

    def __init__(self, space: ScatterSpace, *, distances: bool, memory: int | None = None) -> None:
        self.space = space
        self.look_around: Callable[[], None] = lambda: None
        self._width = space.code_bytes
        self._keys = space.keys or 0
        self.shards = max(1, min(MOST_SHARDS, self._keys // KEYS_PER_SHARD)) if self._keys else MOST_SHARDS
        self._distances = distances
        self._memory = memory
        self._boxes = self._new_boxes()
        self._expanded = 0  # the depth whose candidates the boxes hold
        self._stepping = threading.Lock()
        self._runs: dict[int, dict[int, bytes]] = {0: {}}  # by depth and shard
        self._counts: dict[int, dict[int, int]] = {0: {}}
        self._found: dict[int, list[tuple[int, bytes]]] = {}  # by shard: states and run, the largest first
        self._bytes = 0  # of runs
        self._depth = 0
        self._begun: list[int] = []
        self._taken: set[int] = set()
        self._stamp = [0] * self.shards
        self._boxes.add(space.origin_codes())
        filled = self._boxes.filled()
        for shard, (states, run) in zip(filled, self._boxes.take(filled, [[]] * len(filled)), strict=True):
            self._keep(0, shard, states, run)

    @property
    def _remembers(self) -> bool:
        """Whether all states found must be known to tell which are new."""
        return not (self.space.graded or self.space.undirected)

    def _new_boxes(self) -> _kernel.Outboxes:
        room = ROOM if self._memory is None else min(ROOM, self._memory // 4)
        return _kernel.Outboxes(self._width, self.shards, self._keys, room)

    # Memory

    @property
    def held_bytes(self) -> int:
        """Bytes that runs and successors take now."""
        return self._bytes + self._boxes.held_bytes

    def _check_memory(self, depth: int) -> None:
        if self._memory is not None and self.held_bytes > self._memory:
            advice = ", or count the layers without keeping distances" if self._distances else ""
            raise ResourceError(
                f"the states up to depth {depth} need {self.held_bytes:,} bytes of memory, more than the "
                f"{self._memory:,} allowed; allow more, set a depth limit{advice}"
            )

    def _keep(self, depth: int, shard: int, states: int, run: bytes) -> None:
        """Makes the run of a layer part of what is known."""
        self._runs[depth][shard] = run
        self._counts[depth][shard] = states
        self._bytes += len(run) + RUN_BYTES
        if self._remembers:
            found = self._found.setdefault(shard, [])
            found.append((states, run))
            self._bytes += len(run)
            while len(found) > 1 and found[-2][0] < 2 * found[-1][0]:
                runs = [found.pop()[1], found.pop()[1]]
                found.append(_kernel.merge_runs(self._width, runs))
                self._bytes += len(found[-1][1]) - sum(map(len, runs))

    def _forget(self, depth: int) -> None:
        """Gives up the runs of a layer that is needed no more."""
        for run in self._runs.pop(depth, {}).values():
            self._bytes -= len(run) + RUN_BYTES

    # ShardStore

    def reachable(self, depth: int) -> list[int]:
        """See ShardStore: any shard may have successors of any other."""
        return list(range(self.shards)) if self._counts[depth - 1] else []

    def begin(self, depth: int, shards: Sequence[int]) -> list[int]:
        """See ShardStore."""
        if depth == self._depth:
            return list(self._begun)
        missing = [shard for shard in self._begun if self._stamp[shard] < self._depth]
        if depth != self._depth + 1 or missing:
            raise StorageError(
                f"layer {depth} cannot begin: layer {self._depth} is the last one begun, and {len(missing)} of its "
                f"shards are not committed"
            )
        self._depth = depth
        self._runs[depth], self._counts[depth] = {}, {}
        if not self._distances:
            self._forget(depth - 3)
        self._begun = sorted(set(shards))
        self._taken = set()
        return list(self._begun)

    def open(self, depth: int, shards: Sequence[int]) -> ScatterViews:
        """See ShardStore. A shard is given out once: its step takes its successors out of the boxes."""
        if depth != self._depth or depth == 0:
            raise StorageError(f"depth {depth} is not being stepped; depth {self._depth} is")
        free = [shard for shard in shards if self._stamp[shard] < depth and shard not in self._taken]
        self._taken.update(free)
        return ScatterViews(self, depth, free)

    def commit(self, depth: int, views: ScatterViews, counts: Sequence[int]) -> None:
        """See ShardStore. Raises ResourceError when the layer is too deep for distances, or takes too much memory."""
        if any(counts) and self._distances:
            check_depth(depth)
        for shard, states, run in zip(views.shards, counts, views.runs, strict=True):
            self._stamp[shard] = depth
            if states:
                self._keep(depth, shard, states, run)
        self._check_memory(depth)

    def counts(self, depth: int) -> dict[int, int]:
        """See ShardStore."""
        return self._counts[depth]

    # The step

    def fresh(self, depth: int, shards: Sequence[int], threads: int) -> list[tuple[int, bytes]]:
        """The states of a layer that are in none before, shard by shard: their number, and their run."""
        with self._stepping:
            if self._expanded < depth:
                self._expand(depth, threads)
            found: dict[int, tuple[int, bytes]] = {}
            filled = set(self._boxes.filled())
            wanted = [shard for shard in shards if shard in filled]
            before = self._bytes
            try:
                for first in range(0, len(wanted), SHARDS_AT_ONCE):
                    part = wanted[first : first + SHARDS_AT_ONCE]
                    taken = self._boxes.take(part, [self._known(depth, shard) for shard in part], threads)
                    found.update(zip(part, taken, strict=True))
                    self._bytes += sum(len(run) for _, run in taken)
                    self._check_memory(depth)
                    self.look_around()
            finally:
                self._bytes = before
            return [found.get(shard, (0, b"")) for shard in shards]

    def _known(self, depth: int, shard: int) -> list[bytes]:
        if self.space.graded:
            return []
        if self.space.undirected:
            layers = (self._runs.get(depth - 1, {}), self._runs.get(depth - 2, {}))
            return [layer[shard] for layer in layers if shard in layer]
        return [run for _, run in self._found.get(shard, ())]

    def _expand(self, depth: int, threads: int) -> None:
        """Puts the successors of the layer before into the boxes."""
        try:
            for runs in self._slices(depth - 1):
                self._put_successors(runs, threads)
                self._check_memory(depth)
                self.look_around()
        except BaseException:
            self._boxes = self._new_boxes()
            raise
        self._expanded = depth

    def _slices(self, depth: int) -> Iterator[list[bytes]]:
        """The runs of a layer, some at a time."""
        runs, states = list[bytes](), 0
        for shard, run in self._runs[depth].items():
            runs.append(run)
            states += self._counts[depth][shard]
            if states >= SLICE:
                yield runs
                runs, states = [], 0
        if runs:
            yield runs

    def _put_successors(self, runs: list[bytes], threads: int) -> None:
        expander: _kernel.Expander | None = getattr(self.space, "expander", None)
        if expander is not None:
            self._boxes.expand(expander, runs, threads)
            return
        codes = memoryview(b"".join(_kernel.run_codes(self._width, run) for run in runs))
        size = BATCH * self._width
        for first in range(0, len(codes), size):
            self._boxes.add(self.space.successors(codes[first : first + size], threads), threads)
            self.look_around()

    # Results

    def keys(self, depth: int, limit: int) -> list[int] | list[bytes]:
        """See JobStore: of byte strings a list of bytes."""
        layer = self._runs[depth]
        if self._keys:
            codes = b""
            for shard in sorted(layer):  # the shards of dense spaces follow each other
                codes += _kernel.run_codes(self._width, layer[shard], limit - len(codes) // self._width)
        else:
            least = b"".join(_kernel.run_codes(self._width, run, limit) for run in layer.values())
            codes = _kernel.run_codes(self._width, _kernel.run_of(self._width, least)[1], limit)
        if self._width == 8:
            return memoryview(codes).cast("Q").tolist()
        return [codes[at : at + self._width] for at in range(0, len(codes), self._width)]

    def chunks(self, depth: int, size: int, threads: int = 1) -> Iterator[Piece]:
        """See JobStore: ``size`` keys a chunk of a dense space, at most so many states of a sparse one."""
        if not self._distances:
            raise StorageError("this store keeps no distances: it only counts")
        self._boxes.trim()
        return self._dense(depth, size) if self._keys else self._sparse(depth, size, threads)

    def _dense(self, depth: int, size: int) -> Iterator[Piece]:
        unit, per_shard = unit_for(depth), -(-self._keys // self.shards)
        readers: dict[int, _kernel.MapReader] = {}
        for first in range(0, self._keys, size):
            end = min(first + size, self._keys)
            out = zeros((end - first) * WIDTHS[unit])
            distances = typed(out, unit)
            for shard in range(first // per_shard, (end - 1) // per_shard + 1):
                if shard not in readers:
                    readers = {shard: self._reader(depth, [shard])}
                begin = max(first, shard * per_shard)
                stop = min(end, (shard + 1) * per_shard)
                readers[shard].fill(begin, distances[begin - first : stop - first])
            yield first, end - 1, unit, out

    def _sparse(self, depth: int, size: int, threads: int) -> Iterator[Piece]:
        unit = unit_for(depth)
        reader = self._reader(depth, range(self.shards))
        states, first = min(size, chunk_states(self._width)), 0
        while True:
            codes, distances = reader.next(states, WIDTHS[unit], threads)
            if not codes:
                return
            last = first + len(codes) // self._width - 1
            yield SparsePiece(first, last, self._width, codes, unit, distances)
            first = last + 1

    def _reader(self, depth: int, shards: Iterable[int]) -> _kernel.MapReader:
        layers = [
            (self._runs[d][shard], d) for shard in shards for d in range(depth + 1) if shard in self._runs[d]
        ]
        return _kernel.MapReader(self._width, [run for run, _ in layers], [d for _, d in layers])

    def stored(self, depth: int, base: Base) -> None:
        """See JobStore: the runs hold all distances, none need be read again."""

    def drop(self) -> None:
        """See JobStore: the runs go with the store."""

    def restore(
        self,
        depth: int,
        chunks: Iterable[tuple[int, Unit, memoryview] | SparsePiece],
        states: int,
        threads: int = 1,
    ) -> None:
        """See JobStore."""
        if self._depth != 0:
            raise StorageError("a store can be restored only before its first step")
        writer = _kernel.MapWriter(self._width, self.shards, self._keys, depth)
        for chunk in chunks:
            sparse = isinstance(chunk, SparsePiece)
            first = chunk.first if isinstance(chunk, SparsePiece) else chunk[0]
            try:
                if isinstance(chunk, SparsePiece):
                    if chunk.width != self._width:
                        raise ValueError(
                            f"its codes have {chunk.width} bytes, those of the space {self._width}"
                        )
                    writer.add(chunk.codes, chunk.distances, WIDTHS[chunk.unit])
                else:
                    writer.add_keys(chunk[0], chunk[2], WIDTHS[chunk[1]])
            except ValueError as error:
                raise DamagedMapError(
                    f"the chunk from {'state' if sparse else 'key'} {first} does not fit a map up to depth {depth}: "
                    f"{error}"
                ) from None
        self._runs, self._counts, self._found, self._bytes = {}, {}, {}, 0
        for d in range(depth + 1):
            self._runs[d], self._counts[d] = {}, {}
            for shard, number, run in writer.runs(d):
                self._keep(d, shard, number, run)
            self._check_memory(d)
        found = sum(sum(layer.values()) for layer in self._counts.values())
        if found != states:
            raise DamagedMapError(
                f"the chunks hold {found:,} distances, the layers up to depth {depth} {states:,}"
            )
        self._depth = self._expanded = depth
        self._stamp = [depth] * self.shards
