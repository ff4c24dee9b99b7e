"""Whole histograms, and the farthest boards of the seed's puzzle, against published numbers.

``sliding.json`` and ``groups.json`` (Cayley graphs of permutation groups) name the source of each entry. Spaces of more
than 2,000,000 states are marked slow; with distances most of these are for a night.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from cases import for_each
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Puzzle

QUICK_STATES = 2_000_000
MOST_STATES = 500_000_000
MOST_STATES_OF_A_MAP = 250_000_000

EIGHT_KINDS_FARTHEST = {
    "┘│└/─□─/┐│┌",
    "┘─└/│□│/┐─┌",
    "┘│└/│□─/┐─┌",
    "┘│└/─□│/┐─┌",
    "┘─└/─□│/┐│┌",
    "┘─└/│□─/┐│┌",
}
"""M. Hiroi's six boards at distance 30."""


def read(file: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((Path(__file__).parent / file).read_text(encoding="utf-8"))
    return found


SLIDING, GROUPS = read("sliding.json"), read("groups.json")
ENTRIES = SLIDING + GROUPS


def entries(most: int, large: pytest.MarkDecorator) -> list[Any]:
    return [
        pytest.param(entry, id=entry["name"], marks=[large] if entry["states"] > QUICK_STATES else [])
        for entry in ENTRIES
        if entry["states"] <= most
    ]


def puzzle_of(entry: dict[str, Any]) -> Puzzle:
    return load(entry["puzzle"])


def check(entry: dict[str, Any], settings: Settings) -> None:
    outcome = enumerate_puzzle(puzzle_of(entry), None, settings)
    assert list(outcome.layers) == entry["layers"]
    assert outcome.states == entry["states"]
    assert outcome.eccentricity == entry["eccentricity"]
    assert outcome.complete
    assert len(outcome.farthest) == min(entry["layers"][-1], 1000)


@pytest.mark.parametrize("entry", entries(MOST_STATES_OF_A_MAP, pytest.mark.night))
def test_histogram_with_distances(entry: dict[str, Any]) -> None:
    check(entry, Settings())


@pytest.mark.slow
def test_a_large_histogram_with_distances() -> None:
    (entry,) = (entry for entry in SLIDING if entry["name"] == "sliding-3x4-step")
    check(entry, Settings())


@pytest.mark.parametrize("entry", entries(MOST_STATES, pytest.mark.slow))
def test_histogram_only(entry: dict[str, Any]) -> None:
    check(entry, Settings(histogram_only=True))


@for_each("entry", ENTRIES)
def test_entries_are_whole_and_those_of_the_package(entry: dict[str, Any]) -> None:
    layers = entry["layers"]
    assert sum(layers) == entry["states"]
    assert len(layers) == entry["eccentricity"] + 1
    assert entry["source"]
    known = puzzle_of(entry).known
    assert known
    assert all(answer.layers is None or list(answer.layers) == layers for answer in known)


def test_there_is_an_answer_for_each_size_and_metric() -> None:
    assert len(SLIDING) == 23
    assert sum(entry["states"] <= MOST_STATES for entry in SLIDING) == 15
    assert {entry["metric"] for entry in SLIDING} == {"step", "slide"}
    assert len(GROUPS) == 42
    assert sum(entry["states"] <= MOST_STATES for entry in GROUPS) == 40


def test_the_six_farthest_boards_of_eight_kinds() -> None:
    outcome = enumerate_puzzle(load("eight-kinds"), None)
    assert outcome.states == 90_720
    assert outcome.eccentricity == 30
    assert len(outcome.farthest) == 6
    assert set(outcome.farthest) == EIGHT_KINDS_FARTHEST
