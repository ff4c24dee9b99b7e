// The end of a line's step, compiled once for each instruction set.
#pragma once

#include <bit>
#include <cstring>

#include "farthest/space.hpp"

namespace farthest {
namespace {  // one copy for each instruction set: inline functions would be merged by the linker

// line: its number in the shard. result: its image, of `words` words, or null where it is empty. Takes away
// what is excluded, writes the rest and adds it to what accumulates. Returns the number of its states.
inline std::uint64_t finish_line(const LineRange& range, std::uint64_t line, Word* result,
                                 std::size_t words) {
  const std::uint64_t at = line - range.from;
  std::uint64_t count = 0;
  if (result != nullptr) {
    for (std::size_t e = 0; e < range.excludes; ++e) {
      const Word* known = range.exclude[e] + at * words;
      for (std::size_t w = 0; w < words; ++w) result[w] &= ~known[w];
    }
    for (std::size_t w = 0; w < words; ++w) count += static_cast<std::uint64_t>(std::popcount(result[w]));
  }
  Word* fresh = range.fresh + at * words;
  if (count != 0) {
    std::memcpy(fresh, result, words * sizeof(Word));
    range.fresh_flags[at] = 1;
    for (std::size_t a = 0; a < range.accumulates; ++a) {
      Word* sum = range.accumulate[a] + at * words;
      for (std::size_t w = 0; w < words; ++w) sum[w] |= result[w];
      range.accumulate_flags[a][at] = 1;
    }
  } else if (range.fresh_flags[at] != 0) {
    std::memset(fresh, 0, words * sizeof(Word));
    range.fresh_flags[at] = 0;
  }
  return count;
}

}  // namespace
}  // namespace farthest
