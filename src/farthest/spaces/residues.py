"""Linear algebra over the integers modulo m, m perhaps composite: what sums of given rows can never change."""

from __future__ import annotations

from collections.abc import Sequence

Row = list[int]


def annihilator(rows: Sequence[Sequence[int]], columns: int, modulus: int) -> list[tuple[Row, int]]:
    """The vectors y with y · row = 0 (mod ``modulus``) for each row, as (y, order of y): all of them are sums of these,
    each taken less often than its order, in one way only.

    A vector v is a sum of the rows, each taken some times, exactly where y · v = 0 for all of these y; such v are
    modulus ** columns / (product of the orders) many. By Smith's form over each prime power that divides the modulus.
    """
    found = []
    for prime, power in _prime_powers(modulus):
        q = prime**power
        for vector, order in _of_prime_power(rows, columns, prime, power):
            found.append(([value * (modulus // q) % modulus for value in vector], order))
    return found


def _of_prime_power(
    rows: Sequence[Sequence[int]], columns: int, prime: int, power: int
) -> list[tuple[Row, int]]:
    q = prime**power
    left = [[value % q for value in row] for row in rows]
    # Column operations are collected in ``right``: in the end (rows · right) is diagonal but for the order of rows.
    right = [[int(i == j) for j in range(columns)] for i in range(columns)]
    orders = []
    for column in range(columns):
        pivot = min(
            (
                (_valuation(row[j], prime, power), i, j)
                for i, row in enumerate(left)
                for j in range(column, columns)
            ),
            default=(power, 0, 0),
        )
        valuation, at, j = pivot
        if valuation == power:
            orders += [q] * (columns - column)
            break
        for row in (*left, *right):
            row[column], row[j] = row[j], row[column]
        chosen = left.pop(at)
        unit = pow(chosen[column] // prime**valuation, -1, q)
        chosen = [value * unit % q for value in chosen]
        # All other entries are multiples of the pivot, the least one in valuation.
        for row in left:
            _subtract(row, chosen, row[column] // prime**valuation, q)
        for other in range(column + 1, columns):
            times = chosen[other] // prime**valuation
            if times:
                for row in right:
                    row[other] = (row[other] - times * row[column]) % q
        orders.append(prime**valuation)
    return [
        ([row[i] * (q // order) % q for row in right], order) for i, order in enumerate(orders) if order > 1
    ]


def _subtract(row: Row, other: Row, times: int, modulus: int) -> None:
    if times:
        row[:] = [(a - times * b) % modulus for a, b in zip(row, other, strict=True)]


def _valuation(value: int, prime: int, power: int) -> int:
    """How often the prime divides the value, at most ``power`` times; of 0 that often."""
    count = 0
    while count < power and value % prime == 0:
        value //= prime
        count += 1
    return count


def _prime_powers(number: int) -> list[tuple[int, int]]:
    found, prime = [], 2
    while number > 1:
        power = 0
        while number % prime == 0:
            number //= prime
            power += 1
        if power:
            found.append((prime, power))
        prime += 1
    return found
