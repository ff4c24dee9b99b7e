// Tables by representatives, and of few bits: entries and distances beside plain loops.
#include "farthest/representatives.hpp"

#include <algorithm>
#include <memory>

#include "check.hpp"
#include "farthest/distance_table.hpp"
#include "samples.hpp"

namespace farthest::test {
namespace {

using Digit = Representatives::Digit;

// Digits on up to four sides, the sides in every order, with numbers that fill their bits and that do not.
const std::vector<std::vector<Digit>> kSides = {
    {{4, 0}, {3, 1}, {2, 1}},
    {{3, 1}, {4, 0}, {2, 1}, {2, 0}},
    {{2, 1}, {5, 2}, {6, 0}, {3, 3}, {1, 1}, {7, 2}},
    {{8, 0}},
};

TEST(entries_of_keys) {
  Random random(3);
  for (const auto& digits : kSides) {
    std::size_t sides = 1;
    for (const Digit& digit : digits) sides = std::max(sides, digit.side + 1);
    std::vector<std::size_t> sizes(sides, 1);
    for (const Digit& digit : digits) sizes[digit.side] *= digit.radix;
    std::vector<std::uint64_t> first(sizes[0]);
    for (auto& each : first) each = random.below(50);
    std::vector<std::uint32_t> lists(sizes[0] * (sides - 1));
    for (auto& each : lists) each = static_cast<std::uint32_t>(random.below(3));
    std::vector<std::vector<std::uint32_t>> terms;
    for (std::size_t side = 1; side < sides; ++side)
      for (auto& each : terms.emplace_back(3 * sizes[side]))
        each = static_cast<std::uint32_t>(random.below(50));
    const Representatives kept(digits, 200, first, lists, terms);
    for (Key key = 0; key < kept.keys(); ++key) {
      std::vector<std::size_t> numbers(sides), weights(sides, 1);
      Key rest = key;
      for (std::size_t i = digits.size(); i-- > 0; rest /= digits[i].radix) {
        numbers[digits[i].side] += rest % digits[i].radix * weights[digits[i].side];
        weights[digits[i].side] *= digits[i].radix;
      }
      Key expected = first[numbers[0]];
      for (std::size_t side = 1; side < sides; ++side)
        expected += terms[side - 1][lists[numbers[0] * (sides - 1) + side - 1] * sizes[side] + numbers[side]];
      CHECK(kept.entry(key) == expected);
    }
  }
}

TEST(tables_that_do_not_fit_are_refused) {
  using Terms = std::vector<std::vector<std::uint32_t>>;
  const auto made = [](const std::vector<Digit>& digits, Key entries, const std::vector<std::uint64_t>& first,
                       const std::vector<std::uint32_t>& lists,
                       const Terms& terms) { return Representatives(digits, entries, first, lists, terms); };
  const std::vector<Digit> digits = {{2, 0}, {3, 1}};
  const Terms terms = {{0, 1, 2}};
  CHECK(made(digits, 6, {0, 3}, {0, 0}, terms).keys() == 6);
  CHECK_THROWS(made(digits, 5, {0, 3}, {0, 0}, terms));
  CHECK_THROWS(made(digits, 6, {0, ~std::uint64_t{0}}, {0, 0}, terms));
  CHECK_THROWS(made(digits, 6, {0}, {0, 0}, terms));
  CHECK_THROWS(made(digits, 6, {0, 3}, {0, 1}, terms));
  CHECK_THROWS(made(digits, 6, {0, 3}, {0}, terms));
  CHECK_THROWS(made(digits, 6, {0, 3}, {0, 0}, {{0, 1}}));
  CHECK_THROWS(made(digits, 6, {0, 3}, {0, 0}, {{}}));
  CHECK_THROWS(made(digits, 6, {0, 3}, {}, {}));
  CHECK_THROWS(made({{2, 0}, {0, 1}}, 6, {0, 3}, {0, 0}, terms));
  CHECK_THROWS(made({{Key{1} << 32, 1}, {2, 1}}, 6, {0}, {0}, {{0}}));
  CHECK_THROWS(made({{2, 0}}, 6, {0, 3}, {0, 0, 0, 0, 0, 0, 0, 0}, {{0}, {0}, {0}, {0}}));
}

TEST(distances_of_few_bits) {
  Random random(5);
  for (const int bits : {2, 4, 8})
    for (const int base : {0, 3})
      for (const bool never : {false, true}) {
        const int top = (1 << bits) - 1, together = 8 / bits;
        std::vector<int> numbers(101);
        std::vector<std::uint8_t> bytes((numbers.size() * static_cast<std::size_t>(bits) + 7) / 8);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          numbers[i] = static_cast<int>(random.below(static_cast<std::uint64_t>(top) + 1));
          const auto at = i % static_cast<std::size_t>(together) * static_cast<std::size_t>(bits);
          bytes[i / static_cast<std::size_t>(together)] |= static_cast<std::uint8_t>(numbers[i] << at);
        }
        const DistanceTable table(bytes, numbers.size(), {bits, base, never}, nullptr);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          const int value = numbers[i] == top && never ? kUnreachable : numbers[i] + base;
          CHECK(table.clamped(i) == value);
          CHECK(table.bound(i) == (numbers[i] == 0 ? 0 : value));
        }
      }
  const std::vector<std::uint8_t> bytes(4);
  CHECK_THROWS(DistanceTable(bytes, 5, {8, 0, true}, nullptr));
  CHECK_THROWS(DistanceTable(bytes, 9, {4, 0, true}, nullptr));
  CHECK_THROWS(DistanceTable(bytes, ~Key{0}, {2, 0, true}, nullptr));
  CHECK_THROWS(DistanceTable(bytes, 4, {3, 0, true}, nullptr));
  CHECK_THROWS(DistanceTable(bytes, 4, {8, -1, true}, nullptr));
}

}  // namespace
}  // namespace farthest::test
