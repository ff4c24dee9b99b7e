// A sliding puzzle's cells and goals as the search reads them, and what all ways of searching report.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "farthest/search.hpp"

namespace farthest {

using SlidingBoard = std::array<std::uint8_t, kMaxSlots>;  // a label for each cell, then 0

struct Arc {
  std::uint8_t source, target;  // the piece goes from one to the other, the blank back
};

// A goal: of the cells in `told` (255, else 0) the label is told.
struct GoalPattern {
  SlidingBoard labels{}, told{};

  bool met_by(const SlidingBoard& board) const {
    for (std::size_t i = 0; i < board.size(); i += 8)
      if (((word(board, i) ^ word(labels, i)) & word(told, i)) != 0) return false;
    return true;
  }

 private:
  static std::uint64_t word(const SlidingBoard& from, std::size_t at) {
    std::uint64_t out;
    std::memcpy(&out, from.data() + at, sizeof out);
    return out;
  }
};

class SearchGraph {
 public:
  // Throws InvalidArgument.
  explicit SearchGraph(const SlidingGame& game);

  std::size_t cells() const { return first_.size() - 1; }
  std::size_t kinds() const { return counts_.size(); }
  const std::vector<int>& counts() const { return counts_; }
  std::span<const Arc> arcs() const { return arcs_; }  // by target, then by source
  std::size_t first(std::size_t blank) const { return first_[blank]; }
  std::size_t end(std::size_t blank) const { return first_[blank + 1]; }
  const std::vector<GoalPattern>& goals(std::size_t blank) const { return goals_[blank]; }

  bool at_goal(const SlidingBoard& board, std::size_t blank) const {
    for (const GoalPattern& goal : goals_[blank])
      if (goal.met_by(board)) return true;
    return false;
  }
  // The cells that the blank can go to, but for `last`.
  int children(std::size_t blank, int last) const {
    int count = 0;
    for (std::size_t arc = first(blank); arc < end(blank); ++arc) count += arcs_[arc].source != last;
    return count;
  }
  // Throws InvalidArgument unless these are the game's pieces.
  SlidingBoard board(std::span<const std::uint8_t> labels) const;
  std::size_t blank(const SlidingBoard& board) const;

 private:
  void add_goal(const std::vector<int>& labels);

  std::vector<int> counts_;
  std::vector<Arc> arcs_;
  std::vector<std::size_t> first_;
  std::vector<std::vector<GoalPattern>> goals_;  // by the blank's cell
};

// What a search found so far.
class SearchRecord {
 public:
  SearchRecord(const SearchNode& root, const SearchLimits& limits)
      : root_(root), first_(limits.first), listed_(limits.listed) {}

  // way: the cells that the blank came to. Whether the search ends here.
  bool solution(std::span<const std::uint8_t> way) {
    ++piece_.solutions;
    if (piece_.listed.size() < listed_) piece_.listed.push_back(extended(way));
    return first_;
  }
  void cut(int bound) { next_bound_ = std::min(next_bound_, bound); }
  void left(std::vector<std::uint8_t> board, int last, std::span<const std::uint8_t> way) {
    const int depth = root_.depth + static_cast<int>(way.size());
    piece_.rest.push_back({std::move(board), depth, last, extended(way)});
  }
  SearchPiece take(std::int64_t nodes) {
    piece_.nodes = nodes;
    if (next_bound_ < kNone) piece_.next_bound = next_bound_;
    return std::move(piece_);
  }

 private:
  std::vector<std::uint8_t> extended(std::span<const std::uint8_t> way) const {
    std::vector<std::uint8_t> out = root_.way;
    out.insert(out.end(), way.begin(), way.end());
    return out;
  }

  static constexpr int kNone = std::numeric_limits<int>::max();

  const SearchNode& root_;
  bool first_;
  std::size_t listed_;
  int next_bound_ = kNone;
  SearchPiece piece_;
};

}  // namespace farthest
