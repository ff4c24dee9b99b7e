#include <immintrin.h>

#include "packed_lines.hpp"

namespace farthest {
namespace {

void read(const Key* words, int shift, Key mask, std::uint8_t* contents) {
  const __m128i count = _mm_cvtsi32_si128(shift);
  const __m512i bits = _mm512_set1_epi64(static_cast<long long>(mask));
  for (std::size_t i = 0; i < kPackedBlock; i += 8) {
    const __m512i some = _mm512_and_si512(_mm512_srl_epi64(_mm512_loadu_si512(words + i), count), bits);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(contents + i), _mm512_cvtepi64_epi8(some));
  }
}

SlotMask blanks(const std::uint8_t* contents) {
  const __m512i all = _mm512_loadu_si512(contents);
  return _mm512_testn_epi8_mask(all, all);
}

void make(const PackedChange* changes, std::size_t count, const std::uint8_t* contents, const Key* words,
          Key kept, SlotMask boards, Key* out) {
  alignas(64) std::uint8_t become[64][kPackedBlock];
  for (std::size_t j = 0; j < count; ++j)
    _mm512_store_si512(become[j],
                       _mm512_permutexvar_epi8(_mm512_loadu_si512(contents + kPackedBlock * changes[j].from),
                                               _mm512_loadu_si512(changes[j].contents)));
  const __m512i rest = _mm512_set1_epi64(static_cast<long long>(kept));
  for (std::size_t i = 0; boards != 0; i += 8, boards >>= 8) {
    const auto some = static_cast<__mmask8>(boards);
    if (some == 0) continue;
    __m512i made = _mm512_and_si512(_mm512_loadu_si512(words + i), rest);
    for (std::size_t j = 0; j < count; ++j) {
      const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(become[j] + i));
      const __m128i shift = _mm_cvtsi32_si128(static_cast<int>(changes[j].shift));
      made = _mm512_or_si512(made, _mm512_sll_epi64(_mm512_cvtepu8_epi64(bytes), shift));
    }
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi64(some, made));
    out += _mm_popcnt_u32(some);
  }
}

}  // namespace

PackedBackend avx512_packed() { return {read, blanks, make}; }

}  // namespace farthest
