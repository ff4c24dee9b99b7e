// What a link of a reduced space does to some lines, compiled once for each instruction set.
#pragma once

#include <cstddef>
#include <span>

#include "farthest/line_map.hpp"
#include "farthest/types.hpp"

namespace farthest {

// Lines that are pulled: line i of the result gets the image of source line lines[i]. The source lines of
// kPullAhead more are known, so that they can be fetched before.
inline constexpr std::size_t kPullAhead = 24;
struct Pull {
  std::size_t words;  // of a line
  const Word* source;
  const std::uint8_t* flags;  // of the source's lines
  const std::uint32_t* lines;
  std::size_t count;
  Word* result;
  std::uint8_t* touched;  // by line of the result: set where something was added
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

// How an instruction set takes linear maps of lines of so many words: with units of bytes (3) or words (6).
struct LinearBackend {
  int unit_bits;
  PullLinear pull;
};
LinearBackend portable_linear(std::size_t words);
LinearBackend avx2_linear(std::size_t words);
LinearBackend avx512_linear(std::size_t words);  // needs AVX-512 VBMI as well

namespace {  // one copy for each instruction set

// Calls take(source, result) for each line that is pulled.
template <class Take>
void pull_lines(const Pull& pull, Take take) {
  for (std::size_t i = 0; i < pull.count; ++i) {
    const Word* ahead = pull.source + std::size_t{pull.lines[i + kPullAhead]} * pull.words;
    for (std::size_t w = 0; w < pull.words; w += 8) __builtin_prefetch(ahead + w);
    if (pull.flags[pull.lines[i]] == 0) continue;
    take(pull.source + std::size_t{pull.lines[i]} * pull.words, pull.result + i * pull.words);
    pull.touched[i] = 1;
  }
}

}  // namespace
}  // namespace farthest
