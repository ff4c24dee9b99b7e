// A puzzle as searches play it, board by board.
//
// A board is a byte for each cell: the label of each slot and then, where pieces are turned, the orientation
// in each slot. Searches keep it in whole words, board_words() of them, filled up with zeros.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "farthest/move.hpp"
#include "farthest/types.hpp"

namespace farthest {

inline constexpr int kMaxMoves = 1024;
inline constexpr int kMaxMoveWords = kMaxMoves / 64;

// Words that hold a board: 1, 2, 4, 8 or 16.
inline int board_words(int cells) {
  int words = 1;
  while (8 * words < cells) words *= 2;
  return words;
}

// Calls visit<W>() with the number of words that board_words() gave.
template <class Visit>
auto with_words(int words, Visit visit) {
  switch (words) {
    case 1:
      return visit.template operator()<1>();
    case 2:
      return visit.template operator()<2>();
    case 4:
      return visit.template operator()<4>();
    case 8:
      return visit.template operator()<8>();
    default:
      return visit.template operator()<16>();
  }
}

class BoardMoves {
 public:
  // labels: how many there are, at most 64; label 0 is the blank of moves that need one. moduli: of the
  // orientations in each slot, empty where nothing is turned. ignored: for each label whether its orientation
  // is always 0, or empty. Throws InvalidArgument when these do not fit together, when a move needs more than
  // one blank, or carries what may be blank or not.
  BoardMoves(int slots, int labels, std::vector<std::uint8_t> moduli, std::vector<std::uint8_t> ignored,
             const std::vector<Move>& moves);

  int slots() const { return slots_; }
  int labels() const { return labels_; }
  bool turned() const { return !moduli_.empty(); }
  int cells() const { return turned() ? 2 * slots_ : slots_; }
  int words() const { return words_; }
  // For each slot; empty where nothing is turned.
  const std::vector<std::uint8_t>& moduli() const { return moduli_; }
  // Whether moves need blanks.
  bool blanked() const { return blanked_; }
  int count() const { return static_cast<int>(moves_.size()); }
  int move_words() const { return (count() + 63) / 64; }
  // As given, reduced.
  const Move& move(int number) const { return moves_[static_cast<std::size_t>(number)]; }
  // The first move that is exactly the inverse of this one, or -1.
  int back(int number) const { return backs_[static_cast<std::size_t>(number)]; }

  // Throws InvalidArgument unless it is `cells` bytes, labels and orientations that there are.
  void check(std::span<const std::uint8_t> board) const;
  // Whether orientations of the label are always 0.
  bool ignored(int label) const { return ignored_[static_cast<std::size_t>(label)] != 0; }

  // The slots with blanks; none where no move needs one.
  SlotMask blanks(const std::uint8_t* board) const {
    SlotMask out = 0;
    if (blanked_)
      for (int slot = 0; slot < slots_; ++slot) out |= board[slot] == 0 ? bit(slot) : 0;
    return out;
  }

  // Sets the bits of the moves that can be made: move_words() words.
  void legal(SlotMask blanks, std::uint64_t* out) const {
    const auto words = static_cast<std::size_t>(move_words());
    std::copy_n(free_.data(), words, out);
    for (SlotMask rest = blanks; rest != 0; rest &= rest - 1) {
      const std::uint64_t* into = needing_.data() + static_cast<std::size_t>(lowest(rest)) * words;
      for (std::size_t i = 0; i < words; ++i) out[i] |= into[i];
    }
    for (SlotMask rest = blanks; rest != 0; rest &= rest - 1) {
      const std::uint64_t* past = stopped_.data() + static_cast<std::size_t>(lowest(rest)) * words;
      for (std::size_t i = 0; i < words; ++i) out[i] &= ~past[i];
    }
  }

  SlotMask blanks_after(int number, SlotMask blanks) const {
    return blanks ^ exchanged_[static_cast<std::size_t>(number)];
  }

  // after: a copy of the board.
  void apply(int number, const std::uint8_t* board, std::uint8_t* after) const {
    const Step& step = steps_[static_cast<std::size_t>(number)];
    for (const Carry *carry = carries_.data() + step.first_carry, *end = carries_.data() + step.last_carry;
         carry != end; ++carry)
      after[carry->to] = board[carry->from];
    for (const Turn *turn = turns_.data() + step.first_turn, *end = turns_.data() + step.last_turn;
         turn != end; ++turn) {
      const int sum = board[turn->from] + turn->delta;
      const int orientation = sum >= turn->modulus ? sum - turn->modulus : sum;
      after[turn->to] =
          ignored_[board[turn->slot]] != 0 ? std::uint8_t{0} : static_cast<std::uint8_t>(orientation);
    }
  }

 private:
  struct Carry {  // a byte of the board
    std::uint8_t from, to;
  };
  struct Turn {  // an orientation, of the piece in `slot`
    std::uint8_t from, to, slot, delta, modulus;
  };
  struct Step {
    std::uint32_t first_carry, last_carry, first_turn, last_turn;
  };

  void check_moves() const;
  void compile(const Move& move);
  void index_blanks();

  int slots_;
  int labels_;
  int words_;
  std::vector<std::uint8_t> moduli_;
  std::array<std::uint8_t, 256> ignored_{};  // by label
  bool blanked_ = false;
  std::vector<Move> moves_;
  std::vector<int> backs_;
  std::vector<Step> steps_;
  std::vector<Carry> carries_;
  std::vector<Turn> turns_;
  std::vector<SlotMask> exchanged_;     // by move: the slots that become blank, or are filled
  std::vector<std::uint64_t> free_;     // bits of the moves that need no blank
  std::vector<std::uint64_t> needing_;  // by slot: of those that need it blank
  std::vector<std::uint64_t> stopped_;  // by slot: of those that must not find it blank
};

}  // namespace farthest
