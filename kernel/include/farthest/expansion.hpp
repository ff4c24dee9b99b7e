// All successors of many codes at once, by threads.
#pragma once

#include "farthest/expander.hpp"

namespace farthest {

// The successors of `codes` as the expander gives them, in no particular order. The order does not depend on
// the number of threads.
template <class Code>
std::vector<Code> expand(const ExpanderOf<Code>& expander, std::span<const Code> codes, int threads);

}  // namespace farthest
