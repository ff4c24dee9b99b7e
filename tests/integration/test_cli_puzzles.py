"""`farthest puzzles`."""

import pytest

from farthest.puzzles import catalogue
from integration.conftest import Run, RunJson

NAMES = [*catalogue.names(), "sliding-3x4", "sliding-2x3-slide"]


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
    result = run("puzzles", "eight-kind", status=2)
    assert result.stderr.startswith("Error: ")
    assert "eight-kinds" in result.stderr
