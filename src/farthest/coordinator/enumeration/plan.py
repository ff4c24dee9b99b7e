"""Which codes an enumeration takes: keys without gaps, or packed boards, where only some layers are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from farthest.coordinator.enumeration.folder_run import FilesRun, FolderRun, ScatterRun
from farthest.coordinator.enumeration.residues import with_kind_of_map
from farthest.coordinator.enumeration.resources import (
    MAP_SECONDS,
    PACKED_SECONDS,
    PATTERN_SECONDS,
    SCATTER_SECONDS,
    WALL,
    expected_layers,
    layers_by_growth,
    machine_speed,
    published_layers,
    seconds_in_files,
    seconds_in_memory,
)
from farthest.coordinator.estimate import (
    MOST_MAP_KEYS,
    PROCESS_BYTES,
    SCATTER_BYTES,
    check_disk,
    check_map,
    check_map_and_layers,
    check_map_place,
    check_memory,
    check_pattern,
    check_shards,
    cores,
    estimate,
    estimate_pattern,
    estimate_scatter,
    map_kind,
    memory_limit,
)
from farthest.environment import SCRATCH, scratch_folder
from farthest.errors import PuzzleError, ResourceError
from farthest.map_files.places import map_place
from farthest.spaces import compile_space
from farthest.spaces.contract import PACKED, gather, is_packed, known_states, scatter
from farthest.stores.blocks import searches_in_place
from farthest.stores.memory.gather_store import gathered_form
from farthest.stores.memory.scatter_store import ROOM
from farthest.wording import bytes_text

if TYPE_CHECKING:
    from pathlib import Path

    from farthest import _kernel
    from farthest.coordinator.settings import Estimate, MapKind, Settings
    from farthest.map_files.place import MapPlace
    from farthest.puzzles.puzzle import Puzzle
    from farthest.spaces.contract import GatherSpace, ScatterSpace, Space


DENSE_LAYERS = 3
"""Bitmaps of all keys that a run holds at once, at most."""

PACKED_BYTES = 16
"""Memory for a state of the last two layers of packed boards."""

SMALL_BITMAPS = 2**29
"""Bytes of bitmaps that take about a second: no others are compared with packed boards where they fit."""

PACKED_COST = 4
"""A byte of packed boards takes as long as so many bytes of bitmaps, at least."""

DENSE_WITH_WORKERS = 2**35
"""Bytes of bitmaps that a run by workers takes at most where only some layers are asked for."""


def space_for(puzzle: Puzzle, settings: Settings) -> Space:
    """The puzzle's space. With a depth limit it is one of packed boards where bitmaps of all keys, or a map of them,
    are too large, or much larger than the layers asked for: memory then goes by the states found. Raises what
    ``compile_space`` raises."""
    limited = settings.max_depth is not None
    try:
        space = compile_space(puzzle, settings.origin)
    except ResourceError:
        if not limited:
            raise
    else:
        if not limited or not _too_large(space, settings):
            return space
    return compile_space(puzzle, settings.origin, dict(PACKED))


def _too_large(space: Space, settings: Settings) -> bool:
    if space.keys is None or space.engine == "pattern":
        return False
    if space.engine == "scatter":
        return space.keys > MOST_MAP_KEYS and not settings.histogram_only
    dense = DENSE_LAYERS * space.keys // 8
    allowed = memory_limit(settings) if settings.workers == "threads" else DENSE_WITH_WORKERS
    assert settings.max_depth is not None
    if dense > allowed:
        return dense > _packed_bytes(published_layers(space, settings.max_depth))
    if dense > SMALL_BITMAPS and not settings.residues:  # which only bitmaps give
        layers = published_layers(space, settings.max_depth) or layers_by_growth(space, settings.max_depth)
        if dense > PACKED_COST * _packed_bytes(layers):
            return True
    try:
        gather(space).kernel  # noqa: B018 - raises where the kernel cannot step it
    except ResourceError:
        return True
    return False


def _packed_bytes(layers: Sequence[int]) -> int:
    """Memory for two layers of packed boards, one after the other, at most."""
    return PACKED_BYTES * max(a + b for a, b in pairwise((0, *layers, 0)))


# --- What an enumeration by threads of this process needs: where its layers lie, memory, disk, time.
#
# Admission of a run and `farthest estimate` both ask here.

WORTH_MEASURING = 10.0
"""Seconds: of what takes less, the speed of this machine is not measured."""


@dataclass(frozen=True, slots=True)
class ThreadNeeds:
    """``files``: the run whose layers are files, where they are."""

    estimate: Estimate
    files: FilesRun | None = None


def kernel_for(space: GatherSpace, settings: Settings) -> _kernel.Space:
    """The kernel's space of layers in memory."""
    if settings.shard_classes == 1 and not settings.isa:
        return space.kernel
    return space.compile_kernel(settings.shard_classes, settings.isa)


def thread_needs(
    space: Space, settings: Settings, folder: Path | None, maps: MapPlace | None = None
) -> ThreadNeeds:
    """What the run needs. ``folder``: of the database's file; ``maps``: for the files of residue maps, where one is to
    be made. Where the run is to be refused, the estimate says why. Raises ResourceError where not even that much can
    be said."""
    if space.engine == "scatter":
        found = _scattering(scatter(space), settings, folder)
    elif space.engine == "pattern":
        needs = estimate_pattern(space, settings)
        found = ThreadNeeds(_refused(needs, lambda: check_pattern(space, needs)))
        found = replace(
            found, estimate=_timed(found.estimate, settings, PATTERN_SECONDS * needs.states_at_most)
        )
    else:
        found = _gathering(gather(space), settings, folder)
    needs = found.estimate
    if maps is not None and isinstance(found.files, FolderRun):
        kept = max(found.files.needs.kept - found.files.begun_bytes(), 0)
        needs = _refused(needs, lambda: check_map_and_layers(space.puzzle, needs, maps, kept))
    elif maps is not None:
        needs = _refused(needs, lambda: check_map_place(space.puzzle, needs, maps))
    elif folder is not None:
        needs = _refused(needs, lambda: check_disk(space.puzzle, needs, folder))
    return replace(found, estimate=_described(needs, space, settings))


def _refused(needs: Estimate, check: Callable[[], None]) -> Estimate:
    if needs.problem:
        return needs
    try:
        check()
    except ResourceError as error:
        return replace(needs, problem=str(error))
    return needs


def _described(needs: Estimate, space: Space, settings: Settings) -> Estimate:
    """With what the space itself tells."""
    states, states_from = known_states(space, own_origin=True) or (None, "")
    kind: MapKind = "sparse" if space.keys is None and not settings.histogram_only else map_kind(settings)
    return replace(
        needs,
        keys=space.keys,
        states=states,
        states_from=states_from,
        engine=space.engine,
        both_ways=_both_ways(space),
        map=kind,
    )


def _both_ways(space: Space) -> bool:
    if space.engine == "gather":
        return gather(space).kernel.reversible
    return space.engine == "pattern" or scatter(space).undirected


def _timed(
    needs: Estimate, settings: Settings, processor: float, wall: float = 1.0, *, states: int | None = None
) -> Estimate:
    """With the time that takes so many processor seconds on the processor that the constants are of. ``states``: those
    that are found, where they are known."""
    threads = settings.threads or cores()
    if processor > WORTH_MEASURING:
        processor *= machine_speed()
    if settings.keeps_distances:
        processor += MAP_SECONDS * (states or needs.states_at_most)
    return replace(
        needs, processor_seconds=processor, seconds=wall * processor / min(threads, cores()), threads=threads
    )


def _scattering(space: ScatterSpace, settings: Settings, folder: Path | None) -> ThreadNeeds:
    needs = estimate_scatter(space, settings)
    known, _ = known_states(space) or (0, "")
    states = known if known and settings.max_depth is None else None
    files = None if needs.problem else _runs_in_files(space, settings, needs, folder, states)
    if files is not None:
        needs = files.estimate
    elif states is None:
        needs = replace(needs, why="how many states there are is not known before")
    else:
        needs = replace(needs, why="they fit" if needs.memory <= needs.memory_limit else "")
    layers = () if settings.max_depth is None else published_layers(space, settings.max_depth)
    if layers and files is None:
        needs = replace(needs, memory=min(_of_layers(space, settings, layers), needs.memory_limit), why="")
    found = known if settings.max_depth is None else sum(layers)
    if found and space.puzzle.family != "python":  # a class takes as long as it takes
        each = PACKED_SECONDS if is_packed(space.layout_fields()) else SCATTER_SECONDS
        needs = _timed(needs, settings, each * found, states=found)
    needs = _refused(needs, lambda: check_map(space, settings))
    return ThreadNeeds(needs, files.files if files is not None else None)


def _of_layers(space: ScatterSpace, settings: Settings, layers: Sequence[int]) -> int:
    """Memory for these layers: where they are only counted, the last one is not kept, nor those before the last three
    of the others where moves can be taken back."""
    kept = sum(layers[-4:-1]) if space.undirected and settings.histogram_only else sum(layers)
    return SCATTER_BYTES * kept + min(ROOM, SCATTER_BYTES * sum(layers)) + PROCESS_BYTES


def runs_in_files(space: ScatterSpace, settings: Settings) -> bool:
    """Whether the layers of a space by sorted runs may be files: where no map is kept, and states are known by their
    codes alone."""
    return settings.histogram_only and space.puzzle.definition.uncertainty(0) is None


def scatter_run(
    space: ScatterSpace, settings: Settings, folder: Path | None, states: int | None = None
) -> ScatterRun:
    """The run whose layers are files. Raises ResourceError where the memory is too small."""
    scratch = scratch_folder(settings.scratch, folder)
    return ScatterRun(space, scratch, memory_limit(settings), settings.threads or cores(), states)


def _runs_in_files(
    space: ScatterSpace, settings: Settings, needs: Estimate, folder: Path | None, states: int | None
) -> ThreadNeeds | None:
    """What layers in files need, where they are to be chosen: states that are known do not fit the memory, a folder is
    named for states whose number is not known, or an earlier attempt has left files."""
    if not runs_in_files(space, settings):
        return None
    try:
        run = scatter_run(space, settings, folder, states)
    except ResourceError as error:
        if states is None:
            return None
        return ThreadNeeds(replace(needs, layers_in="files", problem=str(error)))
    if states is not None and needs.memory > needs.memory_limit:
        why = (
            f"in memory they need {bytes_text(needs.memory)}, more than the "
            f"{bytes_text(needs.memory_limit)} allowed"
        )
    elif states is None and (settings.scratch is not None or SCRATCH.text()):
        why = "how many states there are is not known before, and a folder is named"
    elif any(run.begun()):
        why = "an earlier attempt has left them"
    else:
        return None
    needs = replace(
        needs,
        layers_in="files",
        why=why,
        scratch=run.scratch,
        memory=needs.memory_limit,
        disk=0,
        shards=run.shards,
    )
    if run.needs is not None:
        needs = replace(needs, layers_disk=run.needs.disk, written=run.needs.written, read=run.needs.read)
    return ThreadNeeds(_refused(needs, run.check_disk), run)


def _gathering(space: GatherSpace, settings: Settings, folder: Path | None) -> ThreadNeeds:
    check_shards(space, settings)
    kernel = kernel_for(space, settings)
    in_place = searches_in_place(kernel, space.keys_of(space.origins))
    needs = estimate(space.puzzle, kernel, settings, in_place=in_place)
    needs = replace(needs, two_colours=in_place, shards=kernel.shards, units=kernel.shards)
    small = settings.histogram_only or (settings.residues and (kernel.reversible or kernel.graded))
    if needs.memory > needs.memory_limit and small:
        return _in_files(space, settings, needs, folder)
    layers = expected_layers(space, keys=space.keys, in_place=in_place, max_depth=settings.max_depth)
    needs = replace(
        needs,
        why="" if needs.memory > needs.memory_limit else "they fit",
        depths=len(layers.states),
        layers_from=layers.source,
    )
    needs = _timed(needs, settings, seconds_in_memory(kernel, layers.states, in_place=in_place))
    return ThreadNeeds(
        _refused(needs, lambda: check_memory(space.puzzle, kernel, settings, needs, in_place=in_place))
    )


def _in_files(
    space: GatherSpace, settings: Settings, in_memory: Estimate, folder: Path | None
) -> ThreadNeeds:
    scratch = scratch_folder(settings.scratch, folder)
    why = (
        f"in memory they need {bytes_text(in_memory.memory)}, more than the "
        f"{bytes_text(in_memory.memory_limit)} allowed"
    )
    needs = replace(in_memory, layers_in="files", why=why, scratch=scratch)

    threads = settings.threads or cores()
    try:
        form = gathered_form(space, settings.max_depth) if settings.residues else None
        files = FolderRun(space, scratch, needs.memory_limit, threads, settings.isa, settings.max_depth, form)
    except ResourceError as error:
        return ThreadNeeds(replace(needs, problem=str(error)))
    needs = replace(
        needs,
        memory=files.cut.memory,
        layers_disk=files.needs.disk,
        written=files.needs.written,
        read=files.needs.read,
        shards=files.cut.kernel.shards,
        units=len(files.cut.plans[0].units),
        depths=len(files.layers.states),
        layers_from=files.layers.source,
    )
    needs = _timed(needs, settings, seconds_in_files(files.cut.kernel, files.needs), WALL)
    return ThreadNeeds(_refused(needs, files.check_disk), files)


def told(needs: Estimate) -> str:
    """What the user is told before a run whose layers are files."""
    if not needs.layers_disk:
        return (
            f"the layers are kept in files in {needs.scratch}, within {bytes_text(needs.memory)} of memory; how much "
            "disk they need is not known before"
        )
    units = f", {needs.units} units a layer" if needs.engine == "gather" else ""
    return (
        f"the layers are kept in files in {needs.scratch}: about {bytes_text(needs.layers_disk)} of disk at the peak, "
        f"{bytes_text(needs.written)} written in all, {bytes_text(needs.memory)} of memory{units}"
        + ("; those that the map is made of stay until it is made" if needs.map == "residues" else "")
    )


def check_countable(space: Space, settings: Settings) -> None:
    """Raises PuzzleError for states that cannot be given back from their codes, unless they are only counted here."""
    if space.puzzle.definition.uncertainty(0) is None or (
        settings.histogram_only and settings.workers == "threads"
    ):
        return
    raise PuzzleError(
        f"puzzle {space.puzzle.name}: its states have no keys, only hashes, from which no map can be made; write key "
        "and state in its class, or count the layers with --histogram-only, without workers"
    )


# --- What an enumeration will need, worked out without enumerating.


def estimated(
    puzzle: Puzzle, settings: Settings, folder: Path | None, processes: Sequence[int] = ()
) -> Estimate:
    """The figures by which `farthest enumerate` decides. ``folder``: of the database's file, None where it is none.
    ``processes``: numbers of workers' processes to tell the time of. Raises PuzzleError, BoardError (of the origin),
    ResourceError, and SettingError (of a folder)."""
    space = space_for(puzzle, settings)
    check_countable(space, settings)
    settings = with_kind_of_map(space, settings, stored=True)
    maps = map_place(folder / puzzle.name if folder else None) if settings.residues else None
    needs = thread_needs(space, settings, folder, maps).estimate
    if not processes:
        return needs
    from farthest.coordinator.enumeration.cluster_model import worker_needs

    return replace(needs, workers=worker_needs(space, settings, sorted(set(processes))))
