// The inner loop of pattern searches, for one instruction set and one kind of line.
//
// Everything here is in an anonymous namespace of the file that includes it, or plain data: see
// CMakeLists.txt.
#pragma once

#include "pattern_tables.hpp"

namespace farthest {
namespace {

// The first pieces of a run of groups, one group after the other.
class GroupCells {
 public:
  GroupCells(const PatternTables& t, std::uint64_t group) : pieces_(t.group_pieces), cells_(t.cells) {
    std::uint64_t digits[kMaxSlots];
    for (int i = pieces_; i-- > 0;) {
      const auto radix = static_cast<std::uint64_t>(cells_ - i);
      digits[i] = group % radix;
      group /= radix;
    }
    SlotMask free = all();
    for (int i = 0; i < pieces_; ++i) {
      SlotMask rest = free;
      for (std::uint64_t skip = digits[i]; skip > 0; --skip) rest &= rest - 1;
      place(i, __builtin_ctzll(rest), free);
      free = free_[i + 1];
    }
    if (pieces_ == 0) free_[0] = free;
  }

  int cell(int piece) const { return at_[piece]; }
  SlotMask free() const { return free_[pieces_]; }

  // The number of the group in which `piece` stands on `cell`, a free one.
  std::uint64_t group_with(int piece, int cell) const {
    std::uint64_t rank = rank_[piece];
    SlotMask free = free_[piece];
    int to = cell;
    for (int i = piece; i < pieces_; ++i) {
      const SlotMask b = SlotMask{1} << (i == piece ? to : at_[i]);
      rank = rank * static_cast<std::uint64_t>(cells_ - i) +
             static_cast<std::uint64_t>(__builtin_popcountll(free & (b - 1)));
      free ^= b;
    }
    return rank;
  }

  void advance() {
    for (int i = pieces_; i-- > 0;) {
      const SlotMask above = free_[i] & ~((SlotMask{2} << at_[i]) - 1);
      if (above == 0) continue;
      place(i, __builtin_ctzll(above), free_[i]);
      for (int j = i + 1; j < pieces_; ++j) place(j, __builtin_ctzll(free_[j]), free_[j]);
      return;
    }
  }

 private:
  SlotMask all() const { return cells_ == 64 ? ~SlotMask{0} : (SlotMask{1} << cells_) - 1; }
  void place(int i, int cell, SlotMask free) {
    const SlotMask b = SlotMask{1} << cell;
    if (i == 0) rank_[0] = 0;
    at_[i] = cell;
    free_[i] = free;
    free_[i + 1] = free ^ b;
    rank_[i + 1] = rank_[i] * static_cast<std::uint64_t>(cells_ - i) +
                   static_cast<std::uint64_t>(__builtin_popcountll(free & (b - 1)));
  }

  int pieces_, cells_;
  int at_[kMaxSlots] = {};
  SlotMask free_[kMaxSlots + 1] = {};       // before piece i is placed
  std::uint64_t rank_[kMaxSlots + 1] = {};  // of the pieces before i
};

// Lines that are pulled: in all lines of a group one piece stands on `from` instead of `to`, or this group's
// own piece does in one of its lines.
template <class Lanes>
struct PatternSource {
  std::uint64_t first_line;
  SlotMask free;
  int from;
  typename Lanes::Vector to_bit, from_bit;
};

constexpr int kMaxSources = 63 * 63;  // pieces and their neighbours

template <class Lanes>
struct PatternWorker {
  using Word = typename Lanes::Word;
  using Source = PatternSource<Lanes>;

  const PatternTables& t;
  const PatternBlock& block;
  PatternCounts counts{};

  void run() {
    GroupCells cells(t, block.first_group);
    for (std::uint64_t group = block.first_group; group < block.last_group; ++group, cells.advance())
      step_group(cells, group);
  }

  void step_group(const GroupCells& cells, std::uint64_t group) {
    Source sources[kMaxSources];
    int number = 0;
    const SlotMask free = cells.free();
    int colour = block.colour;
    for (int i = 0; i < t.group_pieces; ++i) {
      const int to = cells.cell(i);
      colour ^= t.colour[to];
      for (SlotMask from = t.into[to] & free; from != 0; from &= from - 1) {
        const int y = __builtin_ctzll(from);
        const std::uint64_t source = cells.group_with(i, y);
        if (block.now[source] == 0) continue;
        sources[number++] = {source * t.lines_per_group, free ^ (SlotMask{1} << to) ^ (SlotMask{1} << y), y,
                             Lanes::bit(to), Lanes::bit(y)};
      }
    }
    const bool own = block.now[group] != 0;
    if (number == 0 && !own && block.next[group] == 0) return;
    bool found = false;
    const std::uint64_t first_line = group * t.lines_per_group;
    std::uint64_t line = first_line;
    if (t.pieces == 1) {
      found = step_line(sources, 0, 0, free, line, own, colour & 1);
    } else {
      for (SlotMask rest = free; rest != 0; rest &= rest - 1, ++line) {
        const int z = __builtin_ctzll(rest);
        int used = number;
        const SlotMask left = free ^ (SlotMask{1} << z);
        if (own) {
          for (SlotMask from = t.into[z] & left; from != 0; from &= from - 1) {
            const int y = __builtin_ctzll(from);
            sources[used++] = {first_line, free, y, Lanes::bit(z), Lanes::bit(y)};
          }
        }
        found |= step_line(sources, number, used, left, line, own, (colour ^ t.colour[z]) & 1, z);
      }
    }
    block.next[group] = found;
    counts.groups += found;
  }

  // Sources below `number` are groups, in which the group's own piece stands on z as here; those from there
  // to `used` are lines of this group, in which it comes from another cell.
  bool step_line(const Source* sources, int number, int used, SlotMask free, std::uint64_t line, bool own,
                 int half, int z = 0) {
    const int other = t.in_place ? half ^ 1 : half;
    const auto* from = static_cast<const Word*>(block.from[half]);
    auto* to = static_cast<Word*>(block.to[half]) + line * Lanes::kLanes;
    typename Lanes::Vector fresh = Lanes::zero();
    const SlotMask before_z = (SlotMask{1} << z) - 1;
    for (int i = 0; i < number; ++i) {
      const Source& s = sources[i];
      if (s.from == z) continue;
      const std::uint64_t source =
          s.first_line + static_cast<std::uint64_t>(__builtin_popcountll(s.free & before_z));
      Lanes::pull(fresh, from + source * Lanes::kLanes, s.to_bit, s.from_bit);
    }
    for (int i = number; i < used; ++i) {
      const Source& s = sources[i];
      const SlotMask before = (SlotMask{1} << s.from) - 1;
      const std::uint64_t source =
          s.first_line + static_cast<std::uint64_t>(__builtin_popcountll(s.free & before));
      Lanes::pull(fresh, from + source * Lanes::kLanes, s.to_bit, s.from_bit);
    }
    const PatternLanes& lanes = t.lanes[half];
    if (own)
      Lanes::pull_last(fresh, static_cast<const Word*>(block.from[other]) + line * Lanes::kLanes, lanes,
                       t.rounds);
    const auto open = Lanes::open(free, lanes);
    const bool stale = Lanes::exclude(fresh, open, to);
    if (!t.in_place) Lanes::exclude(fresh, open, from + line * Lanes::kLanes);
    Word* known = nullptr;
    if (block.known != nullptr) {
      known = static_cast<Word*>(block.known) + line * Lanes::kLanes;
      Lanes::exclude(fresh, open, known);
    }
    if (!Lanes::any(fresh)) {
      if (stale) Lanes::store(to, Lanes::zero());
      return false;
    }
    Lanes::flood(fresh, open, t);
    if (known != nullptr) {
      Lanes::exclude(fresh, open, known);
      Lanes::add(known, fresh);
    }
    Lanes::store(to, fresh);
    reached(free, line, Lanes::filled(fresh) & lanes.used, lanes);
    return true;
  }

  // Sets the distances of the placements of a line that are reached for the first time.
  void reached(SlotMask free, std::uint64_t line, SlotMask filled, const PatternLanes& lanes) {
    std::uint8_t* distances = block.distances + line * t.keys_per_line;
    for (; filled != 0; filled &= filled - 1) {
      const SlotMask before = (SlotMask{1} << lanes.cell[__builtin_ctzll(filled)]) - 1;
      std::uint8_t& distance = distances[__builtin_popcountll(free & before)];
      if (distance != kNoDistance) continue;
      distance = block.depth;
      ++counts.placements;
    }
  }
};

template <class Lanes>
PatternCounts step_block(const PatternTables& t, const PatternBlock& block) {
  PatternWorker<Lanes> worker{t, block};
  worker.run();
  return worker.counts;
}

}  // namespace
}  // namespace farthest
