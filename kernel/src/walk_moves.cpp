#include "farthest/walk_moves.hpp"

#include <algorithm>
#include <map>

namespace farthest {

BoardMoves::BoardMoves(int slots, int labels, std::vector<std::uint8_t> moduli,
                       std::vector<std::uint8_t> ignored, const std::vector<Move>& moves)
    : slots_(slots), labels_(labels), words_(0), moduli_(std::move(moduli)) {
  if (slots < 2 || slots > kMaxSlots) throw InvalidArgument("slots must be 2 to 64");
  if (labels < 1 || labels > kMaxSlots) throw InvalidArgument("labels must be 1 to 64");
  if (moves.empty() || moves.size() > kMaxMoves) throw InvalidArgument("moves must be 1 to 1024");
  if (turned() && static_cast<int>(moduli_.size()) != slots)
    throw InvalidArgument("there must be a modulus for each slot or for none");
  if (std::ranges::any_of(moduli_, [](int m) { return m < 1 || m > 64; }))
    throw InvalidArgument("moduli must be 1 to 64");
  if (!ignored.empty() && static_cast<int>(ignored.size()) != labels)
    throw InvalidArgument("each label's orientation must be ignored or not");
  std::ranges::copy(ignored, ignored_.begin());
  words_ = board_words(cells());
  for (const Move& move : moves) {
    check_move(move, slots);
    if (!turned() && !move.delta.empty()) throw InvalidArgument("a move turns pieces that have no modulus");
    moves_.push_back(reduced(move, moduli_));
  }
  check_moves();
  std::ranges::for_each(moves_, [&](const Move& move) { compile(move); });
  std::map<Move, int> numbers;
  for (int m = 0; m < count(); ++m) numbers.try_emplace(move(m), m);
  for (const Move& move : moves_) {
    const auto found = numbers.find(inverse(move, moduli_));
    backs_.push_back(found == numbers.end() ? -1 : found->second);
  }
  index_blanks();
}

void BoardMoves::check(std::span<const std::uint8_t> board) const {
  if (static_cast<int>(board.size()) != cells())
    throw InvalidArgument("a board must have a byte for each cell");
  const auto places = static_cast<std::size_t>(slots_);
  for (std::size_t slot = 0; slot < places; ++slot) {
    if (board[slot] >= labels_) throw InvalidArgument("a board must hold labels that there are");
    if (turned() && board[places + slot] >= moduli_[slot])
      throw InvalidArgument("orientations must be below their slot's modulus");
  }
}

void BoardMoves::check_moves() const {
  for (const Move& move : moves_) {
    const SlotMask named = move.require | move.forbid;
    if (std::popcount(move.require) > 1 || (move.require == 0 && named != 0))
      throw InvalidArgument("a move must need one blank or none");
    for (std::size_t slot = 0; slot < move.to.size(); ++slot) {
      if (turned() && moduli_[slot] != moduli_[move.to[slot]])
        throw InvalidArgument("moves must keep the slots of a modulus among themselves");
      const bool moved = move.to[slot] != slot;
      if (named != 0 && moved && (named & bit(static_cast<int>(slot))) == 0)
        throw InvalidArgument("a move into a blank must say of each slot it moves whether that is blank");
    }
  }
}

void BoardMoves::compile(const Move& move) {
  const auto next = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
  Step step{next(carries_), 0, next(turns_), 0};
  for (std::size_t slot = 0; slot < move.to.size(); ++slot) {
    const std::uint8_t to = move.to[slot];
    const std::uint8_t delta = move.delta.empty() ? std::uint8_t{0} : move.delta[slot];
    const auto from = static_cast<std::uint8_t>(slot);
    const auto turn_from = static_cast<std::uint8_t>(slots_ + from),
               turn_to = static_cast<std::uint8_t>(slots_ + to);
    if (to != from) carries_.push_back({from, to});
    if (delta != 0)
      turns_.push_back({turn_from, turn_to, from, delta, moduli_[slot]});
    else if (to != from && turned() && moduli_[slot] > 1)
      carries_.push_back({turn_from, turn_to});
  }
  step.last_carry = next(carries_);
  step.last_turn = next(turns_);
  steps_.push_back(step);
}

void BoardMoves::index_blanks() {
  const auto words = static_cast<std::size_t>(move_words());
  free_.resize(words);
  needing_.resize(words * static_cast<std::size_t>(slots_));
  stopped_.resize(words * static_cast<std::size_t>(slots_));
  for (int m = 0; m < count(); ++m) {
    const auto word = static_cast<std::size_t>(m / 64);
    const std::uint64_t own = std::uint64_t{1} << (m % 64);
    const auto mark = [&](SlotMask mask, std::vector<std::uint64_t>& bits) {
      for (; mask != 0; mask &= mask - 1) bits[static_cast<std::size_t>(lowest(mask)) * words + word] |= own;
    };
    if (move(m).require == 0) free_[word] |= own;
    mark(move(m).require, needing_);
    mark(move(m).forbid, stopped_);
    exchanged_.push_back(move(m).require ^ image(move(m).require, move(m).to));
    blanked_ |= move(m).require != 0;
  }
}

}  // namespace farthest
