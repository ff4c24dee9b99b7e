#include "farthest/unit_step.hpp"

#include <algorithm>
#include <shared_mutex>
#include <string>

#include "farthest/bitmap_codec.hpp"
#include "parallel.hpp"

namespace farthest {
namespace {

std::uint8_t flag_of(const Word* line, std::size_t words, Word all) {
  Word any = 0, every = all;
  for (std::size_t w = 0; w < words; ++w) any |= line[w], every &= line[w];
  return any == 0 ? 0 : every == all ? kFull : 1;
}

std::size_t shard_bytes(const Space& space) {
  return (space.words_per_shard() * sizeof(Word) + 63) / 64 * 64;
}

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
    set_piece_bytes(blob, piece, size);
  }

  // Decodes all of the blobs into one bitmap of so many bytes. Returns whether it can have states.
  bool decode_together(const std::vector<Blob>& blobs, std::size_t bytes, std::vector<Word>& bitmap) {
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
    scratch_ = std::make_unique<Scratch>(owner.isa_, owner.pieces_.bytes(0), owner.pieces_.lines());
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
      pieces_(space),
      all_(space.bits() == 64 ? ~Word{0} : (Word{1} << space.bits()) - 1),
      slot_size_(shard_bytes(space)),
      words_(slots * slot_size_),
      flags_(slots * space.lines_per_shard()) {}

UnitStepper::~UnitStepper() = default;

std::uint64_t UnitStepper::slot_bytes(const Space& space) {
  return shard_bytes(space) + space.lines_per_shard();
}

Word* UnitStepper::slot_words(std::size_t slot) const {
  return reinterpret_cast<Word*>(words_.bytes().data() + slot * slot_size_);
}

std::uint8_t* UnitStepper::slot_flags(std::size_t slot) const {
  return flags_.bytes().data() + slot * space_.lines_per_shard();
}

void UnitStepper::load_piece(const SlotLoad& load, std::uint64_t piece) {
  const std::uint64_t first = pieces_.begin(piece), last = pieces_.end(piece);
  const std::size_t words = space_.words_per_line();
  std::uint8_t* const flags = slot_flags(load.slot);
  const Blob blob = PieceBlobs(load.blob, pieces_.count()).at(piece);
  if (blob.empty()) {
    std::fill(flags + first, flags + last, std::uint8_t{0});
    if (space_.united())  // a step reads what the shard itself has, whatever the flags say
      std::fill(slot_words(load.slot) + first * words, slot_words(load.slot) + last * words, Word{0});
    return;
  }
  const Word* line = slot_words(load.slot) + first * words;
  Borrowed scratch(*this);
  scratch->codec.decode(blob, {words_.bytes().data() + load.slot * slot_size_ + first * words * sizeof(Word),
                               pieces_.bytes(piece)});
  for (std::uint64_t at = first; at < last; ++at, line += words) flags[at] = flag_of(line, words, all_);
}

void UnitStepper::load(const std::vector<SlotLoad>& loads, int threads) {
  for (const SlotLoad& load : loads)
    if (load.slot >= slots_) throw InvalidArgument("no slot " + std::to_string(load.slot));
  const std::uint64_t each = pieces_.count();
  in_parallel(loads.size() * each, threads, [&](std::uint64_t i) { load_piece(loads[i / each], i % each); });
}

void UnitStepper::step_shard(const ShardStep& step, FreshShard& fresh) {
  std::vector<const Word*> words;
  std::vector<const std::uint8_t*> flags;
  for (const auto slot : step.slots) {
    words.push_back(slot_words(slot));
    flags.push_back(slot_flags(slot));
  }
  const std::size_t sources = space_.sources(step.shard).size();
  const bool united = step.slots.size() > sources;
  std::vector<PieceBlobs> excluded;
  for (const Blob& blob : step.exclude) excluded.emplace_back(blob, pieces_.count());

  Borrowed scratch(*this);
  LineRange range;
  range.shard = step.shard;
  range.source_words = std::span(words).first(sources);
  range.source_flags = std::span(flags).first(sources);
  range.fresh = scratch->fresh.data();
  range.fresh_flags = scratch->flags.data();
  scratch->out.assign(4 * pieces_.count(), 0);
  scratch->united.assign(4 * pieces_.count(), 0);
  const bool together = step.unite || excluded.size() > kMaxExclude;
  std::vector<Blob> blobs(excluded.size());
  std::uint64_t fixed = 0;
  for (std::uint64_t piece = 0; piece < pieces_.count(); ++piece) {
    const std::size_t bytes = pieces_.bytes(piece);
    range.first = range.from = pieces_.begin(piece);
    range.last = pieces_.end(piece);
    range.excludes = 0;
    std::ranges::transform(excluded, blobs.begin(), [](PieceBlobs& shard) { return shard.next(); });
    bool known = false;
    if (united) {
      range.exclude[range.excludes++] = words.back() + range.first * space_.words_per_line();
      range.known_flags = flags.back() + range.first;
      known = std::any_of(range.known_flags, flags.back() + range.last, [](auto flag) { return flag != 0; });
    } else if (together) {
      known = scratch->decode_together(blobs, bytes, scratch->exclude);
      range.exclude[range.excludes++] = scratch->exclude.data();
    } else {
      for (const Blob blob : blobs) {
        if (blob.empty()) continue;
        // The step reads what is excluded of a line before it writes the line: the first lies where it
        // writes.
        std::vector<Word>& decoded = range.excludes == 0 ? scratch->fresh : scratch->exclude;
        decoded.resize(scratch->fresh.size());
        scratch->codec.decode(blob, {reinterpret_cast<std::uint8_t*>(decoded.data()), bytes});
        range.exclude[range.excludes++] = decoded.data();
      }
    }
    std::fill(scratch->flags.begin(), scratch->flags.end(), std::uint8_t{1});
    const std::uint64_t states = space_.step_lines(range);
    fresh.states += states;
    if (states != 0 && space_.stabiliser(step.shard) > 1) fixed += space_.fixed_states(range);
    if (states != 0 || (united && known)) {
      auto* const bitmap = reinterpret_cast<std::uint8_t*>(scratch->fresh.data());
      const std::size_t filled = (range.last - range.first) * space_.words_per_line() * sizeof(Word);
      std::fill(bitmap + filled, bitmap + bytes, std::uint8_t{0});
      scratch->encode(scratch->fresh, bytes, piece, scratch->out);
    }
    if (!step.unite || (states == 0 && !known)) continue;
    if (states != 0) scratch->unite(scratch->exclude, bytes);
    scratch->encode(scratch->exclude, bytes, piece, scratch->united);
  }
  classes_ += space_.classes(step.shard, fresh.states, fixed);
  if (scratch->out.size() > 4 * pieces_.count()) fresh.blob.assign(scratch->out.begin(), scratch->out.end());
  if (scratch->united.size() > 4 * pieces_.count())
    fresh.united.assign(scratch->united.begin(), scratch->united.end());
}

std::vector<FreshShard> UnitStepper::step(const std::vector<ShardStep>& shards, int threads) {
  const std::shared_lock lock(space_.mutex());
  for (const ShardStep& step : shards) {
    if (step.shard >= space_.shards() || !space_.prepared(step.shard))
      throw InvalidArgument("shard " + std::to_string(step.shard) + " is not prepared");
    const std::size_t more = step.slots.size() - space_.sources(step.shard).size();
    if (more > 1 || (more == 1 && (!space_.united() || step.unite || !step.exclude.empty())) ||
        std::ranges::any_of(step.slots, [&](auto slot) { return slot >= slots_; }))
      throw InvalidArgument("a shard's sources or excluded layers do not fit the space");
  }
  std::vector<FreshShard> fresh(shards.size());
  classes_ = 0;
  in_parallel(shards.size(), threads, [&](std::uint64_t i) { step_shard(shards[i], fresh[i]); });
  return fresh;
}

std::vector<std::uint8_t> UnitStepper::blob_of(const std::vector<Key>& keys) {
  Borrowed scratch(*this);
  scratch->out.assign(4 * pieces_.count(), 0);
  for (std::uint64_t piece = 0; piece < pieces_.count(); ++piece) {
    std::fill(scratch->fresh.begin(), scratch->fresh.end(), Word{0});
    const std::uint64_t begin = pieces_.begin(piece) * space_.words_per_line();
    const std::uint64_t end = pieces_.end(piece) * space_.words_per_line();
    for (const Key key : keys) {
      if (key >= space_.keys_per_shard()) throw InvalidArgument("no such key in a shard");
      const auto [word, bit] = space_.place(key);
      if (word >= begin && word < end) scratch->fresh[word - begin] |= Word{1} << bit;
    }
    scratch->encode(scratch->fresh, pieces_.bytes(piece), piece, scratch->out);
  }
  return keys.empty() ? std::vector<std::uint8_t>{} : scratch->out;
}

std::vector<Key> UnitStepper::keys_of(Blob blob, std::size_t limit, Blob without) {
  PieceBlobs blobs(blob, pieces_.count()), others(without, pieces_.count());
  Borrowed scratch(*this);
  std::vector<Key> keys;
  // Keys ascend from group to group of words; within a group they are put in order.
  const std::uint64_t group = space_.words_per_group();
  for (std::uint64_t piece = 0; piece < pieces_.count() && keys.size() < limit; ++piece) {
    const Blob one = blobs.next(), other = others.next();
    if (one.empty()) continue;
    scratch->decode_together({other}, pieces_.bytes(piece), scratch->exclude);
    scratch->codec.decode(one,
                          {reinterpret_cast<std::uint8_t*>(scratch->fresh.data()), pieces_.bytes(piece)});
    const std::uint64_t begin = pieces_.begin(piece) * space_.words_per_line();
    const std::uint64_t words = (pieces_.end(piece) - pieces_.begin(piece)) * space_.words_per_line();
    for (std::uint64_t first = 0; first < words && keys.size() < limit; first += group) {
      const auto had = static_cast<std::ptrdiff_t>(keys.size());
      for (std::uint64_t word = first; word < first + group; ++word)
        for (Word rest = scratch->fresh[word] & ~scratch->exclude[word]; rest != 0; rest &= rest - 1)
          if (const int bit = std::countr_zero(rest); bit < space_.bits())
            keys.push_back(space_.key_at(begin + word, bit));
      std::sort(keys.begin() + had, keys.end());
    }
  }
  if (keys.size() > limit) keys.resize(limit);
  return keys;
}

void UnitStepper::mark(Blob blob, unsigned number, std::size_t planes, std::span<Word> words) {
  if (planes < 1 || planes > 2 || words.size() != space_.words_per_shard() * planes)
    throw InvalidArgument("a residue map has the words of a shard in 1 or 2 planes");
  PieceBlobs blobs(blob, pieces_.count());
  Borrowed scratch(*this);
  for (std::uint64_t piece = 0; piece < pieces_.count(); ++piece) {
    const Blob one = blobs.next();
    if (one.empty()) continue;
    scratch->codec.decode(one,
                          {reinterpret_cast<std::uint8_t*>(scratch->fresh.data()), pieces_.bytes(piece)});
    const std::uint64_t begin = pieces_.begin(piece) * space_.words_per_line();
    const std::uint64_t count = pieces_.end(piece) * space_.words_per_line() - begin;
    for (std::size_t plane = 0; plane < planes; ++plane) {
      if ((number >> plane & 1) == 0) continue;
      Word* to = words.data() + begin * planes + plane;
      for (std::uint64_t word = 0; word < count; ++word, to += planes) *to |= scratch->fresh[word];
    }
  }
}

}  // namespace farthest
