"""What a step needs of a store, whatever holds the data; which states are new; the step itself; distances as bytes.

Invariants: a shard's commit carries the depth that it includes, so a step that is run twice, late or on two workers at
once changes nothing; the owner of a shard counts its states, once, when it commits; missing or damaged input raises, it
is never read as empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from farthest import _kernel
from farthest.errors import DamagedMapError, ResourceError, StorageError
from farthest.models.chunks import UNREACHED, Chunk, MadeChunk, StoredDraft, Unit

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.map_files.form import ResidueForm


Excluded = Literal["none", "before", "two", "all", "united"]
"""The states that are not new at depth d, though moves lead to them from the layer d-1. Which these are depends on the
graph:

    none      graded (all paths to a state are equally long): everything is new
    before    undirected, and depths alternate with the colours of shards: those of the layer d-2
    two       undirected: those of the layers d-1 and d-2
    all       any: all states found
    united    any, where layers are united (``_kernel.Space.united``): V(d), all states up to d, is kept instead of the
              layer d: nothing is taken away
"""

ONLY_COUNTS = "this store keeps no distances: it only counts"


def excluded(*, graded: bool, undirected: bool, alternating: bool = False, united: bool = False) -> Excluded:
    """What is not new in a graph."""
    if graded:
        return "none"
    if united:
        return "united"
    return "all" if not undirected else "before" if alternating else "two"


def excluded_layers(rule: Excluded, depth: int) -> range:
    """The depths of the layers whose states are not new at ``depth``."""
    first = {"none": depth, "before": depth - 2, "two": depth - 2, "all": 0, "united": depth}[rule]
    return range(max(first, 0), depth - 1 if rule == "before" else depth)


class StepInput(Protocol):
    """What a step reads and writes. ``shards``: those still to be stepped. A store's own, found again at ``commit``."""

    @property
    def shards(self) -> list[int]: ...

    def run(self, threads: int = 1) -> list[int]:
        """Takes the step of all ``shards``; returns the number of fresh states of each."""


@dataclass(frozen=True, slots=True)
class BitmapStepInput:
    """Bitmaps: the layers that one call of the kernel's step reads and writes, as its arguments of the
    same names.

    Each list of layers holds together the shards that the step needs; ``shards`` are those still to be stepped."""

    kernel: _kernel.Space
    shards: list[int]
    frontier: list[_kernel.Layer]
    fresh: list[_kernel.Layer]
    exclude: list[list[_kernel.Layer]]
    accumulate: list[list[_kernel.Layer]]
    unite: bool = False
    classes: list[int] = field(default_factory=list)
    """Where the space keeps representatives of symmetries: the classes of what was found by ``run``."""

    def run(self, threads: int = 1) -> list[int]:
        self.kernel.prepare(self.shards, threads)
        states, classes = _kernel.step_counted(
            self.kernel,
            self.shards,
            self.frontier,
            self.fresh,
            self.exclude,
            self.accumulate,
            threads,
            self.unite,
        )
        self.classes.append(classes)
        return states


class StepStore(Protocol):
    """What a step needs: the frontier, and what has been found, of the shards of one job."""

    def open(self, depth: int, shards: Sequence[int]) -> StepInput:
        """What is needed to step ``shards`` to ``depth``; shards that have been stepped are left out.

        A store that keeps several shards in one piece adds the rest of their pieces. Raises when the layer before is
        not complete.
        """

    def commit(self, depth: int, step_input: Any, counts: Sequence[int]) -> None:
        """Makes the step of its shards, with the number of fresh states of each, part of the store, at once and
        once: where another's step of the same shards was first, nothing changes."""


class ShardStore(StepStore, Protocol):
    """Holds every shard of one job, for the one who takes it from layer to layer."""

    @property
    def shards(self) -> int:
        """The number of shards; it never shows in results."""

    def reachable(self, depth: int) -> Sequence[int]:
        """The shards that can have states at ``depth``, found from the layer before, which is complete."""

    def begin(self, depth: int, shards: Sequence[int]) -> list[int]:
        """Prepares the layer ``depth``, for which ``shards`` can have new states; returns the shards to step."""

    def counts(self, depth: int) -> dict[int, int]:
        """Number of states at ``depth``, a complete layer, in each shard that has some. Raises where it is not
        known."""

    def classes(self, depth: int) -> int | None:
        """Of the states at ``depth``, the last complete layer, the classes that symmetries take to each other, where
        they are counted."""
        return None


Base = Callable[[int], Chunk]
"""Gives the chunk of a job's last checkpoint that holds a key."""


class MadeMap(Protocol):
    """A map that workers have made: the chunks of a dense one, the words of a residue map."""

    def chunks(self) -> Iterator[MadeChunk | StoredDraft]:
        """Its chunks, in key order."""

    def words(self) -> Iterator[tuple[int, Buffer]]:
        """Of a residue map: (the first word's number, words), some at a time."""

    def digest(self, layers: Sequence[int]) -> str:
        """Its digest (``models.chunks.map_digest``)."""


class JobStore(ShardStore, Protocol):
    """What an attempt needs besides: results, and a start from a checkpoint.

    Stores derive from it. Its own methods are those of a store that only counts and that has no layer to give up.
    """

    def keys(self, depth: int, limit: int) -> list[int] | list[bytes]:
        """The least ``limit`` codes of the layer ``depth``, the last one that has states: keys, where it is dense."""

    def holds(self, depth: int, key: int) -> bool | None:
        """Whether the layer ``depth``, the last one that has states, has a key. None: not told without reading it."""
        return None

    def chunks(self, depth: int, size: int, threads: int = 1) -> Iterator[Chunk]:
        """All distances up to ``depth``, ``size`` keys a chunk, in key order. Of a sparse space at most ``size`` states
        a chunk, and as many as models/chunks.py allows.
        """
        raise StorageError(ONLY_COUNTS)

    def residue_blocks(self, form: ResidueForm, depth: int, threads: int = 1) -> Iterator[tuple[int, Buffer]]:
        """The words of the residue map up to ``depth``: (the first word's number, words), some at a time."""
        from farthest.stores.residues import words_of_distances

        return words_of_distances(lambda size: self.chunks(depth, size, threads), form)

    def restore(self, depth: int, chunks: Iterable[Chunk], states: int, threads: int = 1) -> None:
        """Continues from the distances of ``states`` states up to ``depth``.

        The store must be new. Raises DamagedMapError when the distances are not those of this space up to that depth.
        """
        raise StorageError(ONLY_COUNTS)

    def stored(self, depth: int, base: Base) -> None:
        """The distances up to ``depth`` are in the database, where ``base`` finds them."""
        return None

    def drop(self) -> None:
        """Gives up all that the store holds."""
        return None


def step(store: StepStore, depth: int, shards: Sequence[int], threads: int = 1) -> None:
    """Finds the states at ``depth`` in ``shards`` and commits them. Running it again changes nothing.

    Raises what the store raises when its input is missing or damaged.
    """
    step_input = store.open(depth, shards)
    if not step_input.shards:
        return
    try:
        counts = step_input.run(threads)
    except _kernel.NotClosedError as error:
        raise StorageError(
            f"depth {depth}, {error}: the program or this machine is at fault, so the layers are wrong; give the "
            "command again with --symmetry none, and report it"
        ) from None
    store.commit(depth, step_input, counts)


MAX_DEPTH = UNREACHED["uint16"] - 1


def check_depth(depth: int) -> None:
    """Raises ResourceError when distances cannot hold the depth of a layer that has states."""
    if depth > MAX_DEPTH:
        raise ResourceError(f"the space is deeper than {MAX_DEPTH:,} moves, the most that distances can hold")


def check_states(found: int, states: int, depth: int) -> None:
    """Raises DamagedMapError when a checkpoint at a depth does not have so many states."""
    if found != states:
        raise DamagedMapError(
            f"the chunks hold {found:,} distances, the layers up to depth {depth} {states:,}"
        )


def unit_for(depth: int) -> Unit:
    """The type of the distances of a map up to ``depth``; its greatest number means not reached."""
    return "uint8" if depth < UNREACHED["uint8"] else "uint16"


def typed(data: memoryview, unit: Unit) -> memoryview:
    """Distances, given as bytes, one by one."""
    return data if unit == "uint8" else data.cast("H")
