#include <algorithm>
#include <cstring>

#include "bitmap_format.hpp"
#include "farthest/bitmap_codec.hpp"
#include "farthest/types.hpp"
#include "farthest/xxh3.hpp"

namespace farthest {
namespace {

[[noreturn]] void damaged() { throw InvalidArgument("the bitmap's blob is damaged, or of another size"); }

}  // namespace

// Reads arrays into whole blocks, filled up with zeros. Checks that all parts are there before they are read,
// and that what fills up is zeros: a 1 behind the end of an array would count as one of its ones. Parts whose
// lengths follow from each other are memory of the codec, so that a blob that another thread changes
// meanwhile does no harm.
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
      case kRest:
        if (depth != 0 || *at_ == kRest || *at_ == kRestOfWords) damaged();
        read(array, bits, 0);
        copy_rest(array, array, bytes_of(bits), 64);
        return;
      case kRestOfWords: {
        const unsigned used = *take(1);
        if (depth != 0 || used == 0 || used >= 64 || *at_ == kRest || *at_ == kRestOfWords) damaged();
        read(array, bits, 0);
        copy_rest(array, array, bytes_of(bits), used);
        return;
      }
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

void BitmapCodec::decode(std::span<const std::uint8_t> blob, std::span<std::uint8_t> bitmap) {
  if (bitmap.size() % BitmapSplits::kBlock != 0)
    throw InvalidArgument("a bitmap must have a multiple of 64 bytes");
  if (blob.empty()) {
    std::ranges::fill(bitmap, std::uint8_t{0});
    return;
  }
  if (blob.size() <= kTrailer) damaged();
  const auto checked = blob.first(blob.size() - kChecksum);
  if (xxh3(checked, isa_) != load64(checked.data() + checked.size())) damaged();
  if (checked.back() != kFormat) damaged();
  Decoder(*this, blob.first(blob.size() - kTrailer)).read(bitmap);
}

}  // namespace farthest
