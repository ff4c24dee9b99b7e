"""Distances between all pairs of a graph: compared with one search from each vertex."""

import numpy
import pytest
from numpy.typing import NDArray

from farthest import _kernel
from farthest.random_source import RandomSource

Edges = list[list[int]]


def made(edges: Edges) -> _kernel.Graph:
    offsets = numpy.cumsum([0, *map(len, edges)], dtype=numpy.uint64)
    targets = numpy.array([to for each in edges for to in each], dtype=numpy.uint32)
    return _kernel.Graph(offsets, targets)


def vertices(*numbers: int) -> NDArray[numpy.uint32]:
    return numpy.array(numbers, dtype=numpy.uint32)


def searched(edges: Edges, start: int) -> list[int]:
    found = [-1] * len(edges)
    found[start] = 0
    layer, depth = [start], 0
    while layer:
        layer, depth = sorted({to for each in layer for to in edges[each] if found[to] < 0}), depth + 1
        for vertex in layer:
            found[vertex] = depth
    return found


def ring(size: int) -> Edges:
    return [[(vertex + 1) % size] for vertex in range(size)]


def random_graph(vertices: int, edges: int, seed: int) -> Edges:
    rng = RandomSource(seed)
    found: Edges = [[] for _ in range(vertices)]
    for _ in range(edges):
        found[rng.below(vertices)].append(rng.below(vertices))
    return found


@pytest.mark.parametrize(
    "edges",
    [[[]], ring(7), ring(520), random_graph(40, 30, 1), random_graph(600, 1000, 2), [*ring(3), [0, 0, 3]]],
)
@pytest.mark.parametrize("threads", [1, 3])
def test_as_one_by_one(edges: Edges, threads: int) -> None:
    graph = made(edges)
    expected = [searched(edges, vertex) for vertex in range(len(edges))]
    farthest = numpy.zeros(len(edges), dtype=numpy.uint32)
    half = len(edges) // 2
    pairs = [graph.search(*some, farthest, threads) for some in ((0, half), (half, len(edges)))]
    assert farthest.tolist() == [max(distances) for distances in expected]
    joined = [distance for distances in expected for distance in distances if distance >= 0]
    counts = [
        sum(each[depth] for each in pairs if depth < len(each)) for depth in range(max(map(len, pairs)))
    ]
    assert counts == numpy.bincount(joined).tolist()
    last = numpy.frombuffer(graph.distances(vertices(len(edges) - 1)), dtype=numpy.int32)
    assert last.tolist() == expected[-1]


def test_the_nearest_of_some() -> None:
    both = random_graph(300, 200, 3)
    graph = made(both)
    some = vertices(5, 77, 5)
    nearest = numpy.frombuffer(graph.distances(some), dtype=numpy.int32).tolist()
    assert nearest == [
        min((at for at in pair if at >= 0), default=-1)
        for pair in zip(searched(both, 5), searched(both, 77), strict=True)
    ]


def test_what_is_no_graph() -> None:
    for offsets, targets in (([], []), ([1, 1], [0]), ([0, 2, 1], [0]), ([0, 1], []), ([0, 1], [1])):
        with pytest.raises(ValueError, match=r"offsets|targets"):
            _kernel.Graph(numpy.array(offsets, numpy.uint64), numpy.array(targets, numpy.uint32))
    graph = made(ring(3))
    with pytest.raises(ValueError, match="range"):
        graph.search(1, 4, numpy.zeros(3, numpy.uint32))
    with pytest.raises(ValueError, match="each vertex"):
        graph.search(0, 3, numpy.zeros(2, numpy.uint32))
    with pytest.raises(ValueError, match="no such vertex"):
        graph.distances(vertices(0, 3))
