// Moves. Convention (docs/permutations.md): a move is active on contents; after it, the content of slot i is
// in slot to[i], its orientation greater by delta[i] (modulo the modulus of its orbit). It is legal where
// every slot of `require` holds a label of class 0 and no slot of `forbid` does.
#pragma once

#include <vector>

#include "farthest/types.hpp"

namespace farthest {

struct Move {
  std::vector<std::uint8_t> to;
  SlotMask require = 0;
  SlotMask forbid = 0;
  std::vector<std::uint8_t> delta = {};  // empty: no orientation changes

  auto operator<=>(const Move&) const = default;
};

inline SlotMask image(SlotMask mask, const std::vector<std::uint8_t>& to) {
  SlotMask out = 0;
  for (; mask != 0; mask &= mask - 1) out |= bit(to[static_cast<std::size_t>(lowest(mask))]);
  return out;
}

// Throws InvalidArgument unless `to` is a permutation of the slots, the masks lie within them and there are
// deltas for all slots or none.
void check_move(const Move& move, int slots);

// In the functions below: moduli[i] is the modulus of orientations on slot i. Moves keep the slots of a
// modulus among themselves; moves without deltas need none.

// The move with each delta below its modulus, and with no deltas if all are 0: equal moves compare equal.
Move reduced(Move move, const std::vector<std::uint8_t>& moduli);

// The move that undoes `move`, legal exactly on its results; reduced.
Move inverse(const Move& move, const std::vector<std::uint8_t>& moduli = {});

// Whether the inverse of every move, all reduced, is among the moves: then distances are symmetric.
bool closed_under_inverse(const std::vector<Move>& moves, const std::vector<std::uint8_t>& moduli = {});

}  // namespace farthest
