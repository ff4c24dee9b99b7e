#include "farthest/blocks.hpp"

#include <algorithm>
#include <set>

#include "check.hpp"

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
  CHECK(blocks.code_bytes() == 8);
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

TEST(blocks_of_no_state_have_no_neighbours) {
  const Blocks blocks = sample(BlockMetric::move);
  std::vector<std::uint64_t> next;
  const std::vector<std::uint64_t> codes{0, 60, kNoKey};  // 0: the squares lie on the flat piece
  blocks.successors(codes, next);
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
  CHECK(blocks.code_bytes() == 16);
  Placement placement{};
  for (int i = 0; i < 13; ++i) placement.anchors[static_cast<std::size_t>(i)] = bit(i);
  placement.covered = first_slots(13);
  const auto code = blocks.encode<Code128>(placement);
  Placement again;
  CHECK(blocks.decode(code, again) && again.covered == placement.covered);
  std::vector<Code128> next;
  blocks.neighbours<Code128>(std::span(&code, 1), next);
  CHECK(next.size() == 1 && next[0] == code + 1);
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
