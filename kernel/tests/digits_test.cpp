#include "farthest/digits.hpp"

#include <algorithm>

#include "check.hpp"
#include "farthest/expansion.hpp"

namespace farthest::test {
namespace {

using Digits = std::vector<int>;

std::vector<Digits> all_digits(int radix, int digits) {
  std::vector<Digits> all{Digits(static_cast<std::size_t>(digits))};
  while (true) {
    Digits next = all.back();
    std::size_t place = 0;
    while (place < next.size() && ++next[place] == radix) next[place++] = 0;
    if (place == next.size()) return all;
    all.push_back(next);
  }
}

Key key_of(int radix, const Digits& digits) {
  Key key = 0;
  for (std::size_t i = digits.size(); i-- > 0;)
    key = key * static_cast<Key>(radix) + static_cast<Key>(digits[i]);
  return key;
}

// For all keys: naive(move, digits) makes a move, and says whether it can be.
template <class Naive>
void check_moves(const DigitExpander& expander, int radix, int digits, std::size_t moves, Naive naive) {
  std::vector<Key> keys, all;
  const auto boards = all_digits(radix, digits);
  for (const Digits& board : boards) keys.push_back(key_of(radix, board));
  for (std::size_t move = 0; move < moves; ++move)
    for (Digits board : boards)
      if (naive(move, board)) all.push_back(key_of(radix, board));
  auto found = expand<Key>(expander, keys, 2);
  std::ranges::sort(found);
  std::ranges::sort(all);
  CHECK(found == all);
  std::vector<Key> kept{7};
  expander.successors({}, kept);
  expander.successors(std::span(keys).first(1), kept);
  CHECK(kept.front() == 7);
  keys.push_back(key_of(radix, boards.back()) + 1);
  CHECK_THROWS((expander.successors(keys, kept), 0));
}

TEST(lamps_are_pressed) {
  for (const auto& [radix, digits] : {std::pair{2, 9}, {3, 6}, {4, 4}, {7, 3}, {36, 2}, {5, 1}}) {
    std::vector<DigitMove> moves;
    for (int added = 1; added < radix; ++added)
      for (int i = 0; i < digits; ++i)
        moves.push_back({(bit(i) | bit(i * i % digits) | bit(digits - 1)) & first_slots(digits), added});
    moves.push_back({0, 1});
    check_moves(LampExpander(radix, digits, moves), radix, digits, moves.size(),
                [&, radix = radix](std::size_t move, Digits& board) {
                  for (std::size_t i = 0; i < board.size(); ++i)
                    if (moves[move].changed >> i & 1) board[i] = (board[i] + moves[move].added) % radix;
                  return true;
                });
  }
}

TEST(discs_are_moved) {
  for (const auto& [pegs, discs] : {std::pair{2, 1}, {2, 15}, {3, 7}, {4, 5}, {5, 4}, {11, 3}, {64, 2}}) {
    std::vector<DiscExpander::Arc> arcs;
    for (int from = 0; from < std::min(pegs, 5); ++from)
      for (int to = 0; to < pegs; ++to)
        if (from != to && (from + 2 * to) % 5 != 0) arcs.emplace_back(from, to);
    check_moves(DiscExpander(pegs, discs, arcs), pegs, discs, arcs.size(),
                [&](std::size_t move, Digits& board) {
                  const auto from = std::ranges::find(board, arcs[move].first);
                  const auto to = std::ranges::find(board, arcs[move].second);
                  if (from >= to) return false;
                  *from = arcs[move].second;
                  return true;
                });
  }
}

TEST(wrong_moves_of_digits_are_refused) {
  CHECK_THROWS(LampExpander(1, 3, {}));
  CHECK_THROWS(LampExpander(65, 3, {}));
  CHECK_THROWS(LampExpander(2, 0, {}));
  CHECK_THROWS(LampExpander(2, 65, {}));
  CHECK_THROWS(LampExpander(2, 63, {}));
  CHECK_THROWS(LampExpander(2, 3, {{8, 1}}));
  CHECK_THROWS(LampExpander(3, 3, {{4, 0}}));
  CHECK_THROWS(LampExpander(3, 3, {{4, 3}}));
  CHECK_THROWS(DiscExpander(3, 64, {}));
  CHECK_THROWS(DiscExpander(3, 3, {{1, 1}}));
  CHECK_THROWS(DiscExpander(3, 3, {{0, 3}}));
  CHECK_THROWS(DiscExpander(3, 3, {{-1, 0}}));
  const LampExpander large(2, 62, {{first_slots(62), 1}});
  CHECK(expand<Key>(large, std::vector<Key>{0}, 1) == std::vector<Key>{first_slots(62)});
}

}  // namespace
}  // namespace farthest::test
