"""Messages for a job that was named wrongly: what exists, and what may have been meant."""

from __future__ import annotations

from collections.abc import Sequence

from farthest.errors import JobError
from farthest.models.records import FINISHED, INTERRUPTED, JobRecord

_SHOWN = 8


def no_such_id(place: str, wanted: object, jobs: Sequence[JobRecord]) -> JobError:
    """No job has this id."""
    return JobError(f"{place}: there is no job {wanted}; {_what_exists(jobs)}")


def no_such_name(place: str, wanted: str, jobs: Sequence[JobRecord]) -> JobError:
    """No finished job is of a puzzle of this name."""
    unfinished = [one for one in jobs if one.name == wanted]
    if unfinished:
        newest = unfinished[-1]
        status = INTERRUPTED if newest.abandoned else newest.status
        mend = (
            "wait for it"
            if status == newest.status == "running"
            else f"run `farthest enumerate {wanted}` to finish it"
        )
        return JobError(f"{place}: no job of {wanted!r} is finished; job {newest.id} is {status}: {mend}")
    import difflib

    finished = dict.fromkeys(one.name for one in jobs if one.status == FINISHED)
    near = difflib.get_close_matches(wanted, finished, n=3)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return JobError(f"{place}: no finished job of a puzzle named {wanted!r}; {hint}{_what_exists(jobs)}")


def no_map(record: JobRecord) -> JobError:
    """The job keeps no finished map, so it cannot answer for boards."""
    if record.status != FINISHED:
        status = INTERRUPTED if record.abandoned else record.status
        return JobError(
            f"job {record.id} ({record.name}) is {status}, expected a finished one; see `farthest jobs`"
        )
    return JobError(
        f"job {record.id} ({record.name}) kept its layer counts only, not its map; run "
        f"`farthest enumerate {record.name}` without --histogram-only"
    )


def _what_exists(jobs: Sequence[JobRecord]) -> str:
    if not jobs:
        return "the database has no jobs yet: make one with `farthest enumerate PUZZLE`"
    newest = [f"{one.id} ({one.name}, {one.state_now})" for one in reversed(jobs)]
    more = f" and {len(newest) - _SHOWN} older" if len(newest) > _SHOWN else ""
    return f"jobs: {', '.join(newest[:_SHOWN])}{more}"
