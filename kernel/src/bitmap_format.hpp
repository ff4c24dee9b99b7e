// What the two halves of the codec of bitmaps share: the numbers of its format (bitmap_codec.hpp), memory.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "bitmap_splits.hpp"

namespace farthest {
namespace {

enum Kind : std::uint8_t { kZeros, kList, kRaw, kBytes, kPairs, kCut, kRest, kRestOfWords };

constexpr std::uint8_t kFormat = 1;
constexpr std::size_t kChecksum = 8;
// Behind the array: the format and the checksum. So bit readers that begin in the array stay in the blob.
constexpr std::size_t kTrailer = 1 + kChecksum;
static_assert(kTrailer >= BitmapSplits::kOverread);

constexpr std::uint64_t kMostListed = 32;
// Longer bitmaps are cut, so that all parts of a segment stay in a processor's cache.
constexpr std::size_t kSegment = std::size_t{1} << 18;
static_assert(kSegment == BitmapSplits::kAhead);
// Arrays of fewer bits are not split. A part has at most half of the bits, so the depth is bounded.
constexpr std::uint64_t kLeastSplit = 512;

constexpr std::size_t bytes_of(std::uint64_t bits) { return static_cast<std::size_t>((bits + 7) / 8); }
constexpr std::size_t blocks_of(std::uint64_t bits) {
  return (bytes_of(bits) + BitmapSplits::kBlock - 1) / BitmapSplits::kBlock;
}

// The bits of a Rice code that are not in unary. The numbers in unary are then at most 2 * ones - 1 together.
constexpr unsigned rice_width(std::uint64_t bits, std::uint64_t ones) {
  return static_cast<unsigned>(std::bit_width(bits / ones)) - 1;
}

// The zeros among the lowest `used` bits of each word, which may be written where the words are.
inline void copy_rest(const std::uint8_t* from, std::uint8_t* to, std::size_t size, unsigned used) {
  const std::uint64_t mask = used == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << used) - 1;
  for (std::size_t at = 0; at < size; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, from + at, 8);
    word = ~word & mask;
    std::memcpy(to + at, &word, 8);
  }
}

// Memory for `size` bytes and the slack behind it.
inline std::uint8_t* room(std::vector<std::uint8_t>& memory, std::size_t size) {
  if (memory.size() < size + BitmapSplits::kSlack) memory.resize(size + BitmapSplits::kSlack);
  return memory.data();
}

}  // namespace
}  // namespace farthest
