// Tables of rows that shards share against what a move does to every key, decoded and moved by hand.
#include "farthest/rows.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "check.hpp"
#include "samples.hpp"

namespace farthest::test {
namespace {

struct RowSample {
  Layout layout;
  std::vector<Move> moves;
};

// Boards of a grid: a label moves to a neighbouring slot that holds class 0.
std::vector<Move> grid_moves(int rows, int columns) {
  std::vector<Move> moves;
  const auto add = [&](int a, int b) {
    for (const auto& [blank, piece] : {std::pair{a, b}, std::pair{b, a}}) {
      Move move{Board(static_cast<std::size_t>(rows * columns)), bit(blank), bit(piece)};
      std::iota(move.to.begin(), move.to.end(), std::uint8_t{0});
      std::swap(move.to[static_cast<std::size_t>(blank)], move.to[static_cast<std::size_t>(piece)]);
      moves.push_back(move);
    }
  };
  for (int slot = 0; slot < rows * columns; ++slot) {
    if (slot % columns + 1 < columns) add(slot, slot + 1);
    if (slot / columns + 1 < rows) add(slot, slot + columns);
  }
  return moves;
}

RowSample grid(int rows, int columns, std::vector<int> counts) {
  std::vector<std::uint8_t> parity;
  if (std::ranges::all_of(counts, [](int count) { return count == 1; }))
    for (int slot = 0; slot < rows * columns; ++slot)
      parity.push_back(static_cast<std::uint8_t>((slot / columns + slot % columns) & 1));
  return {Layout(rows * columns, std::move(counts), parity), grid_moves(rows, columns)};
}

std::vector<int> distinct(int slots) { return std::vector<int>(static_cast<std::size_t>(slots), 1); }

RowSample pancakes(int slots) {
  std::vector<Move> moves;
  for (int first = 2; first <= slots; ++first) {
    Move move{Board(static_cast<std::size_t>(slots)), 0, 0};
    std::iota(move.to.begin(), move.to.end(), std::uint8_t{0});
    std::reverse(move.to.begin(), move.to.begin() + first);
    moves.push_back(move);
  }
  return {Layout(slots, distinct(slots), {}), moves};
}

RowSample random_sample(const Layout& layout, Random& random) {
  return {layout, moves_within(layout, 7, random)};
}

// Where a program takes each bit of the line from, as word * 64 + bit.
std::vector<int> origins(const ProgramTable& programs, const Layout& layout, std::uint32_t number) {
  const Program& program = programs.programs()[number];
  std::vector<int> out(layout.words_per_line() * 64, -1);
  for (std::uint64_t word = 0; program.identity && word < layout.words_per_line(); ++word)
    for (int b = 0; b < layout.bits(); ++b)
      out[word * 64 + static_cast<unsigned>(b)] = static_cast<int>(word) * 64 + b;
  const auto add = [&](std::size_t to, int from, const auto& source) {
    for (int b = 0; b < layout.bits(); ++b)
      if (source(b) != kNoBit) out[to * 64 + static_cast<unsigned>(b)] = from * 64 + source(b);
  };
  for (const WordCopy& copy : program.copies) add(copy.to, copy.from, [](int b) { return b; });
  for (const WordShuffle& shuffle : program.shuffles)
    add(shuffle.to, shuffle.from,
        [&](int b) { return programs.maps()[shuffle.map][static_cast<std::size_t>(b)]; });
  return out;
}

// The key that the move leads from to the board; kNoKey where the move is not legal there.
Key before(const Layout& layout, const Move& move, const Board& classes, const Board& twists) {
  Board source(classes.size()), turned(classes.size());
  for (std::size_t slot = 0; slot < classes.size(); ++slot) {
    const int modulus = layout.moduli()[slot], delta = move.delta.empty() ? 0 : move.delta[slot] % modulus;
    source[slot] = classes[move.to[slot]];
    turned[slot] = static_cast<std::uint8_t>((twists[move.to[slot]] + modulus - delta) % modulus);
  }
  return legal(move, source) ? layout.encode(source, turned) : kNoKey;
}

// What the symmetry makes of the key's arrangement.
Key mirrored(const Layout& layout, const Symmetry& symmetry, Key key) {
  const Board board = board_of(layout, key);
  Board image(board.size());
  for (std::size_t slot = 0; slot < board.size(); ++slot)
    image[symmetry.to[slot]] = symmetry.classes[board[slot]];
  return layout.encode(image);
}

// The key of the space that stands for the layout's.
Key kept(const ArrangementSpace& space, const ShardOrbits& orbits, Key key) {
  if (orbits.symmetries.empty()) return key;
  const Key each = space.keys_per_shard(), outer = key / each;
  return orbits.shards[outer] * each +
         mirrored(space.layout(), orbits.symmetries[orbits.chosen[outer]], key) % each;
}

// key: of the layout; its outer number has a shard.
void check_key(const ArrangementSpace& space, Key key, std::map<std::uint32_t, std::vector<int>>& known,
               const ShardOrbits& orbits = {}) {
  const Layout& layout = space.layout();
  Board classes(static_cast<std::size_t>(layout.slots())), twists(classes.size());
  layout.decode(key, classes, twists);
  const auto [word, bit] = space.place(kept(space, orbits, key));
  const std::uint64_t words = layout.words_per_line(), shard = word / space.words_per_shard();
  const std::uint64_t line = word / words % space.lines_per_shard();
  std::size_t link = 0;
  for (const Move& move : space.moves()) {
    const Key source = before(layout, move, classes, twists);
    if (source == kNoKey) continue;
    if (link == space.sources(shard).size()) return CHECK(link < space.sources(shard).size());
    const auto from = space.place(kept(space, orbits, source));
    const RowEntry row = space.rows(shard)[link][line];
    CHECK(space.sources(shard)[link] == from.word / space.words_per_shard());
    CHECK(row.line == from.word / words % space.lines_per_shard());
    auto& bits = known[row.program];
    if (bits.empty()) bits = origins(space.programs(), layout, row.program);
    const auto expected = from.word % words * 64 + static_cast<std::uint64_t>(from.bit);
    CHECK(bits[word % words * 64 + static_cast<unsigned>(bit)] == static_cast<int>(expected));
    ++link;
  }
  CHECK(link == space.sources(shard).size());
}

// All keys, or some of a large space.
void check_rows(const RowSample& sample, Random& random) {
  constexpr Key kAll = 5000, kSome = 1000;
  const Layout& layout = sample.layout;
  for (int classes = 1; classes <= layout.upper_classes(); ++classes) {
    ArrangementSpace space(layout, sample.moves, classes, Isa::portable);
    space.prepare(all_shards(space), 1 + classes % 2);
    std::map<std::uint32_t, std::vector<int>> known;
    for (Key i = 0; i < (layout.keys() <= kAll ? layout.keys() : kSome); ++i)
      check_key(space, layout.keys() <= kAll ? i : random.below(layout.keys()), known);
  }
}

TEST(rows_of_grids_are_what_moves_do_to_every_key) {
  Random random(51);
  for (const RowSample& sample :
       {grid(2, 3, distinct(6)), grid(2, 3, {1, 2, 3}), grid(3, 3, distinct(9)), grid(3, 3, {1, 2, 3, 3}),
        grid(3, 3, {2, 2, 2, 3}), grid(3, 4, distinct(12)), grid(2, 6, {1, 1, 1, 1, 1, 1, 6}),
        grid(3, 4, {2, 3, 1, 3, 3})})
    check_rows(sample, random);
}

TEST(rows_of_pancakes_and_random_moves_are_what_moves_do_to_every_key) {
  Random random(52);
  check_rows(pancakes(6), random);
  check_rows(pancakes(10), random);
  for (const Sample& sample : small_samples())
    check_rows({sample.layout(), moves_for(sample, random)}, random);
  check_rows({Layout(13, {1, 2, 2, 4, 4}, {}), ring_moves(13)}, random);
  check_rows(random_sample(Layout(13, {1, 2, 2, 4, 4}, {}), random), random);
  check_rows(random_sample(Layout(10, distinct(10), {}), random), random);
}

TEST(rows_of_orbits_and_twists_are_what_moves_do_to_every_key) {
  Random random(53);
  const std::vector<Orbit> interleaved{{0b01010101, 1}, {0b10101010, 1}};
  for (const Layout& layout :
       {Layout(8, {1, 2, 1, 1, 1, 2}, {}, interleaved),                                  // no twists
        Layout(8, {2, 1, 1, 2, 2}, {}, interleaved),                                     //
        Layout(6, distinct(6), {}, {{0b010101, 2}, {0b101010, 3}}, {0, 1, 2, 3, 4, 5}),  // of all
        Layout(6, distinct(6), {}, {{0b100011, 2}, {0b011100, 3}}, {4, 3, 1, 0}),        // of some
        Layout(6, {1, 1, 1, 2, 1}, {}, {{0b001010, 4}, {0b110101, 6}}, {1, 4, 0, 2}),    //
        Layout(7, {2, 1, 1, 3}, {}, {{0b0100101, 7}, {0b1011010, 1}}, {1}),              //
        Layout(7, {1, 1, 1, 1, 3}, {}, {{0b0010110, 3}, {0b1101001, 5}}, {2, 0}),        //
        Layout(3, distinct(3), {}, {{0b111, 50}}, {0, 1, 2}),                            // in line numbers
        Layout(7, distinct(7), {}, {{first_slots(7), 3}}, {0, 1, 2, 3, 4, 5})}) {
    check_rows(random_sample(layout, random), random);
    check_rows(random_sample(layout, random), random);
  }
}

// Of the outer numbers that the group takes to each other the least has a shard.
ShardOrbits orbits_of(const Layout& layout, int shard_classes, const std::vector<Symmetry>& group) {
  std::uint64_t outer = 1;
  for (int cls = 0; cls < shard_classes; ++cls) outer *= layout.radix(cls);
  ShardOrbits orbits{group, {}, {}, {}, {}};
  for (std::uint64_t number = 0; number < outer; ++number) {
    std::vector<std::uint64_t> images;
    for (const Symmetry& symmetry : group)
      images.push_back(mirrored(layout, symmetry, number * (layout.keys() / outer)) /
                       (layout.keys() / outer));
    const auto least = std::ranges::min_element(images);
    orbits.chosen.push_back(static_cast<std::uint32_t>(least - images.begin()));
    if (*least < number) {
      orbits.shards.push_back(orbits.shards[*least]);
      continue;
    }
    orbits.shards.push_back(static_cast<std::uint32_t>(orbits.representatives.size()));
    orbits.representatives.push_back(static_cast<std::uint32_t>(number));
    orbits.weights.push_back(static_cast<std::uint32_t>(std::set(images.begin(), images.end()).size()));
  }
  return orbits;
}

// A board of three rows of three with class at[i] in slot i, and all that turns and mirrors make of it alike.
void check_square(const std::vector<std::uint8_t>& at, const std::vector<int>& starts, std::size_t order) {
  std::vector<int> counts(1U + *std::ranges::max_element(at));
  for (const auto cls : at) ++counts[cls];
  std::vector<std::uint8_t> parity;
  for (std::uint8_t slot = 0; counts.size() == 9 && slot < 9; ++slot) parity.push_back(slot & 1U);
  const Layout layout(9, counts, parity, {}, {}, {}, starts);
  std::vector<Symmetry> group;
  for (int mirror = 0; mirror < 8; ++mirror) {
    Symmetry symmetry{{}, std::vector<std::uint8_t>(counts.size())};
    for (int slot = 0; slot < 9; ++slot) {
      int row = slot / 3, column = slot % 3;
      if ((mirror & 1) != 0) row = 2 - row;
      if ((mirror & 2) != 0) column = 2 - column;
      if ((mirror & 4) != 0) std::swap(row, column);
      symmetry.to.push_back(static_cast<std::uint8_t>(3 * row + column));
    }
    for (std::size_t slot = 0; slot < 9; ++slot) symmetry.classes[at[slot]] = at[symmetry.to[slot]];
    bool fits = true;
    for (std::size_t slot = 0; slot < 9; ++slot)
      fits = fits && symmetry.classes[at[slot]] == at[symmetry.to[slot]];
    if (fits && symmetry.classes[0] == 0) group.push_back(symmetry);
  }
  CHECK(group.size() == order);
  const std::vector<Move> moves = grid_moves(3, 3);
  for (const int classes : starts) {
    if (classes > layout.upper_classes()) break;
    const ShardOrbits orbits = orbits_of(layout, classes, group);
    ArrangementSpace space(layout, moves, classes, Isa::portable, orbits);
    space.prepare(all_shards(space), 2);
    std::map<std::uint32_t, std::vector<int>> known;
    std::uint64_t weights = 0;
    for (std::uint64_t shard = 0; shard < space.shards(); ++shard) {
      weights += space.weight(shard);
      for (Key key = 0; key < space.keys_per_shard(); key += 7)
        check_key(space, orbits.representatives[shard] * space.keys_per_shard() + key, known, orbits);
    }
    CHECK(weights == orbits.shards.size() && space.shard_levels() == 1);
  }
}

TEST(rows_of_representatives_are_what_moves_and_symmetries_do_to_every_key) {
  check_square({7, 1, 3, 2, 8, 5, 4, 6, 0}, {1, 3, 5, 7, 8}, 2);
  check_square({8, 1, 3, 2, 4, 6, 5, 7, 0}, {1, 3}, 2);  // which bit depends on the parity
  check_square({1, 5, 2, 6, 0, 7, 3, 8, 4}, {1, 5}, 8);
  check_square({1, 3, 2, 3, 0, 3, 2, 3, 1}, {1, 3}, 8);
  check_square({0, 2, 1, 3, 6, 4, 1, 5, 0}, {1, 2}, 4);
}

TEST(what_symmetries_do_not_keep_is_refused) {
  const RowSample board = grid(2, 2, distinct(4));
  const Layout layout(4, distinct(4), {0, 1, 1, 0}, {}, {}, {}, {1});
  const Symmetry same{{0, 1, 2, 3}, {0, 1, 2, 3}}, mirror{{0, 2, 1, 3}, {0, 2, 1, 3}};
  const ShardOrbits good{{same, mirror}, {0, 1, 3}, {1, 2, 1}, {0, 1, 1, 2}, {0, 0, 1, 0}};
  ArrangementSpace(layout, board.moves, 1, Isa::portable, good);
  const auto check_refused = [&](auto change) {
    ShardOrbits bad = good;
    change(bad);
    CHECK_THROWS(ArrangementSpace(layout, board.moves, 1, Isa::portable, bad));
  };
  check_refused([](ShardOrbits& bad) { bad.symmetries[1].to = {0, 2, 1}; });
  check_refused([](ShardOrbits& bad) { bad.symmetries[1].to = {0, 2, 2, 3}; });
  check_refused([](ShardOrbits& bad) { bad.symmetries[1].classes = {0, 2, 4, 3}; });
  check_refused([](ShardOrbits& bad) { bad.symmetries[1].classes = {1, 0, 2, 3}; });
  check_refused([](ShardOrbits& bad) { bad.representatives[1] = 4; });
  check_refused([](ShardOrbits& bad) { bad.weights.pop_back(); });
  check_refused([](ShardOrbits& bad) { bad.shards[3] = 3; });
  check_refused([](ShardOrbits& bad) { bad.chosen[3] = 2; });
  check_refused([](ShardOrbits& bad) { bad.chosen[2] = 0; });
  check_refused([](ShardOrbits& bad) { bad.shards.pop_back(); });
  CHECK_THROWS(Layout(9, distinct(9), {}, {}, {}, {}, {9}));
}

TEST(shards_share_tables) {
  const RowSample board = grid(3, 4, distinct(12));
  for (int classes = 1; classes <= board.layout.upper_classes(); ++classes) {
    ArrangementSpace space(board.layout, board.moves, classes, Isa::portable);
    std::set<const RowEntry*> tables;
    space.prepare({0}, 1);
    CHECK(space.prepared(0) && !space.prepared(1));
    space.prepare(all_shards(space), 3);
    std::size_t links = 0;
    for (const auto shard : all_shards(space)) {
      tables.insert(space.rows(shard).begin(), space.rows(shard).end());
      links += space.rows(shard).size();
    }
    CHECK(tables.size() == space.tables() && space.tables() <= 80 && links == space.shards() * 34 / 12);
    CHECK(space.row_bytes() == tables.size() * space.lines_per_shard() * sizeof(RowEntry));
    const std::vector<const RowEntry*> first(space.rows(0).begin(), space.rows(0).end());
    space.prepare(all_shards(space), 2);  // built once
    CHECK(std::ranges::equal(first, space.rows(0)));
  }
}

}  // namespace
}  // namespace farthest::test
