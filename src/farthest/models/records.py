"""What is stored of jobs and their maps: one class for the rows of each table, and what the status of a job means.

The fields of these classes are the columns of the tables (``models.tables``), and say what may be read from them
(``models.sealing``): an ``Annotated`` type has more to tell of a column. Nothing here needs SQLAlchemy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from types import NoneType
from typing import (
    Annotated,
    Any,
    ClassVar,
    NamedTuple,
    Self,
    TypedDict,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

ENUMERATION, SEARCH = "enumeration", "search"
QUEUED, RUNNING, INTERRUPTED, CANCELLED = "queued", "running", "interrupted", "cancelled"
FINISHED, FAILED = "finished", "failed"
KINDS = (ENUMERATION, SEARCH)
STATUSES = (QUEUED, RUNNING, INTERRUPTED, CANCELLED, FINISHED, FAILED)

Json = dict[str, Any]
"""An object, stored as text."""
BIG, DIGITS = "big", "digits"
Big = Annotated[int, BIG]
"""May pass 2**31; below 2**63, the largest that SQLite and PostgreSQL can hold."""
Digits = Annotated[int, DIGITS]
"""Of any size: the number of ways through a graph may need more than 64 bits."""
Digest = Annotated[str, 64]
"""A SHA-256 in hexadecimal. The number is the most characters of a text."""


class Field(NamedTuple):
    """A column of a table: its type in Python, what ``Annotated`` says of it, and whether it may be null."""

    name: str
    kind: type
    mark: str | int | None
    nullable: bool


@cache
def fields_of(record: type) -> tuple[Field, ...]:
    """The fields of one of the classes below, in order."""
    hints = get_type_hints(record, include_extras=True)
    return tuple(_field(name, hints[name]) for name in record.__match_args__)  # type: ignore[attr-defined]


def _field(name: str, hint: Any) -> Field:
    one_of = [each for each in get_args(hint) if each is not NoneType] if NoneType in get_args(hint) else []
    kind = one_of[0] if one_of else hint
    mark = None
    if get_origin(kind) is Annotated:
        kind, mark = get_args(kind)
    kind = dict if is_typeddict(kind) else get_origin(kind) or kind
    return Field(name, kind, mark, bool(one_of))


@dataclass(frozen=True, slots=True)
class PuzzleRecord:
    """A row of ``puzzle``. ``record_digest``: null where an older version of the program stored the row."""

    digest: Digest
    name: str
    definition: str
    created: datetime
    record_digest: Digest | None


@dataclass(frozen=True, slots=True)
class LayerRecord:
    """One layer: its depth, its number of states, the seconds that it took where that was measured, and the classes of
    its states by symmetries where they were counted."""

    depth: int
    states: Big
    seconds: float | None = None
    classes: Big | None = None


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """One row of ``chunk``: keys ``first_key`` to ``last_key`` inclusive, known up to ``depth``. A negative
    ``first_key`` is that of a draft (``models.maps``).

    In a sparse map a key is a state's number, and ``lead`` the written form of the first state's code.
    """

    job_id: int
    first_key: Big
    last_key: Big
    depth: int
    codec: Annotated[str, 32]
    payload: bytes
    checksum: Digest
    lead: bytes | None = None
    record_digest: Digest | None = None


@dataclass(frozen=True, slots=True)
class LeadRecord:
    """Of a row of ``chunk`` of a sparse map the number of the first state, and the written form of its code."""

    first_key: Big
    lead: bytes


@dataclass(frozen=True, slots=True)
class MapFileRecord:
    """A map file, outside the database: the keys ``first_key`` to ``last_key`` inclusive; ``name`` in the place of map
    files. A map file is what its row says, or it is none."""

    first_key: Big
    last_key: Big
    kind: Annotated[str, 16]
    name: str
    bytes: Big
    checksum: Digest


@dataclass(frozen=True, slots=True)
class StateRecord:
    """One readable row: a key, its distance, and its board as people write it."""

    key: Big
    distance: int
    board: str


@dataclass(frozen=True, slots=True)
class IterationRecord:
    """One iteration of a search: its totals, and the next bound. ``pieces``: how many pieces its totals include.

    An iteration that is not ``complete`` is under way: its totals are those of its first pieces in order, the rest is
    in rows of ``subtree``. ``kept``: how many rows; None where it is complete, or was stored by a version without this
    number.
    """

    bound: int
    nodes: Big
    solutions: Digits
    pieces: Big
    seconds: float
    next_bound: int | None
    complete: bool
    kept: Big | None = None


@dataclass(frozen=True, slots=True)
class SubtreeRecord:
    """A piece of the iteration under way that its totals do not include: ``node`` is still to be searched, or
    ``result`` was found, both JSON with a checksum. ``place``: in the order of the search; 3.0.12 is of what 3.0 has
    left over. ``root``: of the split. A long search has few rows at any time, but millions in all."""

    place: str
    root: int
    node: str | None
    result: str | None


@dataclass(frozen=True, slots=True)
class SolutionRecord:
    """A listed solution of a search; ``moves`` as JSON."""

    number: int
    moves: str


@dataclass(frozen=True, slots=True)
class EnumerationParameters:
    """What decides the result of an enumeration. ``direction``: ``to`` or ``from`` its origin, which is ``where``.
    ``map``: ``residues``, or None. ``symmetry``: of how many symmetries representatives are kept, or whether."""

    direction: str
    where: str
    max_depth: int | None
    histogram_only: bool
    map: str | None = None
    symmetry: int | None = None


@dataclass(frozen=True, slots=True)
class SearchParameters:
    """What decides the result of a search. ``all``: all solutions are counted, and ``limit`` of them listed.
    ``within``: by what factor the solution may be longer than a shortest, or ``first``; not stored where it is 1."""

    board: str
    target: str
    heuristic: str
    algorithm: str
    all: bool
    limit: int
    within: str | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a finished search; ``coordinator.search.settings.SearchOutcome`` says what its fields mean."""

    length: int | None
    solutions: int
    optimal: bool
    nodes: int
    expanded: int | None
    bound: int | None = None


BOARDS_KEPT = 24
"""Of the nearest goals, and of the farthest states that a start leads to."""


@dataclass(frozen=True, slots=True)
class FirstGoals:
    """The goal states nearest the origin: their ``depth``, how many there are, and the first of them as texts."""

    depth: int
    states: int
    boards: list[str]


@dataclass(frozen=True, slots=True)
class ReachedStates:
    """The ``states`` of a map that moves lead to from the start. The farthest of them: their ``depth``, None where
    there are none, how many they are, and the first of them as texts."""

    states: int
    depth: int | None
    farthest: int
    boards: list[str]


@dataclass(frozen=True, slots=True)
class Machine:
    """What finished an enumeration: ``threads`` of a machine with so many ``cores``; ``workers``: ``threads`` or
    ``celery``, whose processes may have been on others."""

    cores: int
    threads: int
    workers: str


class Answers(TypedDict, total=False):
    """What an enumeration keeps of its map to tell at once (``queries.states.answers_of``). ``goal``: None where none
    is reached. ``machine``: absent where an older version stored the job."""

    machine: Machine

    goal: FirstGoals | None
    from_start: ReachedStates


@dataclass(frozen=True, slots=True)
class Proved:
    """One property that was proved: how many states or values were checked."""

    name: str
    proves: str
    checked: int


@dataclass(frozen=True, slots=True)
class Verification:
    """The last proof of a job as it is stored now. ``made``: when, in UTC. ``seconds``: how long it took."""

    made: datetime
    version: str
    seconds: float
    checks: tuple[Proved, ...]


class Progress(TypedDict, total=False):
    """What the owner of a running job has reported last; docs/commands.md says what each field means."""

    depth: int
    files_depth: int
    states: int
    states_at_most: int
    layer_states: int
    layers: list[int]
    states_a_second: float
    seconds_left: float
    seconds: float
    blocks: int
    blocks_done: int
    blocks_leased: int
    waiting_since: float
    workers: int
    resent: int
    set_back: int
    set_back_depth: int
    taken_over: int
    taken_over_depth: int
    bound: int
    nodes: int
    nodes_a_second: float
    pieces_waiting: int


def job_token(job: int, created: datetime, puzzle_digest: str) -> str:
    """What names of a job's files begin with: other jobs of that number, in other databases, have another one."""
    begun = hashlib.sha256(f"{created.isoformat()} {puzzle_digest}".encode()).hexdigest()
    return f"{job}-{begun[:8]}"


@dataclass(frozen=True, slots=True, repr=False)
class JobRecord:
    """A row of ``job`` with its puzzle's digest and definition; times are in UTC.

    ``parameters`` decide the result (threads and memory do not); ``layout`` says what the keys mean. ``depth`` is the
    last complete layer known; ``complete`` is False where states beyond it were left out by a depth limit. ``keys`` is
    the length of the stored map, set by its first checkpoint. ``seconds`` is the enumeration alone. ``submitted``: a
    job for coordinators; another one takes it if its owner dies. ``progress`` is what the owner of a running job has
    reported last. A queued job has an ``error`` if it was handed back because of one, and ``lease_until`` if no
    coordinator may take it before that time. ``kind``: ENUMERATION or SEARCH. A search has no states and no map; its
    ``depth`` is the bound of the last known iteration, at the end the length of its solutions, and ``result`` its
    result; of an enumeration from files ``result`` has the figures of the layers. ``parts``: the digest of the job's
    rows in each table, as JSON. ``record_digest``: that of its row, which covers all that is stored of it. Both are
    None where an older version stored the job. ``version``: of the program that finished it, None where that is not
    known. ``verified``: its last proof, if it is one of what is stored now.
    """

    id: int
    puzzle_id: int
    name: str
    kind: Annotated[str, 32]
    parameters: Json
    layout: Json
    status: Annotated[str, 16]
    owner: str | None
    lease_until: datetime | None
    created: datetime
    started: datetime | None
    finished: datetime | None
    seconds: float | None
    states: Big | None
    eccentricity: int | None
    depth: int | None
    complete: bool
    has_map: bool
    unit: Annotated[str, 8] | None
    keys: Big | None
    digest: Digest | None
    error: str | None
    submitted: bool
    progress: Progress | None
    result: Json | None
    parts: str | None
    record_digest: Digest | None
    version: Annotated[str, 32] | None
    puzzle_digest: str
    puzzle_json: str
    verified: Verification | None

    BESIDES: ClassVar = ("puzzle_digest", "puzzle_json", "verified")
    """The last fields, which are no columns of ``job``."""

    def __repr__(self) -> str:
        return f"<JobRecord {self.id}: {', '.join(f'{name} {value}' for name, value in self._facts)}>"

    def _repr_html_(self) -> str:
        from farthest.drawing.svg import facts

        return facts(f"job {self.id}", self._facts)

    @property
    def _facts(self) -> list[tuple[str, str]]:
        """What people are told of it: names and values."""
        bound = "depth" if self.kind == ENUMERATION else "bound"
        numbers = [("states", self.states), (bound, self.depth)]
        map_ = [("map", "residues" if self.keeps_residues else "full")] if self.has_map else []
        return [
            (self.kind, self.name),
            ("status", self.state_now),
            *((name, f"{value:,}") for name, value in numbers if value is not None),
            *map_,
            *([("seconds", f"{self.seconds:.3g}")] if self.seconds is not None else []),
            *([("error", self.error)] if self.error else []),
        ]

    @property
    def sealed(self) -> bool:
        """Whether digests cover all that is stored of it."""
        return self.record_digest is not None

    @property
    def proved_as(self) -> str:
        """The digest that a proof names: of its row, which covers the digests of all that is stored of it; of the
        result, where an older version stored it. Where it is another by now, the proof does not count. Like the other
        digests it is no signature."""
        return self.record_digest or self.digest or ""

    @property
    def keeps_residues(self) -> bool:
        """Whether the map is, or will be, a residue map in a file."""
        return self.parameters.get("map") == "residues"

    @property
    def known_depth(self) -> int | None:
        """``depth``, or of an unfinished job without checkpoints that of the last layer in its files."""
        return self.depth if self.depth is not None else (self.progress or {}).get("files_depth")

    @property
    def abandoned(self) -> bool:
        """Whether it is marked as running, but its owner is dead or has been silent for longer than its lease."""
        return self.status == RUNNING and may_be_taken(self.owner, self.lease_until, now())

    @property
    def not_before(self) -> datetime | None:
        """When a queued job that there was no room for is to be tried again; ``error`` says what was full."""
        return self.lease_until if self.status == QUEUED else None

    @property
    def state_now(self) -> str:
        """The status for users: an abandoned job is queued if it was submitted, else interrupted."""
        if self.abandoned:
            return QUEUED if self.submitted else INTERRUPTED
        return self.status


@dataclass(frozen=True, slots=True)
class SurveyRecord:
    """A row of ``survey``. ``starts_of``: JSON of the set of starts (``farthest.starts``), which is done in so many
    ``parts``."""

    name: str
    starts_of: str
    parts: int
    created: datetime


@dataclass(frozen=True, slots=True)
class SurveyPartRecord:
    """A row of ``survey_part``: a part that is done. ``totals``: JSON, counts for each number of pieces, or of a coset
    all that was found. ``digest`` covers it and its components."""

    part: int
    seconds: float
    totals: str
    digest: Digest


@dataclass(frozen=True, slots=True)
class ComponentRecord:
    """A row of ``component``, the ``number``-th of a part.

    ``board``: the hardest, or where no goal can be reached the one that the component was found from, with ``moves``
    null. ``minimal``: whether each other piece is needed to make it as hard; null where that was not asked. ``layers``:
    the states at each distance from the nearest goal, with commas between.
    """

    part: int
    number: int
    pieces: int
    states: Big
    moves: int | None
    minimal: bool | None
    board: str
    layers: str


def now() -> datetime:
    """The current time; leases on several hosts need clocks that agree to within a few seconds."""
    return datetime.now(UTC)


def may_be_taken(owner: str | None, lease_until: datetime | None, moment: datetime) -> bool:
    """Whether a job marked as running may be claimed: no owner, a lease that ran out, or a dead owner. A value that is
    not a text or not a time, in a damaged database, counts as none."""
    if not isinstance(owner, str) or not isinstance(lease_until, datetime):
        return True
    if lease_until <= moment:
        return True
    from farthest.models.leases import owner_is_dead  # only a job that runs needs it

    return owner_is_dead(owner)


@dataclass(frozen=True, slots=True)
class _Repeated:
    """How many ``times`` in a row something happened to a job, and the ``depth`` of its checkpoint then (-1: none).
    They are a part of the job's progress, under the ``NAME``."""

    NAME: ClassVar[str]
    times: int = 0
    depth: int = -1

    @classmethod
    def of(cls, progress: Mapping[str, Any] | None) -> Self:
        """Those in a job's progress."""
        known = progress or {}
        return cls(known.get(cls.NAME, 0), known.get(f"{cls.NAME}_depth", -1))

    def one_more(self, depth: int | None) -> Self:
        """With another one at a checkpoint of that depth: one that is deeper than before begins a new row."""
        at = -1 if depth is None else depth
        return type(self)(1 if at > self.depth else self.times + 1, at)

    def progress(self) -> dict[str, int]:
        """As a part of the job's progress."""
        return {self.NAME: self.times, f"{self.NAME}_depth": self.depth} if self.times else {}


@dataclass(frozen=True, slots=True)
class Setbacks(_Repeated):
    """How often in a row a job was handed back because there was no room."""

    NAME: ClassVar[str] = "set_back"


@dataclass(frozen=True, slots=True)
class Takeovers(_Repeated):
    """How often in a row a job was taken from an owner that had ended without a word."""

    NAME: ClassVar[str] = "taken_over"
