#include "farthest/outboxes.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <set>

#include "parallel.hpp"

namespace farthest {

template <class Code>
void Outboxes<Code>::Box::parts(std::vector<std::span<const Code>>& out) const {
  for (const Piece& piece : pieces) {
    const std::size_t unused = &piece == &pieces.back() ? static_cast<std::size_t>(end - at) : 0;
    out.emplace_back(piece.get(), kPiece - unused);
  }
}

template <class Code>
template <class Work>
void Outboxes<Code>::in_lanes(std::uint64_t pieces, int threads, Work work) {
  const auto lanes =
      std::max<std::size_t>(1, std::min<std::uint64_t>(static_cast<std::uint64_t>(threads), pieces));
  while (lanes_.size() < lanes) lanes_.push_back(std::make_unique<Lane>());
  for (const auto& lane : lanes_) {
    lane->boxes.resize(sharding_.shards());
    lane->limit = std::max(lane->limit, room_ / (kPiece * sizeof(Code)) / lanes_.size());
  }
  std::atomic<std::uint64_t> next{0};
  in_parallel(lanes, threads, [&](std::uint64_t lane) {
    for (std::uint64_t piece; (piece = next.fetch_add(1, std::memory_order_relaxed)) < pieces;)
      work(*lanes_[lane], piece);
  });
}

template <class Code>
void Outboxes<Code>::put(Lane& lane, std::span<const Code> codes) {
  while (!codes.empty()) {
    if (!sharding_.has(codes[0])) throw InvalidArgument("a successor is no key of the space");
    const std::uint64_t shard = sharding_.shard(codes[0]);
    std::size_t same = 1;  // codes of that shard; of keys there are often many together
    if constexpr (std::is_same_v<Code, Key>) {
      const Key first = shard * sharding_.range();
      const Key keys = std::min(sharding_.range(), sharding_.keys() - first);
      while (same < codes.size() && codes[same] - first < keys) ++same;
    }
    append(lane, lane.boxes[shard], codes.first(same));
    codes = codes.subspan(same);
  }
  if (lane.pieces > lane.limit) shrink(lane);
}

template <class Code>
void Outboxes<Code>::append(Lane& lane, Box& box, std::span<const Code> codes) {
  while (!codes.empty()) {
    if (box.at == box.end) grow(lane, box);
    const std::size_t count = std::min(codes.size(), static_cast<std::size_t>(box.end - box.at));
    box.at = std::copy_n(codes.begin(), count, box.at);
    codes = codes.subspan(count);
  }
}

template <class Code>
void Outboxes<Code>::grow(Lane& lane, Box& box) {
  Piece piece;
  if (lane.free.empty()) {
    piece = std::make_unique_for_overwrite<Code[]>(kPiece);
  } else {
    piece = std::move(lane.free.back());
    lane.free.pop_back();
  }
  box.at = piece.get();
  box.end = box.at + kPiece;
  box.pieces.push_back(std::move(piece));
  ++lane.pieces;
}

template <class Code>
void Outboxes<Code>::empty(Lane& lane, Box& box) {
  const std::lock_guard lock(lane.emptying);
  lane.pieces -= box.pieces.size();
  std::ranges::move(box.pieces, std::back_inserter(lane.free));
  box = {};
}

template <class Code>
void Outboxes<Code>::shrink(Lane& lane) {
  std::vector<std::span<const Code>> parts;
  for (Box& box : lane.boxes) {
    parts.clear();
    box.parts(parts);
    const std::span<Code> run = sorted_unique(parts, lane.buffers);
    empty(lane, box);
    append(lane, box, run);
  }
  lane.limit = std::max(lane.limit, 2 * lane.pieces);
}

template <class Code>
void Outboxes<Code>::add(Bytes codes, int threads) {
  constexpr std::size_t kBatch = 16384;
  if (codes.size() % width_ != 0) throw InvalidArgument("the bytes are not whole codes");
  const std::size_t count = codes.size() / width_;
  in_lanes((count + kBatch - 1) / kBatch, threads, [&](Lane& lane, std::uint64_t batch) {
    const std::size_t first = batch * kBatch;
    const Bytes part = codes.subspan(first * width_, std::min(kBatch, count - first) * width_);
    put(lane, load_codes<Code>(part, width_));
  });
}

template <class Code>
void Outboxes<Code>::expand(const Expander& expander, const std::vector<Bytes>& runs, int threads) {
  if constexpr (std::is_same_v<Code, Key>) {
    // Small enough for their successors to stay in the cache.
    constexpr std::size_t kBatch = 512;
    in_lanes(runs.size(), threads, [&](Lane& lane, std::uint64_t i) {
      std::vector<Key> codes, successors;
      RunReader<Key> reader(runs[i], width_);
      while (reader.left() != 0) {
        codes.clear();
        for (; reader.left() != 0 && codes.size() < kBatch; reader.advance()) codes.push_back(reader.head());
        successors.clear();
        expander.successors(codes, successors);
        put(lane, successors);
      }
    });
  } else {
    static_cast<void>(expander), static_cast<void>(runs), static_cast<void>(threads);
    throw InvalidArgument("an expander's codes have 8 bytes");
  }
}

template <class Code>
std::vector<std::uint64_t> Outboxes<Code>::filled() const {
  std::vector<std::uint64_t> shards;
  for (std::uint64_t shard = 0; shard < sharding_.shards(); ++shard)
    if (std::ranges::any_of(lanes_, [&](const auto& lane) { return lane->boxes[shard].size() != 0; }))
      shards.push_back(shard);
  return shards;
}

template <class Code>
std::size_t Outboxes<Code>::bytes() const {
  std::size_t codes = 0;
  for (const auto& lane : lanes_)
    codes +=
        (lane->pieces + lane->free.size()) * kPiece + lane->buffers.one.size() + lane->buffers.other.size();
  return codes * sizeof(Code);
}

template <class Code>
auto Outboxes<Code>::take(const std::vector<std::uint64_t>& shards,
                          const std::vector<std::vector<Bytes>>& exclude, int threads) -> std::vector<Fresh> {
  if (exclude.size() != shards.size()) throw InvalidArgument("there must be a list of runs for each shard");
  if (std::ranges::any_of(shards, [&](auto shard) { return shard >= sharding_.shards(); }))
    throw InvalidArgument("no such shard");
  if (std::set(shards.begin(), shards.end()).size() != shards.size())
    throw InvalidArgument("a shard is named twice");
  std::vector<Fresh> fresh(shards.size());
  in_lanes(shards.size(), threads, [&](Lane& lane, std::uint64_t i) {
    std::vector<std::span<const Code>> parts;
    for (const auto& other : lanes_) other->boxes[shards[i]].parts(parts);
    std::span<Code> run = sorted_unique(parts, lane.buffers);
    for (const auto& other : lanes_) empty(*other, other->boxes[shards[i]]);
    for (const Bytes blob : exclude[i]) {
      if (run.empty()) break;
      const Run<Code> known = decode_run<Code>(blob, width_);
      run = subtract<Code>(run, known);
    }
    fresh[i] = {run.size(), encode_run<Code>(run, width_)};
  });
  return fresh;
}

template <class Code>
void Outboxes<Code>::trim() {
  for (const auto& lane : lanes_) {
    lane->free = std::vector<Piece>();
    lane->buffers = {};
  }
}

#define INSTANTIATE(Code) template class Outboxes<Code>
FARTHEST_FOR_CODES(INSTANTIATE);

}  // namespace farthest
