// Many layers of few states each at once, where a call for each would take longer than its states do.
#pragma once

#include "farthest/expander.hpp"
#include "farthest/run_blob.hpp"

namespace farthest {

struct ThinLayers {
  std::vector<CountedRun> layers;
  CountedRun all;  // the states of them
};

// When to stop, besides after an empty layer.
struct ThinLimits {
  std::uint64_t layers;  // so many
  std::uint64_t wide;    // after one of more states
  std::uint64_t states;  // after as many in all
};

// The layers that follow the last one, whose runs are `last`, among states that are in none of these, nor of
// the runs `older`. keys: of a dense space, else 0. All of these states are held in memory: a code takes
// up to three times its width while they grow, and 8 to 16 bytes of a table. Throws InvalidArgument where a
// run is damaged, for an expander of codes of another width, and for successors that are no keys.
ThinLayers thin_layers(const Expander& expander, const std::vector<Bytes>& last,
                       const std::vector<Bytes>& older, std::size_t width, Key keys, ThinLimits limits);

}  // namespace farthest
