"""Linear algebra modulo m against all vectors."""

import random
from itertools import product
from math import prod

from cases import for_each
from farthest.families.lights.space import annihilator


@for_each("modulus", [2, 3, 4, 5, 6, 8, 9, 12])
def test_sums_of_rows_are_what_is_annihilated(modulus: int) -> None:
    rng = random.Random(modulus)
    for columns, count in [(1, 1), (2, 1), (2, 3), (3, 2), (3, 0), (3, 3)]:
        rows = [[rng.randrange(modulus) for _ in range(columns)] for _ in range(count)]
        sums = {(0,) * columns}
        for row in rows:
            sums = {
                tuple((a + times * b) % modulus for a, b in zip(one, row, strict=True))
                for one in sums
                for times in range(modulus)
            }
        found = annihilator(rows, columns, modulus)
        for vector in product(range(modulus), repeat=columns):
            kept = all(sum(a * b for a, b in zip(vector, y, strict=True)) % modulus == 0 for y, _ in found)
            assert kept == (vector in sums)
        assert len(sums) * prod(order for _, order in found) == modulus**columns
        assert all(all(order * value % modulus == 0 for value in y) for y, order in found)
