// Positions of a coset that somebody waits for, as bits, while it is enumerated (cosets.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "farthest/move_order.hpp"

namespace farthest {

class WatchedBits {
 public:
  using Caught = std::pair<std::uint64_t, Way>;  // the listed sequence by which a bit was set

  void watch(std::span<const std::uint64_t> bits) {
    bits_.assign(bits.begin(), bits.end());
    std::ranges::sort(bits_);
    filter_.assign(kWords, 0);
    for (const auto bit : bits_) filter_[place(bit) / 64] |= std::uint64_t{1} << (place(bit) % 64);
  }
  bool empty() const { return bits_.empty(); }
  bool has(std::uint64_t bit) const {
    return (filter_[place(bit) / 64] >> (place(bit) % 64) & 1) != 0 && std::ranges::binary_search(bits_, bit);
  }
  // From any thread.
  void keep(std::uint64_t bit, Way way) {
    const std::lock_guard lock(mutex_);
    caught_.emplace_back(bit, std::move(way));
  }
  const std::vector<Caught>& caught() const { return caught_; }

 private:
  static constexpr int kPlaces = 24;  // as bits: 2 MiB, near the processor
  static constexpr std::size_t kWords = (std::size_t{1} << kPlaces) / 64;
  static std::size_t place(std::uint64_t bit) { return bit * 0x9e3779b97f4a7c15u >> (64 - kPlaces); }

  std::vector<std::uint64_t> bits_, filter_;
  std::mutex mutex_;
  std::vector<Caught> caught_;
};

}  // namespace farthest
