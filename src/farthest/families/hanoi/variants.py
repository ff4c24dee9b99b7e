"""Between which pegs discs may move, by name."""

from farthest.puzzles.grid import Passages

VARIANTS = ("standard", "cyclic", "adjacent")


def variant_arcs(variant: str, pegs: int) -> Passages:
    """The ways of the discs in one of VARIANTS, sorted."""
    ways = [(a, b) for a in range(pegs) for b in range(pegs) if a != b]
    if variant == "cyclic":
        ways = [(a, b) for a, b in ways if b == (a + 1) % pegs]
    elif variant == "adjacent":
        ways = [(a, b) for a, b in ways if abs(a - b) == 1]
    return tuple(ways)
