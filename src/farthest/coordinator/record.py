"""A run's job in the database: found or added, kept alive, checkpointed, finished."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import TYPE_CHECKING, Any

from farthest.coordinator.rows import board_texts, state_rows
from farthest.coordinator.settings import Settings
from farthest.errors import FarthestError, StorageError
from farthest.models.chunks import MapDigest, Unit, layers_digest
from farthest.models.database import Database
from farthest.models.jobs import Jobs
from farthest.models.leases import LEASE_SECONDS, owner_token
from farthest.models.maps import CHUNK_KEYS, Maps
from farthest.models.records import LayerRecord
from farthest.worker.memory import unit_for

if TYPE_CHECKING:
    from farthest.spaces.arrangement import ArrangementSpace
    from farthest.worker.memory import MemoryStore


LAST_BOARDS = 1000
"""Most readable rows of the last layer where a depth limit ended the search: these states are not the farthest."""


class JobRecorder:
    """The job of one run. ``job``: its id. ``layout``: of the checkpoint that the run continues, or None."""

    def __init__(self, database: Database, settings: Settings, space: ArrangementSpace) -> None:
        self._database = database
        self._settings = settings
        self._jobs = Jobs(database)
        self._maps = Maps(database)
        self._owner = owner_token()
        self.layout: dict[str, Any] | None = None
        puzzle = space.puzzle
        parameters = settings.parameters(space.origin)
        begun = self._jobs.find_interrupted(puzzle.digest, parameters)
        if begun is not None and self._jobs.claim(begun.id, self._owner):
            self.job = begun.id
            self.layout = begun.layout
        else:
            self.job = self._jobs.add(
                puzzle.to_json(),
                puzzle.digest,
                puzzle.name,
                parameters,
                space.layout.to_dict(),
                self._owner,
            )

    @contextmanager
    def running(self) -> Iterator[None]:
        """Renews the job's lease meanwhile. What stops the run is stored with the job: it can be continued."""
        done = threading.Event()
        heart = threading.Thread(target=self._renew_until, args=(done,), name="farthest-lease", daemon=True)
        try:
            heart.start()
            yield
        except BaseException as error:
            self._interrupt(error)
            raise
        finally:
            done.set()
            if heart.ident is not None:
                heart.join()

    def _renew_until(self, done: threading.Event) -> None:
        while not done.wait(LEASE_SECONDS / 3):
            try:
                self._jobs.renew(self.job, self._owner)
            except StorageError:
                # Busy with a checkpoint, which keeps others out too; whatever else it is, the next write tells.
                continue

    def _interrupt(self, error: BaseException) -> None:
        reason = str(error) if isinstance(error, FarthestError) else type(error).__name__
        try:
            self._jobs.interrupt(self.job, reason, owner=self._owner)
        except FarthestError:  # the database is what failed: the lease will run out
            return

    def depth(self) -> int | None:
        """The depth of the checkpoint that the run can be continued from, if there is one."""
        return None if self._settings.histogram_only else self._maps.depth(self.job)

    def resume(self, store: MemoryStore, threads: int) -> list[LayerRecord] | None:
        """Restores the last checkpoint into the store. Returns its layers, or None when there is no checkpoint.

        Raises StorageError when the checkpoint is damaged.
        """
        depth = self.depth()
        if depth is None:
            return None
        layers = list(self._jobs.layers(self.job))
        try:
            if len(layers) != depth + 1:
                raise StorageError(f"it has {len(layers)} layers")
            chunks = (
                (chunk.first_key, chunk.unit, memoryview(chunk.distances))
                for chunk in self._maps.chunks(self.job)
            )
            store.restore(depth, chunks, sum(layer.states for layer in layers), threads)
            if sum(store.counts(depth).values()) != layers[-1].states:
                raise StorageError(
                    f"its last layer does not have the {layers[-1].states:,} states that were counted"
                )
        except StorageError as error:
            raise StorageError(
                f"{self._database.place}: the checkpoint of job {self.job} at depth {depth} is damaged: {error}; "
                f"remove the job with `farthest delete {self.job}` and enumerate again"
            ) from error
        return layers

    def checkpoint(
        self, store: MemoryStore, layers: Sequence[int], seconds: Sequence[float], threads: int
    ) -> None:
        """Stores the distances found so far, in one transaction."""
        with self._database.write():  # the lease with it: it may have run out while the map was written
            self._write_map(store, layers, seconds, threads)
            self._jobs.renew(self.job, self._owner)

    def finish(
        self,
        space: ArrangementSpace,
        store: MemoryStore,
        layers: Sequence[int],
        seconds: Sequence[float],
        complete: bool,
        threads: int,
    ) -> str:
        """Stores the result, with readable rows of states, and marks the job finished. Returns the digest."""
        depth, states = len(layers) - 1, sum(layers)
        has_map = not self._settings.histogram_only
        with self._database.write():
            if has_map:
                digest = self._write_map(store, layers, seconds, threads)
            else:
                digest = layers_digest(layers)
                self._jobs.record_layers(self.job, _records(layers, seconds), owner=self._owner)
            if has_map and states <= self._settings.state_rows:
                self._maps.add_states(self.job, state_rows(space, store.chunks(depth, CHUNK_KEYS)))
            else:
                limit = self._settings.state_rows if complete else min(self._settings.state_rows, LAST_BOARDS)
                keys = store.keys(depth, limit)
                rows = zip(keys, repeat(depth), board_texts(space, keys), strict=False)
                self._maps.add_states(self.job, rows)
            self._jobs.finish(
                self.job,
                states=states,
                eccentricity=depth if complete else None,
                depth=depth,
                complete=complete,
                has_map=has_map,
                digest=digest,
                seconds=sum(seconds),
                unit=unit_for(depth) if has_map else None,
                owner=self._owner,
            )
        return digest

    def _write_map(
        self, store: MemoryStore, layers: Sequence[int], seconds: Sequence[float], threads: int
    ) -> str:
        depth = len(layers) - 1
        digest = MapDigest(layers, unit_for(depth))

        def chunks() -> Iterator[tuple[int, int, Unit, memoryview]]:
            for first, last, unit, distances in store.chunks(depth, CHUNK_KEYS, threads):
                digest.update(distances)
                yield first, last, unit, distances

        self._maps.checkpoint(
            self.job, depth, chunks(), _records(layers, seconds), sum(seconds), owner=self._owner
        )
        return digest.hexdigest()


def _records(layers: Sequence[int], seconds: Sequence[float]) -> list[LayerRecord]:
    return [LayerRecord(depth, n, s) for depth, (n, s) in enumerate(zip(layers, seconds, strict=True))]
