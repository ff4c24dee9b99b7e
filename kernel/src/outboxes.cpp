#include "farthest/outboxes.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <mutex>
#include <set>

#include "packed_lines.hpp"
#include "parallel.hpp"

namespace farthest {
namespace {

// Codes lie in pieces of memory of one size, which are used again and again.
using MemoryPiece = std::unique_ptr<std::byte[]>;

struct Box {
  std::vector<MemoryPiece> pieces;
  std::byte* at = nullptr;   // where the next code goes in the last piece
  std::byte* end = nullptr;  // of that piece

  bool empty() const { return pieces.empty(); }
};

// What one thread puts in. `free` and `pieces` change under the mutex when boxes are emptied by any thread.
struct Lane {
  std::vector<Box> boxes;
  std::vector<MemoryPiece> free;
  std::mutex emptying;
  std::size_t pieces = 0;  // in boxes
  std::size_t limit = 0;   // of them, until repeated codes are removed
};

// The lanes of codes of any type, as bytes.
class Lanes {
 public:
  // piece: bytes of a piece; room: of all.
  Lanes(std::size_t piece, std::size_t room) : piece_(piece), room_(room) {}

  std::size_t size() const { return lanes_.size(); }
  Lane& operator[](std::size_t lane) const { return *lanes_[lane]; }

  void prepare(std::size_t lanes, std::uint64_t shards) {
    while (lanes_.size() < lanes) lanes_.push_back(std::make_unique<Lane>());
    for (const auto& lane : lanes_) {
      lane->boxes.resize(shards);
      lane->limit = std::max(lane->limit, room_ / piece_ / lanes_.size());
    }
  }

  // All boxes must be empty.
  void divide(std::uint64_t shards, std::size_t room) {
    room_ = room;
    for (const auto& lane : lanes_) {
      lane->boxes.resize(shards);
      lane->limit = 0;
    }
  }

  void append(Lane& lane, Box& box, const void* codes, std::size_t bytes) const {
    const auto* from = static_cast<const std::byte*>(codes);
    while (bytes != 0) {
      if (box.at == box.end) grow(lane, box);
      const std::size_t count = std::min(bytes, static_cast<std::size_t>(box.end - box.at));
      std::memcpy(box.at, from, count);
      box.at += count;
      from += count;
      bytes -= count;
    }
  }

  static void empty(Lane& lane, Box& box) {
    const std::lock_guard lock(lane.emptying);
    lane.pieces -= box.pieces.size();
    std::ranges::move(box.pieces, std::back_inserter(lane.free));
    box = {};
  }

  bool filled(std::uint64_t shard) const {
    return std::ranges::any_of(lanes_, [&](const auto& lane) { return !lane->boxes[shard].empty(); });
  }

  std::size_t bytes() const {
    std::size_t pieces = 0;
    for (const auto& lane : lanes_) pieces += lane->pieces + lane->free.size();
    return pieces * piece_;
  }

  std::size_t filled_bytes() const {
    std::size_t pieces = 0;
    for (const auto& lane : lanes_) pieces += lane->pieces;
    return pieces * piece_;
  }

  std::size_t filled_bytes(std::uint64_t shard) const {
    std::size_t bytes = 0;
    for (const auto& lane : lanes_) {
      const Box& box = lane->boxes[shard];
      if (!box.empty()) bytes += box.pieces.size() * piece_ - static_cast<std::size_t>(box.end - box.at);
    }
    return bytes;
  }

  void trim() {
    for (const auto& lane : lanes_) lane->free = std::vector<MemoryPiece>();
  }

 private:
  void grow(Lane& lane, Box& box) const {
    MemoryPiece piece;
    if (lane.free.empty()) {
      piece = std::make_unique_for_overwrite<std::byte[]>(piece_);
    } else {
      piece = std::move(lane.free.back());
      lane.free.pop_back();
    }
    box.at = piece.get();
    box.end = box.at + piece_;
    box.pieces.push_back(std::move(piece));
    ++lane.pieces;
  }

  std::size_t piece_, room_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

template <class Code>
class BoxesOf final : public Outboxes {
 public:
  BoxesOf(std::size_t width, Sharding sharding, std::size_t room)
      : width_(width), sharding_(sharding), lanes_(kPiece * sizeof(Code), room) {}

  void add(Bytes codes, int threads) override {
    constexpr std::size_t kBatch = 16384;
    if (codes.size() % width_ != 0) throw InvalidArgument("the bytes are not whole codes");
    const std::size_t count = codes.size() / width_;
    in_lanes((count + kBatch - 1) / kBatch, threads, count, [&](std::size_t lane, std::uint64_t batch) {
      const std::size_t first = batch * kBatch;
      const Bytes part = codes.subspan(first * width_, std::min(kBatch, count - first) * width_);
      put(lane, load_codes<Code>(part, width_), 0, sharding_.shards());
    });
  }

  void expand(const Expander& expander, const std::vector<Bytes>& runs, std::uint64_t first,
              std::uint64_t end, int threads) override {
    // Small enough for their successors to stay in the cache, but a block of packed boards at least.
    constexpr std::size_t kBatch = std::max(kPackedBlock, 4096 / sizeof(Code));
    const ExpanderOf<Code>& of_codes = expander_of<Code>(expander, width_);
    std::uint64_t states = 0;
    for (const Bytes run : runs) states += RunReader<Code>(run, width_).left();
    in_lanes(runs.size(), threads, states, [&](std::size_t lane, std::uint64_t i) {
      std::vector<Code> codes, successors;
      RunReader<Code> reader(runs[i], width_);
      while (reader.left() != 0) {
        codes.clear();
        for (; reader.left() != 0 && codes.size() < kBatch; reader.advance()) codes.push_back(reader.head());
        successors.clear();
        of_codes.successors(codes, successors);
        put(lane, successors, first, end);
      }
    });
  }

  std::vector<std::uint64_t> filled() const override {
    std::vector<std::uint64_t> shards;
    for (std::uint64_t shard = 0; shard < sharding_.shards(); ++shard)
      if (lanes_.filled(shard)) shards.push_back(shard);
    return shards;
  }

  std::size_t bytes() const override {
    std::size_t bytes = lanes_.bytes();
    for (const RunMaker<Code>& maker : makers_) bytes += maker.bytes();
    return bytes;
  }

  std::size_t filled_bytes() const override { return lanes_.filled_bytes(); }

  std::vector<CountedRun> take(const std::vector<std::uint64_t>& shards,
                               const std::vector<std::vector<Bytes>>& exclude, std::uint64_t most,
                               int threads) override {
    if (exclude.size() != shards.size()) throw InvalidArgument("there must be a list of runs for each shard");
    if (std::ranges::any_of(shards, [&](auto shard) { return shard >= sharding_.shards(); }))
      throw InvalidArgument("no such shard");
    if (std::set(shards.begin(), shards.end()).size() != shards.size())
      throw InvalidArgument("a shard is named twice");
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < shards.size(); ++i)
      if (const std::size_t filled = lanes_.filled_bytes(shards[i]); filled != 0) {
        bytes += filled;
        for (const Bytes blob : exclude[i]) bytes += blob.size();
      }
    std::vector<CountedRun> fresh(shards.size());
    in_lanes(shards.size(), threads, bytes / sizeof(Code), [&](std::size_t lane, std::uint64_t i) {
      std::vector<std::span<const Code>> parts;
      for (std::size_t l = 0; l < lanes_.size(); ++l) put_parts(lanes_[l].boxes[shards[i]], parts);
      RunMaker<Code>& maker = makers_[lane];
      const std::size_t states = maker.find(parts, exclude[i], width_, most);
      for (std::size_t l = 0; l < lanes_.size(); ++l) Lanes::empty(lanes_[l], lanes_[l].boxes[shards[i]]);
      fresh[i] = {states, encode_run<Code>(maker.run(), width_)};
    });
    return fresh;
  }

  void divide(Sharding sharding, std::size_t room) override {
    if (!filled().empty()) throw InvalidArgument("there are codes in the boxes");
    lanes_.divide(sharding.shards(), room);
    sharding_ = sharding;
  }

  void trim() override {
    lanes_.trim();
    for (RunMaker<Code>& maker : makers_) maker = {};
  }

 private:
  static constexpr std::size_t kPiece = std::max<std::size_t>(1, 8192 / sizeof(Code));  // codes
  static constexpr std::uint64_t kCodesPerThread = 128;

  // Calls work(lane, piece) for all pieces, which are of so many codes together, each lane in one thread at a
  // time.
  template <class Work>
  void in_lanes(std::uint64_t pieces, int threads, std::uint64_t codes, const Work& work) {
    const auto lanes =
        std::max<std::size_t>(1, std::min<std::uint64_t>(static_cast<std::uint64_t>(threads), pieces));
    lanes_.prepare(lanes, sharding_.shards());
    makers_.resize(lanes_.size());
    std::atomic<std::uint64_t> next{0};
    const int useful = useful_threads(codes, threads, kCodesPerThread);
    in_parallel(lanes, useful, [&](std::uint64_t lane) {
      for (std::uint64_t piece; (piece = next.fetch_add(1, std::memory_order_relaxed)) < pieces;)
        work(lane, piece);
    });
  }

  static void put_parts(const Box& box, std::vector<std::span<const Code>>& out) {
    for (const MemoryPiece& piece : box.pieces) {
      const std::byte* end = &piece == &box.pieces.back() ? box.at : piece.get() + kPiece * sizeof(Code);
      out.emplace_back(reinterpret_cast<const Code*>(piece.get()), reinterpret_cast<const Code*>(end));
    }
  }

  // Those of the codes that are in shards first to end - 1.
  void put(std::size_t in, std::span<const Code> codes, std::uint64_t first_shard, std::uint64_t end_shard) {
    Lane& lane = lanes_[in];
    while (!codes.empty()) {
      if (!sharding_.has(codes[0])) throw InvalidArgument("a successor is no key of the space");
      const std::uint64_t shard = sharding_.shard(codes[0]);
      std::size_t same = 1;  // codes of that shard; of keys there are often many together
      if constexpr (std::is_same_v<Code, Key>) {
        const Key first = shard * sharding_.range();
        const Key keys = std::min(sharding_.range(), sharding_.keys() - first);
        while (same < codes.size() && codes[same] - first < keys) ++same;
      }
      if (shard >= first_shard && shard < end_shard) append(lane, lane.boxes[shard], codes.first(same));
      codes = codes.subspan(same);
    }
    if (lane.pieces > lane.limit) shrink(lane, makers_[in]);
  }

  // One code is the most frequent: it is copied without a loop.
  void append(Lane& lane, Box& box, std::span<const Code> codes) {
    if (codes.size() == 1 && box.at != box.end) {
      std::memcpy(box.at, codes.data(), sizeof(Code));
      box.at += sizeof(Code);
    } else {
      lanes_.append(lane, box, codes.data(), codes.size_bytes());
    }
  }

  void shrink(Lane& lane, RunMaker<Code>& maker) {
    std::vector<std::span<const Code>> parts;
    for (Box& box : lane.boxes) {
      parts.clear();
      put_parts(box, parts);
      maker.find(parts, {}, width_);
      Lanes::empty(lane, box);
      append(lane, box, maker.kept());
    }
    lane.limit = std::max(lane.limit, 2 * lane.pieces);
  }

  std::size_t width_;
  Sharding sharding_;
  Lanes lanes_;
  std::vector<RunMaker<Code>> makers_;  // by lane
};

}  // namespace

std::unique_ptr<Outboxes> make_outboxes(std::size_t width, Sharding sharding, std::size_t room) {
  return with_code(width, [&]<class Code>(Code) -> std::unique_ptr<Outboxes> {
    return std::make_unique<BoxesOf<Code>>(width, sharding, room);
  });
}

}  // namespace farthest
