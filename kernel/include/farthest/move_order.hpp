// Which orders of moves a search tries where every move can always be made.
//
// Some words (sequences of moves) lead where others do: those with commuting moves in another order, and
// those with two moves in a row that equal one move, or none. A search for shortest ways needs one word of
// each set of the former, the one that is least by the moves' numbers, and none of the latter. A word is that
// one unless it has a move a after b u, where a commutes with b and with all of u, and a < b or b a is one
// move or none (normal forms of traces: A. Anisimov, D. Knuth, Inhomogeneous sorting, 1979). So the moves
// that must not come next are a set that each move changes in the same way:
//
//   forbidden' = (forbidden | less[b]) & commuting[b] | joined[b]
//
// All relations are found from the moves' effects, exactly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "farthest/walk_moves.hpp"

namespace farthest {

using Way = std::vector<std::uint16_t>;  // moves by number

class MoveOrder {
 public:
  // The moves need no blanks.
  explicit MoveOrder(const BoardMoves& moves);

  std::size_t words() const { return words_; }
  bool commute(int a, int b) const { return has(commuting_.data(), a, b); }
  // Whether a then b equals one move, or none.
  bool joins(int a, int b) const { return has(joined_.data(), a, b); }

  // Sets of moves are bits in words() words. out may be `forbidden` itself.
  void after(int move, const std::uint64_t* forbidden, std::uint64_t* out) const {
    const std::size_t row = static_cast<std::size_t>(move) * words_;
    for (std::size_t i = 0; i < words_; ++i)
      out[i] = ((forbidden[i] | less_[row + i]) & commuting_[row + i]) | joined_[row + i];
  }
  // The moves that no shortest way has after this one.
  const std::uint64_t* joined(int move) const {
    return joined_.data() + static_cast<std::size_t>(move) * words_;
  }

  // The words that differ from this one by exchanges of commuting neighbours, itself among them: how many
  // there are, at most 2^64 - 1.
  std::uint64_t count(std::span<const std::uint16_t> way) const;
  // Adds the first of them, in the order of the moves' numbers, until `out` has `most`.
  void list(std::span<const std::uint16_t> way, std::size_t most, std::vector<Way>& out) const;

 private:
  bool has(const std::uint64_t* rows, int a, int b) const {
    return (rows[static_cast<std::size_t>(a) * words_ + static_cast<std::size_t>(b / 64)] >> (b % 64) & 1) !=
           0;
  }

  std::size_t words_;
  std::vector<std::uint64_t> less_, commuting_, joined_;  // by move: sets; no move commutes with itself here
};

}  // namespace farthest
