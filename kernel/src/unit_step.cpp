#include "farthest/unit_step.hpp"

#include <algorithm>
#include <cstring>
#include <shared_mutex>
#include <string>

#include "farthest/bitmap_codec.hpp"
#include "parallel.hpp"

namespace farthest {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr std::uint64_t kLinesTogether = 8;  // so many lines have a multiple of 64 bytes

std::size_t rounded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

std::uint64_t lines_of_pieces(const Space& space) {
  const std::uint64_t fitting = kPieceBytes / (space.words_per_line() * sizeof(Word));
  const std::uint64_t lines = std::max<std::uint64_t>(fitting / kLinesTogether, 1) * kLinesTogether;
  return std::min(lines, space.lines_per_shard());
}

std::size_t shard_bytes(const Space& space) { return rounded(space.words_per_shard() * sizeof(Word)); }

std::uint32_t load32(const std::uint8_t* from) {
  return static_cast<std::uint32_t>(from[0]) | static_cast<std::uint32_t>(from[1]) << 8 |
         static_cast<std::uint32_t>(from[2]) << 16 | static_cast<std::uint32_t>(from[3]) << 24;
}

void store32(std::uint8_t* to, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

// The blobs of a shard's pieces, one after the other.
class PieceBlobs {
 public:
  PieceBlobs(Blob shard, std::uint64_t pieces) : shard_(shard), rest_(shard), pieces_(pieces) {
    if (shard.empty()) return;
    if (shard.size() < 4 * pieces) throw InvalidArgument("a shard's blob is cut off");
    rest_ = shard.subspan(4 * pieces);
    std::uint64_t sum = 0;
    for (std::uint64_t piece = 0; piece < pieces; ++piece) sum += load32(shard.data() + 4 * piece);
    if (sum != rest_.size()) throw InvalidArgument("a shard's blob does not have the bytes of its pieces");
  }
  bool empty() const { return shard_.empty(); }
  Blob next() {
    if (shard_.empty()) return {};
    const Blob blob = rest_.first(load32(shard_.data() + 4 * piece_++));
    rest_ = rest_.subspan(blob.size());
    return blob;
  }
  Blob at(std::uint64_t piece) {
    for (std::uint64_t before = 0; before < piece; ++before) next();
    return next();
  }

 private:
  Blob shard_, rest_;
  std::uint64_t pieces_, piece_ = 0;
};

}  // namespace

// What one thread works in.
struct UnitStepper::Scratch {
  explicit Scratch(Isa isa, std::size_t piece_bytes, std::uint64_t piece_lines)
      : codec(isa),
        fresh(piece_bytes / sizeof(Word)),
        flags(piece_lines),
        coded(BitmapCodec::bound(piece_bytes)) {}

  // Encodes a piece's bitmap at the end of a shard's blob, and notes its bytes there.
  void encode(const std::vector<Word>& bitmap, std::size_t bytes, std::uint64_t piece,
              std::vector<std::uint8_t>& blob) {
    std::uint64_t ones = 0;
    const std::size_t size =
        codec.encode({reinterpret_cast<const std::uint8_t*>(bitmap.data()), bytes}, coded.data(), ones);
    blob.insert(blob.end(), coded.begin(), coded.begin() + static_cast<std::ptrdiff_t>(size));
    store32(blob.data() + 4 * piece, static_cast<std::uint32_t>(size));
  }

  // Decodes all of the blobs into one bitmap of so many bytes. Returns whether it can have states.
  bool decode_together(std::span<const Blob> blobs, std::size_t bytes, std::vector<Word>& bitmap) {
    bitmap.assign(fresh.size(), 0);
    bool any = false;
    for (const Blob blob : blobs) {
      if (blob.empty()) continue;
      any = true;
      codec.decode(blob, {reinterpret_cast<std::uint8_t*>(fresh.data()), bytes});
      unite(bitmap, bytes);
    }
    return any;
  }

  // Adds the fresh states of a piece of so many bytes to a bitmap.
  void unite(std::vector<Word>& bitmap, std::size_t bytes) const {
    for (std::size_t word = 0; word < bytes / sizeof(Word); ++word) bitmap[word] |= fresh[word];
  }

  BitmapCodec codec;
  std::vector<Word> fresh;
  std::vector<std::uint8_t> flags;
  std::vector<std::uint8_t> coded;
  std::vector<std::uint8_t> out, united;  // blobs of a shard
  std::vector<Word> exclude;              // where it is not in `fresh`
};

class UnitStepper::Borrowed {
 public:
  explicit Borrowed(UnitStepper& owner) : owner_(owner) {
    {
      const std::lock_guard lock(owner.borrowing_);
      if (!owner.idle_.empty()) {
        scratch_ = std::move(owner.idle_.back());
        owner.idle_.pop_back();
        return;
      }
    }
    scratch_ = std::make_unique<Scratch>(owner.isa_, owner.piece_bytes(0), owner.piece_lines_);
  }
  ~Borrowed() {
    const std::lock_guard lock(owner_.borrowing_);
    owner_.idle_.push_back(std::move(scratch_));
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  Scratch* operator->() const { return scratch_.get(); }

 private:
  UnitStepper& owner_;
  std::unique_ptr<Scratch> scratch_;
};

UnitStepper::UnitStepper(const Space& space, std::size_t slots, Isa isa)
    : space_(space),
      slots_(slots),
      isa_(isa),
      piece_lines_(lines_of_pieces(space)),
      slot_size_(shard_bytes(space)),
      words_(slots * slot_size_),
      flags_(slots * space.lines_per_shard()) {}

UnitStepper::~UnitStepper() = default;

std::uint64_t UnitStepper::slot_bytes(const Space& space) {
  return shard_bytes(space) + space.lines_per_shard();
}

std::uint64_t UnitStepper::pieces() const {
  return (space_.lines_per_shard() + piece_lines_ - 1) / piece_lines_;
}

std::uint64_t UnitStepper::piece_end(std::uint64_t piece) const {
  return std::min((piece + 1) * piece_lines_, space_.lines_per_shard());
}

std::size_t UnitStepper::piece_bytes(std::uint64_t piece) const {
  return rounded((piece_end(piece) - piece * piece_lines_) * space_.words_per_line() * sizeof(Word));
}

Word* UnitStepper::slot_words(std::size_t slot) const {
  return reinterpret_cast<Word*>(words_.bytes().data() + slot * slot_size_);
}

std::uint8_t* UnitStepper::slot_flags(std::size_t slot) const {
  return flags_.bytes().data() + slot * space_.lines_per_shard();
}

void UnitStepper::load_piece(const SlotLoad& load, std::uint64_t piece) {
  const std::uint64_t first = piece * piece_lines_, last = piece_end(piece);
  std::uint8_t* const flags = slot_flags(load.slot);
  const Blob blob = PieceBlobs(load.blob, pieces()).at(piece);
  if (blob.empty()) {
    std::fill(flags + first, flags + last, std::uint8_t{0});
    return;
  }
  const std::size_t words = space_.words_per_line();
  const Word* line = slot_words(load.slot) + first * words;
  Borrowed scratch(*this);
  scratch->codec.decode(blob, {words_.bytes().data() + load.slot * slot_size_ + first * words * sizeof(Word),
                               piece_bytes(piece)});
  for (std::uint64_t at = first; at < last; ++at, line += words)
    flags[at] = std::any_of(line, line + words, [](Word word) { return word != 0; });
}

void UnitStepper::load(const std::vector<SlotLoad>& loads, int threads) {
  for (const SlotLoad& load : loads)
    if (load.slot >= slots_) throw InvalidArgument("no slot " + std::to_string(load.slot));
  const std::uint64_t each = pieces();
  in_parallel(loads.size() * each, threads, [&](std::uint64_t i) { load_piece(loads[i / each], i % each); });
}

void UnitStepper::step_shard(const ShardStep& step, FreshShard& fresh) {
  std::vector<const Word*> words;
  std::vector<const std::uint8_t*> flags;
  for (const auto slot : step.slots) {
    words.push_back(slot_words(slot));
    flags.push_back(slot_flags(slot));
  }
  std::vector<PieceBlobs> excluded;
  for (const Blob& blob : step.exclude) excluded.emplace_back(blob, pieces());

  Borrowed scratch(*this);
  LineRange range;
  range.shard = step.shard;
  range.source_words = words;
  range.source_flags = flags;
  range.fresh = scratch->fresh.data();
  range.fresh_flags = scratch->flags.data();
  scratch->out.assign(4 * pieces(), 0);
  scratch->united.assign(4 * pieces(), 0);
  const bool together = step.unite || excluded.size() > kMaxExclude;
  std::vector<Blob> blobs(excluded.size());
  for (std::uint64_t piece = 0; piece < pieces(); ++piece) {
    const std::size_t bytes = piece_bytes(piece);
    range.first = range.from = piece * piece_lines_;
    range.last = piece_end(piece);
    range.excludes = 0;
    std::ranges::transform(excluded, blobs.begin(), [](PieceBlobs& shard) { return shard.next(); });
    bool known = false;
    if (together) {
      known = scratch->decode_together(blobs, bytes, scratch->exclude);
      range.exclude[range.excludes++] = scratch->exclude.data();
    } else {
      for (const Blob blob : blobs) {
        if (blob.empty()) continue;
        // The step reads what is excluded of a line before it writes the line: the first lies where it
        // writes.
        std::vector<Word>& words_of = range.excludes == 0 ? scratch->fresh : scratch->exclude;
        words_of.resize(scratch->fresh.size());
        scratch->codec.decode(blob, {reinterpret_cast<std::uint8_t*>(words_of.data()), bytes});
        range.exclude[range.excludes++] = words_of.data();
      }
    }
    std::fill(scratch->flags.begin(), scratch->flags.end(), std::uint8_t{1});
    const std::uint64_t states = space_.step_lines(range);
    fresh.states += states;
    if (states != 0) {
      auto* const bitmap = reinterpret_cast<std::uint8_t*>(scratch->fresh.data());
      const std::size_t filled = (range.last - range.first) * space_.words_per_line() * sizeof(Word);
      std::fill(bitmap + filled, bitmap + bytes, std::uint8_t{0});
      scratch->encode(scratch->fresh, bytes, piece, scratch->out);
    }
    if (!step.unite || (states == 0 && !known)) continue;
    if (states != 0) scratch->unite(scratch->exclude, bytes);
    scratch->encode(scratch->exclude, bytes, piece, scratch->united);
  }
  if (fresh.states != 0) fresh.blob.assign(scratch->out.begin(), scratch->out.end());
  if (scratch->united.size() > 4 * pieces())
    fresh.united.assign(scratch->united.begin(), scratch->united.end());
}

std::vector<FreshShard> UnitStepper::step(const std::vector<ShardStep>& shards, int threads) {
  const std::shared_lock lock(space_.mutex());
  for (const ShardStep& step : shards) {
    if (step.shard >= space_.shards() || !space_.prepared(step.shard))
      throw InvalidArgument("shard " + std::to_string(step.shard) + " is not prepared");
    if (step.slots.size() != space_.sources(step.shard).size() ||
        std::ranges::any_of(step.slots, [&](auto slot) { return slot >= slots_; }))
      throw InvalidArgument("a shard's sources or excluded layers do not fit the space");
  }
  std::vector<FreshShard> fresh(shards.size());
  in_parallel(shards.size(), threads, [&](std::uint64_t i) { step_shard(shards[i], fresh[i]); });
  return fresh;
}

std::vector<std::uint8_t> UnitStepper::blob_of(const std::vector<Key>& keys) {
  Borrowed scratch(*this);
  scratch->out.assign(4 * pieces(), 0);
  for (std::uint64_t piece = 0; piece < pieces(); ++piece) {
    std::fill(scratch->fresh.begin(), scratch->fresh.end(), Word{0});
    const std::uint64_t begin = piece * piece_lines_ * space_.words_per_line();
    const std::uint64_t end = piece_end(piece) * space_.words_per_line();
    for (const Key key : keys) {
      if (key >= space_.keys_per_shard()) throw InvalidArgument("no such key in a shard");
      const auto [word, bit] = space_.place(key);
      if (word >= begin && word < end) scratch->fresh[word - begin] |= Word{1} << bit;
    }
    scratch->encode(scratch->fresh, piece_bytes(piece), piece, scratch->out);
  }
  return keys.empty() ? std::vector<std::uint8_t>{} : scratch->out;
}

std::vector<Key> UnitStepper::keys_of(Blob blob, std::size_t limit) {
  PieceBlobs blobs(blob, pieces());
  Borrowed scratch(*this);
  std::vector<Key> keys;
  // Keys ascend from group to group of words; within a group they are put in order.
  const std::uint64_t group = space_.words_per_group();
  for (std::uint64_t piece = 0; piece < pieces() && keys.size() < limit; ++piece) {
    const Blob one = blobs.next();
    if (one.empty()) continue;
    scratch->codec.decode(one, {reinterpret_cast<std::uint8_t*>(scratch->fresh.data()), piece_bytes(piece)});
    const std::uint64_t begin = piece * piece_lines_ * space_.words_per_line();
    const std::uint64_t words = (piece_end(piece) - piece * piece_lines_) * space_.words_per_line();
    for (std::uint64_t first = 0; first < words && keys.size() < limit; first += group) {
      const auto had = static_cast<std::ptrdiff_t>(keys.size());
      for (std::uint64_t word = first; word < first + group; ++word)
        for (Word rest = scratch->fresh[word]; rest != 0; rest &= rest - 1)
          if (const int bit = std::countr_zero(rest); bit < space_.bits())
            keys.push_back(space_.key_at(begin + word, bit));
      std::sort(keys.begin() + had, keys.end());
    }
  }
  if (keys.size() > limit) keys.resize(limit);
  return keys;
}

}  // namespace farthest
