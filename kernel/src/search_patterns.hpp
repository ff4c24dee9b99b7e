// The walk with pattern databases alone: each look-up in memory is begun long before it is needed.
#pragma once

#include <limits>

#include "search_terms.hpp"

namespace farthest {

// Does what SearchWalk does. All children of a node are judged when it is expanded; then the look-ups for the
// children of those that are left are begun, and then the first of them is searched. kViews: of how many
// patterns there is room.
template <std::size_t kViews>
class PatternWalk {
 public:
  static bool suits(const SearchTerms& terms) {
    return terms.only_patterns() && terms.patterns().size() <= kViews && terms.terms() <= kViews &&
           terms.most_children() <= kChildren &&
           std::ranges::all_of(terms.patterns(), [](const auto& pattern) {
             return pattern.part.places() <= std::numeric_limits<std::uint32_t>::max();
           });
  }

  PatternWalk(const SearchTerms& terms, const SearchGraph& graph, const SearchNode& root,
              const SearchLimits& limits)
      : terms_(terms),
        graph_(graph),
        record_(root, limits),
        board_(graph.board(root.board)),
        root_(root),
        bound_(limits.bound),
        left_(limits.budget < 0 ? std::numeric_limits<std::int64_t>::max() : limits.budget),
        levels_(64) {
    for (std::size_t view = 0; view < terms.patterns().size(); ++view) {
      views_[view] = terms.patterns()[view].part.view();
      term_of_[view] = static_cast<std::uint8_t>(terms.patterns()[view].term);
    }
    for (std::size_t label = 0; label < graph.kinds(); ++label)
      for (const std::size_t view : terms.patterns_with(label))
        holding_[label].views[holding_[label].count++] = static_cast<std::uint8_t>(view);
  }

  SearchPiece run() {
    const std::size_t blank = graph_.blank(board_);
    const bool goal = graph_.at_goal(board_, blank);
    const int estimate = root_.depth + std::max(terms_.value(board_), goal ? 0 : 1);
    if (estimate > bound_) {
      record_.cut(estimate);
    } else if (goal) {
      record_.solution({});
    } else {
      Level& level = levels_[0];
      level = {};
      level.count = level.next = 1;
      begin(level.nodes[0], blank);
      expand(level.nodes[0]);
      while (depth_ > 0)
        if (!next()) break;
    }
    return record_.take(nodes_);
  }

 private:
  static constexpr std::size_t kChildren = 4;  // of a node at most

  struct Child {
    std::uint8_t source, label;
    std::array<std::uint32_t, kViews> places;  // in the patterns that hold the label
  };
  struct Node {
    std::array<std::uint32_t, kViews> places;    // in all patterns
    std::array<std::uint8_t, kViews> distances;  // there
    std::array<std::int16_t, kViews> sums;       // of terms
    std::uint8_t blank, number, count;           // number: among the children of its parent
    int last;
    std::array<Child, kChildren> children;
  };
  struct Level {
    std::size_t count, next;
    std::array<Node, kChildren> nodes;  // those within the bound
  };

  struct Holding {
    std::uint8_t count = 0;
    std::array<std::uint8_t, kViews> views{};
  };

  void begin(Node& node, std::size_t blank) {
    node.blank = static_cast<std::uint8_t>(blank);
    node.last = root_.last;
    for (std::size_t view = 0; view < terms_.patterns().size(); ++view) {
      const auto& [term, pattern] = terms_.patterns()[view];
      node.places[view] = static_cast<std::uint32_t>(pattern.place(board_));
      node.distances[view] = views_[view].distances[node.places[view]];
      node.sums[term] = static_cast<std::int16_t>(node.sums[term] + node.distances[view]);
    }
    look_ahead(node);
  }

  // The node's children, and where they lie in the patterns; the board is the node's.
  void look_ahead(Node& node) {
    node.count = 0;
    for (std::size_t arc = graph_.first(node.blank); arc < graph_.end(node.blank); ++arc) {
      const std::uint8_t source = graph_.arcs()[arc].source;
      if (source == node.last) continue;
      Child& child = node.children[node.count++];
      child.source = source;
      child.label = board_[source];
      const Holding& holding = holding_[child.label];
      for (std::size_t i = 0; i < holding.count; ++i) {
        const std::size_t number = holding.views[i];
        const SearchPattern::View& view = views_[number];
        child.places[i] =
            static_cast<std::uint32_t>(node.places[number] + view.change(board_, arc, child.label));
        __builtin_prefetch(view.distances + child.places[i]);
      }
    }
  }

  void expand(const Node& node) {
    nodes_ += node.count;
    left_ -= node.count;
    Level& level = levels_[++depth_];
    level.count = level.next = 0;
    for (std::uint8_t number = 0; number < node.count; ++number) {
      const Child& child = node.children[number];
      Node& next = level.nodes[level.count];
      next.places = node.places;
      next.distances = node.distances;
      next.sums = node.sums;
      const Holding& holding = holding_[child.label];
      for (std::size_t i = 0; i < holding.count; ++i) {
        const std::size_t view = holding.views[i];
        const std::uint8_t distance = views_[view].distances[child.places[i]];
        std::int16_t& sum = next.sums[term_of_[view]];
        sum = static_cast<std::int16_t>(sum + distance - next.distances[view]);
        next.places[view] = child.places[i];
        next.distances[view] = distance;
      }
      const int estimate =
          root_.depth + static_cast<int>(depth_) + *std::max_element(next.sums.begin(), next.sums.end());
      if (estimate > bound_) {
        record_.cut(estimate);
        continue;
      }
      next.blank = child.source;
      next.number = number;
      next.last = node.blank;
      ++level.count;
    }
    for (std::size_t i = 0; i < level.count; ++i) {
      move(node.blank, level.nodes[i].blank);
      look_ahead(level.nodes[i]);
      move(level.nodes[i].blank, node.blank);
    }
  }

  // False: the search has ended.
  bool next() {
    if (depth_ + 2 > levels_.size()) levels_.resize(2 * levels_.size());
    Level& level = levels_[depth_];
    if (level.next == level.count) {
      if (--depth_ > 0) move(node(depth_).blank, node(depth_ - 1).blank);
      return true;
    }
    const Node& child = level.nodes[level.next++];
    const std::size_t before = node(depth_ - 1).blank;
    const int depth = root_.depth + static_cast<int>(depth_);
    move(before, child.blank);
    bool ends = false;
    if (spent_) {
      leave(child);
    } else if (graph_.at_goal(board_, child.blank)) {
      ends = record_.solution(way());
    } else if (depth == bound_) {
      record_.cut(depth + 1);  // what is no goal is one move away at least
    } else if (left_ < child.count) {
      spent_ = true;
      leave(child);
    } else {
      expand(child);
      return true;
    }
    move(child.blank, before);
    if (ends) nodes_ -= untried();
    return !ends;
  }

  // On the way to where the search is.
  const Node& node(std::size_t depth) const { return levels_[depth].nodes[levels_[depth].next - 1]; }

  void move(std::size_t blank, std::size_t to) {
    board_[blank] = board_[to];
    board_[to] = 0;
  }

  void leave(const Node& child) {
    const auto end = board_.begin() + static_cast<std::ptrdiff_t>(graph_.cells());
    record_.left({board_.begin(), end}, child.last, way());
  }

  std::vector<std::uint8_t> way() const {
    std::vector<std::uint8_t> out;
    for (std::size_t depth = 1; depth <= depth_; ++depth) out.push_back(node(depth).blank);
    return out;
  }

  // Children that were counted when their parents were expanded, after those that the search came to.
  std::int64_t untried() const {
    std::int64_t count = 0;
    for (std::size_t depth = 1; depth <= depth_; ++depth)
      count += node(depth - 1).count - 1 - node(depth).number;
    return count;
  }

  const SearchTerms& terms_;
  const SearchGraph& graph_;
  SearchRecord record_;
  SlidingBoard board_;
  const SearchNode& root_;
  int bound_;
  std::int64_t left_;
  std::int64_t nodes_ = 0;
  bool spent_ = false;
  std::array<SearchPattern::View, kViews> views_{};
  std::array<std::uint8_t, kViews> term_of_{};
  std::array<Holding, kMaxSlots> holding_{};  // of each label: the patterns that hold it
  std::size_t depth_ = 0;
  std::vector<Level> levels_;
};

}  // namespace farthest
