#include "search_grid.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace farthest {

namespace {

// Directions of the blank in ascending order of the cell that it goes to: up, left, right, down. 3 - d is
// back.
constexpr int kDirections = 4;
constexpr int kNone = 4;

template <int kRows, int kColumns>
struct Grid {
  static constexpr int kCells = kRows * kColumns;
  static constexpr bool leads(int cell, int direction) {
    constexpr int kLastRow = kCells - kColumns;
    return direction == 0   ? cell >= kColumns
           : direction == 1 ? cell % kColumns > 0
           : direction == 2 ? cell % kColumns < kColumns - 1
                            : cell < kLastRow;
  }
  static constexpr int to(int cell, int direction) {
    constexpr int kSteps[kDirections] = {-kColumns, -1, 1, kColumns};
    return cell + kSteps[direction];
  }
  static constexpr int children(int cell, int back) {
    int count = 0;
    for (int d = 0; d < kDirections; ++d) count += d != back && leads(cell, d);
    return count;
  }
};

// A label takes 4 bits, that of cell 0 the lowest.
struct PackedGoal {
  Word labels = 0, told = 0;
};
constexpr int kMostCells = 16;
constexpr int kMostCost = 15;

struct GridPlan {
  // [blank][direction]: for each label in 4 bits what a move takes off the slack: 1 + the change of the
  // table.
  Word costs[kMostCells][kDirections] = {};
  std::vector<PackedGoal> goals[kMostCells];  // by the blank's cell
};

// One search. The slack of a node is the bound less depth and value; below 0 it is cut off.
struct GridRun {
  std::int64_t left;             // budget, less the children of all nodes expanded
  std::uint32_t goal_cells;      // of the blank
  bool cut[kMostCost + 1] = {};  // by how much
  bool ended = false;            // by a solution, not the budget
  Word costs[kMostCells][kDirections];
  const GridPlan& plan;
  SearchRecord& record;
  const std::uint8_t* deepest;                      // where in `way` the depth is the bound
  std::uint8_t way[GridSearch::kDeepest + 2] = {};  // the blank's cells, from the root on

  bool at_goal(int cell, Word board) const {
    return std::ranges::any_of(
        plan.goals[cell], [&](const PackedGoal& goal) { return ((board ^ goal.labels) & goal.told) == 0; });
  }
  std::span<const std::uint8_t> moves(const std::uint8_t* end) const { return {way + 1, end}; }
};

Word label_at(Word board, int cell) { return board >> (4 * cell) & 15; }

template <class Grid>
class GridWalk final : public GridSearch {
 public:
  explicit GridWalk(GridPlan plan) : plan_(std::move(plan)) {}

  SearchPiece run(const SlidingBoard& board, int value, const SearchNode& root,
                  const SearchLimits& limits) const override {
    SearchRecord record(root, limits);
    const std::int64_t budget = limits.budget < 0 ? std::numeric_limits<std::int64_t>::max() : limits.budget;
    const auto blank = static_cast<int>(std::ranges::find(board, 0) - board.begin());
    Word packed = 0;
    for (int cell = 0; cell < Grid::kCells; ++cell)
      packed |= Word{board[static_cast<std::size_t>(cell)]} << (4 * cell);
    GridRun run{budget, 0, {}, false, {}, plan_, record, nullptr};
    const bool goal = run.at_goal(blank, packed);
    const int estimate = root.depth + std::max(value, goal ? 0 : 1);
    if (estimate > limits.bound || goal) {
      if (estimate > limits.bound)
        record.cut(estimate);
      else
        record.solution({});
      return record.take(0);
    }
    run.deepest = run.way + (limits.bound - root.depth);
    int back = kNone;
    for (int d = 0; d < kDirections; ++d)
      if (Grid::leads(blank, d) && Grid::to(blank, d) == root.last) back = d;
    std::copy_n(&plan_.costs[0][0], kMostCells * kDirections, &run.costs[0][0]);
    for (int cell = 0; cell < Grid::kCells; ++cell)
      run.goal_cells |= static_cast<std::uint32_t>(!plan_.goals[cell].empty()) << cell;
    // The root is expanded whatever the budget.
    const int children = Grid::children(blank, back);
    run.left = std::max<std::int64_t>(run.left, children);
    const std::int64_t before = run.left;
    from_root(run, blank, back, packed, limits.bound - root.depth - value);
    for (int by = 1; by <= kMostCost; ++by)
      if (run.cut[by]) record.cut(limits.bound + by);
    return record.take(before - run.left);
  }

 private:
  // Searches below a node within the bound; way: where the blank's cell is written. Whether the search has
  // ended.
  template <int kBlank, int kBack>
  static bool below(GridRun& run, Word board, int slack, std::uint8_t* way) {
    *way = kBlank;
    if ((run.goal_cells >> kBlank & 1) != 0 && run.at_goal(kBlank, board)) [[unlikely]]
      return run.ended = run.record.solution(run.moves(way + 1));
    if (way == run.deepest) [[unlikely]] {  // what is no goal is one move away at least
      run.cut[1] = true;
      return false;
    }
    constexpr int kChildren = Grid::children(kBlank, kBack);
    if ((run.left -= kChildren) < 0) [[unlikely]] {
      run.left += kChildren;
      leave(run, board, kBlank, kBack, way);
      return true;
    }
    return child<kBlank, kBack, 0>(run, board, slack, way) ||
           child<kBlank, kBack, 1>(run, board, slack, way) ||
           child<kBlank, kBack, 2>(run, board, slack, way) || child<kBlank, kBack, 3>(run, board, slack, way);
  }

  template <int kBlank, int kBack, int kDirection>
  [[gnu::always_inline]] static bool child(GridRun& run, Word board, int slack, std::uint8_t* way) {
    if constexpr (kDirection != kBack && Grid::leads(kBlank, kDirection)) {
      constexpr int kTo = Grid::to(kBlank, kDirection);
      const Word label = board >> (4 * kTo) & 15;
      const int rest = slack - static_cast<int>(run.costs[kBlank][kDirection] >> (4 * label) & 15);
      if (rest < 0) {
        run.cut[-rest] = true;
        return false;
      }
      const Word moved = board ^ label << (4 * kTo) ^ label << (4 * kBlank);
      if (below<kTo, kDirections - 1 - kDirection>(run, moved, rest, way + 1)) [[unlikely]] {
        after(run, board, slack, way, kBack, kDirection);
        return true;
      }
    }
    return false;
  }

  // The search has ended below the child in a direction: what of the children after it?
  [[gnu::noinline]] static void after(GridRun& run, Word board, int slack, std::uint8_t* way, int back,
                                      int direction) {
    const int blank = *way;
    for (int d = direction + 1; d < kDirections; ++d) {
      if (d == back || !Grid::leads(blank, d)) continue;
      if (run.ended) {
        ++run.left;
        continue;
      }
      const int to = Grid::to(blank, d);
      const Word label = label_at(board, to);
      const int rest = slack - static_cast<int>(run.costs[blank][d] >> (4 * label) & 15);
      if (rest < 0)
        run.cut[-rest] = true;
      else {
        way[1] = static_cast<std::uint8_t>(to);
        leave(run, board ^ label << (4 * to) ^ label << (4 * blank), to, kDirections - 1 - d, way + 1);
      }
    }
  }

  // What below() does for the root. Its blank may have come from nowhere, so that its directions are tried in
  // a loop: a function for each cell that a blank can start on would be used once.
  static void from_root(GridRun& run, int blank, int back, Word board, int slack) {
    *run.way = static_cast<std::uint8_t>(blank);
    if (run.way == run.deepest) {
      run.cut[1] = true;
      return;
    }
    run.left -= Grid::children(blank, back);
    for (int d = 0; d < kDirections; ++d) {
      if (d == back || !Grid::leads(blank, d)) continue;
      const int to = Grid::to(blank, d);
      const Word label = label_at(board, to);
      const int rest = slack - static_cast<int>(run.costs[blank][d] >> (4 * label) & 15);
      if (rest < 0) {
        run.cut[-rest] = true;
        continue;
      }
      const Word moved = board ^ label << (4 * to) ^ label << (4 * blank);
      if (kBelow[static_cast<std::size_t>(to * kDirections + kDirections - 1 - d)](run, moved, rest,
                                                                                   run.way + 1))
        return after(run, board, slack, run.way, back, d);
    }
  }

  [[gnu::noinline]] static void leave(GridRun& run, Word board, int blank, int back,
                                      const std::uint8_t* way) {
    std::vector<std::uint8_t> labels;
    for (int cell = 0; cell < Grid::kCells; ++cell)
      labels.push_back(static_cast<std::uint8_t>(label_at(board, cell)));
    run.record.left(std::move(labels), Grid::to(blank, back), run.moves(way + 1));
  }

  // below() of each cell and direction that leads off it.
  using Below = bool (*)(GridRun&, Word, int, std::uint8_t*);
  template <int kBlank, int kBack>
  static constexpr Below below_from() {
    if constexpr (Grid::leads(kBlank, kBack))
      return &below<kBlank, kBack>;
    else
      return nullptr;
  }
  template <int... kPlaces>
  static constexpr std::array<Below, sizeof...(kPlaces)> all_below(std::integer_sequence<int, kPlaces...>) {
    return {below_from<kPlaces / kDirections, kPlaces % kDirections>()...};
  }
  static constexpr auto kBelow = all_below(std::make_integer_sequence<int, Grid::kCells * kDirections>());

  GridPlan plan_;
};

template <class Grid>
bool is_grid(const SearchGraph& graph) {
  if (graph.cells() != Grid::kCells) return false;
  std::size_t arc = 0;
  for (int cell = 0; cell < Grid::kCells; ++cell)
    for (int d = 0; d < kDirections; ++d) {
      if (!Grid::leads(cell, d)) continue;
      if (arc == graph.arcs().size() || graph.arcs()[arc].target != cell ||
          graph.arcs()[arc].source != Grid::to(cell, d))
        return false;
      ++arc;
    }
  return arc == graph.arcs().size();
}

template <class Grid>
std::unique_ptr<const GridSearch> on_grid(const SearchGraph& graph, std::span<const std::int16_t> changes) {
  if (!is_grid<Grid>(graph) || graph.kinds() > kMostCells) return nullptr;
  GridPlan plan;
  std::size_t at = 0;
  for (int cell = 0; cell < Grid::kCells; ++cell)
    for (int d = 0; d < kDirections; ++d) {
      if (!Grid::leads(cell, d)) continue;
      for (std::size_t label = 0; label < graph.kinds(); ++label, ++at) {
        const int cost = 1 + changes[at];
        if (label == 0) continue;
        if (cost < 0 || cost > kMostCost) return nullptr;
        plan.costs[cell][d] |= static_cast<Word>(cost) << (4 * label);
      }
    }
  for (std::size_t cell = 0; cell < graph.cells(); ++cell)
    for (const GoalPattern& goal : graph.goals(cell)) {
      PackedGoal packed;
      for (std::size_t i = 0; i < graph.cells(); ++i) {
        packed.labels |= Word{goal.labels[i]} << (4 * i);
        packed.told |= Word{goal.told[i]} % 16 << (4 * i);
      }
      plan.goals[cell].push_back(packed);
    }
  return std::make_unique<GridWalk<Grid>>(std::move(plan));
}

}  // namespace

std::unique_ptr<const GridSearch> grid_search(const SearchGraph& graph,
                                              std::span<const std::int16_t> changes) {
  if (auto found = on_grid<Grid<3, 3>>(graph, changes)) return found;
  if (auto found = on_grid<Grid<3, 4>>(graph, changes)) return found;
  if (auto found = on_grid<Grid<4, 3>>(graph, changes)) return found;
  return on_grid<Grid<4, 4>>(graph, changes);
}

}  // namespace farthest
