// A program against what it stands for: every state of the line pulled into, decoded and permuted by hand.
#include "farthest/program.hpp"

#include <algorithm>

#include "check.hpp"
#include "samples.hpp"

namespace farthest::test {
namespace {

int checked = 0;

Word shuffled(const BitMap& map, Word word) {
  Word out = 0;
  for (std::size_t b = 0; b < 64; ++b) out |= (word >> map[b] & 1) << b;
  return out;
}

std::vector<Word> applied(const ProgramTable& table, const Program& program,
                          const std::vector<Word>& source) {
  if (program.identity) return source;
  std::vector<Word> out(source.size());
  for (const WordCopy& copy : program.copies) out[copy.to] |= source[copy.from];
  for (const WordShuffle& shuffle : program.shuffles)
    out[shuffle.to] |= shuffled(table.maps()[shuffle.map], source[shuffle.from]);
  return out;
}

// The slots that the upper classes leave free, ascending.
std::vector<std::size_t> line_slots(const Layout& layout, const Board& board) {
  std::vector<std::size_t> out;
  for (std::size_t slot = 0; slot < board.size(); ++slot)
    if (board[slot] >= layout.upper_classes()) out.push_back(slot);
  return out;
}

Key first_key(const Layout& layout, std::uint64_t line) {
  return layout.key_at(line * layout.words_per_line(), 0);
}

// `board` with its line taken apart by the pattern and put on the free slots of another line's `base`.
Board pulled_from(const Layout& layout, const Board& board, const Board& base, const Pattern& pattern) {
  const auto into = line_slots(layout, board), from = line_slots(layout, base);
  Board out = base;
  for (std::size_t i = 0; i < into.size(); ++i) out[from[pattern[i]]] = board[into[i]];
  return out;
}

// A line that the pattern can pull `board` from; in halved layouts not every line has the parity. lines() if
// none has.
std::uint64_t source_line(const Layout& layout, const Board& board, const Pattern& pattern, Random& random) {
  const std::uint64_t first = random.below(layout.lines());
  for (std::uint64_t i = 0; i < layout.lines(); ++i) {
    const std::uint64_t line = (first + i) % layout.lines();
    const Board base = board_of(layout, first_key(layout, line));
    if (layout.encode(pulled_from(layout, board, base, pattern)) != kNoKey) return line;
  }
  CHECK(layout.halved());
  return layout.lines();
}

void check_program(const Layout& layout, ProgramTable& table, const Pattern& pattern, std::uint64_t into,
                   Random& random) {
  const Key key = first_key(layout, into);
  const Board sample = board_of(layout, key);
  const std::uint64_t from = source_line(layout, sample, pattern, random);
  if (from == layout.lines()) return;
  const Board base = board_of(layout, first_key(layout, from));
  const std::uint64_t words = layout.words_per_line();
  std::vector<Word> source(words);
  const Word used = layout.bits() == 64 ? ~Word{0} : (Word{1} << layout.bits()) - 1;
  for (Word& word : source) word = random.word() & used;

  std::vector<Word> expected(words);
  for (std::uint64_t w = 0; w < words; ++w)
    for (int b = 0; b < layout.bits(); ++b) {
      const Board board = board_of(layout, layout.key_at(into * words + w, b));
      const auto place = layout.place(layout.encode(pulled_from(layout, board, base, pattern)));
      CHECK(place.word / words == from);
      expected[w] |= (source[place.word % words] >> place.bit & 1) << b;
    }
  const auto number = table.intern(pattern);
  const Program program = table.programs()[number];
  CHECK(applied(table, program, source) == expected);
  CHECK(table.intern(pattern) == number);
  ++checked;
  std::set<std::uint32_t> maps;
  std::size_t runs = 0;
  for (std::size_t i = 0; i < program.shuffles.size(); ++i) {
    runs += i == 0 || program.shuffles[i].map != program.shuffles[i - 1].map ? 1 : 0;
    maps.insert(program.shuffles[i].map);
  }
  CHECK(runs == maps.size());
}

TEST(programs_permute_whole_lines) {
  Random random(4);
  for (Sample sample : small_samples()) {
    for (auto& parity : sample.parity) parity = static_cast<std::uint8_t>(random.below(2));
    const Layout layout = sample.layout();
    ProgramTable table(layout);
    const int patterns = layout.keys_per_line() > 5000 ? 4 : 20;
    for (int i = 0; i < patterns; ++i) {
      Pattern pattern = random.permutation(layout.line_slots());
      if (i == 0) std::ranges::sort(pattern);
      if (i == 1 && pattern.size() > 1) {  // a move of neighbours
        std::ranges::sort(pattern);
        const auto at = random.below(pattern.size() - 1);
        std::swap(pattern[at], pattern[at + 1]);
      }
      check_program(layout, table, pattern, random.below(layout.lines()), random);
    }
  }
  CHECK(checked > 300);
}

TEST(the_identity_is_one_program_without_shuffles) {
  const Layout layout(8, std::vector<int>(8, 1), {});
  ProgramTable table(layout);
  Pattern pattern(static_cast<std::size_t>(layout.line_slots()));
  for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = static_cast<std::uint8_t>(i);
  const Program program = table.programs()[table.intern(pattern)];
  CHECK(program.identity && program.copies.empty() && program.shuffles.empty());
  CHECK(table.programs().size() == 1);
  std::swap(pattern[0], pattern[1]);
  CHECK(table.intern(pattern) == 1);
  CHECK(table.programs().size() == 2);
}

}  // namespace
}  // namespace farthest::test
