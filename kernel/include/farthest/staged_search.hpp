// Short ways to one board by stages: each stage brings some of the contents home, by words that keep what the
// stages before have brought home.
//
// The last stage is searched by iterative deepening. Each stage before it is searched for all its ways, the
// shortest first, and each of these is gone on with as far as the whole way is shorter than the best so far.
// So the first way comes soon, and better ones follow. Source: H. Kociemba, Close to God's algorithm, Cubism
// For Fun 28, 1992, with two stages, and others before him with four (M. Thistlethwaite, 1981).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "farthest/move_order.hpp"
#include "farthest/walk_moves.hpp"

namespace farthest {

// What a stage sees of a board: of some cells the class of what they hold. A move must change what is seen in
// a way that depends on that alone.
struct StageView {
  std::vector<std::uint8_t> cells;
  std::vector<std::uint8_t> classes;  // by content
};

// `words`: what the stage may do, each as moves by number; with each there must be one that takes it back and
// is as long. A board ends the stage where all views see what they see of the goal.
struct StageParts {
  std::vector<Way> words;
  std::vector<StageView> views;
};

class StagedSearch {
 public:
  // What a view may see, and pairs of what two views see, for which there are tables of distances.
  static constexpr std::size_t kMostSeen = std::size_t{1} << 20;
  static constexpr std::size_t kMostPairs = std::size_t{1} << 21;

  // Throws InvalidArgument where the parts do not fit the moves, or a view sees too much.
  StagedSearch(BoardMoves moves, std::vector<std::uint8_t> goal, const std::vector<StageParts>& stages);

  struct Result {
    std::uint64_t nodes;
    std::optional<Way> way;  // the shortest that was found
  };
  // A way of fewer than `below` moves to the goal. About `budget` nodes are generated at most; the same board
  // and numbers give the same way. Throws InvalidArgument where it is not a board. Threads may share it.
  Result search(std::span<const std::uint8_t> board, int below, std::uint64_t budget) const;

 private:
  friend class StagedWalk;

  // Distances to the goal of what one or two views see: at first * (size of the second) + second.
  struct Table {
    std::size_t first, second, factor;
    std::vector<std::uint8_t> distances;
  };
  struct Stage {
    std::vector<Way> words;
    std::vector<std::uint8_t> lengths;              // of words
    std::vector<std::vector<std::uint16_t>> after;  // by word, and at last for none: those that may follow
    std::vector<std::uint8_t> kept;                 // by word: whether the next stage has it too
    std::vector<StageView> views;
    // Things that a view sees are numbered, 0 is the goal's.
    std::vector<std::vector<std::uint32_t>> next;    // by view: number * words + word
    std::vector<std::vector<std::uint8_t>> seen;     // by view: what each number sees, one after the other
    std::vector<std::vector<std::uint32_t>> places;  // by view: an open hash table of numbers + 1
    std::vector<Table> tables;

    std::optional<std::uint32_t> number(std::size_t view, const std::uint8_t* board) const;
    int bound(const std::uint32_t* numbers) const {
      int most = 0;
      for (const Table& table : tables)
        most = std::max<int>(most, table.distances[numbers[table.first] * table.factor +
                                                   (table.factor == 1 ? 0 : numbers[table.second])]);
      return most;
    }
  };

  Stage compiled(const StageParts& parts) const;
  void number_all(Stage& stage, std::size_t view) const;
  void order(Stage& stage) const;
  // `before`: room for the board before the last move.
  void apply(const Way& way, std::vector<std::uint8_t>& board, std::vector<std::uint8_t>& before) const;

  BoardMoves moves_;
  std::vector<std::uint8_t> goal_;
  std::vector<Stage> stages_;
};

}  // namespace farthest
