// The search on common grids with a table for heuristic: boards packed into one word, a function for each
// cell of the blank and each direction that it came from.
#pragma once

#include <memory>

#include "search_graph.hpp"

namespace farthest {

class GridSearch {
 public:
  static constexpr int kDeepest = 1000;  // moves below the root: each is a call

  virtual ~GridSearch() = default;
  // value: of the root. Does what SearchWalk does.
  virtual SearchPiece run(const SlidingBoard& board, int value, const SearchNode& root,
                          const SearchLimits& limits) const = 0;
};

// Null where there is none for this graph and these changes of the table, [arc * kinds + label]. The graph
// outlives it.
std::unique_ptr<const GridSearch> grid_search(const SearchGraph& graph,
                                              std::span<const std::int16_t> changes);

}  // namespace farthest
