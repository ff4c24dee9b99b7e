// Lines of 512 to 4,096 bits in registers: stages by shifts; units are bytes, by shuffles of two registers,
// or of the longest lines words, which are gathered from memory.
#include <immintrin.h>

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

}  // namespace

ReducedBackend avx512_reduced(std::size_t words) {
  if (words == 8) return {3, &pull<1>, &finish_lines};
  if (words == 16) return {3, &pull<2>, &finish_lines};
  if (words == 32) return {3, &pull<4>, &finish_lines};
  if (words == 64) return {6, &pull_long, &finish_lines};
  ReducedBackend other = portable_reduced(words);
  other.finish = &finish_lines;
  return other;
}

}  // namespace farthest
