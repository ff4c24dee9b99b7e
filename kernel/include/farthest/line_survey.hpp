// A survey of all boards on which each piece stays in its row or column, one component after another.
//
// On a square grid there are pieces of 2 and 3 cells, never so many in a line that it is full. One of 2
// cells, the only horizontal piece of its row, is to reach the right end of it. A move takes one piece any
// number of free cells along its line. A few cells may be walls; those of a row count when it is full, and
// none is right of the piece that leaves. (Rush Hour. The counts are those of M. Fogleman's survey, 2018.)
//
// Moves change the places of pieces in their lines, never which pieces these are. So a board is, for each
// line, its *sort* (the lengths of its pieces in order) and which of the *arrangements* of that sort it has;
// arrangements are numbered such that a piece that moves left or up makes the number less. In a component the
// sorts and the walls are fixed, and the numbers are the digits of a mixed radix number, the board's *code*.
// A component is found from its least code. There no piece can move left or up: only such boards are starts,
// and one that leads to a lesser code is dropped.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "farthest/types.hpp"

namespace farthest {

class LineSurvey {
 public:
  static constexpr int kLeastSize = 3, kMostSize = 6;
  static constexpr int kMostPieces = kMostSize * kMostSize / 2;
  static constexpr int kMostWalls = 3;

  // Which components have a row: those whose hardest board is minimal, those with a solution, all.
  enum class Keep { minimal, solvable, all };

  struct Row {
    int pieces;
    std::uint64_t states;
    // The hardest board, a letter a cell, A for the piece that leaves, the others from B in reading order, o
    // where it is free, x a wall; of those that take most moves the one with the least horizontal, then the
    // least vertical mask of cells. Without a solution it is the start, and there are no layers.
    std::string board;
    std::vector<std::uint64_t>
        layers;    // states 0, 1, ... moves from the nearest board with the piece at its end
    bool minimal;  // no other piece or wall can be removed without making it easier
  };

  // Of the components with so many pieces.
  struct Totals {
    std::uint64_t starts = 0, components = 0, solvable = 0, minimal = 0;
    std::uint64_t states = 0, solvable_states = 0, minimal_states = 0;
    std::uint64_t moves = 0;  // of the hardest board
  };

  struct Part {
    std::array<Totals, kMostPieces + 1> totals{};
    std::vector<Row> rows;
  };

  // row: from 0, of the piece that leaves; most_pieces, most_walls: boards have no more. Throws
  // InvalidArgument.
  LineSurvey(int size, int row, int most_pieces, int most_walls = 0);

  // How many boards a survey starts from; about so many where there are more than `most_sets` sets of walls.
  std::uint64_t starts(std::uint64_t most_sets = UINT64_MAX) const;

  // The components of every `parts`-th arrangement of the rows, from `part` on. All parts are a partition of
  // all components, and take about as long. Throws InvalidArgument.
  Part survey(std::uint64_t part, std::uint64_t parts, Keep keep) const;

  // The components of boards as `Row` has them, with any letters; each once, in a part that its lines alone
  // decide. Lines may be full, and there may be more pieces and walls. Throws InvalidArgument.
  Part survey_boards(const std::vector<std::string>& boards, std::uint64_t part, std::uint64_t parts,
                     Keep keep) const;

  // Throws InvalidArgument where a text is no board of these.
  void check(const std::string& board) const;

 private:
  static constexpr int kMostLines = 2 * kMostSize;
  using LineMask = std::uint8_t;

  struct Sort {
    std::vector<int> lengths;
    std::vector<LineMask> masks;           // of its arrangements, ascending
    std::vector<std::vector<int>> places;  // of its arrangements: the first cell of each piece
    std::vector<std::uint16_t> reached;  // [arrangement << size | blocked cells]: arrangements one move away
  };
  // A line as a start has it. required: cells left of or above its pieces, which others must cover.
  struct Entry {
    std::uint8_t sort, arrangement;
    LineMask mask, required;
    int pieces;
  };
  // Of a component: what does not change.
  struct Lines;
  struct Read;
  struct Search;

  template <class Found>
  void each_start(std::uint64_t part, std::uint64_t parts, Found found) const;
  template <class Found>
  void each_start_of(std::uint64_t walls, std::uint64_t part, std::uint64_t parts, Found found) const;

  std::uint64_t crossed(std::uint64_t cells) const;
  Read read(const std::string& text) const;

  int size_, row_, most_pieces_;
  std::vector<std::uint64_t> walls_;  // sets of them, row by row, none first
  std::vector<Sort> sorts_;           // the first has no pieces, the second is that of the piece that leaves
  std::vector<Entry> entries_;        // of a line
  std::vector<std::vector<Entry>> fitting_;  // [covered << size | required]: those of a column
};

}  // namespace farthest
