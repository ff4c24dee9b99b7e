#include "pattern_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace farthest {
namespace {

constexpr std::uint64_t kMostKeys = std::uint64_t{1} << 40;
constexpr std::uint64_t kEnoughBlocks = 500;  // for any number of threads

std::uint64_t rounded(std::uint64_t bytes) { return (bytes + 63) / 64 * 64; }

std::size_t at(int index) { return static_cast<std::size_t>(index); }

void check(int cells, int pieces, const std::vector<PatternPassage>& passages,
           const std::vector<PatternOrigin>& origins) {
  if (cells < 2 || cells > kMaxSlots) throw InvalidArgument("a pattern's board has 2 to 64 cells");
  if (pieces < 1 || pieces >= cells)
    throw InvalidArgument("a pattern has 1 piece to as many as cells less 1");
  Key keys = 1;
  for (int i = 0; i < pieces; ++i) {
    keys *= static_cast<Key>(cells - i);
    if (keys > kMostKeys) throw LimitExceeded("a pattern has at most 2^40 placements");
  }
  for (const auto& [from, to] : passages)
    if (from < 0 || from >= cells || to < 0 || to >= cells || from == to)
      throw InvalidArgument("a passage joins two cells of the board");
  if (origins.empty()) throw InvalidArgument("a pattern needs an origin");
  for (const PatternOrigin& origin : origins) {
    SlotMask free = first_slots(cells);
    if (origin.cells.size() != at(pieces)) throw InvalidArgument("an origin has a cell for each piece");
    for (const int cell : origin.cells) {
      if (cell < 0 || cell >= cells || (free & bit(cell)) == 0)
        throw InvalidArgument("the pieces of an origin are on different cells of the board");
      free ^= bit(cell);
    }
    if (origin.blanks == 0 || (origin.blanks & ~free) != 0)
      throw InvalidArgument("an origin's blank is on a cell without a piece");
  }
}

// Colours of the cells such that each passage joins two colours; empty if there are none.
std::vector<int> two_colours(int cells, const std::vector<PatternPassage>& passages) {
  std::vector<int> colours(at(cells), -1);
  for (int& first : colours) {
    if (first >= 0) continue;
    first = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [a, b] : passages) {
        int &one = colours[at(a)], &other = colours[at(b)];
        if (one >= 0 && one == other) return {};
        if ((one < 0) == (other < 0)) continue;
        (one < 0 ? one : other) = 1 - std::max(one, other);
        changed = true;
      }
    }
  }
  return colours;
}

int colour_of(const std::vector<int>& colours, const PatternOrigin& origin) {
  int colour = 0;
  for (const int cell : origin.cells) colour ^= colours[at(cell)];
  return colour;
}

template <class Word>
Word* words(std::vector<std::uint64_t>& memory, std::size_t number) {
  memory.assign((number * sizeof(Word) + 7) / 8, 0);
  return reinterpret_cast<Word*>(memory.data());
}

}  // namespace

PatternPlan::PatternPlan(int cells, int pieces, const std::vector<PatternPassage>& passages,
                         const std::vector<PatternOrigin>& origins, Isa isa) {
  check(cells, pieces, passages, origins);
  PatternTables& t = tables;
  t.cells = cells;
  t.pieces = pieces;
  t.group_pieces = std::max(pieces - 2, 0);
  for (int i = 0; i < t.group_pieces; ++i) t.groups *= static_cast<std::uint64_t>(cells - i);
  t.lines_per_group = pieces == 1 ? 1 : static_cast<std::uint64_t>(cells - t.group_pieces);
  t.keys_per_line = static_cast<std::uint64_t>(cells - pieces + 1);

  std::set<std::pair<int, int>> joined;
  for (const auto& [from, to] : passages) joined.insert({from, to});
  std::map<int, SlotMask> shifts;
  for (const auto& [from, to] : joined) {
    t.into[to] |= bit(from);
    shifts[from - to] |= bit(to);  // the blank goes where the piece comes from
    t.directed |= !joined.contains({to, from});
  }
  for (const auto& [by, of] : shifts) t.shifts[t.shifts_used++] = {of, by};

  std::vector<int> colours = two_colours(cells, passages);
  t.coloured = !colours.empty() && !t.directed;
  if (t.coloured) {
    origin_colour = colour_of(colours, origins.front());
    t.coloured = std::ranges::all_of(
        origins, [&](const PatternOrigin& one) { return colour_of(colours, one) == origin_colour; });
  }
  if (!t.coloured) {
    colours.assign(at(cells), 0);
    origin_colour = 0;
  }
  arrays = t.directed ? 3 : 2;
  for (const SlotMask into : t.into) t.rounds = std::max(t.rounds, std::popcount(into));
  choose_lanes(colours);
  array_bytes = rounded(lines() * static_cast<std::uint64_t>(line_lanes * word_bytes));
#ifdef FARTHEST_X86
  if (isa != Isa::portable) run = avx2_pattern(word_bytes, line_lanes);
#else
  static_cast<void>(isa);
#endif
  if (run == nullptr) run = portable_pattern(word_bytes, line_lanes);
  link_blocks();
}

void PatternPlan::choose_lanes(const std::vector<int>& colours) {
  PatternTables& t = tables;
  int most = 0;
  for (int half = 0; half < (t.coloured ? 2 : 1); ++half) {
    int number = 0;
    for (int cell = 0; cell < t.cells; ++cell) {
      if (colours[at(cell)] != half) continue;
      t.colour[cell] = half;
      t.lanes[half].cell[number] = static_cast<std::uint8_t>(cell);
      t.lanes[half].used |= bit(number++);
    }
    most = std::max(most, number);
  }
  word_bytes = t.cells <= 16 ? 2 : t.cells <= 32 ? 4 : 8;
  line_lanes = 4 * word_bytes;  // of half the cells
  if (most > line_lanes) line_lanes *= 2;
  for (int half = 0; half < 2; ++half) {
    if (word_bytes == 2)
      fill_lanes<std::uint16_t>(half);
    else if (word_bytes == 4)
      fill_lanes<std::uint32_t>(half);
    else
      fill_lanes<std::uint64_t>(half);
  }
}

template <class Word>
void PatternPlan::fill_lanes(int half) {
  PatternTables& t = tables;
  PatternLanes& lanes = t.lanes[half];
  const PatternLanes& others = t.lanes[t.coloured ? 1 - half : half];
  const auto number = at(line_lanes), rounds = at(t.rounds);
  Word* own = words<Word>(own_bits_[at(half)], number);
  Word* bits = words<Word>(round_bits_[at(half)], number * rounds);
  auto& lane_of = round_lanes_[at(half)];
  auto& byte_of = round_bytes_[at(half)];
  lane_of.assign(number * rounds, 0);
  byte_of.assign(number * rounds * sizeof(Word), 0);
  for (SlotMask used = lanes.used; used != 0; used &= used - 1) {
    const auto i = at(lowest(used));
    const int cell = lanes.cell[i];
    own[i] = static_cast<Word>(bit(cell));
    std::size_t place = i;
    for (SlotMask from = t.into[cell]; from != 0; from &= from - 1, place += number) {
      bits[place] = static_cast<Word>(bit(lowest(from)));
      std::uint8_t lane = 0;
      while (others.cell[lane] != lowest(from)) ++lane;
      lane_of[place] = lane;
      for (std::size_t b = 0; b < sizeof(Word); ++b)
        byte_of[place * sizeof(Word) + b] = static_cast<std::uint8_t>(lane * sizeof(Word) + b);
    }
  }
  lanes.own_bit = own;
  lanes.bits = bits;
  lanes.lane = lane_of.data();
  lanes.bytes = byte_of.data();
}

// Blocks are the groups that agree in the first pieces, of which as few are taken as make enough blocks.
void PatternPlan::link_blocks() {
  const PatternTables& t = tables;
  int& leading = tables.leading_pieces;
  while (leading < t.group_pieces && blocks < kEnoughBlocks)
    blocks *= static_cast<std::uint64_t>(t.cells - leading++);
  groups_per_block = t.groups / blocks;
  block_sources.resize(blocks);
  std::vector<int> cells(at(leading));
  const auto rank = [&] {
    std::uint64_t number = 0;
    SlotMask free = first_slots(t.cells);
    for (int i = 0; i < leading; ++i) {
      number = number * static_cast<std::uint64_t>(t.cells - i) +
               static_cast<std::uint64_t>(below(free, cells[at(i)]));
      free ^= bit(cells[at(i)]);
    }
    return static_cast<std::uint32_t>(number);
  };
  for (std::uint64_t block = 0; block < blocks; ++block) {
    std::uint64_t rest = block;
    std::vector<std::uint64_t> digits(at(leading));
    for (int i = leading; i-- > 0; rest /= static_cast<std::uint64_t>(t.cells - i))
      digits[at(i)] = rest % static_cast<std::uint64_t>(t.cells - i);
    SlotMask free = first_slots(t.cells);
    for (int i = 0; i < leading; ++i) {
      SlotMask left = free;
      for (std::uint64_t skip = digits[at(i)]; skip > 0; --skip) left &= left - 1;
      cells[at(i)] = lowest(left);
      free ^= bit(cells[at(i)]);
    }
    for (int i = 0; i < leading; ++i) {
      const int to = cells[at(i)];
      for (SlotMask from = t.into[to] & free; from != 0; from &= from - 1) {
        cells[at(i)] = lowest(from);
        block_sources[block].push_back(rank());
      }
      cells[at(i)] = to;
    }
  }
}

std::uint64_t PatternPlan::bytes() const {
  return static_cast<std::uint64_t>(arrays) * array_bytes + 2 * rounded(tables.groups) + 2 * rounded(blocks);
}

std::uint8_t* PatternPlan::array(std::span<std::uint8_t> work, int i) const {
  return work.data() + static_cast<std::uint64_t>(i) * array_bytes;
}

std::uint8_t* PatternPlan::group_flags(std::span<std::uint8_t> work, int depth) const {
  return array(work, arrays) + static_cast<std::uint64_t>(depth & 1) * rounded(tables.groups);
}

std::uint8_t* PatternPlan::block_flags(std::span<std::uint8_t> work, int depth) const {
  return array(work, arrays) + 2 * rounded(tables.groups) +
         static_cast<std::uint64_t>(depth & 1) * rounded(blocks);
}

}  // namespace farthest
