// Maps kept by representatives: entries beside plain loops, and what is noticed as they are made.
#include "farthest/representatives.hpp"

#include <algorithm>
#include <array>
#include <thread>

#include "check.hpp"
#include "samples.hpp"

namespace farthest::test {
namespace {

using Digit = Representatives::Digit;

// The sides in every order; `told` sends pairs of numbers to one class, the second by the symmetry 1, which
// counts the moved side backwards.
Representatives pairs_of(const std::vector<Digit>& digits) {
  std::uint32_t reduced = 1, moved = 1;
  for (const Digit& digit : digits)
    (digit.moved ? moved : reduced) *= static_cast<std::uint32_t>(digit.radix);
  std::vector<std::uint32_t> told, moves;
  for (std::uint32_t a = 0; a < reduced; ++a) told.push_back(a / 2 << 8 | a % 2);
  for (std::uint32_t b = 0; b < moved; ++b) moves.push_back(b);
  for (std::uint32_t b = 0; b < moved; ++b) moves.push_back(moved - 1 - b);
  return {digits, told, moves};
}

const std::vector<std::vector<Digit>> kSides = {
    {{4, false}, {3, true}, {2, true}},
    {{3, true}, {4, false}, {2, true}, {2, false}},
    {{2, true}, {5, true}, {6, false}},
    {{8, false}},
};

TEST(entries_of_keys) {
  for (const auto& digits : kSides) {
    const Representatives kept = pairs_of(digits);
    std::vector<int> times(kept.entries());
    for (Key key = 0; key < kept.keys(); ++key) ++times[kept.entry(key)];
    CHECK(std::ranges::all_of(times, [](int each) { return each == 2; }));
  }
  // 2 * 3 of one side, of which the first digit is the greatest; 5 of the other.
  const Representatives kept = pairs_of({{2, false}, {5, true}, {3, false}});
  for (std::uint32_t x = 0; x < 2; ++x)
    for (std::uint32_t b = 0; b < 5; ++b)
      for (std::uint32_t y = 0; y < 3; ++y) {
        const std::uint32_t a = x * 3 + y;
        CHECK(kept.entry((x * 5 + b) * 3 + y) == a / 2 * 5 + (a % 2 == 0 ? b : 4 - b));
        CHECK(kept.entry(a, b) == kept.entry((x * 5 + b) * 3 + y));
      }
}

TEST(distances_are_taken_in_pieces) {
  Random random(3);
  for (const auto& digits : kSides) {
    const Representatives kept = pairs_of(digits);
    std::vector<std::uint8_t> expected(kept.entries()), distances;
    for (auto& each : expected) each = static_cast<std::uint8_t>(random.below(200));
    for (Key key = 0; key < kept.keys(); ++key) distances.push_back(expected[kept.entry(key)]);
    for (int round = 0; round < 50; ++round) {
      std::vector<std::uint8_t> entries(kept.entries(), Representatives::kUnset);
      const Key damaged = round % 2 == 0 ? kNoKey : random.below(kept.keys());
      auto told = distances;
      if (damaged != kNoKey) told[damaged] ^= 1;
      Key wrong = kNoKey;
      for (Key first = 0; first < kept.keys() && wrong == kNoKey;) {
        const auto count = std::min<Key>(1 + random.below(9), kept.keys() - first);
        wrong = kept.take(first, std::span(told).subspan(first, count), entries);
        first += count;
      }
      // The second key of the entry is noticed, be it the damaged one or the other.
      if (damaged == kNoKey)
        CHECK(wrong == kNoKey && entries == expected);
      else
        CHECK(wrong != kNoKey && wrong >= damaged && kept.entry(wrong) == kept.entry(damaged));
    }
  }
}

TEST(distances_are_taken_by_several_threads) {
  const Representatives kept = pairs_of({{64, false}, {50, true}});
  std::vector<std::uint8_t> expected(kept.entries()), distances;
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<std::uint8_t>(i % 200);
  for (Key key = 0; key < kept.keys(); ++key) distances.push_back(expected[kept.entry(key)]);
  for (const bool damaged : {false, true}) {
    distances[1234] = static_cast<std::uint8_t>(expected[kept.entry(1234)] + damaged);
    std::vector<std::uint8_t> entries(kept.entries(), Representatives::kUnset);
    std::array<Key, 4> wrong{};
    {
      std::vector<std::jthread> threads;
      for (std::size_t part = 0; part < wrong.size(); ++part)
        threads.emplace_back([&, part] {
          const auto size = kept.keys() / wrong.size(), first = part * size;
          wrong[part] = kept.take(first, std::span(distances).subspan(first, size), entries);
        });
    }
    // Whoever comes second to the entry notices the damage, of two threads as well.
    CHECK(std::ranges::all_of(wrong, [](Key each) { return each == kNoKey; }) == !damaged);
    CHECK(damaged || entries == expected);
  }
}

TEST(tables_that_do_not_fit_are_refused) {
  const auto made = [](std::vector<Digit> digits, std::vector<std::uint32_t> told,
                       std::vector<std::uint32_t> moves) {
    return Representatives(std::move(digits), std::move(told), std::move(moves));
  };
  const std::vector<Digit> digits = {{2, false}, {3, true}};
  CHECK(made(digits, {0, 256}, {0, 1, 2}).entries() == 6);
  CHECK_THROWS(made(digits, {0}, {0, 1, 2}));
  CHECK_THROWS(made(digits, {0, 1}, {0, 1, 2}));
  CHECK_THROWS(made(digits, {0, 512}, {0, 1, 2}));
  CHECK_THROWS(made(digits, {0, 0}, {0, 1, 3}));
  CHECK_THROWS(made(digits, {0, 0}, {0, 1}));
  CHECK_THROWS(made(digits, {0, 0}, {}));
  CHECK_THROWS(made({{2, false}, {0, true}}, {0, 0}, {0}));
  CHECK_THROWS(made({{Key{1} << 32, true}, {2, true}}, {0}, {0}));
  const Representatives kept = made(digits, {0, 256}, {0, 1, 2});
  const std::vector<std::uint8_t> some(4);
  std::vector<std::uint8_t> entries(6, Representatives::kUnset), few(5);
  CHECK_THROWS(kept.take(3, some, entries));
  CHECK_THROWS(kept.take(0, some, few));
  CHECK(kept.take(2, some, entries) == kNoKey);
  const std::vector<std::uint8_t> unset(1, Representatives::kUnset);
  CHECK(kept.take(0, unset, entries) == 0);
}

}  // namespace
}  // namespace farthest::test
