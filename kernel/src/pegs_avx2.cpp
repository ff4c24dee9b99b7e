#include <immintrin.h>

#include "pegs_lines.hpp"

namespace farthest {
namespace {

class Avx2Line {
 public:
  void add(const Word* from, const Word* mask) {
    low_ = _mm256_or_si256(low_, _mm256_and_si256(load(from), load(mask)));
    high_ = _mm256_or_si256(high_, _mm256_and_si256(load(from + 4), load(mask + 4)));
  }
  void add(const Avx2Line& other, const PegShuffle& shuffle) {
    __m256i low = other.low_, high = other.high_;
    if ((shuffle.low & 7) != 0) {
      low = within_bytes(low, shuffle);
      high = within_bytes(high, shuffle);
    }
    if ((shuffle.low >> 3 & 7) != 0) {
      const __m256i bytes = twice(shuffle.bytes);
      low = _mm256_shuffle_epi8(low, bytes);
      high = _mm256_shuffle_epi8(high, bytes);
    }
    if ((shuffle.low >> 6 & 3) != 0) {
      const __m256i words = load(shuffle.words);
      low = _mm256_permutevar8x32_epi32(low, words);
      high = _mm256_permutevar8x32_epi32(high, words);
    }
    if ((shuffle.low >> 8) != 0) {
      const __m256i first = low;
      low = high;
      high = first;
    }
    low_ = _mm256_or_si256(low_, low);
    high_ = _mm256_or_si256(high_, high);
  }
  void store(Word* to) const {
    _mm256_store_si256(reinterpret_cast<__m256i*>(to), low_);
    _mm256_store_si256(reinterpret_cast<__m256i*>(to + 4), high_);
  }

 private:
  static __m256i load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
  static __m256i twice(const std::uint8_t* from) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  static __m256i within_bytes(__m256i bits, const PegShuffle& shuffle) {
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i low = _mm256_and_si256(bits, nibble);
    const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bits, 4), nibble);
    return _mm256_or_si256(_mm256_shuffle_epi8(twice(shuffle.nibbles[0]), low),
                           _mm256_shuffle_epi8(twice(shuffle.nibbles[1]), high));
  }

  __m256i low_ = _mm256_setzero_si256();
  __m256i high_ = _mm256_setzero_si256();
};

}  // namespace

StepPegs avx2_pegs(std::size_t words) {
  return words == kPegLineWords ? &step_pegs<Avx2Line, kPegLineWords> : nullptr;
}

}  // namespace farthest
