"""The successors of a layer before they are stepped: in the kernel's boxes, or in outboxes, files of the folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from farthest import _kernel
from farthest.stores.folder.room import Room
from farthest.stores.folder.run_files import NO_STATES, SLAB, CodedRun, RunFiles
from farthest.stores.scattering import put_successors

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.spaces.contract import ScatterSpace

BOXES_SHARE = 0.35
"""The part of the memory that the boxes may take."""

BOXES_FULL = 0.9
"""The boxes go to a file when they have taken this part of their room: what is expanded next may be more than was
thought."""

MOST_SHARDS = 1024
BOX_BYTES = 2**13
"""Of a shard's box for each thread at least (kernel/src/outboxes.cpp); boxes of 8 such pieces suit."""

LEAST_PIECE, SLICE = 2**10, 2**20
"""States that are expanded between two calls of ``poll``, at least and at most."""
SUCCESSORS = 64
"""Of a state, where none was expanded yet."""


def shards_for(memory: int, threads: int) -> int:
    """How many shards suit ``memory`` bytes: a power of two."""
    fitting = int(memory * BOXES_SHARE) // (8 * BOX_BYTES * threads)
    return min(MOST_SHARDS, 1 << (max(fitting, 1).bit_length() - 1))


class Expansion:
    """The boxes, and how they are filled. ``memory``: bytes, of which the boxes may take BOXES_SHARE."""

    def __init__(self, space: ScatterSpace, files: RunFiles, memory: int, threads: int) -> None:
        self._space = space
        self._files = files
        self._shards = files.shards
        self._threads = threads
        self._width = space.code_bytes
        self._room = BOXES_SHARE * memory
        self._full = BOXES_FULL * self._room
        self._successor_bytes = float(SUCCESSORS * self._width)  # of a state, about
        self._clear()

    def _clear(self) -> None:
        self._boxes = _kernel.Outboxes(
            self._width, self._shards, self._space.keys or 0, int(1.25 * self._room)
        )
        self._depth = 0  # whose candidates are in the boxes or outboxes
        self._given = set[int]()  # shards that were taken out of the boxes

    def origin(self) -> list[CodedRun]:
        """The runs of the states at depth 0, one a shard."""
        self._boxes.add(self._space.origin_codes())
        taken = self._taken(range(self._shards))
        return [taken[shard] for shard in range(self._shards)]

    def expand(self, depth: int, counts: Mapping[int, int], poll: Callable[[], None]) -> bool:
        """Puts the successors of the layer before ``depth`` into the boxes, or into outboxes where these do not hold
        them, unless they are there. ``counts``: that layer's states by shard. Returns whether anything was done.

        Raises ValueError where a run is damaged, and what ``poll`` raises.
        """
        if self._depth == depth:
            return False
        self._given = set()
        try:
            with self._files.folder.errors():
                self._put_all(depth, counts, poll)
        except BaseException:
            self._clear()
            raise
        self._depth = depth
        return True

    def _put_all(self, depth: int, counts: Mapping[int, int], poll: Callable[[], None]) -> None:
        for complete, states, runs in self._pieces(depth - 1, counts, self._files.expanded()):
            before = self._boxes.filled_bytes
            put_successors(self._boxes, self._space, runs, self._threads, poll)
            grown = self._boxes.filled_bytes - before
            if grown > 2 * self._shards * BOX_BYTES:  # else it tells of the boxes' pieces of memory
                self._successor_bytes = max(0.8 * self._successor_bytes, grown / states)
            if self._boxes.filled_bytes > self._full:
                self._flush(depth, complete)
            poll()
        if self._files.outboxes and self._boxes.filled():
            self._flush(depth, self._shards)

    def _pieces(
        self, depth: int, counts: Mapping[int, int], first: int
    ) -> Iterator[tuple[int, int, list[Buffer]]]:
        """From the shard ``first`` on some runs of a layer at a time: how many shards are complete with them, their
        states, the runs."""
        room = Room(SLAB)
        at = first
        while at < self._shards:
            left = self._full - self._boxes.filled_bytes
            most = max(LEAST_PIECE, min(SLICE, int(left / self._successor_bytes)))
            end, states = at + 1, counts.get(at, 0)
            while end < self._shards and states + counts.get(end, 0) <= most:
                states += counts.get(end, 0)
                end += 1
            room.clear()
            runs = [run for of in self._files.read("L", depth, at, end, room) for run in of]
            if states > most:
                yield from self._cut(runs, states, most, at, end)
            elif states:
                yield end, states, list(runs)
            at = end

    def _cut(
        self, runs: Sequence[Buffer], states: int, most: int, complete: int, end: int
    ) -> Iterator[tuple[int, int, list[Buffer]]]:
        """The run of one shard in pieces; only after the last the shard is complete."""
        codes = b"".join(_kernel.run_codes(self._width, run) for run in runs)
        for first in range(0, states, most):
            part = codes[first * self._width : (first + most) * self._width]
            number, run = _kernel.run_of(self._width, part)
            yield end if first + most >= states else complete, number, [run]

    def _flush(self, depth: int, expanded: int) -> None:
        self._files.write_outbox(depth, self._taken(self._boxes.filled()), expanded)

    def _taken(self, shards: Sequence[int]) -> dict[int, CodedRun]:
        """What the boxes have for the shards."""
        taken = self._boxes.take(shards, [[]] * len(shards), self._threads)
        return dict(zip(shards, taken, strict=True))

    # Where no outbox was needed

    def again_if_taken(self, shards: Sequence[int]) -> None:
        """Where the boxes have given what is for one of the shards, all is to be expanded again: its step was not
        committed."""
        if not self._given.isdisjoint(shards):
            self._clear()

    def take(self, shards: Sequence[int], known: Sequence[Sequence[Buffer]], threads: int) -> list[CodedRun]:
        """What the boxes have for each of the shards without the states of the runs ``known`` of it."""
        filled = set(self._boxes.filled())
        here = [(shard, runs) for shard, runs in zip(shards, known, strict=True) if shard in filled]
        self._given.update(shards)
        taken = self._boxes.take([shard for shard, _ in here], [runs for _, runs in here], threads)
        found = dict(zip((shard for shard, _ in here), taken, strict=True))
        return [found.get(shard, NO_STATES) for shard in shards]
