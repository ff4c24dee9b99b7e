#include "arrangement.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <tuple>

#include "boards.hpp"
#include "farthest/arrangement.hpp"
#include "isas.hpp"

namespace farthest::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using MoveArgs = std::tuple<std::vector<int>, std::uint64_t, std::uint64_t>;

using OrbitArgs = std::tuple<std::uint64_t, int>;  // slots, modulus

using SymmetryArgs = std::tuple<std::vector<std::uint8_t>, std::vector<std::uint8_t>>;  // slots, classes

using ShardNumbers = std::vector<std::uint32_t>;
using ShardArgs = std::tuple<ShardNumbers, ShardNumbers, ShardNumbers, ShardNumbers>;  // as in ShardOrbits

Move move_from(const MoveArgs& args) {
  Move move{{}, std::get<1>(args), std::get<2>(args)};
  for (const int slot : std::get<0>(args)) {
    if (slot < 0 || slot >= kMaxSlots) throw InvalidArgument("a move must permute the slots");
    move.to.push_back(static_cast<std::uint8_t>(slot));
  }
  return move;
}

void make_space(ArrangementSpace* place, int slots, const std::vector<int>& counts,
                const std::vector<int>& parity, const std::vector<MoveArgs>& moves, int shard_classes,
                const std::string& isa, const std::vector<OrbitArgs>& orbits, const std::vector<int>& twisted,
                const std::vector<std::vector<int>>& deltas, const std::vector<int>& turned,
                const std::vector<int>& sums, const std::vector<int>& starts,
                const std::vector<SymmetryArgs>& symmetries, const ShardArgs& shards) {
  std::vector<std::uint8_t> bits;
  for (const int p : parity) {
    if (p != 0 && p != 1) throw InvalidArgument("parities must be 0 or 1");
    bits.push_back(static_cast<std::uint8_t>(p));
  }
  std::vector<Move> compiled;
  std::ranges::transform(moves, std::back_inserter(compiled), move_from);
  if (!deltas.empty() && deltas.size() != moves.size())
    throw InvalidArgument("there must be deltas for each move or for none");
  for (std::size_t m = 0; m < deltas.size(); ++m)
    for (const int delta : deltas[m]) {
      if (delta < 0 || delta > 255) throw InvalidArgument("deltas must be 0 to 255");
      compiled[m].delta.push_back(static_cast<std::uint8_t>(delta));
    }
  std::vector<Orbit> sets;
  for (const auto& [mask, modulus] : orbits) sets.push_back({mask, modulus});
  if (!sums.empty() && sums.size() != sets.size())
    throw InvalidArgument("there must be sums for each orbit or for none");
  for (std::size_t i = 0; i < sums.size(); ++i) sets[i].sum = sums[i];
  ShardOrbits kept;
  for (const auto& [to, classes] : symmetries) kept.symmetries.push_back({to, classes});
  std::tie(kept.representatives, kept.weights, kept.shards, kept.chosen) = shards;
  new (place)
      ArrangementSpace(Layout(slots, counts, std::move(bits), std::move(sets), twisted, turned, starts),
                       std::move(compiled), shard_classes, isa_named(isa), kept);
}

}  // namespace

void bind_arrangement(nb::module_& m) {
  auto space =
      nb::class_<ArrangementSpace, Space>(
          m, "ArrangementSpace",
          "An arrangement space: `slots` slots, class j of labels counts[j] times, and its moves. A move is "
          "(to, require, forbid): the content of slot i goes to slot to[i]; legal where all slots of the bit "
          "mask `require` hold class 0 and none of `forbid` does. parity: empty, or one bit a slot for a "
          "halved layout. isa: empty for the best available. orbits: (bit mask of slots, modulus of "
          "orientations there), which the classes fill in order; empty for one without orientations. "
          "twisted: the classes whose orientations the keys hold. turned: the "
          "slots whose orientations they hold, of an orbit all or all but one. sums: of all orientations in "
          "each "
          "orbit, for orbits with a slot left out; or empty. deltas: for each move what it adds to the "
          "orientation of each slot's content, or empty. starts: the classes that a line may begin with, or "
          "empty. symmetries: (to, classes), the identity first: the content of slot i goes to slot to[i], "
          "class j becomes classes[j]; with them a shard stands for all outer numbers (places of the first "
          "shard_classes classes) that they take to each other. shards: by shard its outer number and how "
          "many "
          "it stands for; by outer number its shard, and the symmetry that takes it there. Raises "
          "ValueError.")
          .def("__init__", &make_space, "slots"_a, "counts"_a, "parity"_a, "moves"_a, "shard_classes"_a = 1,
               "isa"_a = "", "orbits"_a = std::vector<OrbitArgs>{}, "twisted"_a = std::vector<int>{},
               "deltas"_a = std::vector<std::vector<int>>{}, "turned"_a = std::vector<int>{},
               "sums"_a = std::vector<int>{}, "starts"_a = std::vector<int>{},
               "symmetries"_a = std::vector<SymmetryArgs>{}, "shards"_a = ShardArgs{});
  bind_boards(space);
}

}  // namespace farthest::python
