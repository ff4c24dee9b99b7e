#include "groups.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "buffers.hpp"
#include "codes.hpp"
#include "farthest/group_expander.hpp"

namespace farthest::python {

using namespace nb::literals;

namespace {

using LevelArgs = std::pair<std::uint16_t, nb::object>;

std::vector<std::uint16_t> images(nb::handle buffer) {
  const ByteView view(buffer);
  std::vector<std::uint16_t> found(view.bytes().size() / sizeof(std::uint16_t));
  if (view.bytes().size() != found.size() * sizeof(std::uint16_t))
    throw InvalidArgument("the bytes are not whole points");
  if (!found.empty()) std::memcpy(found.data(), view.bytes().data(), view.bytes().size());
  return found;
}

void make_group(GroupExpander* place, std::size_t points, const std::vector<LevelArgs>& levels,
                const std::vector<nb::object>& moves) {
  std::vector<GroupLevel> made_levels;
  for (const auto& [base, elements] : levels) made_levels.push_back({base, images(elements)});
  std::vector<std::vector<std::uint16_t>> made_moves;
  for (const nb::object& move : moves) made_moves.push_back(images(move));
  const nb::gil_scoped_release release;
  new (place) GroupExpander(points, std::move(made_levels), made_moves);
}

}  // namespace

void bind_groups(nb::module_& m) {
  nb::class_<GroupExpander, Expander>(
      m, "GroupExpander",
      "Successors of the elements of a permutation group, numbered by a chain of stabilisers. levels: of "
      "each "
      "its base "
      "point, and the images of all points (uint16) under each of its elements, one after another; these fix "
      "the base "
      "points before. An element is made by one of each level, that of the last first; their numbers are the "
      "digits of "
      "its key, that of the first level the most significant. moves: the images of all points; a move comes "
      "after the "
      "element. Raises ValueError.")
      .def("__init__", &make_group,
           nb::sig("def __init__(self, points: int, levels: collections.abc.Sequence[tuple[int, " BUFFER
                   "]], moves: collections.abc.Sequence[" BUFFER "]) -> None"),
           "points"_a, "levels"_a, "moves"_a)
      .def_prop_ro("keys", &GroupExpander::keys, "The order of the group.");
}

}  // namespace farthest::python
