// The inner loop, compiled once for each instruction set with its own Shuffler:
//   Shuffler(const BitMap&)            prepares a map
//   Word operator()(Word) const        bit b of the result = bit map[b] of the word
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "farthest/program.hpp"
#include "farthest/space.hpp"

namespace farthest {

inline constexpr std::size_t kMaxExclude = 2;
inline constexpr std::size_t kMaxAccumulate = 18;  // visited and the planes of 16-bit distances

// Lines [first, last) of one shard. Pointers are to the first line of the shard they name.
struct LineRange {
  std::uint64_t first = 0, last = 0;
  std::size_t words_per_line = 0;
  std::size_t moves = 0;
  const RowEntry* rows = nullptr;
  std::span<const Word* const> source_words;  // by move
  std::span<const std::uint8_t* const> source_flags;
  const Program* programs = nullptr;
  const void* shufflers = nullptr;
  Word* fresh = nullptr;
  std::uint8_t* fresh_flags = nullptr;
  std::size_t excludes = 0, accumulates = 0;
  std::array<const Word*, kMaxExclude> exclude{};
  std::array<Word*, kMaxAccumulate> accumulate{};
  std::array<std::uint8_t*, kMaxAccumulate> accumulate_flags{};
};

using StepLines = std::uint64_t (*)(const LineRange&);

// An instruction set's inner loop and its prepared maps.
struct Backend {
  StepLines run;
  std::size_t bytes, align;  // of one prepared map
  void (*make)(void* place, const BitMap& map);
};
const Backend& portable_backend();
const Backend& avx2_backend();
const Backend& avx512_backend();

namespace {  // one copy for each instruction set: inline functions would be merged by the linker

template <class Shuffler>
void apply(const Program& program, const Shuffler* shufflers, const Word* source, Word* result,
           std::size_t words) {
  if (program.identity) {
    for (std::size_t w = 0; w < words; ++w) result[w] |= source[w];
    return;
  }
  for (const auto& copy : program.copies) result[copy.to] |= source[copy.from];
  for (const auto& shuffle : program.shuffles)
    result[shuffle.to] |= shufflers[shuffle.map](source[shuffle.from]);
}

template <class Shuffler>
std::uint64_t step_lines(const LineRange& range) {
  const auto* shufflers = static_cast<const Shuffler*>(range.shufflers);
  const std::size_t words = range.words_per_line;
  alignas(64) Word result[kMaxLineWords];
  std::uint64_t total = 0;
  const RowEntry* row = range.rows + range.first * range.moves;
  for (std::uint64_t line = range.first; line < range.last; ++line, row += range.moves) {
    bool any = false;
    for (std::size_t m = 0; m < range.moves; ++m) {
      const RowEntry& entry = row[m];
      if (range.source_flags[m][entry.line] == 0) continue;
      if (!any) std::memset(result, 0, words * sizeof(Word));
      any = true;
      apply(range.programs[entry.program], shufflers, range.source_words[m] + entry.line * words, result,
            words);
    }
    Word* fresh = range.fresh + line * words;
    if (any) {
      for (std::size_t e = 0; e < range.excludes; ++e) {
        const Word* known = range.exclude[e] + line * words;
        for (std::size_t w = 0; w < words; ++w) result[w] &= ~known[w];
      }
      std::uint64_t count = 0;
      for (std::size_t w = 0; w < words; ++w) count += static_cast<std::uint64_t>(std::popcount(result[w]));
      any = count != 0;
      total += count;
    }
    if (any) {
      std::memcpy(fresh, result, words * sizeof(Word));
      range.fresh_flags[line] = 1;
      for (std::size_t a = 0; a < range.accumulates; ++a) {
        Word* sum = range.accumulate[a] + line * words;
        for (std::size_t w = 0; w < words; ++w) sum[w] |= result[w];
        range.accumulate_flags[a][line] = 1;
      }
    } else if (range.fresh_flags[line] != 0) {
      std::memset(fresh, 0, words * sizeof(Word));
      range.fresh_flags[line] = 0;
    }
  }
  return total;
}

template <class Shuffler>
const Backend& backend_of() {
  static const Backend backend{&step_lines<Shuffler>, sizeof(Shuffler), alignof(Shuffler),
                               [](void* place, const BitMap& map) { new (place) Shuffler(map); }};
  return backend;
}

}  // namespace
}  // namespace farthest
