// Bytes that are not empty are closed up by VPCOMPRESSB, so that PEXT and PDEP take words of these alone.
#include <immintrin.h>

#include "bitmap_pairs_bmi2.hpp"
#include "bitmap_splits.hpp"

namespace farthest {
namespace {

constexpr std::size_t kBlock = BitmapSplits::kBlock;
constexpr std::size_t kBatch = 64;  // blocks whose bytes are closed up together

// The numbers of pairs, as kPairCodes in bitmap_splits_portable.cpp; from 32 on the bytes of one one.
alignas(64) constexpr std::uint8_t kBytesOf[kBlock] = {
    0x11, 0x12, 0x14, 0x18, 0x21, 0x22, 0x24, 0x28, 0x41, 0x42, 0x44, 0x48, 0x81, 0x82,
    0x84, 0x88, 0x03, 0x05, 0x06, 0x09, 0x0a, 0x0c, 0,    0,    0x30, 0x50, 0x60, 0x90,
    0xa0, 0xc0, 0,    0,    0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80};

// The inverse by nibbles, as in bitmap_splits_avx2.cpp.
struct NibbleTable {
  alignas(16) std::uint8_t bytes[16];
  __m512i vector() const {
    return _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(bytes)));
  }
};
constexpr NibbleTable kPlaceLow{{0, 0, 1, 0, 2, 0, 0, 0, 3}}, kPlaceHigh{{0, 4, 5, 0, 6, 0, 0, 0, 7}};
constexpr NibbleTable kPairLow{{0, 0, 1, 16, 2, 17, 18, 0, 3, 19, 20, 0, 21}};
constexpr NibbleTable kPairHigh{{0, 0, 4, 24, 8, 25, 26, 0, 12, 27, 28, 0, 29}};

// The bits kept of each byte: 0, 3, 5 or 8.
__m512i widths(__mmask64 filled, __mmask64 several, __mmask64 many) {
  const __m512i three = _mm512_maskz_set1_epi8(filled, 0x07);
  const __m512i five = _mm512_mask_mov_epi8(three, several, _mm512_set1_epi8(0x1f));
  return _mm512_mask_mov_epi8(five, many, _mm512_set1_epi8(-1));
}

// Bytes closed up, and what is kept of each.
struct alignas(64) ClosedBytes {
  std::uint8_t codes[(kBatch + 2) * kBlock], kept[(kBatch + 2) * kBlock];
};

// Writes the parts of bytes that are closed up.
struct ClosedWriter {
  BitWriter several, many, places;
  BitmapSplits::Counts counts{};

  // used: 64, or fewer at the end.
  void put(const std::uint8_t* codes, const std::uint8_t* kept, unsigned used) {
    const __mmask64 m = used < kBlock ? (std::uint64_t{1} << used) - 1 : ~std::uint64_t{0};
    const __m512i keep = _mm512_maskz_loadu_epi8(m, kept);
    const __mmask64 s = _mm512_test_epi8_mask(keep, _mm512_set1_epi8(0x08));
    const __mmask64 t = _mm512_test_epi8_mask(keep, _mm512_set1_epi8(0x20));
    several.put(s, used);
    many.put(_pext_u64(t, s), ones_of(s));
    counts.mask += used;
    counts.second += ones_of(s);
    counts.third += ones_of(t);
    for (unsigned at = 0; at < used; at += 8) {
      const std::uint64_t bits = load64(kept + at) & bytes_below(used - at);
      places.put(_pext_u64(load64(codes + at), bits), ones_of(bits));
    }
  }

  static std::uint64_t bytes_below(unsigned count) {
    return count < 8 ? (std::uint64_t{1} << 8 * count) - 1 : ~std::uint64_t{0};
  }
};

BitmapSplits::Counts split_bytes(const std::uint8_t* array, std::size_t blocks, std::uint8_t* mask,
                                 std::uint8_t* second, std::uint8_t* third, std::uint8_t* tail) {
  const __m512i place_low = kPlaceLow.vector(), place_high = kPlaceHigh.vector();
  const __m512i pair_low = kPairLow.vector(), pair_high = kPairHigh.vector();
  const __m512i nibble = _mm512_set1_epi8(15);
  ClosedWriter writer{BitWriter(second), BitWriter(third), BitWriter(tail)};
  ClosedBytes closed;
  std::size_t used = 0;
  for (std::size_t block = 0; block < blocks;) {
    const std::size_t end = block + kBatch < blocks ? block + kBatch : blocks;
    for (; block < end; ++block, array += kBlock) {
      _mm_prefetch(reinterpret_cast<const char*>(array) + BitmapSplits::kAhead, _MM_HINT_T1);
      const __m512i x = _mm512_loadu_si512(array);
      const __m512i bits = _mm512_popcnt_epi8(x);
      const __mmask64 m = _mm512_test_epi8_mask(x, x);
      const __mmask64 s = _mm512_cmpgt_epu8_mask(bits, _mm512_set1_epi8(1));
      const __mmask64 t = _mm512_cmpgt_epu8_mask(bits, _mm512_set1_epi8(2));
      const __m512i low = _mm512_and_si512(x, nibble);
      const __m512i high = _mm512_and_si512(_mm512_srli_epi16(x, 4), nibble);
      const __m512i place =
          _mm512_or_si512(_mm512_shuffle_epi8(place_low, low), _mm512_shuffle_epi8(place_high, high));
      const __m512i pair =
          _mm512_add_epi8(_mm512_shuffle_epi8(pair_low, low), _mm512_shuffle_epi8(pair_high, high));
      const __m512i code = _mm512_mask_mov_epi8(_mm512_mask_mov_epi8(place, s, pair), t, x);
      _mm512_storeu_si512(closed.codes + used, _mm512_maskz_compress_epi8(m, code));
      _mm512_storeu_si512(closed.kept + used, _mm512_maskz_compress_epi8(m, widths(m, s, t)));
      used += ones_of(m);
      store64(mask + 8 * block, m);
    }
    std::size_t at = 0;
    for (; at + kBlock <= used; at += kBlock) writer.put(closed.codes + at, closed.kept + at, kBlock);
    // What is left goes first in the next batch.
    _mm512_store_si512(closed.codes, _mm512_load_si512(closed.codes + at));
    _mm512_store_si512(closed.kept, _mm512_load_si512(closed.kept + at));
    used -= at;
  }
  if (used != 0) writer.put(closed.codes, closed.kept, static_cast<unsigned>(used));
  writer.several.finish(kBlock);
  writer.many.finish(kBlock);
  writer.places.finish(0);
  return writer.counts;
}

void join_bytes(const std::uint8_t* mask, std::size_t blocks, const std::uint8_t* second,
                const std::uint8_t* third, const std::uint8_t* tail, std::uint8_t* array) {
  const __m512i bytes_of = _mm512_load_si512(kBytesOf);
  BitReader several(second), many(third), places(tail);
  ClosedBytes closed;
  for (std::size_t block = 0; block < blocks;) {
    const std::size_t end = block + kBatch < blocks ? block + kBatch : blocks;
    std::size_t used = 0;
    for (std::size_t i = block; i < end; ++i) used += ones_of(load64(mask + 8 * i));
    __mmask64 of_several[kBatch], of_many[kBatch];
    for (std::size_t at = 0; at < used; at += kBlock) {
      const __mmask64 m = used - at < kBlock ? (std::uint64_t{1} << (used - at)) - 1 : ~std::uint64_t{0};
      const __mmask64 s = several.peek() & m;
      const __mmask64 t = _pdep_u64(many.peek(), s);
      several.skip(ones_of(m));
      many.skip(ones_of(s));
      of_several[at / kBlock] = s;
      of_many[at / kBlock] = t;
      _mm512_store_si512(closed.kept + at, widths(m, s, t));
    }
    for (std::size_t at = 0; at < used; at += 8) {
      const std::uint64_t keep = load64(closed.kept + at);
      const unsigned width = ones_of(keep);
      store64(closed.codes + at, _pdep_u64(width <= 57 ? places.peek_few() : places.peek(), keep));
      places.skip(width);
    }
    for (std::size_t at = 0; at < used; at += kBlock) {
      const __m512i code = _mm512_load_si512(closed.codes + at);
      const __m512i single = _mm512_or_si512(code, _mm512_set1_epi8(32));
      const __m512i index = _mm512_mask_mov_epi8(single, of_several[at / kBlock], code);
      const __m512i byte = _mm512_permutexvar_epi8(index, bytes_of);
      _mm512_store_si512(closed.codes + at, _mm512_mask_mov_epi8(byte, of_many[at / kBlock], code));
    }
    const std::uint8_t* from = closed.codes;
    for (; block < end; ++block) {
      const std::uint64_t m = load64(mask + 8 * block);
      _mm512_storeu_si512(array + kBlock * block, _mm512_maskz_expand_epi8(m, _mm512_loadu_si512(from)));
      from += ones_of(m);
    }
  }
}

std::uint64_t ones(const std::uint8_t* array, std::size_t blocks) {
  __m512i sums = _mm512_setzero_si512();
  for (std::size_t block = 0; block < blocks; ++block)
    sums = _mm512_add_epi64(sums, _mm512_popcnt_epi64(_mm512_loadu_si512(array + kBlock * block)));
  return static_cast<std::uint64_t>(_mm512_reduce_add_epi64(sums));
}

constexpr BitmapSplits kSplits{&split_bytes, &join_bytes, &split_pairs, &join_pairs, &ones};

}  // namespace

const BitmapSplits& avx512_splits() { return kSplits; }

}  // namespace farthest
