"""The backend whose steps, and maps, are made by workers on any number of machines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from farthest.coordinator.enumeration.executors import Executor, Progress
from farthest.coordinator.enumeration.plan import check_countable
from farthest.coordinator.estimate import check_disk, check_map, check_map_place, check_shards, cores
from farthest.coordinator.reporter import Reporter
from farthest.coordinator.settings import Settings
from farthest.errors import NoRoomError, ResourceError, SettingError
from farthest.models.map_rows import MapFiles
from farthest.spaces.contract import gather, scatter
from farthest.stores.memory.gather_store import gathered_form
from farthest.wording import bytes_text

if TYPE_CHECKING:
    from pathlib import Path

    from farthest.coordinator.outstanding import WorkProgress
    from farthest.models.database import Database
    from farthest.spaces.contract import ScatterSpace, Space
    from farthest.stores.blocks import Cut
    from farthest.stores.contract import JobStore, MadeMap
    from farthest.stores.folder.journal import LayerFigures
    from farthest.stores.redis.scatter_attempt import GrowingAttempt


class CeleryBackend:
    """Bitmaps or sorted runs in Redis, or where FARTHEST_BLOBS says, stepped by Celery workers. Raises SettingError,
    StorageError or UnavailableError at once when Redis or that place cannot be used."""

    def __init__(self, settings: Settings, reporter: Reporter) -> None:
        from farthest.environment import REDIS_WAIT_SECONDS
        from farthest.stores.redis.connections import RedisNodes
        from farthest.stores.redis.gather_attempt import PlaceRoom
        from farthest.stores.redis.places import place_of

        self._settings = settings
        self._reporter = reporter
        self._nodes = RedisNodes.from_environment(REDIS_WAIT_SECONDS.number(), reporter.notice)
        self._nodes.ask()
        self._place = place_of(self._nodes)
        self._place.check()
        self._room = PlaceRoom(self._nodes, self._place)
        self._growing_store: GrowingAttempt | None = None

    def admit(self, space: Space, database: Database | None) -> None:
        """See Backend."""
        from farthest.coordinator.estimate import estimate_workers

        check_countable(space, self._settings)
        if space.engine == "gather":
            check_shards(gather(space), self._settings)
        else:
            check_map(space, self._settings)
        needs = estimate_workers(space, self._settings, self._nodes, self._place)
        needs = replace(needs, layers_in="redis")
        self._reporter.estimate(needs)
        if database is not None and self._settings.residues:
            try:
                maps = MapFiles(database).place
                maps.check()
            except SettingError as error:  # of this job alone: others need no place of map files
                raise ResourceError(f"puzzle {space.puzzle.name}: no residue map: {error}") from error
            try:
                check_map_place(space.puzzle, needs, maps)
            except ResourceError as error:
                raise NoRoomError(str(error)) from error
        elif database is not None and database.path is not None:
            try:
                check_disk(space.puzzle, needs, database.path.parent)
            except ResourceError as error:  # other jobs may free memory
                raise NoRoomError(str(error)) from error

    def store(self, space: Space, name: str) -> JobStore:
        """See Backend: what earlier attempts have left in Redis, and in the place of blobs, is removed."""
        from farthest.environment import BLOCK_SIZE
        from farthest.stores.redis import attempts

        self._nodes.call(lambda: attempts.drop_dead(self._nodes, name, self._place))
        if space.engine == "scatter":
            self._growing_store = self._growing(scatter(space), name, BLOCK_SIZE.size())
            return self._growing_store
        from farthest.stores.blocks import cut_for_workers
        from farthest.stores.redis.gather_attempt import GatherAttempt

        blocks = cut_for_workers(gather(space), BLOCK_SIZE.size())
        self._tell_of_larger_blocks(space, blocks)
        form = gathered_form(gather(space), self._settings.max_depth) if self._settings.residues else None
        return GatherAttempt.create(
            self._nodes,
            attempts.new_attempt(name),
            gather(space),
            blocks,
            distances=self._settings.keeps_distances,
            residues=form,
            place=self._place,
        )

    def _tell_of_larger_blocks(self, space: Space, made: Cut) -> None:
        """Where a size was asked for, and a layer would have too many blocks of it."""
        from farthest.environment import BLOCK_SIZE
        from farthest.stores.blocks import GROWTH, MOST_BLOCKS

        size = made.kernel.words_per_shard * 8 * made.per_block
        if (
            BLOCK_SIZE.text() != BLOCK_SIZE.default
            and made.per_block > 1
            and size > GROWTH * BLOCK_SIZE.size()
        ):
            self._reporter.notice(
                f"puzzle {space.puzzle.name}: blocks of {bytes_text(size)} are stepped, not of {BLOCK_SIZE.text()}: "
                f"a layer would have more than {MOST_BLOCKS:,} of those ({BLOCK_SIZE.name})"
            )

    def _growing(self, space: ScatterSpace, name: str, block: int) -> GrowingAttempt:
        from farthest.stores.redis import attempts
        from farthest.stores.redis.scatter_attempt import GrowingAttempt, ScatterAttempt, shards_for

        def make(shards: int, distances: bool) -> ScatterAttempt:
            return ScatterAttempt.create(
                self._nodes,
                attempts.new_attempt(name),
                space,
                shards,
                distances=distances,
                max_depth=self._settings.max_depth,
                counted=self._settings.histogram_only,
                place=self._place,
            )

        return GrowingAttempt(
            name,
            make,
            shards_for(space, block),
            max(1, block // space.code_bytes),
            distances=not self._settings.histogram_only,
        )

    def kept(self) -> list[LayerFigures]:
        """See Backend."""
        return []

    @property
    def keeps(self) -> Path | None:
        """See Backend."""
        return None

    def leave(self, store: JobStore) -> None:
        """See Backend."""
        store.drop()

    def short_of_room(self, store: JobStore) -> bool:
        """See Backend."""
        return self._room.is_short(store)

    def make_map(
        self,
        store: JobStore,
        depth: int,
        states: int,
        job: int,
        owner: str,
        database: Database,
        progress: Progress,
        still_ours: Callable[[], None],
    ) -> MadeMap | None:
        """See Backend: on a server, workers that see the database store it there."""
        from farthest.coordinator.enumeration.celery_executor import MapParts
        from farthest.stores.redis.records import NO_JOB

        parts = MapParts(self._nodes, room=self._room.free, watch=self._watch(progress), look=still_ours)
        return parts.make(store, depth, states, job if database.is_server else NO_JOB, owner)

    def goes_over_to_files(self, space: Space) -> str | None:
        """See Backend: the blobs are where FARTHEST_BLOBS says."""
        return None

    def give_up(self, depth: int) -> bool:
        """See Backend: of sorted runs, where no other job takes room."""
        from farthest.stores.redis import attempts

        growing = self._growing_store
        if growing is None or self._nodes.call(lambda: attempts.others(self._nodes, growing.of)):
            return False
        growing.give_up(depth)
        return True

    def while_waiting(self, action: Callable[[], None]) -> None:
        """See Backend."""
        self._nodes.while_waiting = action

    def restarted(self) -> bool:
        """See Backend."""
        return self._nodes.restarted()

    def executor(
        self, progress: Progress, should_stop: Callable[[], None], still_ours: Callable[[], None]
    ) -> Executor:
        """See Backend."""
        from farthest.coordinator.enumeration.celery_executor import CeleryExecutor

        return CeleryExecutor(
            self._nodes,
            threads=self._settings.threads or cores(),
            watch=self._watch(progress),
            should_stop=should_stop,
        )

    def _watch(self, progress: Progress) -> Callable[[WorkProgress], None]:
        def watch(layer: WorkProgress) -> None:
            if layer.note:
                self._reporter.notice(layer.note)
            progress(
                {
                    "blocks": layer.items,
                    "blocks_done": layer.done,
                    "workers": layer.workers,
                    "resent": layer.resent,
                }
            )

        return watch
