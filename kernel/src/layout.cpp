#include "farthest/layout.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace farthest {
namespace {

constexpr int kMaxModulus = 64;

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
               std::vector<Orbit> orbits, std::vector<int> twisted, std::vector<int> turned,
               const std::vector<int>& starts)
    : slots_(slots), counts_(std::move(counts)), parity_(std::move(parity)), orbits_(std::move(orbits)) {
  if (slots < 2 || slots > kMaxSlots) throw InvalidArgument("slots must be 2 to 64");
  if (counts_.empty() || (counts_.size() == 1 && twisted.empty() && turned.empty()))
    throw InvalidArgument("at least two label classes, or orientations, are needed");
  read_orbits();
  read_twists(twisted, turned);
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
    if (radix > kMaxKeys / arrangements) throw LimitExceeded("more than 2^62 arrangements");
    arrangements *= radix;
  }
  keys_ = halved() ? arrangements / 2 : arrangements;
  if (has_twists()) {
    exchanges_ ? choose_group_twists() : choose_twists();
  } else {
    choose_words();
    choose_lines(starts);
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
    if (orbit.sum < 0 || orbit.sum >= orbit.modulus)
      throw InvalidArgument("the sum of an orbit's orientations must be below its modulus");
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

int Layout::first_lower() const {
  int cls = classes() - 1;
  while (cls > 1 && home(cls - 1) == home(cls)) --cls;
  return cls;
}

SlotMask Layout::home_of_slot(int slot) const {
  return std::ranges::find_if(orbits_, [&](const Orbit& o) { return (o.slots & bit(slot)) != 0; })->slots;
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
void Layout::choose_lines(const std::vector<int>& starts) {
  constexpr std::uint64_t kWanted = 128;
  const auto may_start = [&](int cls) {
    return starts.empty() || std::ranges::find(starts, cls) != starts.end();
  };
  upper_ = classes() - word_;
  line_slots_ = word_slots_;
  bool chosen = may_start(upper_);
  std::uint64_t grown = 1;
  for (int cls = upper_ - 1, slots = word_slots_; cls >= first_lower(); --cls) {
    grown *= radix(cls);
    slots += count(cls);
    const auto words = grown * static_cast<std::uint64_t>(halves());
    if (words > kMaxLineWords || (chosen && words > kWanted && placements_ >= 16)) break;
    if (!may_start(cls)) continue;
    chosen = true;
    placements_ = grown;
    upper_ = cls;
    line_slots_ = slots;
  }
  if (!chosen) throw InvalidArgument("no line begins with one of these classes");
  for (int j = 0; j < upper_; ++j) lines_ *= radix(j);
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
    // Not every processor that this is compiled for counts bits quickly.
    const bool wrong =
        count(j) == 1 ? mask == 0 || (mask & (mask - 1)) != 0 : std::popcount(mask) != count(j);
    if (wrong) return kNoKey;
    if ((mask & ~home(j)) != 0) return kNoKey;
    const SlotMask open = free & home(j);
    const std::uint64_t rank =
        count(j) == 1 ? static_cast<std::uint64_t>(below(open, lowest(mask))) : rank_set(mask, open);
    full = full * radix(j) + rank;
    digits += rank;
    free ^= mask;
  }
  for (const Digit& digit : digits_) {
    int slot = digit.slot;
    if (digit.cls >= 0) {
      SlotMask& left = places[static_cast<std::size_t>(digit.cls)];
      slot = lowest(left);
      left &= left - 1;
    }
    const std::uint64_t twist = twist_at.empty() ? 0 : twist_at[static_cast<std::size_t>(slot)];
    if (twist >= digit.radix) return kNoKey;
    full = full * digit.radix + twist;
  }
  if (!keeps_sums(twist_at)) return kNoKey;
  if (!halved()) return full;
  if (static_cast<int>(digits & 1) != parity_[static_cast<std::size_t>(lowest(places[0]))]) return kNoKey;
  return full >> 1;
}

void Layout::decode(Key key, std::span<std::uint8_t> class_at, std::span<std::uint8_t> twist_at) const {
  std::array<std::uint64_t, kMaxSlots> digit{};  // by class
  std::array<std::uint8_t, kMaxSlots> twist{};   // by digit
  Key full = halved() ? key << 1 : key;
  for (int i = twist_digits() - 1; i >= 0; --i) {
    twist[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(full % twist_radix(i));
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
    for (int at = first_digit(j); mask != 0; mask &= mask - 1) {
      const auto slot = static_cast<std::size_t>(lowest(mask));
      class_at[slot] = static_cast<std::uint8_t>(j);
      if (!twist_at.empty())
        twist_at[slot] = at < 0 ? std::uint8_t{0} : twist[static_cast<std::size_t>(at++)];
    }
  }
  if (!twist_at.empty()) decode_slots(twist, twist_at);
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
