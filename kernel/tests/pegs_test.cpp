// Peg spaces against sets of boards, layer by layer, in both directions.
#include "farthest/pegs.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "check.hpp"
#include "samples.hpp"

namespace farthest::test {
namespace {

struct Holes {
  int count = 0;
  std::vector<Jump> jumps;
};

// Holes at the points, and all jumps in the directions, both ways.
Holes board_of(const std::vector<std::pair<int, int>>& points, const std::vector<std::pair<int, int>>& ways) {
  std::map<std::pair<int, int>, int> number;
  for (const auto& point : points) number.emplace(point, static_cast<int>(number.size()));
  Holes board{static_cast<int>(points.size()), {}};
  for (const auto& [point, from] : number)
    for (const auto& [dr, dc] : ways)
      for (const int sign : {1, -1}) {
        const auto over = number.find({point.first + sign * dr, point.second + sign * dc});
        const auto to = number.find({point.first + 2 * sign * dr, point.second + 2 * sign * dc});
        if (over != number.end() && to != number.end())
          board.jumps.push_back({bit(from) | bit(over->second), bit(to->second)});
      }
  return board;
}

Holes triangle(int rows) {
  std::vector<std::pair<int, int>> points;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c <= r; ++c) points.emplace_back(r, c);
  return board_of(points, {{0, 1}, {1, 0}, {1, 1}});
}

// A square with its corners of side `cut` away.
Holes cross(int side, int cut, bool diagonal) {
  std::vector<std::pair<int, int>> points;
  for (int r = 0; r < side; ++r)
    for (int c = 0; c < side; ++c)
      if (std::min(r, side - 1 - r) + std::min(c, side - 1 - c) >= cut) points.emplace_back(r, c);
  std::vector<std::pair<int, int>> ways{{0, 1}, {1, 0}};
  if (diagonal) ways.insert(ways.end(), {{1, 1}, {1, -1}});
  return board_of(points, ways);
}

std::vector<Jump> reversed(std::vector<Jump> jumps) {
  for (Jump& jump : jumps) std::swap(jump.full, jump.empty);
  return jumps;
}

struct PegLayout {
  std::vector<int> index_holes;
  std::vector<DroppedHole> dropped;
};

// Drops holes greedily in the given order, by elimination over the parities that all jumps keep.
PegLayout layout_of(const Holes& board, SlotMask origin, const std::vector<int>& order) {
  // Reduced basis of the changes: a hole that leads none of them carries a parity of its own.
  std::vector<SlotMask> basis;  // by leading hole, the last one in `order`
  std::vector<int> leading;
  for (const Jump& jump : board.jumps) {
    SlotMask change = jump.full | jump.empty;
    for (std::size_t i = 0; i < basis.size(); ++i)
      if ((change >> leading[i] & 1) != 0) change ^= basis[i];
    if (change == 0) continue;
    const int lead = *std::ranges::find_if(order, [&](int hole) { return (change >> hole & 1) != 0; });
    for (std::size_t i = 0; i < basis.size(); ++i)
      if ((basis[i] >> lead & 1) != 0) basis[i] ^= change;
    basis.push_back(change);
    leading.push_back(lead);
  }
  PegLayout layout;
  for (const int hole : order)
    if (std::ranges::find(leading, hole) != leading.end()) layout.index_holes.push_back(hole);
  for (const int hole : order) {
    if (std::ranges::find(leading, hole) != leading.end()) continue;
    DroppedHole dropped{hole, 0, (origin >> hole & 1) != 0};
    for (std::size_t i = 0; i < basis.size(); ++i) {
      if ((basis[i] >> hole & 1) == 0) continue;
      const auto at = std::ranges::find(layout.index_holes, leading[i]) - layout.index_holes.begin();
      dropped.parity |= std::uint64_t{1} << at;
      dropped.flipped ^= (origin >> leading[i] & 1) != 0;
    }
    layout.dropped.push_back(dropped);
  }
  return layout;
}

Key key_of(const PegLayout& layout, SlotMask board) {
  Key key = 0;
  for (std::size_t i = 0; i < layout.index_holes.size(); ++i)
    key |= (board >> layout.index_holes[i] & 1) << i;
  return key;
}

std::set<SlotMask> jumped(const std::vector<Jump>& jumps, const std::set<SlotMask>& boards) {
  std::set<SlotMask> out;
  for (const SlotMask board : boards)
    for (const Jump& jump : jumps)
      if ((board & jump.full) == jump.full && (board & jump.empty) == 0)
        out.insert(board ^ (jump.full | jump.empty));
  return out;
}

// All layers from `origin` on, and the board is one of its class throughout.
void check_layers(const Holes& board, const std::vector<Jump>& jumps, SlotMask origin,
                  const PegLayout& layout, int level, Isa isa, int threads) {
  PegSpace space(layout.index_holes, layout.dropped, jumps, level, isa);
  CHECK(space.keys() == Key{1} << layout.index_holes.size() && space.graded() && !space.reversible());
  CHECK(space.shards() == std::uint64_t{1} << (level - 1));
  std::set<SlotMask> expected{origin};
  Bitmap frontier(space, {key_of(layout, origin)}), fresh(space), found(space);
  while (!expected.empty()) {
    expected = jumped(jumps, expected);
    step(space, all_shards(space), {{frontier.view(space)}, {fresh.view(space)}, {}, {{found.view(space)}}},
         threads);
    std::set<Key> keys;
    for (const SlotMask one : expected) keys.insert(key_of(layout, one));
    CHECK(keys.size() == expected.size() && fresh.keys(space) == keys && fresh.flagged(space));
    std::swap(frontier, fresh);
  }
  CHECK(board.count <= kMaxSlots && found.flagged(space));
}

std::vector<int> random_order(int holes, Random& random) {
  const auto order = random.permutation(holes);
  return {order.begin(), order.end()};
}

// The board without any pegs but those that a few random jumps backwards leave: an end to go back from.
void check_board(const Holes& board, int rounds, std::uint64_t seed) {
  Random random(seed);
  for (int i = 0; i < rounds; ++i) {
    const SlotMask all = first_slots(board.count);
    const int hole = static_cast<int>(random.below(static_cast<std::uint64_t>(board.count)));
    const bool back = i % 2 == 1;
    const SlotMask origin = back ? bit(hole) : all ^ bit(hole);
    const auto jumps = back ? reversed(board.jumps) : board.jumps;
    const PegLayout layout = layout_of(board, origin, random_order(board.count, random));
    const PegSpace whole(layout.index_holes, layout.dropped, jumps, 1, Isa::portable);
    for (const Isa isa : available_isas()) {
      check_layers(board, jumps, origin, layout, 1, isa, 2);
      const auto levels = static_cast<std::uint64_t>(whole.shard_levels());
      check_layers(board, jumps, origin, layout, 1 + static_cast<int>(random.below(levels)), isa, 1);
    }
  }
}

TEST(small_peg_boards_layer_by_layer) {
  check_board(triangle(4), 20, 31);
  check_board(cross(4, 1, false), 20, 32);
  check_board(cross(4, 1, true), 20, 33);
  check_board(cross(5, 2, true), 8, 34);
  check_board(board_of({{0, 0}, {0, 1}, {0, 2}, {0, 3}}, {{0, 1}}), 4, 35);
  check_board(board_of({{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6}, {2, 2}}, {{0, 1}}), 6, 36);
}

TEST(peg_boards_of_many_lines_layer_by_layer) {
  check_board(triangle(5), 6, 37);
  check_board(cross(5, 1, false), 2, 38);
}

TEST(steps_of_some_shards_of_a_peg_space) {
  const Holes board = triangle(5);
  Random random(39);
  const PegLayout layout = layout_of(board, first_slots(15) ^ 1, random_order(15, random));
  std::set<Key> keys;
  for (int i = 0; i < 2000; ++i) keys.insert(random.below(Key{1} << layout.index_holes.size()));
  const PegSpace whole(layout.index_holes, layout.dropped, board.jumps, 1, Isa::portable);
  Bitmap frontier(whole, keys), expected(whole);
  step(whole, {0}, {{frontier.view(whole)}, {expected.view(whole)}, {}, {}}, 1);
  for (int level = 2; level <= whole.shard_levels(); ++level)
    for (const Isa isa : available_isas()) {
      const PegSpace space(layout.index_holes, layout.dropped, board.jumps, level, isa);
      Bitmap fresh(space);
      for (std::uint64_t shard = 0; shard < space.shards(); ++shard) {
        std::vector<LayerView>
            pieces;  // each with memory of its own, so that the sanitizers see what goes wrong
        for (const auto source : space.sources(shard)) pieces.push_back(frontier.part(space, source, 1));
        step(space, {shard}, {pieces, {fresh.part(space, shard, 1)}, {}, {}}, 1);
      }
      CHECK(fresh.words == expected.words);
      CHECK(stepped_in_parts(space, frontier, Bitmap(space)) == fresh);
    }
}

TEST(wrong_peg_spaces_are_refused) {
  const std::vector<int> three{0, 1, 2};
  const std::vector<Jump> jump{{0b011, 0b100}};
  const auto refused = [&](const std::vector<int>& holes, const std::vector<DroppedHole>& dropped,
                           const std::vector<Jump>& jumps, int level) {
    CHECK_THROWS(PegSpace(holes, dropped, jumps, level, Isa::portable));
  };
  refused({0, 1, 1}, {}, jump, 1);
  refused({0, 1, 64}, {}, jump, 1);
  refused({0, 1, -1}, {}, jump, 1);
  refused(three, {{2, 1, false}}, jump, 1);
  refused(three, {{3, 8, false}}, jump, 1);
  refused({0, 1}, {{2, 3, false}}, jump, 1);  // both change: their sum does not
  refused(three, {}, {{0b011, 0b010}}, 1);
  refused(three, {}, {{0b011, 0b1000}}, 1);
  refused(three, {}, {{0, 0}}, 1);
  refused(three, {}, {{0b001, 0b010}}, 1);
  refused(three, {}, {{0b011, 0b100}, {0b100, 0b011}}, 1);
  refused({0, 1, 2, 3}, {}, {{0b0111, 0b1000}}, 1);
  refused(three, {}, jump, 0);
  refused(three, {}, jump, 2);
  std::vector<int> many(49);
  std::iota(many.begin(), many.end(), 0);
  refused(many, {}, jump, 1);
  CHECK(PegSpace(three, {}, jump, 1, Isa::portable).keys() == 8);
}

}  // namespace
}  // namespace farthest::test
