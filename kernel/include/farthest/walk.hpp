// Depth-first search below a board, as iterative deepening needs it: ways of at most `bound` moves to a goal.
//
// Counted are the boards that are generated, each child of a board that is expanded, also those that the
// bound cuts off at once, where a board that is no goal counts as one move away at least; left out is the
// move that is exactly the inverse of the one before. A goal ends a way. Everything is in the order of the
// moves, so that the same search is the same whoever runs it.
//
// Where every move can always be made and the bounds are maps alone whose keys have coordinates
// (map_coordinates.hpp), the search keeps coordinates in place of boards, and all children of a board are
// generated at once. If the shortest ways alone are wanted, it makes moves in the orders that a MoveOrder
// allows; a solution then stands for all words that differ by exchanges of commuting moves, and all of them
// are counted and listed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "farthest/inverse_look_ups.hpp"
#include "farthest/map_coordinates.hpp"
#include "farthest/move_order.hpp"
#include "farthest/walk_bounds.hpp"
#include "farthest/walk_goals.hpp"
#include "farthest/walk_moves.hpp"

namespace farthest {

// Bounds that are maps alone, by coordinates.
//
// Tied terms: single maps such that each move m leaves one of them at 0 that is made from the goal. A board
// that is no goal is one move more away than the least of them: the board before the last move of a shortest
// way is m's inverse made on the goal, which has the distance 0 in one of the maps, and no move changes a
// map's distance by more than 1. (M. Reid, Optimal Rubik's cube solver, Cube-Lovers 1997: phase one in three
// directions.)
struct CoordinateBounds {
  // None where a map has no coordinates, or a component is no map. Ties and inverses are used where maps are
  // distances, and bounds never more than the distance.
  static std::optional<CoordinateBounds> of(const BoardMoves& moves, const BoardGoals& goals,
                                            const BoardBounds& bounds, bool shortest);

  std::vector<MapCoordinates> maps;
  std::vector<std::vector<std::size_t>> terms;  // maps, by number; none is empty
  std::size_t width = 0;                        // coordinates of all maps; those of some may be others' too
  std::vector<int> until;                       // by term: where more moves are left, it is of no use
  // By term: whether it follows from another one where that proves something; then it comes after all others,
  // and has no coordinates of its own.
  std::vector<bool> coarse;
  std::vector<Key> goal_sums;             // by term: what MapCoordinates gives of the goal, or kNoKey
  std::vector<bool> tied;                 // by term; all false where there are no such terms
  std::optional<InverseLookUps> inverse;  // of the maps that are terms by themselves
  std::vector<std::size_t> inverse_tied;  // of inverse->maps(), by place; empty: no ties are told
  std::vector<int> inverse_until;         // of these

 private:
  void tie(const BoardMoves& moves, const std::vector<std::uint8_t>& goal, const BoardBounds& bounds);
  void invert(const BoardMoves& moves, const std::vector<std::uint8_t>& goal);
  void compare();
  void lay();
  void find_goal(const BoardMoves& moves, const std::vector<std::uint8_t>& goal);
};

// What is searched, and by which bound. Immutable; searches of any number of threads may share it.
struct WalkProblem {
  // shortest: bounds are never more than the distance, maps are distances, and no search has a bound above
  // the length of a shortest solution. Throws InvalidArgument when the goals are not of the puzzle's size.
  WalkProblem(BoardMoves moves_, BoardGoals goals_, BoardBounds bounds_, bool shortest = false);

  BoardMoves moves;
  BoardGoals goals;
  BoardBounds bounds;
  std::optional<CoordinateBounds> coordinates;
  std::optional<MoveOrder> order;  // with coordinates, where shortest ways alone are wanted
};

struct WalkLimits {
  int bound;
  std::uint64_t budget;  // boards generated, after which the search is given back
  bool first;            // ends at the first solution
  std::size_t listed;    // most solutions that are told
};

// Where a search begins: a board, `depth` moves from where the bound is counted from. last: the move that led
// to the board, or -1; before: where the board is what another search gave back, the node's way, which is
// part of all ways that are told.
struct WalkRoot {
  std::span<const std::uint8_t> board;
  int depth = 0;
  int last = -1;
  Way before = {};
};

// A board that is still to be searched below, and its way: that of the root, and the moves made since. Not
// tested for being a goal.
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

// Searches below a board, which is itself tested for being a goal, and not counted. Throws InvalidArgument.
WalkResult walk(const WalkProblem& problem, const WalkRoot& root, const WalkLimits& limits);

}  // namespace farthest
