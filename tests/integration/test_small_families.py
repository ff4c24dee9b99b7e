"""Hanoi, lights, jugs and users' classes from the file to the proof: whole maps, paths, errors."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import farthest
from farthest.families.python.user_class import collision_probability
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.queries.distance_map import DistanceMap
from integration.conftest import Run, forge
from space_battery import space_layers


def puzzle_of(family: str, table: str, metric: str = "") -> Puzzle:
    more = f'metric = "{metric}"\n' if metric else ""
    return parse_puzzle(f'name = "p"\nfamily = "{family}"\n{more}[{family}]\n{table}\n', "p.toml")


PUZZLES: dict[str, tuple[str | Puzzle, Origin]] = {
    "hanoi": ("hanoi-3-5", Origin()),
    "hanoi, cyclic": ("hanoi-cyclic-3-4", Origin()),
    "hanoi, from": ("hanoi-cyclic-4-3", Origin("from", "start")),
    "lights": ("lights-3x3", Origin()),
    "lights, three colours": ("lights-2x3-c3", Origin()),
    "lights, from": ("lights-2x3-c3", Origin("from", "goal")),
    "lights, multi": ("lights-2x2-c4-multi", Origin()),
    "jugs": ("jugs-8-5-3", Origin("from", "start")),
    "jugs, to": ("die-hard-jugs", Origin()),
    "class, batches": (puzzle_of("python", 'class = "python_spaces:Ring"'), Origin("from", "start")),
    "class, by an address": (puzzle_of("python", 'class = "python_spaces:Called"'), Origin("to", "start")),
    "class, to": (puzzle_of("python", 'class = "python_spaces:Doubling"'), Origin("to", "start")),
    "class, one way": (puzzle_of("python", 'class = "python_spaces:OneWay"'), Origin("from", "start")),
    "class, ranks": (puzzle_of("python", 'class = "python_spaces:Sorting"'), Origin("from", "start")),
    "class, bytes": (puzzle_of("python", 'class = "python_spaces:Words"'), Origin("from", "start")),
    "class, 128 bits": (puzzle_of("python", 'class = "python_spaces:Wide"'), Origin("from", "start")),
    "class, 64 bits": (puzzle_of("python", 'class = "python_spaces:Sparse"'), Origin("from", "start")),
}


@pytest.fixture(params=PUZZLES)
def made(request: pytest.FixtureRequest, folder: Path) -> Iterator[DistanceMap]:
    puzzle, origin = PUZZLES[request.param]
    with farthest.enumerate(puzzle, origin=origin) as found:
        yield found


@pytest.mark.slow
def test_a_whole_map(made: DistanceMap) -> None:
    space = made.space
    if space.code_bytes == 8:
        expected = space_layers(made.puzzle, made.origin)
        assert made.layers == tuple(map(len, expected))
        for depth, layer in enumerate(expected):
            for board in layer:
                assert made.distance(board) == depth
    assert made.verify().ok
    farthest_board = made.farthest()[0]
    path = made.path(farthest_board)
    assert len(path) == made.depth + 1
    distances = [made.distance(board) for board in path]
    assert sorted(distances) == list(range(len(path)))


def test_a_class_that_fails_midway(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "midway.py").write_text(
        "import farthest\nclass Space(farthest.PuzzleSpace):\n    def initial(self):\n        return [1]\n"
        "    def successors_of(self, state):\n"
        "        if state > 5000:\n            raise KeyError(state)\n        return [state + 1, 2 * state]\n"
    )
    (folder / "midway.toml").write_text(
        'name = "midway"\nfamily = "python"\n[python]\nclass = "midway:Space"\n'
    )
    error = run("enumerate", "midway.toml", "--allow-module", "midway", status=2).stderr
    monkeypatch.delitem(sys.modules, "midway")
    assert error.startswith("Error: puzzle class midway:Space: successors_of raised KeyError: ")
    assert "midway.py, line 7, in successors_of: raise KeyError(state)" in error
    assert "Traceback" not in error


def test_a_listed_job_needs_no_class(run: Run, folder: Path) -> None:
    (folder / "ring.toml").write_text(
        'name = "ring"\nfamily = "python"\n[python]\nclass = "python_spaces:Ring"\n'
    )
    run("enumerate", "ring.toml")
    forge("UPDATE puzzle SET definition = replace(definition, 'python_spaces', 'gone_away')")
    assert "ring" in run("jobs").stdout
    missing = run("distance", "1", "3", "--allow-module", "gone_away", status=2).stderr
    assert "puzzle class missing on" in missing


def test_states_without_keys_are_counted(run: Run, folder: Path) -> None:
    """Inversions of six things: 720 states in 16 layers, told with the probability of an error."""
    table = 'class = "python_spaces:Tuples"\noptions = { n = 6 }'
    (folder / "tuples.toml").write_text(f'name = "tuples"\nfamily = "python"\n[python]\n{table}\n')
    for _ in range(2):  # the second time in a process that has seen them
        text = run("enumerate", "tuples.toml", "--histogram-only").stdout
        assert "tuples: 720 states, eccentricity 15" in text
        assert "5 4 3 2 1 0" in text
        assert "the probability that two of 720 were taken for one is at most 7.6e-34" in text
    error = run("enumerate", "tuples.toml", status=2).stderr
    assert "its states have no keys, only hashes, from which no map can be made; write key and state" in error


def test_probability_of_a_collision() -> None:
    assert collision_probability(2**20) == 2.0**-89
    assert collision_probability(2**70) == 1.0
