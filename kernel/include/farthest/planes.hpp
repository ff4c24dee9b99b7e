// Distances as bit planes, and their exchange with plain arrays in key order.
//
// While a search runs no distance is written: a state's distance is spread over bit planes, layers like any
// other. The planes of a state found at depth d hold the number (d >> shift) + 1; 0 means not found. With
// shift = 1 the lowest bit of the distance is the shard's colour (bipartite graphs), which saves a plane.
//
// Layers and planes may be pieces: of some shards, the same for all of one call. The keys of the call must
// lie in these shards; functions that get keys throw InvalidArgument where they do not.
#pragma once

#include <span>
#include <vector>

#include "farthest/step.hpp"

namespace farthest {

struct DistanceCode {
  int shift = 0;                     // 0 or 1
  std::vector<std::uint8_t> parity;  // of each shard of the space: lowest bit of its distances, for shift 1
};

// Writes the distances of the keys first .. first + out.size() - 1. Unreached: 255, or 65535 for 16 bits.
// planes: least significant first; of none, every key of the space is unreached.
// A distance beyond the type is cut: the caller knows the last depth, and picks the type by it.
// Throws InvalidArgument when there are more than 16 planes.
template <class Distance>
void expand(const Space& space, const std::vector<LayerView>& planes, const DistanceCode& code, Key first,
            std::span<Distance> out, int threads);

// The inverse: adds the states with a distance to the planes. Throws InvalidArgument when these are too few.
template <class Distance>
void collect(const Space& space, Key first, std::span<const Distance> distances, int shift,
             const std::vector<LayerView>& planes, int threads = 1);

// Adds to `layer` the states whose distance is `depth`.
template <class Distance>
void mark(const Space& space, Key first, std::span<const Distance> distances, Distance depth,
          const LayerView& layer, int threads = 1);

// Adds to `layer` the states that have a distance.
template <class Distance>
void mark_found(const Space& space, Key first, std::span<const Distance> distances, const LayerView& layer,
                int threads = 1);

// Adds one state to a layer.
void insert(const Space& space, Key key, const LayerView& layer);

// The least `limit` keys of the layer's states in the shards of `view`, ascending. Bits that are no states
// are passed over.
std::vector<Key> keys_of(const Space& space, const LayerView& view, std::size_t limit);

// Number of states in each shard of the layer.
std::vector<std::uint64_t> population(const Space& space, const LayerView& view);

// Empties the layer.
void clear(const Space& space, const LayerView& view);

}  // namespace farthest
