#include "farthest/xxh3.hpp"

#include <bit>
#include <cstddef>
#include <cstring>

#include "xxh3_blocks.hpp"

namespace farthest {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are read as they are");

constexpr std::uint64_t kPrime32[] = {0x9e3779b1, 0x85ebca77, 0xc2b2ae3d};
constexpr std::uint64_t kPrime64[] = {0x9e3779b185ebca87, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9,
                                      0x85ebca77c2b2ae63, 0x27d4eb2f165667c5};

constexpr std::uint8_t kSecret[] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e};
static_assert(sizeof(kSecret) == 192);

static_assert((sizeof(kSecret) - kHashStripe) / 8 == kHashStripes);

std::uint64_t read32(const std::uint8_t* from) {
  std::uint32_t value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}
std::uint64_t read64(const std::uint8_t* from) {
  std::uint64_t value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

std::uint64_t swapped(std::uint64_t value) {
  std::uint64_t out = 0;
  for (int i = 0; i < 64; i += 8) out = out << 8 | (value >> i & 0xff);
  return out;
}

// The two halves of the product, xored.
std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
  const std::uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), cross = a0 * b1 + (middle & 0xffffffff);
  return (a1 * b1 + (middle >> 32) + (cross >> 32)) ^ (cross << 32 | (low & 0xffffffff));
}

std::uint64_t avalanche(std::uint64_t hash) {
  hash = (hash ^ hash >> 37) * 0x165667919e3779f9;
  return hash ^ hash >> 32;
}

std::uint64_t avalanche_xxh64(std::uint64_t hash) {
  hash = (hash ^ hash >> 33) * kPrime64[1];
  hash = (hash ^ hash >> 29) * kPrime64[2];
  return hash ^ hash >> 32;
}

std::uint64_t mixed16(const std::uint8_t* from, const std::uint8_t* secret) {
  return folded_product(read64(from) ^ read64(secret), read64(from + 8) ^ read64(secret + 8));
}

std::uint64_t hash_to_16(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return avalanche_xxh64(read64(kSecret + 56) ^ read64(kSecret + 64));
  if (size < 4) {
    const std::uint64_t combined = std::uint64_t{data[size - 1]} | size << 8 | std::uint64_t{data[0]} << 16 |
                                   std::uint64_t{data[size / 2]} << 24;
    return avalanche_xxh64((read32(kSecret) ^ read32(kSecret + 4)) ^ combined);
  }
  if (size <= 8) {
    const std::uint64_t combined = read32(data + size - 4) | read32(data) << 32;
    std::uint64_t hash = (read64(kSecret + 8) ^ read64(kSecret + 16)) ^ combined;
    hash ^= std::rotl(hash, 49) ^ std::rotl(hash, 24);
    hash *= 0x9fb21c651e98df25;
    hash = (hash ^ ((hash >> 35) + size)) * 0x9fb21c651e98df25;
    return hash ^ hash >> 28;
  }
  const std::uint64_t low = (read64(kSecret + 24) ^ read64(kSecret + 32)) ^ read64(data);
  const std::uint64_t high = (read64(kSecret + 40) ^ read64(kSecret + 48)) ^ read64(data + size - 8);
  return avalanche(size + swapped(low) + high + folded_product(low, high));
}

std::uint64_t hash_to_128(const std::uint8_t* data, std::size_t size) {
  std::uint64_t hash = size * kPrime64[0];
  for (std::size_t i = (size - 1) / 32 + 1; i-- > 0;) {
    hash += mixed16(data + 16 * i, kSecret + 32 * i);
    hash += mixed16(data + size - 16 * (i + 1), kSecret + 32 * i + 16);
  }
  return avalanche(hash);
}

std::uint64_t hash_to_240(const std::uint8_t* data, std::size_t size) {
  std::uint64_t hash = size * kPrime64[0];
  for (std::size_t i = 0; i < 8; ++i) hash += mixed16(data + 16 * i, kSecret + 16 * i);
  hash = avalanche(hash);
  for (std::size_t i = 8; i < size / 16; ++i) hash += mixed16(data + 16 * i, kSecret + 16 * (i - 8) + 3);
  return avalanche(hash + mixed16(data + size - 16, kSecret + 136 - 17));
}

// The state of eight lanes; its loops are what compilers make vectors of.
struct Lanes {
  std::uint64_t sums[8] = {kPrime32[2], kPrime64[0], kPrime64[1], kPrime64[2],
                           kPrime64[3], kPrime32[1], kPrime64[4], kPrime32[0]};

  void add(const std::uint8_t* stripe, const std::uint8_t* secret) {
    std::uint64_t values[8], keys[8];
    std::memcpy(values, stripe, kHashStripe);
    std::memcpy(keys, secret, kHashStripe);
    for (std::size_t i = 0; i < 8; ++i) {
      const std::uint64_t key = values[i] ^ keys[i];
      sums[i] += values[i ^ 1] + (key & 0xffffffff) * (key >> 32);
    }
  }
  void scramble() {
    const std::uint8_t* secret = kSecret + sizeof(kSecret) - kHashStripe;
    for (std::size_t i = 0; i < 8; ++i)
      sums[i] = (sums[i] ^ sums[i] >> 47 ^ read64(secret + 8 * i)) * kPrime32[0];
  }
  std::uint64_t merged(std::uint64_t hash) const {
    const std::uint8_t* secret = kSecret + 11;
    for (std::size_t i = 0; i < 4; ++i)
      hash += folded_product(sums[2 * i] ^ read64(secret + 16 * i),
                             sums[2 * i + 1] ^ read64(secret + 16 * i + 8));
    return avalanche(hash);
  }
};

void portable_blocks(Lanes& lanes, const std::uint8_t* data, std::size_t blocks) {
  for (; blocks > 0; --blocks) {
    for (std::size_t i = 0; i < kHashStripes; ++i, data += kHashStripe) lanes.add(data, kSecret + 8 * i);
    lanes.scramble();
  }
}

std::uint64_t hash_long(const std::uint8_t* data, std::size_t size, [[maybe_unused]] Isa isa) {
  Lanes lanes;
  const std::size_t stripes = (size - 1) / kHashStripe;  // the last one is added apart
  const std::size_t blocks = stripes / kHashStripes, done = blocks * kHashStripes;
#ifdef FARTHEST_X86
  if (isa != Isa::portable)
    avx2_hash_blocks(lanes.sums, data, blocks, kSecret);
  else
#endif
    portable_blocks(lanes, data, blocks);
  for (std::size_t i = done; i < stripes; ++i) lanes.add(data + kHashStripe * i, kSecret + 8 * (i - done));
  lanes.add(data + size - kHashStripe, kSecret + sizeof(kSecret) - kHashStripe - 7);
  return lanes.merged(size * kPrime64[0]);
}

}  // namespace

std::uint64_t xxh3(std::span<const std::uint8_t> data, Isa isa) {
  if (data.size() <= 16) return hash_to_16(data.data(), data.size());
  if (data.size() <= 128) return hash_to_128(data.data(), data.size());
  if (data.size() <= 240) return hash_to_240(data.data(), data.size());
  return hash_long(data.data(), data.size(), isa);
}

}  // namespace farthest
