"""Which codes an enumeration takes where only some layers are asked for."""

import pytest

from farthest.coordinator.enumeration.plan import Machine, space_for
from farthest.coordinator.enumeration.resources import layers_by_growth
from farthest.coordinator.settings import Settings
from farthest.puzzles.catalogue import load
from farthest.spaces import compile_space
from farthest.spaces.contract import is_packed


@pytest.mark.parametrize(
    ("name", "options", "packed"),
    [
        ("cube-3x3x3-domino", {"max_depth": 6}, True),
        ("cube-3x3x3-domino", {"max_depth": 6, "workers": "celery"}, True),
        ("cube-3x3x3-domino", {"max_depth": 6, "residues": True}, False),  # bitmaps alone give a residue map
        (
            "cube-3x3x3-domino",
            {"max_depth": 14},
            False,
        ),  # 2.2e9 states in the layer before, and 5.6e9 in the last
        ("pancake-9", {"max_depth": 3}, False),  # bitmaps of all keys are small
        ("cube-3x3x3", {"max_depth": 3}, True),  # there are no keys
    ],
)
def test_bitmaps_that_are_much_larger_than_the_layers(
    name: str, options: dict[str, object], packed: bool
) -> None:
    settings = Settings(memory=2**34, histogram_only=not options.get("residues"), **options)  # type: ignore[arg-type]
    space = space_for(load(name), settings, Machine(settings))
    assert is_packed(space.layout_fields()) == packed


def test_layers_by_growth() -> None:
    """The first are exact, the others at least as many; sliding-3x4 has 239,500,800 states."""
    space = compile_space(load("sliding-3x4"))
    first = (1, 2, 4, 9, 20, 37, 63, 122, 232, 431, 781, 1392, 2494)  # Korf and Schultze 2005
    grown = layers_by_growth(space, 40)
    assert grown[:13] == first
    assert len(grown) == 41
    assert grown[40] > 6_000_000
    assert layers_by_growth(compile_space(load("pancake-4")), 9) == (1, 3, 6, 11, 3, 0)
