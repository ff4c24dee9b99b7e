#include "search_graph.hpp"

#include <algorithm>
#include <numeric>
#include <string>

namespace farthest {

SearchGraph::SearchGraph(const SlidingGame& game) : counts_(game.counts), first_{0} {
  const auto cells = static_cast<int>(game.sources.size());
  if (cells < 2 || cells > kMaxSlots) throw InvalidArgument("a board has 2 to 64 cells");
  if (counts_.size() < 2 || counts_[0] != 1 || std::ranges::min(counts_) < 1 ||
      std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0}) != cells)
    throw InvalidArgument("counts must be of one blank and at least one piece of each kind, in all cells");
  for (int target = 0; target < cells; ++target) {
    const auto& sources = game.sources[static_cast<std::size_t>(target)];
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (sources[i] < 0 || sources[i] >= cells || sources[i] == target ||
          (i > 0 && sources[i] <= sources[i - 1]))
        throw InvalidArgument("sources must be other cells, ascending");
      arcs_.push_back({static_cast<std::uint8_t>(sources[i]), static_cast<std::uint8_t>(target)});
    }
    first_.push_back(arcs_.size());
  }
  goals_.resize(game.sources.size());
  for (const auto& goal : game.goals) add_goal(goal);
}

void SearchGraph::add_goal(const std::vector<int>& labels) {
  if (labels.size() != cells()) throw InvalidArgument("a goal must have a label for each cell");
  GoalPattern goal;
  for (std::size_t cell = 0; cell < labels.size(); ++cell) {
    if (labels[cell] == kAnyPiece) continue;
    if (labels[cell] < 0 || labels[cell] >= static_cast<int>(kinds()))
      throw InvalidArgument("a goal has a label that there is not");
    goal.labels[cell] = static_cast<std::uint8_t>(labels[cell]);
    goal.told[cell] = 255;
  }
  if (std::ranges::count(labels, 0) != 1) throw InvalidArgument("a goal must have one blank");
  goals_[static_cast<std::size_t>(std::ranges::find(labels, 0) - labels.begin())].push_back(goal);
}

SlidingBoard SearchGraph::board(std::span<const std::uint8_t> labels) const {
  if (labels.size() != cells()) throw InvalidArgument("a board must have a label for each cell");
  SlidingBoard board{};
  std::array<int, 256> held{};
  for (std::size_t cell = 0; cell < labels.size(); ++cell) ++held[board[cell] = labels[cell]];
  if (!std::equal(counts_.begin(), counts_.end(), held.begin()))
    throw InvalidArgument("the board does not hold the pieces of the game");
  return board;
}

std::size_t SearchGraph::blank(const SlidingBoard& board) const {
  return static_cast<std::size_t>(std::find(board.begin(), board.end(), 0) - board.begin());
}

}  // namespace farthest
