// Layers of packed boards by representatives of symmetries, where only some layers are wanted: sets of codes.
//
// A state has an outer number, of which a move and a symmetry make one that depends on nothing else. Of the
// outer numbers that symmetries take to each other one has a shard, with all states that have it. A shard's
// new states are pulled: a link is a move into the shard, and gives the codes of one shard, each by one map.
// So no state is looked at for its least image, and one shard after another is found in memory of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "farthest/codes.hpp"
#include "farthest/packed.hpp"

namespace farthest {

// Where the content of each cell goes: the content x of cell i becomes content points[256 i + x] % 256 of
// cell points[256 i + x] / 256.
using PointMap = std::vector<std::uint16_t>;

struct RunLink {
  std::uint32_t source = 0;  // shard
  std::uint32_t map = 0;
};

struct RunShard {
  std::vector<RunLink> links;
  std::vector<std::uint32_t> fixing;  // maps: the symmetries that fix the outer number, but the identity
};

// What a step finds in a shard. codes: one after another, in no order, each once.
struct FoundCodes {
  std::uint64_t states = 0;
  std::uint64_t classes = 0;  // under the shard's symmetries
  std::vector<std::uint8_t> codes;
};

class ReducedRuns {
 public:
  virtual ~ReducedRuns() = default;

  virtual std::size_t shards() const = 0;

  // For each of `shards` the states that its links give and that none of exclude[i] has. layer: the codes of
  // all shards. most: the least codes of a shard that are kept. Throws InvalidArgument where sizes do not
  // fit, or a shard turns out not to be closed under its symmetries.
  virtual std::vector<FoundCodes> step(const std::vector<std::uint32_t>& shards,
                                       const std::vector<Bytes>& layer,
                                       const std::vector<std::vector<Bytes>>& exclude, std::uint64_t most,
                                       int threads) const = 0;
};

// Codes of `width` bytes. Throws InvalidArgument where fields, maps and links do not fit each other.
std::unique_ptr<ReducedRuns> reduced_runs(std::size_t width, const std::vector<PackedField>& fields,
                                          const std::vector<PointMap>& maps, std::vector<RunShard> shards);

}  // namespace farthest
