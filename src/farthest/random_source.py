"""Random numbers whose sequence is the same for the same seed, on every machine and in every version of Python.

They are made of nothing but ``random.Random(seed).random()``, whose sequence for an integer seed Python promises never
to change; each call gives 53 bits. Not for secrets.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import MutableSequence, Sequence

Value = TypeVar("Value")

_BITS = 53
_SPAN = 1 << _BITS


class RandomSource:
    """A sequence of random numbers. ``seed``: 0 or more."""

    def __init__(self, seed: int) -> None:
        if seed < 0:
            raise ValueError(f"seed {seed}: expected 0 or more")
        self._random = Random(seed).random

    def below(self, limit: int) -> int:
        """A number from 0 to ``limit`` - 1, each with the same chance."""
        if limit <= 0:
            raise ValueError(f"limit {limit}: expected 1 or more")
        words = -(-limit.bit_length() // _BITS)
        span = 1 << _BITS * words
        while True:
            drawn = 0
            for _ in range(words):
                drawn = drawn << _BITS | int(self._random() * _SPAN)
            if drawn < span - span % limit:  # else the first remainders would come more often
                return drawn % limit

    def different(self, limit: int, count: int) -> list[int]:
        """So many different numbers below ``limit``, ascending; each choice of them with the same chance."""
        fewer, found = min(count, limit - count), set[int]()
        while len(found) < fewer:
            found.add(self.below(limit))
        return sorted(found if fewer == count else set(range(limit)) - found)

    def chosen(self, values: Sequence[Value]) -> Value:
        """One of the values, each with the same chance."""
        return values[self.below(len(values))]

    def weighed(self, weights: Sequence[int]) -> int:
        """A number i from 0 to len(weights) - 1 with the chance weights[i] / sum(weights)."""
        drawn = self.below(sum(weights))
        for i, weight in enumerate(weights):
            drawn -= weight
            if drawn < 0:
                return i
        raise AssertionError("drawn below the sum")

    def shuffle(self, values: MutableSequence[Value]) -> None:
        """Puts the values in one of all orders, each with the same chance."""
        for last in range(len(values) - 1, 0, -1):
            other = self.below(last + 1)
            values[last], values[other] = values[other], values[last]
