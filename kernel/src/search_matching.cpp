#include "search_matching.hpp"

#include <algorithm>
#include <limits>

namespace farthest {

namespace {

constexpr int kLongest = 1000;            // 64 of them fit 16 bits
constexpr std::size_t kTabledCells = 16;  // cells of a board whose sets of cells have tables

SlotMask cells_with(const SlidingBoard& board, std::size_t cells, std::uint8_t label) {
  SlotMask mask = 0;
  for (std::size_t cell = 0; cell < cells; ++cell) mask |= SlotMask{board[cell] == label} << cell;
  return mask;
}

}  // namespace

SearchMatching::SearchMatching(const Matching& part, const SearchGraph& graph)
    : cells_(graph.cells()), kinds_(graph.kinds()) {
  if (part.distances.size() != cells_) throw InvalidArgument("distances must be from each cell");
  for (const auto& row : part.distances) {
    if (row.size() != cells_) throw InvalidArgument("distances must be to each cell");
    for (const int distance : row) {
      if (distance < 0 || distance > kLongest) throw InvalidArgument("distances must be 0 to 1000");
      distances_.push_back(distance);
    }
  }
  if (part.goal.size() != cells_) throw InvalidArgument("a goal must have a label for each cell");
  for (std::size_t cell = 0; cell < cells_; ++cell) {
    if (part.goal[cell] < 0 || part.goal[cell] >= static_cast<int>(kinds_.size()))
      throw InvalidArgument("a goal has a label that there is not");
    kinds_[static_cast<std::size_t>(part.goal[cell])].goals.push_back(static_cast<std::uint8_t>(cell));
  }
  for (std::size_t label = 0; label < kinds_.size(); ++label) {
    Kind& kind = kinds_[label];
    if (static_cast<int>(kind.goals.size()) != graph.counts()[label])
      throw InvalidArgument("a goal must hold the pieces of the game");
    if (label == 0 || cells_ > kTabledCells) continue;
    kind.sums.assign(std::size_t{1} << cells_, 0);
    for (SlotMask set = 1; set < kind.sums.size(); ++set) {
      const auto size = static_cast<std::size_t>(std::popcount(set));
      if (size > kind.goals.size()) continue;
      int least = std::numeric_limits<int>::max();
      for (SlotMask rest = set; rest != 0; rest &= rest - 1) {
        const auto cell = static_cast<std::size_t>(lowest(rest));
        least =
            std::min(least, kind.sums[set ^ (SlotMask{1} << cell)] + distance(cell, kind.goals[size - 1]));
      }
      kind.sums[set] = static_cast<std::uint16_t>(least);
    }
  }
}

int SearchMatching::sum(std::size_t label, SlotMask cells) const {
  const Kind& kind = kinds_[label];
  return kind.sums.empty() ? assignment(cells, kind) : kind.sums[cells];
}

int SearchMatching::value(const SlidingBoard& board) const {
  int total = 0;
  for (std::size_t label = 1; label < kinds_.size(); ++label)
    total += sum(label, cells_with(board, cells_, static_cast<std::uint8_t>(label)));
  return total;
}

int SearchMatching::change(const SlidingBoard& board, Arc arc) const {
  const std::uint8_t label = board[arc.target];
  if (kinds_[label].goals.size() == 1) {
    const std::size_t goal = kinds_[label].goals[0];
    return distance(arc.target, goal) - distance(arc.source, goal);
  }
  const SlotMask after = cells_with(board, cells_, label);
  return sum(label, after) - sum(label, after ^ bit(arc.source) ^ bit(arc.target));
}

// Shortest augmenting paths with potentials (the Hungarian method): goals are given cells one by one.
int SearchMatching::assignment(SlotMask cells, const Kind& kind) const {
  constexpr int kInfinite = std::numeric_limits<int>::max() / 2;
  std::array<std::size_t, kMaxSlots + 1> place{};  // column -> cell, from 1
  const std::size_t size = kind.goals.size();
  for (std::size_t column = 1; cells != 0; cells &= cells - 1)
    place[column++] = static_cast<std::size_t>(lowest(cells));
  std::array<int, kMaxSlots + 1> row_potential{}, potential{};
  std::array<std::size_t, kMaxSlots + 1> row_of{},
      before{};  // of columns; column 0: the row that is to be given one
  for (std::size_t row = 1; row <= size; ++row) {
    std::array<int, kMaxSlots + 1> slack;
    std::array<bool, kMaxSlots + 1> used{};
    slack.fill(kInfinite);
    row_of[0] = row;
    std::size_t column = 0;
    do {
      used[column] = true;
      const std::size_t from = row_of[column];
      std::size_t next = 0;
      int least = kInfinite;
      for (std::size_t j = 1; j <= size; ++j) {
        if (used[j]) continue;
        const int cost = distance(place[j], kind.goals[from - 1]) - row_potential[from] - potential[j];
        if (cost < slack[j]) {
          slack[j] = cost;
          before[j] = column;
        }
        if (slack[j] < least) {
          least = slack[j];
          next = j;
        }
      }
      for (std::size_t j = 0; j <= size; ++j) {
        if (used[j]) {
          row_potential[row_of[j]] += least;
          potential[j] -= least;
        } else {
          slack[j] -= least;
        }
      }
      column = next;
    } while (row_of[column] != 0);
    for (; column != 0; column = before[column]) row_of[column] = row_of[before[column]];
  }
  int total = 0;
  for (std::size_t column = 1; column <= size; ++column)
    total += distance(place[column], kind.goals[row_of[column] - 1]);
  return total;
}

}  // namespace farthest
