"""An enumeration's job in the database: found or added, checkpointed, finished."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress, islice, repeat
from typing import TYPE_CHECKING, Any, Self, cast

from farthest.coordinator.enumeration.residues import residue_file
from farthest.coordinator.runner import OwnedJob
from farthest.coordinator.settings import Settings
from farthest.errors import DamagedMapError
from farthest.models.chunks import (
    CHUNK_KEYS,
    UNREACHED,
    WIDTHS,
    Chunk,
    MapDigest,
    code_array,
    layers_digest,
)
from farthest.models.database import Database
from farthest.models.jobs import Jobs
from farthest.models.leases import owner_token
from farthest.models.maps import Maps
from farthest.models.records import JobRecord, LayerRecord
from farthest.stores.distances import unit_for

if TYPE_CHECKING:
    from farthest.coordinator.enumeration.residues import ResidueFile
    from farthest.spaces.arrangement import ArrangementSpace
    from farthest.spaces.contract import Space
    from farthest.stores.contract import JobStore, MadeMap
    from farthest.stores.folder.journal import LayerFigures


# --- The last checkpoint of a job, and whether it is read or its layers are found again.

READ_BYTES = 125e6
"""Bytes of an unpacked map that are read and restored a second: half of what was measured on 4 cores, for slower disks
and busy machines. Dense, in memory and in Redis alike: sliding-3x4 at depth 30 240e6 to 320e6, pegs-english at depth 14
310e6, pancake-11 at depth 8 200e6. Sparse: benchmarks/two-rows.toml at depth 45 160e6."""

LITTLE_SECONDS = 0.1
"""A checkpoint that takes no longer is read in any case."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a job can go on from. ``map_bytes``: of its map, unpacked."""

    depth: int
    layers: Sequence[LayerRecord]
    map_bytes: int

    @property
    def seconds(self) -> float | None:
        """What its layers took, as far as that is known of each."""
        known = [layer.seconds for layer in self.layers if layer.seconds is not None]
        return sum(known) if len(known) == len(self.layers) else None

    @property
    def reading_seconds(self) -> float:
        """What reading it is expected to take."""
        return self.map_bytes / READ_BYTES

    @property
    def is_worth_reading(self) -> bool:
        """Whether that is less than its layers took: else they are found again, from depth 0 on."""
        reading = self.reading_seconds
        return reading <= LITTLE_SECONDS or self.seconds is None or reading < self.seconds


# --- Readable rows of states: key, distance, board in one line.

Row = tuple[int, int, str]


def board_texts(space: Space, keys: Sequence[int] | Sequence[bytes]) -> list[str]:
    """The boards of the codes: written line by line and decoded at once if the puzzle's tokens allow it."""
    if not keys:
        return []
    template = space.puzzle.definition.line_template()
    if template is None:
        import numpy

        dtype = numpy.uint64 if space.code_bytes == 8 else f"S{space.code_bytes}"
        return space.puzzle.definition.texts(space.decode(numpy.array(keys, dtype=dtype)))
    row, positions, table = template
    rows = bytearray(row * len(keys))
    cast("ArrangementSpace", space).write_boards(cast("Sequence[int]", keys), rows, positions)
    text, _ = codecs.charmap_decode(bytes(rows), "strict", table)
    return text.split("\n")[:-1]


def state_rows(space: Space, chunks: Iterator[Chunk]) -> Iterator[Row]:
    """A row for every reached state of a map's chunks, in key order.

    Chained iterators, without Python code for each row: a map of 100,000 states is stored in some tenths of a second.
    """
    return chain.from_iterable(
        _sparse_rows(space, chunk) if chunk.width else _dense_rows(space, chunk) for chunk in chunks
    )


def layer_rows(space: Space, chunks: Iterator[Chunk], depth: int, limit: int) -> Iterator[Row]:
    """Rows of the first ``limit`` states of a sparse map, or as many as there are, at one depth."""
    return islice(chain.from_iterable(_sparse_rows(space, chunk, depth) for chunk in chunks), limit)


def _sparse_rows(space: Space, chunk: Chunk, depth: int | None = None) -> Iterable[Row]:
    import numpy

    codes = code_array(chunk.codes, chunk.width)
    distances = numpy.frombuffer(memoryview(chunk.distances), dtype=numpy.dtype(chunk.unit).newbyteorder("<"))
    numbers = numpy.arange(chunk.first, chunk.last + 1)
    if depth is not None:
        wanted = distances == depth
        codes, distances, numbers = codes[wanted], distances[wanted], numbers[wanted]
    texts = space.puzzle.definition.texts(space.decode(codes))
    return zip(numbers.tolist(), distances.tolist(), texts, strict=True)


def _dense_rows(space: Space, chunk: Chunk) -> Iterable[Row]:
    data = bytes(memoryview(chunk.distances))  # bytes: searched and iterated faster than a memoryview
    keys, unreached = range(chunk.first, chunk.last + 1), UNREACHED[chunk.unit]
    if data == b"\xff" * len(data):  # no state of a large key range was reached
        return ()
    distances: Sequence[int] = data if chunk.unit == "uint8" else memoryview(data).cast("H")
    if unreached not in distances:
        return zip(keys, distances, board_texts(space, keys), strict=True)
    reached = list(compress(keys, map(unreached.__ne__, distances)))
    found = filter(unreached.__ne__, distances)
    return zip(reached, found, board_texts(space, reached), strict=True)


LAST_BOARDS = 1000
"""Most readable rows of the last layer where a depth limit ended the search: these states are not the farthest."""


class JobRecorder(OwnedJob):
    """The job of one enumeration. ``record``: as it was when the attempt began."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        record: JobRecord,
        owner: str,
        notice: Callable[[str], None],
    ) -> None:
        super().__init__(
            database,
            record,
            owner,
            notice,
            lease_seconds=settings.lease_seconds,
            hand_back=settings.hand_back,
        )
        self._settings = settings
        self._maps = Maps(database)
        self.record = record

    @classmethod
    def begin(
        cls, database: Database, settings: Settings, space: Space, notice: Callable[[str], None]
    ) -> Self:
        """The unfinished job of the same puzzle and parameters which nobody runs, or a new one."""
        jobs, owner = Jobs(database), owner_token()
        puzzle = space.puzzle
        parameters = settings.parameters(space.origin)
        begun = jobs.find_interrupted(puzzle.digest, parameters)
        if begun is None or not jobs.claim(begun.id, owner, settings.lease_seconds):
            number = jobs.add(
                puzzle.to_json(),
                puzzle.digest,
                puzzle.name,
                parameters,
                space.layout_fields(),
                owner,
                lease_seconds=settings.lease_seconds,
            )
            begun = jobs.get(number)
        return cls(database, settings, begun, owner, notice)

    # Checkpoints

    def depth(self) -> int | None:
        """The depth of the checkpoint from which the job can be continued, if there is one."""
        return self._maps.depth(self.job) if self._settings.keeps_distances else None

    def last_checkpoint(self, space: Space) -> Checkpoint | None:
        """The checkpoint that the job can be continued from, if there is one. Raises DamagedMapError when it is
        damaged."""
        depth = self._with_retries(self.depth)
        if depth is None:
            return None
        layers = self._with_retries(lambda: list(self._jobs.layers(self.job)))
        if len(layers) != depth + 1:
            raise self._damaged(depth, f"it has {len(layers)} layers")
        keys = self._with_retries(lambda: self._jobs.get(self.job)).keys or 0
        width = WIDTHS[unit_for(depth)] + (space.code_bytes if space.keys is None else 0)
        return Checkpoint(depth, layers, keys * width)

    def restore(
        self, checkpoint: Checkpoint, store: JobStore, threads: int, told: Callable[[float], None]
    ) -> None:
        """Restores the last checkpoint into the store. ``told`` gets how much of it has been read, 0 to 1, before each
        chunk. Raises DamagedMapError when the checkpoint is damaged."""
        depth, layers = checkpoint.depth, checkpoint.layers
        try:
            store.restore(depth, self._chunks(told), sum(layer.states for layer in layers), threads)
            if sum(store.counts(depth).values()) != layers[-1].states:
                raise DamagedMapError(
                    f"its last layer does not have the {layers[-1].states:,} states that were counted"
                )
        except DamagedMapError as error:
            raise self._damaged(depth, str(error)) from error
        store.stored(depth, self._base)

    def _damaged(self, depth: int, what: str) -> DamagedMapError:
        return DamagedMapError(
            f"{self._database.place}: the checkpoint of job {self.job} at depth {depth} is damaged: {what}; "
            f"remove the job with `farthest delete {self.job}` and enumerate again"
        )

    def _chunks(self, told: Callable[[float], None]) -> Iterator[Chunk]:
        """The chunks of the checkpoint."""
        keys = self._jobs.get(self.job).keys or 1
        for chunk in self._maps.chunks(self.job):
            told(chunk.first / keys)
            yield chunk

    def _base(self, key: int) -> Chunk:
        return self._maps.chunk_at(self.job, key, apart=True)

    @property
    def owner(self) -> str:
        """Who runs the job: this process."""
        return self._owner

    @property
    def database(self) -> Database:
        """Where the job is."""
        return self._database

    def checkpoint(
        self,
        store: JobStore,
        layers: Sequence[int],
        seconds: Sequence[float],
        threads: int,
        made: MadeMap | None = None,
    ) -> None:
        """Stores the distances found so far, in one transaction: ``made``, or what the store has."""

        def write() -> None:
            with self._database.write():  # the lease with it: it may have run out while the map was written
                self._write_map(store, layers, seconds, threads, made=made)
                self._renew()

        self._with_retries(write)
        store.stored(len(layers) - 1, self._base)

    def finish(
        self,
        space: Space,
        store: JobStore,
        layers: Sequence[int],
        seconds: Sequence[float],
        complete: bool,
        threads: int,
        figures: Sequence[LayerFigures] = (),
        made: MadeMap | None = None,
    ) -> str:
        """Stores the result, with readable rows of states, and marks the job finished. Returns the digest."""

        written: list[str] = []

        def write(file: ResidueFile | None) -> str:
            if written and self._jobs.get(self.job).digest == written[-1]:
                return written[-1]  # it was stored, but the connection was lost before the answer came
            with self._database.write():
                written.append(
                    self._write_result(space, store, layers, seconds, complete, threads, figures, file, made)
                )
                if file is not None:
                    file.publish()  # last: the job is known to be ours, and all else is written
            return written[-1]

        if not self._settings.residues:
            return self._with_retries(lambda: write(None))
        with residue_file(
            self._database,
            self.record,
            space,
            self._settings,
            store,
            layers,
            threads,
            self._notice,
            self.while_waiting,
            made,
        ) as file:
            return self._with_retries(lambda: write(file))

    def _write_result(
        self,
        space: Space,
        store: JobStore,
        layers: Sequence[int],
        seconds: Sequence[float],
        complete: bool,
        threads: int,
        figures: Sequence[LayerFigures],
        file: ResidueFile | None,
        made: MadeMap | None,
    ) -> str:
        depth, states = len(layers) - 1, sum(layers)
        has_map = self._settings.keeps_distances
        if has_map:
            of_map = MapDigest(layers)
            self._write_map(store, layers, seconds, threads, of_map, made)
            digest = of_map.hexdigest() if made is None else made.digest(layers)
        else:
            digest = layers_digest(layers) if file is None else file.digest
            self._jobs.record_layers(self.job, _records(layers, seconds), owner=self._owner)
        if file is not None:
            file.record(self._owner)
        if has_map and states <= self._settings.state_rows:
            self._maps.add_states(self.job, state_rows(space, store.chunks(depth, CHUNK_KEYS)))
        else:
            limit = self._settings.state_rows if complete else min(self._settings.state_rows, LAST_BOARDS)
            if has_map and space.keys is None:
                rows = layer_rows(space, store.chunks(depth, CHUNK_KEYS), depth, limit)
            else:
                codes = store.keys(depth, limit)
                keys: Iterable[Any] = codes if space.keys is not None else range(len(codes))
                rows = zip(keys, repeat(depth), board_texts(space, codes), strict=False)
            self._maps.add_states(self.job, rows)
        self._jobs.finish(
            self.job,
            states=states,
            eccentricity=depth if complete else None,
            depth=depth,
            complete=complete,
            has_map=has_map or file is not None,
            digest=digest,
            seconds=sum(seconds),
            unit=unit_for(depth) if has_map or file is not None else None,
            figures=[layer.document() for layer in figures],
            owner=self._owner,
        )
        return digest

    def _write_map(
        self,
        store: JobStore,
        layers: Sequence[int],
        seconds: Sequence[float],
        threads: int,
        digest: MapDigest | None = None,
        made: MadeMap | None = None,
    ) -> None:
        """Stores the map in the place of an older one. ``digest``: what all of it is added to, unless it was
        ``made``."""
        depth = len(layers) - 1
        if made is not None:
            records = _records(layers, seconds)
            self._maps.checkpoint_made(
                self.job, depth, made.chunks(), records, sum(seconds), owner=self._owner
            )
            return
        pieces = store.chunks(depth, CHUNK_KEYS, threads)
        if digest is not None:
            pieces = digest.passed(pieces)
        self._maps.checkpoint(
            self.job, depth, pieces, _records(layers, seconds), sum(seconds), owner=self._owner
        )


def _records(layers: Sequence[int], seconds: Sequence[float]) -> list[LayerRecord]:
    return [LayerRecord(depth, n, s) for depth, (n, s) in enumerate(zip(layers, seconds, strict=True))]
