// Masks of 64 bytes by vectors, closed up by PEXT and opened by PDEP. (AMD's processors before Zen 3 have
// these, but take dozens of cycles for each.)
#include <immintrin.h>

#include "bitmap_pairs_bmi2.hpp"
#include "bitmap_splits.hpp"

namespace farthest {
namespace {

struct ByteTable {
  alignas(16) std::uint8_t bytes[16];
  __m256i vector() const {
    return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(bytes)));
  }
};

// Of a nibble: the place of its one; the number of its pair of ones or, of a one, what it adds to the number
// of a pair that has the other one in the other nibble. See kPairCodes in bitmap_splits_portable.cpp.
constexpr ByteTable kPlaceLow{{0, 0, 1, 0, 2, 0, 0, 0, 3}}, kPlaceHigh{{0, 4, 5, 0, 6, 0, 0, 0, 7}};
constexpr ByteTable kPairLow{{0, 0, 1, 16, 2, 17, 18, 0, 3, 19, 20, 0, 21}};
constexpr ByteTable kPairHigh{{0, 0, 4, 24, 8, 25, 26, 0, 12, 27, 28, 0, 29}};
// The inverse.
constexpr ByteTable kOne{{1, 2, 4, 8, 16, 32, 64, 128}};
constexpr ByteTable kPair0{
    {0x11, 0x12, 0x14, 0x18, 0x21, 0x22, 0x24, 0x28, 0x41, 0x42, 0x44, 0x48, 0x81, 0x82, 0x84, 0x88}};
constexpr ByteTable kPair16{{3, 5, 6, 9, 10, 12, 0, 0, 0x30, 0x50, 0x60, 0x90, 0xa0, 0xc0}};

__m256i load(const std::uint8_t* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
void store(std::uint8_t* to, __m256i v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), v); }
std::uint32_t signs(__m256i v) { return static_cast<std::uint32_t>(_mm256_movemask_epi8(v)); }

// The bits kept of each byte: 0, 3, 5 or 8, by vectors of 0 and 255.
__m256i widths(__m256i filled, __m256i several, __m256i many) {
  const __m256i three = _mm256_and_si256(filled, _mm256_set1_epi8(0x07));
  const __m256i five = _mm256_and_si256(several, _mm256_set1_epi8(0x18));
  const __m256i eight = _mm256_and_si256(many, _mm256_set1_epi8(static_cast<char>(0xe0)));
  return _mm256_or_si256(three, _mm256_or_si256(five, eight));
}

// 255 for each bit that is 1.
__m256i spread(std::uint32_t bits) {
  const __m256i pick = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i one = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201));
  const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(bits)), pick);
  return _mm256_cmpeq_epi8(_mm256_and_si256(bytes, one), one);
}

BitmapSplits::Counts split_bytes(const std::uint8_t* array, std::size_t blocks, std::uint8_t* mask,
                                 std::uint8_t* second, std::uint8_t* third, std::uint8_t* tail) {
  const __m256i place_low = kPlaceLow.vector(), place_high = kPlaceHigh.vector();
  const __m256i pair_low = kPairLow.vector(), pair_high = kPairHigh.vector();
  const __m256i zero = _mm256_setzero_si256(), ones = _mm256_set1_epi8(-1), nibble = _mm256_set1_epi8(15);
  BitWriter several(second), many(third), places(tail);
  BitmapSplits::Counts counts{};
  alignas(32) std::uint8_t codes[BitmapSplits::kBlock], kept[BitmapSplits::kBlock];
  for (std::size_t block = 0; block < blocks; ++block, array += BitmapSplits::kBlock) {
    _mm_prefetch(reinterpret_cast<const char*>(array) + BitmapSplits::kAhead, _MM_HINT_T1);
    std::uint64_t m = 0, s = 0, t = 0;
    for (unsigned half = 0; half < 64; half += 32) {
      const __m256i x = load(array + half);
      const __m256i less_one = _mm256_and_si256(x, _mm256_add_epi8(x, ones));
      const __m256i less_two = _mm256_and_si256(less_one, _mm256_add_epi8(less_one, ones));
      const __m256i empty = _mm256_cmpeq_epi8(x, zero), lone = _mm256_cmpeq_epi8(less_one, zero);
      const __m256i few = _mm256_cmpeq_epi8(less_two, zero);
      const __m256i low = _mm256_and_si256(x, nibble);
      const __m256i high = _mm256_and_si256(_mm256_srli_epi16(x, 4), nibble);
      const __m256i place =
          _mm256_or_si256(_mm256_shuffle_epi8(place_low, low), _mm256_shuffle_epi8(place_high, high));
      const __m256i pair =
          _mm256_add_epi8(_mm256_shuffle_epi8(pair_low, low), _mm256_shuffle_epi8(pair_high, high));
      store(codes + half, _mm256_blendv_epi8(x, _mm256_blendv_epi8(pair, place, lone), few));
      const __m256i three = _mm256_andnot_si256(empty, _mm256_set1_epi8(0x07));
      const __m256i five = _mm256_andnot_si256(lone, _mm256_set1_epi8(0x18));
      const __m256i eight = _mm256_andnot_si256(few, _mm256_set1_epi8(static_cast<char>(0xe0)));
      store(kept + half, _mm256_or_si256(three, _mm256_or_si256(five, eight)));
      m |= std::uint64_t{~signs(empty)} << half;
      s |= std::uint64_t{~signs(lone)} << half;
      t |= std::uint64_t{~signs(few)} << half;
    }
    store64(mask + 8 * block, m);
    if (m == 0) continue;
    several.put(_pext_u64(s, m), ones_of(m));
    many.put(_pext_u64(t, s), ones_of(s));
    counts.mask += ones_of(m);
    counts.second += ones_of(s);
    counts.third += ones_of(t);
    for (std::size_t at = 0; at < BitmapSplits::kBlock; at += 8) {
      const std::uint64_t keep = load64(kept + at);
      places.put(_pext_u64(load64(codes + at), keep), ones_of(keep));
    }
  }
  several.finish(BitmapSplits::kBlock);
  many.finish(BitmapSplits::kBlock);
  places.finish(0);
  return counts;
}

// Of blocks that are not empty: the bits of `places` at their bytes, and which bits of each byte those are.
struct alignas(32) OpenBlocks {
  static constexpr std::size_t kMost = 16;

  std::uint8_t codes[kMost][BitmapSplits::kBlock], kept[kMost][BitmapSplits::kBlock];
  std::uint64_t masks[kMost];
  std::size_t places[kMost];  // the blocks' numbers
  std::size_t used;
};

// By tables, from codes to bytes.
struct Translation {
  __m256i one = kOne.vector(), pair0 = kPair0.vector(), pair16 = kPair16.vector();

  __m256i bytes(__m256i code, __m256i keep) const {
    const __m256i lone = _mm256_cmpeq_epi8(keep, _mm256_set1_epi8(7));
    const __m256i two = _mm256_cmpeq_epi8(keep, _mm256_set1_epi8(0x1f));
    const __m256i from16 = _mm256_slli_epi16(code, 3);  // bit 4 of a pair's number in bit 7
    const __m256i low = _mm256_and_si256(code, _mm256_set1_epi8(15));
    const __m256i pair =
        _mm256_blendv_epi8(_mm256_shuffle_epi8(pair0, code), _mm256_shuffle_epi8(pair16, low), from16);
    return _mm256_blendv_epi8(_mm256_blendv_epi8(code, pair, two), _mm256_shuffle_epi8(one, code), lone);
  }
};

// In three passes over some blocks at a time: words are read as vectors long after they were written, since
// processors wait for that; and there is no branch for empty blocks.
void join_bytes(const std::uint8_t* mask, std::size_t blocks, const std::uint8_t* second,
                const std::uint8_t* third, const std::uint8_t* tail, std::uint8_t* array) {
  const Translation translation;
  BitReader several(second), many(third), places(tail);
  OpenBlocks open;
  for (std::size_t block = 0; block < blocks;) {
    const std::size_t end = block + OpenBlocks::kMost < blocks ? block + OpenBlocks::kMost : blocks;
    open.used = 0;
    for (; block < end; ++block) {
      open.masks[open.used] = load64(mask + 8 * block);
      open.places[open.used] = block;
      open.used += open.masks[open.used] != 0;
      store(array + BitmapSplits::kBlock * block, _mm256_setzero_si256());
      store(array + BitmapSplits::kBlock * block + 32, _mm256_setzero_si256());
    }
    for (std::size_t i = 0; i < open.used; ++i) {
      const std::uint64_t m = open.masks[i];
      const std::uint64_t s = _pdep_u64(several.peek(), m);
      several.skip(ones_of(m));
      const std::uint64_t t = _pdep_u64(many.peek(), s);
      many.skip(ones_of(s));
      for (unsigned half = 0; half < 64; half += 32)
        store(open.kept[i] + half, widths(spread(static_cast<std::uint32_t>(m >> half)),
                                          spread(static_cast<std::uint32_t>(s >> half)),
                                          spread(static_cast<std::uint32_t>(t >> half))));
    }
    for (std::size_t at = 0; at < open.used * BitmapSplits::kBlock; at += 8) {
      const std::uint64_t keep = load64(open.kept[0] + at);
      const unsigned width = ones_of(keep);
      store64(open.codes[0] + at, _pdep_u64(width <= 57 ? places.peek_few() : places.peek(), keep));
      places.skip(width);
    }
    for (std::size_t i = 0; i < open.used; ++i)
      for (unsigned half = 0; half < 64; half += 32)
        store(array + BitmapSplits::kBlock * open.places[i] + half,
              translation.bytes(load(open.codes[i] + half), load(open.kept[i] + half)));
  }
}

std::uint64_t ones(const std::uint8_t* array, std::size_t blocks) {
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < blocks * BitmapSplits::kBlock; at += 8) count += ones_of(load64(array + at));
  return count;
}

constexpr BitmapSplits kSplits{&split_bytes, &join_bytes, &split_pairs, &join_pairs, &ones};

}  // namespace

const BitmapSplits& avx2_splits() { return kSplits; }

}  // namespace farthest
