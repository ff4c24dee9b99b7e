// Successors of peg boards one by one: boards are bit masks of up to 64 holes.
#pragma once

#include <vector>

#include "farthest/expander.hpp"
#include "farthest/types.hpp"

namespace farthest {

// A peg goes from hole `from` to hole `to`; it can where all holes of `full` have a peg and all of `empty`
// have none, and all of them change. (Taken back, a jump is one as well, with more holes empty than full.)
struct PegMove {
  int from = 0;
  int to = 0;
  SlotMask full = 0;
  SlotMask empty = 0;
};

class PegExpander : public KeyExpander {
 public:
  // chain: a move is one or more jumps of one peg. Throws InvalidArgument when a hole is none of 64, a jump's
  // masks overlap or do not move a peg from its hole to the other, or jumps could go on for ever.
  PegExpander(const std::vector<PegMove>& moves, bool chain);

  void successors(std::span<const Key> codes, std::vector<Key>& out) const override;

 private:
  void jumps(std::span<const Key> codes, std::vector<Key>& out) const;
  void follow(SlotMask board, int from, std::vector<Key>& out) const;

  std::vector<PegMove> moves_from_[kMaxSlots];
  bool chain_;
};

}  // namespace farthest
