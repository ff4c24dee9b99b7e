// The walk with pattern databases alone: each look-up in memory is begun long before it is needed.
#pragma once

#include <limits>
#include <utility>

#include "search_terms.hpp"

namespace farthest {

// Does what SearchWalk does. All children of a node are judged when it is expanded; then the look-ups for the
// children of those that are left are begun, and then the first of them is searched. A piece has a place in
// one pattern of a term at most, so a move changes one place a term; a node holds those that its own move
// changed, all others are those along the way. kTerms: of how many terms there is room.
template <std::size_t kTerms>
class PatternWalk {
 public:
  static bool suits(const SearchTerms& terms) {
    if (!terms.only_patterns() || terms.terms() > kTerms || terms.most_children() > kChildren) return false;
    for (std::size_t label = 0; label < terms.kinds(); ++label) {
      std::array<bool, kTerms> held{};
      for (const std::size_t i : terms.patterns_with(label))
        if (std::exchange(held[terms.patterns()[i].term], true)) return false;
    }
    return std::ranges::all_of(terms.patterns(), [](const auto& pattern) {
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
        none_(kMaxSlots * kMaxSlots),
        holding_(graph.kinds()),
        places_(terms.patterns().size() + 1),
        distances_(places_.size()),
        levels_(64) {
    SearchPattern::View nowhere = terms.patterns().front().part.view();
    nowhere.distances = &kNothing;
    nowhere.weights = nowhere.crossings = none_.data();
    for (auto& parts : holding_) parts.fill({nowhere, terms.patterns().size()});
    for (std::size_t label = 0; label < graph.kinds(); ++label)
      for (const std::size_t i : terms.patterns_with(label))
        holding_[label][terms.patterns()[i].term] = {terms.patterns()[i].part.view(), i};
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
  static constexpr std::uint8_t kNothing = 0;

  template <class Value>
  using OfTerms = std::array<Value, kTerms>;

  struct Node {
    OfTerms<std::uint32_t> places;    // where its move has taken the piece, or taken it from
    OfTerms<std::uint8_t> distances;  // there
    OfTerms<std::int16_t> sums;
    std::uint8_t label, blank, number, count;  // number: among the children of its parent
    int last;
    std::array<std::uint8_t, kChildren> sources, labels;  // of its children
    std::array<OfTerms<std::uint32_t>, kChildren> child_places;
  };
  struct Level {
    std::size_t count, next;
    std::array<Node, kChildren> nodes;  // those within the bound
  };
  // The pattern of a term that holds a label; where there is none, one with a single place.
  struct Part {
    SearchPattern::View view;
    std::size_t number;
  };

  void begin(Node& node, std::size_t blank) {
    node.blank = static_cast<std::uint8_t>(blank);
    node.last = root_.last;
    for (std::size_t i = 0; i < terms_.patterns().size(); ++i) {
      const auto& [term, pattern] = terms_.patterns()[i];
      places_[i] = static_cast<std::uint32_t>(pattern.place(board_));
      distances_[i] = pattern.view().distances[places_[i]];
      node.sums[term] = static_cast<std::int16_t>(node.sums[term] + distances_[i]);
    }
    look_ahead(node);
  }

  // The node's children, and where they lie in the patterns; the board and the places are the node's.
  void look_ahead(Node& node) {
    node.count = 0;
    for (std::size_t arc = graph_.first(node.blank); arc < graph_.end(node.blank); ++arc) {
      const std::uint8_t source = graph_.arcs()[arc].source;
      if (source == node.last) continue;
      const std::uint8_t label = board_[source];
      for (std::size_t term = 0; term < kTerms; ++term) {
        const Part& part = holding_[label][term];
        const auto place =
            static_cast<std::uint32_t>(places_[part.number] + part.view.change(board_, arc, label));
        __builtin_prefetch(part.view.distances + place);
        node.child_places[node.count][term] = place;
      }
      node.sources[node.count] = source;
      node.labels[node.count++] = label;
    }
  }

  void expand(const Node& node) {
    nodes_ += node.count;
    left_ -= node.count;
    Level& level = levels_[++depth_];
    level.count = level.next = 0;
    for (std::uint8_t number = 0; number < node.count; ++number) {
      Node& next = level.nodes[level.count];
      next.label = node.labels[number];
      next.places = node.child_places[number];
      int most = 0;
      for (std::size_t term = 0; term < kTerms; ++term) {
        const Part& part = holding_[next.label][term];
        next.distances[term] = part.view.distances[next.places[term]];
        const int sum = node.sums[term] + next.distances[term] - distances_[part.number];
        next.sums[term] = static_cast<std::int16_t>(sum);
        most = std::max(most, sum);
      }
      const int estimate = root_.depth + static_cast<int>(depth_) + most;
      if (estimate > bound_) {
        record_.cut(estimate);
        continue;
      }
      next.blank = node.sources[number];
      next.number = number;
      next.last = node.blank;
      ++level.count;
    }
    for (std::size_t i = 0; i < level.count; ++i) {
      enter(level.nodes[i]);
      look_ahead(level.nodes[i]);
      leave(level.nodes[i]);
    }
  }

  // False: the search has ended.
  bool next() {
    if (depth_ + 2 > levels_.size()) levels_.resize(2 * levels_.size());
    Level& level = levels_[depth_];
    if (level.next == level.count) {
      if (--depth_ > 0) leave(node(depth_));
      return true;
    }
    Node& child = level.nodes[level.next++];
    const int depth = root_.depth + static_cast<int>(depth_);
    enter(child);
    bool ends = false;
    if (spent_) {
      give_back(child);
    } else if (graph_.at_goal(board_, child.blank)) {
      ends = record_.solution(way());
    } else if (depth == bound_) {
      record_.cut(depth + 1);  // what is no goal is one move away at least
    } else if (left_ < child.count) {
      spent_ = true;
      give_back(child);
    } else {
      expand(child);
      return true;
    }
    leave(child);
    if (ends) nodes_ -= untried();
    return !ends;
  }

  // On the way to where the search is.
  Node& node(std::size_t depth) { return levels_[depth].nodes[levels_[depth].next - 1]; }
  const Node& node(std::size_t depth) const { return levels_[depth].nodes[levels_[depth].next - 1]; }

  // The node's move is made, with the places and distances that it changes, and taken back.
  void enter(Node& child) {
    board_[static_cast<std::size_t>(child.last)] = child.label;
    board_[child.blank] = 0;
    exchange(child);
  }
  void leave(Node& child) {
    board_[child.blank] = child.label;
    board_[static_cast<std::size_t>(child.last)] = 0;
    exchange(child);
  }
  void exchange(Node& child) {
    for (std::size_t term = 0; term < kTerms; ++term) {
      const std::size_t number = holding_[child.label][term].number;
      std::swap(places_[number], child.places[term]);
      std::swap(distances_[number], child.distances[term]);
    }
  }

  void give_back(const Node& child) {
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
  std::vector<std::int64_t> none_;
  std::vector<OfTerms<Part>> holding_;  // of each label
  // Of the node where the search is, in each pattern, and then in none.
  std::vector<std::uint32_t> places_;
  std::vector<std::uint8_t> distances_;
  std::size_t depth_ = 0;
  std::vector<Level> levels_;
};

}  // namespace farthest
