#include "farthest/representatives.hpp"

#include <algorithm>

namespace farthest {

namespace {

// Several threads may take distances of different keys at a time, and these may have one entry: each reads
// what it or another has written, whole.
std::uint8_t read(const std::uint8_t& entry) { return __atomic_load_n(&entry, __ATOMIC_RELAXED); }

// Whether the entry had the distance already or had none, and has it now.
bool give(std::uint8_t& entry, std::uint8_t distance) {
  std::uint8_t before = read(entry);
  if (before == Representatives::kUnset &&
      __atomic_compare_exchange_n(&entry, &before, distance, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    return true;
  return before == distance;
}

}  // namespace

Representatives::Representatives(std::vector<Digit> digits, std::vector<std::uint32_t> told,
                                 std::vector<std::uint32_t> moves)
    : digits_(std::move(digits)), told_(std::move(told)), moves_(std::move(moves)) {
  constexpr Key kMost = Key{1} << 32;
  Key reduced = 1;
  for (const Digit& digit : digits_) {
    Key& side = digit.moved ? moved_ : reduced;
    if (digit.radix < 1 || digit.radix > kMost || side > kMost / digit.radix)
      throw InvalidArgument("each side of a key must have at most 2^32 numbers");
    side *= digit.radix;
  }
  if (told_.size() != reduced || moves_.empty() || moves_.size() % moved_ != 0)
    throw InvalidArgument("a class must be told for each number, and what each symmetry makes of the others");
  const auto symmetries = moves_.size() / moved_;
  for (const auto each : told_) {
    if ((each & 255) >= symmetries) throw InvalidArgument("there is no such symmetry");
    classes_ = std::max<Key>(classes_, (each >> 8) + 1);
  }
  if (classes_ > reduced || std::ranges::any_of(moves_, [&](auto each) { return each >= moved_; }))
    throw InvalidArgument("there are no such classes, or no such numbers");
}

Key Representatives::entry(Key key) const {
  Key reduced = 0, moved = 0, reduced_weight = 1, moved_weight = 1;
  for (auto digit = digits_.rbegin(); digit != digits_.rend(); ++digit) {
    const Key value = key % digit->radix;
    key /= digit->radix;
    Key& weight = digit->moved ? moved_weight : reduced_weight;
    (digit->moved ? moved : reduced) += value * weight;
    weight *= digit->radix;
  }
  return entry(reduced, moved);
}

// Whether the entries of the keys of one number of the reduced side, from one of the moved side on, have
// these distances already: of most keys, which come after their representatives.
bool Representatives::agrees(std::size_t reduced, std::size_t moved, std::span<const std::uint8_t> distances,
                             std::span<const std::uint8_t> entries) const {
  const std::uint32_t told = told_[reduced];
  const std::uint8_t* row = entries.data() + (told >> 8) * moved_;
  const std::uint32_t* to = moves_.data() + (told & 255) * moved_ + moved;
  if (reduced + 1 < told_.size()) {
    // The row that most likely comes next.
    const std::uint8_t* next = entries.data() + (told_[reduced + 1] >> 8) * moved_;
    for (Key i = 0; i < moved_; i += 64) __builtin_prefetch(next + i);
  }
  std::uint8_t other = 0;
  for (std::size_t i = 0; i < distances.size(); ++i)
    other = static_cast<std::uint8_t>(other | (read(row[to[i]]) ^ distances[i]));
  return other == 0 && std::ranges::find(distances, kUnset) == distances.end();
}

Key Representatives::take(Key first, std::span<const std::uint8_t> distances,
                          std::span<std::uint8_t> entries) const {
  if (first > keys() || distances.size() > keys() - first || entries.size() != this->entries())
    throw InvalidArgument("there are no such keys, or other entries");
  // The number of each side as the key is counted up: the last digits that are of one side are counted as
  // one.
  std::vector<Digit> runs;
  for (const Digit& digit : digits_)
    if (!runs.empty() && runs.back().moved == digit.moved)
      runs.back().radix *= digit.radix;
    else
      runs.push_back(digit);
  std::vector<Key> values(runs.size()), weights(runs.size());
  Key rest = first, weight_of[2] = {1, 1};
  for (std::size_t i = runs.size(); i-- > 0;) {
    values[i] = rest % runs[i].radix;
    rest /= runs[i].radix;
    weights[i] = weight_of[runs[i].moved];
    weight_of[runs[i].moved] *= runs[i].radix;
  }
  const auto side = [&](bool moved) {
    Key number = 0;
    for (std::size_t i = 0; i < runs.size(); ++i)
      if (runs[i].moved == moved) number += values[i] * weights[i];
    return number;
  };
  for (std::size_t done = 0; done < distances.size();) {
    const Digit& last = runs.back();
    const auto count = std::min<Key>(distances.size() - done, last.radix - values.back());
    Key reduced = side(false), moved = side(true);
    const bool known = last.moved && agrees(reduced, moved, distances.subspan(done, count), entries);
    for (Key i = 0; i < count && !known; ++i) {
      const std::uint8_t distance = distances[done + i];
      if (distance == kUnset || !give(entries[entry(reduced, moved)], distance)) return first + done + i;
      ++(last.moved ? moved : reduced);
    }
    done += count;
    values.back() += count;
    for (std::size_t i = runs.size(); i-- > 0 && values[i] == runs[i].radix;) {
      values[i] = 0;
      if (i > 0) ++values[i - 1];
    }
  }
  return kNoKey;
}

}  // namespace farthest
