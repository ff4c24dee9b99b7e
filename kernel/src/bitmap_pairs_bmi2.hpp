// Splits by pairs (bitmap_splits.hpp) for instruction sets that have PEXT and PDEP.
#pragma once

#include <immintrin.h>

#include "bitmap_splits.hpp"

namespace farthest {
namespace {

constexpr std::uint64_t kFirsts = 0x5555555555555555;  // the first bit of each pair

BitmapSplits::Counts split_pairs(const std::uint8_t* array, std::size_t blocks, std::uint8_t* mask,
                                 std::uint8_t* second, std::uint8_t* tail) {
  BitWriter both(second), which(tail);
  BitmapSplits::Counts counts{};
  for (std::size_t at = 0; at < blocks * BitmapSplits::kBlock; at += 16) {
    const std::uint64_t low = load64(array + at), high = load64(array + at + 8);
    const std::uint64_t first = _pext_u64(low, kFirsts) | _pext_u64(high, kFirsts) << 32;
    const std::uint64_t other = _pext_u64(low, ~kFirsts) | _pext_u64(high, ~kFirsts) << 32;
    const std::uint64_t m = first | other, one = first ^ other;
    store64(mask + at / 2, m);
    both.put(_pext_u64(first & other, m), ones_of(m));
    which.put(_pext_u64(other, one), ones_of(one));
    counts.mask += ones_of(m);
    counts.second += ones_of(first & other);
  }
  both.finish(BitmapSplits::kBlock);
  which.finish(0);
  return counts;
}

void join_pairs(const std::uint8_t* mask, std::size_t blocks, const std::uint8_t* second,
                const std::uint8_t* tail, std::uint8_t* array) {
  BitReader both(second), which(tail);
  for (std::size_t at = 0; at < blocks * BitmapSplits::kBlock; at += 16) {
    const std::uint64_t m = load64(mask + at / 2);
    const std::uint64_t two = _pdep_u64(both.peek(), m), one = m ^ two;
    both.skip(ones_of(m));
    const std::uint64_t other = _pdep_u64(which.peek(), one);
    which.skip(ones_of(one));
    const std::uint64_t firsts = m ^ other, seconds = other | two;
    store64(array + at, _pdep_u64(firsts, kFirsts) | _pdep_u64(seconds, ~kFirsts));
    store64(array + at + 8, _pdep_u64(firsts >> 32, kFirsts) | _pdep_u64(seconds >> 32, ~kFirsts));
  }
}

}  // namespace
}  // namespace farthest
