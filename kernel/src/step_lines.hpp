// The inner loop, compiled once for each instruction set with its own Shuffler:
//   Shuffler(const BitMap&)            prepares a map
//   auto loaded() const                the map in registers, as far as it fits:
//     Word operator()(Word) const      bit b of the result = bit map[b] of the word
#pragma once

#include <cstring>

#include "farthest/arrangement.hpp"
#include "finish_line.hpp"
#include "reduced_lines.hpp"

namespace farthest {

// From where, and with which programs, the lines of a shard are pulled.
struct LineRows {
  std::size_t words_per_line;
  std::span<const RowEntry* const> rows;  // by move, then by line of the shard
  const Program* programs;
  const void* shufflers;
};

using StepLines = std::uint64_t (*)(const LineRange&, const LineRows&);
using PullProgram = void (*)(const Program&, const void* shufflers, const Pull&);

// An instruction set's inner loop and its prepared maps.
struct Backend {
  StepLines run;
  PullProgram pull;
  std::size_t bytes, align;  // of one prepared map
  void (*make)(void* place, const BitMap& map);
};
const Backend& portable_backend();
const Backend& avx2_backend(int bits);  // for words of so many bits
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
  const WordShuffle* at = program.shuffles.data();
  for (const WordShuffle* const end = at + program.shuffles.size(); at != end;) {
    const auto map = at->map;
    const auto shuffle = shufflers[map].loaded();
    do result[at->to] |= shuffle(source[at->from]);
    while (++at != end && at->map == map);
  }
}

template <class Shuffler>
std::uint64_t step_lines(const LineRange& range, const LineRows& by) {
  const auto* shufflers = static_cast<const Shuffler*>(by.shufflers);
  const std::size_t words = by.words_per_line;
  alignas(64) Word result[kMaxLineWords];
  std::uint64_t total = 0;
  for (std::uint64_t line = range.first; line < range.last; ++line) {
    // Each program is applied when the one after it has been asked for: the programs of a space, and the
    // lines that are pulled from, leave the nearest cache.
    const Program* program = nullptr;
    const Word* source = nullptr;
    for (std::size_t m = 0; m < by.rows.size(); ++m) {
      const RowEntry entry = by.rows[m][line];
      if (range.source_flags[m][entry.line] == 0) continue;
      const Program* const next = by.programs + entry.program;
      const Word* const next_source = range.source_words[m] + entry.line * words;
      __builtin_prefetch(next->shuffles.data());
      __builtin_prefetch(next_source);
      if (program == nullptr)
        std::memset(result, 0, words * sizeof(Word));
      else
        apply(*program, shufflers, source, result, words);
      program = next;
      source = next_source;
    }
    if (program != nullptr) apply(*program, shufflers, source, result, words);
    total += finish_line(range, line, program != nullptr ? result : nullptr, words);
  }
  return total;
}

template <class Shuffler>
void pull_program(const Program& program, const void* shufflers, const Pull& pull) {
  pull_lines(pull, [&](const Word* source, Word* result) {
    apply(program, static_cast<const Shuffler*>(shufflers), source, result, pull.words);
    Word every = pull.all;
    for (std::size_t w = 0; w < pull.words; ++w) every &= result[w];
    return every == pull.all ? kFull : std::uint8_t{1};
  });
}

template <class Shuffler>
const Backend& backend_of() {
  static const Backend backend{&step_lines<Shuffler>, &pull_program<Shuffler>, sizeof(Shuffler),
                               alignof(Shuffler),
                               [](void* place, const BitMap& map) { new (place) Shuffler(map); }};
  return backend;
}

}  // namespace
}  // namespace farthest
