"""`farthest puzzles`."""

from pathlib import Path

import pytest

from farthest.puzzles import catalogue
from integration.conftest import Run, RunJson

NAMES = [
    "eight-kinds",
    "first-row",
    "wilson-theta",
    "cube-2x2x2-htm",
    "pancake-6",
    "hanoi-4-4",
    "lights-3x3",
    "die-hard-jugs",
    "pegs-triangle-15",
    "rush-hour-60",
    "sliding-3x4",
    "sliding-2x3-slide",
]
"""Some of each family; `unit/puzzles/test_catalogue.py` reads all of them."""


def test_the_list(run: Run) -> None:
    text = run("puzzles").stdout
    assert all(name in text for name in catalogue.names())
    assert "10,461,394,944,000" in text


def test_the_list_as_json(run_json: RunJson) -> None:
    listed = {puzzle["name"]: puzzle for puzzle in run_json("puzzles")["puzzles"]}
    assert list(listed) == catalogue.names()
    assert listed["eight-kinds"] == {
        "name": "eight-kinds",
        "title": catalogue.load("eight-kinds").title,
        "family": "sliding",
        "metric": "step",
        "cells": 9,
        "arrangements": 90720,
        "states": 90720,
    }


@pytest.mark.parametrize("name", NAMES)
def test_one_puzzle(run: Run, run_json: RunJson, name: str) -> None:
    puzzle = catalogue.load(name)
    text = run("puzzles", name).stdout
    assert text.startswith(f"{name}: {puzzle.title}\n")
    document = run_json("puzzles", name)
    assert document["digest"] == puzzle.digest
    assert len(document["goals"]) == len(puzzle.definition.origin_boards[0])
    assert len(document["known"]) == len(puzzle.known)


def test_the_seed_is_drawn(run: Run) -> None:
    text = run("puzzles", "eight-kinds").stdout
    assert "│□│" in text
    assert "eccentricity  30" in text
    assert "6 boards" in text


def test_a_graph_shows_its_passages(run: Run) -> None:
    assert "→" in run("puzzles", "roundabout").stdout


def test_no_such_puzzle(run: Run) -> None:
    result = run("puzzles", "eight-kindz", status=2)
    assert result.stderr.startswith("Error: ")
    assert "eight-kinds" in result.stderr


def test_words_list_what_they_match(run: Run, run_json: RunJson) -> None:
    lines = run("puzzles", "klotski").stdout.splitlines()
    names = ["hakoiri-musume-move", "hakoiri-musume-slide", "hakoiri-musume-step", "red-donkey"]
    assert [line.split()[0] for line in lines[1:5]] == names
    assert [line.split()[0] for line in lines[6:8]] == ["names", "klotski-CODE"]
    assert lines[8:] == ["", "Show one of them: farthest puzzles NAME"]
    for words in (["Rush", "HOUR", "second"], ["rush hour second"]):
        listed = run_json("puzzles", *words)["puzzles"]
        assert [puzzle["name"] for puzzle in listed] == ["rush-hour-58"]
    lines = run("puzzles", "pancakes").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["pancake-N", "burnt-pancake-N"]
    assert run_json("puzzles", "pancakes")["forms"][1]["form"] == "burnt-pancake-N"
    assert run_json("puzzles", "century")["name"] == "century"  # though other names hold the word
    assert len(run_json("puzzles", "cuboid")["puzzles"]) == 2


def test_a_map_is_asked_by_any_name_of_its_puzzle(run: Run) -> None:
    run("enumerate", "M11")
    for name in ("mathieu-m11", "M11", "mathieu-m11<b,a>"):
        assert run("distance", name, "moves: a b a").stdout.endswith("3\n")
    assert "no finished job" in run("distance", "mathieu-m11<a>", "moves: a", status=2).stderr


def test_a_title_is_not_a_name(run: Run) -> None:
    for command in ("enumerate", "submit", "random", "solve", "compare", "draw"):
        assert "did you mean 'cuboid-1x3x3'?" in run(command, "floppy", status=2).stderr
    run("enumerate", "3-puzzle")
    for command in ("show", "distance", "watch", "verify", "export", "delete", "cancel"):
        arguments = {"distance": ["0123"], "export": ["x.csv"]}.get(command, [])
        assert "did you mean '3-puzzle'?" in run(command, "blank first", *arguments, status=2).stderr, command


def test_kpuzzle(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ring.kpuzzle.json").write_text(run("puzzles", "lrx-4", "--kpuzzle").stdout)
    assert "lrx-4" in run("puzzles", str(tmp_path / "ring.kpuzzle.json")).stdout
    for wrong, message in (
        ([], "needs the name of one puzzle"),
        (["lrx-4", "--json"], "prints JSON of its own"),
    ):
        assert message in run("puzzles", *wrong, "--kpuzzle", status=2).stderr
