"""The settings of an enumeration, its estimate and its result."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from farthest.models.leases import LEASE_SECONDS
from farthest.puzzles.puzzle import Origin
from farthest.wording import counted

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
    symmetry: int | None = None  # keep representatives of so many symmetries; of all, where it pays
    checkpoint_seconds: float = 60.0
    scratch: Path | None = None  # folder of layers that do not fit the memory; FARTHEST_SCRATCH
    workers: Literal["threads", "celery"] = "threads"
    hand_back: bool = False  # an attempt that is stopped puts its job back into the queue of coordinators
    lease_seconds: float = LEASE_SECONDS  # how long an attempt may be silent before its job may be taken over

    def __post_init__(self) -> None:
        for name, least in (
            ("max_depth", 0),
            ("symmetry", 1),
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
            **({} if self.symmetry is None else {"symmetry": self.symmetry}),
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
    estimates. ``memory``, ``memory_limit``: of this process, or of Redis where ``layers_in`` says so."""

    states_at_most: Annotated[int, "an upper bound"]
    memory: Annotated[int, "what is needed"]
    disk: Annotated[int, "of the map"]
    memory_limit: Annotated[int, "what is allowed"]
    layers_in: Literal["memory", "files", "redis"] = "memory"
    why: Annotated[str | None, "`memory` or `files`, and the reason, or null"] = None
    keys: Annotated[int | None, "of a dense space; null for a sparse one"] = None
    states: Annotated[
        int | None, "the number where it is known before, or can be counted or guessed; or null"
    ] = None
    states_from: Annotated[
        str | None,
        "where the number comes from: published figures, the order of the group of the moves, a count just now, random "
        "walks; or null",
    ] = None
    states_at_least: Annotated[
        int | None, "how many were counted where there are too many to count; or null"
    ] = None
    engine: Annotated[str, "`gather`, `scatter` or `pattern`"] = ""
    symmetries: Annotated[
        int | None,
        "of how many symmetries representatives are kept, so that `keys` are fewer than states; or null",
    ] = None
    both_ways: bool | None = None
    two_colours: Annotated[
        bool | None,
        "whether each move can be taken back; whether each leads from one half of the keys to the other (null where "
        "that is not known)",
    ] = None
    scratch: Path | None = None
    layers_disk: Annotated[int, "the folder of layers in files, or null; their size at the peak"] = 0
    written: int = 0
    read: Annotated[int, "of layers in files, in all"] = 0
    shards: int = 1
    units: Annotated[int, "the parts that a layer is divided into"] = 1
    depths: int | None = None
    layers_from: Annotated[str | None, "how many layers are expected, and from where they are known"] = None
    processor_seconds: float | None = None
    seconds: float | None = None
    threads: Annotated[int, "of the enumeration by threads of this process; null where not known"] = 1
    map: Annotated[MapKind, "its kind"] = "none"
    workers: Annotated[
        tuple[WorkersEstimate, ...],
        "objects with `processes`, `seconds`; bytes at the most: `redis` (all nodes), `blobs` (wherever they are), "
        "`memory` (each process), `coordinator_memory`; `messages` (of a layer at the most) and `waits_for`: "
        "`worker`, `redis` or `coordinator`",
    ] = ()
    problem: Annotated[
        str | None, "why it would not be started, with the nearest choice that fits; else null"
    ] = None

    @property
    def most_states(self) -> int | None:
        """How many states are to be expected at most. None where nobody knows: what could be written down as a board of
        a sparse space is no bound that tells anything."""
        return self.states if self.keys is None else self.states_at_most

    @property
    def states_text(self) -> str:
        """The same for people."""
        most = self.most_states
        return "an unknown number of states" if most is None else f"at most {counted(most, 'state')}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an enumeration. Where it is not ``complete``, ``farthest`` are states of the last layer that was
    found. ``digest``: ``models.chunks.MapDigest``, or of the layers alone without a map. ``figures``: empty where
    layers were not kept in files."""

    job: Annotated[int | None, "the job's number"]
    puzzle: Annotated[str, "its name"]
    states: Annotated[int, "how many were found"]
    eccentricity: Annotated[
        int | None, "depth of the last layer; null where `--max-depth` or the memory ended the enumeration"
    ]
    layers: Annotated[tuple[int, ...], "number of states at each depth, from 0"]
    farthest: Annotated[list[str], "boards of the last layer, at most 1000"]
    digest: Annotated[str, "of layers and map; equal for equal results, however they were computed"]
    seconds: Annotated[float, "the enumeration alone"]
    complete: Annotated[bool, "false where `--max-depth` or the memory ended the enumeration"]
    resumed_from: Annotated[
        int | None,
        "depth of the checkpoint that the job went on from; 0 where its layers were found again; null where there was "
        "none",
    ]
    stopped: Annotated[
        str | None, "why layers up to `--max-depth` are missing: the memory was used up; else null"
    ] = None
    classes: Annotated[
        tuple[int, ...] | None,
        "of states that symmetries take to each other, at each depth, where states are kept by representatives and the "
        "classes are counted; else null",
    ] = None
    figures: Annotated[
        tuple[LayerFigures, ...],
        "only where layers were kept in files: of each layer `depth`, `states`, `seconds`, `processor` (seconds of all "
        "threads), bytes `read`, bytes `written`, `disk` (bytes of all files at its end) and `memory` (the most bytes "
        "that the process had)",
    ] = ()

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
