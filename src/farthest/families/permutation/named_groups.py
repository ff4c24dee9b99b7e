"""Groups that GAP knows by a function, by the generators that GAP gives them."""

from __future__ import annotations

from farthest.errors import PuzzleError
from farthest.families.permutation.fields import MAX_POINTS

Cycle = tuple[int, ...]
Generators = list[tuple[Cycle, ...]]
"""Each a product of cycles without a point in common."""

NAMED = ("SymmetricGroup", "AlternatingGroup", "CyclicGroup", "DihedralGroup", "MathieuGroup")
"""Functions of one number: points, elements of cyclic and dihedral groups."""

_M11: Generators = [(tuple(range(1, 12)),), ((3, 7, 11, 8), (4, 10, 5, 6))]
_M23: Generators = [
    (tuple(range(1, 24)),),
    ((3, 17, 10, 7, 9), (4, 13, 14, 19, 5), (8, 18, 11, 12, 23), (15, 20, 22, 21, 16)),
]
_MATHIEU: dict[int, Generators] = {
    11: _M11,
    12: [*_M11, ((1, 12), (2, 11), (3, 6), (4, 8), (5, 9), (7, 10))],
    22: [
        (tuple(range(1, 12)), tuple(range(12, 23))),
        ((1, 4, 5, 9, 3), (2, 8, 10, 7, 6), (12, 15, 16, 20, 14), (13, 19, 21, 18, 17)),
        ((1, 21), (2, 10, 8, 6), (3, 13, 4, 17), (5, 19, 9, 18), (11, 22), (12, 14, 16, 20)),
    ],
    23: _M23,
    24: [
        *_M23,
        (
            (1, 24), (2, 23), (3, 12), (4, 16), (5, 18), (6, 10),
            (7, 20), (8, 14), (9, 21), (11, 17), (13, 22), (15, 19),
        ),
    ],
}  # fmt: skip
"""As GAP's manual has them."""


_LEAST = {"SymmetricGroup": 2, "AlternatingGroup": 3, "CyclicGroup": 2, "DihedralGroup": 6}


def named_generators(function: str, number: int) -> Generators:
    """The generators of the group that the function of ``NAMED`` makes of a number, none of them the identity. Raises
    PuzzleError saying which numbers there are."""
    if function == "MathieuGroup":
        if number not in _MATHIEU:
            raise PuzzleError(f"{number} is out of range; expected 11, 12, 22, 23 or 24")
        return _MATHIEU[number]
    if function == "DihedralGroup" and number % 2:
        raise PuzzleError(f"{number} is odd; expected the number of elements, twice that of the points")
    degree = number // 2 if function == "DihedralGroup" else number
    if number < _LEAST[function] or degree > MAX_POINTS:
        raise PuzzleError(
            f"{number} is out of range; expected {_LEAST[function]} or more, and at most {MAX_POINTS} points"
        )
    points = tuple(range(1, degree + 1))
    made: Generators = [(points,)]
    if function == "SymmetricGroup":
        made.append(((1, 2),))
        return made[: degree - 1]
    if function == "AlternatingGroup":
        made = [(points if degree % 2 else points[:-1],), (points[-3:],)]
        return made[: degree - 2]
    if function == "CyclicGroup":
        return made
    return [*made, tuple((i, degree + 2 - i) for i in range(2, (degree + 1) // 2 + 1))]
