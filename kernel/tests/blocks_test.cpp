#include "farthest/blocks.hpp"

#include <algorithm>
#include <set>

#include "check.hpp"
#include "farthest/block_lines.hpp"

namespace farthest::test {
namespace {

// A board of 2 rows and `columns` columns without walls.
CellLinks two_rows(int columns) {
  CellLinks links;
  for (auto& way : links) way.fill(-1);
  for (int cell = 0; cell < 2 * columns; ++cell) {
    const auto i = static_cast<std::size_t>(cell);
    if (cell >= columns) links[0][i] = static_cast<std::int8_t>(cell - columns);
    if (cell < columns) links[1][i] = static_cast<std::int8_t>(cell + columns);
    if (cell % columns > 0) links[2][i] = static_cast<std::int8_t>(cell - 1);
    if (cell % columns < columns - 1) links[3][i] = static_cast<std::int8_t>(cell + 1);
  }
  return links;
}

std::vector<SlotMask> squares(int cells) {
  std::vector<SlotMask> covers;
  for (int cell = 0; cell < cells; ++cell) covers.push_back(bit(cell));
  return covers;
}

std::vector<SlotMask> flat(int columns) {
  std::vector<SlotMask> covers;
  for (int cell = 0; cell < 2 * columns; ++cell)
    covers.push_back(cell % columns < columns - 1 ? bit(cell) | bit(cell + 1) : 0);
  return covers;
}

Blocks sample(BlockMetric metric) {
  return Blocks(6, two_rows(3), {1, 2}, {15, 15}, {flat(3), squares(6)}, metric);
}

TEST(codes_of_blocks_are_those_of_their_boards) {
  const Blocks blocks = sample(BlockMetric::step);
  CHECK(blocks.width() == 8);
  int states = 0;
  std::vector<std::uint8_t> board(6);
  for (std::uint64_t code = 0; code < 4 * 15; ++code) {
    Placement placement;
    if (!blocks.decode(code, placement)) continue;
    ++states;
    blocks.draw(placement, board);
    CHECK(std::ranges::count(board, std::uint8_t{1}) == 2 && std::ranges::count(board, std::uint8_t{2}) == 2);
    Placement again;
    CHECK(blocks.read(board, again));
    CHECK(again.covered == placement.covered && blocks.encode<std::uint64_t>(again) == code);
  }
  CHECK(states == 4 * 6);  // a flat piece in 4 places, two squares on the 4 cells left
  Placement placement;
  CHECK(!blocks.decode(std::uint64_t{60}, placement) && !blocks.decode(kNoKey, placement));
  for (const std::vector<std::uint8_t>& wrong : {std::vector<std::uint8_t>{1, 0, 1, 2, 2, 0},
                                                 {1, 1, 2, 0, 0, 0},
                                                 {1, 1, 2, 3, 0, 2},
                                                 {0, 0, 1, 1, 2, 2}})
    CHECK(!blocks.read(wrong, placement));
}

TEST(metrics_of_blocks_reach_more_and_more) {
  std::size_t before = 0;
  for (const auto metric : {BlockMetric::step, BlockMetric::slide, BlockMetric::move}) {
    const Blocks blocks = sample(metric);
    std::vector<std::uint64_t> all = blocks.placements<std::uint64_t>(Placement{}, 1000);
    CHECK(all.size() == 24);
    std::size_t moves = 0;
    for (const std::uint64_t code : all) {
      std::vector<std::uint64_t> next, named;
      std::vector<BlockMove> names;
      blocks.neighbours<std::uint64_t>(std::span(&code, 1), next);
      blocks.moves(code, named, names);
      CHECK(next == named && names.size() == next.size());
      CHECK(std::set(next.begin(), next.end()).size() == next.size());
      for (const std::uint64_t other : next) {
        std::vector<std::uint64_t> back;
        blocks.neighbours<std::uint64_t>(std::span(&other, 1), back);
        CHECK(std::ranges::count(back, code) == 1);
      }
      moves += next.size();
    }
    CHECK(moves > before);
    before = moves;
  }
}

// Of 12 squares on 36 cells there are too many sets for tables.
TEST(kinds_of_many_sets_move_as_others) {
  CellLinks links;
  for (auto& way : links) way.fill(-1);
  for (int cell = 0; cell < 36; ++cell) {
    const auto i = static_cast<std::size_t>(cell);
    if (cell >= 6) links[0][i] = static_cast<std::int8_t>(cell - 6);
    if (cell < 30) links[1][i] = static_cast<std::int8_t>(cell + 6);
    if (cell % 6 > 0) links[2][i] = static_cast<std::int8_t>(cell - 1);
    if (cell % 6 < 5) links[3][i] = static_cast<std::int8_t>(cell + 1);
  }
  const Blocks blocks(36, links, {12, 1}, {15, 15}, {squares(36), squares(36)}, BlockMetric::step);
  SlotMask squares_at = 0b001101001001000100000010001000110011;
  for (int i = 0; i < 20; ++i, squares_at = (squares_at << 5 | squares_at >> 31) & first_slots(36)) {
    Placement placement;
    placement.anchors[0] = squares_at;
    placement.anchors[1] = bit(lowest(~squares_at));
    placement.covered = placement.anchors[0] | placement.anchors[1];
    const auto code = blocks.encode<Key>(placement);
    Placement again;
    CHECK(blocks.decode(code, again) && again.anchors[0] == squares_at && again.covered == placement.covered);
    std::set<Key> expected;
    for (std::size_t kind = 0; kind < 2; ++kind)
      for (SlotMask left = placement.anchors[kind]; left != 0; left &= left - 1)
        for (const auto& way : links) {
          const int to = way[static_cast<std::size_t>(lowest(left))];
          if (to < 0 || (placement.covered & bit(to)) != 0) continue;
          Placement after = placement;
          after.anchors[kind] ^= (left & -left) | bit(to);
          expected.insert(blocks.encode<Key>(after));
        }
    std::vector<Key> next;
    blocks.neighbours<Key>(std::span(&code, 1), next);
    CHECK(next.size() == expected.size() && std::set(next.begin(), next.end()) == expected);
  }
}

// Layers by the neighbours of single codes, each sorted.
std::vector<std::vector<Key>> layers_of(const Blocks& blocks, const std::vector<Key>& origins) {
  std::vector<std::vector<Key>> layers{origins};
  std::set<Key> found(origins.begin(), origins.end());
  while (!layers.back().empty()) {
    std::vector<Key> next, fresh;
    blocks.neighbours<Key>(layers.back(), next);
    for (const Key code : next)
      if (found.insert(code).second) fresh.push_back(code);
    std::ranges::sort(fresh);
    layers.push_back(fresh);
  }
  return layers;
}

void check_lines(const Blocks& blocks, std::size_t origins, int threads) {
  std::vector<Key> from = blocks.placements<Key>(Placement{}, origins - 1);
  std::ranges::sort(from);
  const auto layers = layers_of(blocks, from);
  for (const Isa isa : available_isas()) {
    const auto lines = block_lines(blocks, from, isa);
    for (std::size_t depth = 0; depth < layers.size(); ++depth) {
      if (depth > 0) {
        while (lines->expand(100, threads)) {
        }
        CHECK(lines->settle() == layers[depth].size());
      }
      std::vector<Key> codes = lines->codes(depth);
      std::ranges::sort(codes);
      CHECK(codes == layers[depth]);
    }
    CHECK(!lines->expand(100, threads) && lines->settle() == 0);
    const std::uint64_t bytes = lines->bytes();
    lines->forget(0);
    CHECK(lines->bytes() < bytes && lines->codes(0).empty());
  }
}

TEST(layers_of_lines_are_those_of_codes) {
  for (const auto metric : {BlockMetric::step, BlockMetric::slide, BlockMetric::move})
    for (const std::size_t origins : {1, 3}) {
      check_lines(sample(metric), origins, 1);
      // Squares on 10 free cells: 210 arrangements, frames of 4 lines.
      check_lines(Blocks(12, two_rows(6), {1, 4}, {15, 15}, {flat(6), squares(12)}, metric), origins, 2);
      // No room for squares on some cells, as on exits.
      auto some = squares(12);
      some[0] = some[7] = 0;
      check_lines(Blocks(12, two_rows(6), {1, 3, 1}, {15, 15, 15}, {flat(6), some, squares(12)}, metric),
                  origins, 1);
    }
}

// Two rows whose ends are joined: above the left half of a row lies the left half of the other one, turned.
TEST(rays_that_cross_lead_on) {
  CellLinks turned = two_rows(4);
  for (int cell = 0; cell < 4; ++cell) {
    turned[0][static_cast<std::size_t>(cell)] = static_cast<std::int8_t>(7 - cell);
    turned[1][static_cast<std::size_t>(7 - cell)] = static_cast<std::int8_t>(cell);
  }
  const Blocks blocks(8, turned, {1, 2}, {15, 15}, {squares(8), squares(8)}, BlockMetric::slide);
  Placement placement{};
  placement.anchors[0] = bit(1);
  placement.anchors[1] = bit(4) | bit(7);
  std::vector<Key> next;
  blocks.neighbours<Key>(std::vector{blocks.encode<Key>(placement)}, next);
  // The piece goes from 1 to the right by 2 to 3, though it gets to 2 by 6 too, upwards.
  placement.anchors[0] = bit(3);
  CHECK(std::ranges::count(next, blocks.encode<Key>(placement)) == 1);
  check_lines(blocks, 1, 1);
}

TEST(threads_find_the_same_lines) {
  // Layers of more lines than one thread expands alone.
  check_lines(Blocks(14, two_rows(7), {2, 1, 1, 1}, {15, 15, 15, 15},
                     {squares(14), squares(14), squares(14), squares(14)}, BlockMetric::slide),
              1, 3);
}

TEST(lines_need_alike_squares_and_codes_of_64_bits) {
  const std::vector covers{flat(3), squares(6)};
  const std::vector<Key> none;
  CHECK(block_lines(
            Blocks(6, two_rows(3), {1, 2}, {15, 15}, covers, BlockMetric::step, {{0, 62, 2}, {1, 60, 4}}, 9),
            none) == nullptr);
  CHECK(block_lines(Blocks(6, two_rows(3), {1, 1}, {15, 15}, covers, BlockMetric::step), none) == nullptr);
  CHECK(block_lines(Blocks(6, two_rows(3), {1, 2}, {15, 4}, covers, BlockMetric::step), none) == nullptr);
  CHECK(
      block_lines(Blocks(36, two_rows(18), {12, 1}, {15, 15}, {squares(36), squares(36)}, BlockMetric::step),
                  none) == nullptr);
  CHECK_THROWS(block_lines(sample(BlockMetric::step), std::vector<Key>{0}));
  const auto lines = block_lines(sample(BlockMetric::step), none);
  CHECK(!lines->expand(1, 1) && lines->settle() == 0 && lines->codes(1).empty());
  CHECK_THROWS(lines->codes(2));
}

TEST(blocks_of_no_state_have_no_neighbours) {
  const Blocks blocks = sample(BlockMetric::move);
  std::vector<std::uint64_t> next;
  const std::vector<std::uint64_t> codes{0, 60, kNoKey};  // 0: the squares lie on the flat piece
  blocks.neighbours<Key>(codes, next);
  CHECK(next.empty());
}

TEST(wide_codes_of_blocks) {
  // 13 squares of kinds of their own on 64 cells: 78 bits.
  CellLinks links;
  for (auto& way : links) way.fill(-1);
  links[3][12] = 13;
  links[2][13] = 12;
  const Blocks blocks(64, links, std::vector<int>(13, 1), std::vector<unsigned>(13, 15),
                      std::vector(13, squares(64)), BlockMetric::step);
  CHECK(blocks.width() == 16);
  Placement placement{};
  for (int i = 0; i < 13; ++i) placement.anchors[static_cast<std::size_t>(i)] = bit(i);
  placement.covered = first_slots(13);
  const auto code = blocks.encode<WideCode<2>>(placement);
  Placement again;
  CHECK(blocks.decode(code, again) && again.covered == placement.covered);
  std::vector<WideCode<2>> next;
  blocks.neighbours<WideCode<2>>(std::span(&code, 1), next);
  CHECK(next.size() == 1 && next[0][0] == code[0] && next[0][1] == code[1] + 1);
}

TEST(packed_codes_of_blocks_have_the_same_states_and_moves) {
  const Blocks numbers = sample(BlockMetric::slide);
  const std::vector<int> counts{1, 2};
  const std::vector<unsigned> ways{15, 15};
  const std::vector covers{flat(3), squares(6)};
  const std::vector<PackedField> fields{{0, 62, 2}, {1, 60, 4}};
  const Blocks packed(6, two_rows(3), counts, ways, covers, BlockMetric::slide, fields, 9);
  const auto states = numbers.placements<Key>(Placement{}, 1000);
  const auto wide = packed.placements<WideCode<2>>(Placement{}, 1000);
  CHECK(packed.width() == 9 && wide.size() == states.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    CHECK(wide[i][0] == states[i] / 15 << 62 && wide[i][1] == states[i] % 15 << 60);
    std::vector<Key> next;
    std::vector<WideCode<2>> wide_next;
    numbers.neighbours<Key>(std::span(&states[i], 1), next);
    packed.neighbours<WideCode<2>>(std::span(&wide[i], 1), wide_next);
    CHECK(next.size() == wide_next.size());
    for (std::size_t j = 0; j < next.size(); ++j)
      CHECK(wide_next[j][0] == next[j] / 15 << 62 && wide_next[j][1] == next[j] % 15 << 60);
  }
  Placement placement;
  for (const WideCode<2>& wrong :
       {WideCode<2>{~Key{0}, ~Key{0}}, {0, Key{15} << 60}, {wide[0][0], wide[0][1] | 1}})
    CHECK(!packed.decode(wrong, placement));
  const auto made = [&](const std::vector<PackedField>& of) {
    return [&, of] {
      static_cast<void>(Blocks(6, two_rows(3), counts, ways, covers, BlockMetric::step, of, 9));
    };
  };
  CHECK_THROWS(made({{0, 62, 2}})());              // one kind has none
  CHECK_THROWS(made({{0, 62, 2}, {0, 50, 3}})());  // 15 ranks
  CHECK_THROWS(made({{0, 62, 2}, {2, 60, 4}})());  // beyond the code
}

TEST(placements_of_blocks_are_limited_and_checked) {
  const Blocks blocks = sample(BlockMetric::step);
  Placement fixed{};
  fixed.anchors[1] = bit(0);
  CHECK(blocks.placements<std::uint64_t>(fixed, 1000).size() == 9);
  CHECK(blocks.placements<std::uint64_t>(fixed, 4).size() == 5);
  fixed.anchors[0] = bit(0);
  CHECK_THROWS(blocks.placements<std::uint64_t>(fixed, 4));
  fixed.anchors[0] = bit(2);
  CHECK_THROWS(blocks.placements<std::uint64_t>(fixed, 4));
  fixed.anchors[0] = bit(1) | bit(3);
  CHECK_THROWS(blocks.placements<std::uint64_t>(fixed, 4));
}

TEST(parts_of_placements_have_each_component_once) {
  const Blocks blocks = sample(BlockMetric::step);
  auto all = blocks.placements<Key>(Placement{}, 1000);
  std::ranges::sort(all);
  for (const std::uint64_t parts : {1, 2, 3, 50}) {
    std::vector<Key> placed, found;
    for (std::uint64_t part = 0; part < parts; ++part)
      for (const Key code : blocks.placements<Key>(Placement{}, 1000, part, parts)) {
        placed.push_back(code);
        const std::size_t before = found.size();
        CHECK(blocks.component<Key>(code, {}, 24, found) == (found.size() > before));
        CHECK(found.size() == before ||
              *std::min_element(found.begin() + static_cast<std::ptrdiff_t>(before), found.end()) == code);
      }
    std::ranges::sort(placed);
    std::ranges::sort(found);
    CHECK(placed == all && found == all);
  }
  std::vector<Key> found;
  const std::vector<Key> among{all[1], all[20]};
  CHECK(blocks.component<Key>(all[1], among, 24, found) && !found.empty());
  CHECK_THROWS(blocks.component<Key>(all[0], {}, 0, found));
  CHECK_THROWS(blocks.placements<Key>(Placement{}, 1000, 2, 2));
}

TEST(wrong_blocks_are_refused) {
  const auto make = [](int cells, std::vector<int> counts, std::vector<unsigned> ways,
                       std::vector<std::vector<SlotMask>> covers) {
    return Blocks(cells, two_rows(3), counts, ways, covers, BlockMetric::step);
  };
  CHECK_THROWS(make(0, {1}, {15}, {squares(0)}));
  CHECK_THROWS(make(65, {1}, {15}, {squares(64)}));
  CHECK_THROWS(make(3, {1}, {15}, {squares(3)}));  // neighbours beyond the cells
  CHECK_THROWS(make(6, {}, {}, {}));
  CHECK_THROWS(make(6, {1}, {16}, {squares(6)}));
  CHECK_THROWS(make(6, {1}, {15, 15}, {squares(6)}));
  CHECK_THROWS(make(6, {7}, {15}, {squares(6)}));
  CHECK_THROWS(make(6, {0}, {15}, {squares(6)}));
  CHECK_THROWS(make(6, {1}, {15}, {squares(5)}));
  CHECK_THROWS(make(6, {1}, {15}, {{2, 2, 4, 8, 16, 32}}));  // not at its first cell
  CHECK_THROWS(make(6, {1}, {15}, {{65, 2, 4, 8, 16, 32}}));
  CHECK_THROWS(Blocks(64, two_rows(3), std::vector<int>(22, 1), std::vector<unsigned>(22, 15),
                      std::vector(22, squares(64)), BlockMetric::step));
}

}  // namespace
}  // namespace farthest::test
