"""The model of distributed runs, held against real ones, and asked about those that are too large to try.

    python benchmarks/scaling.py measure [--puzzle NAME ...] [--workers 2]
    python benchmarks/scaling.py predict PUZZLE [--workers N] [--redis-nodes K] [--json]

measure: bytes, messages and memory of runs stepped in this process, then time and processor time of runs through Celery
workers, each beside what the model says. It starts a Redis of its own (tests/servers.py), or uses the one that
FARTHEST_REDIS_URL names, which must be empty and idle. docs/scaling.md has the model in words.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from farthest.coordinator.enumeration.workers_model import (
    Cluster,
    Prediction,
    Shape,
    predict,
    simulated_locality,
)
from farthest.environment import BLOCK_SIZE, WORKER_MEMORY, byte_count
from farthest.puzzles.catalogue import load
from scale_run import Counted, counted_run, shape_of

GIB, TERA = 2**30, 10**12
MAIN = "import sys; from farthest.cli.entry import main; sys.argv[0] = 'farthest'; main()"
READY_SECONDS = 60.0


def predicted(name: str, cluster: Cluster, block_size: int) -> tuple[Shape, Prediction]:
    """What the model says of a puzzle of the catalogue."""
    shape = shape_of(load(name), block_size)
    return shape, predict(shape, cluster, simulated_locality(shape, cluster.workers, cluster.worker_memory))


# measure


@contextlib.contextmanager
def redis_server() -> Iterator[str]:
    """The URL of an empty Redis."""
    given = os.environ.get("FARTHEST_REDIS_URL")
    if given:
        yield given
        return
    sys.path.append(str(Path(__file__).parent.parent / "tests"))
    from servers import RedisServer

    with tempfile.TemporaryDirectory() as folder:
        server = RedisServer(Path(folder) / "redis")
        server.start()
        try:
            yield server.url
        finally:
            server.close()


def compared(shape: Shape, run: Counted, prediction: Prediction) -> dict[str, tuple[float, float]]:
    """(measured, modelled) for each figure that both have."""
    figures = {
        name: (run.total(name), prediction.total(name)) for name in ("written", "read", "blobs", "messages")
    }
    figures["peak"] = (max(layer.held for layer in run.layers), prediction.peak)
    if run.map_bytes:
        figures["map bytes"] = (run.map_bytes, prediction.database)
    return figures


def show(title: str, figures: dict[str, tuple[float, float]]) -> None:
    """Prints a table."""
    print(f"\n{title}\n{'':22} {'measured':>15} {'modelled':>15} {'ratio':>6}")
    for name, (measured, modelled) in figures.items():
        digits = 3 if measured < 1000 and name.endswith("seconds") else 0
        ratio = f"{modelled / measured:6.2f}" if measured else ""
        print(f"{name:22} {measured:15,.{digits}f} {modelled:15,.{digits}f} {ratio}")


def measure_counts(name: str, url: str, block_size: int, workers: int, memory: int) -> None:
    """Bytes, messages, memory, and processor time by part, of a run in this process."""
    small = 1000 if block_size < 2**20 else 250_000
    run = counted_run(
        load(name),
        url,
        block_size=block_size,
        workers=workers,
        worker_memory=memory,
        small_states=small,
        make_map=True,
    )
    cluster = Cluster(workers=workers, worker_memory=memory, small_states=small, celery=False)
    shape = shape_of(load(name), block_size, run.states[:-1])
    prediction = predict(shape, cluster, simulated_locality(shape, workers, memory))
    figures = compared(shape, run, prediction)
    spent = sum(sum(layer.seconds[part] for part in ("open", "kernel", "commit")) for layer in run.layers)
    # The workers take turns in one thread: the model's time without the wait at a layer's end.
    modelled = prediction.total("worker_seconds") * workers
    figures["step seconds"] = (spent, modelled)
    figures["redis seconds"] = (run.total("redis_seconds"), prediction.total("redis_seconds"))
    figures["map seconds"] = (run.map_seconds + run.store_seconds, prediction.map_seconds)
    show(
        f"{name}, blocks of {block_size >> 10} KiB, {workers} workers with {memory >> 20} MiB, in process",
        figures,
    )


@dataclass(frozen=True)
class _Real:
    seconds: float
    elapsed: float
    worker_seconds: float
    coordinator_seconds: float


def _session_seconds(session: int) -> float:
    """Processor time of all processes of a session (Linux)."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def real_run(name: str, url: str, workers: int, block_size: int, folder: Path) -> _Real:
    """A run through a worker of ``workers`` processes, by the commands that users have."""
    environment = {
        **os.environ,
        "FARTHEST_REDIS_URL": url,
        "FARTHEST_BLOCK_SIZE": str(block_size),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    log = (folder / "worker.log").open("ab")
    worker = subprocess.Popen(
        [sys.executable, "-c", MAIN, "worker", "--concurrency", str(workers)],
        stdout=log,
        stderr=log,
        env=environment,
        start_new_session=True,
    )
    try:
        limit = time.monotonic() + READY_SECONDS
        while b"is ready" not in (folder / "worker.log").read_bytes():
            if worker.poll() is not None or time.monotonic() > limit:
                raise SystemExit(f"the worker did not start:\n{(folder / 'worker.log').read_text()[-2000:]}")
            time.sleep(0.1)
        before, begun = _session_seconds(worker.pid), time.perf_counter()
        words = ["enumerate", name, "--workers", "celery", "--json", "--database", str(folder / "map.db")]
        with subprocess.Popen(
            [sys.executable, "-c", MAIN, *words], stdout=subprocess.PIPE, stderr=log, env=environment
        ) as command:
            assert command.stdout is not None
            said = command.stdout.read()
            _, status, usage = os.wait4(command.pid, 0)
            command.returncode = os.waitstatus_to_exitcode(status)
        if command.returncode:
            raise SystemExit(f"enumerate {name}: exit status {command.returncode}: {said.decode()}")
        elapsed = time.perf_counter() - begun
        spent = _session_seconds(worker.pid) - before
        return _Real(json.loads(said)["seconds"], elapsed, spent, usage.ru_utime + usage.ru_stime)
    finally:
        worker.send_signal(signal.SIGTERM)
        worker.wait(30)
        log.close()


def measure_real(name: str, url: str, workers: int, block_size: int) -> None:
    """Time of a run through Celery; the map is stored in SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        real = real_run(name, url, workers, block_size, Path(folder))
    _, prediction = predicted(name, Cluster(workers=workers, cores=len(os.sched_getaffinity(0))), block_size)
    figures = {
        "layers' seconds": (real.seconds, prediction.total("seconds")),
        "elapsed seconds": (real.elapsed, prediction.seconds),
        "worker seconds": (real.worker_seconds, prediction.total("worker_seconds") * workers),
        "coordinator seconds": (
            real.coordinator_seconds,
            prediction.total("coordinator_seconds") + prediction.start_seconds + prediction.map_seconds * 2,
        ),
    }
    show(f"{name}, blocks of {block_size >> 10} KiB, {workers} Celery processes", figures)


# predict


def report(shape: Shape, cluster: Cluster, prediction: Prediction) -> dict[str, object]:
    """The figures of a prediction, in bytes and seconds."""
    states = sum(shape.layers)
    longest = max(prediction.layers, key=lambda layer: layer.seconds)
    return {
        "puzzle": shape.name,
        **asdict(cluster),
        "states": states,
        "shards": shape.shards,
        "blocks": shape.blocks,
        "messages": int(prediction.total("messages")),
        "written_per_state": prediction.total("written") / states,
        "read_per_state": prediction.total("read") / states,
        "redis_peak": prediction.peak,
        "redis_peak_per_state": prediction.peak / states,
        "older": prediction.older,
        "database": prediction.database,
        "worker_memory_used": prediction.worker_bytes,
        "coordinator_memory_used": prediction.coordinator_bytes,
        "layers_seconds": prediction.total("seconds"),
        "bound_by": prediction.bound,
        "longest_layer_seconds": longest.seconds,
        "longest_layer": {
            name: getattr(longest, name)
            for name in ("worker_seconds", "redis_seconds", "coordinator_seconds")
        },
        "checkpoints": prediction.checkpoints,
        "map_seconds": prediction.map_seconds,
        "seconds": prediction.seconds,
    }


def main() -> None:
    """Measures, or predicts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    measure = commands.add_parser("measure")
    measure.add_argument("--puzzle", action="append", help="instead of sliding-2x5, sliding-2x6, sliding-3x4")
    measure.add_argument("--workers", type=int, default=2, help="processes")
    measure.add_argument("--only", choices=("counts", "times"), help="the first or the second part")
    ask = commands.add_parser("predict")
    ask.add_argument("puzzle")
    ask.add_argument("--workers", type=int, default=8, help="processes, each on a core of its own")
    ask.add_argument("--redis-nodes", type=int, default=1)
    ask.add_argument("--worker-memory", default=WORKER_MEMORY.default)
    ask.add_argument("--block-size", default=BLOCK_SIZE.default)
    ask.add_argument("--network", type=float, default=10.0, help="Gbit/s of a Redis node")
    ask.add_argument("--histogram-only", action="store_true")
    arguments = parser.parse_args()
    if arguments.command == "measure":
        with redis_server() as url:
            for name in arguments.puzzle or ("sliding-2x5", "sliding-2x6", "sliding-3x4"):
                for block_size in (2**15, 2**22) if name == "sliding-2x5" else (2**22,):
                    if arguments.only != "times":
                        for memory in (0, 256 * 2**20):
                            measure_counts(name, url, block_size, arguments.workers, memory)
                    if arguments.only != "counts":
                        measure_real(name, url, arguments.workers, block_size)
        return
    sizes = byte_count(arguments.worker_memory), byte_count(arguments.block_size)
    if sizes[0] is None or sizes[1] is None:
        parser.error("expected sizes such as 256MiB")
    cluster = Cluster(
        workers=arguments.workers,
        nodes=arguments.redis_nodes,
        worker_memory=sizes[0],
        network=arguments.network * 1e9 / 8,
        histogram_only=arguments.histogram_only,
    )
    shape, prediction = predicted(arguments.puzzle, cluster, sizes[1])
    print(json.dumps(report(shape, cluster, prediction), indent=1))


if __name__ == "__main__":
    main()
