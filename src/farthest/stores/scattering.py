"""What the stores of spaces given by their successors have in common, wherever they keep their sorted runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, Protocol

from farthest import _kernel
from farthest.errors import DamagedMapError, PuzzleError
from farthest.models.chunks import WIDTHS, Chunk, chunk_states, code_array, descent
from farthest.stores.blocks import zeros
from farthest.stores.contract import check_states, typed, unit_for

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.spaces.contract import ScatterSpace

LEAST_KEPT = 1000
"""Codes that are kept of each shard of a layer whose states are only counted: ``keys`` is not asked for more."""

BATCH = 2**16
"""States whose successors a space is asked for at once, at most."""
FIRST_BATCH = 256
BATCH_SECONDS = 0.25
"""A layer begins with a batch of FIRST_BATCH states; by its time the next are cut to take about so long. A class that
needs long for a state hears soon that its job was cancelled, also where only its later layers are slow."""


class SortedRun(NamedTuple):
    """A run as the kernel codes it (kernel/include/farthest/run_blob.hpp) and its number of states."""

    states: int
    data: Buffer

    @property
    def bytes(self) -> int:
        """Bytes of memory that it takes."""
        return memoryview(self.data).nbytes


NO_STATES = SortedRun(0, b"")


def least_of(width: int, run: SortedRun) -> SortedRun:
    """The run of its least LEAST_KEPT codes. Raises ValueError where it is damaged."""
    if run.states <= LEAST_KEPT:
        return run
    return SortedRun(*_kernel.run_of(width, _kernel.run_codes(width, run.data, LEAST_KEPT)))


def with_run(width: int, runs: Sequence[SortedRun], run: SortedRun) -> tuple[int, SortedRun]:
    """Adds a run to those of all states found. Each that stays is at least twice as long as all that come after it, so
    a state is merged a few times, however many layers there are. Returns how many of the runs stay, and the run that
    takes the place of the others. Raises ValueError where a run is damaged."""
    stay, states = len(runs), run.states
    while stay and runs[stay - 1].states < 2 * states:
        stay -= 1
        states += runs[stay].states
    if stay == len(runs):
        return stay, run
    return stay, SortedRun(*_kernel.merge_runs(width, [one.data for one in (*runs[stay:], run)]))


def expander_of(space: ScatterSpace) -> _kernel.Expander | None:
    """What finds the successors of the space's states in the kernel, if it does."""
    return getattr(space, "expander", None)


@contextmanager
def answers(space: ScatterSpace) -> Iterator[None]:
    """Wrong answers of a user's compiled function, in the block, are errors of the puzzle."""
    try:
        yield
    except _kernel.AnswerError as error:
        name = space.puzzle.name
        raise PuzzleError(f"puzzle {name}: the compiled function of its class {error}") from None


ALL = 2**64 - 1

BOX_BYTES = 2**13
"""Of a shard's box for each thread at least (kernel/src/outboxes.cpp)."""


class Candidates:
    """The successors of a layer in the kernel's boxes, by shard: candidates for the next layer. ``room``: bytes that
    they take before repeated ones are removed early."""

    def __init__(self, space: ScatterSpace, shards: int, room: int) -> None:
        self._space = space
        self._shards = shards
        self.clear(room)

    def clear(self, room: int) -> None:
        """Gives up all candidates."""
        self._divided = self._shards, room
        self.boxes = _kernel.Outboxes(self._space.code_bytes, self._shards, self._space.keys or 0, room)

    def divide(self, shards: int, room: int) -> _kernel.Outboxes:
        """The boxes, which must be empty, for so many shards."""
        if (shards, room) != self._divided:
            self.boxes.divide(shards, room)
            self._divided = shards, room
            self._shards = shards
        return self.boxes

    def put(
        self,
        runs: Sequence[Buffer],
        threads: int,
        poll: Callable[[], None] = lambda: None,
        shards: tuple[int, int] | None = None,
    ) -> None:
        """Puts the successors of all states of the sorted runs into the boxes; ``poll`` is called now and then, and
        may raise. ``shards``: only those from the first to the one before the second, of a space with an expander."""
        expander = expander_of(self._space)
        if expander is not None:
            with answers(self._space):
                self.boxes.expand(expander, runs, threads, *(shards or ()))
            return
        width = self._space.code_bytes
        codes = memoryview(b"".join(_kernel.run_codes(width, run) for run in runs))
        first, size = 0, FIRST_BATCH
        while first < len(codes):
            begun, batch = monotonic(), codes[first : first + size * width]
            self.boxes.add(self._space.successors(batch, threads), threads)
            poll()
            first += len(batch)
            in_time = len(batch) / width * BATCH_SECONDS / max(monotonic() - begun, 1e-6)
            size = max(1, min(int(in_time), BATCH))

    def take(
        self,
        shards: Iterable[int],
        older: Callable[[int], Sequence[Buffer]],
        threads: int,
        most: int = ALL,
    ) -> dict[int, SortedRun]:
        """Takes out what the boxes have for each of the shards, of those for which they have any: the states that are
        in none of its runs ``older``, and the run of the least ``most`` of these."""
        filled = set(self.boxes.filled())
        here = [shard for shard in shards if shard in filled]
        taken = self.boxes.take(here, [older(shard) for shard in here], threads, most)
        return {shard: SortedRun(*run) for shard, run in zip(here, taken, strict=True)}

    def take_all(self, threads: int) -> dict[int, SortedRun]:
        """Takes out all that the boxes have, by shard."""
        return self.take(range(self._shards), lambda shard: (), threads)

    def origins(self) -> dict[int, SortedRun]:
        """The states at depth 0, by shard."""
        self.boxes.add(self._space.origin_codes())
        return self.take_all(1)


@dataclass
class RunsStepInput:
    """``StepInput`` of sorted runs in this process. ``steps``: what came out, shard by shard."""

    store: RunStore
    depth: int
    shards: list[int]
    steps: list[ShardRuns] = field(default_factory=list)

    def run(self, threads: int = 1) -> list[int]:
        self.steps = self.store.step(self.depth, self.shards, threads)
        return [one.fresh.states for one in self.steps]


class ShardRuns(NamedTuple):
    """What the step of a shard has found: its fresh states, and where these are added to a run of states found before,
    that run."""

    fresh: SortedRun
    united: SortedRun = NO_STATES


NOTHING_FOUND = ShardRuns(NO_STATES)


class RunStore(Protocol):
    """A store of sorted runs in this process."""

    def step(self, depth: int, shards: Sequence[int], threads: int) -> list[ShardRuns]:
        """Finds the states of shards, which are given out to be stepped."""


def least_codes(space: ScatterSpace, runs: Mapping[int, Buffer], limit: int) -> list[int] | list[bytes]:
    """The least ``limit`` codes of the runs of a layer, which are given by shard."""
    width = space.code_bytes
    if space.keys is not None:
        codes = b""
        for shard in sorted(runs):  # the shards of dense spaces follow each other
            codes += _kernel.run_codes(width, runs[shard], limit - len(codes) // width)
    else:
        least = b"".join(_kernel.run_codes(width, run, limit) for run in runs.values())
        codes = _kernel.run_codes(width, _kernel.run_of(width, least)[1], limit)
    if width == 8:
        return memoryview(codes).cast("Q").tolist()
    return [codes[begin:end] for begin, end in pairwise(range(0, len(codes) + 1, width))]


RunsOf = Callable[[int], Iterable[tuple[int, "Buffer"]]]
"""Gives (depth, run) of a shard for each depth at which it has states."""


def map_reader(width: int, runs: Iterable[tuple[int, Buffer]]) -> _kernel.MapReader:
    """Reads the states of (depth, run) in the order of their codes."""
    layers = list(runs)
    return _kernel.MapReader(width, [run for _, run in layers], [at for at, _ in layers])


def map_of_runs(
    space: ScatterSpace, shards: int, depth: int, runs_of: RunsOf, size: int, threads: int
) -> Iterator[Chunk]:
    """The chunks of the map up to ``depth`` from the runs of all layers (see JobStore.chunks)."""
    if space.keys is not None:
        yield from dense_map(space, shards, depth, runs_of, size, range(space.keys))
        return
    reader = map_reader(space.code_bytes, (one for shard in range(shards) for one in runs_of(shard)))
    yield from sparse_map(space, depth, reader, size, threads)


def dense_map(
    space: ScatterSpace, shards: int, depth: int, runs_of: RunsOf, size: int, keys: range
) -> Iterator[Chunk]:
    """The chunks of some ``keys`` of a dense map, the runs of one shard at a time."""
    assert space.keys is not None, "the map is dense"
    unit, width = unit_for(depth), space.code_bytes
    per_shard = -(-space.keys // shards)
    read, of_shard = -1, map_reader(width, ())
    for first in range(keys.start, keys.stop, size):
        end = min(first + size, keys.stop)
        out = zeros((end - first) * WIDTHS[unit])
        distances = typed(out, unit)
        for shard in range(first // per_shard, (end - 1) // per_shard + 1):
            begin, stop = max(first, shard * per_shard), min(end, (shard + 1) * per_shard)
            if shard != read:
                read, of_shard = shard, map_reader(width, runs_of(shard))
                for key in range(shard * per_shard, begin, size):  # those before are passed over
                    of_shard.fill(key, typed(zeros(min(size, begin - key) * WIDTHS[unit]), unit))
            of_shard.fill(begin, distances[begin - first : stop - first])
        yield Chunk(first, end - 1, unit, out)


def sparse_map(
    space: ScatterSpace,
    depth: int,
    reader: _kernel.MapReader,
    size: int,
    threads: int,
    numbers: range | None = None,
    skipped: int = 0,
) -> Iterator[Chunk]:
    """The chunks of a sparse map that ``reader`` gives. ``numbers``: of the states that are wanted, None for all; the
    reader begins ``skipped`` states before them."""
    width, unit = space.code_bytes, unit_for(depth)
    size, before = min(size, chunk_states(width)), b""
    first, end = (0, ALL) if numbers is None else (numbers.start, numbers.stop)
    first -= skipped
    wanted = first + skipped
    while first < end:
        states = min(size, (end if first >= wanted else wanted) - first)
        codes, distances = reader.next(states, WIDTHS[unit], threads)
        if not codes:
            return
        if codes[:width] == before or descent(code_array(codes, width)) is not None:
            raise PuzzleError(
                f"puzzle {space.puzzle.name}: a state was found at two depths: not each move can be taken back by a "
                "move, as the puzzle says; correct it, or leave undirected out"
            )
        before = codes[-width:]
        last = first + len(codes) // width - 1
        if first >= wanted:
            yield Chunk(first, last, unit, distances, width, codes)
        first = last + 1


SAMPLES = 64
"""Codes that are looked at for each range of codes that ``equal_ranges`` makes, about."""


def equal_ranges(width: int, runs: Iterable[SortedRun], states: int, ranges: int) -> Buffer:
    """Codes that divide the states of a sparse space into ``ranges`` ranges, about equally: the first ones of all but
    the first, ascending. ``runs``: those of one shard, whose states a hash has chosen, ``states`` in all."""
    import numpy

    step = max(1, states // (SAMPLES * ranges))
    # Copied, since a view would keep all codes of its run in memory.
    samples = [
        code_array(_kernel.run_codes(width, run.data), width)[step // 2 :: step].copy() for run in runs
    ]
    codes = numpy.sort(numpy.concatenate([code_array(b"", width), *samples]))
    places = numpy.arange(1, ranges) * len(codes) // ranges
    return numpy.unique(codes[places] if len(codes) else codes).tobytes()


def read_map(
    space: ScatterSpace, shards: int, depth: int, chunks: Iterable[Chunk], states: int
) -> Iterator[tuple[int, dict[int, SortedRun]]]:
    """Each depth from 0 on with the runs of its shards, from the ``chunks`` of a
    checkpoint at ``depth`` (see JobStore.restore). Raises DamagedMapError, at the latest after the last."""
    writer = _kernel.MapWriter(space.code_bytes, shards, space.keys or 0, depth)
    for chunk in chunks:
        try:
            if bool(chunk.width) != (space.keys is None):
                raise ValueError("it is of the other kind of map, dense or sparse")
            if chunk.width:
                if chunk.width != space.code_bytes:
                    raise ValueError(
                        f"its codes have {chunk.width} bytes, those of the space {space.code_bytes}"
                    )
                writer.add(chunk.codes, chunk.distances, WIDTHS[chunk.unit])
            else:
                writer.add_keys(chunk.first, chunk.distances, WIDTHS[chunk.unit])
        except ValueError as error:
            place = "state" if chunk.width else "key"
            raise DamagedMapError(
                f"the chunk from {place} {chunk.first} does not fit a map up to depth {depth}: {error}"
            ) from None
    found = 0
    for at in range(depth + 1):
        runs = {shard: SortedRun(states, run) for shard, states, run in writer.runs(at)}
        found += sum(run.states for run in runs.values())
        yield at, runs
    check_states(found, states, depth)
