// Sorting by 64-bit codes, digit by digit, from the lowest that differs anywhere.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "farthest/types.hpp"

namespace farthest {

// The same of items whose codes differ in the bits `differing` alone, by digits of so many bits.
template <int kDigitBits, class Item, class CodeOf>
std::span<Item> sorted_by_digits(const std::vector<std::span<const Item>>& parts, std::size_t size,
                                 Key differing, std::vector<Item>& one, std::vector<Item>& other,
                                 CodeOf code_of) {
  constexpr std::size_t kDigits = (64 + kDigitBits - 1) / kDigitBits, kValues = std::size_t{1} << kDigitBits;
  std::array<int, kDigits> shifts{};
  std::size_t digits = 0;
  for (Key left = differing; left != 0; ++digits) {
    shifts[digits] = std::countr_zero(left);
    const int end = shifts[digits] + kDigitBits;
    left = end >= 64 ? 0 : left >> end << end;
  }
  std::array<std::array<std::uint32_t, kValues>, kDigits> places{};
  const auto digit = [&](const Item& item, std::size_t d) {
    return code_of(item) >> shifts[d] & (kValues - 1);
  };
  for (const auto part : parts)
    for (const Item& item : part)
      for (std::size_t d = 0; d < digits; ++d) ++places[d][digit(item, d)];
  if (other.size() < size) other.resize(size);
  for (std::size_t d = 0; d < digits; ++d) {
    std::uint32_t begin = 0;
    for (auto& place : places[d]) {
      const std::uint32_t count = place;
      place = begin;
      begin += count;
    }
    Item* const out = d % 2 == 0 ? one.data() : other.data();
    const auto scatter = [&](std::span<const Item> items) {
      for (const Item& item : items) out[places[d][digit(item, d)]++] = item;
    };
    if (d == 0)
      std::ranges::for_each(parts, scatter);
    else
      scatter({d % 2 == 0 ? other.data() : one.data(), size});
  }
  return {digits % 2 == 1 ? one.data() : other.data(), size};
}

// Sorts the items of all parts by code_of(item), a number. The result lies in one of the two buffers, which
// grow as needed.
template <class Item, class CodeOf>
std::span<Item> radix_sorted(const std::vector<std::span<const Item>>& parts, std::vector<Item>& one,
                             std::vector<Item>& other, CodeOf code_of) {
  // Below so many items comparing is faster than counting, and below so many short digits, whose counters are
  // fewer, are faster than long ones.
  constexpr std::size_t kFew = 64, kShort = 8192;
  std::size_t size = 0;
  Key differing = 0, first = 0;
  for (const auto part : parts) {
    if (part.empty()) continue;
    if (size == 0) first = code_of(part.front());
    for (const Item& item : part) differing |= code_of(item) ^ first;
    size += part.size();
  }
  if (one.size() < size) one.resize(size);
  if (size < kFew || differing == 0) {
    auto end = one.begin();
    for (const auto part : parts) end = std::ranges::copy(part, end).out;
    std::ranges::sort(one.begin(), end, {}, code_of);
    return {one.data(), size};
  }
  return size < kShort ? sorted_by_digits<8>(parts, size, differing, one, other, code_of)
                       : sorted_by_digits<11>(parts, size, differing, one, other, code_of);
}

}  // namespace farthest
