"""The coordinator's side of an attempt in Redis by the gather engine: begins it, restores it, reads its results.

A checkpoint folds the layers since the last one into the distance map of the database, the *base*: made by this process
alone (``chunks``) or by workers (``parts``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from farthest import _kernel
from farthest.errors import DamagedMapError, JobError, LostStateError
from farthest.models.chunks import UNREACHED, Chunk
from farthest.stores.blobs.blob import VISITED, damaged, encode_blob
from farthest.stores.blocks import Bitmap, Blocks, Cut, Sources, searches_in_place
from farthest.stores.contract import Base, check_states, excluded
from farthest.stores.redis.assembly import chunks_of_part
from farthest.stores.redis.attempt_stores import NOTHING, Access, AttemptLayers, Commit
from farthest.stores.redis.attempts import AttemptFacts
from farthest.stores.redis.gather_store import GatherStepInput, GatherStore
from farthest.stores.redis.map_parts import BitmapAssembly
from farthest.stores.redis.places import RedisPlace
from farthest.stores.redis.records import NOT_COUNTED, Record

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.map_files.form import ResidueForm
    from farthest.spaces.contract import GatherSpace
    from farthest.stores.blobs.place import BlobPlace
    from farthest.stores.redis.connections import RedisNodes


def read_blocks(
    kernel: _kernel.Space,
    blocks: Blocks,
    depth: int,
    depths: Sequence[int],
    chunks: Iterable[Chunk],
    states: int,
    threads: int,
) -> Iterator[tuple[int, dict[int, Bitmap]]]:
    """For each block that has states, in order, a bitmap for each of ``depths`` (-1: of all states found), from the
    ``chunks`` of a checkpoint at ``depth``, from key 0 on without gaps.

    Raises DamagedMapError when they are not a map of ``states`` states up to that depth; at the end, when all is read.
    """
    found, block, bitmaps = 0, -1, dict[int, Bitmap]()
    keys_per_block = kernel.keys // kernel.shards * blocks.per_block
    for chunk in chunks:
        here = chunk.states_of(kernel)
        if not here:  # as most of a checkpoint that was taken early
            continue
        found += here
        first, distances = chunk.first, chunk.distance_array()
        if ((distances > depth) & (distances != UNREACHED[chunk.unit])).any():
            raise DamagedMapError(f"the chunk from key {first} has distances beyond depth {depth}")
        key, end = first, first + len(distances)
        while key < end:
            if key // keys_per_block != block:
                if bitmaps:
                    yield block, bitmaps
                block = key // keys_per_block
                bitmaps = {one: Bitmap(kernel, blocks.shards(block)) for one in depths}
            until = min(end, (block + 1) * keys_per_block)
            part = distances[key - first : until - first]
            for layer, bitmap in bitmaps.items():
                _kernel.mark(kernel, bitmap.layer, key, part, layer, threads)
            key = until
    if bitmaps:
        yield block, bitmaps
    check_states(found, states, depth)


LEAST_SHARE = 0.25
"""The least share of the states in the place of blobs that a checkpoint must remove to be worth its time."""

BYTES_A_STATE = 0.6
"""The size of blobs (docs/scaling.md, Blobs)."""


class GatherAttempt(AttemptLayers[GatherStepInput], GatherStore):
    """``GatherStore`` of a coordinator; made by ``create``. ``distances``: keep all layers for the map, not only to
    count. ``residues``: the form of a residue map, whose layers are kept to the end."""

    @classmethod
    def create(
        cls,
        nodes: RedisNodes,
        attempt: str,
        space: GatherSpace,
        cut: Cut,
        *,
        distances: bool,
        residues: ResidueForm | None = None,
        place: BlobPlace | None = None,
        part_chunks: int | None = None,
    ) -> GatherAttempt:
        """A new attempt at depth 0. ``place``: of its blobs; None: the nodes. ``part_chunks``: of a map part, None for
        about a block's. Raises StorageError (UnavailableError where waiting may help)."""
        kernel = cut.kernel
        origins = space.keys_of(space.origins)
        in_place = searches_in_place(kernel, origins)
        place = place or RedisPlace(nodes)
        facts = AttemptFacts.new(
            space,
            len(nodes),
            place,
            shard_classes=cut.classes,
            per_block=cut.per_block,
            exclude=excluded(
                graded=kernel.graded,
                undirected=kernel.reversible,
                alternating=in_place,
                united=kernel.united and not distances and residues is None,
            ),
            keys=kernel.keys,
            shards=kernel.shards,
            part_chunks=part_chunks or chunks_of_part(kernel.keys // kernel.shards * cut.per_block),
        )
        store = cls(Access.begun(nodes, attempt, facts, place), kernel)
        store._prepare(distances=distances, residues=residues)
        store._set_colours(origins, in_place)
        store._write_first(lambda: store._write_origins(origins))
        return store

    def _set_colours(self, origins: Sequence[int], in_place: bool) -> None:
        keys_per_shard = self.kernel.keys // self.kernel.shards
        colours = self.kernel.colours if in_place else []
        self._colour = colours[origins[0] // keys_per_shard] if colours else -1
        self._reach = Sources(self.kernel)

    def _write_origins(self, origins: Sequence[int]) -> None:
        keys_per_shard = self.kernel.keys // self.kernel.shards
        by_block: dict[int, list[int]] = {}
        for key in sorted(set(origins)):
            by_block.setdefault(self.blocks.of([key // keys_per_shard])[0], []).append(key)
        for block, keys in by_block.items():
            bitmap = Bitmap(self.kernel, self.blocks.shards(block))
            for key in keys:
                _kernel.insert(self.kernel, bitmap.layer, key)
            self._write(0, block, bitmap, len(keys) if self._counts_classes else NOT_COUNTED)
            if self.facts.exclude == "all":
                self._write_all_found(0, block, bitmap)
        self._start(0)

    def _write(self, depth: int, block: int, bitmap: Bitmap, classes: int = NOT_COUNTED) -> None:
        population = _kernel.population(self.kernel, bitmap.layer)
        states = {shard: n for shard, n in zip(self.blocks.shards(block), population, strict=True) if n}
        if states:
            record = Record.new(states, classes=classes)
            blob = encode_blob(self.kernel, depth, block, sum(population), bitmap)
            made = Commit(record, {self.found_name(depth, block, record.nonce): blob})
            self._write_block(depth, block, made)

    def _write_all_found(self, depth: int, block: int, bitmap: Bitmap) -> None:
        states = sum(_kernel.population(self.kernel, bitmap.layer))
        blob = encode_blob(self.kernel, depth, block, states, bitmap, VISITED)
        self._write_visited(depth, block, states, blob)

    def reachable(self, depth: int) -> list[int]:
        if not self.united:
            return self._reach.reached_from(self.counts(depth - 1))
        known = {shard for record in self._complete(depth - 1).values() for shard in record.states}
        return sorted(known.union(self._reach.reached_from(known)))

    # Results

    def keys(self, depth: int, limit: int) -> list[int]:
        """Where layers are united, of one whose layer before is still there."""
        stepper, per_shard = _kernel.UnitStepper(self.kernel, 1), self.kernel.keys // self.kernel.shards
        records = self._complete(depth)
        older = self._complete(depth - 1) if self.united and depth else {}
        found: list[int] = []
        for shard in sorted(self.counts(depth)):
            if len(found) >= limit:
                break
            blob = self._read(self._depth, depth, [shard], records)[shard]
            known = shard in older.get(shard // self.blocks.per_block, NOTHING).states
            without = self._read(self._depth, depth - 1, [shard], older)[shard] if known else b""
            try:
                keys = stepper.keys_of(blob, limit - len(found), without)
            except ValueError as error:
                raise damaged(depth, shard // self.blocks.per_block, error) from error
            found += [shard * per_shard + key for key in keys]
        return found

    def chunks(self, depth: int, size: int, threads: int = 1) -> Iterator[Chunk]:
        """Raises LostStateError where layers are missing."""
        assembly = self.whole_assembly(self.fold(depth, None))
        assert isinstance(assembly, BitmapAssembly), "the store's own"
        return assembly.chunks(size, threads, self.base)

    def residue_blocks(self, form: ResidueForm, depth: int, threads: int = 1) -> Iterator[tuple[int, Buffer]]:
        """The words of the residue map up to ``depth``: (the first word's number, words) of each block, made by this
        process. Raises LostStateError where a blob is missing or damaged."""
        assembly = self.whole_assembly(self.fold(depth, form))
        for block in range(self.blocks.count):
            words, _ = assembly.words(block)
            yield assembly.cut.range_of(block).start, words.data

    def is_short_of_room(self) -> bool:
        """Whether the place of blobs has less room than the layers take there, and a checkpoint would give a good part
        of that back. Raises as ``RedisNodes.call``."""
        older, others = self.unfolded()
        free = None
        if older >= LEAST_SHARE * (older + others):
            free = self.nodes.call(self.place.free)
        return free is not None and free < BYTES_A_STATE * (older + others)

    def unfolded(self) -> tuple[int, int]:
        """How many states the layers in the place have that only results are made from, and how many the others."""
        sizes = {
            depth: sum(sum(record.states.values()) for record in records.values())
            for depth, records in self._layers.items()
        }
        older = sum(states for depth, states in sizes.items() if depth < self._depth - 2)
        return older, sum(sizes.values()) - older

    def stored(self, depth: int, base: Base) -> None:
        """The distances up to ``depth`` are in the database, where ``base`` finds them: they need not be kept any
        more."""

        def checked(key: int) -> Chunk:
            try:
                chunk = base(key)
            except JobError as error:
                raise LostStateError(f"attempt {self.attempt}: {error}") from error
            if chunk.depth < depth:
                raise LostStateError(
                    f"attempt {self.attempt}: the database has the checkpoint of depth {chunk.depth} again, after that "
                    f"of depth {depth}"
                )
            return chunk

        super().stored(depth, base)
        self.base, self._stored_depth = checked, depth
        for layer in [one for one in self._layers if one <= min(depth, self._depth - 3)]:
            self._remove(layer)

    def restore(self, depth: int, chunks: Iterable[Chunk], states: int, threads: int = 1) -> None:
        """``stored`` is to follow."""
        self._unwrite()
        all_found = self.facts.exclude == "all"
        depths = [depth, -1] if all_found else [one for one in (depth, depth - 1) if one >= 0]
        for block, bitmaps in read_blocks(self.kernel, self.blocks, depth, depths, chunks, states, threads):
            for layer, bitmap in bitmaps.items():
                if layer >= 0:
                    self._write(layer, block, bitmap)
                elif any(_kernel.population(self.kernel, bitmap.layer)):
                    self._write_all_found(depth, block, bitmap)
        self._start(depth)
