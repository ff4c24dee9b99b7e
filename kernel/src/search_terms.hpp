// A heuristic of any terms, worked out move by move.
#pragma once

#include "search_graph.hpp"
#include "search_lines.hpp"
#include "search_matching.hpp"

namespace farthest {

// A move of a piece as a pattern sees it.
struct Passage {
  std::int64_t forward;  // cells, in the pattern's numbering
  std::int64_t sign;     // -1: it goes backward; else 0
};

// A pattern database: how the place of a board in it changes with a move.
//
// place = sum over labels of weight * cell, less the weight of the later label for each pair of the pattern
// whose earlier label lies on an earlier cell. A piece that goes d cells forward adds d weights of its own,
// and each cell that it passes changes the order of one pair at most.
class SearchPattern {
 public:
  // Throws InvalidArgument.
  SearchPattern(const PatternTable& part, const SearchGraph& graph);

  // What look-ups take, side by side; the pattern outlives it.
  struct View {
    const std::uint8_t* distances;
    const std::int64_t* weights;
    const std::int64_t* crossings;
    const Passage* passages;
    const std::uint8_t* passed;
    std::size_t passing;

    // The change of the place by a move that has not been made; the label is one of the pattern's.
    std::int64_t change(const SlidingBoard& board, std::size_t arc, std::size_t label) const;
  };

  View view() const {
    return {distances_.data(), weights_.data(), crossings_.data(),
            passages_.data(),  passed_.data(),  passing_};
  }
  bool holds(std::size_t label) const { return weights_[label] != 0; }
  std::size_t places() const { return distances_.size(); }
  std::size_t place(const SlidingBoard& board) const;

 private:
  std::span<const std::uint8_t> distances_;
  std::vector<std::int64_t> weights_;  // of each label; 0: not of the pattern
  std::vector<std::int64_t>
      crossings_;                  // [label * kMaxSlots + the other]: when the first goes forward past it
  std::vector<Passage> passages_;  // of each arc
  // Of each arc as many cells as any arc passes: those that it passes, then its target, where no piece is.
  // So all moves cost the same work, and none is a branch that could be foreseen wrongly.
  std::vector<std::uint8_t> passed_;
  std::size_t passing_ = 0;
  std::vector<std::size_t> labels_, cell_of_;
};

inline std::int64_t SearchPattern::View::change(const SlidingBoard& board, std::size_t arc,
                                                std::size_t label) const {
  const Passage& passage = passages[arc];
  const std::int64_t* crossing = crossings + label * kMaxSlots;
  const std::uint8_t* cells = passed + arc * passing;
  std::int64_t sum = passage.forward * weights[label];
  for (std::size_t i = 0; i < passing; i += 4)
    sum += crossing[board[cells[i]]] + crossing[board[cells[i + 1]]] + crossing[board[cells[i + 2]]] +
           crossing[board[cells[i + 3]]];
  return (sum ^ passage.sign) - passage.sign;
}

// What the terms are made of; read by many searches at once.
class SearchTerms {
 public:
  // Throws InvalidArgument.
  SearchTerms(const std::vector<HeuristicTerm>& terms, const SearchGraph& graph);

  int value(const SlidingBoard& board) const;
  // Whether they are one table, or nothing; then how it changes with a move: [arc * kinds + label].
  bool only_table() const;
  std::span<const std::int16_t> changes() const { return tables_[0].part.changes; }

  template <class Part>
  struct InTerm {
    std::size_t term;
    Part part;
  };
  // Whether they are patterns, and nothing else.
  bool only_patterns() const;
  std::size_t terms() const { return terms_; }
  std::size_t kinds() const { return patterns_with_.size(); }
  const std::vector<InTerm<SearchPattern>>& patterns() const { return patterns_; }
  const std::vector<std::size_t>& patterns_with(std::size_t label) const { return patterns_with_[label]; }
  std::size_t most_children() const { return most_children_; }

 private:
  friend class TermGuide;
  struct Table {
    std::vector<int> values;            // [label * cells + cell]
    std::vector<std::int16_t> changes;  // [arc * kinds + label]

    Table(std::vector<int> sums, const SearchGraph& graph);
  };

  const SearchGraph* graph_;
  std::size_t terms_;
  std::vector<InTerm<Table>> tables_;  // one a term at most
  std::vector<InTerm<SearchPattern>> patterns_;
  std::vector<InTerm<SearchLines>> lines_;
  std::vector<InTerm<SearchMatching>> matchings_;
  std::vector<std::vector<std::size_t>> patterns_with_;  // of each label
  std::size_t most_patterns_ = 0;                        // of one label
  std::size_t most_children_ = 0;
};

// The terms along one way (SearchWalk).
class TermGuide {
 public:
  explicit TermGuide(const SearchTerms& terms) : terms_(terms) {}

  int start(const SlidingBoard& board);
  void expand(std::size_t level, std::size_t blank, const SlidingBoard& board);
  int moved(std::size_t level, std::size_t arc, Arc cells, const SlidingBoard& board);

 private:
  void grow(std::size_t level);
  std::size_t* child_places(std::size_t level, std::size_t child) {
    return child_places_.data() + (level * terms_.most_children_ + child) * terms_.most_patterns_;
  }

  const SearchGraph& graph() const { return *terms_.graph_; }

  const SearchTerms& terms_;
  // Of each level: the terms' sums; where the board lies in the patterns, and what they say; where its
  // children lie in those patterns that hold the piece that moves.
  std::vector<int> sums_;
  std::vector<std::size_t> places_;
  std::vector<int> distances_;
  std::vector<std::size_t> child_places_;
  std::size_t levels_ = 0;
};

// One table: nothing but a number along the way.
class TableGuide {
 public:
  TableGuide(const SearchTerms& terms, std::size_t kinds)
      : terms_(terms), changes_(terms.changes()), kinds_(kinds), values_(2) {}

  int start(const SlidingBoard& board) { return values_[0] = terms_.value(board); }
  void expand(std::size_t level, std::size_t, const SlidingBoard&) {
    if (values_.size() < level + 2) values_.resize(2 * level + 2);
  }
  int moved(std::size_t level, std::size_t arc, Arc cells, const SlidingBoard& board) {
    return values_[level + 1] = values_[level] + changes_[arc * kinds_ + board[cells.target]];
  }

 private:
  const SearchTerms& terms_;
  std::span<const std::int16_t> changes_;
  std::size_t kinds_;
  std::vector<int> values_;
};

}  // namespace farthest
