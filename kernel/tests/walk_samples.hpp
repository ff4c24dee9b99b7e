// Small puzzles of every kind for searches, and plain loops over them.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "farthest/walk.hpp"
#include "samples.hpp"

namespace farthest::test {

struct Puzzle {
  int slots;
  int labels;
  std::vector<std::uint8_t> moduli;
  std::vector<std::uint8_t> ignored;
  std::vector<Move> moves;
  Board board;  // labels, then orientations

  BoardMoves made() const { return {slots, labels, moduli, ignored, moves}; }
};

// Sliding puzzles with one blank and two, pancakes, burnt ones, turned pieces.
std::vector<Puzzle> puzzles();

// Slot by slot; none where the move cannot be made.
std::optional<Board> after(const Puzzle& puzzle, const Move& move, const Board& board);

// By itself: GCC 12 takes the comparison of vectors of bytes for one that reads too far.
struct Before {
  bool operator()(const Board& a, const Board& b) const;
};
using Distances = std::map<Board, int, Before>;

// Distances to the goal, all moves being taken back by moves.
Distances distances(const Puzzle& puzzle, const Board& goal);

// Shortest ways from each board.
std::uint64_t ways(const Puzzle& puzzle, const Distances& found, const Board& board);

struct Totals {
  std::uint64_t nodes = 0, solutions = 0;
  int next_bound = WalkResult::kNone;
  std::vector<Way> listed;
  bool operator==(const Totals&) const = default;
};

// The whole search, piece by piece.
Totals searched(const WalkProblem& problem, const Board& board, int bound, std::uint64_t budget, bool first);

}  // namespace farthest::test
