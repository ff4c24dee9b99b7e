#include <algorithm>

#include "check.hpp"
#include "samples.hpp"

namespace farthest::test {
namespace {

std::vector<SlotMask> subsets(SlotMask free, int count) {
  std::vector<SlotMask> out;
  // Ascending as numbers is colexicographic: by the greatest element first.
  for (SlotMask set = 0;; set = (set - free) & free) {
    if (std::popcount(set) == count) out.push_back(set);
    if (set == free) return out;
  }
}

TEST(binomials_are_pascals) {
  for (int n = 0; n <= kMaxSlots; ++n) {
    CHECK(binomial(n, 0) == 1 && binomial(n, n) == 1);
    CHECK(binomial(n, -1) == 0 && binomial(n, n + 1) == 0);
    for (int k = 1; k < n; ++k) CHECK(binomial(n, k) == binomial(n - 1, k - 1) + binomial(n - 1, k));
  }
  CHECK(binomial(64, 32) == 1832624140942590534u);
}

TEST(sets_are_ranked_in_colexicographic_order) {
  for (const SlotMask free : {SlotMask{0x1ff}, SlotMask{0x2d5b}, SlotMask{0x8100000000000881}}) {
    const int f = std::popcount(free);
    for (int count = 0; count <= f; ++count) {
      const auto sets = subsets(free, count);
      CHECK(sets.size() == binomial(f, count));
      for (std::uint64_t rank = 0; rank < sets.size(); ++rank) {
        CHECK(rank_set(sets[rank], free) == rank);
        CHECK(unrank_set(rank, count, free) == sets[rank]);
      }
    }
  }
}

TEST(sets_of_64_slots_round_trip) {
  Random random(1);
  for (int count = 0; count <= 64; ++count) {
    const std::uint64_t sets = binomial(64, count);
    for (int i = 0; i < 50; ++i) {
      const std::uint64_t rank = i == 0 ? 0 : i == 1 ? sets - 1 : random.below(sets);
      const SlotMask set = unrank_set(rank, count, ~SlotMask{0});
      CHECK(std::popcount(set) == count);
      CHECK(rank_set(set, ~SlotMask{0}) == rank);
    }
  }
}

}  // namespace
}  // namespace farthest::test
