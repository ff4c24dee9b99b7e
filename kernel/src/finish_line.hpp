// The end of a line's step, compiled once for each instruction set.
#pragma once

#include <bit>
#include <cstring>

#include "farthest/space.hpp"

namespace farthest {
namespace {  // one copy for each instruction set: inline functions would be merged by the linker

// result: the line's image, of `words` words, or null where it is empty. Takes away what is excluded, writes
// the rest and adds it to what accumulates. Returns the number of its states.
inline std::uint64_t finish_line(const LineRange& range, std::uint64_t line, Word* result,
                                 std::size_t words) {
  std::uint64_t count = 0;
  if (result != nullptr) {
    for (std::size_t e = 0; e < range.excludes; ++e) {
      const Word* known = range.exclude[e] + line * words;
      for (std::size_t w = 0; w < words; ++w) result[w] &= ~known[w];
    }
    for (std::size_t w = 0; w < words; ++w) count += static_cast<std::uint64_t>(std::popcount(result[w]));
  }
  Word* fresh = range.fresh + line * words;
  if (count != 0) {
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
  return count;
}

}  // namespace
}  // namespace farthest
