// Bitmaps there and back by every instruction set, and blobs that are none.
#include "farthest/bitmap_codec.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "check.hpp"
#include "farthest/xxh3.hpp"
#include "samples.hpp"

namespace farthest::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

// In memory of its exact size, so that the sanitizers see what is read and written beyond it.
struct Exact {
  explicit Exact(std::size_t n) : memory(std::make_unique_for_overwrite<std::uint8_t[]>(n)), size(n) {}
  explicit Exact(const Bytes& bytes) : Exact(bytes.size()) { std::ranges::copy(bytes, memory.get()); }
  std::span<std::uint8_t> span() const { return {memory.get(), size}; }

  std::unique_ptr<std::uint8_t[]> memory;
  std::size_t size;
};

Bytes encoded(BitmapCodec& codec, const Bytes& bitmap, std::uint64_t& ones) {
  const Exact from(bitmap), out(BitmapCodec::bound(bitmap.size()));
  const std::size_t size = codec.encode(from.span(), out.memory.get(), ones);
  CHECK(size <= out.size);
  return {out.memory.get(), out.memory.get() + size};
}

Bytes decoded(BitmapCodec& codec, const Bytes& blob, std::size_t size) {
  const Exact from(blob), out(size);
  codec.decode(from.span(), out.span());
  return {out.memory.get(), out.memory.get() + size};
}

std::uint64_t ones_of(const Bytes& bitmap) {
  std::uint64_t ones = 0;
  for (const std::uint8_t byte : bitmap) ones += static_cast<unsigned>(std::popcount(byte));
  return ones;
}

void put_checksum(Bytes& blob) {
  if (blob.size() < 8) return;
  const std::uint64_t sum = xxh3({blob.data(), blob.size() - 8}, Isa::portable);
  std::memcpy(blob.data() + blob.size() - 8, &sum, 8);
}

// Each bit is 1 with a chance of `share` in 2^32; the chance itself is that, or 0, for runs of `run` bytes.
Bytes random_bitmap(Random& random, std::size_t size, std::uint64_t share, std::size_t run) {
  Bytes out(size);
  for (std::size_t from = 0; from < size; from += run) {
    if (run < size && random.below(4) != 0) continue;
    for (std::size_t i = from; i < std::min(from + run, size); ++i)
      for (unsigned bit = 0; bit < 8; ++bit)
        if (random.below(std::uint64_t{1} << 32) < share)
          out[i] = static_cast<std::uint8_t>(out[i] | 1u << bit);
  }
  return out;
}

std::uint64_t share_of(double density) { return static_cast<std::uint64_t>(density * 4294967296.0); }

constexpr double kDensities[] = {1e-6, 1e-4, 1e-3, 0.01, 0.03, 0.07, 0.12,  0.17,
                                 0.24, 0.26, 0.5,  0.74, 0.76, 0.9,  0.999, 1.0};

// All instruction sets write the same blob, which all read.
void check_bitmap(const Bytes& bitmap) {
  Bytes blob;
  for (const Isa isa : available_isas()) {
    BitmapCodec codec(isa);
    std::uint64_t ones = 0;
    const Bytes other = encoded(codec, bitmap, ones);
    CHECK(ones == ones_of(bitmap) && other.empty() == (ones == 0));
    CHECK(other.size() <= bitmap.size() + 10);
    if (isa == Isa::portable) blob = other;
    CHECK(other == blob);
    CHECK(decoded(codec, blob, bitmap.size()) == bitmap);
  }
}

TEST(bitmaps_of_all_densities) {
  Random random(101);
  for (const std::size_t size : {64u, 128u, 192u, 1024u, 4096u + 64u, 40000u / 64u * 64u}) {
    check_bitmap(Bytes(size));
    for (const double density : kDensities)
      for (const std::size_t run : {size, std::size_t{64}, std::size_t{3}})
        check_bitmap(random_bitmap(random, size, share_of(density), run));
    for (int i = 0; i < 20; ++i) {
      Bytes few(size);
      for (int k = 1; k <= 35; ++k)
        few[random.below(size)] |= static_cast<std::uint8_t>(1u << random.below(8));
      check_bitmap(few);
    }
  }
}

// Words of which some bits are never used: mostly ones in the others is few zeros.
TEST(bitmaps_of_short_words) {
  Random random(103);
  for (const std::size_t size : {std::size_t{640}, std::size_t{1} << 18})
    for (const int bits : {1, 27, 48, 63})
      for (const double density : {0.7, 0.8, 0.97, 1.0}) {
        Bytes bitmap = random_bitmap(random, size, share_of(density), size);
        const Word mask = (Word{1} << bits) - 1;
        for (std::size_t at = 0; at < size; at += 8) {
          Word word = 0;
          std::memcpy(&word, bitmap.data() + at, 8);
          word &= mask;
          std::memcpy(bitmap.data() + at, &word, 8);
        }
        check_bitmap(bitmap);
        BitmapCodec codec(Isa::portable);
        std::uint64_t ones = 0;
        if (density > 0.9) CHECK(encoded(codec, bitmap, ones).size() < size / 4 + 20);
      }
}

TEST(bitmaps_of_few_ones) {
  for (const std::size_t size : {64u, 128u, 1u << 20})
    for (const std::size_t bit : {std::size_t{0}, std::size_t{7}, 4 * size, 8 * size - 1}) {
      Bytes bitmap(size);
      bitmap[bit / 8] = static_cast<std::uint8_t>(1u << bit % 8);
      check_bitmap(bitmap);
      bitmap[0] |= 0x81;
      bitmap[size - 1] |= 0x81;
      check_bitmap(bitmap);
    }
  check_bitmap({});
}

// Every byte, and every number of ones that a quarter of the bits is compared with.
TEST(bitmaps_of_one_byte_again_and_again) {
  for (unsigned byte = 0; byte < 256; ++byte)
    for (const std::size_t each : {1u, 2u, 3u, 8u, 63u}) {
      Bytes bitmap(640);
      for (std::size_t i = 0; i < bitmap.size(); i += each) bitmap[i] = static_cast<std::uint8_t>(byte);
      check_bitmap(bitmap);
    }
}

// Longer than 2^18 bytes, so cut into segments; some of these are empty, raw, lists.
TEST(bitmaps_that_are_cut) {
  Random random(102);
  constexpr std::size_t kSegment = std::size_t{1} << 18;
  for (const std::size_t size : {kSegment, kSegment + 64, 4 * kSegment - 64, 4 * kSegment}) {
    Bytes bitmap(size);
    const Bytes pattern = random_bitmap(random, 5000, share_of(0.05), 700),
                dense = random_bitmap(random, 5000, share_of(0.4), 5000);
    std::ranges::copy(pattern, bitmap.begin() + 1000);
    check_bitmap(bitmap);
    bitmap[size - 1] = 1;
    check_bitmap(bitmap);
    if (size < 3 * kSegment) continue;
    for (std::size_t at = 2 * kSegment; at + dense.size() < 3 * kSegment; at += dense.size())
      std::ranges::copy(dense, bitmap.begin() + static_cast<std::ptrdiff_t>(at));
    check_bitmap(bitmap);
  }
}

// Decodes, and gives whether the blob was taken. What decodes is a bitmap of this size.
bool taken(BitmapCodec& codec, const Bytes& blob, std::size_t size) {
  try {
    decoded(codec, blob, size);
    return true;
  } catch (const InvalidArgument&) {
    return false;
  }
}

Bytes altered(Random& random, Bytes blob) {
  const std::uint64_t kind = random.below(4);
  if (kind == 0) {
    blob.resize(random.below(blob.size()));
  } else if (kind == 1) {
    for (std::uint64_t i = 1 + random.below(9); i > 0; --i)
      blob.insert(blob.end() - static_cast<std::ptrdiff_t>(random.below(12)),
                  static_cast<std::uint8_t>(random.word()));
  } else {
    for (std::uint64_t i = kind == 2 ? 1 : 1 + random.below(8); i > 0; --i) {
      const std::size_t near = random.below(2) == 0 ? blob.size() : std::min<std::size_t>(blob.size(), 24);
      blob[random.below(near)] ^= static_cast<std::uint8_t>(1u << random.below(8));
    }
  }
  return blob;
}

TEST(altered_blobs_are_refused) {
  Random random(103);
  for (const double density : kDensities) {
    const Bytes bitmap = random_bitmap(random, 2048, share_of(density) + share_of(0.0005), 2048);
    for (const Isa isa : available_isas()) {
      BitmapCodec codec(isa);
      std::uint64_t ones = 0;
      const Bytes blob = encoded(codec, bitmap, ones);
      for (int i = 0; i < 100; ++i) {
        Bytes other = altered(random, blob);
        if (other != blob && !other.empty()) CHECK(!taken(codec, other, bitmap.size()));
        // With its checksum made right it meets the checks behind.
        put_checksum(other);
        static_cast<void>(taken(codec, other, bitmap.size()));
      }
      Bytes longer = blob, shorter = blob, format = blob;
      longer.insert(longer.end() - 9, 0);
      shorter.erase(shorter.end() - 10);
      ++format[format.size() - 9];
      for (Bytes* one : {&longer, &shorter, &format}) {
        put_checksum(*one);
        CHECK(!taken(codec, *one, bitmap.size()));
      }
    }
  }
}

TEST(random_blobs_are_refused_or_bitmaps) {
  Random random(104);
  BitmapCodec codec(available_isas().back());
  for (int i = 0; i < 2000; ++i) {
    Bytes blob(10 + random.below(300));
    for (std::uint8_t& byte : blob) byte = static_cast<std::uint8_t>(random.word() & random.word());
    blob[0] = static_cast<std::uint8_t>(random.below(5));
    CHECK(!taken(codec, blob, 4096));
    blob[blob.size() - 9] = 1;
    put_checksum(blob);
    static_cast<void>(taken(codec, blob, 4096));
  }
}

TEST(altered_blobs_of_cut_bitmaps_are_refused) {
  Random random(106);
  BitmapCodec codec(available_isas().back());
  std::uint64_t ones = 0;
  const Bytes pattern = random_bitmap(random, 600, share_of(0.02), 600);
  Bytes bitmap(5 << 17);
  for (std::size_t at = 0; at < bitmap.size(); at += bitmap.size() / 2)
    std::ranges::copy(pattern, bitmap.begin() + static_cast<std::ptrdiff_t>(at));
  const Bytes blob = encoded(codec, bitmap, ones);
  CHECK(blob[0] == 5);
  for (int i = 0; i < 200; ++i) {
    Bytes other = altered(random, blob);
    if (other != blob && !other.empty()) CHECK(!taken(codec, other, bitmap.size()));
    put_checksum(other);
    static_cast<void>(taken(codec, other, bitmap.size()));
  }
  // A segment is not cut again, and a bitmap of more than one is not given as one.
  Bytes twice = blob, whole = blob;
  twice.insert(twice.begin(), 5);
  whole.erase(whole.begin());
  for (Bytes* one : {&twice, &whole}) {
    put_checksum(*one);
    CHECK(!taken(codec, *one, bitmap.size()));
  }
}

TEST(blobs_of_other_sizes_are_refused) {
  Random random(105);
  for (const double density : {0.01, 0.1, 0.3}) {
    BitmapCodec codec(available_isas().back());
    std::uint64_t ones = 0;
    const Bytes blob = encoded(codec, random_bitmap(random, 8192, share_of(density), 8192), ones);
    for (const std::size_t size : {0u, 64u, 4096u, 8128u, 8256u, 16384u}) CHECK(!taken(codec, blob, size));
  }
  BitmapCodec codec(Isa::portable);
  std::uint64_t ones = 0;
  CHECK_THROWS(encoded(codec, Bytes(65), ones));
  CHECK_THROWS(decoded(codec, {}, 63));
}

TEST(published_hashes) {
  const auto hash_of = [](const std::string& text) {
    return xxh3({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, Isa::portable);
  };
  CHECK(hash_of("") == 0x2d06800538d394c2);
  CHECK(hash_of("a") == 0xe6c632b61e964e1f);
  CHECK(hash_of("abc") == 0x78af5f94892f3950);
}

}  // namespace
}  // namespace farthest::test
