// What a link of a reduced space does to some lines, compiled once for each instruction set.
#pragma once

#include <bit>
#include <cstddef>
#include <span>

#include "farthest/line_map.hpp"
#include "farthest/types.hpp"
#include "finish_line.hpp"

namespace farthest {

// Lines that are pulled: line at[i] of the result gets the image of source line lines[i]. The source lines of
// kPullAhead more are known, so that they can be fetched before.
inline constexpr std::size_t kPullAhead = 24;
struct Pull {
  std::size_t words;  // of a line
  const Word* source;
  const std::uint8_t* flags;  // of the source's lines
  const std::uint32_t* lines;
  const std::uint16_t* at;
  std::size_t count;
  Word* result;
  std::uint8_t* touched;  // flags of the result's lines
  Word all;               // the keys of a word
};

// A linear map, laid out for an instruction set: one block of memory a map.
struct LinearStage {
  std::uint32_t partner, shift;
  const Word *left, *right;
};
struct LinearMap {
  std::span<const LinearStage> stages;
  const std::uint8_t* units;  // by unit; null: each stays
};

using PullLinear = void (*)(const LinearMap&, const Pull&);

// The end of the step of lines [first, first + count): takes away what is excluded of the result, or, where
// layers are united, finds what is fresh; writes it and adds it to what accumulates. all: the keys of a word.
// Returns the number of fresh states.
struct PulledLines {
  std::uint64_t first;
  std::size_t count, words;
  Word* result;
  const std::uint8_t* touched;
  Word all;
};
using FinishLines = std::uint64_t (*)(const LineRange&, const PulledLines&);

// Any map of the bits of a line, by word of the result: for each of its bits the byte of the source line, the
// lowest bits of its number, and the bit in it, 0 where there is none. upper: those with bytes from 256 on.
struct LineBytes {
  std::uint8_t byte[64] = {}, bit[64] = {};
  Word upper = 0;
};

using PullBits = void (*)(const LineBytes* words, const Pull&);

// How an instruction set takes linear maps of lines of so many words: with units of bytes (3) or words (6);
// and other maps, by LineBytes, or, where there is no pull_bits, by programs of shuffles.
struct ReducedBackend {
  int unit_bits;
  PullLinear pull;
  PullBits pull_bits;
  FinishLines finish;
};
ReducedBackend portable_reduced(std::size_t words);
ReducedBackend avx2_reduced(std::size_t words);
ReducedBackend avx512_reduced(std::size_t words);  // needs AVX-512 VBMI as well

namespace {  // one copy for each instruction set

// Calls take(source, result) for each line that is pulled; it returns the flag of the result.
template <class Take>
void pull_lines(const Pull& pull, Take take) {
  for (std::size_t i = 0; i < pull.count; ++i) {
    const Word* ahead = pull.source + std::size_t{pull.lines[i + kPullAhead]} * pull.words;
    for (std::size_t w = 0; w < pull.words; w += 8) __builtin_prefetch(ahead + w);
    if (pull.flags[pull.lines[i]] == 0) continue;
    const std::size_t at = pull.at[i];
    pull.touched[at] =
        take(pull.source + std::size_t{pull.lines[i]} * pull.words, pull.result + at * pull.words);
  }
}

// A line's result of a step whose layers are united: old and new states.
inline std::uint64_t finish_united(const LineRange& range, const PulledLines& by, std::size_t i) {
  const std::uint64_t at = by.first + i - range.from;
  const std::uint8_t known_flag = range.known_flags[at];
  std::uint8_t& flag = range.fresh_flags[at];
  Word* const fresh = range.fresh + at * by.words;
  const Word* const result = by.result + i * by.words;
  if (by.touched[i] == 0) {
    if (flag != 0) std::memset(fresh, 0, by.words * sizeof(Word));
    flag = 0;
    return 0;
  }
  if (known_flag == kFull && flag == kFull) return 0;
  const Word* const known = range.exclude[0] + at * by.words;
  std::uint64_t count = 0;
  Word every = by.all;
  for (std::size_t w = 0; w < by.words; ++w) {
    count += static_cast<std::uint64_t>(std::popcount(result[w] & ~known[w]));
    every &= result[w];
  }
  for (std::size_t a = 0; count != 0 && a < range.accumulates; ++a) {
    Word* sum = range.accumulate[a] + at * by.words;
    for (std::size_t w = 0; w < by.words; ++w) sum[w] |= result[w] & ~known[w];
    range.accumulate_flags[a][at] = 1;
  }
  std::memcpy(fresh, result, by.words * sizeof(Word));
  flag = every == by.all ? kFull : 1;
  return count;
}

inline std::uint64_t finish_lines(const LineRange& range, const PulledLines& by) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < by.count; ++i)
    total += range.known_flags != nullptr
                 ? finish_united(range, by, i)
                 : finish_line(range, by.first + i, by.touched[i] != 0 ? by.result + i * by.words : nullptr,
                               by.words);
  return total;
}

}  // namespace
}  // namespace farthest
