"""Classes whose values are made for the first time by several threads at once."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import threading
from typing import Annotated, Any

import msgspec

from farthest.typed import convert, decode

CLASSES, THREADS = 100, 4
FIELDS = {f"number{i}": i for i in range(6)}


def made_by_threads() -> None:
    sys.setswitchinterval(1e-6)
    number = Annotated[int, msgspec.Meta(ge=0)]
    kinds = [(name, number) for name in FIELDS]
    for i in range(CLASSES):
        made = dataclasses.make_dataclass("Made", kinds) if i % 2 else msgspec.defstruct("Made", kinds)
        barrier, found = threading.Barrier(THREADS), list[Any]()

        def make(made: Any = made, barrier: threading.Barrier = barrier, found: list[Any] = found) -> None:
            barrier.wait()
            found.extend((convert(FIELDS, made), decode(msgspec.json.encode(FIELDS), made)))

        threads = [threading.Thread(target=make) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [made(**FIELDS)] * (2 * THREADS)


def test_threads() -> None:
    """msgspec alone ends the process."""
    ended = subprocess.run([sys.executable, __file__], check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


if __name__ == "__main__":
    made_by_threads()
