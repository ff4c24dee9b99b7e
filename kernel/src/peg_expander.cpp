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
  for (const Key board : codes)
    for (SlotMask pegs = board; pegs != 0; pegs &= pegs - 1) follow(board, lowest(pegs), out);
}

// The boards after jumps of the peg in `from`.
void PegExpander::follow(SlotMask board, int from, std::vector<Key>& out) const {
  for (const PegMove& move : moves_from_[from]) {
    if ((board & move.full) != move.full || (board & move.empty) != 0) continue;
    const SlotMask after = board ^ (move.full | move.empty);
    out.push_back(after);
    if (chain_) follow(after, move.to, out);
  }
}

}  // namespace farthest
