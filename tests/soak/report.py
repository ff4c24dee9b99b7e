"""What a soak counts, tells and keeps."""

from __future__ import annotations

import json
import re
import shutil
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from os import kill
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError

from soak.running import HUNG, LOST, RIGHT, WRONG, Running

if TYPE_CHECKING:
    from soak.ground import Ground

SLOWEST = 10


@dataclass
class Report:
    """The figures of a soak."""

    seed: int
    folder: Path
    begun: float = field(default_factory=time.monotonic)
    rounds: int = 0
    landed: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    results: dict[str, Counter[str]] = field(default_factory=dict)  # by engine
    reasons: Counter[str] = field(default_factory=Counter)
    unjustified: list[str] = field(default_factory=list)
    recoveries: list[tuple[float, str]] = field(default_factory=list)
    ended: list[dict[str, Any]] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)
    left_badly: list[dict[str, Any]] = field(default_factory=list)
    tracebacks: dict[str, int] = field(default_factory=dict)
    proved: int = 0
    left_keys: int = 0
    skipped: list[str] = field(default_factory=list)
    left_at_end: list[str] = field(default_factory=list)
    broken: str = ""  # what is wrong with the soak itself

    def count(self, result: str) -> int:
        return sum(counted[result] for counted in self.results.values())

    @property
    def failed(self) -> bool:
        """Whether anything is wrong, hung or lost, or ended with an error that no strike justifies."""
        return bool(sum(map(self.count, (WRONG, HUNG, LOST))) or self.unjustified or self.broken)

    def add(self, job: Running, after: float, strikes: list[str]) -> str:
        """Counts a job that has ended; the line that tells of it. ``after``: seconds after the last strike."""
        assert job.result is not None
        counted = self.results.setdefault(f"{job.workload.kind}: {job.workload.engine}", Counter())
        counted[job.result] += 1
        if job.resumed:
            counted["resumed"] += 1
        for reason in job.resumed:
            self.reasons[_short(reason)] += 1
        self.unjustified += [f"round {self.rounds}, {job.workload.name}: {one}" for one in job.unjustified]
        if strikes:
            self.recoveries.append((after, f"round {self.rounds}, {job.workload.name}: {' '.join(strikes)}"))
            self.recoveries = sorted(self.recoveries, reverse=True)[:SLOWEST]
        parts = [
            f"{time.strftime('%X')} round {self.rounds}: {job.workload.kind} {job.workload.name}: {job.result}",
            f"{job.seconds:.1f} s, {after:.1f} s after the last strike",
            " ".join(strikes) or "no strike",
        ]
        if job.resumed:
            reasons = Counter(_short(one) for one in job.resumed)
            parts.append("resumed: " + ", ".join(f"{count} x {one}" for one, count in reasons.items()))
        parts += [f"NOT JUSTIFIED: {one[-300:]}" for one in job.unjustified]
        return "; ".join([*parts, *([job.detail] if job.detail else [])])

    def take_processes(self, ground: Ground) -> Iterator[str]:
        """Counts what has been seen of processes since the last time; lines that tell of it."""
        for kind, seen, into in (
            ("ended by itself", ground.ended, self.ended),
            ("could not begin", ground.refused, self.refused),
            ("did not leave as told", ground.left_badly, self.left_badly),
        ):
            for one in seen:
                into.append({"round": self.rounds, **vars(one)})
                last = one.tail.strip().rpartition("\n")[2][:200]
                yield f"round {self.rounds}: {one.name} {kind}, {_circumstances(vars(one))}: {last}"
            seen.clear()
        for last_line, writers in ground.tracebacks.items():
            self.tracebacks[last_line] = self.tracebacks.get(last_line, 0) + len(writers)
        ground.tracebacks.clear()

    def document(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            "seed": self.seed,
            "folder": str(self.folder),
            "seconds": round(time.monotonic() - self.begun, 1),
            "rounds": self.rounds,
            "strikes": sum(self.landed.values()),
            "kinds": len(self.landed),
            "jobs": sum(self.count(result) for result in (RIGHT, WRONG, HUNG, LOST)),
            **{result: self.count(result) for result in (RIGHT, WRONG, HUNG, LOST, "resumed")},
            "unjustified": self.unjustified,
            "by_engine": {name: dict(counted) for name, counted in sorted(self.results.items())},
            "by_strike": dict(sorted(self.landed.items())),
            "missed": dict(sorted(self.missed.items())),
            "reasons": dict(self.reasons.most_common()),
            "proved": self.proved,
            "ended_by_themselves": self.ended,
            "could_not_begin": self.refused,
            "did_not_leave": self.left_badly,
            "tracebacks": self.tracebacks,
            "rounds_with_keys_left": self.left_keys,
            "left_at_end": self.left_at_end,
            "skipped": self.skipped,
            "broken": self.broken,
            "slowest": [{"seconds": round(seconds, 1), "job": job} for seconds, job in self.recoveries],
        }

    def lines(self) -> Iterator[str]:
        """The table at the end."""
        told = self.document()
        strikes = f"{told['strikes']} strikes of {told['kinds']} kinds"
        yield f"seed {self.seed}: {told['seconds']:.0f} s, {self.rounds} rounds, {strikes}, {told['jobs']} jobs"
        yield f"{'jobs by engine':38} {'right':>6} {'resumed':>8} {'wrong':>6} {'hung':>6} {'lost':>6}"
        for name, counted in [*sorted(self.results.items()), ("all", sum(self.results.values(), Counter()))]:
            figures = (counted[RIGHT], counted["resumed"], counted[WRONG], counted[HUNG], counted[LOST])
            yield "{:38} {:6} {:8} {:6} {:6} {:6}".format(name, *figures)
        yield "strikes that landed: " + ", ".join(f"{name} {n}" for name, n in sorted(self.landed.items()))
        if self.missed:
            yield "nothing there to strike: " + ", ".join(f"{n} {k}" for n, k in sorted(self.missed.items()))
        for reason, count in self.reasons.most_common():
            yield f"resumed {count:4} x {reason}"
        for error in self.unjustified:
            yield f"not justified: {error[-400:]}"
        yield f"maps proved: {self.proved}; rounds with keys of runs left: {self.left_keys}"
        for what, seen in (
            ("processes ended by themselves", self.ended),
            ("processes that could not begin while something was away", self.refused),
            ("processes that did not leave as told", self.left_badly),
        ):
            yield f"{what}: {len(seen)}"
            yield from (f"  round {one['round']}: {one['name']}, {_circumstances(one)}" for one in seen)
        for last, count in self.tracebacks.items():
            yield f"traceback {count:4} x {last}"
        yield from (f"left at the end: {one}" for one in self.left_at_end)
        yield from (f"skipped: {one}" for one in self.skipped)
        for seconds, job in self.recoveries:
            yield f"slowest: {seconds:6.1f} s after the last strike: {job}"
        if self.broken:
            yield f"the soak itself is broken:\n{self.broken}"
        yield "FAILED" if self.failed else "nothing wrong, hung or lost"


def _circumstances(ended: dict[str, Any]) -> str:
    return f"status {ended['status']}, after {' '.join(ended['after'])}"


def _short(reason: str) -> str:
    return re.sub(r"://\S+", "://…", reason)[:110]


class Evidence:
    """A folder with what is known of each failure; it is made at the first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def stacks(self, ground: Ground) -> None:
        """Lets all processes write into their logs what their threads do."""
        for service in (*ground.cluster.workers, *ground.cluster.coordinators):
            for pid in (service.pid, *service.children()):
                with suppress(ProcessLookupError):
                    kill(pid, signal.SIGUSR2)
        time.sleep(0.5)

    def keep(self, ground: Ground, job: Running, line: str) -> None:
        """The logs, the jobs and the keys in Redis."""
        place = self._place(f"{job.result}-{job.workload.words[1].rpartition('/')[2]}")
        (place / "told.txt").write_text("\n".join([line, *ground.told]))
        with suppress(Exception):
            (place / "job.txt").write_text(repr(ground.cluster.job(job.job)))
        with suppress(RedisError):
            (place / "redis.txt").write_text("\n".join(_keys(ground)))
        since = time.time() - (time.monotonic() - job.begun)
        for log in ground.cluster.folder.glob("*.log"):
            if log.stat().st_mtime >= since:
                shutil.copy(log, place)

    def keep_ended(self, ground: Ground, number: int) -> None:
        """The logs of a round in which processes ended."""
        place = self._place(f"ended-round-{number}")
        (place / "told.txt").write_text("\n".join(ground.told))
        for one in (*ground.ended, *ground.left_badly):
            shutil.copy(ground.cluster.folder / f"{one.name}.log", place)

    def _place(self, name: str) -> Path:
        place = self.folder / f"{time.strftime('%H%M%S')}-{name}"
        place.mkdir(parents=True, exist_ok=True)
        return place


def _keys(ground: Ground) -> Iterator[str]:
    redis = ground.cluster.redis
    for key in sorted(redis.scan_iter("*", 1000)):
        kind = redis.type(key)
        value = redis.hgetall(key) if kind == b"hash" else redis.get(key) if kind == b"string" else kind
        yield f"{key.decode()} {json.dumps(repr(value)[:2000])}"
