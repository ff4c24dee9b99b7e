#include "farthest/representatives.hpp"

#include <algorithm>

namespace farthest {

Representatives::Representatives(std::vector<Digit> digits, Key entries, std::span<const std::uint64_t> first,
                                 std::span<const std::uint32_t> lists,
                                 std::vector<std::vector<std::uint32_t>> terms)
    : digits_(std::move(digits)), entries_(entries), terms_(std::move(terms)) {
  constexpr Key kMost = Key{1} << 32;
  const std::size_t sides = terms_.size() + 1;
  if (sides > kMostSides) throw InvalidArgument("there are too many sides");
  std::vector<Key> sizes(sides, 1);
  weights_.resize(digits_.size());
  for (std::size_t i = digits_.size(); i-- > 0;) {
    const Digit& digit = digits_[i];
    if (digit.side >= sides || digit.radix < 1 || digit.radix > kMost || keys_ > (kNoKey >> 1) / digit.radix)
      throw InvalidArgument("a digit must have a radix and be of a side");
    weights_[i] = sizes[digit.side];
    keys_ *= digit.radix;
    sizes[digit.side] *= digit.radix;
    if (sizes[digit.side] > kMost) throw InvalidArgument("a side must have at most 2^32 numbers");
  }
  std::vector<int> shifts(sides);
  int shift = 0;
  for (std::size_t side = sides; side-- > 0;) {
    shifts[side] = shift;
    shift += static_cast<int>(std::bit_width(sizes[side] - 1));
  }
  if (shift > 63) throw InvalidArgument("the numbers of all sides must fit in 63 bits");
  for (std::size_t i = 0; i < digits_.size(); ++i) weights_[i] <<= shifts[digits_[i].side];
  lead_shift_ = shifts[0];
  if (first.size() != sizes[0] || lists.size() != sizes[0] * terms_.size())
    throw InvalidArgument("an entry and lists must be told for each number of the first side");
  std::vector<std::vector<std::uint32_t>> most(terms_.size());  // by list the greatest term
  for (std::size_t side = 0; side < terms_.size(); ++side) {
    const auto size = static_cast<std::size_t>(sizes[side + 1]);
    if (terms_[side].size() % size != 0 || terms_[side].size() >= kMost)
      throw InvalidArgument("a list must have a term for each number of its side");
    shifts_[side] = shifts[side + 1];
    masks_[side] = (Key{1} << std::bit_width(size - 1)) - 1;
    for (auto at = terms_[side].begin(); at != terms_[side].end(); at += static_cast<std::ptrdiff_t>(size))
      most[side].push_back(*std::max_element(at, at + static_cast<std::ptrdiff_t>(size)));
  }
  for (std::size_t number = 0; number < first.size(); ++number) {
    Lead lead{first[number], {}};
    Key greatest = std::min(lead.first, kNoKey >> 1);
    for (std::size_t side = 0; side < terms_.size(); ++side) {
      const std::uint32_t list = lists[number * terms_.size() + side];
      if (list >= most[side].size()) throw InvalidArgument("there is no such list");
      greatest += most[side][list];
      lead.lists[side] = static_cast<std::uint32_t>(list * sizes[side + 1]);
    }
    if (greatest >= entries_) throw InvalidArgument("an entry must be below the number of entries");
    leads_.push_back(lead);
  }
}

Key Representatives::entry(Key key) const {
  Key sum = 0;
  for (std::size_t i = digits_.size(); i-- > 0; key /= digits_[i].radix)
    sum += key % digits_[i].radix * weights_[i];
  locate(&sum, 1);
  return sum;
}

}  // namespace farthest
