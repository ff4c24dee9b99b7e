// The walk through the tree below a node on any graph, in place and with a stack of its own: as deep as
// memory goes.
#pragma once

#include <algorithm>
#include <limits>

#include "search_graph.hpp"

namespace farthest {

// Guide: the heuristic, kept up to date along the way.
//   int start(board)                     the value of the root, at level 0
//   void expand(level, blank, board)     what can be fetched early for the children of the node at a level
//   int moved(level, arc, cells, board)  the value after a move from there, as of level + 1; the board shows
//   it made
template <class Guide>
class SearchWalk {
 public:
  SearchWalk(const SearchGraph& graph, Guide& guide, const SearchNode& root, const SearchLimits& limits)
      : graph_(graph),
        guide_(guide),
        record_(root, limits),
        board_(graph.board(root.board)),
        root_(root),
        bound_(limits.bound),
        left_(limits.budget < 0 ? std::numeric_limits<std::int64_t>::max() : limits.budget) {}

  SearchPiece run() {
    const std::size_t blank = graph_.blank(board_);
    const bool goal = graph_.at_goal(board_, blank);
    const int estimate = root_.depth + std::max(guide_.start(board_), goal ? 0 : 1);
    if (estimate > bound_) {
      record_.cut(estimate);
    } else if (goal) {
      record_.solution({});
    } else {
      open(blank, root_.last);
      while (!levels_.empty())
        if (!next_child()) break;
    }
    return record_.take(nodes_);
  }

 private:
  struct Level {
    std::size_t arc, end;
    std::uint8_t blank;
    int last;
  };

  void open(std::size_t blank, int last) {
    const int children = graph_.children(blank, last);
    nodes_ += children;
    left_ -= children;
    guide_.expand(levels_.size(), blank, board_);
    levels_.push_back({graph_.first(blank), graph_.end(blank), static_cast<std::uint8_t>(blank), last});
  }

  // False: the search has ended.
  bool next_child() {
    Level& level = levels_.back();
    if (level.arc == level.end) {
      levels_.pop_back();
      if (!levels_.empty()) take_back(graph_.arcs()[levels_.back().arc - 1]);
      return true;
    }
    const std::size_t at = level.arc++;
    const Arc arc = graph_.arcs()[at];
    if (arc.source == level.last) return true;
    board_[arc.target] = board_[arc.source];
    board_[arc.source] = 0;
    const int depth = root_.depth + static_cast<int>(levels_.size());
    const int estimate = depth + guide_.moved(levels_.size() - 1, at, arc, board_);
    bool ends = false;
    if (estimate > bound_) {
      record_.cut(estimate);
    } else if (spent_) {
      leave(arc);
    } else if (graph_.at_goal(board_, arc.source)) {
      ends = record_.solution(way(arc.source));
    } else if (depth == bound_) {
      record_.cut(depth + 1);  // what is no goal is one move away at least
    } else if (left_ < graph_.children(arc.source, arc.target)) {
      spent_ = true;
      leave(arc);
    } else {
      open(arc.source, arc.target);
      return true;
    }
    take_back(arc);
    if (ends) nodes_ -= untried();
    return !ends;
  }

  void leave(Arc arc) {
    const auto end = board_.begin() + static_cast<std::ptrdiff_t>(graph_.cells());
    record_.left({board_.begin(), end}, arc.target, way(arc.source));
  }

  void take_back(Arc arc) {
    board_[arc.source] = board_[arc.target];
    board_[arc.target] = 0;
  }

  std::vector<std::uint8_t> way(std::uint8_t to) const {
    std::vector<std::uint8_t> out;
    for (std::size_t i = 1; i < levels_.size(); ++i) out.push_back(levels_[i].blank);
    out.push_back(to);
    return out;
  }

  // Children that were counted when their parents were expanded, and not yet looked at.
  std::int64_t untried() const {
    std::int64_t count = 0;
    for (const Level& level : levels_)
      for (std::size_t arc = level.arc; arc < level.end; ++arc)
        count += graph_.arcs()[arc].source != level.last;
    return count;
  }

  const SearchGraph& graph_;
  Guide& guide_;
  SearchRecord record_;
  SlidingBoard board_;
  const SearchNode& root_;
  int bound_;
  std::int64_t left_;
  std::int64_t nodes_ = 0;
  bool spent_ = false;
  std::vector<Level> levels_;
};

}  // namespace farthest
