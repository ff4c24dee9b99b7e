#include "pegs.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <tuple>

#include "farthest/peg_expander.hpp"
#include "farthest/pegs.hpp"
#include "isas.hpp"

namespace farthest::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using DroppedArgs = std::tuple<int, std::uint64_t, bool>;
using JumpArgs = std::tuple<std::uint64_t, std::uint64_t>;

void make_pegs(PegSpace* place, const std::vector<int>& index_holes, const std::vector<DroppedArgs>& dropped,
               const std::vector<JumpArgs>& jumps, int shard_level, const std::string& isa) {
  std::vector<DroppedHole> holes;
  for (const auto& [hole, parity, flipped] : dropped) holes.push_back({hole, parity, flipped});
  std::vector<Jump> masks;
  for (const auto& [full, empty] : jumps) masks.push_back({full, empty});
  new (place) PegSpace(index_holes, holes, masks, shard_level, isa_named(isa));
}

using PegMoveArgs = std::tuple<int, int, std::uint64_t, std::uint64_t>;

void make_expander(PegExpander* place, const std::vector<PegMoveArgs>& moves, bool chain) {
  std::vector<PegMove> made;
  for (const auto& [from, to, full, empty] : moves) made.push_back({from, to, full, empty});
  new (place) PegExpander(made, chain);
}

}  // namespace

void bind_pegs(nb::module_& m) {
  nb::class_<PegSpace, Space>(
      m, "PegSpace",
      "A peg space: boards of holes, each with a peg or empty. index_holes[i]: the hole of bit i of the key. "
      "dropped: (hole, bits, flipped), a hole whose peg is the parity of these bits of the key, or the "
      "contrary. jumps: (full, empty), bit masks of holes: a jump can be made where those of `full` have a "
      "peg "
      "and those of `empty` have none, and changes all of them. shards: cut by the uppermost shard_level - 1 "
      "bits. isa: empty for the best available. Raises ValueError.")
      .def("__init__", &make_pegs, "index_holes"_a, "dropped"_a, "jumps"_a, "shard_level"_a = 1,
           "isa"_a = "");
  nb::class_<PegExpander, Expander>(
      m, "PegExpander",
      "Successors of peg boards, bit masks of holes. moves: (from, to, full, empty), jumps of the peg in "
      "hole "
      "`from` to `to`, which can be made where the holes of `full` have a peg and those of `empty` have "
      "none, "
      "and change all of them. chain: a move is one or more jumps of one peg. Raises ValueError.")
      .def("__init__", &make_expander, "moves"_a, "chain"_a);
}

}  // namespace farthest::python
