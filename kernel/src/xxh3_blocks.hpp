// The part of XXH3 that takes the time of long data, for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace farthest {

inline constexpr std::size_t kHashStripe = 64;   // bytes that the eight sums take at a time
inline constexpr std::size_t kHashStripes = 16;  // of a block
inline constexpr std::uint32_t kHashPrime = 0x9e3779b1;

// Adds whole blocks to the eight sums. secret: 192 bytes.
void avx2_hash_blocks(std::uint64_t* sums, const std::uint8_t* data, std::size_t blocks,
                      const std::uint8_t* secret);

}  // namespace farthest
