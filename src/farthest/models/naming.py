"""Errors for a wrong name of a job: what exists, and what may have been meant."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from farthest.errors import JobError, PuzzleError
from farthest.models.records import (
    CANCELLED,
    FAILED,
    FINISHED,
    INTERRUPTED,
    QUEUED,
    RUNNING,
    SEARCH,
    JobRecord,
)
from farthest.puzzles.catalogue import called, find, meant
from farthest.puzzles.puzzle import Puzzle
from farthest.untrusted_json import read_json_object

_SHOWN = 8


def digest_of(name: str) -> str | None:
    """That of the puzzle which has this name without a file; None where there is none."""
    return None if (puzzle := _puzzle_named(name)) is None else puzzle.digest


def _puzzle_named(name: str) -> Puzzle | None:
    with suppress(PuzzleError):
        return find(name) or called(name)
    return None


def no_such_id(place: str, wanted: object, jobs: Sequence[JobRecord]) -> JobError:
    """No job has this id."""
    return JobError(f"{place}: there is no job {wanted}; {_what_exists(jobs)}")


def no_such_name(place: str, wanted: str, jobs: Sequence[JobRecord]) -> JobError:
    """There is no finished enumeration of a puzzle of this name."""
    searches = [one.id for one in jobs if one.name == wanted and one.kind == SEARCH]
    enumerations = [one for one in jobs if one.kind != SEARCH]
    unfinished = [one for one in enumerations if one.name == wanted]
    if unfinished:
        newest = unfinished[-1]
        state = newest.state_now
        return JobError(
            f"{place}: no job of {wanted!r} is finished; job {newest.id} is {state}: {_mend(newest, state)}"
        )
    hint = _hint(wanted, [one for one in enumerations if one.status == FINISHED])
    if (puzzle := _puzzle_named(wanted)) is not None:
        hint = f"`farthest enumerate {puzzle.name}` makes a map, `farthest solve {puzzle.name} BOARD` needs none; "
    if searches:
        hint = f"its searches are named by number ({', '.join(map(str, searches[-_SHOWN:]))}); "
    return JobError(f"{place}: no finished job of a puzzle named {wanted!r}; {hint}{_what_exists(jobs)}")


def no_job_named(wanted: str, jobs: Sequence[JobRecord]) -> JobError:
    """There is no enumeration, finished or not, of a puzzle of this name."""
    hint = _hint(wanted, [one for one in jobs if one.kind != SEARCH])
    return JobError(f"there is no job of a puzzle named {wanted!r}; {hint}{_what_exists(jobs)}")


def _hint(wanted: str, jobs: Sequence[JobRecord]) -> str:
    question = meant(wanted, {one.name: _title(one) for one in jobs})
    return question and f"{question} "


def _title(record: JobRecord) -> str:
    with suppress(ValueError):
        return str(read_json_object(record.puzzle_json).get("title", ""))
    return ""


def no_map(record: JobRecord) -> JobError:
    """The job keeps no finished map, so it cannot answer for boards."""
    if record.kind == SEARCH:
        return JobError(
            f"job {record.id} ({record.name}) is a search of one board, expected an enumeration; `farthest show "
            f"{record.id}` shows what it found, `farthest enumerate {record.name}` makes a map"
        )
    if record.status != FINISHED:
        return JobError(
            f"job {record.id} ({record.name}) is {record.state_now}, expected a finished one; see `farthest jobs`"
        )
    return JobError(
        f"job {record.id} ({record.name}) kept only the number of states at each depth, no map; run "
        f"`farthest enumerate {record.name}` without --histogram-only"
    )


def a_search(record: JobRecord, verb: str) -> JobError:
    """A search was named where only enumerations are possible."""
    shown = f"`farthest show {record.id}` shows"
    mend = {
        FINISHED: f"it is finished, {shown} what it found",
        RUNNING: f"it is running, {shown} how far it is",
        INTERRUPTED: f"to go on with it, give the same `farthest solve` command again; {shown} how far it is",
    }.get(
        record.state_now,
        f"it is {record.state_now}; the `farthest solve` command that began it begins again",
    )
    return JobError(
        f"job {record.id} ({record.name}) is a search, and only enumerations can be {verb}; {mend}"
    )


def wrong_state(job_id: int, status: str, owner: str | None, verb: str) -> JobError:
    """The state of a job does not allow it to be cancelled, queued or run."""
    state = (
        f"being run by {owner}" if status == RUNNING else f"already {status}" if status == verb else status
    )
    mend = {
        FINISHED: f"ask it, or remove it with `farthest delete {job_id}`",
        FAILED: f"queue it again with `farthest resume {job_id}`, or remove it with `farthest delete {job_id}`",
        CANCELLED: f"queue it again with `farthest resume {job_id}`",
        INTERRUPTED: "try again",
        QUEUED: "it starts when a coordinator is free: `farthest coordinator` starts one",
        RUNNING: f"follow it with `farthest watch {job_id}`, or end it with `farthest cancel {job_id}`",
    }
    cannot = "" if status == verb else f" and cannot be {verb}"
    return JobError(f"job {job_id} is {state}{cannot}; {mend[status]}")


def _mend(record: JobRecord, state: str) -> str:
    """How to finish an unfinished job."""
    if state == RUNNING:
        return "wait for it"
    if state == QUEUED:
        return "wait until a coordinator has run it (`farthest coordinator`)"
    if record.submitted or state == CANCELLED:
        return f"run `farthest resume {record.id}` to finish it"
    return f"run `farthest enumerate {record.name}` to finish it"


def _what_exists(jobs: Sequence[JobRecord]) -> str:
    if not jobs:
        return "the database has no jobs yet: make one with `farthest enumerate PUZZLE`"
    newest = [f"{one.id} ({one.name}, {one.state_now})" for one in reversed(jobs)]
    more = f" and {len(newest) - _SHOWN} older" if len(newest) > _SHOWN else ""
    return f"jobs: {', '.join(newest[:_SHOWN])}{more}"
