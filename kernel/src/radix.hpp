// Sorting by words: digit by digit of the highest bits that differ, then those that these do not tell apart.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace farthest {

// For each digit and value the place of the next item.
struct RadixPlaces {
  static constexpr int kDigitBits = 11, kMostDigits = 4;
  std::array<std::array<std::uint32_t, std::size_t{1} << kDigitBits>, kMostDigits> of;
};

template <class Item, class WordOf>
void radix_sort_from(std::size_t word, std::span<Item> items, Item* other, std::size_t words,
                     const WordOf& word_of, RadixPlaces& places) {
  constexpr std::size_t kFew = 48;  // so many are compared
  constexpr int kMoreBits = 4;      // than there are items: most are then told apart
  constexpr int kDigitBits = RadixPlaces::kDigitBits;
  if (items.size() <= kFew) return std::sort(items.begin(), items.end());
  std::uint64_t differing = 0;
  for (; word < words && differing == 0; ++word) {
    const std::uint64_t first = word_of(items[0], word);
    for (const Item& item : items) differing |= word_of(item, word) ^ first;
  }
  if (differing == 0) return;
  const std::size_t by = word - 1;
  const int bits = std::min({static_cast<int>(std::bit_width(differing)) - std::countr_zero(differing),
                             static_cast<int>(std::bit_width(items.size())) + kMoreBits,
                             RadixPlaces::kMostDigits * kDigitBits});
  const int shift = static_cast<int>(std::bit_width(differing)) - bits;
  const int digits = (bits + kDigitBits - 1) / kDigitBits, digit_bits = (bits + digits - 1) / digits;
  const std::uint64_t mask = (std::uint64_t{1} << digit_bits) - 1;
  for (int d = 0; d < digits; ++d) std::fill_n(places.of[static_cast<std::size_t>(d)].begin(), mask + 1, 0);
  for (const Item& item : items) {
    std::uint64_t rest = word_of(item, by) >> shift;
    for (int d = 0; d < digits; ++d, rest >>= digit_bits)
      ++places.of[static_cast<std::size_t>(d)][rest & mask];
  }
  Item *from = items.data(), *to = other;
  for (int d = 0; d < digits; ++d) {
    auto& place = places.of[static_cast<std::size_t>(d)];
    std::uint32_t begin = 0;
    for (std::size_t value = 0; value <= mask; ++value) begin += std::exchange(place[value], begin);
    const int at = shift + d * digit_bits;
    for (std::size_t i = 0; i < items.size(); ++i) to[place[word_of(from[i], by) >> at & mask]++] = from[i];
    std::swap(from, to);
  }
  if (from != items.data()) std::copy_n(from, items.size(), items.data());
  if (shift == 0 && word == words) return;
  const auto high = [&](const Item& item) { return word_of(item, by) >> shift; };
  for (std::size_t begin = 0, end; begin < items.size(); begin = end) {
    for (end = begin + 1; end < items.size() && high(items[end]) == high(items[begin]);) ++end;
    if (end - begin > 1)
      radix_sort_from(shift == 0 ? word : by, items.subspan(begin, end - begin), other, words, word_of,
                      places);
  }
}

// Sorts fewer than 2^32 items, which `<` compares as the numbers word_of(item, 0) to word_of(item, words - 1)
// do, the first before the others. `other`: memory that grows as needed.
template <class Item, class WordOf>
void radix_sort(std::span<Item> items, std::vector<Item>& other, std::size_t words, const WordOf& word_of) {
  if (other.size() < items.size()) other.resize(items.size());
  const auto places = std::make_unique_for_overwrite<RadixPlaces>();
  radix_sort_from(0, items, other.data(), words, word_of, *places);
}

}  // namespace farthest
