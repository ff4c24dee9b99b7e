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
  typename Lanes::Bit to_bit, from_bit;
};

constexpr int kMaxSources = 62 * 63;  // pieces and their neighbours

// What is known of a group before its lines are looked at.
template <class Lanes>
struct PatternGroup {
  std::uint64_t number = 0;
  SlotMask free = 0;
  int colour = 0;
  bool own = false;  // whether its own lines had anything in the layer before
  int sources_used = 0;
  PatternSource<Lanes> sources[kMaxSources];
};

template <class Lanes>
struct PatternWorker {
  using Word = typename Lanes::Word;
  using Source = PatternSource<Lanes>;
  using Group = PatternGroup<Lanes>;
  static constexpr std::uint64_t kLineBytes = sizeof(Word) * Lanes::kLanes;

  const PatternTables& t;
  const PatternBlock& block;
  const typename Lanes::Shifts shifts;
  PatternCounts counts{};

  // Each group is looked up while the one before is worked on: its sources come from far away.
  void run() {
    GroupCells cells(t, block.first_group);
    Group groups[2];
    look_up(groups[0], cells, block.first_group);
    for (std::uint64_t number = block.first_group; number < block.last_group; ++number) {
      const std::uint64_t turn = number - block.first_group;
      if (number + 1 < block.last_group) {
        cells.advance();
        look_up(groups[(turn + 1) & 1], cells, number + 1);
      }
      step_group(groups[turn & 1]);
    }
  }

  void look_up(Group& group, const GroupCells& cells, std::uint64_t number) const {
    group.number = number;
    group.free = cells.free();
    group.colour = block.colour;
    group.own = block.now[number] != 0;
    int used = 0;
    for (int i = 0; i < t.group_pieces; ++i) {
      const int to = cells.cell(i);
      group.colour ^= t.colour[to];
      for (SlotMask from = t.into[to] & group.free; from != 0; from &= from - 1) {
        const int y = __builtin_ctzll(from);
        const std::uint64_t source = cells.group_with(i, y);
        if (block.now[source] == 0) continue;
        const std::uint64_t first_line = source * t.lines_per_group;
        if (i < t.leading_pieces) fetch(first_line);
        group.sources[used++] = {first_line, group.free ^ (SlotMask{1} << to) ^ (SlotMask{1} << y), y,
                                 Lanes::bit(to), Lanes::bit(y)};
      }
    }
    group.sources_used = used;
  }

  void fetch(std::uint64_t first_line) const {
    const auto* bytes = static_cast<const char*>(block.from) + first_line * kLineBytes;
    for (std::uint64_t at = 0; at < t.lines_per_group * kLineBytes; at += 64) __builtin_prefetch(bytes + at);
  }

  void step_group(const Group& group) {
    if (group.sources_used == 0 && !group.own && block.next[group.number] == 0) return;
    bool found = false;
    const std::uint64_t first_line = group.number * t.lines_per_group;
    std::uint64_t line = first_line;
    if (t.pieces == 1) {
      found = step_line(group, group.free, line, group.colour & 1, -1);
    } else {
      for (SlotMask rest = group.free; rest != 0; rest &= rest - 1, ++line) {
        const int z = __builtin_ctzll(rest);
        const SlotMask left = group.free ^ (SlotMask{1} << z);
        found |= step_line(group, left, line, (group.colour ^ t.colour[z]) & 1, z);
      }
    }
    block.next[group.number] = found;
    counts.groups += found;
  }

  // The line of the group whose own piece stands on z; -1: there is no such piece.
  bool step_line(const Group& group, SlotMask free, std::uint64_t line, int half, int z) {
    const auto* from = static_cast<const Word*>(block.from);
    auto* to = static_cast<Word*>(block.to) + line * Lanes::kLanes;
    typename Lanes::Vector fresh = Lanes::zero();
    const SlotMask before_z = z < 0 ? 0 : (SlotMask{1} << z) - 1;
    for (int i = 0; i < group.sources_used; ++i) {
      const Source& s = group.sources[i];
      if (s.from == z) continue;
      const auto place = static_cast<std::uint64_t>(__builtin_popcountll(s.free & before_z));
      Lanes::pull(fresh, from + (s.first_line + place) * Lanes::kLanes, s.to_bit, s.from_bit);
    }
    const PatternLanes& lanes = t.lanes[half];
    if (group.own) {
      if (z >= 0) pull_own(fresh, group, free, z);
      Lanes::pull_last(fresh, from + line * Lanes::kLanes, lanes, t.rounds);
    }
    const auto open = Lanes::open(free, lanes);
    const bool stale = Lanes::exclude(fresh, open, to);
    if (!t.coloured) Lanes::exclude(fresh, open, from + line * Lanes::kLanes);
    Word* known = nullptr;
    if (block.known != nullptr) {
      known = static_cast<Word*>(block.known) + line * Lanes::kLanes;
      Lanes::exclude(fresh, open, known);
    }
    if (!Lanes::any(fresh)) {
      if (stale) Lanes::store(to, Lanes::zero());
      return false;
    }
    Lanes::flood(fresh, open, shifts);
    if (known != nullptr) {
      Lanes::exclude(fresh, open, known);
      Lanes::add(known, fresh);
    }
    Lanes::store(to, fresh);
    reached(free, line, Lanes::filled(fresh) & lanes.used, lanes);
    return true;
  }

  // The moves of the group's own piece to z: from other lines of the group.
  void pull_own(typename Lanes::Vector& fresh, const Group& group, SlotMask free, int z) const {
    const auto* lines =
        static_cast<const Word*>(block.from) + group.number * t.lines_per_group * Lanes::kLanes;
    for (SlotMask from = t.into[z] & free; from != 0; from &= from - 1) {
      const int y = __builtin_ctzll(from);
      const auto place =
          static_cast<std::uint64_t>(__builtin_popcountll(group.free & ((SlotMask{1} << y) - 1)));
      Lanes::pull(fresh, lines + place * Lanes::kLanes, Lanes::bit(z), Lanes::bit(y));
    }
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
  PatternWorker<Lanes> worker{t, block, Lanes::shifts(t)};
  worker.run();
  return worker.counts;
}

}  // namespace
}  // namespace farthest
