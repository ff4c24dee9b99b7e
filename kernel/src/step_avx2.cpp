#include <immintrin.h>

#include "step_lines.hpp"

namespace farthest {
namespace {

// For 32 bits of the result at a time: fetch the byte that each comes from, test its bit, gather the answers.
class alignas(32) Avx2Shuffler {
 public:
  explicit Avx2Shuffler(const BitMap& map) {
    for (std::size_t b = 0; b < 64; ++b) {
      byte_[b] = map[b] / 8;
      mask_[b] = static_cast<std::uint8_t>(1 << map[b] % 8);
    }
  }

  struct Loaded {
    __m256i low_byte, low_mask, high_byte, high_mask;
    Word operator()(Word word) const {
      const __m256i all = _mm256_set1_epi64x(static_cast<long long>(word));
      return half(all, low_byte, low_mask) | half(all, high_byte, high_mask) << 32;
    }
    static Word half(__m256i all, __m256i byte, __m256i mask) {
      const __m256i bytes = _mm256_shuffle_epi8(all, byte);
      const __m256i found = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, mask), mask);
      return static_cast<std::uint32_t>(_mm256_movemask_epi8(found));
    }
  };
  Loaded loaded() const { return {load(byte_), load(mask_), load(byte_ + 32), load(mask_ + 32)}; }

 private:
  static __m256i load(const std::uint8_t* bytes) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(bytes));
  }

  alignas(32) std::uint8_t byte_[64];
  alignas(32) std::uint8_t mask_[64];
};

}  // namespace

const Backend& avx2_backend() { return backend_of<Avx2Shuffler>(); }

}  // namespace farthest
