// Lines of 512 to 4,096 bits in registers: stages by shifts; units are bytes, by shuffles of two registers,
// or of the longest lines words, which are gathered from memory.
#include <immintrin.h>

#include <algorithm>
#include <array>

#include "reduced_lines.hpp"

namespace farthest {
namespace {

template <std::size_t Parts>
struct Line {
  __m512i part[Parts];
};

// The bits of `yes` where `where` has ones, else those of `no`.
inline __m512i chosen(__m512i where, __m512i yes, __m512i no) {
  return _mm512_ternarylogic_epi64(where, yes, no, 0xca);
}

// Part: what the number of the partner's part differs by, known here, so that parts stay in registers.
template <std::size_t Part, bool Words, std::size_t Parts>
[[gnu::always_inline]] inline void apply_stage(const LinearStage& stage, Line<Parts>& line) {
  const __m512i number = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i lanes = _mm512_xor_si512(number, _mm512_set1_epi64(stage.partner & 7));
  const __m512i shift = _mm512_set1_epi64(stage.shift);
  const Line<Parts> old = line;
#pragma GCC unroll 8
  for (std::size_t i = 0; i < Parts; ++i) {
    __m512i from = old.part[i ^ Part];
    if constexpr (Words) from = _mm512_permutexvar_epi64(lanes, from);
    const __m512i left = _mm512_loadu_si512(stage.left + 8 * i);
    const __m512i right = _mm512_loadu_si512(stage.right + 8 * i);
    line.part[i] = chosen(left, _mm512_sllv_epi64(from, shift),
                          chosen(right, _mm512_srlv_epi64(from, shift), line.part[i]));
  }
}

template <std::size_t Parts, std::size_t Part = 0>
[[gnu::always_inline]] inline void apply(const LinearStage& stage, Line<Parts>& line) {
  if constexpr (Part + 1 < Parts)
    if (stage.partner >> 3 != Part) return apply<Parts, Part + 1>(stage, line);
  if ((stage.partner & 7) != 0)
    apply_stage<Part, true, Parts>(stage, line);
  else
    apply_stage<Part, false, Parts>(stage, line);
}

// Adds the image of a line, by parts, to the result; returns the result's flag.
template <std::size_t Parts, class Image>
[[gnu::always_inline]] inline std::uint8_t unite(Word* result, Image part) {
  __m512i every = _mm512_set1_epi64(-1);
#pragma GCC unroll 8
  for (std::size_t i = 0; i < Parts; ++i) {
    const __m512i out = _mm512_or_si512(part(i), _mm512_loadu_si512(result + 8 * i));
    every = _mm512_and_si512(every, out);
    _mm512_storeu_si512(result + 8 * i, out);
  }
  return _mm512_cmpeq_epi64_mask(every, _mm512_set1_epi64(-1)) == 0xff ? kFull : std::uint8_t{1};
}

template <std::size_t Parts>
void pull(const LinearMap& map, const Pull& by) {
  Line<Parts> index, upper;
  if (map.units != nullptr)
    for (std::size_t i = 0; i < Parts; ++i) {
      index.part[i] = _mm512_loadu_si512(map.units + 64 * i);
      upper.part[i] = _mm512_movm_epi8(_mm512_movepi8_mask(index.part[i]));  // bytes from 128 on
    }
  pull_lines(by, [&](const Word* source, Word* result) {
    Line<Parts> line;
    for (std::size_t i = 0; i < Parts; ++i) line.part[i] = _mm512_loadu_si512(source + 8 * i);
    for (const LinearStage& stage : map.stages) apply<Parts>(stage, line);
    return unite<Parts>(result, [&](std::size_t i) {
      if (map.units == nullptr) return line.part[i];
      if constexpr (Parts == 1) return _mm512_permutexvar_epi8(index.part[i], line.part[0]);
      const __m512i out = _mm512_permutex2var_epi8(line.part[0], index.part[i], line.part[1 % Parts]);
      if constexpr (Parts < 4) return out;
      return chosen(upper.part[i],
                    _mm512_permutex2var_epi8(line.part[2 % Parts], index.part[i], line.part[3 % Parts]), out);
    });
  });
}

void pull_long(const LinearMap& map, const Pull& by) {
  constexpr std::size_t kParts = 8;
  alignas(64) Word words[8 * kParts];
  pull_lines(by, [&](const Word* source, Word* result) {
    if (!map.stages.empty()) {
      Line<kParts> line;
      for (std::size_t i = 0; i < kParts; ++i) line.part[i] = _mm512_loadu_si512(source + 8 * i);
      for (const LinearStage& stage : map.stages) apply<kParts>(stage, line);
      if (map.units == nullptr) return unite<kParts>(result, [&](std::size_t i) { return line.part[i]; });
      for (std::size_t i = 0; i < kParts; ++i) _mm512_store_si512(words + 8 * i, line.part[i]);
      source = words;
    }
    return unite<kParts>(result, [&](std::size_t i) {
      if (map.units == nullptr) return _mm512_loadu_si512(source + 8 * i);
      const __m128i units = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(map.units + 8 * i));
      return _mm512_i64gather_epi64(_mm512_cvtepu8_epi64(units), source, 8);
    });
  });
}

template <std::size_t Parts>
void pull_bits(const LineBytes* words, const Pull& by) {
  std::array<__mmask8, Parts> there;  // words of a part
  for (std::size_t i = 0; i < Parts; ++i)
    there[i] = by.words > 8 * i
                   ? static_cast<__mmask8>(0xffU >> (8 - std::min<std::size_t>(by.words - 8 * i, 8)))
                   : __mmask8{0};
  pull_lines(by, [&](const Word* source, Word* result) {
    Line<Parts> line;
    for (std::size_t i = 0; i < Parts; ++i) line.part[i] = _mm512_maskz_loadu_epi64(there[i], source + 8 * i);
    Word every = by.all;
    for (std::size_t w = 0; w < by.words; ++w) {
      const __m512i index = _mm512_loadu_si512(words[w].byte);
      const auto pair = [&](std::size_t i) {
        return _mm512_permutex2var_epi8(line.part[i % Parts], index, line.part[(i + 1) % Parts]);
      };
      __m512i bytes;
      if constexpr (Parts == 1) {
        bytes = _mm512_permutexvar_epi8(index, line.part[0]);
      } else {
        bytes = pair(0);
        if constexpr (Parts >= 4) bytes = _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), bytes, pair(2));
        if constexpr (Parts == 8) {
          const __m512i upper = _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), pair(4), pair(6));
          bytes = _mm512_mask_blend_epi8(words[w].upper, bytes, upper);
        }
      }
      result[w] |= _mm512_test_epi8_mask(bytes, _mm512_loadu_si512(words[w].bit));
      every &= result[w];
    }
    return every == by.all ? kFull : std::uint8_t{1};
  });
}

PullBits pull_bits_of(std::size_t words) {
  if (words <= 8) return &pull_bits<1>;
  if (words <= 16) return &pull_bits<2>;
  if (words <= 32) return &pull_bits<4>;
  return words <= 64 ? &pull_bits<8> : nullptr;
}

}  // namespace

ReducedBackend avx512_reduced(std::size_t words) {
  const PullBits bits = pull_bits_of(words);
  if (words == 8) return {3, &pull<1>, bits, &finish_lines};
  if (words == 16) return {3, &pull<2>, bits, &finish_lines};
  if (words == 32) return {3, &pull<4>, bits, &finish_lines};
  if (words == 64) return {6, &pull_long, bits, &finish_lines};
  return {6, portable_reduced(words).pull, bits, &finish_lines};
}

}  // namespace farthest
