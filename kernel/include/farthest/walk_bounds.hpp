// Lower bounds of distances, kept up to date from board to board.
//
// A bound has components, each with its value for every board; the bound is the greatest of its *terms*, a
// term the sum of some components. Of no terms it is 0.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "farthest/layout.hpp"
#include "farthest/walk_moves.hpp"

namespace farthest {

// Where no goal can be reached.
inline constexpr int kUnreachable = 1 << 28;

// The sum over the slots of table[label * slots + slot]; blanks, where moves need them, add nothing.
struct LabelTable {
  std::vector<std::uint8_t> table;
};

// The sum over neighbouring slots of pairs[content * contents + content of the next slot], and of
// last[content] of the last one; a content is label * turns + orientation, `contents` of them.
struct GapTable {
  int turns;
  std::vector<std::uint8_t> pairs;
  std::vector<std::uint8_t> last;
};

// A stored map of the puzzle with labels made alike: distances in the order of a layout's keys, 255 where no
// goal can be reached.
struct MapTable {
  static constexpr std::uint8_t kNever = 255;
  struct Digit {  // an orientation that a slot's label may make 0
    std::uint8_t label_cell, cell, radix;
  };

  std::optional<Layout> layout;           // none: all labels are alike
  std::vector<std::uint8_t> class_of;     // by label
  std::vector<std::uint8_t> places;       // by slot of the layout: the cell of the board with its label
  std::vector<std::uint8_t> turn_places;  // the same of its orientation; empty where keys do not hold twists
  std::vector<Digit> digits;              // orientations by slot, after the layout's key
  std::vector<std::uint8_t> ignored;      // by label, whether its orientation is 0 in these digits
  std::span<const std::uint8_t> distances;  // the caller's memory
};

class BoardBounds {
 public:
  // Throws InvalidArgument where a component does not fit the puzzle. Each term: the numbers of its
  // components, counted through the label tables, the gap tables and the maps.
  BoardBounds(const BoardMoves& moves, std::vector<LabelTable> tables, std::vector<GapTable> gaps,
              std::vector<MapTable> maps, std::vector<std::vector<int>> terms);

  int components() const { return static_cast<int>(tables_.size() + gaps_.size() + maps_.size()); }
  // Whether some values can only be looked up on the board that a move leads to.
  bool looks_up() const { return !maps_.empty(); }

  // The values of all components.
  void start(const std::uint8_t* board, int* values) const;

  // The values after a move of all components that are not looked up; board, values: before it.
  void step(int move, const std::uint8_t* board, const int* values, int* out) const {
    const Change& change = changes_[static_cast<std::size_t>(move)];
    for (const auto& table : tables_) {
      int value = *values++;
      for (std::uint32_t i = change.first_move; i < change.last_move; ++i) {
        const std::uint8_t* row = table.data() + std::size_t{board[moved_[i].from]} * slots_;
        value += row[moved_[i].to] - row[moved_[i].from];
      }
      *out++ = value;
    }
    for (const Gaps& gaps : gaps_) *out++ = *values++ + gaps.step(move, board);
  }

  // The values of the components that are looked up; out: where the values of all components begin.
  void look_up(const std::uint8_t* board, int* out) const;

  int greatest(const int* values) const {
    int most = 0;
    for (const auto& term : terms_) {
      int sum = 0;
      for (const int component : term) sum += values[component];
      most = std::max(most, sum);
    }
    return most;
  }

 private:
  struct Moved {  // labels, of pieces only
    std::uint8_t from, to;
  };
  struct Change {
    std::uint32_t first_move, last_move;
  };

  // A move takes most neighbours to neighbours, in the same order or, turned, in the other. Their share does
  // not change if pairs[] does not tell the orders apart; what is left are the neighbours that it parts and
  // those that it joins.
  class Gaps {
   public:
    Gaps(const BoardMoves& moves, GapTable table);

    int value(const std::uint8_t* board) const;
    int step(int move, const std::uint8_t* board) const {
      const Change& change = changes_[static_cast<std::size_t>(move)];
      int sum = 0;
      for (std::uint32_t i = change.first_parted; i < change.last_parted; ++i)
        sum -= pair(content(board, parted_[i]), content(board, parted_[i] + 1));
      for (std::uint32_t i = change.first_joined; i < change.last_joined; ++i)
        sum += pair(turned(board, joined_[i].left), turned(board, joined_[i].right));
      if (change.ends) sum += last_[turned(board, change.end)] - last_[content(board, slots_ - 1)];
      return sum;
    }

   private:
    struct Piece {  // what is in a slot before the move, and how the move turns it
      std::uint8_t slot, delta;
    };
    struct Joined {
      Piece left, right;
    };
    struct Change {
      std::uint32_t first_parted, last_parted, first_joined, last_joined;
      bool ends;  // whether the last slot's content changes
      Piece end;
    };

    std::size_t content(const std::uint8_t* board, int slot) const {
      const auto turns = static_cast<std::size_t>(turns_);
      return turns == 1 ? board[slot] : board[slot] * turns + board[slots_ + slot];
    }
    std::size_t turned(const std::uint8_t* board, Piece piece) const {
      return turns_ == 1 ? board[piece.slot] : turn_[piece.delta * contents_ + content(board, piece.slot)];
    }
    int pair(std::size_t a, std::size_t b) const { return pairs_[a * contents_ + b]; }
    // Whether the two orders of neighbours, the content of the first slot turned by `a`, of the second by
    // `b`, always have the same value.
    bool same_reversed(int a, int b);
    void compile(const Move& move);

    int slots_;
    int turns_;
    std::size_t contents_;
    std::vector<std::uint8_t> pairs_, last_;
    std::vector<std::uint8_t> turn_;  // by delta and content: the content turned
    std::vector<std::uint8_t> parted_;
    std::vector<Joined> joined_;
    std::vector<Change> changes_;                   // by move
    std::map<std::pair<int, int>, bool> reversed_;  // what same_reversed() has found
  };

  void check_map(const BoardMoves& moves, const MapTable& map) const;
  int looked_up(const MapTable& map, const std::uint8_t* board) const;

  std::size_t slots_;
  std::vector<std::vector<std::uint8_t>> tables_;
  std::vector<Gaps> gaps_;
  std::vector<MapTable> maps_;
  std::vector<std::vector<int>> terms_;
  std::vector<Moved> moved_;
  std::vector<Change> changes_;  // by move
};

}  // namespace farthest
