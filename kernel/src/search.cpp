#include "farthest/search.hpp"

#include <algorithm>

#include "search_grid.hpp"
#include "search_patterns.hpp"
#include "search_terms.hpp"
#include "search_walk.hpp"

namespace farthest {

struct SlidingSearch::Plan {
  SearchGraph graph;
  SearchTerms terms;
  std::unique_ptr<const GridSearch> grid;  // where it can be searched as packed boards

  Plan(const SlidingGame& game, const std::vector<HeuristicTerm>& parts) : graph(game), terms(parts, graph) {
    if (terms.only_table()) grid = grid_search(graph, terms.changes());
  }
};

SlidingSearch::SlidingSearch(const SlidingGame& game, const std::vector<HeuristicTerm>& terms)
    : plan_(std::make_unique<const Plan>(game, terms)) {}
SlidingSearch::~SlidingSearch() = default;

int SlidingSearch::evaluate(std::span<const std::uint8_t> board) const {
  return plan_->terms.value(plan_->graph.board(board));
}

SearchPiece SlidingSearch::run(const SearchNode& root, const SearchLimits& limits) const {
  constexpr int kMost = 1 << 30;
  const auto cells = static_cast<int>(plan_->graph.cells());
  if (root.depth < 0 || root.depth > kMost || limits.bound < 0 || limits.bound > kMost)
    throw InvalidArgument("depth and bound must be 0 to 2^30");
  if (root.last < -1 || root.last >= cells) throw InvalidArgument("last must be a cell, or -1");
  if (plan_->grid && limits.bound - root.depth <= GridSearch::kDeepest) {
    const SlidingBoard board = plan_->graph.board(root.board);
    return plan_->grid->run(board, plan_->terms.value(board), root, limits);
  }
  if (plan_->terms.only_table()) {
    TableGuide guide(plan_->terms, plan_->graph.kinds());
    return SearchWalk(plan_->graph, guide, root, limits).run();
  }
  if (PatternWalk<1>::suits(plan_->terms))
    return PatternWalk<1>(plan_->terms, plan_->graph, root, limits).run();
  if (PatternWalk<2>::suits(plan_->terms))
    return PatternWalk<2>(plan_->terms, plan_->graph, root, limits).run();
  if (PatternWalk<8>::suits(plan_->terms))
    return PatternWalk<8>(plan_->terms, plan_->graph, root, limits).run();
  TermGuide guide(plan_->terms);
  return SearchWalk(plan_->graph, guide, root, limits).run();
}

}  // namespace farthest
