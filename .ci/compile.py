"""Runs a command that compiles the kernel: shows how far it is, and all that it said if it fails.

    python .ci/compile.py "what is compiled" COMMAND [ARGUMENT ...]

The command is pip or cmake --build; lines of ninja, ``[3/27] ...``, are its progress. As many compilers run at a time
as there are processors and gigabytes of free memory; JOBS=N sets their number.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

GIB = 2**30
JOB_BYTES = 1 * GIB  # the largest part of the kernel takes some 0.6 GiB
STEP = re.compile(r"\[(\d+)/(\d+)\] ((?:Building|Linking|Generating) .*)")
FETCHED = re.compile(r"\s*((?:Collecting|Downloading|Installing collected packages:|Building wheel).*)")


def free_memory() -> int | None:
    """Bytes that programs may still take: of the machine, of the control group, and by ulimit; None if unknown."""
    limits = []
    try:
        fields = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        limits.append(sum(int(fields[name].split()[0]) * 1024 for name in ("MemAvailable", "SwapFree")))
    except (OSError, KeyError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with contextlib.suppress(OSError, ValueError):  # ValueError: "max"
        group = Path("/sys/fs/cgroup")
        limits.append(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        limits.append(limit)
    return min(limits, default=None)


def processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def job_count() -> tuple[int, str]:
    """How many compilers to run at a time, and why not more; exits where there is no memory for one."""
    told = os.environ.get("JOBS") or os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL")
    if told:
        if not told.isdecimal() or int(told) == 0:
            sys.exit(
                f"farthest: JOBS={told}: expected a number of compilers to run at a time, such as JOBS=2"
            )
        return int(told), ""
    memory = free_memory()
    jobs = processors()
    if memory is None or memory >= jobs * JOB_BYTES:
        return jobs, ""
    if memory < 0.6 * JOB_BYTES:
        sys.exit(
            f"farthest: {memory / GIB:.1f} GB of memory are free, and compiling takes 1 GB: close programs or add"
            " swap space (Debian, Ubuntu, Fedora: man mkswap; macOS adds it itself); JOBS=1 tries all the same"
        )
    return max(1, memory // JOB_BYTES), f": {memory / GIB:.1f} GB of memory are free, and each takes 1 GB"


class Progress:
    """One line that changes on a terminal; a line now and then elsewhere."""

    def __init__(self) -> None:
        self.terminal = sys.stdout.isatty()
        self.shown = time.monotonic()

    def show(self, text: str) -> None:
        if self.terminal:
            print(f"\r\x1b[K   {text[:76]}", end="", flush=True)
        elif time.monotonic() - self.shown >= 10:
            print(f"   {text}", flush=True)
            self.shown = time.monotonic()

    def end(self) -> None:
        if self.terminal:
            print("\r\x1b[K", end="", flush=True)


def run(what: str, command: list[str]) -> int:
    """Runs the command and returns its exit status."""
    jobs, reason = job_count()
    environment = {**os.environ, "CMAKE_BUILD_PARALLEL_LEVEL": str(jobs)}
    progress = Progress()
    log: list[str] = []
    compiling = False
    with subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            log.append(line)
            if step := STEP.search(line):
                done, total, task = step.groups()
                if not compiling:
                    progress.end()
                    print(
                        f"== compiling {what} ({total} steps, {jobs} at a time{reason})",
                        flush=True,
                    )
                    compiling = True
                progress.show(f"[{done}/{total}] {task}")
            elif fetched := FETCHED.match(line):
                progress.show(fetched[1])
    progress.end()
    if process.returncode != 0:
        sys.stderr.write("".join(log))
        print(f"farthest: {what} could not be built: the first error above tells why", file=sys.stderr)
    return process.returncode


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        sys.exit(run(sys.argv[1], sys.argv[2:]))
    except KeyboardInterrupt:
        sys.exit(130)
