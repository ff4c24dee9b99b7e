// Linear maps of lines by words, compiled once for each instruction set that has nothing better.
#pragma once

#include "reduced_lines.hpp"

namespace farthest {
namespace {

constexpr std::size_t kMostLinearWords = 256;

inline void apply(const LinearStage& stage, const Word* from, Word* to, std::size_t words) {
  const auto at = [&](std::size_t w, Word partner) {
    to[w] = (partner << stage.shift & stage.left[w]) | (partner >> stage.shift & stage.right[w]) |
            (from[w] & ~(stage.left[w] | stage.right[w]));
  };
  if ((stage.partner & 3) == 0 && words >= 4) {
    for (std::size_t w = 0; w < words; w += 4)
      for (std::size_t i = 0; i < 4; ++i) at(w + i, from[(w ^ stage.partner) + i]);
    return;
  }
  for (std::size_t w = 0; w < words; ++w) at(w, from[w ^ stage.partner]);
}

void pull_words(const LinearMap& map, const Pull& by) {
  Word buffer[2][kMostLinearWords];
  pull_lines(by, [&](const Word* source, Word* result) {
    for (std::size_t i = 0; i < map.stages.size(); ++i) {
      apply(map.stages[i], source, buffer[i & 1], by.words);
      source = buffer[i & 1];
    }
    if (map.units == nullptr)
      for (std::size_t w = 0; w < by.words; ++w) result[w] |= source[w];
    else
      for (std::size_t w = 0; w < by.words; ++w) result[w] |= source[map.units[w]];
  });
}

}  // namespace
}  // namespace farthest
