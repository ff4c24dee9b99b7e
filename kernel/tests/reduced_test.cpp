// Steps of reduced spaces against sets: lines of all sizes, linear and other maps, every instruction set.
#include "farthest/reduced.hpp"

#include <algorithm>
#include <numeric>

#include "check.hpp"
#include "farthest/line_map.hpp"
#include "farthest/step.hpp"
#include "samples.hpp"

namespace farthest::test {
namespace {

using LineOf = std::vector<std::uint16_t>;

LineOf some_permutation(std::size_t keys, Random& random) {
  LineOf map(keys);
  std::iota(map.begin(), map.end(), std::uint16_t{0});
  for (std::size_t i = keys; i > 1; --i) std::swap(map[i - 1], map[random.below(i)]);
  return map;
}

// Of the numbers of `digits` bits: their digits permuted, of which one may follow from the others; any
// invertible matrix; a constant added.
LineOf some_linear(int digits, int kind, Random& random) {
  const auto count = static_cast<std::size_t>(digits);
  std::vector<unsigned> columns(count);
  while (true) {
    const auto to = random.permutation(digits + (kind == 1));
    for (std::size_t i = 0; i < count; ++i) {
      columns[i] = to[i] < digits ? 1U << to[i] : 0U;
      if (kind == 1 && to[count] < digits) columns[i] ^= 1U << to[count];
      if (kind == 2) columns[i] = static_cast<unsigned>(random.below(std::size_t{1} << digits));
    }
    const auto constant = static_cast<unsigned>(random.below(std::size_t{1} << digits));
    LineOf map;
    std::set<unsigned> seen;
    for (unsigned u = 0; u < 1U << digits; ++u) {
      unsigned v = constant;
      for (std::size_t i = 0; i < count; ++i) v ^= (u >> i & 1U) * columns[i];
      map.push_back(static_cast<std::uint16_t>(v));
      seen.insert(v);
    }
    if (seen.size() == map.size()) return map;
  }
}

TEST(linear_maps_are_recognised) {
  Random random(1);
  for (int digits = 6; digits <= 11; ++digits)
    for (const int unit : {3, 6}) {
      for (int kind = 0; kind < 3; ++kind) CHECK(linear_map(some_linear(digits, kind, random), unit));
      CHECK(!linear_map(some_permutation(std::size_t{1} << digits, random), unit));
    }
  CHECK_THROWS(linear_map(LineOf(63), 3));
  CHECK_THROWS(linear_map(LineOf(64), 3));
}

struct Case {
  std::uint64_t words;
  int bits;
  bool linear, partial = false;  // partial: not all bits and lines have a source
  bool halved = false;           // odd lines have other maps
};

TEST(reduced_steps_are_as_defined) {
  Random random(2);
  const std::vector<Case> cases{{1, 64, true},
                                {2, 64, true},
                                {8, 64, true},
                                {16, 64, true},
                                {32, 64, true},
                                {64, 64, true},
                                {3, 27, false},
                                {5, 64, false},
                                {1, 12, false},
                                {8, 64, true, true},
                                {3, 27, false, true},
                                {9, 64, false},
                                {18, 20, false},
                                {60, 50, false, true},
                                {6, 48, false, false, true},
                                {8, 64, true, false, true}};
  constexpr std::uint64_t kShards = 5, kMoves = 6;
  const std::vector<std::uint64_t> radices{3, 2, 4};
  for (const Case& of : cases) {
    const std::size_t keys = of.words * static_cast<std::size_t>(of.bits);
    std::vector<LineOf> maps;
    for (int i = 0; i < 6; ++i)
      maps.push_back(of.linear ? some_linear(std::countr_zero(keys), i % 3, random)
                               : some_permutation(keys, random));
    maps.push_back(LineOf(keys));
    std::iota(maps.back().begin(), maps.back().end(), std::uint16_t{0});
    maps.push_back(maps.front());
    std::vector<LineDigit> digits;
    std::uint64_t weight = 24;
    for (const auto radix : radices) {
      weight /= radix;
      LineDigit& digit = digits.emplace_back(radix, std::vector<std::uint32_t>{});
      for (int list = 0; list < 3; ++list)
        for (const auto value : random.permutation(static_cast<int>(radix)))
          digit.terms.push_back(static_cast<std::uint32_t>(value * weight));
    }
    if (of.partial) {
      for (auto& map : maps)
        for (std::size_t i = 0; i < keys / 2; ++i) map[random.below(keys)] = kNoLineBit;
      digits[0].terms[4] = digits[2].terms[1] = digits[2].terms[2] = digits[2].terms[8] = kNoLine;
    }
    if (of.halved) digits[0].odd = {0, 1, 1}, digits[2].odd = {1, 0, 0, 1};
    ReducedLinks links{{0}, {}, {}, {}};
    for (std::uint64_t shard = 0; shard < kShards; ++shard) {
      for (std::uint64_t m = 0; m < kMoves; ++m) {
        links.sources.push_back(static_cast<std::uint32_t>(random.below(kShards)));
        links.maps.push_back(static_cast<std::uint32_t>(random.below(maps.size())));
        for (std::size_t i = 0; i < 3; ++i)
          links.terms.push_back(static_cast<std::uint32_t>(random.below(3)));
      }
      links.first.push_back(links.sources.size());
    }
    std::set<Key> all, frontier, known, expected;
    const Key size = kShards * 24 * keys;
    for (Key i = 0; i < size / 10; ++i) frontier.insert(random.below(size)), known.insert(random.below(size));
    for (Key key = 0; key < size; ++key) {
      const Key bit = key % keys, line = key / keys % 24, shard = key / keys / 24;
      for (auto link = links.first[shard]; link < links.first[shard + 1]; ++link) {
        std::uint64_t from = 0, rest = line;
        std::uint32_t odd = 0;
        for (std::size_t i = 3; i-- > 0; rest /= radices[i]) {
          from += digits[i].terms[links.terms[3 * link + i] * radices[i] + rest % radices[i]];
          if (!digits[i].odd.empty()) odd ^= digits[i].odd[rest % radices[i]];
        }
        const auto from_bit = maps[links.maps[link] ^ odd][bit];
        if (from >= kNoLine || from_bit == kNoLineBit || known.contains(key)) continue;
        if (frontier.contains((links.sources[link] * 24 + from) * keys + from_bit)) expected.insert(key);
      }
    }
    const HeldLinks none{std::vector<std::uint64_t>(kShards + 1), {}, {}};
    for (const Isa isa : available_isas()) {
      ReducedSpace space(of.words, of.bits, digits, links, none, {1, 2, 3, 4, 5}, maps, false, isa);
      CHECK(space.keys() == size);
      Bitmap now(space, frontier), before(space, known), fresh(space);
      const auto counts = step(space, {0, 1, 2, 3, 4},
                               {{now.view(space)}, {fresh.view(space)}, {{before.view(space)}}, {}}, 2);
      CHECK(fresh.keys(space) == expected);
      CHECK(counts == population(space, fresh.view(space)));
      std::uint64_t states = 0;
      for (const Key key : expected) states += key / keys / 24 + 1;
      CHECK(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}) == states);
      // Old and new states together, with lines that are full before or after.
      CHECK(space.united() == !of.partial);
      if (of.partial) continue;
      std::set<Key> united(expected), old(known), added(expected);
      for (Key key = 7 * keys; key < 9 * keys; ++key) old.insert(key), added.erase(key);
      united.insert(old.begin(), old.end());
      Bitmap whole(space, old), both(space, frontier), sum(space);
      whole.flags[7] = kFull;
      const auto together =
          step(space, {0, 1, 2, 3, 4},
               {{now.view(space)}, {both.view(space)}, {{whole.view(space)}}, {{sum.view(space)}}, true}, 2);
      CHECK(both.keys(space) == united && both.flagged(space));
      CHECK(both.flags[7] == kFull && both.flags[8] == kFull);
      CHECK(sum.keys(space) == added && sum.flagged(space));
      CHECK(together == population(space, sum.view(space)));
    }
  }
}

// Two lines of four bits, which the symmetry of the only shard exchanges, or leaves, with bits 0 and 1
// exchanged.
TEST(fixed_points_tell_classes_and_what_is_not_closed) {
  const LineOf same{0, 1, 2, 3}, turned{1, 0, 2, 3};
  const auto classes = [&](std::vector<std::uint32_t> held_terms, const std::set<Key>& keys) {
    const ReducedSpace space(1, 4, {{2, {0, 1, 1, 0}}}, {{0, 1}, {0}, {0}, {0}},
                             {{0, 1}, {1}, std::move(held_terms)}, {3}, {same, turned}, false, Isa::portable);
    CHECK(space.stabiliser(0) == 2);
    Bitmap now(space, keys), fresh(space), none(space);
    std::uint64_t found = 0;
    const auto states =
        step(space, {0}, {{now.view(space)}, {fresh.view(space)}, {{none.view(space)}}, {}}, 1, &found);
    CHECK(states.front() == 3 * keys.size());
    return found;
  };
  CHECK(classes({0}, {0, 1, 2, 6}) == 3);  // 0 and 1 are alike
  CHECK(classes({1}, {0, 5, 2, 6}) == 2);  // 0 and 5, 2 and 6
  const auto refused = [&](std::uint32_t held_term, const std::set<Key>& keys) {
    try {
      classes({held_term}, keys);
    } catch (const NotClosed&) {
      return true;
    }
    return false;
  };
  CHECK(refused(0, {0, 2}));
  CHECK(refused(1, {0}));
}

TEST(what_does_not_fit_a_reduced_space_is_refused) {
  const LineOf same{0, 1, 2, 3};
  const auto space = [&](ReducedLinks links, const std::vector<LineOf>& maps,
                         std::vector<std::uint32_t> terms) {
    return ReducedSpace(1, 4, {{2, std::move(terms)}}, std::move(links), {{0, 0}, {}, {}}, {1}, maps, false,
                        Isa::portable);
  };
  const ReducedLinks good{{0, 1}, {0}, {0}, {0}};
  CHECK(space(good, {same}, {1, 0}).keys() == 8);
  CHECK_THROWS(space({{0, 1}, {1}, {0}, {0}}, {same}, {1, 0}));
  CHECK_THROWS(space({{0, 1}, {0}, {1}, {0}}, {same}, {1, 0}));
  CHECK_THROWS(space({{0, 1}, {0}, {0}, {1}}, {same}, {1, 0}));
  CHECK_THROWS(space({{0, 2}, {0}, {0}, {0}}, {same}, {1, 0}));
  CHECK_THROWS(space({{0}, {}, {}, {}}, {same}, {1, 0}));
  CHECK_THROWS(space(good, {same}, {2, 0}));
  CHECK_THROWS(space(good, {same}, {1}));
  CHECK_THROWS(space(good, {{0, 1, 2}}, {1, 0}));
  CHECK_THROWS(space(good, {{0, 1, 2, 2}}, {1, 0}));
}

}  // namespace
}  // namespace farthest::test
