#include "farthest/arrangement.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>
#include <queue>

#include "farthest/rows.hpp"
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

// The moves, checked and reduced.
std::vector<Move> checked(std::vector<Move> moves, const Layout& layout) {
  for (Move& move : moves) {
    check_move(move, layout.slots());
    for (const Orbit& orbit : layout.orbits())
      if (image(orbit.slots, move.to) != orbit.slots)
        throw InvalidArgument("a move must permute the slots of each orbit");
    move = reduced(std::move(move), layout.moduli());
  }
  return moves;
}

Geometry geometry_of(const Layout& layout, int shard_classes) {
  if (shard_classes < 1 || shard_classes > layout.upper_classes())
    throw InvalidArgument("shard_classes must be 1 to the number of upper classes");
  std::uint64_t shards = 1;
  for (int j = 0; j < shard_classes; ++j) shards *= layout.radix(j);
  Geometry geometry{shards, layout.lines() / shards, layout.words_per_line()};
  if (geometry.lines_per_shard > std::numeric_limits<std::uint32_t>::max() ||
      shards > std::numeric_limits<std::uint32_t>::max())
    throw LimitExceeded("a shard has more than 2^32 lines of states");
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

ArrangementSpace::ArrangementSpace(Layout layout, std::vector<Move> moves, int shard_classes, Isa isa)
    : Space(geometry_of(layout, shard_classes)),
      layout_(std::move(layout)),
      moves_(checked(std::move(moves), layout_)),
      pulls_(inverses(moves_, layout_)),
      reversible_(closed_under_inverse(moves_, layout_.moduli())),
      shard_classes_(shard_classes),
      shards_(shards()),
      programs_(layout_),
      isa_(isa),
      shufflers_(std::make_unique<Shufflers>(isa, layout_.bits(), programs_.maps())) {
  link_shards();
  colour_shards();
}

ArrangementSpace::~ArrangementSpace() = default;

void ArrangementSpace::link_shards() {
  std::vector<SlotMask> places(static_cast<std::size_t>(shard_classes_));
  for (std::uint64_t s = 0; s < shards(); ++s) {
    std::uint64_t rest = s;
    std::vector<std::uint64_t> digit(places.size());
    for (int j = shard_classes_ - 1; j >= 0; --j) {
      digit[static_cast<std::size_t>(j)] = rest % layout_.radix(j);
      rest /= layout_.radix(j);
    }
    SlotMask free = first_slots(layout_.slots());
    for (int j = 0; j < shard_classes_; ++j) {
      const auto i = static_cast<std::size_t>(j);
      places[i] = unrank_set(digit[i], layout_.count(j), free & layout_.home(j));
      free ^= places[i];
    }
    for (std::size_t m = 0; m < moves_.size(); ++m) {
      const auto& back = pulls_[m].to;
      const SlotMask first = image(places[0], back);
      if ((moves_[m].require & ~first) != 0 || (moves_[m].forbid & first) != 0) continue;
      SlotMask source_free = first_slots(layout_.slots());
      std::uint64_t source = 0;
      for (int j = 0; j < shard_classes_; ++j) {
        const SlotMask set = image(places[static_cast<std::size_t>(j)], back);
        source = source * layout_.radix(j) + rank_set(set, source_free & layout_.home(j));
        source_free ^= set;
      }
      shards_[s].moves.push_back(static_cast<std::uint32_t>(m));
      shards_[s].sources.push_back(static_cast<std::uint32_t>(source));
    }
  }
}

void ArrangementSpace::colour_shards() {
  constexpr std::uint8_t kNone = 2;
  std::vector<std::vector<std::uint32_t>> next(shards());  // both ways: colour along and against the moves
  for (std::uint64_t s = 0; s < shards(); ++s)
    for (const auto source : shards_[s].sources) {
      next[s].push_back(source);
      next[source].push_back(static_cast<std::uint32_t>(s));
    }
  std::vector<std::uint8_t> colour(shards(), kNone);
  for (std::uint64_t root = 0; root < shards(); ++root) {
    if (colour[root] != kNone) continue;
    colour[root] = 0;
    std::queue<std::uint64_t> queue({root});
    for (; !queue.empty(); queue.pop()) {
      const auto from = queue.front();
      for (const auto to : next[from]) {
        if (colour[to] == colour[from]) return;
        if (colour[to] != kNone) continue;
        colour[to] = colour[from] ^ 1;
        queue.push(to);
      }
    }
  }
  colours_ = std::move(colour);
}

void ArrangementSpace::prepare(const std::vector<std::uint64_t>& shards, int threads) {
  const auto missing_of = [&] {
    std::vector<std::uint64_t> out;
    std::ranges::copy_if(shards, std::back_inserter(out), [&](auto s) { return !shards_.at(s).prepared; });
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  };
  {
    const std::shared_lock lock(mutex());
    if (missing_of().empty()) return;
  }
  const std::unique_lock lock(mutex());
  const auto missing = missing_of();
  std::vector<std::vector<RowEntry>> rows(missing.size());
  std::mutex interning;
  const std::uint64_t lines = missing.size() * lines_per_shard();
  in_parallel(missing.size(), useful_threads(lines, threads), [&](std::uint64_t i) {
    rows[i] =
        build_rows(layout_, pulls_, shard_classes_, missing[i], shards_[missing[i]], programs_, interning);
  });
  shufflers_ = std::make_unique<Shufflers>(isa_, layout_.bits(), programs_.maps());
  for (std::size_t i = 0; i < missing.size(); ++i) {  // nothing throws from here on
    shards_[missing[i]].rows = std::move(rows[i]);
    shards_[missing[i]].prepared = true;
  }
}

std::uint64_t ArrangementSpace::row_bytes() const {
  const auto moves = std::accumulate(shards_.begin(), shards_.end(), std::uint64_t{0},
                                     [](std::uint64_t n, const Shard& s) { return n + s.sources.size(); });
  return moves * lines_per_shard() * sizeof(RowEntry);
}

std::uint64_t ArrangementSpace::step_lines(const LineRange& range) const {
  const Shard& shard = shards_[range.shard];
  const LineRows rows{words_per_line(), shard.sources.size(), shard.rows.data(), programs_.programs().data(),
                      shufflers_->data()};
  return shufflers_->run()(range, rows);
}

}  // namespace farthest
