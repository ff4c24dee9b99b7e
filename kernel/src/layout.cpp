#include "farthest/layout.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace farthest {
namespace {

constexpr int kMaxModulus = 64;
constexpr Key kMaxArrangements = Key{1} << 62;

using BinomialRow = std::array<std::uint64_t, kMaxSlots + 1>;

const std::array<BinomialRow, kMaxSlots + 1>& binomials() {
  static const auto table = [] {
    std::array<BinomialRow, kMaxSlots + 1> rows{};
    for (std::size_t n = 0; n <= kMaxSlots; ++n) {
      rows[n][0] = 1;
      for (std::size_t k = 1; k <= n; ++k) {
        rows[n][k] = rows[n - 1][k - 1] + (k < n ? rows[n - 1][k] : 0);
      }
    }
    return rows;
  }();
  return table;
}

}  // namespace

std::uint64_t binomial(int n, int k) {
  if (k < 0 || n < k) return 0;
  return binomials()[static_cast<std::size_t>(n)][static_cast<std::size_t>(k)];
}

std::uint64_t rank_set(SlotMask places, SlotMask free) {
  if (places == free) return 0;  // the last labels placed: what is left is theirs
  std::uint64_t rank = 0;
  for (int i = 1; places != 0; ++i, places &= places - 1) rank += binomial(below(free, lowest(places)), i);
  return rank;
}

SlotMask unrank_set(std::uint64_t rank, int count, SlotMask free) {
  const int slots = std::popcount(free);
  if (count == slots) return free;
  if (count == 1) {
    for (; rank != 0; --rank) free &= free - 1;
    return bit(lowest(free));
  }
  std::array<int, kMaxSlots> slot{};
  for (int i = 0; i < slots; ++i, free &= free - 1) slot[static_cast<std::size_t>(i)] = lowest(free);
  SlotMask places = 0;
  int position = slots;
  for (int i = count; i > 0; --i) {
    do --position;
    while (binomial(position, i) > rank);
    rank -= binomial(position, i);
    places |= bit(slot[static_cast<std::size_t>(position)]);
  }
  return places;
}

Layout::Layout(int slots, std::vector<int> counts, std::vector<std::uint8_t> parity,
               std::vector<Orbit> orbits, std::vector<int> twisted)
    : slots_(slots),
      counts_(std::move(counts)),
      parity_(std::move(parity)),
      orbits_(std::move(orbits)),
      twisted_(std::move(twisted)) {
  if (slots < 2 || slots > kMaxSlots) throw InvalidArgument("slots must be 2 to 64");
  if (counts_.size() < 2) throw InvalidArgument("at least two label classes are needed");
  read_orbits();
  read_twists();
  if (!parity_.empty()) {
    const bool single = std::ranges::all_of(counts_, [](int c) { return c == 1; });
    if (!single || slots < 3 || static_cast<int>(parity_.size()) != slots || orbits_.size() != 1 ||
        has_twists())
      throw InvalidArgument(
          "a parity needs distinct labels on at least 3 slots of one orbit, and one bit a slot");
    mode_ = WordMode::halved;
  }
  Key arrangements = twists_;
  for (const auto radix : radix_) {
    if (radix > kMaxArrangements / arrangements) throw LimitExceeded("more than 2^62 arrangements");
    arrangements *= radix;
  }
  keys_ = halved() ? arrangements / 2 : arrangements;
  if (has_twists()) {
    choose_twists();
  } else {
    choose_words();
    choose_lines();
  }
}

void Layout::read_orbits() {
  if (orbits_.empty()) orbits_ = {{first_slots(slots_), 1}};
  SlotMask seen = 0;
  moduli_.resize(static_cast<std::size_t>(slots_));
  std::size_t cls = 0;
  for (std::size_t i = 0; i < orbits_.size(); ++i) {
    const Orbit& orbit = orbits_[i];
    if (orbit.slots == 0 || (orbit.slots & (seen | ~first_slots(slots_))) != 0)
      throw InvalidArgument("orbits must be disjoint sets of slots");
    if (orbit.modulus < 1 || orbit.modulus > kMaxModulus)
      throw InvalidArgument("the modulus of an orbit must be 1 to 64");
    seen |= orbit.slots;
    for (SlotMask m = orbit.slots; m != 0; m &= m - 1)
      moduli_[static_cast<std::size_t>(lowest(m))] = static_cast<std::uint8_t>(orbit.modulus);
    for (int free = std::popcount(orbit.slots); free != 0; ++cls) {
      if (cls == counts_.size() || counts_[cls] < 1 || counts_[cls] > free)
        throw InvalidArgument("label counts must be positive and fill the orbits in order");
      radix_.push_back(binomial(free, counts_[cls]));
      orbit_of_.push_back(static_cast<int>(i));
      free -= counts_[cls];
    }
  }
  if (seen != first_slots(slots_)) throw InvalidArgument("orbits must hold all slots");
  if (cls != counts_.size()) throw InvalidArgument("label counts must fill the slots");
}

void Layout::read_twists() {
  std::vector<bool> seen(counts_.size());
  for (const int cls : twisted_) {
    if (cls < 0 || cls >= classes() || seen[static_cast<std::size_t>(cls)])
      throw InvalidArgument("twisted classes must be classes, each once");
    seen[static_cast<std::size_t>(cls)] = true;
    const int modulus = orbit_of(cls).modulus;
    if (count(cls) != 1 || modulus == 1)
      throw InvalidArgument("a twisted class must be a single piece of an orbit with a modulus above 1");
    if (twists_ > kMaxArrangements / static_cast<Key>(modulus)) throw LimitExceeded("more than 2^62 twists");
    twists_ *= static_cast<Key>(modulus);
  }
}

int Layout::first_lower() const {
  int cls = classes() - 1;
  while (cls > 1 && home(cls - 1) == home(cls)) --cls;
  return cls;
}

void Layout::choose_words() {
  const int first = first_lower(), last = classes() - 1;
  const auto trailing_singles = [&] {
    int n = 0;
    while (n <= last - first && count(last - n) == 1) ++n;
    return n;
  }();
  const auto take = [&](int n) {
    word_ = n;
    word_arrangements_ = 1;
    for (int j = classes() - n; j < classes(); ++j) word_arrangements_ *= radix(j);
  };
  if (halved()) {
    take(std::min(5, last));
  } else if (trailing_singles >= 5) {
    take(5);
    mode_ = WordMode::split;
  } else {
    int n = 1;
    for (std::uint64_t product = radix(last); last - n >= first && product * radix(last - n) <= 64; ++n)
      product *= radix(last - n);
    take(n);
  }
  bits_ = static_cast<int>(mode_ == WordMode::plain ? word_arrangements_ : word_arrangements_ / 2);
  word_slots_ = std::accumulate(counts_.end() - word_, counts_.end(), 0);
  if (mode_ == WordMode::plain) return;
  for (int k = 0; k < bits_;
       ++k) {  // parity of the digit sum of 2k: word digits have radices n, n-1, .., 2, 1
    int rest = 2 * k, sum = 0;
    for (int radix = 2; radix <= word_; ++radix) {
      sum += rest % radix;
      rest /= radix;
    }
    pair_parity_.push_back(static_cast<std::uint8_t>(sum & 1));
  }
}

// Long lines cost less for each word; short ones skip empty regions better and need fewer, smaller programs.
void Layout::choose_lines() {
  constexpr std::uint64_t kWanted = 128;
  int line = 0;
  line_slots_ = word_slots_;
  while (classes() - word_ - line > first_lower()) {
    const std::uint64_t grown = placements_ * radix(classes() - word_ - line - 1);
    const auto words = grown * static_cast<std::uint64_t>(halves());
    if (words > kMaxLineWords || (words > kWanted && placements_ >= 16)) break;
    placements_ = grown;
    ++line;
    line_slots_ += count(classes() - word_ - line);
  }
  upper_ = classes() - word_ - line;
  for (int j = 0; j < upper_; ++j) lines_ *= radix(j);
}

// A program for each translation of a line's digits: together they should stay in the second-nearest cache.
void Layout::choose_twists() {
  constexpr std::uint64_t kProgramWords = 32768;
  upper_ = classes();
  word_twist_ = twist_digits();
  std::uint64_t bits = 1;
  while (word_twist_ > 0 && bits * twist_radix(word_twist_ - 1) <= 64) bits *= twist_radix(--word_twist_);
  bits_ = static_cast<int>(bits);
  line_twist_ = word_twist_;
  while (line_twist_ > 0) {
    const auto words = line_twists_ * twist_radix(line_twist_ - 1);
    if (words > kMaxLineWords || words * words * bits > kProgramWords) break;
    line_twists_ = words;
    --line_twist_;
  }
  upper_twists_ = twists_ / line_twists_ / bits;
  lines_ = upper_twists_;
  for (const auto radix : radix_) lines_ *= radix;
}

std::uint64_t Layout::turned(std::uint64_t a, std::uint64_t b, int first, int last) const {
  std::uint64_t out = 0, weight = 1;
  for (int digit = last - 1; digit >= first; --digit) {
    const auto radix = twist_radix(digit);
    out += (a % radix + b % radix) % radix * weight;
    weight *= radix;
    a /= radix;
    b /= radix;
  }
  return out;
}

Key Layout::encode(std::span<const std::uint8_t> class_at, std::span<const std::uint8_t> twist_at) const {
  std::array<SlotMask, kMaxSlots> places{};
  for (int slot = 0; slot < slots_; ++slot) {
    const auto cls = class_at[static_cast<std::size_t>(slot)];
    if (cls >= classes()) return kNoKey;
    places[cls] |= bit(slot);
  }
  SlotMask free = first_slots(slots_);
  Key full = 0;
  std::uint64_t digits = 0;
  for (int j = 0; j < classes(); ++j) {
    const SlotMask mask = places[static_cast<std::size_t>(j)];
    if (std::popcount(mask) != count(j)) return kNoKey;
    if ((mask & ~home(j)) != 0) return kNoKey;
    const SlotMask open = free & home(j);
    const std::uint64_t rank =
        count(j) == 1 ? static_cast<std::uint64_t>(below(open, lowest(mask))) : rank_set(mask, open);
    full = full * radix(j) + rank;
    digits += rank;
    free ^= mask;
  }
  for (int digit = 0; digit < twist_digits(); ++digit) {
    const auto slot = static_cast<std::size_t>(lowest(places[static_cast<std::size_t>(twisted(digit))]));
    const std::uint64_t twist = twist_at.empty() ? 0 : twist_at[slot];
    if (twist >= twist_radix(digit)) return kNoKey;
    full = full * twist_radix(digit) + twist;
  }
  if (!halved()) return full;
  if (static_cast<int>(digits & 1) != parity_[static_cast<std::size_t>(lowest(places[0]))]) return kNoKey;
  return full >> 1;
}

void Layout::decode(Key key, std::span<std::uint8_t> class_at, std::span<std::uint8_t> twist_at) const {
  std::array<std::uint64_t, kMaxSlots> digit{}, twist{};  // by class
  Key full = halved() ? key << 1 : key;
  for (int i = twist_digits() - 1; i >= 0; --i) {
    twist[static_cast<std::size_t>(twisted(i))] = full % twist_radix(i);
    full /= twist_radix(i);
  }
  std::uint64_t sum = 0;
  for (int j = classes() - 1; j >= 0; --j) {
    digit[static_cast<std::size_t>(j)] = full % radix(j);
    sum += digit[static_cast<std::size_t>(j)];
    full /= radix(j);
  }
  if (halved()) {
    const auto slot = static_cast<std::size_t>(digit[0]);  // class 0 is placed first: its digit is its slot
    if ((sum & 1) != parity_[slot]) digit[static_cast<std::size_t>(classes() - 2)] ^= 1;
  }
  SlotMask free = first_slots(slots_);
  for (int j = 0; j < classes(); ++j) {
    const auto cls = static_cast<std::size_t>(j);
    SlotMask mask = unrank_set(digit[cls], count(j), free & home(j));
    free ^= mask;
    for (; mask != 0; mask &= mask - 1) {
      const auto slot = static_cast<std::size_t>(lowest(mask));
      class_at[slot] = static_cast<std::uint8_t>(j);
      if (!twist_at.empty()) twist_at[slot] = static_cast<std::uint8_t>(twist[cls]);
    }
  }
}

Layout::Place Layout::place(Key key) const {
  if (mode_ != WordMode::split) {
    const auto bits = static_cast<std::uint64_t>(bits_);
    return {key / bits, static_cast<int>(key % bits)};
  }
  const std::uint64_t prefix = key / word_arrangements_;
  const auto arrangement = static_cast<int>(key % word_arrangements_);
  const int odd = pair_parity(arrangement / 2) ^ (arrangement & 1);
  return {prefix * 2 + static_cast<std::uint64_t>(odd), arrangement / 2};
}

Key Layout::key_at(std::uint64_t word, int bit) const {
  if (mode_ != WordMode::split)
    return word * static_cast<std::uint64_t>(bits_) + static_cast<std::uint64_t>(bit);
  const int odd = static_cast<int>(word & 1);
  const int arrangement = 2 * bit + (pair_parity(bit) ^ odd);
  return (word / 2) * word_arrangements_ + static_cast<std::uint64_t>(arrangement);
}

}  // namespace farthest
