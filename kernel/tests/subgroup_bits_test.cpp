// The bits of the cube's <U, D, R2, L2, F2, B2>, against permutations moved slot by slot.
#include "farthest/subgroup_bits.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "../src/subgroup_marks.hpp"
#include "check.hpp"
#include "samples.hpp"

namespace farthest::test {
namespace {

using Slots = std::vector<std::uint8_t>;

Slots start() {
  Slots slots(SubgroupBits::kSlots);
  std::iota(slots.begin(), slots.end(), std::uint8_t{0});
  return slots;
}

Slots swapped(const std::vector<std::pair<std::size_t, std::size_t>>& pairs) {
  Slots slots = start();
  for (const auto& [one, other] : pairs) std::swap(slots[one], slots[other]);
  return slots;
}

Slots then(const Slots& slots, const Slots& move) {
  Slots after;
  for (const auto from : move) after.push_back(slots[from]);
  return after;
}

// Corners URF UFL ULB UBR DFR DLF DBL DRB, then edges UR UF UL UB DR DF DL DB FR FL BL BR.
std::vector<Slots> cube() {
  Slots upper = start(), lower = start();
  for (const std::size_t first : {0u, 8u}) {
    std::rotate(upper.begin() + first, upper.begin() + first + 3, upper.begin() + first + 4);
    std::rotate(lower.begin() + first + 4, lower.begin() + first + 5, lower.begin() + first + 8);
  }
  return {upper,
          then(upper, upper),
          then(upper, then(upper, upper)),
          lower,
          then(lower, lower),
          then(lower, then(lower, lower)),
          swapped({{0, 7}, {3, 4}, {8, 12}, {16, 19}}),
          swapped({{0, 5}, {1, 4}, {9, 13}, {16, 17}}),
          swapped({{1, 6}, {2, 5}, {10, 14}, {17, 18}}),
          swapped({{2, 7}, {3, 6}, {11, 15}, {18, 19}})};
}

// Slots named otherwise.
std::vector<Slots> renamed(const std::vector<Slots>& moves, const Slots& names) {
  std::vector<Slots> made;
  for (const Slots& move : moves) {
    Slots& one = made.emplace_back(move.size());
    for (std::size_t slot = 0; slot < move.size(); ++slot) one[names[slot]] = names[move[slot]];
  }
  return made;
}

struct Bytes {
  SubgroupBits::Bytes at;
};

Bytes bytes_of(const Slots& slots, const Slots& places) {
  Bytes bytes;
  for (std::size_t i = 0; i < bytes.at.size(); ++i) bytes.at[i] = i % 16;
  for (std::size_t slot = 0; slot < slots.size(); ++slot) bytes.at[places[slot]] = places[slots[slot]] % 16;
  return bytes;
}

std::vector<SubgroupBits::Bytes> bytes_of_all(const std::vector<Slots>& moves, const Slots& places) {
  std::vector<SubgroupBits::Bytes> made;
  for (const Slots& move : moves) made.push_back(bytes_of(move, places).at);
  return made;
}

// A random element with the given contents of the first orbit of eight.
Slots random_element(const Slots& first, Random& random) {
  Slots slots = first;
  const auto shuffle = [&](std::size_t begin, int count) {
    const auto order = random.permutation(count);
    for (std::size_t i = 0; i < order.size(); ++i)
      slots[begin + i] = static_cast<std::uint8_t>(begin + order[i]);
  };
  shuffle(8, 8);
  shuffle(16, 4);
  int inversions = 0;
  for (std::size_t i = 0; i < slots.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) inversions += slots[j] > slots[i];
  if (inversions % 2 != 0) std::swap(slots[18], slots[19]);
  return slots;
}

TEST(subgroup_bits_step_as_permutations_do) {
  const std::vector<Slots> plain = cube();
  Random random(27);
  const auto names = random.permutation(static_cast<int>(SubgroupBits::kSlots));
  const std::vector<Slots> moves = renamed(plain, names);
  const Slots places = SubgroupBits::places(moves);
  Slots page = then(then(plain[0], plain[6]), plain[8]);
  std::set<Slots> elements;
  while (elements.size() < 5000) elements.insert(renamed({random_element(page, random)}, names)[0]);
  for (const Isa isa : available_isas()) {
    SubgroupBits bits(bytes_of_all(moves, places), isa);
    const SubgroupMarks marks(bits);
    std::set<std::uint64_t> wanted;
    for (const Slots& element : elements) wanted.insert(marks.bit_of(bytes_of(element, places)));
    CHECK(wanted.size() == elements.size());
    CHECK(*wanted.rbegin() < SubgroupBits::kPositions);
    for (const auto bit : wanted) CHECK(marks.set(bit));
    for (const auto bit : wanted) CHECK(!marks.set(bit));
    for (const Slots& element : elements)
      for (const Slots& move : moves) wanted.insert(marks.bit_of(bytes_of(then(element, move), places)));
    CHECK(bits.step(2) == wanted.size());
    CHECK(std::ranges::all_of(wanted, [&](auto bit) { return bits.has(bit); }));
  }
}

TEST(subgroup_bits_step_in_parts_too) {
  const std::vector<Slots> moves = cube();
  const Slots places = SubgroupBits::places(moves);
  SubgroupBits bits(bytes_of_all(moves, places));
  CHECK(bits.memory() <= SubgroupBits::kMemory);
  const std::uint64_t solved = SubgroupMarks(bits).bit_of(bytes_of(start(), places));
  CHECK(bits.step(1) == 0);
  CHECK(SubgroupMarks(bits).set(solved));
  for (const std::uint64_t count : {1 + 10, 1 + 10 + 67}) {
    std::optional<std::uint64_t> found;
    int calls = 0;
    for (; !found; ++calls) found = bits.step(1, {});
    CHECK(found == count);
    CHECK(calls > 1);
  }
}

TEST(subgroups_of_another_structure_have_no_bits) {
  const auto refused = [](const std::vector<Slots>& moves) { return SubgroupBits::places(moves).size(); };
  const std::vector<Slots> moves = cube();
  CHECK(refused(moves) == SubgroupBits::kSlots);
  const auto with = [&](const Slots& move) {
    std::vector<Slots> more = moves;
    more.push_back(move);
    return more;
  };
  CHECK_THROWS(refused({}));
  CHECK_THROWS(refused({start()}));
  CHECK_THROWS(refused(with({0, 1, 2})));
  CHECK_THROWS(refused(with(Slots(SubgroupBits::kSlots))));
  CHECK_THROWS(refused(with(then(moves[0], moves[3]))));     // both halves
  CHECK_THROWS(refused(with(swapped({{8, 12}, {9, 13}}))));  // two exchanges
  CHECK_THROWS(refused(with(swapped({{8, 9}, {16, 17}}))));  // a half and the third orbit
  CHECK_THROWS(refused(with(swapped({{0, 8}, {1, 2}}))));    // orbits
  const Slots places = SubgroupBits::places(moves);
  const auto made = [&](const Slots& move) { return SubgroupBits(bytes_of_all({move}, places)).words(); };
  CHECK_THROWS(made(swapped({{0, 1}})));
  CHECK_THROWS(made(swapped({{0, 8}, {1, 2}})));
  CHECK_THROWS(made(then(moves[0], moves[3])));
  SubgroupBits::Bytes two = bytes_of(start(), places).at;
  two[1] = 0;
  CHECK_THROWS(SubgroupBits({two}).words());
}

}  // namespace
}  // namespace farthest::test
