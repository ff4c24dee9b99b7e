// The least sum of distances between the cells of one kind of piece and different goal cells.
#pragma once

#include "search_graph.hpp"

namespace farthest {

class SearchMatching {
 public:
  // Throws InvalidArgument.
  SearchMatching(const Matching& part, const SearchGraph& graph);

  int value(const SlidingBoard& board) const;
  // The change of the value by a move; the board shows it made.
  int change(const SlidingBoard& board, Arc arc) const;

 private:
  struct Kind {
    std::vector<std::uint8_t> goals;
    std::vector<std::uint16_t>
        sums;  // of each set of cells, with as many as there are goals or fewer; or empty
  };

  int sum(std::size_t label, SlotMask cells) const;
  int distance(std::size_t from, std::size_t to) const { return distances_[from * cells_ + to]; }
  int assignment(SlotMask cells, const Kind& kind) const;

  std::size_t cells_;
  std::vector<int> distances_;
  std::vector<Kind> kinds_;
};

}  // namespace farthest
