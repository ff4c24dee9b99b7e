"""The families' tables of functions: each name is one that a family may offer, and leads to a function."""

from cases import for_each
from farthest.puzzles.family import Family, families, family
from farthest.puzzles.puzzle import FAMILIES

OFFERED = {name for name in vars(Family) if not name.startswith("_")} | {"table", "definition", "patterns"}


@for_each("name", FAMILIES)
def test_functions_are_there(name: str) -> None:
    found = family(name)
    assert found.name == name
    assert set(found.functions) <= OFFERED
    assert "definition" in found.functions
    for function in found.functions:
        assert callable(found.function(function))


def test_what_a_family_does_not_offer() -> None:
    assert family("jugs").function("parametric") is None
    assert all(each.parametric("no such name") is None for each in families())
