"""The plan of an enumeration: its space, where its layers lie, who steps them, which map is made, what all that needs.

``plan`` alone decides. A run, its admission, `farthest estimate`, `farthest submit`, coordinators and the web ask it.
It changes nothing: what it asks of the machine and the servers comes through ``Machine``.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from farthest.coordinator.enumeration.choice import (
    MOST_MAP_KEYS,
    check_countable,
    map_kind,
    space_for,
    with_kind_of_map,
)
from farthest.coordinator.enumeration.machine import Machine
from farthest.coordinator.enumeration.resources import (
    MAP_SECONDS,
    PACKED_SECONDS,
    PATTERN_SECONDS,
    PROCESS_BYTES,
    REDUCED_RUNS_SECONDS,
    SCATTER_BYTES,
    SCATTER_SECONDS,
    SHARD_BYTES,
    bitmaps_memory,
    expected_layers,
    layers_by_growth,
    map_bytes,
    published_layers,
    reduced_runs_memory,
    residue_planes,
    runs_memory,
    seconds_in_memory,
)
from farthest.coordinator.settings import Estimate, MapKind, Settings
from farthest.environment import BLOBS, BLOCK_SIZE, MAPS, REDIS_NODES
from farthest.errors import (
    FarthestError,
    NoRoomError,
    PuzzleError,
    RedisTooSmallError,
    ResourceError,
    SettingError,
)
from farthest.machine import cores
from farthest.spaces.contract import (
    gather,
    is_packed,
    known_states,
    reduced,
    reduced_runs,
    scatter,
)
from farthest.stores.blocks import Cut, cut_for_workers, searches_in_place
from farthest.wording import bytes_text

if TYPE_CHECKING:
    from farthest.coordinator.enumeration.guess import Guess
    from farthest.coordinator.enumeration.layers_in_files import LayersInFiles
    from farthest.coordinator.enumeration.workers_model import AttemptBytes
    from farthest.families.sliding.patterns import PatternSpace
    from farthest.map_files.form import ResidueForm
    from farthest.map_files.place import MapPlace
    from farthest.puzzles.puzzle import Puzzle
    from farthest.spaces.contract import GatherSpace, ReducedRunsSpace, ScatterSpace, Space
    from farthest.stores.blobs.place import BlobPlace

LEFT_BEFORE = "an earlier attempt has left them"

WORTH_MEASURING = 10.0
"""Seconds: of what takes less, the speed of this machine is not measured."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How an enumeration is done. ``settings``: with the kind of map decided. ``refusal``: why it must not be begun.
    ``files``: how the layers are kept where they are files; ``cut``: the blocks of a run by workers."""

    space: Space
    settings: Settings
    needs: Estimate
    refusal: FarthestError | None = None
    files: LayersInFiles | None = None
    cut: Cut | None = None

    @property
    def threads(self) -> int:
        """How many threads of this process step."""
        return self.settings.threads or cores()

    @property
    def form(self) -> ResidueForm | None:
        """The form of the residue map; None where none is made."""
        if not self.settings.residues:
            return None
        from farthest.stores.residues import residue_form

        return residue_form(self.space, self.settings.max_depth)

    def unless(self, refusal: FarthestError | None) -> Plan:
        """The plan with this refusal, unless it has one already. None: the plan as it is."""
        if refusal is None or self.refusal is not None:
            return self
        return replace(self, refusal=refusal, needs=replace(self.needs, problem=str(refusal)))

    def needing(self, **facts: Any) -> Plan:
        """The plan with these fields of its estimate."""
        return replace(self, needs=replace(self.needs, **facts))


def plan(
    puzzle: Puzzle,
    settings: Settings,
    machine: Machine,
    space: Space | None = None,
    *,
    in_files: bool = False,
    guess: Guess | None = None,
) -> Plan:
    """The plan of enumerating a puzzle. ``space``: of a job that was begun; its layout stays. ``in_files``: layers that
    may be in files are to be. ``guess``: how many states there are where that is not known. Where the run is to be
    refused, the plan says why.

    Raises PuzzleError, BoardError (of the origin), SettingError (of a folder), and ResourceError where not even that
    much can be said."""
    check_workers(puzzle, settings)
    space = space or space_for(puzzle, settings, machine)
    check_countable(space, settings)
    settings = with_kind_of_map(space, settings, stored=machine.stored)
    drawn = _Planner(space, settings, machine, in_files=in_files, guess=guess)
    if settings.workers == "celery":
        return drawn.by_workers()
    return {"gather": drawn.gathered, "scatter": drawn.scattered, "pattern": drawn.of_pattern}[space.engine]()


def check_workers(puzzle: Puzzle, settings: Settings) -> None:
    """Raises PuzzleError for a puzzle that workers are to enumerate, and cannot."""
    if settings.workers == "celery" and not puzzle.definition.has_moves:
        raise PuzzleError(
            f"puzzle {puzzle.name}: an additive pattern is enumerated by the threads of one process, which takes "
            "a minute at most where its map is of use; leave out --workers celery, or `farthest submit`"
        )


# The store and what it needs


class _Planner:
    """Plans one enumeration whose space and kind of map are chosen."""

    def __init__(
        self, space: Space, settings: Settings, machine: Machine, *, in_files: bool, guess: Guess | None
    ) -> None:
        self._space = space
        self._settings = settings
        self._machine = machine
        self._in_files = in_files
        self._guess = None if guess is None or guess.source is None else (guess.states, guess.source)
        self._name = f"puzzle {space.puzzle.name}"
        self._map = map_kind(space, settings)

    def gathered(self) -> Plan:
        """Bitmaps, in memory if they fit."""
        space, settings, allowed = gather(self._space), self._settings, self._machine.memory
        self._check_shards(space)
        kernel = space.kernel
        in_place = searches_in_place(kernel, space.keys_of(space.origins))

        def memory(kind: MapKind) -> int:
            return bitmaps_memory(space.puzzle, kernel, kind, in_place=in_place, max_depth=settings.max_depth)

        needed = memory(self._map)
        layers = expected_layers(space, keys=kernel.states, in_place=in_place, max_depth=settings.max_depth)
        kept = [states * kernel.keys // kernel.states for states in layers.states]
        words = kernel.words * 8 * residue_planes(in_place=in_place)
        found = self._begun(
            kernel.states,
            needed,
            map_bytes(self._map, kernel.keys, words),
            two_colours=in_place,
            shards=kernel.shards,
            units=kernel.shards,
            depths=len(layers.states),
            layers_from=layers.source,
        )
        may_be_files = self._map == "none" or (
            self._map == "residues" and (kernel.reversible or kernel.graded)
        )
        if may_be_files and (needed > allowed or self._in_files):
            return self._with_room_for_map(self._bitmaps_in_files(space, found, kept))
        if may_be_files and self._machine.has_layers:
            again = self._bitmaps_in_files(space, found, kept)
            if again.files is not None and any(again.files.begun()):
                return self._with_room_for_map(again.needing(why=LEFT_BEFORE))
        found = found.needing(why=None if needed > allowed else "they fit")
        found = self._timed(found, seconds_in_memory(kernel, kept, in_place=in_place))
        if needed > allowed:
            residues = memory("residues") if self._map == "full" and kernel.reversible else None
            found = found.unless(self._too_much_memory(found.needs, memory("none"), residues))
        return self._with_room_for_map(found)

    def _bitmaps_in_files(self, space: GatherSpace, found: Plan, layers: Sequence[int]) -> Plan:
        from farthest.coordinator.enumeration.layers_in_files import (
            WALL,
            BitmapsInFiles,
            seconds_in_files,
        )
        from farthest.stores.folder.plan import WantedError

        machine = self._machine
        found = found.needing(layers_in="files", why=self._why_files(found.needs), scratch=machine.scratch)
        try:
            files = BitmapsInFiles(
                space, machine.scratch, machine.memory, machine.threads, layers, found.form
            )
        except WantedError as error:
            return found.needing(memory=error.memory, layers_disk=error.disk).unless(error)
        found = self._with_files(found, files)
        return self._timed(found, seconds_in_files(files.cut.kernel, files.needs), WALL)

    def scattered(self) -> Plan:
        """Sorted runs, in memory if they fit; a space that is given by its successors."""
        space, settings, limit = scatter(self._space), self._settings, self._machine.memory
        if (kept := reduced_runs(space)) is not None:
            return self._representatives(kept)
        total, _ = known_states(space) or self._guess or (0, "")
        states = total if total and settings.max_depth is None else None
        found = self._runs(space, states).unless(self._too_many_keys())
        files = self._runs_in_files(space, found, states)
        layers = () if settings.max_depth is None else published_layers(space, settings.max_depth)
        if files is not None:
            found = files
        elif layers:
            memory = runs_memory(space, layers, counted_only=settings.histogram_only)
            found = found.needing(memory=min(memory, limit), why=None)
        stepped = total if settings.max_depth is None else sum(layers)
        if stepped and space.puzzle.family != "python":  # a class takes as long as it takes
            each = PACKED_SECONDS if is_packed(space.layout_fields()) else SCATTER_SECONDS
            found = self._timed(found, each * stepped, states=stepped)
        return self._with_room_for_map(found)

    def _representatives(self, space: ReducedRunsSpace) -> Plan:
        """Sets of codes of representatives, in memory."""
        limit, depth = self._machine.memory, self._settings.max_depth
        assert depth is not None, "only some layers are asked for"
        layers = published_layers(space, depth) or layers_by_growth(space, depth)
        kept = [int(states * space.share) for states in layers[:-1]]  # the last one is only counted
        needed = reduced_runs_memory(space, kept, self._machine.threads)
        found = self._begun(self._most_states(), min(needed, limit), 0, shards=space.shards)
        found = self._timed(found, REDUCED_RUNS_SECONDS * space.moves * sum(kept))
        return self._representatives_in_files(space, found, kept, needed) or found

    def _representatives_in_files(
        self, space: ReducedRunsSpace, found: Plan, kept: Sequence[int], needed: int
    ) -> Plan | None:
        """With layers in files, where they do not fit the memory, a folder is named, or an earlier attempt has left
        files."""
        from farthest.coordinator.enumeration.layers_in_files import ReducedRunsInFiles

        machine, depth = self._machine, self._settings.max_depth
        if not space.undirected or depth is None:
            return None
        try:
            files = ReducedRunsInFiles(space, machine.scratch, machine.memory, machine.threads, kept, depth)
        except ResourceError as error:
            return found.unless(error) if needed > machine.memory else None
        return self._where_in_files(found.needing(memory=needed), files, "a folder is named")

    def _runs(self, space: ScatterSpace, states: int | None) -> Plan:
        """Memory and disk, if the number of states is known; else the limit, at which such a run ends."""
        limit = self._machine.memory
        if states is None:
            why = "the number of states is not known in advance"
            return self._begun(self._most_states(), limit, 0, why=why)
        needed = states * SCATTER_BYTES + PROCESS_BYTES
        disk = map_bytes(self._map, states, (space.keys or 0) // 4)
        return self._begun(self._most_states(), needed, disk, why="they fit" if needed <= limit else None)

    def _runs_in_files(self, space: ScatterSpace, found: Plan, states: int | None) -> Plan | None:
        """With layers in files, where they are to be chosen: states that are known do not fit the memory, a folder is
        named for states whose number is not known, or an earlier attempt has left files. They may be where states are
        known by their codes alone."""
        machine, limit = self._machine, self._machine.memory
        if space.puzzle.definition.uncertainty(0) is not None:
            return None
        from farthest.coordinator.enumeration.layers_in_files import RunsInFiles

        try:
            last = self._settings.max_depth
            mapped = not self._settings.histogram_only
            files = RunsInFiles(space, machine.scratch, limit, machine.threads, states, last, mapped=mapped)
        except ResourceError as error:
            return None if states is None else found.needing(layers_in="files").unless(error)
        unknown = "the number of states is not known in advance, and a folder is named"
        return self._where_in_files(found, files, unknown if states is None else None)

    def _where_in_files(self, found: Plan, files: LayersInFiles, named: str | None) -> Plan | None:
        """With layers in files, where those of the plan do not fit the memory, a folder is named and is a reason
        (``named``), or an earlier attempt has left files."""
        if self._in_files or found.needs.memory > self._machine.memory:
            why = self._why_files(found.needs)
        elif named is not None and self._machine.scratch_is_named:
            why = named
        elif any(files.begun()):
            why = LEFT_BEFORE
        else:
            return None
        return self._with_files(found.needing(why=why), files)

    @staticmethod
    def _with_files(found: Plan, files: LayersInFiles) -> Plan:
        """With layers in these files."""
        needs: dict[str, int] = {}
        if files.needs is not None:
            needs = {
                "layers_disk": files.needs.disk,
                "written": files.needs.written,
                "read": files.needs.read,
            }
        found = replace(found, files=files).needing(
            layers_in="files",
            scratch=files.scratch,
            memory=files.memory,
            shards=files.shards,
            units=files.units,
            **needs,
        )
        return found.unless(files.want_of_disk())

    def of_pattern(self) -> Plan:
        """An additive pattern: the working arrays, and a byte per placement."""
        space = cast("PatternSpace", self._space)
        memory = space.kernel.work_bytes + space.keys + PROCESS_BYTES
        found = self._begun(space.keys, memory, map_bytes(self._map, space.keys))
        found = self._timed(found, PATTERN_SECONDS * space.keys)
        if memory > self._machine.memory:
            found = found.unless(
                ResourceError(
                    f"{self._name}: its {space.keys:,} placements need about "
                    f"{bytes_text(memory)} of memory, more than the {bytes_text(self._machine.memory)} allowed; "
                    f"{self._machine.more_memory(memory)}take fewer pieces"
                )
            )
        return self._with_room_for_map(found)

    def by_workers(self) -> Plan:
        """Blocks in Redis, or the records of blocks there and their blobs in another place. Without servers nothing is
        said of their room."""
        space, settings, servers = self._space, self._settings, self._machine.servers
        most = self._most_states()
        if space.engine == "gather":
            self._check_shards(gather(space))
            most = gather(space).kernel.states  # raises where there are too many to number
        else:
            too_many = self._too_many_keys()
            if too_many is not None:
                raise too_many
        found = self._begun(most, 0, 0, layers_in="redis")
        if servers is None:
            return found
        from farthest.coordinator.enumeration.workers_model import attempt_bytes, run_bytes
        from farthest.stores.blobs.place import REDIS

        limit, in_redis = servers.memory(), servers.blobs.url == REDIS
        total, _ = known_states(space) or (0, "")
        needed: AttemptBytes | None
        if space.engine == "gather":
            cut = cut_for_workers(gather(space), BLOCK_SIZE.size())
            form = found.form
            needed = attempt_bytes(gather(space), cut, settings, form, blobs_in_redis=in_redis)
            disk = map_bytes(self._map, most, 0 if form is None else form.words * 8)
        else:
            cut = None
            whole = total if settings.max_depth is None else 0
            needed = run_bytes(space, whole, blobs_in_redis=in_redis) if whole else None
            disk = map_bytes(self._map, whole, (space.keys or 0) // 4)
        redis = limit if needed is None else needed.redis
        found = replace(found, cut=cut).needing(memory=redis, disk=disk, memory_limit=limit)
        if needed is not None and settings.max_depth is None:
            states = total if total and space.engine == "scatter" else most
            # Where nothing is known, half of the keys may stand for no state.
            part = 1 if total else 2
            if not in_redis:
                found = found.unless(self._no_room_for_blobs(states, needed.blobs // part, servers.blobs))
            if needed.redis // part > limit:
                found = found.unless(self._redis_too_small(states, needed.redis, limit, in_redis=in_redis))
        return self._with_room_for_map(found)

    # What several of them need

    def _begun(self, states_at_most: int, memory: int, disk: int, **facts: Any) -> Plan:
        """A plan with what the space itself tells."""
        space = self._space
        states, states_from = known_states(space, own_origin=True) or self._guess or (None, None)
        gathers = space.engine == "gather"
        both_ways = (
            gather(space).kernel.reversible if gathers else space.engine == "pattern" or space.undirected
        )
        about = {
            "memory_limit": self._machine.memory,
            "keys": space.keys,
            "symmetries": kept.order if (kept := reduced(space) or reduced_runs(space)) else None,
            "states": states,
            "states_from": states_from,
            "engine": space.engine,
            "both_ways": both_ways,
            "map": self._map,
        }
        return Plan(space, self._settings, Estimate(states_at_most, memory, disk, **{**about, **facts}))

    def _most_states(self) -> int:
        keys = self._space.keys
        return self._space.puzzle.definition.arrangements() if keys is None else keys

    def _timed(self, found: Plan, processor: float, wall: float = 1.0, *, states: int | None = None) -> Plan:
        """With the time that takes so many processor seconds on the processor that the constants are of. ``states``:
        those that are found, where they are known."""
        machine = self._machine
        if processor > WORTH_MEASURING:
            processor *= machine.speed
        if self._settings.stores_distances:
            processor += MAP_SECONDS * (states or found.needs.keys or found.needs.states_at_most)
        seconds = wall * processor / min(machine.threads, machine.cores)
        return found.needing(processor_seconds=processor, seconds=seconds, threads=machine.threads)

    def _why_files(self, in_memory: Estimate) -> str:
        if in_memory.memory <= in_memory.memory_limit:
            return "other programs use the memory"
        return (
            f"in memory they need {bytes_text(in_memory.memory)}, more than the "
            f"{bytes_text(in_memory.memory_limit)} allowed"
        )

    # Why a run is refused

    def _check_shards(self, space: GatherSpace) -> None:
        """Raises ResourceError when the places of the first label (the blanks), each a shard, are too many."""
        places = space.shards_at(1)
        memory, limit = places * SHARD_BYTES, self._machine.memory
        if memory > max(limit, PROCESS_BYTES):
            raise ResourceError(
                f"{self._name}: the places of its blanks, {places:,}, need about "
                f"{bytes_text(memory)} of memory, more than the {bytes_text(limit)} allowed; "
                f"{self._machine.more_memory(memory)}take fewer blanks"
            )

    def _too_many_keys(self) -> ResourceError | None:
        """Where the map would have more keys, most of them without a state, than can be stored."""
        keys = self._space.keys
        if self._settings.histogram_only or keys is None or keys <= MOST_MAP_KEYS:
            return None
        return ResourceError(
            f"{self._name}: its map would have a distance for each of {keys:.2e} keys, more than "
            f"the {MOST_MAP_KEYS:.1e} that can be stored; use --histogram-only, which keeps no map, count the first "
            f"layers (--max-depth N), or solve single boards (`farthest solve {self._space.puzzle.name} BOARD`)"
        )

    def _too_much_memory(self, needs: Estimate, counting: int, residues: int | None) -> ResourceError:
        """With advice: ``counting`` is what a run without a map needs in memory, ``residues`` what one with a residue
        map does, None where there can be none or it is asked for."""
        if residues is not None and residues <= needs.memory_limit:
            advice = f"use --map residues, which needs {bytes_text(residues)}"
        elif residues is not None:
            advice = (
                "use --map residues, a smaller map, or --histogram-only, which keeps none: both keep their layers in "
                "files where they do not fit the memory"
            )
        elif counting <= needs.memory_limit:
            advice = f"use --histogram-only, which needs {bytes_text(counting)} and keeps no map"
        else:
            advice = (
                "use --histogram-only, which keeps no map, and its layers in files where they do not fit the "
                "memory"
            )
        return ResourceError(
            f"{self._name}: up to {needs.states_at_most:,} states need about {bytes_text(needs.memory)} of memory, "
            f"more than the {bytes_text(needs.memory_limit)} allowed; {self._machine.more_memory(needs.memory)}{advice}"
        )

    def _with_room_for_map(self, found: Plan) -> Plan:
        """The plan, refused where the disk or the place of map files has clearly too little room for the map. A run by
        workers may have room later, when other jobs are over."""
        machine, by_workers = self._machine, self._settings.workers == "celery"
        refusal: FarthestError | None = None
        if self._settings.residues:
            try:
                refusal = self._no_room_in(machine.maps, found)
            except SettingError as error:
                if not by_workers:
                    raise
                # Of this job alone: others need no place of map files.
                return found.unless(ResourceError(f"{self._name}: no residue map: {error}"))
        elif machine.folder is not None:
            free = shutil.disk_usage(machine.folder).free
            if found.needs.disk > free:
                refusal = ResourceError(
                    f"{self._name}: the map needs about {bytes_text(found.needs.disk)} of disk, but {machine.folder} "
                    f"has {bytes_text(free)} free; name a database elsewhere with --database, or use --histogram-only"
                )
        if refusal is not None and by_workers:
            refusal = NoRoomError(str(refusal))
        return found.unless(refusal)

    def _no_room_in(self, maps: MapPlace, found: Plan) -> ResourceError | None:
        """Where the place of map files has too little room for a residue map, or for it and the layers in files that it
        is made of: they may be on the same disk. On its way to an object store most of the map waits beside them."""
        from farthest.map_files.places import FolderMaps

        disk, free = found.needs.disk, maps.free()
        if free is not None and disk > free:
            return ResourceError(
                f"{self._name}: the residue map needs about {bytes_text(disk)} of disk, but {maps.where} has "
                f"{bytes_text(free)} free; name another place with {MAPS.name}, or use --map none"
            )
        if found.files is None or found.files.needs is None:
            return None
        marks, scratch = max(found.files.needs.marks - found.files.begun_bytes(), 0), found.files.scratch
        if isinstance(maps, FolderMaps):
            folder, free = maps.existing(), maps.free()
        else:
            folder, free = scratch, shutil.disk_usage(scratch).free
        if os.stat(folder).st_dev != os.stat(scratch).st_dev or disk + marks <= free:
            return None
        return ResourceError(
            f"{self._name}: the residue map needs about {bytes_text(disk)} of disk, and the layers that "
            f"it is made of {bytes_text(marks)}, but {folder} has {bytes_text(free)} free for both; name another disk "
            f"for one of them with {MAPS.name} or --scratch, or use --map none"
        )

    def _no_room_for_blobs(self, states: int, certain: int, place: BlobPlace) -> NoRoomError | None:
        """Where a place has less room than its blobs certainly need."""
        free = place.free()
        if free is None or certain <= free:
            return None
        return NoRoomError(
            f"{self._name}: up to {states:,} states need {bytes_text(certain)} of blobs at a time or "
            f"more, but {place.url} has {bytes_text(free)} free; make room, or name another place with {BLOBS.name}"
        )

    def _redis_too_small(self, states: int, redis: int, limit: int, *, in_redis: bool) -> RedisTooSmallError:
        mend = f"take larger blocks with {BLOCK_SIZE.name}"
        if in_redis:
            mend = f"add servers with {REDIS_NODES.name}, keep blobs elsewhere with {BLOBS.name}"
        return RedisTooSmallError(
            f"{self._name}: up to {states:,} states need about {bytes_text(redis)} of Redis, more "
            f"than the {bytes_text(limit)} of its servers; raise maxmemory, {mend}, or take a smaller board"
        )


def estimated(
    puzzle: Puzzle,
    settings: Settings,
    folder: Path | None,
    processes: Sequence[int] = (),
    *,
    guessing: bool = False,
) -> Estimate:
    """The estimate of the plan of a run by threads. ``folder``: of the database's file, None where it is none.
    ``processes``: numbers of workers' processes to tell the time of. ``guessing``: states are counted or sampled, which
    takes seconds, where nobody knows how many there are. Raises as ``plan`` does."""
    machine = Machine(settings, None if folder is None else folder / "farthest.db")
    found = plan(puzzle, settings, machine)
    if (
        guessing
        and found.space.engine == "scatter"
        and found.needs.states is None
        and settings.max_depth is None
    ):
        from farthest.coordinator.enumeration.guess import guessed_states

        guess = guessed_states(scatter(found.space))
        found = plan(puzzle, settings, machine, found.space, guess=guess)
        if guess.source is None:
            found = found.needing(states_at_least=guess.states)
    if not processes:
        return found.needs
    from farthest.coordinator.enumeration.workers_model import worker_needs

    return replace(found.needs, workers=worker_needs(found.space, found.settings, sorted(set(processes))))


def notice_of_files(needs: Estimate) -> str:
    """What the user is told before a run whose layers are files."""
    if not needs.layers_disk:
        return (
            f"the layers are kept in files in {needs.scratch}, within {bytes_text(needs.memory)} of memory; "
            "the disk space that they need is not known in advance"
        )
    units = f", {needs.units} units a layer" if needs.engine == "gather" else ""
    return (
        f"the layers are kept in files in {needs.scratch}: about {bytes_text(needs.layers_disk)} of disk at the peak, "
        f"{bytes_text(needs.written)} written in all, {bytes_text(needs.memory)} of memory{units}"
        + ("; those that the map is made of stay until it is made" if needs.map == "residues" else "")
    )
