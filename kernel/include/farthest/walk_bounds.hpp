// Lower bounds of distances, kept up to date from board to board.
//
// A bound has components, each with its value for every board; the bound is the greatest of its *terms*, a
// term the sum of some components. Of no terms it is 0.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "farthest/distance_table.hpp"
#include "farthest/layout.hpp"
#include "farthest/walk_moves.hpp"

namespace farthest {

// The sum over the slots of table[content * slots + slot], by divisor, rounded up; a content is
// label * turns + orientation, or the label where turns is 1. Blanks, where moves need them, add nothing.
struct SlotTable {
  std::vector<std::uint8_t> table;
  int turns = 1;
  int divisor = 1;
};

// The sum over neighbouring slots of pairs[content * contents + content of the next slot], and of
// last[content] of the last one; a content is label * turns + orientation, `contents` of them.
struct GapTable {
  int turns;
  std::vector<std::uint8_t> pairs;
  std::vector<std::uint8_t> last;
};

// A stored map of the puzzle with labels made alike: a table whose keys are a layout's.
struct MapTable {
  struct Digit {  // an orientation that a slot's label may make 0
    std::uint8_t label_cell, cell, radix;
  };

  std::optional<Layout> layout;           // none: all labels are alike
  std::vector<std::uint8_t> class_of;     // by label
  std::vector<std::uint8_t> places;       // by slot of the layout: the cell of the board with its label
  std::vector<std::uint8_t> turn_places;  // the same of its orientation; empty where keys do not hold twists
  std::vector<Digit> digits;              // orientations by slot, after the layout's key
  std::vector<std::uint8_t> ignored;      // by label, whether its orientation is 0 in these digits
  DistanceTable table;
  // Where the map is read for an image of the board: the orientation there, by slot, label and orientation of
  // the board, `turns` of these; empty: the same.
  std::vector<std::uint8_t> turn_image = {};
  std::size_t turns = 1;

  // The orientation in a slot of the board, as the map reads it; slots, labels: of the board.
  std::uint8_t turn(const std::uint8_t* board, std::size_t slot, std::size_t slots) const {
    const std::uint8_t own = board[slots + slot];
    if (turn_image.empty()) return own;
    return turn_image[(slot * class_of.size() + board[slot]) * turns + own];
  }
};

class BoardBounds {
 public:
  // Throws InvalidArgument where a component does not fit the puzzle. Each term: the numbers of its
  // components, counted through the slot tables, the gap tables and the maps.
  BoardBounds(const BoardMoves& moves, std::vector<SlotTable> tables, std::vector<GapTable> gaps,
              std::vector<MapTable> maps, std::vector<std::vector<int>> terms);

  int components() const { return static_cast<int>(tables_.size() + gaps_.size() + maps_.size()); }
  // Whether all components are maps.
  bool maps_alone() const { return tables_.empty() && gaps_.empty() && !maps_.empty(); }
  const std::vector<MapTable>& maps() const { return maps_; }
  const std::vector<std::vector<int>>& terms() const { return terms_; }
  // Whether some values can only be looked up on the board that a move leads to.
  bool looks_up() const { return !maps_.empty(); }

  // The values of all components; those of slot tables before they are divided.
  void start(const std::uint8_t* board, int* values) const;

  // Whether the bound is one table alone, or one table of gaps; then there is no need to ask for terms.
  bool single_table() const { return single() && tables_.size() == 1; }
  bool single_gaps() const { return single() && gaps_.size() == 1; }
  // Their values after a move, from that before it.
  int table_after(int move, const std::uint8_t* board, int value) const {
    return value + moved_sum(tables_[0], move, board);
  }
  int table_bound(int value) const { return divided(value, tables_[0].divisor); }
  int gaps_after(int move, const std::uint8_t* board, int value) const {
    return value + gaps_[0].step(move, board);
  }

  // The values after a move of all components that are not looked up; board, values: before it.
  void step(int move, const std::uint8_t* board, const int* values, int* out) const {
    for (const SlotTable& table : tables_) *out++ = *values++ + moved_sum(table, move, board);
    for (const Gaps& gaps : gaps_) *out++ = *values++ + gaps.step(move, board);
  }

  // The key of a board in a map, or kNoKey.
  Key key_in(const MapTable& map, const std::uint8_t* board) const;

  // The values of the components that are looked up; out: where the values of all components begin.
  void look_up(const std::uint8_t* board, int* out) const;

  int greatest(const int* values) const {
    int most = 0;
    for (const auto& term : terms_) {
      int sum = 0;
      for (const int component : term)
        sum = std::min(sum + divided(values[component], divisors_[static_cast<std::size_t>(component)]),
                       kUnreachable);
      most = std::max(most, sum);
    }
    return most;
  }

 private:
  struct Moved {  // a piece: its slots before and after, how it is turned
    std::uint8_t from, to, delta, modulus;
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

  bool single() const { return components() == 1 && terms_ == std::vector<std::vector<int>>{{0}}; }

  static int divided(int sum, int divisor) { return divisor == 1 ? sum : (sum + divisor - 1) / divisor; }

  // What the move changes of a table's sum.
  int moved_sum(const SlotTable& table, int move, const std::uint8_t* board) const {
    const Change& change = changes_[static_cast<std::size_t>(move)];
    const auto turns = static_cast<std::size_t>(table.turns);
    int sum = 0;
    for (std::uint32_t i = change.first_move; i < change.last_move; ++i) {
      const Moved& piece = moved_[i];
      const std::size_t label = board[piece.from];
      if (turns == 1) {
        const std::uint8_t* row = table.table.data() + label * slots_;
        sum += row[piece.to] - row[piece.from];
        continue;
      }
      const int turn = board[slots_ + piece.from];
      int turned = turn + piece.delta;
      if (turned >= piece.modulus) turned -= piece.modulus;
      if (ignored_[label] != 0) turned = 0;
      const std::uint8_t* rows = table.table.data() + label * turns * slots_;
      sum += rows[static_cast<std::size_t>(turned) * slots_ + piece.to];
      sum -= rows[static_cast<std::size_t>(turn) * slots_ + piece.from];
    }
    return sum;
  }

  void check_table(const BoardMoves& moves, SlotTable& table) const;
  void check_map(const BoardMoves& moves, const MapTable& map) const;

  std::size_t slots_;
  std::array<std::uint8_t, kMaxSlots> ignored_{};  // by label
  std::vector<SlotTable> tables_;
  std::vector<Gaps> gaps_;
  std::vector<MapTable> maps_;
  std::vector<int> divisors_;  // by component
  std::vector<std::vector<int>> terms_;
  std::vector<Moved> moved_;
  std::vector<Change> changes_;  // by move
};

}  // namespace farthest
