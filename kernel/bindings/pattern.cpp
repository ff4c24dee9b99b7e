#include "pattern.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "buffers.hpp"
#include "farthest/pattern.hpp"
#include "isas.hpp"

namespace farthest::python {

using namespace nb::literals;

namespace {

using Buffer = Array<std::uint8_t>;
using PassageArgs = std::pair<int, int>;
using OriginArgs = std::pair<std::vector<int>, std::uint64_t>;

void make_pattern(PatternSpace* place, int cells, int pieces, const std::vector<PassageArgs>& passages,
                  const std::vector<OriginArgs>& origins, const std::string& isa) {
  std::vector<PatternPassage> ways;
  for (const auto& [from, to] : passages) ways.push_back({from, to});
  std::vector<PatternOrigin> from;
  for (const auto& [where, blanks] : origins) from.push_back({where, blanks});
  new (place) PatternSpace(cells, pieces, ways, std::move(from), isa_named(isa));
}

std::pair<std::uint64_t, bool> begin(const PatternSpace& space, const Buffer& work, const Buffer& distances,
                                     int threads) {
  const nb::gil_scoped_release release;
  const PatternLayer layer =
      space.begin({work.data(), work.size()}, {distances.data(), distances.size()}, std::max(threads, 1));
  return {layer.placements, layer.regions};
}

std::pair<std::uint64_t, bool> step(const PatternSpace& space, int depth, const Buffer& work,
                                    const Buffer& distances, int threads) {
  const nb::gil_scoped_release release;
  const PatternLayer layer = space.step(depth, {work.data(), work.size()},
                                        {distances.data(), distances.size()}, std::max(threads, 1));
  return {layer.placements, layer.regions};
}

}  // namespace

void bind_pattern(nb::module_& m) {
  nb::class_<PatternSpace>(
      m, "PatternSpace",
      "An additive pattern: `pieces` distinct pieces on `cells` cells, whose moves cost 1 and all others "
      "nothing. passages: (from, to), where a piece can move in the direction of counting. origins: (cells "
      "of "
      "the pieces, bit mask of the cells where the blank may be). isa: empty for the best available. Raises "
      "ValueError.")
      .def("__init__", &make_pattern, "cells"_a, "pieces"_a, "passages"_a, "origins"_a, "isa"_a = "")
      .def_prop_ro("keys", &PatternSpace::keys, "Number of placements.")
      .def_prop_ro("work_bytes", &PatternSpace::work_bytes, "Bytes of the working memory.")
      .def("begin", &begin,
           nb::sig("def begin(self, work: " BUFFER ", distances: " BUFFER
                   ", threads: int = 1) -> tuple[int, bool]"),
           "work"_a.noconvert(), "distances"_a.noconvert(), "threads"_a = 1,
           "Begins a search: `work` are work_bytes zeros at a multiple of 64, `distances` a byte for each "
           "key. "
           "Returns the number of placements at distance 0, and True. Raises ValueError.")
      .def("step", &step,
           nb::sig("def step(self, depth: int, work: " BUFFER ", distances: " BUFFER
                   ", threads: int = 1) -> tuple[int, bool]"),
           "depth"_a, "work"_a.noconvert(), "distances"_a.noconvert(), "threads"_a = 1,
           "Finds the layer `depth` from the one before: the number of placements reached first, and whether "
           "there is anything to go on from. Raises ValueError.");
}

}  // namespace farthest::python
