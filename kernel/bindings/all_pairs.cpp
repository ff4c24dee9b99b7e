#include "farthest/all_pairs.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>

#include "all_pairs.hpp"
#include "buffers.hpp"

namespace farthest::python {

using namespace nb::literals;

namespace {

std::vector<std::uint64_t> search(const Graph& graph, std::size_t first, std::size_t last,
                                  const Array<std::uint32_t>& eccentricities, int threads) {
  const auto places = aligned<std::uint32_t>(eccentricities);
  std::vector<std::uint64_t> pairs;
  const nb::gil_scoped_release release;
  graph.search(first, last, std::max(threads, 1), places, pairs);
  return pairs;
}

nb::bytes distances(const Graph& graph, const Array<const std::uint32_t>& from) {
  const auto found = graph.distances(aligned<const std::uint32_t>(from));
  return nb::bytes(found.data(), found.size() * sizeof(found[0]));
}

}  // namespace

void bind_all_pairs(nb::module_& m) {
  nb::class_<Graph>(m, "Graph",
                    "A directed graph: edges lead from vertex v to targets[offsets[v]:offsets[v + 1]]. "
                    "offsets: uint64, one more than vertices; targets: uint32. Raises ValueError.")
      .def(
          "__init__",
          [](Graph* graph, const Array<const std::uint64_t>& offsets,
             const Array<const std::uint32_t>& targets) {
            new (graph) Graph(aligned<const std::uint64_t>(offsets), aligned<const std::uint32_t>(targets));
          },
          nb::sig("def __init__(self, offsets: " BUFFER ", targets: " BUFFER ") -> None"),
          "offsets"_a.noconvert(), "targets"_a.noconvert())
      .def("search", &search,
           nb::sig("def search(self, first: int, last: int, eccentricities: " BUFFER
                   ", threads: int = 1) -> list[int]"),
           "first"_a, "last"_a, "eccentricities"_a.noconvert(), "threads"_a = 1,
           "Breadth-first searches from the vertices first .. last - 1 of the graph's own order: writes the "
           "greatest distance from each into eccentricities (uint32, one for each vertex), and returns the "
           "number of pairs at each distance. Raises ValueError.")
      .def("distances", &distances, nb::sig("def distances(self, vertices: " BUFFER ") -> bytes"),
           "vertices"_a.noconvert(),
           "The distance of each vertex from the nearest of some (uint32): int32, -1 where no way leads. "
           "Raises ValueError.");
}

}  // namespace farthest::python
