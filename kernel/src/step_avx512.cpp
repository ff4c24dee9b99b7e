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
    Word operator()(Word word) const {
      return _cvtmask64_u64(
          _mm512_bitshuffle_epi64_mask(_mm512_set1_epi64(static_cast<long long>(word)), index));
    }
  };
  Loaded loaded() const { return {_mm512_load_si512(map_.data())}; }

 private:
  alignas(64) BitMap map_;
};

}  // namespace

const Backend& avx512_backend() { return backend_of<Avx512Shuffler>(); }

}  // namespace farthest
