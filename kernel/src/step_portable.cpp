#include "step_lines.hpp"

namespace farthest {
namespace {

// One table look-up for each nibble of the word. 2 KiB a map: tables of bytes would need half the look-ups
// but 16 KiB a map, and the maps of one space together would leave the nearest cache.
class NibbleShuffler {
 public:
  explicit NibbleShuffler(const BitMap& map) {
    for (std::size_t b = 0; b < 64; ++b)
      for (std::size_t value = 0; value < 16; ++value)
        if (map[b] != kNoBit && (value >> (map[b] % 4) & 1) != 0) table_[map[b] / 4][value] |= Word{1} << b;
  }

  struct Loaded {
    const std::array<std::array<Word, 16>, 16>& table;
    Word operator()(Word word) const {
      Word out = 0;
      for (std::size_t i = 0; i < 16; ++i) out |= table[i][word >> (4 * i) & 15];
      return out;
    }
  };
  Loaded loaded() const { return {table_}; }

 private:
  std::array<std::array<Word, 16>, 16> table_{};
};

}  // namespace

const Backend& portable_backend() { return backend_of<NibbleShuffler>(); }

}  // namespace farthest
