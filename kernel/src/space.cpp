#include "farthest/space.hpp"

#include <string>

namespace farthest {

Space::Space(Geometry geometry) : geometry_(std::move(geometry)), number_(words_per_group() * 64) {
  for (std::size_t k = 0; k < order().size(); ++k) number_[order()[k]] = static_cast<std::uint8_t>(k);
}

Space::~Space() = default;

std::uint64_t Space::classes(std::uint64_t shard, std::uint64_t states, std::uint64_t fixed) const {
  const std::uint64_t sum = states / weight(shard) + fixed, of = stabiliser(shard);
  if (sum % of != 0)
    throw NotClosed("shard " + std::to_string(shard) + ": its new states are not closed under the " +
                    std::to_string(of) + " symmetries that keep it (" + std::to_string(sum) +
                    " fixed points)");
  return sum / of;
}

std::uint64_t Space::states() const {
  std::uint64_t weights = 0;
  for (std::uint64_t shard = 0; shard < shards(); ++shard) weights += weight(shard);
  return weights * keys_per_shard();
}

}  // namespace farthest
