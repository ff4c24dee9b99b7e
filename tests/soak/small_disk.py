"""A file system with little room, which can be filled: a tmpfs in a mount namespace of this process (Linux, as root).

Whatever ends this process, the file system is gone with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

CLONE_NEWNS = 0x00020000
ROOM = 96 * 2**20


def own_mounts() -> str:
    """Gives this process mounts of its own; why that is not possible, or ''. Call it before threads are started."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "mounts need Linux and root"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS):
        return os.strerror(ctypes.get_errno())
    done = subprocess.run(["mount", "--make-rprivate", "/"], capture_output=True, text=True, check=False)
    return done.stderr.strip()


def mount(folder: Path) -> str:
    """Mounts a small file system; why that is not possible, or ''."""
    words = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "farthest-soak", str(folder)]
    return subprocess.run(words, capture_output=True, text=True, check=False).stderr.strip()


def unmount(folder: Path) -> None:
    """Takes it away, if it is there, though files may be open."""
    subprocess.run(["umount", "--lazy", str(folder)], capture_output=True, check=False)


@contextlib.contextmanager
def full(folder: Path) -> Iterator[None]:
    """Nothing more fits into the file system meanwhile."""
    filler = folder / "filler"
    try:
        with filler.open("wb", buffering=0) as file:
            for size in (2**20, 2**12, 1):
                with contextlib.suppress(OSError):
                    while file.write(bytes(size)) == size:
                        pass
        yield
    finally:
        filler.unlink()
