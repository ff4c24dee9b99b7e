#include "farthest/pattern.hpp"

#include <algorithm>
#include <deque>
#include <map>

#include "check.hpp"

namespace farthest::test {
namespace {

using Cells = std::vector<int>;

std::vector<PatternPassage> grid(int rows, int columns) {
  std::vector<PatternPassage> passages;
  const auto join = [&](int a, int b) {
    passages.push_back({a, b});
    passages.push_back({b, a});
  };
  for (int cell = 0; cell < rows * columns; ++cell) {
    if (cell % columns + 1 < columns) join(cell, cell + 1);
    if (cell / columns + 1 < rows) join(cell, cell + columns);
  }
  return passages;
}

// The distance of each placement that is reached: a 0-1 search over placements and cells of the blank.
std::map<Cells, int> naive(const std::vector<PatternPassage>& passages,
                           const std::vector<PatternOrigin>& origins) {
  struct State {
    int cost;
    Cells pieces;
    int blank;
  };
  std::deque<State> queue;
  for (const auto& [cells, blanks] : origins)
    for (SlotMask rest = blanks; rest != 0; rest &= rest - 1) queue.push_back({0, cells, lowest(rest)});
  std::map<std::pair<Cells, int>, int> seen;
  std::map<Cells, int> least;
  while (!queue.empty()) {
    const State state = queue.front();
    queue.pop_front();
    if (!seen.insert({{state.pieces, state.blank}, state.cost}).second) continue;
    least.insert({state.pieces, state.cost});  // costs never fall
    for (const auto& [from, to] : passages) {
      if (to != state.blank) continue;
      const auto piece = std::ranges::find(state.pieces, from);
      if (piece == state.pieces.end()) {
        queue.push_front({state.cost, state.pieces, from});
        continue;
      }
      State moved{state.cost + 1, state.pieces, from};
      moved.pieces[static_cast<std::size_t>(piece - state.pieces.begin())] = to;
      queue.push_back(moved);
    }
  }
  return least;
}

Key rank(int cells, const Cells& pieces) {
  Key key = 0;
  SlotMask free = first_slots(cells);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    key = key * (static_cast<Key>(cells) - i) + static_cast<Key>(below(free, pieces[i]));
    free ^= bit(pieces[i]);
  }
  return key;
}

struct alignas(64) Line {
  std::uint8_t bytes[64];
};

// All distances, by a search with so many threads.
std::vector<std::uint8_t> searched(const PatternSpace& space, int threads) {
  std::vector<Line> memory((space.work_bytes() + 63) / 64, Line{});
  const std::span<std::uint8_t> work(memory.data()->bytes, space.work_bytes());
  std::vector<std::uint8_t> distances(space.keys());
  PatternLayer layer = space.begin(work, distances, threads);
  std::uint64_t placements = layer.placements;
  for (int depth = 1; layer.regions; ++depth) {
    layer = space.step(depth, work, distances, threads);
    placements += layer.placements;
  }
  CHECK(placements ==
        static_cast<std::uint64_t>(std::ranges::count_if(distances, [](auto d) { return d != 255; })));
  return distances;
}

void check_search(int cells, int pieces, const std::vector<PatternPassage>& passages,
                  const std::vector<PatternOrigin>& origins) {
  std::vector<std::uint8_t> expected;
  for (const Isa isa : available_isas()) {
    const PatternSpace space(cells, pieces, passages, origins, isa);
    if (expected.empty()) {
      expected.assign(space.keys(), 255);
      for (const auto& [placement, cost] : naive(passages, origins))
        expected[rank(cells, placement)] = static_cast<std::uint8_t>(cost);
    }
    CHECK(searched(space, 1) == expected);
    CHECK(searched(space, 3) == expected);
  }
}

}  // namespace

TEST(patterns_of_grids) {
  for (int pieces = 1; pieces <= 5; ++pieces) {
    Cells first;
    for (int i = 0; i < pieces; ++i) first.push_back(i);
    check_search(6, pieces, grid(2, 3), {{first, bit(5)}});
  }
  check_search(9, 3, grid(3, 3), {{{8, 0, 4}, bit(1)}});
  check_search(16, 2, grid(4, 4), {{{5, 10}, bit(0)}});
}

TEST(patterns_of_larger_boards) {
  check_search(25, 2, grid(5, 5), {{{7, 12}, bit(24)}});  // 32 bits, lanes of one colour
  check_search(17, 2, grid(1, 17), {{{0, 16}, bit(8)}});  // the blank is shut in
  check_search(36, 1, grid(6, 6), {{{20}, bit(0)}});      // 64 bits
  check_search(64, 1, grid(8, 8), {{{63}, bit(62)}});
}

TEST(patterns_of_graphs) {
  const std::vector<PatternPassage> triangle{{0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 0}, {0, 2}, {2, 3}, {3, 2}};
  check_search(4, 2, triangle, {{{0, 1}, bit(2)}});
  check_search(4, 3, triangle, {{{0, 1, 3}, bit(2)}});
  // One way round, and a star, whose colours have 1 cell and 11.
  check_search(5, 2, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {0, 2}}, {{{0, 1}, bit(3)}});
  std::vector<PatternPassage> star;
  for (int cell = 1; cell < 12; ++cell) {
    star.push_back({0, cell});
    star.push_back({cell, 0});
  }
  check_search(12, 2, star, {{{1, 2}, bit(0)}});
  // Of 20 and of 40 cells with a triangle, which have lanes for all cells.
  for (const int cells : {20, 40}) {
    std::vector<PatternPassage> path = triangle;
    for (int cell = 3; cell + 1 < cells; ++cell) {
      path.push_back({cell, cell + 1});
      path.push_back({cell + 1, cell});
    }
    check_search(cells, 2, path, {{{0, 5}, bit(2)}});
  }
}

TEST(patterns_with_several_origins) {
  check_search(6, 2, grid(2, 3), {{{0, 1}, bit(5)}, {{0, 2}, bit(1) | bit(4)}});  // of two colours
  check_search(6, 2, grid(2, 3), {{{0, 1}, bit(5)}, {{1, 0}, bit(5)}});
}

TEST(patterns_refused) {
  const auto made = [](int cells, int pieces, const std::vector<PatternPassage>& passages, const Cells& at,
                       SlotMask blanks) {
    return PatternSpace(cells, pieces, passages, {{at, blanks}}, Isa::portable).keys();
  };
  const auto passages = grid(2, 2);
  CHECK(made(4, 2, passages, {0, 1}, bit(2)) == 12);
  CHECK_THROWS(made(1, 1, {}, {0}, 1));
  CHECK_THROWS(made(65, 1, {}, {0}, 2));
  CHECK_THROWS(made(4, 0, passages, {}, 1));
  CHECK_THROWS(made(4, 4, passages, {0, 1, 2, 3}, 1));
  CHECK_THROWS(made(4, 2, {{0, 4}}, {0, 1}, bit(2)));
  CHECK_THROWS(made(4, 2, {{1, 1}}, {0, 1}, bit(2)));
  CHECK_THROWS(made(4, 2, passages, {0}, bit(2)));
  CHECK_THROWS(made(4, 2, passages, {0, 0}, bit(2)));
  CHECK_THROWS(made(4, 2, passages, {0, 4}, bit(2)));
  CHECK_THROWS(made(4, 2, passages, {0, -1}, bit(2)));
  CHECK_THROWS(made(4, 2, passages, {0, 1}, 0));
  CHECK_THROWS(made(4, 2, passages, {0, 1}, bit(1)));
  CHECK_THROWS(made(4, 2, passages, {0, 1}, bit(4)));
  CHECK_THROWS(made(64, 8, grid(8, 8), {0, 1, 2, 3, 4, 5, 6, 7}, bit(8)));
  CHECK_THROWS(PatternSpace(4, 2, passages, {}, Isa::portable).keys());
  CHECK_THROWS(made(4, 2, {{-1, 0}}, {0, 1}, bit(2)));
}

TEST(pattern_buffers_are_checked) {
  const PatternSpace space(4, 2, grid(2, 2), {{{0, 1}, bit(2)}}, Isa::portable);
  std::vector<Line> memory(space.work_bytes() / 64 + 1, Line{});
  const std::span<std::uint8_t> all(memory.data()->bytes, memory.size() * 64);
  const auto work = all.first(space.work_bytes());
  std::vector<std::uint8_t> distances(12), fewer(11);
  CHECK_THROWS(space.begin(work, fewer, 1));
  CHECK_THROWS(space.begin(all, distances, 1));
  CHECK_THROWS(space.begin(all.subspan(1, space.work_bytes()), distances, 1));
  CHECK_THROWS(space.step(0, work, distances, 1));
  CHECK_THROWS(space.step(255, work, distances, 1));
}

// Whatever the working memory holds, nothing outside of it is touched: what sanitizers see.
TEST(pattern_work_may_hold_anything) {
  for (const Isa isa : available_isas()) {
    for (const auto& [cells, pieces] : {std::pair{9, 3}, std::pair{5, 4}, std::pair{20, 2}}) {
      Cells first;
      for (int i = 0; i < pieces; ++i) first.push_back(i);
      const PatternSpace space(cells, pieces, grid(1, cells), {{first, bit(pieces)}}, isa);
      std::vector<Line> memory(space.work_bytes() / 64, Line{});
      const std::span<std::uint8_t> work(memory.data()->bytes, space.work_bytes());
      std::vector<std::uint8_t> distances(space.keys());
      space.begin(work, distances, 1);
      std::uint32_t noise = 1;
      for (std::uint8_t& byte : work)
        byte = static_cast<std::uint8_t>((noise = noise * 1664525 + 1013904223) >> 24);
      for (int depth = 1; depth < 5; ++depth) space.step(depth, work, distances, 2);
      CHECK(std::ranges::all_of(distances, [](auto d) { return d < 5 || d == 255; }));
    }
  }
}

}  // namespace farthest::test
