"""The list of jobs: a line for each, no wider than a terminal."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from farthest.models.records import JobRecord

WIDEST, NARROWEST = 100, 80
"""Columns of a line."""
PUZZLE_COLUMN, ORIGIN_COLUMN = 1, 2
MOST_STATES = 10**12
"""Numbers of states from this on are rounded."""
MOST_SECONDS = 10**4
"""Seconds from this on have no fractions; a thousand times as many are rounded."""


def print_jobs(records: Sequence[JobRecord]) -> None:
    """The table of the jobs; names and origins are cut where a line would be too wide."""
    from farthest.cli.printing import print_table

    print_table(
        ("job", "puzzle", "origin", "status", "states", "depth", "seconds", "created (UTC)"),
        [_row(record) for record in records],
        right="rlllrrrl",
        width=_width(),
        shortened=(PUZZLE_COLUMN, ORIGIN_COLUMN),
    )


def _row(record: JobRecord) -> tuple[str, ...]:
    from farthest.documents.jobs import origin_text

    return (
        str(record.id),
        record.name,
        origin_text(record),
        record.state_now,
        "" if record.states is None else _states(record.states),
        "" if record.depth is None else f"{record.depth}{'' if record.complete else '+'}",
        "" if record.seconds is None else _seconds(record.seconds),
        minute(record.created),
    )


def _width() -> int:
    """Columns of the list: a terminal may be narrow."""
    if sys.stdout is None or not sys.stdout.isatty():
        return WIDEST
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size().columns))


def _states(states: int) -> str:
    return f"{states:,}" if states < MOST_STATES else f"{states:.4g}"


def _seconds(seconds: float) -> str:
    return (
        f"{seconds:.3f}"
        if seconds < MOST_SECONDS
        else f"{seconds:,.0f}"
        if seconds < 1000 * MOST_SECONDS
        else f"{seconds:.4g}"
    )


def verified_text(record: JobRecord) -> str:
    """When `farthest verify` has proved what is stored, and which version."""
    proof = record.verified
    if proof is None:
        return "no"
    return f"{minute(proof.made)} UTC by farthest {proof.version}, {len(proof.checks)} checks"


def minute(moment: datetime) -> str:
    """A moment as it is listed."""
    return moment.strftime("%Y-%m-%d %H:%M")
