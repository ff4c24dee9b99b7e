#include "walk_samples.hpp"

#include <algorithm>

namespace farthest::test {
namespace {

// A piece steps into a blank along the passages.
std::vector<Move> steps(int slots, const std::vector<std::pair<int, int>>& passages) {
  std::vector<Move> out;
  for (auto [a, b] : passages)
    for (int way = 0; way < 2; ++way, std::swap(a, b)) {
      Move move;
      for (int i = 0; i < slots; ++i) move.to.push_back(static_cast<std::uint8_t>(i));
      std::swap(move.to[static_cast<std::size_t>(a)], move.to[static_cast<std::size_t>(b)]);
      move.require = bit(b);
      move.forbid = bit(a);
      out.push_back(move);
    }
  return out;
}

// The first `size` slots turned round, for each size; each piece turned over where `turn`.
std::vector<Move> flips(int slots, bool turn) {
  std::vector<Move> out;
  for (int size = turn ? 1 : 2; size <= slots; ++size) {
    Move move;
    for (int i = 0; i < slots; ++i) {
      move.to.push_back(static_cast<std::uint8_t>(i < size ? size - 1 - i : i));
      if (turn) move.delta.push_back(i < size ? 1 : 0);
    }
    out.push_back(move);
  }
  return out;
}

}  // namespace

std::vector<Puzzle> puzzles() {
  std::vector<Puzzle> out;
  const std::vector<std::pair<int, int>> grid{{0, 1}, {1, 2}, {3, 4}, {4, 5}, {0, 3}, {1, 4}, {2, 5}};
  out.push_back({6, 4, {}, {}, steps(6, grid), {0, 1, 2, 0, 3, 1}});  // two blanks, equal pieces
  out.push_back({6, 6, {}, {}, steps(6, grid), {0, 1, 2, 3, 5, 4}});  // one blank
  out.push_back({5, 5, {}, {}, flips(5, false), {3, 0, 4, 2, 1}});    // pancakes
  out.push_back({4, 4, {2, 2, 2, 2}, {}, flips(4, true), {2, 0, 3, 1, 1, 0, 0, 1}});
  // Turned pieces of two moduli, equal ones, one whose orientation does not matter.
  Puzzle turned{6, 4, {3, 3, 3, 2, 2, 2}, {0, 1, 0, 0}, {}, {0, 1, 0, 2, 3, 2}};
  Random random(5);
  for (int m = 0; m < 3; ++m) {
    Move move;
    for (const auto to : random.permutation(3)) move.to.push_back(to);
    for (const auto to : random.permutation(3)) move.to.push_back(static_cast<std::uint8_t>(3 + to));
    for (const auto modulus : turned.moduli)
      move.delta.push_back(static_cast<std::uint8_t>(random.below(modulus)));
    turned.moves.push_back(move);
    turned.moves.push_back(inverse(move, turned.moduli));
  }
  for (const int orientation : {1, 0, 2, 0, 1, 1})
    turned.board.push_back(static_cast<std::uint8_t>(orientation));
  out.push_back(turned);
  return out;
}

std::optional<Board> after(const Puzzle& puzzle, const Move& move, const Board& board) {
  Board out = board;
  for (std::size_t slot = 0; slot < move.to.size(); ++slot) {
    const SlotMask own = bit(static_cast<int>(slot));
    if (((move.require & own) != 0 && board[slot] != 0) || ((move.forbid & own) != 0 && board[slot] == 0))
      return {};
    out[move.to[slot]] = board[slot];
    if (puzzle.moduli.empty()) continue;
    const std::size_t slots = puzzle.moduli.size();
    const int delta = move.delta.empty() ? 0 : move.delta[slot];
    const bool still = !puzzle.ignored.empty() && puzzle.ignored[board[slot]] != 0;
    out[slots + move.to[slot]] =
        still ? std::uint8_t{0}
              : static_cast<std::uint8_t>((board[slots + slot] + delta) % puzzle.moduli[slot]);
  }
  return out;
}

bool Before::operator()(const Board& a, const Board& b) const {
  const auto [left, right] = std::ranges::mismatch(a, b);
  return left != a.end() && *left < *right;  // equally long
}

Distances distances(const Puzzle& puzzle, const Board& goal) {
  Distances found{{goal, 0}};
  std::vector<Board> queue{goal};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const Board board = queue[i];
    const int depth = found[board];
    for (const Move& move : puzzle.moves)
      if (const auto next = after(puzzle, move, board); next && found.try_emplace(*next, depth + 1).second)
        queue.push_back(*next);
  }
  return found;
}

std::uint64_t ways(const Puzzle& puzzle, const Distances& found, const Board& board) {
  const int depth = found.at(board);
  if (depth == 0) return 1;
  std::uint64_t sum = 0;
  for (const Move& move : puzzle.moves)
    if (const auto next = after(puzzle, move, board); next && found.at(*next) == depth - 1)
      sum += ways(puzzle, found, *next);
  return sum;
}

Totals searched(const WalkProblem& problem, const Board& board, int bound, std::uint64_t budget, bool first) {
  struct Open {
    Board board;
    Way way;
  };
  Totals out;
  std::vector<Open> open{{board, {}}};
  while (!open.empty()) {
    const Open piece = open.back();
    open.pop_back();
    const int last = piece.way.empty() ? -1 : piece.way.back();
    const auto found = walk(problem, {piece.board, static_cast<int>(piece.way.size()), last, piece.way},
                            {bound, budget, first, 1000});
    out.nodes += found.nodes;
    out.solutions += found.solutions;
    if (found.next_bound >= 0 && (out.next_bound < 0 || found.next_bound < out.next_bound))
      out.next_bound = found.next_bound;
    for (const Way& way : found.listed) out.listed.push_back(way);
    if (first && found.solutions != 0) break;
    for (auto node = found.rest.rbegin(); node != found.rest.rend(); ++node)
      open.push_back({node->board, node->way});
  }
  return out;
}

}  // namespace farthest::test
