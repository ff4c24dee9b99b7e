// The twist digits of a layout.
#include <algorithm>
#include <array>

#include "farthest/layout.hpp"

namespace farthest {

void Layout::add_digit(const Digit& digit) {
  if (twists_ > kMaxKeys / digit.radix) throw LimitExceeded("more than 2^62 twists");
  twists_ *= digit.radix;
  digits_.push_back(digit);
}

void Layout::read_twists(const std::vector<int>& twisted, const std::vector<int>& turned) {
  first_digit_.assign(counts_.size(), -1);
  for (const int cls : twisted) {
    if (cls < 0 || cls >= classes() || first_digit_[static_cast<std::size_t>(cls)] >= 0)
      throw InvalidArgument("twisted classes must be classes, each once");
    const auto radix = static_cast<std::uint64_t>(orbit_of(cls).modulus);
    if (radix == 1) throw InvalidArgument("a twisted class must be of an orbit with a modulus above 1");
    const int first = first_digit_[static_cast<std::size_t>(cls)] = twist_digits();
    for (int piece = 0; piece < count(cls); ++piece)
      add_digit({cls, piece, -1, static_cast<int>(groups_.size()), radix});
    groups_.push_back({first, twist_digits(), -1, 0, radix});
    exchanges_ = exchanges_ || count(cls) > 1;
  }
  read_turned(turned);
}

void Layout::read_turned(const std::vector<int>& turned) {
  SlotMask seen = 0;
  for (std::size_t i = 0; i < turned.size();) {
    const int slot = turned[i];
    if (slot < 0 || slot >= slots_) throw InvalidArgument("turned slots must be slots");
    const auto orbit =
        std::ranges::find_if(orbits_, [&](const Orbit& o) { return (o.slots & bit(slot)) != 0; });
    const auto radix = static_cast<std::uint64_t>(orbit->modulus);
    if (radix == 1) throw InvalidArgument("a turned slot must be of an orbit with a modulus above 1");
    for (int cls = 0; cls < classes(); ++cls)
      if (first_digit(cls) >= 0 && home(cls) == orbit->slots)
        throw InvalidArgument("an orbit with turned slots must have no twisted classes");
    DigitGroup group{twist_digits(), 0, -1, static_cast<std::uint64_t>(orbit->sum), radix};
    SlotMask left = orbit->slots & ~seen;
    for (; i < turned.size() && turned[i] >= 0 && turned[i] < slots_ && (left & bit(turned[i])) != 0; ++i) {
      left ^= bit(turned[i]);
      add_digit({-1, 0, turned[i], static_cast<int>(groups_.size()), radix});
    }
    group.last = twist_digits();
    if ((left & (left - 1)) != 0 || group.last == group.first)
      throw InvalidArgument("turned slots must be all slots of an orbit, or all but one, together");
    if (left != 0) group.dropped = lowest(left);
    seen |= orbit->slots;
    groups_.push_back(group);
    exchanges_ = true;
  }
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

// The line's digits are whole groups, the last ones: those whose words are fullest.
void Layout::choose_group_twists() {
  upper_ = classes();
  line_twist_ = word_twist_ = twist_digits();
  std::uint64_t digits = 1;
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
    for (int digit = group->first; digit < group->last; ++digit) {
      digits *= twist_radix(digit);
      if (digits > kMaxLineWords * 64) break;
    }
    int word = twist_digits();
    std::uint64_t bits = 1;
    while (word > group->first && bits * twist_radix(word - 1) <= 64) bits *= twist_radix(--word);
    if (digits / bits > kMaxLineWords) break;
    if (bits <= static_cast<std::uint64_t>(bits_)) continue;
    bits_ = static_cast<int>(bits);
    line_twists_ = digits / bits;
    line_twist_ = group->first;
    word_twist_ = word;
  }
  upper_twists_ = twists_ / line_twists_ / static_cast<std::uint64_t>(bits_);
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

std::uint64_t Layout::turned(std::uint64_t number, const Turn& turn, int first, int last) const {
  std::array<std::uint64_t, kMaxSlots> value{};
  for (int digit = last - 1; digit >= first; --digit) {
    value[static_cast<std::size_t>(digit)] = number % twist_radix(digit);
    number /= twist_radix(digit);
  }
  std::uint64_t out = 0;
  for (int digit = first; digit < last; ++digit) {
    const DigitGroup& group = groups_[static_cast<std::size_t>(twist_digit(digit).group)];
    std::uint64_t found = turn.add[static_cast<std::size_t>(digit)];
    if (const auto from = turn.from[static_cast<std::size_t>(digit)]; from != kFollows) {
      found += value[from];
    } else {
      found += group.sum;
      for (int other = group.first; other < group.last; ++other)
        found += group.radix - value[static_cast<std::size_t>(other)];
    }
    out = out * group.radix + found % group.radix;
  }
  return out;
}

bool Layout::keeps_sums(std::span<const std::uint8_t> twist_at) const {
  return std::ranges::all_of(groups_, [&](const DigitGroup& group) {
    if (group.dropped < 0 || twist_at.empty()) return true;
    std::uint64_t sum = twist_at[static_cast<std::size_t>(group.dropped)];
    if (sum >= group.radix) return false;
    for (int digit = group.first; digit < group.last; ++digit)
      sum += twist_at[static_cast<std::size_t>(twist_digit(digit).slot)];
    return sum % group.radix == group.sum;
  });
}

void Layout::decode_slots(std::span<const std::uint8_t> twist, std::span<std::uint8_t> twist_at) const {
  for (const DigitGroup& group : groups_) {
    std::uint64_t follows = group.sum;
    for (int digit = group.first; digit < group.last && twist_digit(digit).cls < 0; ++digit) {
      const auto value = twist[static_cast<std::size_t>(digit)];
      twist_at[static_cast<std::size_t>(twist_digit(digit).slot)] = value;
      follows += group.radix - value;
    }
    if (group.dropped >= 0)
      twist_at[static_cast<std::size_t>(group.dropped)] = static_cast<std::uint8_t>(follows % group.radix);
  }
}

}  // namespace farthest
