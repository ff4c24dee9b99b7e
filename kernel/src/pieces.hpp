// What calls have in common that get several layers over the same shards.
#pragma once

#include <vector>

#include "farthest/step.hpp"

namespace farthest {

// The shards [first_shard, first_shard + shards).
struct Piece {
  std::uint64_t first_shard;
  std::uint64_t shards;
};

// The shards that the layers hold; of no layers, all of the space. Throws InvalidArgument where they differ.
inline Piece piece_of(const Space& space, const std::vector<LayerView>& layers) {
  if (layers.empty()) return {0, space.shards()};
  const LayerView& first = layers.front();
  for (const LayerView& layer : layers)
    if (layer.first_shard != first.first_shard || layer.shards != first.shards)
      throw InvalidArgument("the layers must hold the same shards");
  return {first.first_shard, first.shards};
}

}  // namespace farthest
