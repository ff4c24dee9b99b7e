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
  if (!move.delta.empty() && move.delta.size() != move.to.size())
    throw InvalidArgument("a move must change the orientation of each slot's content, or of none");
}

Move reduced(Move move, const std::vector<std::uint8_t>& moduli) {
  for (std::size_t i = 0; i < move.delta.size(); ++i)
    move.delta[i] = static_cast<std::uint8_t>(move.delta[i] % moduli[i]);
  if (std::ranges::all_of(move.delta, [](auto d) { return d == 0; })) move.delta.clear();
  return move;
}

Move inverse(const Move& move, const std::vector<std::uint8_t>& moduli) {
  Move back{std::vector<std::uint8_t>(move.to.size()), image(move.require, move.to),
            image(move.forbid, move.to), std::vector<std::uint8_t>(move.delta.size())};
  for (std::size_t i = 0; i < move.to.size(); ++i) back.to[move.to[i]] = static_cast<std::uint8_t>(i);
  for (std::size_t i = 0; i < move.delta.size(); ++i)
    back.delta[move.to[i]] = static_cast<std::uint8_t>(moduli[i] - move.delta[i] % moduli[i]);
  return reduced(std::move(back), moduli);
}

bool closed_under_inverse(const std::vector<Move>& moves, const std::vector<std::uint8_t>& moduli) {
  std::vector<Move> sorted = moves;
  std::ranges::sort(sorted);
  return std::ranges::all_of(
      moves, [&](const Move& m) { return std::ranges::binary_search(sorted, inverse(m, moduli)); });
}

}  // namespace farthest
