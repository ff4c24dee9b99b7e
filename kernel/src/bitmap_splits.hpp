// How arrays of the codec of bitmaps (bitmap_codec.hpp) are split into parts, one table an instruction set.
//
// Arrays and parts begin at any address; what is read as one is filled up with zeros to whole blocks, and
// what is written gets that. Readers of `second`, `third` and `tail` take up to kSlack bytes beyond their
// end, writers leave anything there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace farthest {

struct BitmapSplits {
  // How many ones the mask, the second part and the third part of a split have.
  struct Counts {
    std::uint64_t mask, second, third;
  };

  static constexpr std::size_t kBlock = 64;  // bytes of an array that are split at a time
  static constexpr std::size_t kSlack = 128;
  static constexpr std::size_t kOverread = 9;  // of kSlack: what readers take
  // While a segment of a bitmap is split, the same place of the next one is fetched into the cache.
  static constexpr std::size_t kAhead = std::size_t{1} << 18;

  // By bytes: `second` is `several`, `third` `many`, `tail` the places. mask: 8 bytes a block.
  Counts (*split_bytes)(const std::uint8_t* array, std::size_t blocks, std::uint8_t* mask,
                        std::uint8_t* second, std::uint8_t* third, std::uint8_t* tail);
  void (*join_bytes)(const std::uint8_t* mask, std::size_t blocks, const std::uint8_t* second,
                     const std::uint8_t* third, const std::uint8_t* tail, std::uint8_t* array);
  // By pairs: `second` is `both`, `tail` is `which`. mask: 32 bytes a block.
  Counts (*split_pairs)(const std::uint8_t* array, std::size_t blocks, std::uint8_t* mask,
                        std::uint8_t* second, std::uint8_t* tail);
  void (*join_pairs)(const std::uint8_t* mask, std::size_t blocks, const std::uint8_t* second,
                     const std::uint8_t* tail, std::uint8_t* array);
  std::uint64_t (*ones)(const std::uint8_t* array, std::size_t blocks);
};

const BitmapSplits& portable_splits();
const BitmapSplits& avx2_splits();
const BitmapSplits& avx512_splits();  // needs AVX-512 VBMI and VBMI2 as well

namespace {

inline std::uint64_t load64(const std::uint8_t* from) {
  std::uint64_t value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

inline void store64(std::uint8_t* to, std::uint64_t value) { std::memcpy(to, &value, sizeof(value)); }

inline unsigned ones_of(std::uint64_t word) { return static_cast<unsigned>(__builtin_popcountll(word)); }

// Appends bits, the lowest first. Writes up to 8 bytes beyond them.
class BitWriter {
 public:
  explicit BitWriter(std::uint8_t* out) : out_(out) {}

  // bits: 0 from `count` on; count: up to 64.
  void put(std::uint64_t bits, unsigned count) {
    if (count > 56) [[unlikely]] {
      put_few(bits & 0xffffffff, 32);
      put_few(bits >> 32, count - 32);
    } else {
      put_few(bits, count);
    }
  }
  // count: up to 56.
  void put_few(std::uint64_t bits, unsigned count) {
    word_ |= bits << filled_;
    filled_ += count;
    store64(out_, word_);
    out_ += filled_ >> 3;
    word_ >>= filled_ & ~7u;
    filled_ &= 7;
  }
  // Fills the last byte and `zeros` bytes more with zeros.
  void finish(std::size_t zeros) {
    store64(out_, word_);
    std::memset(out_ + 1, 0, zeros);
  }

 private:
  std::uint8_t* out_;
  std::uint64_t word_ = 0;
  unsigned filled_ = 0;  // below 8 between calls
};

// Reads bits, the lowest first: kOverread bytes from the place on.
class BitReader {
 public:
  explicit BitReader(const std::uint8_t* in) : in_(in) {}

  // Of the next 64 bits the first 57 at least.
  std::uint64_t peek_few() const { return load64(in_ + (at_ >> 3)) >> (at_ & 7); }
  std::uint64_t peek() const {
    const std::uint8_t* from = in_ + (at_ >> 3);
    const unsigned shift = at_ & 7;
    return load64(from) >> shift | (std::uint64_t{from[8]} << 1) << (63 - shift);
  }
  void skip(unsigned count) { at_ += count; }
  std::uint64_t at() const { return at_; }

 private:
  const std::uint8_t* in_;
  std::uint64_t at_ = 0;
};

}  // namespace
}  // namespace farthest
