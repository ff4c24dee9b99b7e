#include "farthest/recount.hpp"

#include <algorithm>
#include <array>
#include <mutex>

#include "parallel.hpp"

namespace farthest {
namespace {

constexpr std::size_t kMostWords = 1024;  // so that a bit's number fits 16 bits
constexpr std::uint64_t kBlocksTogether = 64;

}  // namespace

BlockMoves::BlockMoves(std::size_t words, std::size_t moves, std::span<const std::uint32_t> leads,
                       std::span<const std::uint16_t> kinds, std::span<const std::uint16_t> tables)
    : words_(words), moves_(moves), leads_(leads), kinds_(kinds), tables_(tables) {
  if (words < 1 || words > kMostWords) throw InvalidArgument("a block must have 1 to 1024 words");
  if (moves < 1 || leads.size() % moves != 0 || kinds.size() != leads.size())
    throw InvalidArgument("each block must have as many moves, and each move a kind");
  const std::size_t bits = words * 64;
  if (tables.size() % bits != 0) throw InvalidArgument("a table must have a number for each bit of a block");
  const std::size_t most = tables.size() / bits;
  for (std::size_t i = 0; i < leads.size(); ++i)
    if (leads[i] != kNoBlock && (leads[i] >= blocks() || kinds[i] >= most))
      throw InvalidArgument("a move leads to no block, or has no table");
  if (std::ranges::any_of(tables, [bits](auto to) { return to >= bits; }))
    throw InvalidArgument("a table names a bit that a block has not got");
  for (std::size_t kind = 0; kind < most; ++kind) {
    bool same = true;
    for (std::size_t at = 0; at < bits; ++at) same = same && tables[kind * bits + at] == at;
    same_.push_back(same);
  }
}

bool BlockMoves::neighbours(std::size_t block, std::span<const Word> frontier,
                            std::span<const std::uint32_t> counts, Word* found) const {
  bool some = false;
  for (std::size_t at = block * moves_; at < (block + 1) * moves_; ++at) {
    const std::size_t other = leads_[at];
    if (other == kNoBlock || counts[other] == 0) continue;
    if (!some) std::fill_n(found, words_, Word{0});
    some = true;
    const Word* const source = frontier.data() + other * words_;
    if (same_[kinds_[at]]) {
      for (std::size_t w = 0; w < words_; ++w) found[w] |= source[w];
      continue;
    }
    const std::uint16_t* table = tables_.data() + kinds_[at] * words_ * 64;
    for (std::size_t w = 0; w < words_; ++w, table += 64) {
      for (Word rest = source[w]; rest != 0; rest &= rest - 1) {
        const std::size_t here = table[lowest(rest)];
        found[here / 64] |= Word{1} << (here % 64);
      }
    }
  }
  return some;
}

namespace {

Recounted recount_block(const BlockMoves& moves, std::size_t block, const RecountLayers& layers,
                        const RecountMap& map) {
  const std::size_t words = moves.words(), begin = block * words;
  Word* const fresh = layers.fresh.data() + begin;
  std::array<Word, kMostWords> found;
  Recounted result;
  if (moves.neighbours(block, layers.frontier, layers.frontier_counts, found.data())) {
    for (std::size_t w = 0; w < words; ++w) {
      Word known = fresh[w];
      if (layers.apart) known |= layers.frontier[begin + w];
      const Word states = found[w] & ~known;
      Word other = 0;
      for (std::size_t plane = 0; plane < map.planes; ++plane) {
        const Word expected = (map.number >> plane & 1) != 0 ? ~Word{0} : Word{0};
        other |= states & (map.words[(begin + w) * map.planes + plane] ^ expected);
      }
      fresh[w] = states;
      result.states += static_cast<std::uint64_t>(std::popcount(states));
      if (other == 0) continue;
      if (result.wrong == 0) result.first = (begin + w) * 64 + static_cast<std::uint64_t>(lowest(other));
      result.wrong += static_cast<std::uint64_t>(std::popcount(other));
    }
  } else if (layers.fresh_counts[block] != 0) {
    std::fill_n(fresh, words, Word{0});
  }
  layers.fresh_counts[block] = static_cast<std::uint32_t>(result.states);
  return result;
}

}  // namespace

Recounted recount(const BlockMoves& moves, std::span<const std::uint32_t> blocks, const RecountLayers& layers,
                  const RecountMap& map, int threads) {
  const std::size_t words = moves.blocks() * moves.words();
  if (layers.frontier.size() != words || layers.fresh.size() != words || map.planes < 1 || map.planes > 2 ||
      map.words.size() != words * map.planes || layers.frontier_counts.size() != moves.blocks() ||
      layers.fresh_counts.size() != moves.blocks())
    throw InvalidArgument("layers and map must have the words of all blocks");
  if (std::ranges::any_of(blocks, [&](auto block) { return block >= moves.blocks(); }))
    throw InvalidArgument("there is no such block");
  Recounted total;
  std::mutex adding;
  in_parallel((blocks.size() + kBlocksTogether - 1) / kBlocksTogether, threads, [&](std::uint64_t i) {
    Recounted part;
    const std::size_t end = std::min<std::size_t>((i + 1) * kBlocksTogether, blocks.size());
    for (std::size_t at = i * kBlocksTogether; at < end; ++at) {
      const Recounted one = recount_block(moves, blocks[at], layers, map);
      part.states += one.states;
      part.wrong += one.wrong;
      part.first = std::min(part.first, one.first);
    }
    const std::lock_guard lock(adding);
    total.states += part.states;
    total.wrong += part.wrong;
    total.first = std::min(total.first, part.first);
  });
  return total;
}

}  // namespace farthest
