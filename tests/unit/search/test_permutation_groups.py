"""Chains of stabilisers against groups listed one by one, and orders that are known."""

import random
from collections import Counter
from math import factorial

from cases import for_each
from every_board import evenly_spread
from farthest.families.permutation.groups import Element, Group, inverse, product
from farthest.random_source import RandomSource


def listed(points: int, generators: list[Element]) -> set[Element]:
    unit = tuple(range(points))
    found, queue = {unit}, [unit]
    for each in queue:
        for generator in generators:
            after = product(each, generator)
            if after not in found:
                found.add(after)
                queue.append(after)
    return found


def some_permutation(rng: random.Random, points: int, moved: int) -> Element:
    """One that moves so many points at most."""
    places = rng.sample(range(points), moved)
    images = rng.sample(places, moved)
    found = list(range(points))
    for place, image in zip(places, images, strict=True):
        found[place] = image
    return tuple(found)


@for_each("seed", range(30))
def test_small_groups(seed: int) -> None:
    rng = random.Random(seed)
    points = rng.randrange(1, 7)
    generators = [some_permutation(rng, points, rng.randrange(points + 1)) for _ in range(rng.randrange(4))]
    elements = listed(points, generators)
    first = rng.sample(range(points), rng.randrange(points + 1))
    group = Group(points, generators, first=first)
    assert group.is_whole(10**6)
    assert group.order == len(elements)
    assert [level.point for level in group.levels[: len(first)]] == first
    for _ in range(50):
        one = some_permutation(rng, points, points)
        assert group.knows(one) == (one in elements)
        assert group.random(RandomSource(rng.randrange(1000))) in elements
        assert product(one, inverse(one)) == tuple(range(points))


def test_known_orders() -> None:
    # M11 and M12 (E. Mathieu 1861), of 7920 and 95040 elements; the alternating group on 40 points.
    a = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0)
    b = (0, 1, 6, 9, 5, 3, 10, 2, 8, 4, 7)
    m11 = Group(11, [a, b])
    assert (m11.order, m11.is_whole(10**6)) == (7920, True)
    m12 = Group(12, [(*a, 11), (*b, 11), (11, 10, 5, 7, 8, 2, 9, 3, 4, 6, 1, 0)])
    assert (m12.order, m12.is_whole(10**6)) == (95040, True)
    cycles = [(*range(i), i + 1, i + 2, i, *range(i + 3, 40)) for i in range(38)]
    even = Group(40, cycles, most=factorial(40) // 2)
    assert even.is_whole(0)
    assert not even.knows((1, 0, *range(2, 40)))


def test_what_is_not_known_to_be_whole() -> None:
    assert not Group(11, [(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0)]).is_whole(0)


def test_random_elements_are_evenly_spread() -> None:
    group, rng = Group(5, [(1, 2, 3, 4, 0), (1, 2, 0, 3, 4)]), RandomSource(5)
    drawn = Counter(group.random(rng) for _ in range(1200))
    assert len(drawn) == 60
    assert evenly_spread(list(drawn.values()))
