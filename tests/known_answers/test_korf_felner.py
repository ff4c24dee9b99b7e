"""Korf and Felner's fifty boards of the 24-puzzle: lengths, and nodes with additive patterns, as published in 2002."""

import json
import random
import time
from pathlib import Path

import pytest

import farthest
from cluster import Cluster, until
from farthest.models.database import open_database
from farthest.puzzles.board_sets import board_set
from farthest.queries.pattern_maps import PatternMaps
from farthest.search.contract import Problem
from farthest.search.deepening import deepen
from farthest.search.engines import open_engine
from servers import RedisServer

BOARDS = {known.number: known for known in board_set("korf-felner-50").boards}
PUZZLE = "24-puzzle"
MAPS = ("1.2.5-7.12", "3.4.8.9.13.14")
HEURISTIC = "6-6-6-6"


def written(number: int) -> str:
    return BOARDS[number].text


def test_the_lengths_sum_up_as_published_and_have_the_parity_of_the_boards() -> None:
    assert sorted(BOARDS) == list(range(1, 51))
    assert sum(instance.length for instance in BOARDS.values()) == 5039
    boards = [written(number) for number in sorted(BOARDS)]
    values = farthest.heuristic_values(PUZZLE, boards, "manhattan")
    for number, value in zip(sorted(BOARDS), values.tolist(), strict=True):
        assert BOARDS[number].length - value >= 0
        assert (BOARDS[number].length - value) % 2 == 0


@pytest.mark.slow
def test_smaller_patterns_on_the_same_grid(tmp_path: Path) -> None:
    """Four patterns of three pieces; three of them are turns of one. Lengths are those of another heuristic."""
    database = str(tmp_path / "maps.db")
    for pattern in ("1.5.6", "3.4.9"):
        farthest.enumerate(f"{PUZZLE}@{pattern}", database=database).close()
    text = "sym:@1.5.6+@3.4.9+@15.20.21+@19.23.24"
    rng = random.Random(24)
    for _ in range(3):
        walker = farthest.Walker(PUZZLE, farthest.load_puzzle(PUZZLE).definition.origin_boards[0][0])
        for _ in range(40):
            walker.make(rng.randrange(len(walker.moves())))
        found = farthest.solve(PUZZLE, walker.board, heuristic=text, database=database, store=False)
        other = farthest.solve(PUZZLE, walker.board, heuristic="linear-conflict", store=False)
        assert found.length == other.length


@pytest.fixture(scope="module")
def maps(tmp_path_factory: pytest.TempPathFactory) -> str:
    database = str(tmp_path_factory.mktemp("fifty") / "maps.db")
    for pattern in MAPS:
        with farthest.enumerate(f"{PUZZLE}@{pattern}", database=database) as found:
            assert found.states == 127_512_000
    return database


@pytest.mark.night
@pytest.mark.parametrize("number", [38, 40])
def test_the_easiest_takes_as_many_nodes_as_published(maps: str, number: int) -> None:
    puzzle = farthest.load_puzzle(PUZZLE)
    problem = Problem(
        puzzle, farthest.load_puzzle(PUZZLE).definition.parse_board(written(number)), "goal", HEURISTIC
    )
    with open_database(maps, create=False) as database:
        engine = open_engine(problem, PatternMaps(database))
    engine.split_from = engine.budget = 2**62  # one piece an iteration
    found = deepen(engine, problem.board, first=True, limit=1)
    assert (found.length, found.nodes) == (BOARDS[number].length, BOARDS[number].nodes)


@pytest.mark.night
def test_a_board_is_split_over_workers_that_are_killed(
    maps: str, redis_server: RedisServer, tmp_path: Path
) -> None:
    expected = farthest.solve(PUZZLE, written(25), heuristic=HEURISTIC, database=maps, store=False)
    assert expected.length == BOARDS[25].length
    redis_server.flush()
    with Cluster(tmp_path, redis_server.url, f"sqlite:///{maps}", {"LEASE_SECONDS": "1"}) as cluster:
        cluster.add_worker(2)
        cluster.add_worker(1)
        cluster.ready()
        words = ["solve", PUZZLE, written(25), "--heuristic", HEURISTIC, "--json", "--workers", "celery"]
        search = cluster.start(*words)
        until(lambda: cluster.redis.keys("farthest:working:*") or None, 120, "workers search")
        time.sleep(1)
        cluster.workers[0].kill_child()
        time.sleep(1)
        cluster.remove(cluster.workers[-1])
        until(lambda: None if search.alive else True, 600, "the search ends")
        found = json.loads(search.said().splitlines()[-1])
        assert (found["length"], found["nodes"], found["moves"]) == (
            expected.length,
            expected.nodes,
            [list(move) for move in expected.paths[0]],
        )
