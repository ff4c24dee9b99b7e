#include "farthest/arrangement.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>

#include "parallel.hpp"
#include "shufflers.hpp"

namespace farthest {
namespace {

std::vector<Move> inverses(const std::vector<Move>& moves, const Layout& layout) {
  std::vector<Move> out;
  std::ranges::transform(moves, std::back_inserter(out),
                         [&](const Move& move) { return inverse(move, layout.moduli()); });
  return out;
}

// The sum of a move's turns in these slots.
std::uint64_t turns_of(const Move& move, SlotMask slots) {
  std::uint64_t sum = 0;
  for (; slots != 0 && !move.delta.empty(); slots &= slots - 1)
    sum += move.delta[static_cast<std::size_t>(lowest(slots))];
  return sum;
}

// The moves, checked and reduced.
std::vector<Move> checked(std::vector<Move> moves, const Layout& layout) {
  for (Move& move : moves) {
    check_move(move, layout.slots());
    for (const Orbit& orbit : layout.orbits())
      if (image(orbit.slots, move.to) != orbit.slots)
        throw InvalidArgument("a move must permute the slots of each orbit");
    move = reduced(std::move(move), layout.moduli());
    for (const Layout::DigitGroup& group : layout.digit_groups())
      if (group.dropped >= 0 && turns_of(move, layout.home_of_slot(group.dropped)) % group.radix != 0)
        throw InvalidArgument("a move must keep the sum of the orientations of an orbit that has one");
  }
  return moves;
}

Geometry geometry_of(const Layout& layout, int shard_classes, const ShardOrbits& orbits) {
  if (shard_classes < 1 || shard_classes > layout.upper_classes())
    throw InvalidArgument("shard_classes must be 1 to the number of upper classes");
  std::uint64_t shards = 1;
  for (int j = 0; j < shard_classes; ++j) shards *= layout.radix(j);
  Geometry geometry{shards, layout.lines() / shards, layout.words_per_line()};
  if (geometry.lines_per_shard > std::numeric_limits<std::uint32_t>::max() ||
      shards > std::numeric_limits<std::uint32_t>::max())
    throw LimitExceeded("a shard has more than 2^32 lines of states");
  check_orbits(layout, shard_classes, orbits);
  if (!orbits.symmetries.empty()) geometry.shards = orbits.representatives.size();
  geometry.words_per_group = static_cast<std::uint64_t>(layout.halves());
  geometry.bits = layout.bits();
  if (layout.mode() == WordMode::split) {
    for (Key key = 0; key < layout.word_arrangements(); ++key) {
      const auto [word, bit] = layout.place(key);
      geometry.order.push_back(static_cast<std::uint8_t>(word * 64 + static_cast<std::uint64_t>(bit)));
    }
  }
  return geometry;
}

}  // namespace

ArrangementSpace::ArrangementSpace(Layout layout, std::vector<Move> moves, int shard_classes, Isa isa,
                                   const ShardOrbits& orbits)
    : Space(geometry_of(layout, shard_classes, orbits)),
      layout_(std::move(layout)),
      moves_(checked(std::move(moves), layout_)),
      reversible_(closed_under_inverse(moves_, layout_.moduli())),
      shard_classes_(shard_classes),
      weights_(orbits.weights),
      links_(link_shards(layout_, moves_, inverses(moves_, layout_), shard_classes, orbits)),
      colours_(colours_of(links_)),
      tables_(links_.keys.size()),
      rows_(links_.sources.size()),
      prepared_(shards()),
      programs_(layout_),
      isa_(isa),
      shufflers_(std::make_unique<Shufflers>(isa, layout_.bits(), programs_.maps())) {}

ArrangementSpace::~ArrangementSpace() = default;

void ArrangementSpace::prepare(const std::vector<std::uint64_t>& shards, int threads) {
  const auto missing_of = [&] {
    std::vector<std::uint64_t> out;
    std::ranges::copy_if(shards, std::back_inserter(out), [&](auto s) { return prepared_.at(s) == 0; });
    return out;
  };
  {
    const std::shared_lock lock(mutex());
    if (missing_of().empty()) return;
  }
  const std::unique_lock lock(mutex());
  const auto missing = missing_of();
  std::vector<std::uint32_t> needed;  // tables
  for (const auto shard : missing)
    std::ranges::copy_if(of_shard(links_.tables, shard), std::back_inserter(needed),
                         [&](auto table) { return tables_[table].empty(); });
  std::ranges::sort(needed);
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  std::vector<RowTable> built(needed.size());
  std::mutex interning;
  const std::uint64_t lines = needed.size() * lines_per_shard();
  in_parallel(needed.size(), useful_threads(lines, threads), [&](std::uint64_t i) {
    built[i] = build_rows(layout_, shard_classes_, links_.keys[needed[i]], programs_, interning);
  });
  shufflers_ = std::make_unique<Shufflers>(isa_, layout_.bits(), programs_.maps());
  for (std::size_t i = 0; i < needed.size(); ++i)  // nothing throws from here on
    tables_[needed[i]] = std::move(built[i]);
  for (const auto shard : missing) {
    for (auto link = links_.first[shard]; link < links_.first[shard + 1]; ++link)
      rows_[link] = tables_[links_.tables[link]].data();
    prepared_[shard] = 1;
  }
}

std::uint64_t ArrangementSpace::row_bytes() const { return tables() * lines_per_shard() * sizeof(RowEntry); }

std::uint64_t ArrangementSpace::step_lines(const LineRange& range) const {
  const LineRows by{words_per_line(), rows(range.shard), programs_.programs().data(), shufflers_->data()};
  return shufflers_->run()(range, by) * weight(range.shard);
}

}  // namespace farthest
