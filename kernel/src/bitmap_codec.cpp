#include "farthest/bitmap_codec.hpp"

#include <algorithm>
#include <cstring>

#include "bitmap_format.hpp"
#include "farthest/types.hpp"
#include "farthest/xxh3.hpp"

namespace farthest {
namespace {

// The longest list of so many ones.
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

// The bits of a word from the lowest to the highest that is a one in any word of the segment.
unsigned used_bits(std::span<const std::uint8_t> segment) {
  std::uint64_t any = 0;
  for (std::size_t at = 0; at < segment.size(); at += 8) any |= load64(segment.data() + at);
  return static_cast<unsigned>(std::bit_width(any));
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
      const unsigned used = found > segment.size() ? used_bits(segment) : 64;
      if (found > segment.size() / 8 * used / 4 * 3)
        write_rest(segment, found, used);
      else
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

  // used: of each word only so many bits have ones.
  void write_rest(std::span<const std::uint8_t> segment, std::uint64_t ones, unsigned used) {
    std::uint8_t* const rest = room(codec_.rest_, segment.size());
    copy_rest(segment.data(), rest, segment.size(), used);
    std::uint8_t* const begin = out_;
    *out_++ = used == 64 ? kRest : kRestOfWords;
    if (used != 64) *out_++ = static_cast<std::uint8_t>(used);
    write(rest, 8 * segment.size(), segment.size() / 8 * used - ones, 0);
    if (static_cast<std::size_t>(out_ - begin) <= segment.size()) return;
    out_ = begin;
    *out_++ = kRaw;
    append(segment.data(), segment.size());
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

BitmapCodec::BitmapCodec(Isa isa) : isa_(isa), splits_(&portable_splits()) {
#ifdef FARTHEST_X86
  if (isa != Isa::portable) splits_ = &avx2_splits();
  if (isa == Isa::avx512 && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2"))
    splits_ = &avx512_splits();
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
  store64(end, xxh3({out, end}, isa_));
  return static_cast<std::size_t>(end - out) + kChecksum;
}

}  // namespace farthest
