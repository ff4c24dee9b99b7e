#include "pegs_lines.hpp"

namespace farthest {
namespace {

template <std::size_t kWords>
class PortableLine {
 public:
  void add(const Word* from, const Word* mask) {
    for (std::size_t w = 0; w < kWords; ++w) words_[w] |= from[w] & mask[w];
  }
  void add(const PortableLine& other, const PegShuffle& shuffle) {
    for (std::size_t w = 0; w < kWords; ++w)
      words_[w ^ (shuffle.low >> 6)] |= shuffled(other.words_[w], shuffle.low);
  }
  void store(Word* to) const {
    for (std::size_t w = 0; w < kWords; ++w) to[w] = words_[w];
  }

 private:
  // Bit k moved to k ^ low: neighbouring runs of 2^i bits change places.
  static Word shuffled(Word word, std::uint32_t low) {
    constexpr Word kKept[6] = {0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f,
                               0x00ff00ff00ff00ff, 0x0000ffff0000ffff, 0x00000000ffffffff};
    for (unsigned i = 0; i < 6; ++i)
      if ((low >> i & 1) != 0) word = (word & kKept[i]) << (1u << i) | (word >> (1u << i) & kKept[i]);
    return word;
  }

  Word words_[kWords] = {};
};

}  // namespace

StepPegs portable_pegs(std::size_t words) {
  if (words == 1) return &step_pegs<PortableLine<1>, 1>;
  if (words == 2) return &step_pegs<PortableLine<2>, 2>;
  if (words == 4) return &step_pegs<PortableLine<4>, 4>;
  return &step_pegs<PortableLine<8>, 8>;
}

}  // namespace farthest
