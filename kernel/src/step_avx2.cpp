#include <immintrin.h>

#include "step_lines.hpp"

namespace farthest {
namespace {

constexpr std::uint8_t kNoByte = 128;  // a byte of zeros

// For 32 bits of the result at a time: fetch the byte that each comes from, test its bit, gather the answers.
class Avx2Half {
 public:
  // Result bits [first, first + 32).
  Avx2Half(const BitMap& map, std::size_t first) {
    for (std::size_t b = 0; b < 32; ++b) {
      byte_[b] = map[first + b] == kNoBit ? kNoByte : static_cast<std::uint8_t>(map[first + b] / 8);
      mask_[b] = static_cast<std::uint8_t>(1 << map[first + b] % 8);
    }
  }

  struct Loaded {
    __m256i byte, mask;
    Word operator()(__m256i all) const {
      const __m256i bytes = _mm256_shuffle_epi8(all, byte);
      const __m256i found = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, mask), mask);
      return static_cast<std::uint32_t>(_mm256_movemask_epi8(found));
    }
  };
  Loaded loaded() const { return {load(byte_), load(mask_)}; }

 private:
  static __m256i load(const std::uint8_t* bytes) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(bytes));
  }

  alignas(32) std::uint8_t byte_[32];
  alignas(32) std::uint8_t mask_[32];
};

__m256i everywhere(Word word) { return _mm256_set1_epi64x(static_cast<long long>(word)); }

class Avx2Shuffler {
 public:
  explicit Avx2Shuffler(const BitMap& map) : low_(map, 0), high_(map, 32) {}

  struct Loaded {
    Avx2Half::Loaded low, high;
    Word operator()(Word word) const { return low(everywhere(word)) | high(everywhere(word)) << 32; }
  };
  Loaded loaded() const { return {low_.loaded(), high_.loaded()}; }

 private:
  Avx2Half low_, high_;
};

// For words whose upper half is 0.
class Avx2HalfShuffler {
 public:
  explicit Avx2HalfShuffler(const BitMap& map) : low_(map, 0) {}

  struct Loaded {
    Avx2Half::Loaded low;
    Word operator()(Word word) const { return low(everywhere(word)); }
  };
  Loaded loaded() const { return {low_.loaded()}; }

 private:
  Avx2Half low_;
};

}  // namespace

const Backend& avx2_backend(int bits) {
  return bits <= 32 ? backend_of<Avx2HalfShuffler>() : backend_of<Avx2Shuffler>();
}

}  // namespace farthest
