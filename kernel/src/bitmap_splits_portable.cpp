#include <array>
#include <bit>

#include "bitmap_splits.hpp"

namespace farthest {
namespace {

static_assert(std::endian::native == std::endian::little, "words are copied to and from bytes as they are");

// The number of a pair of ones in a byte: both in other nibbles, 4 times the higher's place plus the lower's;
// both in the low nibble, 16 to 21; both in the high one, 24 to 29. 0 stands for numbers that there are not.
constexpr std::array<std::uint8_t, 32> kPairCodes{
    0x11, 0x12, 0x14, 0x18, 0x21, 0x22, 0x24, 0x28, 0x41, 0x42, 0x44, 0x48, 0x81, 0x82, 0x84, 0x88,
    0x03, 0x05, 0x06, 0x09, 0x0a, 0x0c, 0,    0,    0x30, 0x50, 0x60, 0x90, 0xa0, 0xc0, 0,    0};

// What stands for a byte in `places`, and its classes: bit 0, it is not empty; bit 8, it has more than one
// bit; bit 16, more than two.
struct ByteCode {
  std::uint32_t classes;
  std::uint8_t code, width;
};

struct Tables {
  std::array<ByteCode, 256> codes{};
  std::array<std::uint8_t, 8 + 32 + 256> bytes{};  // by code: of one bit, of two, of more
  std::array<std::uint8_t, 256> ones{};
  // By mask, then byte: the bits of the byte that the mask has, closed up; the lowest bits of the byte, at
  // those of the mask.
  std::uint8_t closed[256][256], opened[256][256];

  Tables() {
    for (unsigned byte = 0; byte < 256; ++byte) {
      ones[byte] = static_cast<std::uint8_t>(std::popcount(byte));
      if (ones[byte] == 1) codes[byte] = {0x1, static_cast<std::uint8_t>(std::countr_zero(byte)), 3};
      if (ones[byte] > 2) codes[byte] = {0x10101, static_cast<std::uint8_t>(byte), 8};
      bytes[40 + byte] = static_cast<std::uint8_t>(byte);
    }
    for (unsigned code = 0; code < kPairCodes.size(); ++code) {
      bytes[8 + code] = kPairCodes[code];
      if (kPairCodes[code] != 0) codes[kPairCodes[code]] = {0x101, static_cast<std::uint8_t>(code), 5};
    }
    for (unsigned bit = 0; bit < 8; ++bit) bytes[bit] = static_cast<std::uint8_t>(1u << bit);
    for (unsigned mask = 0; mask < 256; ++mask)
      for (unsigned byte = 0; byte < 256; ++byte) {
        unsigned close = 0, open = 0, place = 0;
        for (unsigned bit = 0; bit < 8; ++bit) {
          if ((mask >> bit & 1) == 0) continue;
          close |= (byte >> bit & 1) << place;
          open |= (byte >> place++ & 1) << bit;
        }
        closed[mask][byte] = static_cast<std::uint8_t>(close);
        opened[mask][byte] = static_cast<std::uint8_t>(open);
      }
  }
};

const Tables& tables() {
  static const Tables all;
  return all;
}

// PEXT, PDEP and POPCNT of a word, byte by byte.
std::uint64_t closed(const Tables& t, std::uint64_t word, std::uint64_t mask) {
  std::uint64_t out = 0;
  for (unsigned at = 0, place = 0; at < 64; at += 8) {
    if (place >= 64) break;  // all of the bytes before have eight bits
    out |= std::uint64_t{t.closed[mask >> at & 0xff][word >> at & 0xff]} << place;
    place += t.ones[mask >> at & 0xff];
  }
  return out;
}
std::uint64_t opened(const Tables& t, std::uint64_t bits, std::uint64_t mask) {
  std::uint64_t out = 0;
  for (unsigned at = 0; at < 64; at += 8) {
    out |= std::uint64_t{t.opened[mask >> at & 0xff][bits & 0xff]} << at;
    bits >>= t.ones[mask >> at & 0xff];
  }
  return out;
}
unsigned count(std::uint64_t word) {
  word -= word >> 1 & 0x5555555555555555;
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  return static_cast<unsigned>(((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56);
}

BitmapSplits::Counts split_bytes(const std::uint8_t* array, std::size_t blocks, std::uint8_t* mask,
                                 std::uint8_t* second, std::uint8_t* third, std::uint8_t* tail) {
  const Tables& t = tables();
  BitWriter several(second), many(third), places(tail);
  BitmapSplits::Counts counts{};
  for (std::size_t block = 0; block < blocks; ++block, array += BitmapSplits::kBlock) {
    std::uint64_t classes[3] = {};  // a bit for each byte
    for (unsigned at = 0; at < BitmapSplits::kBlock; at += 8) {
      const std::uint64_t word = load64(array + at);
      if (word == 0) continue;
      std::uint64_t bits = 0;
      std::uint32_t found = 0;
      unsigned width = 0;
      for (unsigned i = 0; i < 8; ++i) {
        const ByteCode& code = t.codes[word >> 8 * i & 0xff];
        bits |= std::uint64_t{code.code} << (width & 63);
        width += code.width;
        found |= code.classes << i;
      }
      places.put(bits, width);
      for (unsigned i = 0; i < 3; ++i) classes[i] |= std::uint64_t{found >> 8 * i & 0xff} << at;
    }
    store64(mask + 8 * block, classes[0]);
    if (classes[0] == 0) continue;
    const unsigned filled = count(classes[0]), of_several = count(classes[1]);
    several.put(closed(t, classes[1], classes[0]), filled);
    many.put(closed(t, classes[2], classes[1]), of_several);
    counts.mask += filled;
    counts.second += of_several;
    counts.third += count(classes[2]);
  }
  several.finish(BitmapSplits::kBlock);
  many.finish(BitmapSplits::kBlock);
  places.finish(0);
  return counts;
}

// Of bytes with one bit, two, and more: how many bits stand for one, and where they are in Tables::bytes.
struct Width {
  unsigned bits, mask, first;
};
constexpr Width kWidths[3] = {{3, 7, 0}, {5, 31, 8}, {8, 255, 40}};

void join_bytes(const std::uint8_t* mask, std::size_t blocks, const std::uint8_t* second,
                const std::uint8_t* third, const std::uint8_t* tail, std::uint8_t* array) {
  const Tables& t = tables();
  BitReader several(second), many(third), places(tail);
  for (std::size_t block = 0; block < blocks; ++block, array += BitmapSplits::kBlock) {
    std::memset(array, 0, BitmapSplits::kBlock);
    const std::uint64_t m = load64(mask + 8 * block);
    if (m == 0) continue;
    const std::uint64_t two = opened(t, several.peek(), m), more = opened(t, many.peek(), two);
    several.skip(count(m));
    many.skip(count(two));
    for (std::uint64_t rest = m; rest != 0; rest &= rest - 1) {
      const auto place = static_cast<unsigned>(std::countr_zero(rest));
      const Width& width = kWidths[(two >> place & 1) + (more >> place & 1)];
      array[place] = t.bytes[width.first + (places.peek_few() & width.mask)];
      places.skip(width.bits);
    }
  }
}

// The first bits of all pairs of a word, closed up.
std::uint64_t firsts_of(std::uint64_t word) {
  word &= 0x5555555555555555;
  word = (word | word >> 1) & 0x3333333333333333;
  word = (word | word >> 2) & 0x0f0f0f0f0f0f0f0f;
  word = (word | word >> 4) & 0x00ff00ff00ff00ff;
  word = (word | word >> 8) & 0x0000ffff0000ffff;
  return (word | word >> 16) & 0x00000000ffffffff;
}
// The inverse, of 32 bits.
std::uint64_t as_firsts(std::uint64_t word) {
  word &= 0x00000000ffffffff;
  word = (word | word << 16) & 0x0000ffff0000ffff;
  word = (word | word << 8) & 0x00ff00ff00ff00ff;
  word = (word | word << 4) & 0x0f0f0f0f0f0f0f0f;
  word = (word | word << 2) & 0x3333333333333333;
  return (word | word << 1) & 0x5555555555555555;
}

BitmapSplits::Counts split_pairs(const std::uint8_t* array, std::size_t blocks, std::uint8_t* mask,
                                 std::uint8_t* second, std::uint8_t* tail) {
  const Tables& t = tables();
  BitWriter both(second), which(tail);
  BitmapSplits::Counts counts{};
  for (std::size_t at = 0; at < blocks * BitmapSplits::kBlock; at += 16) {
    const std::uint64_t low = load64(array + at), high = load64(array + at + 8);
    const std::uint64_t first = firsts_of(low) | firsts_of(high) << 32;
    const std::uint64_t other = firsts_of(low >> 1) | firsts_of(high >> 1) << 32;
    const std::uint64_t m = first | other, one = first ^ other;
    const unsigned filled = count(m), ones = count(one);
    store64(mask + at / 2, m);
    both.put(closed(t, first & other, m), filled);
    which.put(closed(t, other, one), ones);
    counts.mask += filled;
    counts.second += filled - ones;
  }
  both.finish(BitmapSplits::kBlock);
  which.finish(0);
  return counts;
}

void join_pairs(const std::uint8_t* mask, std::size_t blocks, const std::uint8_t* second,
                const std::uint8_t* tail, std::uint8_t* array) {
  const Tables& t = tables();
  BitReader both(second), which(tail);
  for (std::size_t at = 0; at < blocks * BitmapSplits::kBlock; at += 16) {
    const std::uint64_t m = load64(mask + at / 2);
    const std::uint64_t two = opened(t, both.peek(), m), one = m ^ two;
    both.skip(count(m));
    const std::uint64_t other = opened(t, which.peek(), one);
    which.skip(count(one));
    const std::uint64_t firsts = m ^ other, seconds = other | two;
    store64(array + at, as_firsts(firsts) | as_firsts(seconds) << 1);
    store64(array + at + 8, as_firsts(firsts >> 32) | as_firsts(seconds >> 32) << 1);
  }
}

// Counts in bytes side by side, which compilers make vectors of.
std::uint64_t ones(const std::uint8_t* array, std::size_t blocks) {
  constexpr std::uint64_t k55 = 0x5555555555555555, k33 = 0x3333333333333333, k0f = 0x0f0f0f0f0f0f0f0f;
  std::uint64_t total = 0;
  for (std::size_t block = 0; block < blocks; ++block, array += BitmapSplits::kBlock) {
    std::uint64_t bytes = 0;  // eight sums, up to 64 each
    for (std::size_t at = 0; at < BitmapSplits::kBlock; at += 8) {
      std::uint64_t word = load64(array + at);
      word -= word >> 1 & k55;
      word = (word & k33) + (word >> 2 & k33);
      bytes += (word + (word >> 4)) & k0f;
    }
    constexpr std::uint64_t k00ff = 0x00ff00ff00ff00ff, k0001 = 0x0001000100010001;
    total += ((bytes & k00ff) + (bytes >> 8 & k00ff)) * k0001 >> 48;
  }
  return total;
}

constexpr BitmapSplits kSplits{&split_bytes, &join_bytes, &split_pairs, &join_pairs, &ones};

}  // namespace

const BitmapSplits& portable_splits() { return kSplits; }

}  // namespace farthest
