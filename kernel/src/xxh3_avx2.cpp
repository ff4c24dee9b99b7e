#include <immintrin.h>

#include "xxh3_blocks.hpp"

namespace farthest {
namespace {

__m256i load_lanes(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }

__m256i add_lanes(__m256i sums, __m256i values, __m256i secret) {
  const __m256i key = _mm256_xor_si256(values, secret);
  const __m256i product = _mm256_mul_epu32(key, _mm256_srli_epi64(key, 32));
  return _mm256_add_epi64(sums, _mm256_add_epi64(product, _mm256_shuffle_epi32(values, 0x4e)));
}

__m256i scrambled(__m256i sums, __m256i secret) {
  const __m256i prime = _mm256_set1_epi64x(kHashPrime);
  const __m256i mixed = _mm256_xor_si256(_mm256_xor_si256(sums, _mm256_srli_epi64(sums, 47)), secret);
  const __m256i high = _mm256_mul_epu32(_mm256_srli_epi64(mixed, 32), prime);
  return _mm256_add_epi64(_mm256_mul_epu32(mixed, prime), _mm256_slli_epi64(high, 32));
}

}  // namespace

void avx2_hash_blocks(std::uint64_t* sums, const std::uint8_t* data, std::size_t blocks,
                      const std::uint8_t* secret) {
  __m256i low = load_lanes(sums), high = load_lanes(sums + 4);
  for (; blocks > 0; --blocks) {
    for (std::size_t i = 0; i < kHashStripes; ++i, data += kHashStripe) {
      low = add_lanes(low, load_lanes(data), load_lanes(secret + 8 * i));
      high = add_lanes(high, load_lanes(data + 32), load_lanes(secret + 8 * i + 32));
    }
    low = scrambled(low, load_lanes(secret + 8 * kHashStripes));
    high = scrambled(high, load_lanes(secret + 8 * kHashStripes + 32));
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums), low);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + 4), high);
}

}  // namespace farthest
