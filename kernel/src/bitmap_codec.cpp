#include "farthest/bitmap_codec.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "bitmap_splits.hpp"
#include "farthest/types.hpp"
#include "farthest/xxh3.hpp"

namespace farthest {
namespace {

enum Kind : std::uint8_t { kZeros, kList, kRaw, kBytes, kPairs, kCut };

constexpr std::uint8_t kFormat = 1;
constexpr std::size_t kChecksum = 8;
// Behind the array: the format and the checksum. So bit readers that begin in the array stay in the blob.
constexpr std::size_t kTrailer = 1 + kChecksum;
static_assert(kTrailer >= BitmapSplits::kOverread);

constexpr std::uint64_t kMostListed = 32;
// Longer bitmaps are cut, so that all parts of a segment stay in a processor's cache.
constexpr std::size_t kSegment = std::size_t{1} << 18;
static_assert(kSegment == BitmapSplits::kAhead);
// Arrays of fewer bits are not split. A part has at most half of the bits, so the depth is bounded.
constexpr std::uint64_t kLeastSplit = 512;

constexpr std::size_t bytes_of(std::uint64_t bits) { return static_cast<std::size_t>((bits + 7) / 8); }
constexpr std::size_t blocks_of(std::uint64_t bits) {
  return (bytes_of(bits) + BitmapSplits::kBlock - 1) / BitmapSplits::kBlock;
}

// The bits of a Rice code that are not in unary. The numbers in unary are then at most 2 * ones - 1 together.
constexpr unsigned rice_width(std::uint64_t bits, std::uint64_t ones) {
  return static_cast<unsigned>(std::bit_width(bits / ones)) - 1;
}
constexpr std::uint64_t most_listed_bits(std::uint64_t bits, std::uint64_t ones) {
  return ones * (rice_width(bits, ones) + 3);
}

// How an array is coded; `root`: a segment, or a bitmap that is not cut.
Kind kind_of(std::uint64_t bits, std::uint64_t ones, bool root) {
  if (ones == 0) return kZeros;
  if (ones <= kMostListed && most_listed_bits(bits, ones) < bits) return kList;
  if (bits < kLeastSplit) return kRaw;
  if (root) return ones > bits / 4 ? kRaw : kBytes;
  // Few ones are split by bytes, which is quicker; from a sixteenth on pairs are shorter.
  if (ones <= bits / 16) return kBytes;
  return ones > bits / 8 * 3 ? kRaw : kPairs;
}

[[noreturn]] void damaged() { throw InvalidArgument("the bitmap's blob is damaged, or of another size"); }

// Memory for `size` bytes and the slack behind it.
std::uint8_t* room(std::vector<std::uint8_t>& memory, std::size_t size) {
  if (memory.size() < size + BitmapSplits::kSlack) memory.resize(size + BitmapSplits::kSlack);
  return memory.data();
}

}  // namespace

// Writes arrays. An array is given in whole blocks, filled up with zeros.
class BitmapCodec::Encoder {
 public:
  Encoder(BitmapCodec& codec, std::uint8_t* out) : codec_(codec), out_(out) {}

  std::uint8_t* out() const { return out_; }

  // Writes a bitmap, and nothing where it has no ones. Returns their number.
  std::uint64_t write(std::span<const std::uint8_t> bitmap) {
    std::uint8_t* const begin = out_;
    const bool cut = bitmap.size() > kSegment;
    if (cut) *out_++ = kCut;
    std::uint64_t ones = 0;
    for (std::size_t at = 0; at < bitmap.size(); at += kSegment) {
      const auto segment = bitmap.subspan(at, std::min(kSegment, bitmap.size() - at));
      const std::uint64_t found = codec_.splits_->ones(segment.data(), segment.size() / BitmapSplits::kBlock);
      write(segment.data(), 8 * segment.size(), found, 0);
      ones += found;
    }
    if (ones == 0) out_ = begin;
    if (cut && ones != 0 && ones <= kMostListed) {
      out_ = begin;
      *out_++ = kList;
      write_list(bitmap.data(), 8 * bitmap.size(), ones);
    }
    return ones;
  }

 private:
  // Whatever another thread does to the bitmap meanwhile, not more than bound() is written: all but the
  // bitmap is memory of the codec.
  void write(const std::uint8_t* array, std::uint64_t bits, std::uint64_t ones, std::size_t depth) {
    std::uint8_t* const begin = out_;
    const Kind kind = kind_of(bits, ones, depth == 0);
    *out_++ = kind;
    if (kind == kZeros) return;
    if (kind == kList) return write_list(array, bits, ones);
    if (kind == kBytes) write_bytes(array, bits, depth);
    if (kind == kPairs) write_pairs(array, bits, depth);
    if (kind != kRaw && static_cast<std::size_t>(out_ - begin) <= bytes_of(bits)) return;
    out_ = begin;
    *out_++ = kRaw;
    append(array, bytes_of(bits));
  }

  void append(const std::uint8_t* from, std::size_t size) {
    std::memcpy(out_, from, size);
    out_ += size;
  }

  void write_list(const std::uint8_t* array, std::uint64_t bits, std::uint64_t ones) {
    std::uint8_t memory[kMostListed * 8 + BitmapSplits::kSlack];
    const unsigned width = rice_width(bits, ones);
    BitWriter writer(memory);
    std::uint64_t written = 0, next = 0, left = ones;
    for (std::size_t at = 0; at < bytes_of(bits) && left != 0; at += 8)
      for (std::uint64_t word = load64(array + at); word != 0 && left != 0; word &= word - 1, --left) {
        const std::uint64_t place = 8 * at + static_cast<unsigned>(std::countr_zero(word));
        const std::uint64_t zeros = place - next;
        const auto high = static_cast<unsigned>(zeros >> width);
        next = place + 1;
        writer.put(std::uint64_t{1} << high, high + 1);
        writer.put(zeros & ((std::uint64_t{1} << width) - 1), width);
        written += high + 1 + width;
      }
    writer.finish(0);
    *out_++ = static_cast<std::uint8_t>(ones);
    append(memory, bytes_of(written));
  }

  void write_bytes(const std::uint8_t* array, std::uint64_t bits, std::size_t depth) {
    const std::uint64_t size = bytes_of(bits);
    const std::size_t blocks = blocks_of(bits);
    Parts& parts = codec_.parts(depth);
    std::uint8_t* const mask = room(parts.mask, blocks * 8);
    std::uint8_t* const several = room(parts.second, size / 8 + 1);
    std::uint8_t* const many = room(parts.third, size / 8 + 1);
    std::uint8_t* const places = room(parts.tail, size);
    const auto counts = codec_.splits_->split_bytes(array, blocks, mask, several, many, places);
    std::memset(mask + blocks * 8, 0, BitmapSplits::kBlock);
    const std::size_t places_size = bytes_of(3 * counts.mask + 2 * counts.second + 3 * counts.third);
    // Up to a quarter of ones it is less. So all parts together are at most 9/8 of the array.
    if (places_size > size - size / 4) return append(array, size);
    write(mask, size, counts.mask, depth + 1);
    write(several, counts.mask, counts.second, depth + 1);
    write(many, counts.second, counts.third, depth + 1);
    append(places, places_size);
  }

  void write_pairs(const std::uint8_t* array, std::uint64_t bits, std::size_t depth) {
    const std::uint64_t pairs = (bits + 1) / 2;
    const std::size_t blocks = blocks_of(bits);
    Parts& parts = codec_.parts(depth);
    std::uint8_t* const mask = room(parts.mask, blocks * 32);
    std::uint8_t* const both = room(parts.second, bytes_of(pairs));
    std::uint8_t* const which = room(parts.tail, bytes_of(pairs));
    const auto counts = codec_.splits_->split_pairs(array, blocks, mask, both, which);
    std::memset(mask + blocks * 32, 0, BitmapSplits::kBlock);
    write(mask, pairs, counts.mask, depth + 1);
    write(both, counts.mask, counts.second, depth + 1);
    append(which, bytes_of(counts.mask - counts.second));
  }

  BitmapCodec& codec_;
  std::uint8_t* out_;
};

// Reads arrays into whole blocks, filled up with zeros. Checks that all parts are there before they are
// read, and that what fills up are zeros: a 1 behind the end of an array would be one more than are counted
// on.
class BitmapCodec::Decoder {
 public:
  // blob: its array; kTrailer bytes more can be read.
  Decoder(BitmapCodec& codec, std::span<const std::uint8_t> blob)
      : codec_(codec), at_(blob.data()), end_(blob.data() + blob.size()) {}

  // Reads the whole blob.
  void read(std::span<std::uint8_t> bitmap) {
    if (bitmap.size() <= kSegment) {
      read(bitmap.data(), 8 * bitmap.size(), 0);
    } else if (const std::uint8_t kind = *take(1); kind == kList) {
      std::ranges::fill(bitmap, std::uint8_t{0});
      read_list(bitmap.data(), 8 * bitmap.size());
    } else if (kind == kCut) {
      for (std::size_t at = 0; at < bitmap.size(); at += kSegment)
        read(bitmap.data() + at, 8 * std::min(kSegment, bitmap.size() - at), 0);
    } else {
      damaged();
    }
    if (at_ != end_) damaged();
  }

 private:
  void read(std::uint8_t* array, std::uint64_t bits, std::size_t depth) {
    const std::size_t filled_up = blocks_of(bits) * BitmapSplits::kBlock;
    switch (*take(1)) {
      case kZeros:
        std::memset(array, 0, filled_up);
        return;
      case kList:
        std::memset(array, 0, filled_up);
        return read_list(array, bits);
      case kRaw:
        std::memset(array + bytes_of(bits), 0, filled_up - bytes_of(bits));
        std::memcpy(array, take(bytes_of(bits)), bytes_of(bits));
        break;
      case kBytes:
        if (bits < kLeastSplit) damaged();
        read_bytes(array, bits, depth);
        break;
      case kPairs:
        if (bits < kLeastSplit) damaged();
        read_pairs(array, bits, depth);
        break;
      default:
        damaged();
    }
    if (bits % 8 != 0 && array[bits / 8] >> bits % 8 != 0) damaged();
  }

  const std::uint8_t* take(std::size_t size) {
    if (static_cast<std::size_t>(end_ - at_) < size) damaged();
    const std::uint8_t* const from = at_;
    at_ += size;
    return from;
  }

  // The last part of an array: so many bits.
  const std::uint8_t* take_bits(std::uint64_t bits) {
    const std::uint8_t* const from = take(bytes_of(bits));
    if (bits % 8 != 0 && from[bits / 8] >> bits % 8 != 0) damaged();
    return from;
  }

  std::uint64_t ones(const std::uint8_t* array, std::uint64_t bits) const {
    return codec_.splits_->ones(array, blocks_of(bits));
  }

  void read_list(std::uint8_t* array, std::uint64_t bits) {
    const std::uint64_t listed = *take(1);
    if (listed == 0 || listed > kMostListed || listed > bits) damaged();
    const unsigned width = rice_width(bits, listed);
    const auto left = 8 * static_cast<std::uint64_t>(end_ - at_);
    BitReader reader(at_);
    std::uint64_t next = 0;
    for (std::uint64_t i = 0; i < listed; ++i) {
      const std::uint64_t unary = reader.peek();
      if (unary == 0) damaged();
      const auto high = static_cast<unsigned>(std::countr_zero(unary));
      reader.skip(high + 1);
      if (reader.at() > left) damaged();
      const std::uint64_t low = reader.peek() & ((std::uint64_t{1} << width) - 1);
      reader.skip(width);
      const std::uint64_t place = next + (std::uint64_t{high} << width) + low;
      if (reader.at() > left || place >= bits) damaged();
      array[place / 8] = static_cast<std::uint8_t>(array[place / 8] | 1u << place % 8);
      next = place + 1;
    }
    take_bits(reader.at());
  }

  void read_bytes(std::uint8_t* array, std::uint64_t bits, std::size_t depth) {
    const std::uint64_t size = bytes_of(bits);
    const std::size_t blocks = blocks_of(bits);
    Parts& parts = codec_.parts(depth);
    std::uint8_t* const mask = room(parts.mask, blocks_of(size) * BitmapSplits::kBlock);
    read(mask, size, depth + 1);
    const std::uint64_t filled = ones(mask, size);
    std::uint8_t* const several = room(parts.second, blocks_of(filled) * BitmapSplits::kBlock);
    read(several, filled, depth + 1);
    const std::uint64_t of_several = ones(several, filled);
    std::uint8_t* const many = room(parts.third, blocks_of(of_several) * BitmapSplits::kBlock);
    read(many, of_several, depth + 1);
    const std::uint64_t of_many = ones(many, of_several);
    const std::uint8_t* const places = take_bits(3 * filled + 2 * of_several + 3 * of_many);
    codec_.splits_->join_bytes(mask, blocks, several, many, places, array);
  }

  void read_pairs(std::uint8_t* array, std::uint64_t bits, std::size_t depth) {
    const std::uint64_t pairs = (bits + 1) / 2;
    const std::size_t blocks = blocks_of(bits);
    Parts& parts = codec_.parts(depth);
    std::uint8_t* const mask = room(parts.mask, blocks_of(pairs) * BitmapSplits::kBlock);
    read(mask, pairs, depth + 1);
    const std::uint64_t filled = ones(mask, pairs);
    std::uint8_t* const both = room(parts.second, blocks_of(filled) * BitmapSplits::kBlock);
    read(both, filled, depth + 1);
    const std::uint8_t* const which = take_bits(filled - ones(both, filled));
    codec_.splits_->join_pairs(mask, blocks, both, which, array);
  }

  BitmapCodec& codec_;
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

BitmapCodec::BitmapCodec(Isa isa) : splits_(&portable_splits()) {
#ifdef FARTHEST_X86
  if (isa != Isa::portable) splits_ = &avx2_splits();
  if (isa == Isa::avx512 && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2"))
    splits_ = &avx512_splits();
#else
  static_cast<void>(isa);
#endif
}

BitmapCodec::Parts& BitmapCodec::parts(std::size_t depth) {
  while (parts_.size() <= depth) parts_.push_back(std::make_unique<Parts>());
  return *parts_[depth];
}

// An array that is split is longer than raw at first, by a quarter at most; it is an eighth of the bitmap.
std::size_t BitmapCodec::bound(std::size_t size) { return size + size / 8 + 256; }

std::size_t BitmapCodec::encode(std::span<const std::uint8_t> bitmap, std::uint8_t* out,
                                std::uint64_t& ones) {
  if (bitmap.size() % BitmapSplits::kBlock != 0)
    throw InvalidArgument("a bitmap must have a multiple of 64 bytes");
  Encoder encoder(*this, out);
  ones = encoder.write(bitmap);
  if (ones == 0) return 0;
  std::uint8_t* end = encoder.out();
  *end++ = kFormat;
  store64(end, xxh3({out, end}));
  return static_cast<std::size_t>(end - out) + kChecksum;
}

void BitmapCodec::decode(std::span<const std::uint8_t> blob, std::span<std::uint8_t> bitmap) {
  if (bitmap.size() % BitmapSplits::kBlock != 0)
    throw InvalidArgument("a bitmap must have a multiple of 64 bytes");
  if (blob.empty()) {
    std::ranges::fill(bitmap, std::uint8_t{0});
    return;
  }
  if (blob.size() <= kTrailer) damaged();
  const auto checked = blob.first(blob.size() - kChecksum);
  if (xxh3(checked) != load64(checked.data() + checked.size())) damaged();
  if (checked.back() != kFormat) damaged();
  Decoder(*this, blob.first(blob.size() - kTrailer)).read(bitmap);
}

}  // namespace farthest
