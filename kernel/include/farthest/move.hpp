// Moves. Convention (docs/permutations.md): a move is active on contents; after it, the content of slot i is
// in slot to[i]. It is legal where every slot of `require` holds a label of class 0 and no slot of `forbid`
// does.
#pragma once

#include <vector>

#include "farthest/types.hpp"

namespace farthest {

struct Move {
  std::vector<std::uint8_t> to;
  SlotMask require = 0;
  SlotMask forbid = 0;

  auto operator<=>(const Move&) const = default;
};

inline SlotMask image(SlotMask mask, const std::vector<std::uint8_t>& to) {
  SlotMask out = 0;
  for (; mask != 0; mask &= mask - 1) out |= bit(to[static_cast<std::size_t>(lowest(mask))]);
  return out;
}

// Throws InvalidArgument unless `to` is a permutation of the slots and the masks lie within them.
void check_move(const Move& move, int slots);

// The move that undoes `move`, legal exactly on its results.
Move inverse(const Move& move);

// Whether every move's inverse is among the moves: then distances are symmetric.
bool closed_under_inverse(const std::vector<Move>& moves);

}  // namespace farthest
