"""python benchmarks/through_workers.py PUZZLE [PLACE] [options]: a job by Celery workers on this machine.

Starts a Redis server, a worker and a coordinator of their own, runs `farthest enumerate PUZZLE --workers celery`, and
prints one line of JSON: wall seconds, processor seconds and most resident memory by kind of process, most bytes in
Redis and in the place of blobs, bytes that Redis received and sent, and that went through the connections of the
coordinator (where `ss` tells, as root, but for its last quarter of a second), all three also for each state found.
PLACE: redis (the default), disk (a folder in --folder) or objects (SeaweedFS). Settings FARTHEST_... hold as given.
Needs the packages of the tests.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from cluster import Cluster, Service, children
from object_server import BUCKET, ObjectServer
from servers import RedisServer

LOOK_SECONDS = 0.25
KINDS = ("worker", "coordinator", "redis")


class Watch:
    """The processor time, and the most memory, of processes and their children; the most bytes of blobs."""

    def __init__(self, roots: dict[str, int], redis: Any, folder: Path | None) -> None:
        self._roots = roots
        self._redis = redis
        self._folder = folder
        self._ended = threading.Event()
        self._cpu: dict[tuple[str, int], float] = {}
        self.memory = dict.fromkeys(roots, 0)
        self.redis_bytes = self.blob_bytes = 0
        self._sockets: dict[str, int] = {}
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Watch:
        self._look()
        self._before = self._seconds()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._look()
        self.seconds = {kind: round(at - self._before[kind], 2) for kind, at in self._seconds().items()}

    def _seconds(self) -> dict[str, float]:
        return {kind: sum(n for (of, _), n in self._cpu.items() if of == kind) for kind in self._roots}

    @property
    def through_coordinator(self) -> int:
        """Bytes that its connections have sent and received."""
        return sum(self._sockets.values())

    def _look_at_sockets(self) -> None:
        said = subprocess.run(["ss", "-tnpiHO"], capture_output=True, text=True, check=False).stdout
        for line in said.splitlines():
            if f"pid={self._roots['coordinator']}," in line:
                sizes = re.findall(r"bytes_(?:sent|received):(\d+)", line)
                self._sockets[line.split()[3]] = sum(map(int, sizes))

    def _run(self) -> None:
        while not self._ended.wait(LOOK_SECONDS):
            self._look()

    def _look(self) -> None:
        for kind, pid in self._roots.items():
            here = [pid]
            for one in here:
                here += children(one)
                try:
                    stat = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                self._cpu[kind, one] = (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
                resident = int(stat[21]) * os.sysconf("SC_PAGE_SIZE")
                self.memory[kind] = max(self.memory[kind], resident)
        self._look_at_sockets()
        self.redis_bytes = max(self.redis_bytes, int(self._redis.info("memory")["used_memory"]))
        if self._folder is not None:
            self.blob_bytes = max(self.blob_bytes, _bytes_in(self._folder))


def _bytes_in(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
    return total


def _moved(redis: Any) -> dict[str, int]:
    said = redis.info("stats")
    return {"in": int(said["total_net_input_bytes"]), "out": int(said["total_net_output_bytes"])}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("puzzle")
    parser.add_argument("place", nargs="?", choices=("redis", "disk", "objects"), default="redis")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--map", action="store_true", help="make the map, too")
    parser.add_argument("--max-depth", help="the last layer")
    parser.add_argument("--folder", help="for all that is written; default: the system's for temporary files")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="farthest-", dir=given.folder) as name:
        base = Path(name)
        redis = RedisServer(base / "redis")
        redis.start()
        objects = ObjectServer(base / "objects") if given.place == "objects" else None
        folder = base / "blobs" if given.place == "disk" else None
        try:
            if objects is not None:
                objects.start()
                os.environ.update(objects.variables())
            if folder is not None:
                folder.mkdir()
            places = {"redis": "redis", "disk": (base / "blobs").as_uri(), "objects": f"s3://{BUCKET}/run"}
            _run(given, base, redis, places[given.place], folder)
        finally:
            redis.close()
            if objects is not None:
                objects.close()


def _run(given: argparse.Namespace, base: Path, redis: RedisServer, url: str, folder: Path | None) -> None:
    settings = {
        name.removeprefix("FARTHEST_"): value
        for name, value in os.environ.items()
        if name.startswith("FARTHEST_") and name != "FARTHEST_KERNEL_PATH"
    }
    settings["BLOBS"] = url
    with Cluster(base / "cluster", redis.url, f"sqlite:///{base}/maps.db", settings) as cluster:
        worker = cluster.add_worker(given.processes)
        cluster.ready()
        words = [given.puzzle, "--workers", "celery", "--json", "--database", str(base / "maps.db")]
        if not given.map:
            words.append("--histogram-only")
        if given.max_depth:
            words += ["--max-depth", given.max_depth]
        assert redis.process is not None
        before = _moved(cluster.redis)
        begun = time.monotonic()
        coordinator: Service = cluster.start("enumerate", *words)
        roots = {"worker": worker.pid, "coordinator": coordinator.pid, "redis": redis.process.pid}
        with Watch(roots, cluster.redis, folder) as watch:
            status = coordinator.process.wait()
            wall = time.monotonic() - begun
        if status:
            sys.exit(f"exit status {status}:\n{cluster.logs()}")
        said = json.loads(coordinator.said()[coordinator.said().index("{") :])
        moved = {name: size - before[name] for name, size in _moved(cluster.redis).items()}
        moved["coordinator"] = watch.through_coordinator
        states = sum(said["layers"])
        print(
            json.dumps(
                {
                    "puzzle": given.puzzle,
                    "place": given.place,
                    "processes": given.processes,
                    "wall": round(wall, 2),
                    "processor": watch.seconds,
                    "memory_mb": {kind: size // 10**6 for kind, size in watch.memory.items()},
                    "redis_mb": round(watch.redis_bytes / 1e6, 1),
                    **{f"{name}_mb": round(size / 1e6, 1) for name, size in moved.items()},
                    **{f"{name}_a_state": round(size / states, 3) for name, size in moved.items()},
                    "blobs_mb": round(watch.blob_bytes / 1e6, 1),
                    "layers": len(said["layers"]),
                    "digest": said["digest"][:16],
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
