#include "farthest/outboxes.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <mutex>
#include <set>

#include "farthest/pages.hpp"
#include "packed_lines.hpp"
#include "parallel.hpp"

namespace farthest {
namespace {

// Codes lie in pieces of memory of one size, which begin at multiples of it, and are used again and again.
constexpr std::size_t kPieceBytes = 8192;
constexpr std::size_t kSlabPieces = 256;  // a huge page; of little memory the first slabs are less

struct Box {
  std::vector<std::byte*> pieces;
};

// What one thread puts in. `free` and `filled` change under the mutex when boxes are emptied by any thread.
struct Lane {
  std::vector<Box> boxes;
  std::vector<std::byte*> at;  // by box: where the next code goes; where the last piece is full, its end
  std::vector<std::unique_ptr<Pages>> slabs;
  std::vector<std::byte*> free;
  std::mutex emptying;
  std::size_t pieces = 0;  // of all slabs
  std::size_t filled = 0;  // in boxes
  std::size_t limit = 0;   // of them, until repeated codes are removed
};

bool is_full(const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at) % kPieceBytes == 0; }

// The lanes of codes of any type, as bytes.
class Lanes {
 public:
  // room: bytes of all pieces.
  explicit Lanes(std::size_t room) : room_(room) {}

  std::size_t size() const { return lanes_.size(); }
  Lane& operator[](std::size_t lane) const { return *lanes_[lane]; }

  void prepare(std::size_t lanes, std::uint64_t shards) {
    while (lanes_.size() < lanes) lanes_.push_back(std::make_unique<Lane>());
    for (const auto& lane : lanes_) {
      lane->boxes.resize(shards);
      lane->at.resize(shards);
      lane->limit = std::max(lane->limit, room_ / kPieceBytes / lanes_.size());
    }
  }

  // All boxes must be empty.
  void divide(std::uint64_t shards, std::size_t room) {
    room_ = room;
    for (const auto& lane : lanes_) {
      lane->boxes.resize(shards);
      lane->at.resize(shards);
      lane->limit = 0;
    }
  }

  // Begins another piece of a box, whose last one is full.
  static void grow(Lane& lane, std::uint64_t box) {
    if (lane.free.empty()) add_slab(lane);
    lane.at[box] = lane.free.back();
    lane.boxes[box].pieces.push_back(lane.free.back());
    lane.free.pop_back();
    ++lane.filled;
  }

  static void empty(Lane& lane, std::uint64_t box) {
    const std::lock_guard lock(lane.emptying);
    lane.filled -= lane.boxes[box].pieces.size();
    std::ranges::move(lane.boxes[box].pieces, std::back_inserter(lane.free));
    lane.boxes[box] = {};
    lane.at[box] = nullptr;
  }

  // Bytes of codes in a box, in all pieces but the last as many as these have.
  static std::size_t filled_bytes(const Lane& lane, std::uint64_t box) {
    const auto& pieces = lane.boxes[box].pieces;
    if (pieces.empty()) return 0;
    return (pieces.size() - 1) * kPieceBytes + static_cast<std::size_t>(lane.at[box] - pieces.back());
  }

  bool filled(std::uint64_t shard) const {
    return std::ranges::any_of(lanes_, [&](const auto& lane) { return !lane->boxes[shard].pieces.empty(); });
  }

  std::size_t bytes() const {
    std::size_t pieces = 0;
    for (const auto& lane : lanes_) pieces += lane->pieces;
    return pieces * kPieceBytes;
  }

  std::size_t filled_bytes() const {
    std::size_t pieces = 0;
    for (const auto& lane : lanes_) pieces += lane->filled;
    return pieces * kPieceBytes;
  }

  std::size_t filled_bytes(std::uint64_t shard) const {
    std::size_t bytes = 0;
    for (const auto& lane : lanes_) bytes += filled_bytes(*lane, shard);
    return bytes;
  }

  // Gives the slabs of which no piece is in a box back.
  void trim() {
    for (const auto& lane : lanes_) {
      std::ranges::sort(lane->free);
      std::erase_if(lane->slabs, [&](const auto& slab) {
        auto* const begin = reinterpret_cast<std::byte*>(slab->bytes().data());
        const std::size_t pieces = slab->bytes().size() / kPieceBytes;
        const auto first = std::ranges::lower_bound(lane->free, begin);
        const auto end = std::ranges::lower_bound(lane->free, begin + pieces * kPieceBytes);
        if (static_cast<std::size_t>(end - first) != pieces) return false;
        lane->free.erase(first, end);
        lane->pieces -= pieces;
        return true;
      });
    }
  }

 private:
  static void add_slab(Lane& lane) {
    const std::size_t pieces = std::clamp<std::size_t>(lane.pieces, 4, kSlabPieces);
    lane.slabs.push_back(std::make_unique<Pages>(pieces * kPieceBytes));
    auto* const begin = reinterpret_cast<std::byte*>(lane.slabs.back()->bytes().data());
    for (std::size_t piece = pieces; piece-- > 0;) lane.free.push_back(begin + piece * kPieceBytes);
    lane.pieces += pieces;
  }

  std::size_t room_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

template <class Code>
class BoxesOf final : public Outboxes {
 public:
  BoxesOf(std::size_t width, Sharding sharding, std::size_t room)
      : width_(width), sharding_(sharding), lanes_(room) {}

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
      for (std::size_t l = 0; l < lanes_.size(); ++l) put_parts(lanes_[l], shards[i], parts);
      RunMaker<Code>& maker = makers_[lane];
      const std::size_t states = maker.find(parts, exclude[i], width_, most);
      for (std::size_t l = 0; l < lanes_.size(); ++l) Lanes::empty(lanes_[l], shards[i]);
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
  static_assert(kPieceBytes % sizeof(Code) == 0);
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

  static void put_parts(const Lane& lane, std::uint64_t box, std::vector<std::span<const Code>>& out) {
    std::size_t left = Lanes::filled_bytes(lane, box);
    for (const std::byte* piece : lane.boxes[box].pieces) {
      const std::size_t bytes = std::min(left, kPieceBytes);
      out.emplace_back(reinterpret_cast<const Code*>(piece), bytes / sizeof(Code));
      left -= bytes;
    }
  }

  // Those of the codes that are in shards first to end - 1.
  void put(std::size_t in, std::span<const Code> codes, std::uint64_t first, std::uint64_t end) {
    Lane& lane = lanes_[in];
    std::uint64_t shard = 0;
    Key begin = 0, keys = 0;  // of that shard, in a dense space: there many codes of one come together
    for (const Code& code : codes) {
      if constexpr (std::is_same_v<Code, Key>) {
        if (code - begin >= keys) {
          if (!sharding_.has(code)) throw InvalidArgument("a successor is no key of the space");
          shard = sharding_.shard(code);
          begin = shard * sharding_.range();
          keys = std::min(sharding_.range(), sharding_.keys() - begin);
        }
      } else {
        shard = sharding_.shard(code);
      }
      if (shard - first < end - first) append(lane, shard, code);
    }
    if (lane.filled > lane.limit) shrink(lane, makers_[in]);
  }

  static void append(Lane& lane, std::uint64_t box, const Code& code) {
    if (is_full(lane.at[box])) Lanes::grow(lane, box);
    std::memcpy(lane.at[box], &code, sizeof(Code));
    lane.at[box] += sizeof(Code);
  }

  void shrink(Lane& lane, RunMaker<Code>& maker) {
    std::vector<std::span<const Code>> parts;
    for (std::uint64_t box = 0; box < lane.boxes.size(); ++box) {
      parts.clear();
      put_parts(lane, box, parts);
      maker.find(parts, {}, width_);
      Lanes::empty(lane, box);
      for (const Code& code : maker.kept()) append(lane, box, code);
    }
    lane.limit = std::max(lane.limit, 2 * lane.filled);
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
