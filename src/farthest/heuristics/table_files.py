"""Where the files of tables are, how one is made once by all processes of a machine, and how they are
removed."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from farthest.environment import TABLES
from farthest.spaces.contract import REPRESENTATIVES

if TYPE_CHECKING:
    from collections.abc import Callable

    from farthest.heuristics.tables import Table, TableForm
    from farthest.puzzles.puzzle import Puzzle


DIGITS = 16
"""Of a puzzle's digest in the name of its table; a job's number has fewer."""


def bounds_name(puzzle: Puzzle, form: TableForm) -> str:
    """The name of a table of bounds of a puzzle, of which there is no map."""
    shared = f"-{form.shared}" if form.shared > 1 else ""
    return f"{puzzle.digest[:DIGITS]}-{form.bits}{shared}"


def bounds_facts(puzzle: Puzzle) -> dict[str, Any]:
    """What it is made of."""
    return {"puzzle": puzzle.digest, "kept": REPRESENTATIVES}


class TableFiles:
    """The files of a database. ``path``: its own file, None where a server keeps it; ``place``: its name."""

    def __init__(self, path: Path | None, place: str) -> None:
        self.folder = _folder(path, place)

    def opened(self, name: str, facts: dict[str, Any], write: Callable[[BinaryIO], None]) -> Table:
        """The table of a name. It is written where there is none that is whole and made of ``facts``. Others who want
        it wait for the one that writes; what a killed one has left is overwritten. Raises OSError."""
        found = self.found(name, facts)
        if found is not None:
            return found
        self.folder.mkdir(parents=True, exist_ok=True)
        new = self.folder / f"{name}.new"
        with new.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            found = self.found(name, facts)  # another process may have made it meanwhile
            if found is not None:
                with suppress(OSError):
                    new.unlink()
                return found
            try:
                with new.open("wb") as out:
                    write(out)
            except BaseException:
                new.unlink(missing_ok=True)
                raise
            new.replace(self._path(name))
        made = self.found(name, facts)
        if made is None:
            raise OSError(f"{self._path(name)}: what was written cannot be read")
        return made

    def of_bounds(self) -> dict[str, int]:
        """The bytes of each table of bounds by its name: no job has it."""
        paths = sorted(self.folder.glob(f"{'?' * DIGITS}-*.table"))
        return {path.stem: path.stat().st_size for path in paths}

    def remove(self, pattern: str) -> int:
        """Removes the files whose names match, such as ``7-*``, those of a job; how many bytes they had."""
        size = 0
        for path in self.folder.glob(pattern):
            with suppress(OSError):
                size += path.stat().st_size
                path.unlink()
        with suppress(OSError):
            self.folder.rmdir()
        return size

    def bounds_files(self, puzzle: Puzzle, most: int) -> list[Path]:
        """Tables of bounds of a puzzle with at most so many bytes, the largest first."""
        sized = [
            (path.stat().st_size, path) for path in self.folder.glob(f"{puzzle.digest[:DIGITS]}-*.table")
        ]
        return [path for size, path in sorted(sized, reverse=True) if size <= most]

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.table"

    def has(self, name: str) -> bool:
        """Whether there is a file of the name."""
        return self._path(name).is_file()

    def found(self, name: str, facts: dict[str, Any]) -> Table | None:
        """The table of a name, if it is whole and made of ``facts``."""
        from farthest.heuristics.tables import mapped, read_table

        try:
            return read_table(mapped(self._path(name)), facts)
        except (OSError, ValueError):
            return None


def _folder(path: Path | None, place: str) -> Path:
    """``FILE.tables`` beside a file; a folder of the machine's cache for a server's database. A folder that is named
    has one for each database."""
    named = TABLES.text()
    if path is not None and not named:
        return path.with_name(path.name + ".tables")
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    own = sha256((place if path is None else str(path.absolute())).encode()).hexdigest()[:16]
    return (Path(named) if named else Path(cache) / "farthest" / "tables").expanduser() / own
