#include <bit>
#include <cstring>

#include "subgroup_lines.hpp"

namespace farthest {
namespace {

std::uint32_t lane_of(const std::uint8_t* block, const SubgroupLanes& lanes, std::size_t lane) {
  std::uint16_t two;
  std::memcpy(&two, block + lanes.from[2 * lane] % 64, sizeof two);
  return two >> lanes.shift[lane] & 0xfffu;
}

}  // namespace

std::uint64_t subgroup_step_portable(const SubgroupTables& tables, const std::uint8_t* const* sources,
                                     std::uint8_t* result) {
  std::uint64_t ones = 0;
  for (std::size_t block = 0; block < SubgroupBits::kBlocks; ++block) {
    const std::uint8_t* const* source = sources;
    std::uint64_t words[5] = {};
    const auto add = [&](const std::uint8_t* from) {
      std::uint64_t some[5] = {};
      std::memcpy(some, from, SubgroupBits::kBlockBytes);
      for (std::size_t i = 0; i < 5; ++i) words[i] |= some[i];
    };
    add(*source++ + block * SubgroupBits::kBlockBytes);
    for (std::size_t move = 0; move < tables.uppers; ++move)
      add(*source++ + tables.upper[move].number[block] * SubgroupBits::kBlockBytes);
    std::uint32_t lanes[SubgroupBits::kLanes] = {};
    for (std::size_t move = 0; move < tables.lowers; ++move) {
      const std::uint8_t* from = *source++ + block * SubgroupBits::kBlockBytes;
      for (std::size_t lane = 0; lane < SubgroupBits::kLanes; ++lane)
        lanes[lane] |= lane_of(from, tables.lower[move], lane);
    }
    for (std::size_t move = 0; move < tables.exchanges; ++move) {
      const SubgroupExchange& exchange = tables.exchange[move];
      const std::uint8_t* page = *source++;
      const SubgroupLanes& from = exchange.lanes[exchange.ranks[block]];
      for (std::size_t lane = 0; lane < SubgroupBits::kLanes; ++lane) {
        const std::size_t other = exchange.blocks[block][exchange.up[lane]];
        const std::uint32_t bits = lane_of(page + other * SubgroupBits::kBlockBytes, from, lane);
        lanes[lane] |= exchange.becomes[bits];
      }
    }
    std::uint8_t packed[40] = {};
    for (std::size_t pair = 0; pair < SubgroupBits::kLanes / 2; ++pair) {
      const std::uint32_t both = lanes[2 * pair] | lanes[2 * pair + 1] << 12;
      for (std::size_t i = 0; i < 3; ++i) packed[3 * pair + i] = static_cast<std::uint8_t>(both >> 8 * i);
    }
    add(packed);
    std::memcpy(result + block * SubgroupBits::kBlockBytes, words, SubgroupBits::kBlockBytes);
    for (const std::uint64_t word : words) ones += static_cast<std::uint64_t>(std::popcount(word));
  }
  return ones;
}

}  // namespace farthest
