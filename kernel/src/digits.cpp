#include "farthest/digits.hpp"

#include <algorithm>
#include <string>

namespace farthest {

DigitExpander::DigitExpander(int radix, int digits) : radix_(radix), digits_(digits) {
  constexpr Key kMostKeys = Key{1} << 62;
  if (radix < 2 || radix > kMaxSlots) throw InvalidArgument("the radix must be 2 to 64");
  if (digits < 1 || digits > kMaxSlots) throw InvalidArgument("there must be 1 to 64 digits");
  for (int i = 0; i < digits; ++i) {
    weights_[static_cast<std::size_t>(i)] = keys_;
    if (keys_ > kMostKeys / static_cast<Key>(radix)) throw LimitExceeded("there are more than 2^62 keys");
    keys_ *= static_cast<Key>(radix);
  }
}

void DigitExpander::check(std::span<const Key> keys) const {
  const Key most = keys.empty() ? 0 : std::ranges::max(keys);
  if (most >= keys_)
    throw InvalidArgument("key " + std::to_string(most) + " is out of range, expected less than " +
                          std::to_string(keys_));
}

LampExpander::LampExpander(int radix, int digits, std::vector<DigitMove> moves)
    : DigitExpander(radix, digits), presses_(std::move(moves)) {
  for (const DigitMove& move : presses_) {
    if ((move.changed & ~first_slots(digits)) != 0) throw InvalidArgument("a move changes a digit too many");
    if (move.added < 1 || move.added >= radix) throw InvalidArgument("a move must add 1 to radix - 1");
  }
}

void LampExpander::successors(std::span<const Key> codes, std::vector<Key>& out) const {
  check(codes);
  Digits digits;
  Changes changes;
  std::size_t at = out.size();
  out.resize(at + codes.size() * presses_.size());
  for (std::size_t first = 0; first < codes.size(); first += kBlock) {
    const auto keys = codes.subspan(first, std::min(kBlock, codes.size() - first));
    if (radix_ != 2) read(keys, digits);
    int added = 0;
    for (const DigitMove& move : presses_) {
      if (radix_ != 2 && move.added != added) change(added = move.added, keys.size(), digits, changes);
      press(move, keys, changes, out.data() + at);
      at += keys.size();
    }
  }
}

void LampExpander::press(const DigitMove& move, std::span<const Key> keys, const Changes& changes,
                         Key* out) const {
  if (radix_ == 2) {  // digit i is bit i
    for (std::size_t i = 0; i < keys.size(); ++i) out[i] = keys[i] ^ move.changed;
    return;
  }
  std::ranges::copy(keys, out);
  for (SlotMask left = move.changed; left != 0; left &= left - 1) {
    const auto& change = changes[static_cast<std::size_t>(lowest(left))];
    for (std::size_t i = 0; i < keys.size(); ++i) out[i] += change[i];
  }
}

void LampExpander::read(std::span<const Key> keys, Digits& digits) const {
  const auto radix = static_cast<Key>(radix_);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    Key rest = keys[i];
    for (std::size_t place = 0; place < static_cast<std::size_t>(digits_); ++place, rest /= radix)
      digits[place][i] = static_cast<std::uint8_t>(rest % radix);
  }
}

// What each digit's change adds to the keys, modulo 2^64: it may be negative.
void LampExpander::change(int added, std::size_t count, const Digits& digits, Changes& changes) const {
  for (std::size_t place = 0; place < static_cast<std::size_t>(digits_); ++place) {
    const Key more = static_cast<Key>(added) * weights_[place];
    const Key carried = more - static_cast<Key>(radix_) * weights_[place];
    for (std::size_t i = 0; i < count; ++i)
      changes[place][i] = digits[place][i] + added >= radix_ ? carried : more;
  }
}

DiscExpander::DiscExpander(int pegs, int discs, std::vector<Arc> arcs)
    : DigitExpander(pegs, discs), arcs_(std::move(arcs)) {
  constexpr Key kTable = 1 << 14;
  const auto radix = static_cast<Key>(pegs);
  for (const auto& [from, to] : arcs_)
    if (std::min(from, to) < 0 || std::max(from, to) >= pegs || from == to)
      throw InvalidArgument("arcs must be from a peg to another");
  do {
    arrangements_ *= radix;
    ++group_;
  } while (group_ < discs && arrangements_ * radix * radix <= kTable);
  table_.assign(arrangements_ * radix, kMaxSlots);
  for (Key arrangement = 0; arrangement < arrangements_; ++arrangement)
    for (int disc = group_ - 1; disc >= 0; --disc)
      table_[arrangement * radix + arrangement / weights_[static_cast<std::size_t>(disc)] % radix] =
          static_cast<std::uint8_t>(disc);
}

// For each peg the number of the smallest disc there, the number of discs where there is none.
DiscExpander::Tops DiscExpander::tops(Key key) const {
  Tops tops;
  const auto pegs = static_cast<std::size_t>(radix_);
  std::fill_n(tops.begin(), pegs, static_cast<std::uint8_t>(digits_));
  for (int first = 0; first < digits_; first += group_, key /= arrangements_) {
    const std::uint8_t* const part = table_.data() + key % arrangements_ * pegs;
    for (std::size_t peg = 0; peg < pegs; ++peg)
      tops[peg] = std::min<std::uint8_t>(tops[peg], static_cast<std::uint8_t>(part[peg] + first));
  }
  return tops;
}

void DiscExpander::successors(std::span<const Key> codes, std::vector<Key>& out) const {
  check(codes);
  std::size_t made = out.size();
  out.resize(made + codes.size() * arcs_.size() + 1);
  // Without a branch that is hard to foretell: a key that is not reached is written over by the next.
  for (const Key code : codes) {
    const Tops top = tops(code);
    for (const auto& [from, to] : arcs_) {
      const auto disc = top[static_cast<std::size_t>(from)];
      out[made] = code + weights_[disc] * static_cast<Key>(to - from);  // modulo 2^64
      made += disc < top[static_cast<std::size_t>(to)] ? 1 : 0;
    }
  }
  out.resize(made);
}

}  // namespace farthest
