"""The settings of an enumeration, its estimate and its result."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from farthest.models.leases import LEASE_SECONDS
from farthest.puzzles.puzzle import Origin

if TYPE_CHECKING:
    from farthest.stores.folder.journal import LayerFigures


MapKind = Literal["full", "sparse", "residues", "none"]

STATE_ROWS = 1_000_000
"""Most readable rows of states that are stored of a job."""

FARTHEST_BOARDS = 1000
"""Most boards in ``Outcome.farthest``."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How to enumerate. None stands for the default that the field's comment gives.

    Only ``parameters`` decide the result; the rest may differ when a job is resumed. ``workers``: whether threads of
    this process or Celery workers take the steps. Raises ValueError for numbers below their range.
    """

    origin: Origin | None = None  # the puzzle's own
    max_depth: int | None = None  # no limit
    threads: int | None = None  # the cores that this process may use
    memory: int | None = None  # bytes; four fifths of what is free
    histogram_only: bool = False
    residues: bool | None = None  # keep a residue map; a full one, unless that would be too large
    checkpoint_seconds: float = 60.0
    scratch: Path | None = None  # folder of layers that do not fit the memory; FARTHEST_SCRATCH
    workers: Literal["threads", "celery"] = "threads"
    hand_back: bool = False  # an attempt that is stopped puts its job back into the queue of coordinators
    lease_seconds: float = LEASE_SECONDS  # how long an attempt may be silent before its job may be taken over

    def __post_init__(self) -> None:
        for name, least in (
            ("max_depth", 0),
            ("threads", 1),
            ("memory", 0),
        ):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name} is {value}; expected {least} or more")

    def parameters(self, origin: Origin) -> dict[str, Any]:
        """What decides the result, as stored with the job. ``origin``: the one in force."""
        return {
            "direction": origin.direction,
            "where": origin.where,
            "max_depth": self.max_depth,
            "histogram_only": self.histogram_only,
            **({"map": "residues"} if self.residues else {}),
        }

    @property
    def stores_distances(self) -> bool:
        """Whether the map is to have whole distances."""
        return not (self.histogram_only or self.residues)


@dataclass(frozen=True, slots=True)
class WorkersEstimate:
    """The layers of a run by so many processes of workers: elapsed seconds, bytes of Redis and of blobs at the
    most, of memory of each process and of the coordinator, messages of a layer at the most, and what it mostly waits
    for: ``worker``, ``redis`` or ``coordinator``."""

    processes: int
    seconds: float
    redis: int
    blobs: int
    memory: int
    coordinator_memory: int
    messages: int
    waits_for: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run will need, before it starts. Bytes, and processor or elapsed seconds; all but ``states_at_most`` are
    estimates.

    ``memory``, ``memory_limit``: of this process, or of Redis where ``layers_in`` says so; what is allowed. ``disk``:
    of the map. ``states``: the number, where it is known, and ``states_from``: by what. ``both_ways``,
    ``two_colours``: whether each move can be taken back, and whether each leads from one half of the keys to the
    other. ``why``: the reason for ``layers_in``. ``scratch``: the folder of layers in files; ``layers_disk``: what
    they take there at the peak; ``written``, ``read``: of them in all. ``depths``, ``layers_from``: how many layers
    are counted with, and where they are known from. ``problem``: why the run is refused, with the nearest choice that
    is not; else empty.
    """

    states_at_most: int
    memory: int
    disk: int
    memory_limit: int
    layers_in: Literal["memory", "files", "redis"] = "memory"
    why: str = ""
    keys: int | None = None
    states: int | None = None
    states_from: str = ""
    engine: str = ""
    both_ways: bool | None = None
    two_colours: bool | None = None
    scratch: Path | None = None
    layers_disk: int = 0
    written: int = 0
    read: int = 0
    shards: int = 1
    units: int = 1
    depths: int | None = None
    layers_from: str = ""
    processor_seconds: float | None = None
    seconds: float | None = None
    threads: int = 1
    map: MapKind = "none"
    workers: tuple[WorkersEstimate, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an enumeration.

    ``layers[d]``: states at depth d. ``complete``: False when ``max_depth`` ended the search; then the eccentricity is
    not known, and ``farthest`` are states of the last layer that was found. ``farthest``: boards in one line, at most
    1000. ``digest``: of layers and map (``models.chunks.MapDigest``), or of the layers alone without a map.
    ``seconds``: the enumeration alone. ``resumed_from``: the depth of the checkpoint that the job went on from;
    0 where it began anew, as finding its layers again takes less than reading them. ``figures``: what each layer took,
    where layers were kept in files; else empty. ``stopped``: why layers within the depth limit are missing: the memory
    was used up; else None.
    """

    job: int | None
    puzzle: str
    states: int
    eccentricity: int | None
    layers: tuple[int, ...]
    farthest: list[str]
    digest: str
    seconds: float
    complete: bool
    resumed_from: int | None
    figures: tuple[LayerFigures, ...] = ()
    stopped: str | None = None

    def _repr_html_(self) -> str:
        from farthest.drawing.chart import Chart
        from farthest.drawing.svg import facts, image

        deepest = len(self.layers) - 1
        rows = [
            ("states", f"{self.states:,}"),
            ("eccentricity" if self.complete else "depth, where it was cut off", str(deepest)),
            ("a farthest board", self.farthest[0] if self.farthest else "none is kept"),
            ("seconds", f"{self.seconds:.3g}"),
            ("digest", self.digest),
        ]
        chart = Chart(self.layers).document(self.puzzle)
        return facts(self.puzzle, rows) + image(chart, f"States at each depth, 0 to {deepest}")
