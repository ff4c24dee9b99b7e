// Linear conflicts: the pieces of a row or column that must leave it.
#pragma once

#include "search_graph.hpp"

namespace farthest {

class SearchLines {
 public:
  // Throws InvalidArgument unless the pieces differ, and the graph's passages join neighbours in the rows.
  SearchLines(const LinearConflict& part, const SearchGraph& graph);

  int value(const SlidingBoard& board) const;
  // The change of the value by a move; the board shows it made.
  int change(const SlidingBoard& board, Arc arc) const;

 private:
  // Digits of a line: 0 where the piece, or none, is not at home in it, else 1 + its goal's place. Places of
  // a line that have no cell are left out.
  struct Line {
    std::vector<std::uint8_t> cells;
    std::array<std::uint32_t, kMaxSlots> weight{};  // cell -> of its digit in the number below
    SlidingBoard home{};                            // label -> digit
    std::vector<std::uint8_t>
        leave;  // [digits as a number in radix cells + 1, first lowest]; empty: too many
  };

  void add_line(const std::vector<int>& cells, std::vector<std::size_t>& line_of);
  static int leaving(std::span<const std::uint8_t> digits);
  static std::size_t number(const Line& line, const SlidingBoard& board);
  static int leaving(const Line& line, const SlidingBoard& board);
  static int joined(const Line& line, const SlidingBoard& board, std::size_t cell);
  int apart(std::size_t label, std::size_t cell) const;

  SearchGraph const* graph_;
  std::vector<Line> lines_;
  std::vector<std::size_t> row_, column_;  // of each cell: its lines
  std::vector<int> row_number_, column_number_;
  std::vector<int> goal_cell_;
};

}  // namespace farthest
