"""Names of map files in their folder or object store."""

from __future__ import annotations

import hashlib
import re
from secrets import token_hex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

_NAME = re.compile(r"\d{1,19}-[0-9a-f]{8}(/[0-9a-f]{16})?\.map", re.ASCII)


def job_token(job: int, created: datetime, puzzle_digest: str) -> str:
    """What names of a job's files begin with: other jobs of that number, in other databases, have another one."""
    begun = hashlib.sha256(f"{created.isoformat()} {puzzle_digest}".encode()).hexdigest()
    return f"{job}-{begun[:8]}"


def checked_name(name: str) -> str:
    """A map file's name as the database has it. Raises ValueError for one that this program does not give."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"name {name!r}, expected that of a map file")
    return name


def name_of(token: str) -> str:
    """The name of the map file of a job, in a folder."""
    return f"{token}.map"


def new_name(token: str) -> str:
    """A name for the map file of a job in an object store: each attempt at the job has another one, as objects cannot
    be renamed."""
    return f"{token}/{token_hex(8)}.map"
