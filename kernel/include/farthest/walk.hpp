// Depth-first search below a board, as iterative deepening needs it: ways of at most `bound` moves to a goal.
//
// Counted are the boards that are generated, each child of a board that is expanded, also those that the
// bound cuts off at once, where a board that is no goal counts as one move away at least; left out is the
// move that is exactly the inverse of the one before. A goal ends a way. Everything is in the order of the
// moves, so that the same search is the same whoever runs it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "farthest/walk_bounds.hpp"
#include "farthest/walk_goals.hpp"
#include "farthest/walk_moves.hpp"

namespace farthest {

// What is searched, and by which bound. Immutable; searches of any number of threads may share it.
struct WalkProblem {
  // Throws InvalidArgument when the goals are not of the puzzle's size.
  WalkProblem(BoardMoves moves_, BoardGoals goals_, BoardBounds bounds_);

  BoardMoves moves;
  BoardGoals goals;
  BoardBounds bounds;
};

struct WalkLimits {
  int bound;
  std::uint64_t budget;  // boards generated, after which the search is given back
  bool first;            // ends at the first solution
  std::size_t listed;    // most solutions that are told
};

using Way = std::vector<std::uint16_t>;  // moves by number

// A board that is still to be searched below, its way from where the search began. Not tested for being a
// goal.
struct WalkNode {
  std::vector<std::uint8_t> board;
  Way way;
};

struct WalkResult {
  static constexpr int kNone = -1;

  std::uint64_t nodes = 0;
  std::uint64_t solutions = 0;
  std::vector<Way> listed;
  int next_bound = kNone;      // the least depth + bound that was cut off
  std::vector<WalkNode> rest;  // in the order of the search
};

// The greatest bound that walk() takes: deeper searches would not end anyway.
inline constexpr int kMaxBound = 1 << 20;

// The bound of a board: 0 of a goal, else at least 1; kUnreachable where no goal can be reached. Throws
// InvalidArgument where it is not a board.
int bound_of(const WalkProblem& problem, std::span<const std::uint8_t> board);

// Searches below a board that is `depth` moves from where the bound is counted from; last: the move that led
// to it, or -1. The board itself is tested for being a goal, and not counted. Throws InvalidArgument.
WalkResult walk(const WalkProblem& problem, std::span<const std::uint8_t> board, int depth, int last,
                const WalkLimits& limits);

}  // namespace farthest
