"""Opening the map for a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.cli.messages import note

if TYPE_CHECKING:
    from farthest.queries.distance_map import DistanceMap


def open_job(job: str, database: str | None) -> DistanceMap:
    """`open_map`, with a note on standard error where a puzzle's name has led to a map with another origin than the
    puzzle's own, or cut off by a depth limit."""
    from farthest.queries.distance_map import open_map

    opened = open_map(job, database)
    opened.told = note
    if job == opened.record.name:
        unlike = [str(opened.origin)] if opened.origin != opened.puzzle.origin else []
        if not opened.complete:
            unlike.append(f"to depth {opened.depth} only")
        if unlike:
            newest = "newest complete" if opened.complete else "newest"
            note(f"the {newest} map of {job} is job {opened.job}: {', '.join(unlike)}")
    return opened
