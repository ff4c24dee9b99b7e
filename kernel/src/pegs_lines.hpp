// The inner loop of peg spaces, compiled once for each instruction set with its own Line:
//   Line()                            a line of zeros
//   void add(from, mask)              ORs the words of `from` that `mask` has
//   void add(const Line&, const Shuffle&)  ORs the line with its bits k moved to k ^ shuffle.low
//   void store(Word*) const
//
// A *flip* stands for all jumps that change the same holes: a jump and the one back over the same hole, of
// which at most one can be made. Its *pattern* in a line is what the line tells of its upper and dropped
// holes; for each pattern there is a mask of the places in a line where one of the jumps can be made.
// Patterns are parities of the line's number, so that of line (a ^ b) is that of a and of b, combined by XOR.
#pragma once

#include <bit>

#include "farthest/space.hpp"
#include "finish_line.hpp"

namespace farthest {

inline constexpr std::size_t kPegPatterns = 8;   // three holes
inline constexpr std::uint64_t kPegBlock = 256;  // lines that are looked at together
inline constexpr std::size_t kPegLineWords = 8;  // at most
inline constexpr std::size_t kPegMaxFlips = 1024;
inline constexpr std::size_t kPegAhead = 4;  // lines

// A change of low index bits.
struct PegShuffle {
  alignas(32) std::uint8_t bytes[16];       // byte_shuffle: i ^ (low >> 3 & 7), within words
  alignas(32) std::uint8_t nibbles[2][16];  // of the low, of the high nibble of a byte: its place in the byte
  std::uint32_t words[8];                   // halves of words within four words
  std::uint32_t low;
};

struct PegFlip {
  std::uint64_t upper;              // changed upper index bits: of the line's number in the space
  std::uint64_t pattern_parity[3];  // of the source line's number; 0 for patterns of fewer holes
  std::uint8_t pattern_first;       // pattern of line 0
  std::uint8_t possible;            // bit p: mask p is not empty
  std::uint8_t active;              // bit p: one of the 256 lines around has such a pattern
  std::uint32_t shuffle;
};

struct PegBlockTable {
  // Bit f of entry [line % 256][pattern]: flip f has this pattern, as far as those 8 bits go.
  std::uint64_t flips[kPegBlock][kPegPatterns];
};

struct PegStep {
  const PegFlip* flips;
  std::size_t flip_count;
  const PegBlockTable* tables;   // for each 64 flips
  const Word* masks;             // [flip][pattern][words of a line]
  const std::uint8_t* patterns;  // [flip][line % 256]
  const PegShuffle* shuffles;
  const std::uint16_t* source_of;  // of the shard, by flip: index into its sources
  std::uint64_t lines_per_shard;
};

using StepPegs = std::uint64_t (*)(const LineRange&, const PegStep&);

// For lines of `words` words (1, 2, 4, 8). Others than the portable one: null where it has nothing to add.
StepPegs portable_pegs(std::size_t words);
StepPegs avx2_pegs(std::size_t words);
StepPegs avx512_pegs(std::size_t words);

namespace {  // one copy for each instruction set: inline functions would be merged by the linker

// What a flip is to the lines of a block.
struct FlipHere {
  const Word* words;  // of the source block
  const std::uint8_t* flags;
  const Word* masks;  // of the flip
  const std::uint8_t* patterns;
  std::uint32_t line;  // change of the line within the block
  std::uint32_t shuffle;
  std::uint8_t pattern;  // of the source block
};

// What a flip adds to a line.
struct PegPull {
  const Word* from;
  const Word* mask;
  std::uint32_t shuffle;
};

inline bool any_flag(const std::uint8_t* flags, std::uint64_t lines) {
  std::uint64_t any = 0;
  std::uint64_t line = 0;
  for (; line + 8 <= lines; line += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, flags + line, 8);
    any |= eight;
  }
  for (; line < lines; ++line) any |= flags[line];
  return any != 0;
}

inline std::uint8_t pattern_of(const PegFlip& flip, std::uint64_t line) {
  unsigned pattern = flip.pattern_first;
  for (unsigned i = 0; i < 3; ++i)
    pattern ^= (static_cast<unsigned>(std::popcount(line & flip.pattern_parity[i])) & 1) << i;
  return static_cast<std::uint8_t>(pattern);
}

// The flips that can add to a block.
struct BlockFlips {
  std::uint64_t block;  // the number of its first line in the space
  std::uint64_t size;   // lines
  std::size_t groups;   // of 64 flips
  bool any;
  FlipHere here[kPegMaxFlips];
  std::uint64_t possible[kPegMaxFlips / 64]
                        [kPegPatterns];  // flips by the pattern of a line that lets them add
};

template <std::size_t kWords>
void find_flips(const LineRange& range, const PegStep& by, std::uint64_t begin, BlockFlips& flips) {
  flips.block = range.shard * by.lines_per_shard + begin;
  flips.size = by.lines_per_shard < kPegBlock ? by.lines_per_shard : kPegBlock;
  flips.groups = (by.flip_count + 63) / 64;
  flips.any = false;
  const std::uint64_t block = flips.block, size = flips.size;
  for (std::size_t g = 0; g < flips.groups; ++g) {
    for (std::size_t p = 0; p < kPegPatterns; ++p) flips.possible[g][p] = 0;
    for (std::size_t f = 64 * g; f < by.flip_count && f < 64 * g + 64; ++f) {
      const PegFlip& flip = by.flips[f];
      const std::uint64_t source = (block ^ flip.upper) & ~(kPegBlock - 1);
      // Small shards: the change within the block may lead to another shard, whose lines begin anew.
      const std::uint64_t local = (block ^ (flip.upper & ~(size - 1))) % by.lines_per_shard;
      const std::uint8_t pattern = pattern_of(flip, source);
      if ((flip.active >> pattern & 1) == 0) continue;
      const std::uint8_t* flags = range.source_flags[by.source_of[f]] + local;
      if (!any_flag(flags, size)) continue;
      flips.any = true;
      flips.here[f] = {range.source_words[by.source_of[f]] + local * kWords,
                       flags,
                       by.masks + f * kPegPatterns * kWords,
                       by.patterns + f * kPegBlock,
                       static_cast<std::uint32_t>(flip.upper & (kPegBlock - 1)),
                       flip.shuffle,
                       pattern};
      for (unsigned p = 0; p < kPegPatterns; ++p)
        flips.possible[g][p] |= static_cast<std::uint64_t>(flip.possible >> (pattern ^ p) & 1) << (f % 64);
    }
  }
}

// Asks for what the line is pulled from and writes it to `pulls` from `count` on; returns the new count.
template <std::size_t kWords>
std::size_t find_pulls(const PegStep& by, const BlockFlips& block, std::uint64_t line, PegPull* pulls,
                       std::size_t count) {
  const std::uint64_t at = (block.block + line) & (kPegBlock - 1);
  for (std::size_t g = 0; g < block.groups; ++g) {
    std::uint64_t flips = 0;
    for (std::size_t p = 0; p < kPegPatterns; ++p) flips |= block.possible[g][p] & by.tables[g].flips[at][p];
    for (; flips != 0; flips &= flips - 1) {
      const FlipHere& flip = block.here[64 * g + static_cast<std::size_t>(std::countr_zero(flips))];
      const std::uint64_t from = at ^ flip.line;
      const std::uint64_t local = from & (block.size - 1);
      const std::size_t pattern = flip.pattern ^ flip.patterns[from];
      pulls[count] = {flip.words + local * kWords, flip.masks + pattern * kWords, flip.shuffle};
      __builtin_prefetch(pulls[count].from);
      // An index, since compilers would advance a pointer by a branch, which is hard to foretell.
      count += flip.flags[local] != 0 ? 1 : 0;
    }
  }
  return count;
}

template <class Line>
void add_pulls(const PegStep& by, const PegPull* pull, const PegPull* end, Word* words) {
  Line result;
  while (pull != end) {
    const std::uint32_t shuffle = pull->shuffle;
    Line sum;
    do sum.add(pull->from, pull->mask);
    while (++pull != end && pull->shuffle == shuffle);
    result.add(sum, by.shuffles[shuffle]);
  }
  result.store(words);
}

template <class Line, std::size_t kWords>
std::uint64_t step_block(const LineRange& range, const PegStep& by, std::uint64_t first, std::uint64_t last) {
  const std::uint64_t begin = first & ~(kPegBlock - 1);  // within the shard
  BlockFlips flips;
  find_flips<kWords>(range, by, begin, flips);
  std::uint64_t total = 0;
  if (!flips.any) {
    for (std::uint64_t line = first; line < last; ++line) total += finish_line(range, line, nullptr, kWords);
    return total;
  }
  // A few lines at a time: what they are pulled from is far away, and is asked for before any is used.
  PegPull pulls[kPegAhead * kPegMaxFlips];
  std::size_t ends[kPegAhead + 1] = {0};
  while (first < last) {
    const std::uint64_t lines = last - first < kPegAhead ? last - first : kPegAhead;
    for (std::uint64_t i = 0; i < lines; ++i)
      ends[i + 1] = find_pulls<kWords>(by, flips, first + i - begin, pulls, ends[i]);
    for (std::uint64_t i = 0; i < lines; ++i, ++first) {
      alignas(64) Word words[kWords];
      const bool any = ends[i] != ends[i + 1];
      if (any) add_pulls<Line>(by, pulls + ends[i], pulls + ends[i + 1], words);
      total += finish_line(range, first, any ? words : nullptr, kWords);
    }
  }
  return total;
}

template <class Line, std::size_t kWords>
std::uint64_t step_pegs(const LineRange& range, const PegStep& by) {
  std::uint64_t total = 0;
  for (std::uint64_t first = range.first; first < range.last;) {
    std::uint64_t last = (first | (kPegBlock - 1)) + 1;
    if (last > range.last) last = range.last;
    total += step_block<Line, kWords>(range, by, first, last);
    first = last;
  }
  return total;
}

}  // namespace
}  // namespace farthest
