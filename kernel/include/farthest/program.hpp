// What a move does to a whole line, as a program of word copies and bit shuffles.
//
// A move maps one line onto one line. Number the free slots of a line in ascending order; then all that
// matters inside the line is the *pattern*: position i of the line pulled into takes its content from
// position pattern[i] of the line pulled from. Word w of the result is a bit shuffle of exactly one source
// word, because the line labels land where the pattern sends them and the word labels are permuted by what
// the pattern does to the positions left over. In halved and split layouts bit k of a word is arrangement 2k
// or 2k + 1, by the parity of the word. The program does not depend on which: the two differ by an exchange
// of the last two labels, and so do what the pattern makes of them, which are one bit of the source too.
//
// Layouts with twists: inside the line a move adds a fixed number to each twist digit, without carry. Written
// as one number of these digits it is the *turn*, and there is one program for each turn. Where moves
// exchange digits, there is one program for each way to do so (layout.hpp: Turn); a word of the result is
// then made of bits of several words, each shuffled by a map of its own that leaves other bits 0.
//
// Where a symmetry relabels the classes of lines as well, a word may be made of several too; and in halved
// layouts arrangements 2k and 2k + 1 may be different bits of the source, so that there is a program for
// each parity of the line's digits.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "farthest/layout.hpp"

namespace farthest {

// Positions of the pulled-from line, one byte each; length = Layout::line_slots().
using Pattern = std::vector<std::uint8_t>;

// The last classes of a layout: the class that each becomes.
using Labels = std::vector<std::uint8_t>;

// Whether programs with these labels depend on the parity of digits.
bool parity_matters(const Layout& layout, std::span<const std::uint8_t> labels);

// Bit b of the shuffled word is bit source[b] of the word. Bits at and above Layout::bits() are taken from
// bit 63, which is 0 in every word that has fewer than 64 bits; or they are `kNoBit`: 0.
using BitMap = std::array<std::uint8_t, 64>;
inline constexpr std::uint8_t kNoBit = 255;

struct WordCopy {
  std::uint16_t to, from;
};
struct WordShuffle {
  std::uint16_t to, from;
  std::uint32_t map;  // index into ProgramTable::maps()
};

struct Program {
  bool identity = false;              // every word is copied to its own place: both lists are empty
  std::vector<WordCopy> copies;       // words whose bits keep their order
  std::vector<WordShuffle> shuffles;  // of one map together, so that its table stays in the nearest cache
};

// Interns programs: equal patterns share one. Not thread-safe. Layouts with twists have a fixed set of
// programs: program `turn` gives result r the bit of source Layout::turned(r, turn) on the digits of the
// line. Where moves exchange digits, there is one for each Turn that is interned.
class ProgramTable {
 public:
  explicit ProgramTable(const Layout& layout);

  // For layouts without twists. labels: of the classes of lines, which they keep; empty: all stay. odd: the
  // sum of their digits, where parity_matters().
  std::uint32_t intern(const Pattern& pattern, std::span<const std::uint8_t> labels = {}, bool odd = false);
  // For layouts whose moves exchange digits. What the turn does to digits of the line number does not matter.
  std::uint32_t intern(const Turn& turn);

  const std::vector<Program>& programs() const { return programs_; }
  const std::vector<BitMap>& maps() const { return maps_; }

 private:
  void build_turns();
  Program build(const Pattern& pattern);
  Program build(const Pattern& pattern, std::span<const std::uint8_t> labels, bool odd);
  // parts: for each word that bits of word `to` are from, their map.
  void add_word(Program& program, std::uint64_t to, const std::map<std::uint64_t, BitMap>& parts);
  Program build(const Turn& turn);
  std::uint32_t intern_map(const Pattern& pattern);
  std::uint32_t intern_map(const BitMap& map);

  Layout layout_;
  std::unordered_map<std::string, std::uint32_t> index_;  // by the bytes of the pattern
  std::unordered_map<std::string, std::uint32_t> map_index_;
  std::vector<Program> programs_;
  std::vector<BitMap> maps_;
};

}  // namespace farthest
