#include "farthest/move.hpp"

#include <algorithm>

namespace farthest {

void check_move(const Move& move, int slots) {
  if (static_cast<int>(move.to.size()) != slots) throw InvalidArgument("a move must have one entry a slot");
  SlotMask seen = 0;
  for (const int slot : move.to) {
    if (slot >= slots || (seen & bit(slot)) != 0) throw InvalidArgument("a move must permute the slots");
    seen |= bit(slot);
  }
  if (((move.require | move.forbid) & ~first_slots(slots)) != 0 || (move.require & move.forbid) != 0)
    throw InvalidArgument("a move's conditions must be disjoint sets of slots");
}

Move inverse(const Move& move) {
  Move back{std::vector<std::uint8_t>(move.to.size()), image(move.require, move.to),
            image(move.forbid, move.to)};
  for (std::size_t i = 0; i < move.to.size(); ++i) back.to[move.to[i]] = static_cast<std::uint8_t>(i);
  return back;
}

bool closed_under_inverse(const std::vector<Move>& moves) {
  std::vector<Move> sorted = moves;
  std::ranges::sort(sorted);
  return std::ranges::all_of(moves,
                             [&](const Move& m) { return std::ranges::binary_search(sorted, inverse(m)); });
}

}  // namespace farthest
