"""Clocks that jump: each process reads its own from a file (libfaketime). The monotonic clock goes on as it is."""

from __future__ import annotations

import importlib.util
from pathlib import Path


class Clocks:
    """The clocks of processes by their names. ``why_not``: why there are none here, or ''."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._library = _library()
        self.why_not = "" if self._library else "libfaketime is not there for this system"
        folder.mkdir()

    def environment(self, name: str) -> dict[str, str]:
        """What a process needs to have a clock of its own."""
        if self._library is None:
            return {}
        self.set(name, 0)
        return {
            "LD_PRELOAD": str(self._library),
            "FAKETIME_TIMESTAMP_FILE": str(self._folder / name),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DISABLE_SHM": "1",
            "NO_FAKE_STAT": "1",
        }

    def set(self, name: str, seconds: int) -> None:
        """From now on, or a second later, the process's clock is so far ahead."""
        new = self._folder / f"{name}.new"
        new.write_text(f"{seconds:+d}s\n")
        new.rename(self._folder / name)


def _library() -> Path | None:
    package = importlib.util.find_spec("libfaketime")
    if package is None or package.origin is None:
        return None
    found = sorted(Path(package.origin).parent.glob("vendor/**/libfaketime.so.1"))
    return found[0] if found else None
