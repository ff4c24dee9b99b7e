"""A map of every family, from its enumeration to its questions and its proof; and that damage is found in each."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import update

import farthest
from families import BLOCKS, PEGS, python_class
from farthest.coordinator.attempt import Interrupted
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.reporter import Reporter
from farthest.coordinator.settings import Settings
from farthest.models.chunks import encode
from farthest.models.database import open_database
from farthest.models.maps import Maps
from farthest.models.tables import chunk, job
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.queries.distance_map import DistanceMap

CASES: dict[str, tuple[Callable[[], Puzzle], Origin | None]] = {
    "permutation": (lambda: farthest.load_puzzle("pancake-5"), None),
    "permutation, turned": (lambda: farthest.load_puzzle("burnt-pancake-3"), Origin("from", "goal")),
    "permutation, equal pieces": (lambda: farthest.load_puzzle("lrx-5"), Origin("from", "2 1 3 4 5")),
    "permutation, numbered": (lambda: farthest.Permutations("DihedralGroup(134)"), None),
    "hanoi": (lambda: farthest.load_puzzle("hanoi-4-3"), None),
    "hanoi, one-way": (lambda: farthest.load_puzzle("hanoi-cyclic-3-3"), Origin("from", "goal")),
    "lights": (lambda: farthest.load_puzzle("lights-2x3-c3"), None),
    "jugs": (lambda: farthest.load_puzzle("jugs-8-5-3"), None),
    "jugs, to": (lambda: farthest.load_puzzle("die-hard-jugs"), Origin("to", "goal")),
    "blocks, step": (lambda: parse_puzzle(BLOCKS.format("step"), "corner.toml"), None),
    "blocks, slide": (lambda: parse_puzzle(BLOCKS.format("slide"), "corner.toml"), None),
    "blocks, move": (lambda: parse_puzzle(BLOCKS.format("move"), "corner.toml"), Origin("to", "goal")),
    "pegs, jump": (lambda: parse_puzzle(PEGS.format("jump"), "plus.toml"), None),
    "pegs, chain": (lambda: parse_puzzle(PEGS.format("chain"), "plus.toml"), None),
    "pegs, back from the goal": (
        lambda: parse_puzzle(PEGS.format("jump"), "plus.toml"),
        Origin("to", "goal"),
    ),
    "python, dense": (lambda: python_class("Doubling"), None),
    "python, one-way": (lambda: python_class("OneWay"), None),
    "python, strings": (lambda: python_class("Words"), None),
    "python, 128 bits": (lambda: python_class("Wide"), None),
}


def cases(*fast: str) -> list[object]:
    """All cases, slow but for some."""
    return [pytest.param(name, marks=[] if name in fast else pytest.mark.slow) for name in CASES]


@pytest.mark.parametrize(
    "name",
    cases(
        "permutation, turned",
        "hanoi, one-way",
        "lights",
        "jugs, to",
        "blocks, move",
        "pegs, chain",
        "python, strings",
    ),
)
def test_a_map(name: str, tmp_path: Path) -> None:
    make, origin = CASES[name]
    with farthest.enumerate(make(), database=str(tmp_path / "maps.db"), origin=origin, threads=2) as opened:
        check_questions(opened)
        check_moves(opened)
        check_exports(opened, tmp_path)
        check_proof(opened)


class Stopping(Reporter):
    """Stops a run when a layer is done."""

    def __init__(self, depth: int) -> None:
        self._depth = depth

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        if depth == self._depth:
            raise KeyboardInterrupt


@pytest.mark.parametrize(
    "name",
    [
        *("jugs", "blocks, step", "python, 128 bits"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("lights", "hanoi, one-way", "pegs, chain")),
    ],
)
def test_a_run_that_is_stopped_and_continued_ends_in_the_same_map(name: str, tmp_path: Path) -> None:
    make, origin = CASES[name]
    settings = Settings(origin=origin, threads=2, checkpoint_seconds=0)
    with open_database(str(tmp_path / "whole.db"), create=True) as database:
        whole = enumerate_puzzle(make(), database, settings)
    with open_database(str(tmp_path / "parts.db"), create=True) as database:
        for depth in (2, 4):
            with pytest.raises(Interrupted):
                enumerate_puzzle(make(), database, settings, Stopping(depth))
        outcome = enumerate_puzzle(make(), database, settings)
        assert outcome.resumed_from in (1, 2, 3)  # checkpoints may take a tenth of the time
        assert (outcome.digest, outcome.layers) == (whole.digest, whole.layers)
        assert outcome.farthest == whole.farthest
        assert enumerate_puzzle(make(), None, settings).digest == whole.digest


def ways_by_counting(opened: DistanceMap) -> dict[str, int]:
    """For each state the number of shortest ways, counted layer by layer along the moves away from the origin."""
    space, definition = opened.space, opened.puzzle.definition
    ways = dict.fromkeys(opened.states_at(0), 1)
    for depth in range(opened.depth):
        texts = list(opened.states_at(depth))
        after = set(opened.states_at(depth + 1))
        boards = np.array([opened.labels(text) for text in texts], dtype=np.uint8)
        for _, rows, reached in space.neighbours(boards, toward=False):
            for row, text in zip(rows.tolist(), definition.texts(reached), strict=True):
                if text in after:
                    ways[text] = ways.get(text, 0) + ways[texts[row]]
    return ways


def check_questions(opened: DistanceMap) -> None:
    ways = ways_by_counting(opened)
    assert len(ways) == opened.states
    layers = [list(opened.states_at(depth)) for depth in range(opened.depth + 1)]
    for depth, boards in enumerate(layers):
        assert opened.distances(boards).tolist() == [depth] * opened.layers[depth]
    for board in {layers[-1][0], layers[opened.depth // 2][-1], layers[0][0]}:
        graph = opened.solution_graph(board)
        assert graph.count() == ways[board]
        found = list(opened.solutions_of(graph, 300))
        assert len({(tuple(way.moves), way.boards.tobytes()) for way in found}) == min(ways[board], 300)
        ends = {board, *layers[0]}
        for way in found:
            texts = opened.puzzle.definition.texts(way.boards)
            assert {texts[0], texts[-1]} <= ends
            distances = opened.distances(texts).tolist()
            assert distances in (list(range(graph.distance + 1)), list(range(graph.distance, -1, -1)))
        path = opened.path(board)  # interchangeable pieces may have other names than on each board alone
        assert path == opened.named(found[0]).texts
        assert list(map(opened.labels, path)) == list(map(tuple, found[0].boards.tolist()))


def check_moves(opened: DistanceMap) -> None:
    """The moves that are named lead from board to board."""
    played = opened.origin.direction == "to"
    way = next(opened.solutions_of(opened.solution_graph(opened.farthest(1)[0]), 1))
    for here, name, there in zip(way.boards, way.moves, way.boards[1:], strict=False):
        after = opened.space.neighbours(here[np.newaxis], toward=played)
        assert any(found == name and (boards == there).all(axis=1).any() for found, _, boards in after), (
            name,
            here,
            there,
        )


def check_proof(opened: DistanceMap) -> None:
    report = opened.verify()
    assert report.ok, [(check.name, check.detail, str(check.first)) for check in report.failures]
    assert (report.states, report.digest) == (opened.states, opened.digest)
    damage(opened)
    wrong = opened.verify()
    assert not wrong.ok
    assert {check.name for check in wrong.failures} & {"nearer", "jump", "closed", "origin"}
    assert "digest" in {check.name for check in wrong.failures}


def damage(opened: DistanceMap) -> None:
    """Makes the first farthest state one farther than it is, with a checksum that is right, and without digests, as if
    an older version of the program had stored the job."""
    stored = Maps(opened.database).chunk_at(opened.job, 0)
    assert stored.last == (opened.record.keys or 0) - 1
    distances = bytearray(memoryview(stored.distances))
    distances[distances.index(opened.depth)] += 1
    payload = encode(replace(stored, distances=bytes(distances)))
    assert payload.checksum == hashlib.sha256(payload.payload).hexdigest()
    with opened.database.write() as connection:
        connection.execute(
            update(chunk)
            .where(chunk.c.job_id == opened.job)
            .values(payload=payload.payload, checksum=payload.checksum, record_digest=None)
        )
        connection.execute(update(job).where(job.c.id == opened.job).values(parts=None, record_digest=None))


def check_exports(opened: DistanceMap, tmp_path: Path) -> None:
    for form in ("csv", "npz"):
        assert opened.export(tmp_path / f"states.{form}") == opened.states
    with np.load(tmp_path / "states.npz") as arrays:
        codes = opened.space.encode(arrays["labels"])
        assert opened.lookup(codes).tolist() == arrays["distances"].tolist()
