// A space given by its successors: codes in, the codes one move away out. For spaces without the structure of
// arrangements, whose layers are runs of codes (runs.hpp).
#pragma once

#include <span>
#include <vector>

#include "farthest/codes.hpp"

namespace farthest {

// Of codes of any width.
class Expander {
 public:
  virtual ~Expander() = default;

  // Bytes of a code. One of that width is an ExpanderOf<Code>, with the Code of with_code(width).
  virtual std::size_t width() const = 0;
};

template <class Code>
class ExpanderOf : public Expander {
 public:
  // Appends to `out` the codes of all successors of `codes` away from the origin, in any order; they may
  // repeat. Called from several threads at once with some thousand codes or fewer. Must not fail for a code
  // that is none of the space's, but throw InvalidArgument, or give any codes.
  virtual void successors(std::span<const Code> codes, std::vector<Code>& out) const = 0;
};

class KeyExpander : public ExpanderOf<Key> {
 public:
  std::size_t width() const final { return sizeof(Key); }
};

// The expander of codes of that width. Throws InvalidArgument where it is of another.
template <class Code>
const ExpanderOf<Code>& expander_of(const Expander& expander, std::size_t width) {
  if (expander.width() != width) throw InvalidArgument("the expander's codes have another width");
  return static_cast<const ExpanderOf<Code>&>(expander);
}

}  // namespace farthest
