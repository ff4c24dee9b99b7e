#include "farthest/space.hpp"

namespace farthest {

Space::Space(Geometry geometry) : geometry_(std::move(geometry)), number_(words_per_group() * 64) {
  for (std::size_t k = 0; k < order().size(); ++k) number_[order()[k]] = static_cast<std::uint8_t>(k);
}

Space::~Space() = default;

}  // namespace farthest
