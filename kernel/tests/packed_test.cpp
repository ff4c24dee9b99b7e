// Packed boards against boards as lists of contents, moved cell by cell.
#include "farthest/packed.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "check.hpp"
#include "farthest/expansion.hpp"
#include "samples.hpp"

namespace farthest::test {
namespace {

using Contents = std::vector<std::uint8_t>;

// `cells` fields of `bits` in a row, from the highest bit of the first word on; with a sum the last has none.
PackedBoards boards_of(int cells, int bits, std::optional<std::uint32_t> sum) {
  PackedBoards boards{{}, sum, {ContentTable(256)}};
  std::iota(boards.tables[0].begin(), boards.tables[0].end(), std::uint8_t{0});
  int word = 0, shift = 64;
  for (int cell = 0; cell < cells - (sum ? 1 : 0); ++cell) {
    if (shift < bits) ++word, shift = 64;
    shift -= bits;
    boards.fields.push_back({word, shift, bits});
  }
  return boards;
}

template <class Code>
Code packed(const PackedBoards& boards, const Contents& contents) {
  Code code{};
  for (std::size_t i = 0; i < boards.fields.size(); ++i) {
    const PackedField& field = boards.fields[i];
    const std::uint64_t bits = std::uint64_t{contents[i]} << field.shift;
    if constexpr (std::is_same_v<Code, Key>)
      code |= bits;
    else
      code[static_cast<std::size_t>(field.word)] |= bits;
  }
  return code;
}

Contents moved(const PackedBoards& boards, const PackedMove& move, const Contents& contents) {
  Contents after(contents.size());
  for (std::size_t i = 0; i < contents.size(); ++i)
    after[static_cast<std::size_t>(move.to[i])] =
        boards.tables[static_cast<std::size_t>(move.turns[i])][contents[i]];
  return after;
}

bool can(const PackedBoards& boards, const PackedMove& move, const Contents& contents) {
  for (const PackedGuard& guard : move.guards) {
    int inside = 0, outside = 0;
    for (std::size_t i = 0; i < contents.size(); ++i)
      if (std::ranges::count(guard.kinds, int{boards.kinds[i][contents[i]]}) > 0)
        ++((guard.cells >> i & 1) != 0 ? inside : outside);
    if (inside > 0 && !(guard.joined && outside == 0)) return false;
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(contents.size(), kMaxSlots); ++i) {
    if ((move.require >> i & 1) != 0 && contents[i] != 0) return false;
    if ((move.forbid >> i & 1) != 0 && contents[i] == 0) return false;
  }
  return true;
}

enum class Asked { kNothing, kBlanks, kGuards };

template <class Code>
void check_successors(std::size_t width, int cells, int bits, bool with_sum, Asked asked) {
  const bool masked = asked != Asked::kNothing;
  Random random(static_cast<std::uint64_t>(cells * 100 + bits));
  const int values = std::min(1 << bits, cells);
  Contents start(static_cast<std::size_t>(cells));
  for (std::size_t i = 0; i < start.size(); ++i)
    start[i] = static_cast<std::uint8_t>(i % static_cast<std::size_t>(values));
  std::optional<std::uint32_t> sum;
  if (with_sum) sum = std::accumulate(start.begin(), start.end(), std::uint32_t{0});
  PackedBoards boards = boards_of(cells, bits, sum);
  if (!with_sum) {  // turns two contents into each other
    boards.tables.push_back(boards.tables[0]);
    std::swap(boards.tables[1][0], boards.tables[1][1]);
  }
  if (asked == Asked::kGuards)  // three kinds, and contents of none; other ones in every other cell
    for (int cell = 0; cell < cells; ++cell) {
      boards.kinds.emplace_back(256);
      for (std::size_t content = 0; content < 256; ++content)
        boards.kinds.back()[content] =
            static_cast<std::uint8_t>((content + cell % 2) % 7 < 4 ? content % 4 : 0);
    }
  std::vector<PackedMove> moves;
  for (int i = 0; i < 12; ++i) {
    const auto to = random.permutation(cells);
    PackedMove move{{to.begin(), to.end()}, std::vector<int>(start.size(), 0), 0, 0};
    if (!with_sum) move.turns[random.below(start.size())] = 1;
    if (masked && i > 2) move.require = bit(static_cast<int>(random.below(start.size())));
    if (masked && i % 2 == 0) move.forbid = bit(static_cast<int>(random.below(start.size()))) & ~move.require;
    for (int guard = 0; asked == Asked::kGuards && guard < i % 3; ++guard) {
      const std::vector<int> kinds = guard == 0 ? std::vector{1 + i % 3} : std::vector{1, 3};
      const SlotMask here = bit(static_cast<int>(random.below(start.size())));
      move.guards.push_back({kinds, i % 2 == 0 ? here : first_slots(cells) & ~here, i % 4 == 2});
    }
    moves.push_back(move);
  }
  std::vector<Code> codes;
  std::multiset<Code> wanted;
  for (std::size_t round = 0; round < 150; ++round) {
    std::shuffle(start.begin(), start.end(), std::mt19937_64(static_cast<std::uint64_t>(round)));
    codes.push_back(packed<Code>(boards, start));
    for (const PackedMove& move : moves)
      if (can(boards, move, start)) wanted.insert(packed<Code>(boards, moved(boards, move, start)));
  }
  for (const Isa isa : available_isas()) {
    const auto expander = packed_expander(width, boards, moves, isa);
    CHECK(expander->width() == width);
    const auto found = expand<Code>(expander_of<Code>(*expander, width), std::span<const Code>(codes), 1);
    CHECK(std::multiset<Code>(found.begin(), found.end()) == wanted);
  }
}

TEST(packed_boards_have_the_successors_of_boards) {
  for (const Asked asked : {Asked::kNothing, Asked::kBlanks, Asked::kGuards})
    for (const bool with_sum : {false, true}) {
      check_successors<Key>(8, 9, 4, with_sum, asked);
      check_successors<Key>(8, 16, 4, true, asked);
      check_successors<WideCode<2>>(16, 25, 5, true, asked);
      check_successors<WideCode<2>>(13, 20, 5, with_sum, asked);
      check_successors<WideCode<4>>(27, 40, 5, with_sum, asked);
      check_successors<WideCode<8>>(48, 60, 6, with_sum, asked);
    }
  check_successors<WideCode<16>>(96, 100, 7, false, Asked::kNothing);
}

TEST(packed_fields_may_be_in_any_order_and_the_last_cell_may_hold_more) {
  using Code = WideCode<16>;
  PackedBoards boards = boards_of(3, 6, 208);  // the last cell holds 200, which is cut to the bits of a field
  boards.fields = {{15, 0, 6}, {0, 58, 6}};
  Code code{};
  code[15] = 5, code[0] = Key{3} << 58;
  Code wanted{};
  wanted[15] = 200 & 63, wanted[0] = Key{5} << 58;
  for (const Isa isa : available_isas()) {
    const auto expander = packed_expander(128, boards, {{{1, 2, 0}, {0, 0, 0}, 0, 0}}, isa);
    std::vector<Code> found;
    expander_of<Code>(*expander, 128).successors(std::span(&code, 1), found);
    CHECK(found == std::vector{wanted});
  }
}

TEST(packed_boards_that_do_not_fit_are_refused) {
  const PackedMove swap{{1, 0, 2}, {0, 0, 0}, 0, 0};
  const auto make = [&](std::size_t width, const PackedBoards& boards, const PackedMove& move) {
    return packed_expander(width, boards, {move}) != nullptr;
  };
  const PackedBoards good = boards_of(3, 8, {});
  CHECK(make(8, good, swap));
  CHECK_THROWS(make(8, boards_of(4, 8, {}), swap));
  CHECK_THROWS(make(8, boards_of(65, 1, {}), swap));
  CHECK_THROWS(make(129, boards_of(1025, 1, {}), swap));
  PackedMove asking{std::vector<int>(65), std::vector<int>(65, 0), 0, 0};
  std::iota(asking.to.begin(), asking.to.end(), 0);
  CHECK(make(9, boards_of(65, 1, {}), asking));
  asking.require = 1;
  CHECK_THROWS(make(9, boards_of(65, 1, {}), asking));
  asking.require = 0, asking.guards = {{{1}, 0, false}};
  PackedBoards many = boards_of(65, 1, {});
  many.kinds.assign(65, ContentTable(256));
  CHECK_THROWS(make(9, many, asking));
  CHECK_THROWS(make(8, boards_of(3, 9, {}), swap));
  CHECK_THROWS(make(2, good, swap));
  PackedBoards overlapping = good;
  overlapping.fields[2].shift += 7;
  CHECK_THROWS(make(8, overlapping, swap));
  CHECK(make(3, good, swap));
  CHECK_THROWS(make(8, good, {{1, 1, 2}, {0, 0, 0}, 0, 0}));
  CHECK_THROWS(make(8, good, {{1, 0, 3}, {0, 0, 0}, 0, 0}));
  CHECK_THROWS(make(8, good, {{1, 0, 2}, {0, 0, 1}, 0, 0}));
  CHECK_THROWS(make(8, good, {{1, 0, 2}, {0, 0, 0}, 8, 0}));
  CHECK_THROWS(make(8, good, {{1, 0, 2}, {0, 0, 0}, 0, 0, {{{1}, 1, false}}}));
  PackedBoards kinds = good;
  kinds.kinds.assign(3, ContentTable(256));
  CHECK(make(8, kinds, {{1, 0, 2}, {0, 0, 0}, 0, 0, {{{1}, 1, false}}}));
  CHECK_THROWS(make(8, kinds, {{1, 0, 2}, {0, 0, 0}, 0, 0, {{{1}, 8, false}}}));
  CHECK_THROWS(make(8, kinds, {{1, 0, 2}, {0, 0, 0}, 0, 0, {{{256}, 1, false}}}));
  kinds.kinds.pop_back();
  CHECK_THROWS(make(8, kinds, swap));
  PackedBoards few = good;
  few.tables[0].pop_back();
  CHECK_THROWS(make(8, few, swap));
  PackedBoards changed = boards_of(3, 8, 24);
  CHECK(make(8, changed, swap));
  std::swap(changed.tables[0][0], changed.tables[0][1]);
  CHECK_THROWS(make(8, changed, swap));
  const auto expander = packed_expander(8, good, {swap});
  CHECK_THROWS((expander_of<WideCode<2>>(*expander, 16), 0));
}

}  // namespace
}  // namespace farthest::test
