"""Residue maps of an enumeration: when one is kept, and its file, written and recorded with the job."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from farthest.coordinator.settings import Settings
from farthest.environment import scratch_folder
from farthest.errors import PuzzleError
from farthest.map_files.form import layout_digest, map_digest
from farthest.map_files.place import job_token
from farthest.models.map_rows import RESIDUES, MapFiles
from farthest.models.records import MapFileRecord
from farthest.spaces.contract import gather
from farthest.stores.memory.gather_store import gathered_form, residue_blocks, residue_problem, scattered_form

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.map_files.form import ResidueForm
    from farthest.map_files.place import MapWriter
    from farthest.models.database import Database
    from farthest.models.records import JobRecord
    from farthest.spaces.contract import Space
    from farthest.stores.contract import JobStore, MadeMap

FULL_KEYS = 2**30
"""Most keys of a map whose distances are kept unless something else is asked for."""


def with_kind_of_map(space: Space, settings: Settings, *, stored: bool) -> Settings:
    """The settings with the kind of map decided. ``stored``: whether anything of the run is.

    Raises PuzzleError where a residue map is asked for that cannot be.
    """
    if settings.histogram_only or not stored:
        return replace(settings, residues=False)
    threads = settings.workers == "threads"
    if settings.residues is None:
        large = space.keys is not None and space.keys > FULL_KEYS
        return replace(settings, residues=large and threads and residue_problem(space) is None)
    if settings.residues:
        problem = residue_problem(space)
        if problem is None and not threads and space.engine != "gather":
            raise PuzzleError(
                f"puzzle {space.puzzle.name}: workers make no residue map of a space that is given by its successors; "
                "use `farthest enumerate` without --workers celery, or --map full"
            )
        if problem is not None:
            raise PuzzleError(f"puzzle {space.puzzle.name}: no residue map: {problem}; use --map full")
    return settings


@dataclass(frozen=True, slots=True)
class ResidueFile:
    """The finished file of a job's residue map, which has not got its name yet."""

    files: MapFiles
    job: int
    row: MapFileRecord
    digest: str
    writer: MapWriter

    def record(self, owner: str) -> None:
        """Stores what is known of the file with the job, within a transaction. Raises JobError where the job is not
        ``owner``'s any more."""
        self.files.put(self.job, self.row, owner)

    def publish(self) -> None:
        """Gives the file its name."""
        self.writer.publish()


@contextmanager
def residue_file(
    database: Database,
    record: JobRecord,
    space: Space,
    settings: Settings,
    store: JobStore,
    layers: Sequence[int],
    threads: int,
    told: Callable[[str], None],
    poll: Callable[[], None],
    made: MadeMap | None = None,
) -> Iterator[ResidueFile]:
    """The file of the map that workers have ``made``, else that the store holds, stored for good; removed at the end of
    the block unless it was published. ``told`` hears that the place of map files is away; ``poll`` is called now and
    then, and may raise an exception."""
    files, form = MapFiles(database), _form(space, settings)
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
    scratch = scratch_folder(settings.scratch, database.folder)
    with files.place.writer(token, form, facts, told, scratch) as writer:
        for first, words in (
            made.words() if made is not None else _blocks(store, form, len(layers) - 1, threads)
        ):
            poll()
            writer.write(first, words)
        written = writer.finish(threads)
        row = MapFileRecord(0, form.order.keys - 1, RESIDUES, written.name, written.bytes, written.checksum)
        digest = map_digest(tuple(layers), form, written.sections)
        yield ResidueFile(files, record.id, row, digest, writer)


def _form(space: Space, settings: Settings) -> ResidueForm:
    if space.engine == "gather":
        return gathered_form(gather(space), settings.max_depth)
    assert space.keys is not None, "a sparse space has no residue map"
    return scattered_form(space.keys)


def _blocks(store: JobStore, form: ResidueForm, depth: int, threads: int) -> Iterator[tuple[int, Buffer]]:
    from farthest.stores.folder.gather_store import FolderStore
    from farthest.stores.redis.gather_attempt import GatherAttempt

    if isinstance(store, GatherAttempt):
        return store.residue_blocks(form, depth)
    if isinstance(store, FolderStore):
        return store.residue_blocks(form, depth, threads)
    return residue_blocks(store, form, depth, threads)
