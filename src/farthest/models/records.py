"""Jobs and layers as read from the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypedDict

from sqlalchemy import Row, Select, delete, insert, select

from farthest.models.database import Database
from farthest.models.leases import owner_is_dead
from farthest.models.sealing import (
    PUZZLE_COLUMNS,
    canonical,
    check_values,
    covered,
    damaged,
    json_object,
    record_digest,
)
from farthest.models.tables import job, puzzle, verification
from farthest.untrusted_json import read_json_object
from farthest.wording import shown

# --- The last proof of a job: when `farthest verify` has proved it, which version, and what was proved.
#
# A mark is of one result. It names the digest of the job's row, which covers the digests of all that is stored of
# the job; where the row is another by now, the mark does not count. Like those digests it is no signature: who can
# write to the database can write a mark.

VERIFICATION_COLUMNS = ("job_record", "made", "version", "seconds", "checks", "record_digest")


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


class Verifications:
    """The marks of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def mark(self, job_id: int, row_digest: str, found: Verification) -> None:
        """Stores a proof in place of the last one. ``row_digest``: ``JobRecord.row_digest`` of the job that was proved;
        if it is another job by now, nothing is stored."""
        checks = [[one.name, one.proves, one.checked] for one in found.checks]
        values = {
            "job_id": job_id,
            "job_record": row_digest,
            "made": found.made,
            "version": found.version,
            "seconds": found.seconds,
            "checks": canonical({"checks": checks}),
        }
        digest = record_digest("verification", values)
        with self._database.write() as connection:
            now = connection.execute(_NOW.where(job.c.id == job_id).with_for_update()).one_or_none()
            if now is None or (now.record_digest or now.digest) != row_digest:
                return
            connection.execute(delete(verification).where(verification.c.job_id == job_id))
            connection.execute(insert(verification).values(**values, record_digest=digest))

    def remove(self, job_id: int) -> None:
        """Removes the mark of a job, if it has one."""
        mine = verification.c.job_id == job_id
        with self._database.read() as connection:
            if connection.execute(select(verification.c.job_id).where(mine)).first() is None:
                return
        with self._database.write() as connection:
            connection.execute(delete(verification).where(mine))


def verification_of(job_id: int, row_digest: str | None, values: Mapping[str, Any]) -> Verification | None:
    """The mark in a row of ``verification``; None where there is none, where it is of another result, and where it is
    not what was stored. ``values``: ``VERIFICATION_COLUMNS``, all None where there is no row."""
    if row_digest is None or values["job_record"] != row_digest:
        return None
    held = {"job_id": job_id, **{name: values[name] for name in VERIFICATION_COLUMNS[:-1]}}
    try:
        if record_digest("verification", held) != values["record_digest"]:
            return None
        checks = tuple(_proved(one) for one in read_json_object(values["checks"])["checks"])
    except (KeyError, TypeError, ValueError):
        return None
    return Verification(values["made"], values["version"], values["seconds"], checks)


def _proved(one: Sequence[Any]) -> Proved:
    name, proves, checked = one
    return Proved(name, proves, checked)


_NOW = select(job.c.record_digest, job.c.digest)


ENUMERATION, SEARCH = "enumeration", "search"
QUEUED, RUNNING, INTERRUPTED, CANCELLED = "queued", "running", "interrupted", "cancelled"
FINISHED, FAILED = "finished", "failed"
KINDS = (ENUMERATION, SEARCH)
STATUSES = (QUEUED, RUNNING, INTERRUPTED, CANCELLED, FINISHED, FAILED)


class Progress(TypedDict, total=False):
    """What the owner of a running job has reported last; docs/commands.md says what each field means."""

    depth: int
    states: int
    states_at_most: int
    layer_states: int
    layers: list[int]
    states_a_second: float
    seconds_left: float
    seconds: float
    blocks: int
    blocks_done: int
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


@dataclass(frozen=True, slots=True)
class LayerRecord:
    """One layer: its depth, its number of states, and the seconds that it took where that was measured."""

    depth: int
    states: int
    seconds: float | None = None


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
    result. ``row_digest``: the digest of its row, which covers all that is stored of it; None where an older version
    stored it. ``version``: of the program that finished it, None where that is not known. ``verified``: its last proof,
    if it is one of what is stored now.
    """

    id: int
    puzzle_id: int
    name: str
    kind: str
    parameters: dict[str, Any]
    layout: dict[str, Any]
    status: str
    owner: str | None
    lease_until: datetime | None
    created: datetime
    started: datetime | None
    finished: datetime | None
    seconds: float | None
    states: int | None
    eccentricity: int | None
    depth: int | None
    complete: bool
    has_map: bool
    unit: str | None
    keys: int | None
    digest: str | None
    error: str | None
    submitted: bool
    progress: Progress | None
    result: dict[str, Any] | None
    puzzle_digest: str
    puzzle_json: str
    version: str | None
    row_digest: str | None
    verified: Verification | None

    def __repr__(self) -> str:
        return f"<JobRecord {self.id}: {', '.join(f'{name} {value}' for name, value in self._told)}>"

    def _repr_html_(self) -> str:
        from farthest.drawing.svg import facts

        return facts(f"job {self.id}", self._told)

    @property
    def _told(self) -> list[tuple[str, str]]:
        """What is told of it to people: names and values."""
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
        return self.row_digest is not None

    @property
    def keeps_residues(self) -> bool:
        """Whether the map is, or will be, a residue map in a file."""
        return self.parameters.get("map") == "residues"

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


def now() -> datetime:
    """The current time; leases on several hosts need clocks that agree to within a few seconds."""
    return datetime.now(UTC)


def may_be_taken(owner: str | None, lease_until: datetime | None, moment: datetime) -> bool:
    """Whether a job marked as running may be claimed: no owner, a lease that ran out, or a dead owner. A value that is
    not a text or not a time, in a damaged database, counts as none."""
    if not isinstance(owner, str) or not isinstance(lease_until, datetime):
        return True
    return lease_until <= moment or owner_is_dead(owner)


@dataclass(frozen=True, slots=True)
class Setbacks:
    """How often in a row a job was handed back because there was no room, and the depth of its checkpoint then (-1:
    none). They are a part of the job's progress."""

    times: int = 0
    depth: int = -1

    @classmethod
    def of(cls, progress: Mapping[str, Any] | None) -> Setbacks:
        """Those in a job's progress."""
        known = progress or {}
        return cls(known.get("set_back", 0), known.get("set_back_depth", -1))

    def one_more(self, depth: int) -> Setbacks:
        """With another one at a checkpoint of that depth: one that is deeper than before begins a new row."""
        return Setbacks(1 if depth > self.depth else self.times + 1, depth)

    def progress(self) -> dict[str, int]:
        """As a part of the job's progress."""
        return {"set_back": self.times, "set_back_depth": self.depth} if self.times else {}


@dataclass(frozen=True, slots=True)
class Takeovers:
    """How often in a row a job was taken from an owner that had ended without a word, and the depth of its checkpoint
    then (-1: none). They are a part of the job's progress."""

    times: int = 0
    depth: int = -1

    @classmethod
    def of(cls, progress: Mapping[str, Any] | None) -> Takeovers:
        """Those in a job's progress."""
        known = progress or {}
        return cls(known.get("taken_over", 0), known.get("taken_over_depth", -1))

    def one_more(self, depth: int) -> Takeovers:
        """With another one at a checkpoint of that depth: one that is deeper than before begins a new row."""
        return Takeovers(1 if depth > self.depth else self.times + 1, depth)

    def progress(self) -> dict[str, int]:
        """As a part of the job's progress."""
        return {"taken_over": self.times, "taken_over_depth": self.depth} if self.times else {}


def select_jobs() -> Select[Any]:
    """Jobs joined with their puzzles, as ``job_record`` has them."""
    of_puzzle = (puzzle.c[name].label(f"puzzle_{name}") for name in _OF_PUZZLE)
    # An outer join, so that a job whose puzzle is missing is reported.
    of_proof = (verification.c[name].label(f"verification_{name}") for name in VERIFICATION_COLUMNS)
    return (
        select(job, *of_puzzle, *of_proof)
        .join_from(job, puzzle, isouter=True)
        .outerjoin(verification, verification.c.job_id == job.c.id)
    )


def job_record(row: Row[Any]) -> JobRecord:
    """A row of ``select_jobs`` as a record. Raises StorageError where it is not what was stored."""
    values = row._asdict()
    number = values["id"]
    of_puzzle = {name: values.pop(f"puzzle_{name}") for name in _OF_PUZZLE}
    of_proof = {name: values.pop(f"verification_{name}") for name in VERIFICATION_COLUMNS}
    check_values(job, tuple(values), tuple(values.values()), number, number)
    check_values(puzzle, _OF_PUZZLE, tuple(of_puzzle.values()), values["puzzle_id"], number)
    _check_digests(values, of_puzzle)
    if values["kind"] not in KINDS or values["status"] not in STATUSES:
        raise damaged("job", number, f"of kind {shown(values['kind'])}, {shown(values['status'])}", number)
    ended = values["finished"] is not None
    if values["record_digest"] is not None and (values["status"] == FINISHED) != ended:
        raise damaged("job", number, f"{values['status']}, but with an end of another status", number)
    for name in ("parameters", "layout", "progress", "result"):
        if values[name] is not None:
            values[name] = json_object(values[name], "job", number, name, number)
    if not _are_numbers(values["progress"] or {}):
        raise damaged("job", number, "column progress: expected numbers", number)
    del values["parts"]
    row_digest = values.pop("record_digest")
    return JobRecord(
        **values,
        puzzle_digest=of_puzzle["digest"],
        puzzle_json=of_puzzle["definition"],
        row_digest=row_digest,
        verified=verification_of(number, row_digest or values["digest"], of_proof),
    )


def _are_numbers(progress: Mapping[str, Any]) -> bool:
    """All values are numbers, but for ``layers``, the states at each depth until now."""
    layers = progress.get("layers", [])
    numbers = [value for name, value in progress.items() if name != "layers"]
    return isinstance(layers, list) and all(isinstance(one, int | float) for one in [*numbers, *layers])


def _check_digests(values: Mapping[str, Any], of_puzzle: Mapping[str, Any]) -> None:
    """Raises StorageError where a row does not match its digest. Rows that an older version of the program has stored
    have none; a puzzle gets one with the first job that a newer version stores."""
    number, sealed = values["id"], values["record_digest"] is not None
    if sealed != (values["parts"] is not None):
        raise damaged("job", number, "it has one of its two digests", number)
    held = covered({**values, "puzzle_digest": of_puzzle["digest"]})
    if sealed and record_digest("job", held) != values["record_digest"]:
        raise damaged("job", number, _DIFFERS, number)
    of_row = of_puzzle["record_digest"]
    held = {name: of_puzzle[name] for name in PUZZLE_COLUMNS}
    if (sealed or of_row is not None) and record_digest("puzzle", held) != of_row:
        raise damaged("puzzle", values["puzzle_id"], _DIFFERS, number)


_OF_PUZZLE = (*PUZZLE_COLUMNS, "record_digest")
_DIFFERS = "it is not what was stored: its digest differs"
