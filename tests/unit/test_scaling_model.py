"""The model behind docs/scaling.md against runs in a real Redis, counted."""

from dataclasses import replace
from pathlib import Path

import pytest

from farthest.coordinator.enumeration import workers_model
from farthest.coordinator.enumeration.layers_in_files import BitmapsInFiles
from farthest.coordinator.enumeration.plan import estimated
from farthest.coordinator.enumeration.workers_model import (
    COSTS,
    Cluster,
    Prediction,
    Shape,
    blob_bytes,
    predict,
    simulated_locality,
)
from farthest.coordinator.settings import Settings
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Puzzle
from farthest.spaces import compile_space
from farthest.spaces.contract import gather
from scale_run import Counted, counted_run, shape_of
from strategies import make_puzzle

MIB = 2**20
TOLERANCE = {"written": 0.15, "read": 0.15, "blobs": 0.35, "messages": 0.05, "peak": 0.25}
"""Of what was measured."""


def one_way() -> Puzzle:
    """362,880 boards on a one-way ring of nine cells with two-way bridges."""
    ring = tuple((cell, (cell + 1) % 9) for cell in range(9))
    return make_puzzle(edges=((0, 3), (3, 7)), arcs=ring, goals=[tuple(range(9))])


def odd_ring() -> Puzzle:
    """3,628,800 boards on two rows of five cells and a diagonal, which makes a ring of three."""
    rows = tuple((cell, cell + 1) for cell in range(9) if cell != 4)
    columns = tuple((cell, cell + 5) for cell in range(5))
    return make_puzzle(edges=(*rows, *columns, (0, 6)), goals=[tuple(range(10))])


CASES = {
    "bipartite": (load("sliding-2x5"), "before", 2**15),
    "not bipartite": (odd_ring(), "two", 2**16),
    "one-way": (one_way(), "all", 2**13),
}


def measured(
    puzzle: Puzzle, url: str, block_size: int, workers: int, memory: int, small: int = 1000
) -> tuple[Counted, Shape, Cluster]:
    """A run, and what the model is to be told of it."""
    run = counted_run(
        puzzle, url, block_size=block_size, workers=workers, worker_memory=memory, small_states=small
    )
    cluster = Cluster(workers=workers, worker_memory=memory, small_states=small, celery=False)
    return run, shape_of(puzzle, block_size, run.states[:-1]), cluster


def misses(run: Counted, prediction: Prediction) -> dict[str, float]:
    """What is further from the run than TOLERANCE: by what factor."""
    ratios = {name: prediction.total(name) / run.total(name) for name in TOLERANCE if name != "peak"}
    ratios["peak"] = prediction.peak / max(layer.held for layer in run.layers)
    return {name: ratio for name, ratio in ratios.items() if not abs(ratio - 1) <= TOLERANCE[name]}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.slow
def test_bytes_messages_and_memory(redis_url: str, name: str) -> None:
    puzzle, exclude, block_size = CASES[name]
    run, shape, cluster = measured(puzzle, redis_url, block_size, 1, 0)
    assert shape.exclude == exclude
    locality = simulated_locality(shape, 1, 0)
    assert not misses(run, predict(shape, cluster, locality))
    # A model that is wrong by as much as this would be found out.
    for factor in (1.4, 0.4):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(workers_model, "COSTS", replace(COSTS, entropy=factor * COSTS.entropy))
            # Blobs of all states found are mostly bits as they are, and of the others some shards alone are read.
            assert {"written", "read"} & misses(run, predict(shape, cluster, locality)).keys()


def check_kept(run: Counted, shape: Shape, cluster: Cluster, least: float) -> None:
    """How much workers find in memory is luck too, where blocks are few: which of them each took first. ``least``: part
    of the predicted reading that there is at least."""
    kept = predict(shape, cluster, simulated_locality(shape, cluster.workers, cluster.worker_memory))
    nothing_kept = predict(shape, cluster, simulated_locality(shape, cluster.workers, 0))
    assert misses(run, kept).keys() <= {"read"}
    assert least * kept.total("read") <= run.total("read") < 0.6 * nothing_kept.total("read")


@pytest.mark.slow
def test_what_workers_keep_is_not_read(redis_url: str) -> None:
    check_kept(*measured(load("sliding-2x5"), redis_url, 2**12, 4, MIB // 4, 20_000), least=0.5)


@pytest.mark.night
def test_3x4(redis_url: str) -> None:
    run, shape, cluster = measured(load("sliding-3x4"), redis_url, 4 * MIB, 1, 0, 250_000)
    prediction = predict(shape, cluster, simulated_locality(shape, 1, 0))
    assert not misses(run, prediction)
    assert run.states[:-1] == list(shape.layers)
    layers = [(layer.written, one.written) for layer, one in zip(run.layers, prediction.layers, strict=True)]
    large = [(counted, said) for counted, said in layers if counted > 10**6]
    assert len(large) > 20
    assert all(abs(said / counted - 1) < 0.15 for counted, said in large)


@pytest.mark.night
def test_3x4_kept(redis_url: str) -> None:
    check_kept(*measured(load("sliding-3x4"), redis_url, 4 * MIB, 2, 256 * MIB, 250_000), least=0.0)


def test_a_blob_costs_what_its_entropy_does() -> None:
    keys = 20_000_000
    assert blob_bytes(keys, 0) == 0
    assert blob_bytes(keys, keys) == COSTS.blob_header
    assert blob_bytes(keys, keys - 10**5) == pytest.approx(blob_bytes(keys, 10**5))  # as many zeros
    sizes = [blob_bytes(keys, states) for states in (10, 10**3, 10**5, 10**7)]
    assert sizes == sorted(sizes)
    assert sizes[-1] == pytest.approx(keys / 8, rel=0.05)  # half of all keys: a bit each


def test_workers_find_in_memory_what_they_have_stepped() -> None:
    shape = shape_of(load("sliding-2x7"), 4 * MIB)
    assert (shape.shards, shape.blocks, shape.exclude) == (2184, 546, "before")
    many = simulated_locality(shape, 64, 256 * MIB)
    assert many.two_before > 0.9
    assert 0.5 < many.before < 1
    few = simulated_locality(shape, 8, 32 * MIB)
    assert few.two_before < 0.1
    assert simulated_locality(shape, 64, 0).before == 0


def test_more_machines_take_less_time_until_something_else_is_full() -> None:
    shape = shape_of(load("sliding-2x7"), 4 * MIB)
    several = [
        Cluster(workers=workers, nodes=nodes) for workers, nodes in ((2, 1), (8, 1), (512, 1), (512, 8))
    ]
    predictions = [
        predict(shape, cluster, simulated_locality(shape, cluster.workers, 0)) for cluster in several
    ]
    seconds = [prediction.total("seconds") for prediction in predictions]
    assert seconds == sorted(seconds, reverse=True)
    assert [prediction.bound for prediction in (predictions[0], predictions[2])] == ["worker", "redis"]


@pytest.mark.slow
def test_layers_that_are_united(tmp_path: Path) -> None:
    """The edges of the cube from files, and by two workers: docs/symmetry.md."""
    settings = Settings(histogram_only=True, memory=2**30, scratch=tmp_path)
    needs = estimated(load("cube-3x3x3-edges"), settings, None, (2,))
    assert needs.layers_disk == pytest.approx(4.4e9, rel=0.1)
    assert needs.workers[0].blobs == pytest.approx(4.6e9, rel=0.1)


@pytest.mark.parametrize(
    ("puzzle", "memory", "measured"),
    [
        ("sliding-2x7", 1024 * MIB, (949 * MIB, 2.4e9, 28.2e9, 56.2e9)),
        ("pancake-12", 150 * MIB, (171 * MIB, 109 * MIB, 198 * MIB, 595 * MIB)),
    ],
)
def test_files_of_runs_that_were_measured(
    tmp_path: Path, puzzle: str, memory: int, measured: tuple[float, ...]
) -> None:
    """docs/scaling.md: no run needs more than the model says by a quarter."""
    layers = load(puzzle).known[0].layers or ()
    run = BitmapsInFiles(gather(compile_space(load(puzzle))), tmp_path, memory, 2, layers)
    said = (run.cut.memory, run.needs.disk, run.needs.written, run.needs.read)
    assert all(0.65 * model < real < 1.25 * model for model, real in zip(said, measured, strict=True))
