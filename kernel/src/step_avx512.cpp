#include <immintrin.h>

#include "step_lines.hpp"

namespace farthest {
namespace {

// vpshufbitqmb takes 64 bits of one 64-bit lane by index.
class alignas(64) Avx512Shuffler {
 public:
  explicit Avx512Shuffler(const BitMap& map) : map_(map) {}

  struct Loaded {
    __m512i index;
    __mmask64 some;  // bits that are not kNoBit
    Word operator()(Word word) const {
      return _cvtmask64_u64(
          _mm512_mask_bitshuffle_epi64_mask(some, _mm512_set1_epi64(static_cast<long long>(word)), index));
    }
  };
  Loaded loaded() const {
    const __m512i index = _mm512_load_si512(map_.data());
    return {index, _knot_mask64(_mm512_movepi8_mask(index))};
  }

 private:
  alignas(64) BitMap map_;
};

}  // namespace

const Backend& avx512_backend() { return backend_of<Avx512Shuffler>(); }

}  // namespace farthest
