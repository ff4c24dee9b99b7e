#include "farthest/pattern.hpp"

#include <atomic>
#include <cstring>
#include <utility>

#include "parallel.hpp"
#include "pattern_plan.hpp"

namespace farthest {
namespace {

// All cells that the blank gets to from some, at no cost.
SlotMask flooded(const PatternTables& t, SlotMask blanks, SlotMask free) {
  for (SlotMask before = 0; before != blanks;) {
    before = blanks;
    for (int i = 0; i < t.shifts_used; ++i) {
      const auto& [from, by] = t.shifts[i];
      blanks |= (by > 0 ? (before & from) << by : (before & from) >> -by) & free;
    }
  }
  return blanks;
}

template <class Word>
void put_word(std::uint8_t* at, SlotMask more) {
  auto* word = reinterpret_cast<Word*>(at);
  *word = static_cast<Word>(*word | more);
}

void put(std::uint8_t* at, int bytes, SlotMask more) {
  if (bytes == 2)
    put_word<std::uint16_t>(at, more);
  else if (bytes == 4)
    put_word<std::uint32_t>(at, more);
  else
    put_word<std::uint64_t>(at, more);
}

}  // namespace

PatternSpace::PatternSpace(int cells, int pieces, const std::vector<PatternPassage>& passages,
                           std::vector<PatternOrigin> origins, Isa isa)
    : plan_(std::make_unique<PatternPlan>(cells, pieces, passages, origins, isa)),
      origins_(std::move(origins)) {}

PatternSpace::~PatternSpace() = default;

Key PatternSpace::keys() const { return plan_->keys(); }

std::uint64_t PatternSpace::work_bytes() const { return plan_->bytes(); }

void PatternSpace::check(std::span<const std::uint8_t> work, std::span<const std::uint8_t> distances) const {
  if (work.size() != work_bytes() || reinterpret_cast<std::uintptr_t>(work.data()) % 64 != 0)
    throw InvalidArgument("the working memory of a pattern is work_bytes bytes, at a multiple of 64");
  if (distances.size() != keys()) throw InvalidArgument("the distances of a pattern are a byte for each key");
}

PatternLayer PatternSpace::begin(std::span<std::uint8_t> work, std::span<std::uint8_t> distances,
                                 int threads) const {
  check(work, distances);
  const PatternPlan& plan = *plan_;
  const PatternTables& t = plan.tables;
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 22;
  in_parallel((distances.size() + kPiece - 1) / kPiece, threads, [&](std::uint64_t i) {
    const auto piece = distances.subspan(i * kPiece);
    std::memset(piece.data(), kNoDistance, std::min<std::size_t>(piece.size(), kPiece));
  });
  PatternLayer found{0, true};
  for (const PatternOrigin& origin : origins_) {
    Key key = 0;
    SlotMask free = first_slots(t.cells);
    int half = t.coloured ? plan.origin_colour : 0;
    for (int i = 0; i < t.pieces; ++i) {
      const int cell = origin.cells[static_cast<std::size_t>(i)];
      key = key * static_cast<Key>(t.cells - i) + static_cast<Key>(below(free, cell));
      free ^= bit(cell);
      if (i + 1 < t.pieces) half ^= t.colour[cell];
    }
    const PatternLanes& lanes = t.lanes[half];
    std::uint64_t lane = 0;
    while (lanes.cell[lane] != origin.cells.back()) ++lane;
    const std::uint64_t line = key / t.keys_per_line;
    const std::uint64_t place = (line * static_cast<std::uint64_t>(plan.line_lanes) + lane) *
                                static_cast<std::uint64_t>(plan.word_bytes);
    const SlotMask blanks = flooded(t, origin.blanks, free);
    put(plan.array(work, 0) + place, plan.word_bytes, blanks);
    if (t.directed) put(plan.array(work, 2) + place, plan.word_bytes, blanks);
    const std::uint64_t group = line / t.lines_per_group;
    plan.group_flags(work, 0)[group] = 1;
    plan.block_flags(work, 0)[group / plan.groups_per_block] = 1;
    found.placements += distances[key] != 0;
    distances[key] = 0;
  }
  return found;
}

PatternLayer PatternSpace::step(int depth, std::span<std::uint8_t> work, std::span<std::uint8_t> distances,
                                int threads) const {
  check(work, distances);
  if (depth < 1 || depth >= kNoDistance) throw InvalidArgument("a pattern's layers are 1 to 254");
  const PatternPlan& plan = *plan_;
  PatternBlock layer;
  layer.depth = static_cast<std::uint8_t>(depth);
  layer.colour = plan.tables.coloured ? (plan.origin_colour + depth) & 1 : 0;
  layer.from = plan.array(work, (depth - 1) & 1);
  layer.to = plan.array(work, depth & 1);
  layer.known = plan.tables.directed ? plan.array(work, 2) : nullptr;
  layer.now = plan.group_flags(work, depth - 1);
  layer.next = plan.group_flags(work, depth);
  layer.distances = distances.data();
  const std::uint8_t* now = plan.block_flags(work, depth - 1);
  std::uint8_t* next = plan.block_flags(work, depth);
  std::atomic<std::uint64_t> placements{0}, groups{0};
  in_parallel(plan.blocks, threads, [&](std::uint64_t i) {
    const auto& sources = plan.block_sources[i];
    const bool reached =
        now[i] != 0 || std::ranges::any_of(sources, [&](auto source) { return now[source] != 0; });
    if (!reached && next[i] == 0) return;
    PatternBlock block = layer;
    block.first_group = i * plan.groups_per_block;
    block.last_group = block.first_group + plan.groups_per_block;
    const PatternCounts counts = plan.run(plan.tables, block);
    next[i] = counts.groups != 0;
    placements.fetch_add(counts.placements, std::memory_order_relaxed);
    groups.fetch_add(counts.groups, std::memory_order_relaxed);
  });
  return {placements, groups != 0};
}

}  // namespace farthest
