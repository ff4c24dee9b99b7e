// Depth-first search below a node, to a bound: sliding puzzles with one blank where a move takes one piece to
// the neighbouring blank cell. Any graph, any pieces, several goals; all instructions of one thread, no
// shared state.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "farthest/types.hpp"

namespace farthest {

inline constexpr int kAnyPiece = -1;  // in a goal

// Cells and pieces, both numbered from 0; label 0 is the blank.
struct SlidingGame {
  std::vector<std::vector<int>>
      sources;                          // for each blank cell the cells whose piece may move there, ascending
  std::vector<int> counts;              // of each label; one blank
  std::vector<std::vector<int>> goals;  // a label, or kAnyPiece, for each cell; the blank's cell is told
};

// The sum of values[label * cells + cell] over all pieces.
struct CellTable {
  std::vector<int> values;
};

// distances[place of the labels]: mixed radix, first label first, each digit the number of free cells before
// the label's. Board cells are renumbered by cell_of before.
struct PatternTable {
  std::vector<int> labels;
  std::span<const std::uint8_t> distances;  // the caller's memory
  std::vector<int> cell_of;
};

// Manhattan distance, and two moves more for each piece that has to leave its goal row or column: the fewest
// of those at home in a line without which the rest are in order. rows: cells of a grid, -1 where there is
// none.
struct LinearConflict {
  std::vector<std::vector<int>> rows;
  std::vector<int> goal;
};

// For each kind of piece the least sum of distances[from][to] to different goal cells.
struct Matching {
  std::vector<std::vector<int>> distances;
  std::vector<int> goal;
};

using HeuristicPart = std::variant<CellTable, PatternTable, LinearConflict, Matching>;
using HeuristicTerm = std::vector<HeuristicPart>;  // their sum; the heuristic is the greatest term

struct SearchNode {
  std::vector<std::uint8_t> board;
  int depth = 0;
  int last = -1;  // the cell that was blank before, where the blank does not go back at once; -1: none
  std::vector<std::uint8_t> way;  // the cells that the blank came to since the search began
};

struct SearchLimits {
  int bound = 0;             // of depth + heuristic
  std::int64_t budget = -1;  // nodes; -1: no limit
  bool first = false;        // whether to end at the first solution
  std::size_t listed = 0;    // most solutions that are listed
};

struct SearchPiece {
  std::int64_t nodes = 0;  // children generated, also those cut off
  std::int64_t solutions = 0;
  std::vector<std::vector<std::uint8_t>> listed;  // as SearchNode::way
  std::optional<int> next_bound;  // the least depth + heuristic above the bound; none: nothing was cut off
  std::vector<SearchNode> rest;   // what the budget left, in the order of the search
};

class SlidingSearch {
 public:
  // Throws InvalidArgument when the parts do not fit together.
  SlidingSearch(const SlidingGame& game, const std::vector<HeuristicTerm>& terms);
  ~SlidingSearch();

  int cells() const;

  // The heuristic's value. Throws InvalidArgument unless the board holds the pieces of the game.
  int evaluate(std::span<const std::uint8_t> board) const;

  // Children are searched in ascending order of the cell that becomes blank, and not below goals. A node
  // whose children would exceed the budget ends the search, but for the first: the siblings that are left
  // along its way were counted with it, those within the bound are the rest. Throws InvalidArgument.
  SearchPiece run(const SearchNode& root, const SearchLimits& limits) const;

 private:
  struct Plan;
  std::unique_ptr<const Plan> plan_;
};

}  // namespace farthest
