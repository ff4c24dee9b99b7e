#include "farthest/pegs.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "pegs_lines.hpp"

namespace farthest {
namespace {

constexpr int kMaxIndexBits = 48;
constexpr int kMaxShardBits = 14;
constexpr int kLineBits = 9;

unsigned parity(std::uint64_t word) { return static_cast<unsigned>(std::popcount(word)) & 1; }

int line_bits(std::size_t index_bits) { return std::min(kLineBits, static_cast<int>(index_bits)); }
int shard_bits(std::size_t index_bits) {
  return std::min(kMaxShardBits, static_cast<int>(index_bits) - line_bits(index_bits));
}

Geometry geometry_of(std::size_t index_bits, int shard_level) {
  if (index_bits > kMaxIndexBits) throw LimitExceeded("a peg space has at most 48 index bits");
  if (shard_level < 1 || shard_level > shard_bits(index_bits) + 1)
    throw InvalidArgument("shard_level must be 1 to shard_levels()");
  const int line = line_bits(index_bits), upper = static_cast<int>(index_bits) - line;
  Geometry geometry;
  geometry.shards = std::uint64_t{1} << (shard_level - 1);
  geometry.lines_per_shard = std::uint64_t{1} << (upper - (shard_level - 1));
  geometry.words_per_line = line < 6 ? 1 : std::uint64_t{1} << (line - 6);
  geometry.bits = 1 << std::min(line, 6);
  return geometry;
}

// What the holes are to the key: an index bit each, or a parity of them.
class Holes {
 public:
  Holes(const std::vector<int>& index_holes, const std::vector<DroppedHole>& dropped) {
    for (std::size_t i = 0; i < index_holes.size(); ++i) put(index_holes[i], std::uint64_t{1} << i, false);
    for (const DroppedHole& hole : dropped) {
      if (index_holes.size() < 64 && hole.parity >> index_holes.size() != 0)
        throw InvalidArgument("a dropped hole follows from index bits that there are not");
      put(hole.hole, hole.parity, hole.flipped);
    }
  }
  SlotMask all() const { return all_; }
  std::uint64_t parity_of(int hole) const { return parity_[static_cast<std::size_t>(hole)]; }
  unsigned first(int hole) const { return flipped_ >> hole & 1; }
  // The change of the index that changes exactly these holes. Throws InvalidArgument if there is none.
  std::uint64_t change(SlotMask changed, const std::vector<int>& index_holes) const {
    std::uint64_t x = 0;
    for (std::size_t i = 0; i < index_holes.size(); ++i) x |= (changed >> index_holes[i] & 1) << i;
    for (SlotMask rest = all_; rest != 0; rest &= rest - 1) {
      const int hole = lowest(rest);
      if (parity(x & parity_of(hole)) != (changed >> hole & 1))
        throw InvalidArgument("a jump does not keep the parity that hole " + std::to_string(hole) +
                              " follows from");
    }
    return x;
  }

 private:
  void put(int hole, std::uint64_t of, bool flipped) {
    if (hole < 0 || hole >= kMaxSlots || (all_ >> hole & 1) != 0)
      throw InvalidArgument("each hole must be named once, and be one of 64");
    all_ |= bit(hole);
    parity_[static_cast<std::size_t>(hole)] = of;
    flipped_ |= static_cast<SlotMask>(flipped) << hole;
  }

  SlotMask all_ = 0;
  std::uint64_t parity_[kMaxSlots] = {};
  SlotMask flipped_ = 0;
};

void check_jumps(const std::vector<Jump>& jumps, SlotMask holes) {
  for (const Jump& jump : jumps) {
    const SlotMask changed = jump.full | jump.empty;
    if ((jump.full & jump.empty) != 0 || changed == 0 || (changed & ~holes) != 0 ||
        std::popcount(changed) > 3)
      throw InvalidArgument("a jump must change one to three holes of the board, each full or empty before");
    const int pegs = std::popcount(jump.full) - std::popcount(jump.empty);
    if (pegs == 0 || pegs != std::popcount(jumps[0].full) - std::popcount(jumps[0].empty))
      throw InvalidArgument("all jumps must take away the same number of pegs");
  }
}

PegShuffle shuffle_of(std::uint32_t low) {
  PegShuffle shuffle{};
  shuffle.low = low;
  for (std::uint32_t i = 0; i < 16; ++i) {
    shuffle.bytes[i] = static_cast<std::uint8_t>(i ^ (low >> 3 & 7));
    for (std::uint32_t b = 0; b < 4; ++b)
      for (std::uint32_t half = 0; half < 2; ++half)
        if ((i >> b & 1) != 0)
          shuffle.nibbles[half][i] =
              static_cast<std::uint8_t>(shuffle.nibbles[half][i] | 1u << ((4 * half + b) ^ (low & 7)));
  }
  for (std::uint32_t i = 0; i < 8; ++i) shuffle.words[i] = i ^ (low >> 6 & 3) << 1;
  return shuffle;
}

StepPegs step_for(Isa isa, std::size_t words) {
  StepPegs step = nullptr;
#ifdef FARTHEST_X86
  if (isa == Isa::avx512) step = avx512_pegs(words);
  if (isa == Isa::avx2) step = avx2_pegs(words);
#else
  static_cast<void>(isa);
#endif
  return step == nullptr ? portable_pegs(words) : step;
}

}  // namespace

struct PegTables {
  std::vector<PegFlip> flips;  // those with the same shuffle follow each other
  std::vector<PegBlockTable> blocks;
  std::vector<Word> masks;
  std::vector<std::uint8_t> patterns;
  std::vector<PegShuffle> shuffles;
  std::vector<std::uint16_t> source_of;  // [shard][flip]
  StepPegs step = nullptr;

  void add(std::uint64_t x, const std::vector<SlotMask>& full, SlotMask changed, const Holes& holes,
           int low_bits, std::size_t words);
  void link(const Space& space, std::vector<std::vector<std::uint32_t>>& sources);
};

// The jumps that change `changed`, by the holes that they need full; x: the change of the index.
void PegTables::add(std::uint64_t x, const std::vector<SlotMask>& full, SlotMask changed, const Holes& holes,
                    int low_bits, std::size_t words) {
  const std::uint64_t low_mask = (std::uint64_t{1} << low_bits) - 1;
  const auto low = static_cast<std::uint32_t>(x & low_mask);
  if (shuffles.empty() || shuffles.back().low != low) shuffles.push_back(shuffle_of(low));
  PegFlip flip{};
  flip.upper = x >> low_bits;
  flip.shuffle = static_cast<std::uint32_t>(shuffles.size() - 1);
  std::vector<int> beyond;  // holes that depend on the line
  for (SlotMask rest = changed; rest != 0; rest &= rest - 1) {
    const int hole = lowest(rest);
    const std::uint64_t upper = holes.parity_of(hole) >> low_bits;
    if (upper == 0 && (holes.parity_of(hole) & low_mask) != 0) continue;
    flip.pattern_parity[beyond.size()] = upper;
    flip.pattern_first = static_cast<std::uint8_t>(flip.pattern_first | holes.first(hole) << beyond.size());
    beyond.push_back(hole);
  }
  for (unsigned pattern = 0; pattern < kPegPatterns; ++pattern) {
    const std::size_t at = masks.size();
    masks.resize(at + words);
    if (pattern >> beyond.size() != 0) continue;
    for (std::uint64_t place = 0; place <= low_mask; ++place) {
      SlotMask here = 0;
      for (SlotMask rest = changed; rest != 0; rest &= rest - 1) {
        const int hole = lowest(rest);
        const auto i = static_cast<std::size_t>(std::ranges::find(beyond, hole) - beyond.begin());
        const unsigned in_line = parity(holes.parity_of(hole) & place);
        const unsigned before = i < beyond.size() ? pattern >> i & 1 : holes.first(hole);
        here |= static_cast<SlotMask>(in_line ^ before) << hole;
      }
      if (std::ranges::find(full, here) == full.end()) continue;
      masks[at + place / 64] |= Word{1} << place % 64;
      flip.possible = static_cast<std::uint8_t>(flip.possible | 1u << pattern);
    }
  }
  for (std::uint64_t line = 0; line < kPegBlock; ++line) {
    unsigned pattern = 0;
    for (unsigned i = 0; i < 3; ++i) pattern |= parity(line & flip.pattern_parity[i]) << i;
    patterns.push_back(static_cast<std::uint8_t>(pattern));
    for (unsigned p = 0; p < kPegPatterns; ++p)
      if ((flip.possible >> (p ^ pattern) & 1) != 0)
        flip.active = static_cast<std::uint8_t>(flip.active | 1u << p);
  }
  flips.push_back(flip);
}

void PegTables::link(const Space& space, std::vector<std::vector<std::uint32_t>>& sources) {
  blocks.resize((flips.size() + 63) / 64);
  for (std::size_t f = 0; f < flips.size(); ++f)
    for (std::uint64_t line = 0; line < kPegBlock; ++line) {
      const std::uint64_t from = line ^ (flips[f].upper & (kPegBlock - 1));
      blocks[f / 64].flips[line][patterns[f * kPegBlock + from]] |= std::uint64_t{1} << f % 64;
    }
  sources.resize(space.shards());
  for (std::uint64_t shard = 0; shard < space.shards(); ++shard)
    for (const PegFlip& flip : flips) {
      const auto source = static_cast<std::uint32_t>(shard ^ flip.upper / space.lines_per_shard());
      auto& known = sources[shard];
      const auto i = std::ranges::find(known, source) - known.begin();
      if (static_cast<std::size_t>(i) == known.size()) known.push_back(source);
      source_of.push_back(static_cast<std::uint16_t>(i));
    }
}

PegSpace::PegSpace(std::vector<int> index_holes, std::vector<DroppedHole> dropped,
                   const std::vector<Jump>& jumps, int shard_level, Isa isa)
    : Space(geometry_of(index_holes.size(), shard_level)), tables_(std::make_unique<PegTables>()) {
  const Holes holes(index_holes, dropped);
  check_jumps(jumps, holes.all());
  const int low_bits = line_bits(index_holes.size());
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::pair<SlotMask, std::vector<SlotMask>>> flips;
  for (const Jump& jump : jumps) {
    const SlotMask changed = jump.full | jump.empty;
    const std::uint64_t x = holes.change(changed, index_holes);
    auto& [holes_changed, full] = flips[{x & ((std::uint64_t{1} << low_bits) - 1), x}];
    holes_changed = changed;
    full.push_back(jump.full);
  }
  if (flips.size() > kPegMaxFlips) throw LimitExceeded("a peg space has at most 1024 triples of holes");
  for (const auto& [index, flip] : flips)
    tables_->add(index.second, flip.second, flip.first, holes, low_bits, words_per_line());
  tables_->link(*this, sources_);
  tables_->step = step_for(isa, words_per_line());
}

PegSpace::~PegSpace() = default;

int PegSpace::shard_levels() const {
  return shard_bits(static_cast<std::size_t>(std::countr_zero(keys()))) + 1;
}

std::uint64_t PegSpace::step_lines(const LineRange& range) const {
  const PegTables& tables = *tables_;
  const PegStep by{tables.flips.data(),
                   tables.flips.size(),
                   tables.blocks.data(),
                   tables.masks.data(),
                   tables.patterns.data(),
                   tables.shuffles.data(),
                   tables.source_of.data() + range.shard * tables.flips.size(),
                   lines_per_shard()};
  return tables.step(range, by);
}

}  // namespace farthest
