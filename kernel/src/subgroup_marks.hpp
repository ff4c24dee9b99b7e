// Which bit an element of a large subgroup has (subgroup_bits.hpp), and the setting of bits until the next
// step, by any number of threads.
//
// Included by files for one instruction set each: everything here is in an anonymous namespace.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#if defined(__BMI2__)
#include <immintrin.h>
#endif

#include "farthest/subgroup_bits.hpp"

namespace farthest {
namespace {

class SubgroupMarks {
 public:
  explicit SubgroupMarks(SubgroupBits& bits)
      : ranks_(bits.ranks()), words_(bits.words()), filled_(bits.filled()) {}

  // at: the 32 bytes of an element, anything with such an array `at`.
  template <class Pieces>
  std::uint64_t bit_of(const Pieces& pieces) const {
    std::uint64_t first, second;
    std::uint32_t third;
    std::memcpy(&first, pieces.at.data(), sizeof first);
    std::memcpy(&second, pieces.at.data() + 16, sizeof second);
    std::memcpy(&third, pieces.at.data() + 24, sizeof third);
    return eight(first) * SubgroupBits::kPageBits + eight(second) * SubgroupBits::kLaneBits +
           ranks_.third[four(third)];
  }

  // Asks memory for a bit, long before it is set.
  void ask(std::uint64_t bit) const { __builtin_prefetch(words_ + bit / 64, 1); }
  // Whether the bit was 0, which it is not any more. Other threads may do the same. It is tested first: most
  // that are set late have been set before.
  bool set(std::uint64_t bit) const {
    std::uint64_t* const word = words_ + bit / 64;
    const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
    if ((__atomic_load_n(word, __ATOMIC_RELAXED) & mask) != 0) return false;
    if ((__atomic_fetch_or(word, mask, __ATOMIC_RELAXED) & mask) != 0) return false;
    std::uint8_t* const page = filled_ + bit / SubgroupBits::kPageBits;
    if (__atomic_load_n(page, __ATOMIC_RELAXED) == 0)
      __atomic_store_n(page, std::uint8_t{1}, __ATOMIC_RELAXED);
    return true;
  }

 private:
  // The lowest bits of bytes side by side: three of eight, two of four.
  static std::uint32_t three_each(std::uint64_t bytes) {
#if defined(__BMI2__)
    return static_cast<std::uint32_t>(_pext_u64(bytes, 0x0707070707070707));
#else
    bytes &= 0x0707070707070707;
    bytes = (bytes | bytes >> 5) & 0x003f003f003f003f;
    bytes = (bytes | bytes >> 10) & 0x00000fff00000fff;
    return static_cast<std::uint32_t>(bytes | bytes >> 20);
#endif
  }
  static std::uint32_t four(std::uint32_t bytes) {
    bytes &= 0x03030303;
    bytes = (bytes | bytes >> 6) & 0x000f000f;
    return (bytes | bytes >> 12) & 0xff;
  }
  std::uint64_t eight(std::uint64_t bytes) const {
    const std::uint32_t bits = three_each(bytes);
    return std::uint64_t{ranks_.first[bits & 4095]} + ranks_.last[bits >> 12 & 4095];
  }

  const SubgroupRanks& ranks_;
  std::uint64_t* const words_;
  std::uint8_t* const filled_;
};

}  // namespace
}  // namespace farthest
