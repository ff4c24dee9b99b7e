// All successors of many codes at once, by threads.
#pragma once

#include "farthest/expander.hpp"

namespace farthest {

// The successors of `codes` as the expander gives them, in no particular order. The order does not depend on
// the number of threads.
std::vector<Key> expand(const Expander& expander, std::span<const Key> codes, int threads);

}  // namespace farthest
