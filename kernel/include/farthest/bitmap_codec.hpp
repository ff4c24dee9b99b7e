// Codes bitmaps of which up to a quarter are ones, or zeros, in any pattern, without a branch on the data.
//
// An *array* is a sequence of bits, the lowest of a byte first. It is coded as one byte, its kind, and
//
//   kZeros  nothing: there are no ones
//   kList   a byte, the number of ones k, 1 to 32; then for each one the number of zeros before it, since the
//           last one, as a Rice code: its high bits in unary (so many zeros and a one), its r low bits as
//           they are. r is the bits of n / k, less one, for an array of n bits. Filled up to whole bytes
//   kRaw    the bits as they are, filled up to whole bytes
//   kBytes  the array cut into bytes, as four parts:
//             mask    an array: a bit for each byte, 1 where it is not empty
//             several an array: a bit for each byte that is not empty, 1 where more than one bit is set
//             many    an array: a bit for each 1 of `several`, 1 where more than two bits are set
//             places  for each byte that is not empty 3 bits, the place of its one, or 5 bits, the number of
//                     its pair of ones, or 8 bits, the byte as it is. Filled up to whole bytes
//   kPairs  the array cut into pairs of bits, as three parts:
//             mask    an array: a bit for each pair, 1 where it is not 00
//             both    an array: a bit for each such pair, 1 where it is 11
//             which   a bit for each pair of one one, 1 where it is the second. Filled up to whole bytes
//   kCut    the array cut into segments of 2^18 bytes, each an array. This is the whole bitmap where it is
//           longer than that and has more than 32 ones, and nothing else is
//   kRest   an array: the zeros. This is a bitmap or a segment of which more than three quarters are ones
//           where that is shorter than its bits, and nothing else is
//   kRestOfWords  a byte, the bits of a word that any word uses, from the lowest on, 1 to 63; an array: the
//           zeros of these bits of each word of 8 bytes. In place of kRest where so few are used
//
// What fills up is zeros. The lengths of all parts follow from the numbers of ones in those before them.
//
// A blob is an array, a byte 1 (the number of this format) and XXH3 of all that, 8 bytes. A bitmap without
// ones has a blob of no bytes. Numbers are little-endian. The blob is the same for all instruction sets.
//
// For bits that are independent of each other blobs have 1.00 to 1.05 of the entropy up to p = 0.12, 1.09 at
// 0.17; for bits in clusters less than the entropy at their p.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "farthest/isa.hpp"

namespace farthest {

struct BitmapSplits;

// Holds scratch memory, some 2^20 bytes: one a thread.
class BitmapCodec {
 public:
  // isa: one of available_isas().
  explicit BitmapCodec(Isa isa);

  // Bytes of room that encode() needs for a bitmap of `size` bytes.
  static std::size_t bound(std::size_t size);

  // Writes the blob of a bitmap to `out`, which has room for bound(). Returns the blob's bytes and sets
  // `ones` to the number of ones. Throws InvalidArgument unless the bitmap has a multiple of 64 bytes.
  std::size_t encode(std::span<const std::uint8_t> bitmap, std::uint8_t* out, std::uint64_t& ones);

  // Inverse of encode(). Throws InvalidArgument where `blob` is not the blob of a bitmap of this size; reads
  // and writes nothing outside of the spans. The bitmap holds anything then.
  void decode(std::span<const std::uint8_t> blob, std::span<std::uint8_t> bitmap);

 private:
  using Bytes = std::vector<std::uint8_t>;
  // The parts of an array that is being coded. Those of its own parts lie in the next element.
  struct Parts {
    Bytes mask, second, third, tail;
  };
  class Encoder;
  class Decoder;
  Parts& parts(std::size_t depth);

  Isa isa_;
  const BitmapSplits* splits_;
  std::vector<std::unique_ptr<Parts>> parts_;
  Bytes rest_;
};

}  // namespace farthest
