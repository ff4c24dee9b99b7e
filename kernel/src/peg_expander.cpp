#include "farthest/peg_expander.hpp"

namespace farthest {
namespace {

void check(const PegMove& move, int pegs) {
  for (const int hole : {move.from, move.to})
    if (hole < 0 || hole >= kMaxSlots) throw InvalidArgument("holes must be 0 to 63");
  if ((move.full & move.empty) != 0 || (move.full >> move.from & 1) == 0 || (move.empty >> move.to & 1) == 0)
    throw InvalidArgument("a jump must take a peg from a full hole to an empty one");
  if (pegs == 0 || std::popcount(move.full) - std::popcount(move.empty) != pegs)
    throw InvalidArgument("all jumps must take away the same number of pegs");
}

}  // namespace

PegExpander::PegExpander(const std::vector<PegMove>& moves, bool chain) : chain_(chain) {
  for (const PegMove& move : moves) {
    check(move, std::popcount(moves[0].full) - std::popcount(moves[0].empty));
    moves_from_[move.from].push_back(move);
  }
}

void PegExpander::successors(std::span<const Key> codes, std::vector<Key>& out) const {
  if (!chain_) return jumps(codes, out);
  for (const Key board : codes)
    for (SlotMask pegs = board; pegs != 0; pegs &= pegs - 1) follow(board, lowest(pegs), out);
}

// Jump by jump, without a branch that is hard to foretell: the board after a jump that cannot be made is
// written over by the next.
void PegExpander::jumps(std::span<const Key> codes, std::vector<Key>& out) const {
  std::vector<Key> after(codes.size());
  for (const auto& moves : moves_from_)
    for (const PegMove& move : moves) {
      const SlotMask changed = move.full | move.empty;
      std::size_t made = 0;
      for (const Key board : codes) {
        after[made] = board ^ changed;
        made += (board & changed) == move.full ? 1 : 0;
      }
      out.insert(out.end(), after.begin(), after.begin() + static_cast<std::ptrdiff_t>(made));
    }
}

// The boards after one jump or more of the peg in `from`.
void PegExpander::follow(SlotMask board, int from, std::vector<Key>& out) const {
  for (const PegMove& move : moves_from_[from]) {
    if ((board & move.full) != move.full || (board & move.empty) != 0) continue;
    const SlotMask after = board ^ (move.full | move.empty);
    out.push_back(after);
    follow(after, move.to, out);
  }
}

}  // namespace farthest
