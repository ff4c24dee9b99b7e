#include "farthest/recount.hpp"

#include <algorithm>
#include <array>

#include "check.hpp"

namespace farthest::test {
namespace {

// Four blocks of 64 keys in a ring: move 0 leads to the next block, key k to key (k + 1) % 64; move 1 takes
// it back.
struct Ring {
  static constexpr std::size_t kBlocks = 4;
  std::vector<std::uint32_t> leads;
  std::vector<std::uint16_t> kinds;
  std::vector<std::uint16_t> tables = std::vector<std::uint16_t>(128);

  Ring() {
    for (std::uint32_t block = 0; block < kBlocks; ++block) {
      leads.insert(leads.end(), {(block + 1) % 4, (block + 3) % 4});
      kinds.insert(kinds.end(), {0, 1});
    }
    for (std::uint16_t k = 0; k < 64; ++k) {
      tables[(k + 1U) % 64] = k;  // from the bit there to the bit here
      tables[64 + k] = static_cast<std::uint16_t>((k + 1) % 64);
    }
  }
  BlockMoves moves() const { return {1, 2, leads, kinds, tables}; }
};

bool refused(std::size_t words, std::size_t moves, const Ring& ring) {
  try {
    const BlockMoves made(words, moves, ring.leads, ring.kinds, ring.tables);
    return false;
  } catch (const InvalidArgument&) {
    return true;
  }
}

TEST(recount_finds_the_layers_of_a_ring_and_compares_them_with_the_map) {
  const Ring ring;
  const BlockMoves moves = ring.moves();
  std::vector<Word> layers(4), map(4);
  std::vector<std::uint32_t> counts(4);
  layers[0] = 1;  // block 0, key 0
  counts[0] = 1;
  map[1] = Word{1} << 1;  // one move on: right
  const std::array<std::uint32_t, 2> odd{1, 3}, even{0, 2};
  Recounted found = recount(moves, odd, {layers, counts, layers, counts, false}, {map, 1, 1}, 2);
  CHECK(found.states == 2U);
  CHECK(found.wrong == 1U);  // one move back: block 3, key 63, whose bit is not set
  CHECK(found.first == 3U * 64 + 63);
  CHECK(layers[1] == Word{1} << 1);
  CHECK(layers[3] == Word{1} << 63);
  found = recount(moves, even, {layers, counts, layers, counts, false}, {map, 1, 0}, 1);
  CHECK(found.states == 2U);  // the origin is not found again
  CHECK(found.wrong == 0U);
  CHECK(layers[0] == Word{0});
  CHECK(layers[2] == (Word{1} << 2 | Word{1} << 62));
}

TEST(recount_of_two_arrays_excludes_both_layers) {
  const Ring ring;
  std::vector<Word> frontier{1, 2, 0, 0}, fresh(4), map(8, ~Word{0});
  std::vector<std::uint32_t> counts{1, 1, 0, 0}, fresh_counts(4);
  const std::array<std::uint32_t, 4> all{0, 1, 2, 3};
  const Recounted found =
      recount(ring.moves(), all, {frontier, counts, fresh, fresh_counts, true}, {map, 2, 3}, 1);
  CHECK(found.states == 2U);  // each is a neighbour of the other, so not new
  CHECK(found.wrong == 0U);
  CHECK(fresh[2] == Word{1} << 2);
  CHECK(fresh[3] == Word{1} << 63);
  CHECK(fresh_counts[2] == 1U);
}

TEST(recount_refuses_tables_and_layers_that_do_not_fit) {
  CHECK(!refused(1, 2, Ring()));
  CHECK(refused(0, 2, Ring()));
  CHECK(refused(2000, 2, Ring()));
  CHECK(refused(1, 0, Ring()));
  CHECK(refused(1, 3, Ring()));
  Ring wrong;
  wrong.leads[3] = 4;
  CHECK(refused(1, 2, wrong));
  wrong = Ring();
  wrong.kinds[0] = 2;
  CHECK(refused(1, 2, wrong));
  wrong = Ring();
  wrong.tables[5] = 64;
  CHECK(refused(1, 2, wrong));
  wrong = Ring();
  wrong.leads[3] = kNoBlock;
  CHECK(!refused(1, 2, wrong));
  const Ring ring;
  std::vector<Word> layers(4), map(3);
  std::vector<std::uint32_t> counts(4);
  const std::array<std::uint32_t, 1> beyond{4}, first{0};
  CHECK_THROWS(recount(ring.moves(), first, {layers, counts, layers, counts, false}, {map, 1, 0}, 1));
  map.resize(4);
  CHECK_THROWS(recount(ring.moves(), beyond, {layers, counts, layers, counts, false}, {map, 1, 0}, 1));
  CHECK_THROWS(recount(ring.moves(), first, {layers, counts, layers, counts, false}, {map, 3, 0}, 1));
}

}  // namespace
}  // namespace farthest::test
