// A space given by its successors: codes in, the codes one move away out. For spaces without the structure of
// arrangements, whose layers are runs of codes (runs.hpp).
#pragma once

#include <span>
#include <vector>

#include "farthest/types.hpp"

namespace farthest {

class Expander {
 public:
  virtual ~Expander() = default;

  // Appends to `out` the codes of all successors of `codes` away from the origin, in any order; they may
  // repeat. Called from several threads at once with some thousand codes or fewer. Must not fail for a code
  // that is none of the space's, but throw InvalidArgument, or give any codes.
  virtual void successors(std::span<const Key> codes, std::vector<Key>& out) const = 0;
};

}  // namespace farthest
