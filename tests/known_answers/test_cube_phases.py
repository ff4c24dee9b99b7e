"""Cosets and orientations of the 3x3x3 cube, as patterns: published numbers of positions at each distance.

Phase one of H. Kociemba's method: M. Reid, Two stage filtration, Cube-Lovers, 1995, quarter turns and face turns (the
latter found by D. Winter before, 1992). Orientations alone: M. Lazreg, An analysis of the corner and edge orientations
of the 3x3x3 cube, Domain of the Cube forum, 2010.
"""

from pathlib import Path

import pytest

from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.models.database import open_database
from farthest.puzzles.catalogue import load

PHASE_ONE = "FR=FL=BL=BR.turns:corners.edges"
STATES = 495 * 2048 * 2187
FACE_TURNS = (
    *(1, 4, 50, 592, 7_156, 87_236, 1_043_817, 12_070_278, 124_946_368, 821_605_960, 1_199_128_738),
    *(58_202_444, 476),
)
QUARTER_TURNS = (
    *(1, 4, 34, 312, 2_772, 24_996, 225_949, 2_017_078, 17_554_890, 139_132_730, 758_147_361),
    *(1_182_378_518, 117_594_403, 14_072),
)
ORIENTATIONS = (1, 4, 34, 300, 2_556, 21_276, 168_539, 1_038_210, 2_562_320, 683_124, 2_612)


def test_the_layers_are_all_states() -> None:
    assert sum(FACE_TURNS) == sum(QUARTER_TURNS) == STATES
    assert sum(ORIENTATIONS) == 2048 * 2187


def test_orientations_by_quarter_turns() -> None:
    puzzle = load("cube-3x3x3-qtm@turns:all")
    assert enumerate_puzzle(puzzle, None, Settings(histogram_only=True)).layers == ORIENTATIONS


@pytest.mark.slow
def test_first_layers_of_phase_one() -> None:
    puzzle = load(f"cube-3x3x3@{PHASE_ONE}")
    settings = Settings(histogram_only=True, max_depth=6)
    assert enumerate_puzzle(puzzle, None, settings).layers == FACE_TURNS[:7]


@pytest.mark.night
def test_phase_one_by_face_turns_as_a_residue_map(tmp_path: Path) -> None:
    with open_database(str(tmp_path / "maps.db"), create=True) as database:
        outcome = enumerate_puzzle(load(f"cube-3x3x3@{PHASE_ONE}"), database, Settings(residues=True))
    assert (outcome.layers, outcome.eccentricity, outcome.complete) == (FACE_TURNS, 12, True)
    (file,) = (tmp_path / "maps.db.maps").iterdir()
    assert STATES // 4 <= file.stat().st_size <= 600 * 10**6


@pytest.mark.night
def test_phase_one_by_quarter_turns() -> None:
    puzzle = load(f"cube-3x3x3-qtm@{PHASE_ONE}")
    assert enumerate_puzzle(puzzle, None, Settings(histogram_only=True)).layers == QUARTER_TURNS
