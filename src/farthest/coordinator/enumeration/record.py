"""What an enumeration stores: its job in the database, its checkpoints, its map, and the file of a residue map."""

from __future__ import annotations

import codecs
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import chain, compress, count, islice, repeat
from typing import TYPE_CHECKING, Any, Self, cast

from farthest.coordinator.attempt import OwnedJob, added, claimed
from farthest.coordinator.enumeration.goals import boards_of, tells_goals, tells_start
from farthest.coordinator.settings import STATE_ROWS, Settings
from farthest.environment import scratch_folder
from farthest.errors import DamagedMapError, FarthestError
from farthest.machine import cores
from farthest.models.chunks import (
    CHUNK_KEYS,
    UNREACHED,
    WIDTHS,
    Chunk,
    MapDigest,
    code_array,
    layers_digest,
    written,
)
from farthest.models.database import Database
from farthest.models.maps import RESIDUES, MapFiles, Maps
from farthest.models.records import (
    Answers,
    JobRecord,
    LayerRecord,
    MapFileRecord,
    job_token,
)
from farthest.spaces.contract import ReducedSpace, Space, reduced, reduced_runs
from farthest.stores.contract import JobStore, MadeMap, unit_for

if TYPE_CHECKING:
    from farthest.map_files.place import MapWriter
    from farthest.spaces.arrangement import ArrangementSpace
    from farthest.stores.folder.journal import LayerFigures

LAST_BOARDS = 1000
"""Most readable rows of the last layer where a depth limit ended the search: these states are not the farthest."""

READ_BYTES = 125e6
"""Bytes of an unpacked map that are read and restored a second: half of what was measured on 4 cores, for slower disks
and busy machines. Dense, in memory and in Redis alike: sliding-3x4 at depth 30 240e6 to 320e6, pegs-english at depth 14
310e6, pancake-11 at depth 8 200e6. Sparse: benchmarks/two-rows.toml at depth 45 160e6."""

MEMBERS_OF = 4096
"""Keys of representatives whose boards are made together."""

LITTLE_SECONDS = 0.1
"""A checkpoint that takes no longer is read in any case."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a job can go on from; it is read, or its layers are found again. ``map_bytes``: of its map, unpacked."""

    depth: int
    layers: Sequence[LayerRecord]
    map_bytes: int

    @property
    def seconds(self) -> float | None:
        """What its layers took, as far as that is known of each."""
        timed = [layer.seconds for layer in self.layers if layer.seconds is not None]
        return sum(timed) if len(timed) == len(self.layers) else None

    @property
    def reading_seconds(self) -> float:
        """What reading it is expected to take."""
        return self.map_bytes / READ_BYTES

    @property
    def is_worth_reading(self) -> bool:
        """Whether that is less than its layers took: else they are found again, from depth 0 on."""
        reading = self.reading_seconds
        return reading <= LITTLE_SECONDS or self.seconds is None or reading < self.seconds


@dataclass(frozen=True, slots=True)
class Found:
    """The layers that are to be stored: the states, seconds and classes of each, the ``store`` that holds the states,
    and the map where workers have ``made`` it. ``complete``: no depth limit has cut them off. ``answers``: what is
    known of goals without the map."""

    space: Space
    store: JobStore
    layers: Sequence[int]
    seconds: Sequence[float]
    classes: Sequence[int | None]
    threads: int
    made: MadeMap | None = None
    complete: bool = False
    figures: Sequence[LayerFigures] = ()
    answers: Answers | None = None

    @property
    def depth(self) -> int:
        """The depth of the last layer."""
        return len(self.layers) - 1

    def records(self) -> list[LayerRecord]:
        """The layers as the database has them."""
        each = zip(range(len(self.layers)), self.layers, self.seconds, self.classes, strict=True)
        return [LayerRecord(*layer) for layer in each]

    def chunks(self) -> Iterator[Chunk]:
        """The map that the store holds."""
        return self.store.chunks(self.depth, CHUNK_KEYS, self.threads)


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
        puzzle, parameters, seconds = space.puzzle, settings.parameters(space.origin), settings.lease_seconds
        begun = claimed(database, puzzle, parameters, lease_seconds=seconds) or added(
            database, puzzle, parameters, space.layout_fields(), lease_seconds=seconds
        )
        return cls(database, settings, *begun, notice)

    # Checkpoints

    def depth(self) -> int | None:
        """The depth of the checkpoint from which the job can be continued, if there is one."""
        return self._maps.depth(self.job) if self._settings.stores_distances else None

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
        self, checkpoint: Checkpoint, store: JobStore, threads: int, report: Callable[[float], None]
    ) -> None:
        """Restores the last checkpoint into the store. ``report`` gets how much of it has been read, 0 to 1, before
        each chunk. Raises DamagedMapError when the checkpoint is damaged."""
        depth, layers = checkpoint.depth, checkpoint.layers
        try:
            store.restore(depth, self._chunks(report), sum(layer.states for layer in layers), threads)
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

    def _chunks(self, report: Callable[[float], None]) -> Iterator[Chunk]:
        """The chunks of the checkpoint."""
        keys = self._jobs.get(self.job).keys or 1
        for chunk in self._maps.chunks(self.job):
            report(chunk.first / keys)
            yield chunk

    def _base(self, key: int) -> Chunk:
        return self._maps.chunk_at(self.job, key, apart=True)

    def checkpoint(self, found: Found) -> None:
        """Stores the distances found so far, in one transaction."""

        def write() -> None:
            with self._database.write():  # the lease with it: it may have run out while the map was written
                self._write_map(found)
                self._renew()

        self._with_retries(write)
        self.check_file()
        found.store.stored(found.depth, self._base)

    # The result

    def finish(self, found: Found) -> str:
        """Stores the result, with readable rows of states, and marks the job finished. Returns the digest."""
        written: list[str] = []

        def write(file: ResidueFile | None) -> str:
            if written and self._jobs.get(self.job).digest == written[-1]:
                return written[-1]  # it was stored, but the connection was lost before the answer came
            with self._database.write():
                written.append(self._write_result(found, file))
                if file is not None:
                    file.writer.publish()  # the job is known to be ours; answers read the map by its name
                if found.answers:
                    self._jobs.add_answers(self.job, found.answers)
            return written[-1]

        with self._residue_file(found) if self._settings.residues else nullcontext() as file:
            digest = self._with_retries(lambda: write(file))
        self.check_file()
        if not self._settings.histogram_only:
            self._add_answers(found.space)
        return digest

    def _write_result(self, found: Found, file: ResidueFile | None) -> str:
        has_map = self._settings.stores_distances
        if has_map:
            of_map = MapDigest(found.layers)
            self._write_map(found, of_map)
            digest = of_map.hexdigest() if found.made is None else found.made.digest(found.layers)
        else:
            digest = layers_digest(found.layers) if file is None else file.digest
            self._jobs.record_layers(self.job, found.records(), owner=self._owner)
        if file is not None:
            file.files.put(self.job, file.row, self._owner)
        self._maps.add_states(self.job, self._rows(found))
        self._jobs.finish(
            self.job,
            states=sum(found.layers),
            eccentricity=found.depth if found.complete else None,
            depth=found.depth,
            complete=found.complete,
            has_map=has_map or file is not None,
            digest=digest,
            seconds=sum(found.seconds),
            unit=unit_for(found.depth) if has_map or file is not None else None,
            result={
                "machine": {"cores": cores(), "threads": found.threads, "workers": self._settings.workers},
                **({"figures": [layer.document() for layer in found.figures]} if found.figures else {}),
            },
            owner=self._owner,
        )
        return digest

    def _add_answers(self, space: Space) -> None:
        """Stores what the map tells at once, with the job, which is finished: nothing is lost where this fails, or the
        process is killed before it. Then ``show`` does not tell it, and a question to the map works it out."""
        if not (tells_goals(space) or tells_start(space)):
            return
        from farthest.queries.distance_map import DistanceMap
        from farthest.queries.states import answers_of

        try:
            answers = self._with_retries(
                lambda: answers_of(DistanceMap(self._database, self._jobs.get(self.job)))
            )
            if answers:
                self._with_retries(lambda: self._jobs.add_answers(self.job, answers))
        except FarthestError as error:
            self._notice(f"job {self.job} is finished, but its goals could not be looked up: {error}")

    def _rows(self, found: Found) -> Iterable[Row]:
        """Readable rows: of all states where they are not too many and have distances, else of the last layer."""
        has_map, space, store = self._settings.stores_distances, found.space, found.store
        kept = reduced(space)
        if has_map and sum(found.layers) <= STATE_ROWS:
            chunks = store.chunks(found.depth, CHUNK_KEYS)
            return state_rows(space, chunks) if kept is None else member_rows(kept, chunks)
        limit = STATE_ROWS if found.complete else min(STATE_ROWS, LAST_BOARDS)
        codes = store.keys(found.depth, limit)
        if has_map and space.keys is None:
            return self._numbered_rows(space, codes, found.depth)
        numbered = space.keys is None or kept is not None  # a code may stand for several boards
        boards = board_texts(space, codes, limit)
        keys: Iterable[Any] = range(len(boards)) if numbered else codes
        return zip(keys, repeat(found.depth), boards, strict=False)

    def _numbered_rows(self, space: Space, codes: Sequence[Any], depth: int) -> Iterator[Row]:
        """Rows of states of the stored map, which is sparse; ``codes``: theirs, ascending."""
        leads, chunk = self._maps.leads(self.job), None
        for code, text in zip(codes, board_texts(space, codes), strict=True):
            at = bisect_right(leads, written(code, space.code_bytes), key=lambda lead: lead[1]) - 1
            if chunk is None or chunk.first != leads[at][0]:
                chunk = self._maps.chunk_at(self.job, leads[at][0])
                here = code_array(chunk.codes, chunk.width)
            yield chunk.first + int(here.searchsorted(here.dtype.type(code))), depth, text

    def _write_map(self, found: Found, digest: MapDigest | None = None) -> None:
        """Stores the map in the place of an older one. ``digest``: what all of it is added to, unless workers have made
        it."""
        seconds, records = sum(found.seconds), found.records()
        if found.made is not None:
            made = found.made.chunks()
            self._maps.checkpoint_made(self.job, found.depth, made, records, seconds, owner=self._owner)
            return
        chunks = found.chunks()
        if digest is not None:
            chunks = digest.passed(chunks)
        self._maps.checkpoint(self.job, found.depth, chunks, records, seconds, owner=self._owner)

    @contextmanager
    def _residue_file(self, found: Found) -> Iterator[ResidueFile]:
        """The file of the map that workers have made, else that the store holds, stored for good; removed at the end of
        the block unless it was published."""
        from farthest.map_files.form import layout_digest, map_digest
        from farthest.stores.residues import residue_form

        record, settings, space = self.record, self._settings, found.space
        files = MapFiles(self._database)
        form = residue_form(space, settings.max_depth)
        token = job_token(record.id, record.created, record.puzzle_digest)
        facts = {
            "version": 1,
            "kind": RESIDUES,
            "puzzle": record.puzzle_digest,
            "layout": layout_digest(record.layout),
            "direction": space.origin.direction,
            "where": space.origin.where,
            "max_depth": settings.max_depth,
        }
        scratch = scratch_folder(settings.scratch, self._database.folder)
        with files.place.writer(token, form, facts, self._notice, scratch) as writer:
            if found.made is not None:
                words = found.made.words()
            else:
                words = found.store.residue_blocks(form, found.depth, found.threads)
            for first, some in words:
                self.while_waiting()
                writer.write(first, some)
            written = writer.finish(found.threads)
            row = MapFileRecord(
                0, form.order.keys - 1, RESIDUES, written.name, written.bytes, written.checksum
            )
            digest = map_digest(tuple(found.layers), form, written.sections)
            yield ResidueFile(files, row, digest, writer)


@dataclass(frozen=True, slots=True)
class ResidueFile:
    """The finished file of a job's residue map, which has not got its name yet: ``writer`` gives it. ``row``: to be
    stored in ``files``."""

    files: MapFiles
    row: MapFileRecord
    digest: str
    writer: MapWriter


# Readable rows of states: key, distance, board in one line

Row = tuple[int, int, str]


def board_texts(space: Space, keys: Sequence[int] | Sequence[bytes], most: int | None = None) -> list[str]:
    """The boards that the codes stand for, ``most`` of them where one may stand for several: written line by line and
    decoded at once if the puzzle's tokens allow it."""
    if not keys:
        return []
    by_representatives = reduced(space)
    if by_representatives is not None:
        return list(islice((board for _, board in _member_texts(by_representatives, keys)), most))
    template = space.puzzle.definition.line_template()
    if template is None or reduced_runs(space) is not None:
        return space.puzzle.definition.texts(boards_of(space, keys, most))
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


def member_rows(space: ReducedSpace, chunks: Iterator[Chunk]) -> Iterator[Row]:
    """A row for every state that the reached keys of a map's chunks stand for, in key order, numbered."""
    numbers = count()
    for chunk in chunks:
        distances = chunk.distance_array()
        reached = (distances != UNREACHED[chunk.unit]).nonzero()[0]
        of_keys = distances[reached].tolist()
        for row, board in _member_texts(space, (reached + chunk.first).tolist()):
            yield next(numbers), of_keys[row], board


def _member_texts(space: ReducedSpace, keys: Sequence[Any]) -> Iterator[tuple[int, str]]:
    """The boards of all states that keys stand for, in their order, each with the row of its key."""
    import numpy

    for first in range(0, len(keys), MEMBERS_OF):
        some = numpy.array(keys[first : first + MEMBERS_OF], dtype=numpy.uint64)
        rows, boards = space.members(some)
        yield from zip((rows + first).tolist(), space.puzzle.definition.texts(boards), strict=True)


def _sparse_rows(space: Space, chunk: Chunk) -> Iterable[Row]:
    codes = chunk.code_array()
    assert codes is not None, "the map is sparse"
    texts = space.puzzle.definition.texts(space.decode(codes))
    return zip(range(chunk.first, chunk.last + 1), chunk.distance_array().tolist(), texts, strict=True)


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
