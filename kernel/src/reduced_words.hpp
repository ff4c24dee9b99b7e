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
  // By fours, whose order is known, so that compilers make vectors of them.
  const auto by_fours = [&]<std::size_t Partner>(std::integral_constant<std::size_t, Partner>) {
    for (std::size_t w = 0; w < words; w += 4)
      for (std::size_t i = 0; i < 4; ++i) at(w + i, from[(w ^ (stage.partner & ~3U)) + (i ^ Partner)]);
  };
  if (words < 4) {
    for (std::size_t w = 0; w < words; ++w) at(w, from[w ^ stage.partner]);
    return;
  }
  switch (stage.partner & 3) {
    case 0:
      return by_fours(std::integral_constant<std::size_t, 0>{});
    case 1:
      return by_fours(std::integral_constant<std::size_t, 1>{});
    case 2:
      return by_fours(std::integral_constant<std::size_t, 2>{});
    default:
      return by_fours(std::integral_constant<std::size_t, 3>{});
  }
}

void pull_words(const LinearMap& map, const Pull& by) {
  Word buffer[2][kMostLinearWords];
  pull_lines(by, [&](const Word* source, Word* result) {
    for (std::size_t i = 0; i < map.stages.size(); ++i) {
      apply(map.stages[i], source, buffer[i & 1], by.words);
      source = buffer[i & 1];
    }
    Word every = ~Word{0};
    if (map.units == nullptr)
      for (std::size_t w = 0; w < by.words; ++w) every &= result[w] |= source[w];
    else
      for (std::size_t w = 0; w < by.words; ++w) every &= result[w] |= source[map.units[w]];
    return every == ~Word{0} ? kFull : std::uint8_t{1};
  });
}

}  // namespace
}  // namespace farthest
