#include "farthest/rows.hpp"

#include <array>

namespace farthest {
namespace {

// A pulled set is `mask` but for the few slots that the move changes.
class Pull {
 public:
  explicit Pull(const Move& pull) : from_(pull.to), delta_(pull.delta) {
    for (std::size_t i = 0; i < from_.size(); ++i)
      if (from_[i] == i) fixed_ |= bit(static_cast<int>(i));
  }
  SlotMask source(SlotMask mask) const { return (mask & fixed_) | image(mask & ~fixed_, from_); }
  int source(int slot) const { return from_[static_cast<std::size_t>(slot)]; }
  // How much more the orientation of the content of `slot` is where it comes from.
  std::uint64_t turn(int slot) const { return delta_.empty() ? 0 : delta_[static_cast<std::size_t>(slot)]; }

 private:
  const std::vector<std::uint8_t>& from_;
  const std::vector<std::uint8_t>& delta_;
  SlotMask fixed_ = 0;
};

// Walks the lines of a shard in order, class by class, carrying for each move the rank of the source line.
class RowBuilder {
 public:
  RowBuilder(const Layout& layout, const std::vector<Move>& pulls, const Shard& shard, ProgramTable& programs,
             std::mutex& interning, std::vector<RowEntry>& rows)
      : layout_(layout), programs_(programs), interning_(interning), rows_(rows) {
    for (const auto m : shard.moves) pulls_.emplace_back(pulls[m]);
    if (!layout.has_twists()) known_.assign(pulls_.size() * kKnown, {});
    turn_weight_.assign(static_cast<std::size_t>(layout.classes()), 0);
    std::uint64_t weight = 1;
    for (int digit = layout.twist_digits() - 1; digit >= 0; weight *= layout.twist_radix(digit--))
      turn_weight_[static_cast<std::size_t>(layout.twisted(digit))] = weight;
    state_.assign(static_cast<std::size_t>(layout.upper_classes()) + 1, std::vector<Source>(pulls_.size()));
  }

  void build(int shard_classes, std::uint64_t shard_index) {
    SlotMask free = first_slots(layout_.slots());
    for (auto& source : state_[0]) source = {free, 0, 0};
    std::vector<std::uint64_t> digit(static_cast<std::size_t>(shard_classes));
    for (int j = shard_classes - 1; j >= 0; --j) {
      digit[static_cast<std::size_t>(j)] = shard_index % layout_.radix(j);
      shard_index /= layout_.radix(j);
    }
    for (int j = 0; j < shard_classes; ++j) {
      const auto d = digit[static_cast<std::size_t>(j)];
      const SlotMask places = unrank_set(d, layout_.count(j), free & layout_.home(j));
      if (j == 0) blank_ = lowest(places);
      place(j, places);
      free ^= places;
      digits_ += static_cast<int>(d & 1);
    }
    for (auto& source : state_[static_cast<std::size_t>(shard_classes)]) source.line = 0;  // within the shard
    descend(shard_classes, free);
  }

 private:
  struct Source {
    SlotMask free;       // of the line pulled from, after the classes placed so far
    std::uint64_t line;  // its rank so far
    std::uint64_t turn;  // its twist rank less (digit by digit) that of the line pulled into, so far
  };
  struct KnownPattern {
    SlotMask free = 0;  // 0: unused
    std::uint32_t program[2] = {0, 0};
  };
  static constexpr std::size_t kKnown = 256;  // entries of the pattern cache for a move

  void place(int cls, SlotMask places) {
    const auto level = static_cast<std::size_t>(cls);
    const SlotMask home = layout_.home(cls);
    const std::uint64_t radix = layout_.radix(cls), weight = turn_weight_[level];
    const int slot = lowest(places);
    for (std::size_t m = 0; m < pulls_.size(); ++m) {
      const Source& before = state_[level][m];
      Source& after = state_[level + 1][m];
      if (layout_.count(cls) == 1) {
        const int source = pulls_[m].source(slot);
        after.free = before.free ^ bit(source);
        after.line = before.line * radix + static_cast<std::uint64_t>(below(before.free & home, source));
        after.turn = before.turn + weight * pulls_[m].turn(slot);
      } else {
        const SlotMask source = pulls_[m].source(places);
        after = {before.free ^ source, before.line * radix + rank_set(source, before.free & home),
                 before.turn};
      }
    }
  }

  void descend(int cls, SlotMask free) {
    if (cls == layout_.upper_classes()) return finish(free);
    for (std::uint64_t d = 0; d < layout_.radix(cls); ++d) {
      const SlotMask places = unrank_set(d, layout_.count(cls), free & layout_.home(cls));
      place(cls, places);
      digits_ += static_cast<int>(d & 1);
      descend(cls + 1, free ^ places);
      digits_ -= static_cast<int>(d & 1);
    }
  }

  void finish(SlotMask free) {
    const int parity = layout_.halved() ? layout_.line_parity(blank_, digits_) : 0;
    const auto& sources = state_[static_cast<std::size_t>(layout_.upper_classes())];
    if (layout_.has_twists()) return finish_twists(sources);
    for (std::size_t m = 0; m < pulls_.size(); ++m)
      rows_.push_back(
          {static_cast<std::uint32_t>(sources[m].line), program(m, free, sources[m].free, parity)});
  }

  // One line for each value of the upper twist digits.
  void finish_twists(const std::vector<Source>& sources) {
    const std::uint64_t in_line = layout_.keys_per_line(), upper = layout_.upper_twists();
    for (std::uint64_t u = 0; u < upper; ++u)
      for (const Source& source : sources) {
        const std::uint64_t from = layout_.turned(u, source.turn / in_line, 0, layout_.line_twist());
        rows_.push_back({static_cast<std::uint32_t>(source.line * upper + from),
                         static_cast<std::uint32_t>(source.turn % in_line)});
      }
  }

  std::uint32_t program(std::size_t move, SlotMask free, SlotMask source_free, int parity) {
    const std::size_t hash = (free * 0x9e3779b97f4a7c15ull) >> 56;
    KnownPattern& known = known_[move * kKnown + hash];
    if (known.free != free) {
      Pattern pattern;
      for (SlotMask m = free; m != 0; m &= m - 1)
        pattern.push_back(static_cast<std::uint8_t>(below(source_free, pulls_[move].source(lowest(m)))));
      const std::lock_guard lock(interning_);
      known.free = free;
      for (int odd = 0; odd < (layout_.halved() ? 2 : 1); ++odd)
        known.program[odd] = programs_.intern(pattern, odd);
    }
    return known.program[parity];
  }

  const Layout& layout_;
  ProgramTable& programs_;
  std::mutex& interning_;
  std::vector<RowEntry>& rows_;
  std::vector<Pull> pulls_;
  std::vector<KnownPattern> known_;
  std::vector<std::uint64_t> turn_weight_;  // by class: of its digit in the twist rank, 0 for none
  std::vector<std::vector<Source>> state_;  // [classes placed][move]
  int blank_ = 0;
  int digits_ = 0;  // parity of the upper digits: sum of their lowest bits
};

}  // namespace

std::vector<RowEntry> build_rows(const Layout& layout, const std::vector<Move>& pulls, int shard_classes,
                                 std::uint64_t shard_index, const Shard& shard, ProgramTable& programs,
                                 std::mutex& interning) {
  std::vector<RowEntry> rows;
  std::uint64_t lines = layout.lines();
  for (int j = 0; j < shard_classes; ++j) lines /= layout.radix(j);
  rows.reserve(lines * shard.moves.size());
  RowBuilder(layout, pulls, shard, programs, interning, rows).build(shard_classes, shard_index);
  return rows;
}

}  // namespace farthest
