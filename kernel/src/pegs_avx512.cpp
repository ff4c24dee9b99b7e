#include <immintrin.h>

#include "pegs_lines.hpp"

namespace farthest {
namespace {

class Avx512Line {
 public:
  void add(const Word* from, const Word* mask) {
    bits_ = _mm512_or_si512(bits_, _mm512_and_si512(load(from), load(mask)));
  }
  void add(const Avx512Line& other, const PegShuffle& shuffle) {
    __m512i bits = other.bits_;
    if ((shuffle.low & 7) != 0) {
      const __m512i nibble = _mm512_set1_epi8(15);
      const __m512i low = _mm512_and_si512(bits, nibble);
      const __m512i high = _mm512_and_si512(_mm512_srli_epi16(bits, 4), nibble);
      bits = _mm512_or_si512(_mm512_shuffle_epi8(repeated(shuffle.nibbles[0]), low),
                             _mm512_shuffle_epi8(repeated(shuffle.nibbles[1]), high));
    }
    if ((shuffle.low >> 3 & 7) != 0) bits = _mm512_shuffle_epi8(bits, repeated(shuffle.bytes));
    if ((shuffle.low >> 6) != 0) {
      const __m512i number = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
      bits = _mm512_permutexvar_epi64(_mm512_xor_si512(number, _mm512_set1_epi64(shuffle.low >> 6)), bits);
    }
    bits_ = _mm512_or_si512(bits_, bits);
  }
  void store(Word* to) const { _mm512_store_si512(to, bits_); }

 private:
  static __m512i load(const void* from) { return _mm512_loadu_si512(from); }
  static __m512i repeated(const std::uint8_t* from) {
    return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }

  __m512i bits_ = _mm512_setzero_si512();
};

}  // namespace

StepPegs avx512_pegs(std::size_t words) {
  return words == kPegLineWords ? &step_pegs<Avx512Line, kPegLineWords> : nullptr;
}

}  // namespace farthest
