// The boards that a search has met, numbered in the order of meeting.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace farthest {

// W: words of a board.
template <int W>
class BoardTable {
 public:
  using Board = std::array<std::uint64_t, W>;
  struct Entry {
    Board board;
    std::uint32_t parent;
    std::uint16_t move;
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Place {
    std::uint32_t number;
    bool fresh;
  };

  BoardTable() : slots_(kFirstSlots, kNone) {}

  // Whether one board more can be met within so many bytes.
  bool room(std::uint64_t bytes) const {
    if (count_ == kNone - 1) return false;
    std::uint64_t needed = this->bytes();
    if (count_ == entries_.size() << kBlockBits) needed += sizeof(Entry) << kBlockBits;
    if (crowded()) needed += slots_.size() * 2 * sizeof(std::uint32_t);
    return needed <= bytes;
  }
  std::uint64_t bytes() const {
    return entries_.size() * (sizeof(Entry) << kBlockBits) + slots_.size() * sizeof(std::uint32_t);
  }
  std::uint32_t count() const { return count_; }
  Entry& operator[](std::uint32_t number) { return entries_[number >> kBlockBits][number & kInBlock]; }
  const Entry& operator[](std::uint32_t number) const {
    return entries_[number >> kBlockBits][number & kInBlock];
  }

  // The number of the board; if it is fresh, met from `parent` by `move`.
  Place meet(const Board& board, std::uint32_t parent, std::uint16_t move) {
    if (crowded()) grow();
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash(board) & mask;
    for (; slots_[slot] != kNone; slot = (slot + 1) & mask)
      if ((*this)[slots_[slot]].board == board) return {slots_[slot], false};
    if (count_ == entries_.size() << kBlockBits)
      entries_.push_back(std::make_unique_for_overwrite<Entry[]>(std::size_t{1} << kBlockBits));
    (*this)[count_] = {board, parent, move};
    slots_[slot] = count_;
    return {count_++, true};
  }

 private:
  static constexpr std::size_t kFirstSlots = 1024;
  static constexpr int kBlockBits = 12;  // entries in a block: no entry is ever moved
  static constexpr std::uint32_t kInBlock = (1u << kBlockBits) - 1;

  bool crowded() const { return 5 * (std::uint64_t{count_} + 1) > 3 * slots_.size(); }

  static std::size_t hash(const Board& board) {
    std::uint64_t h = 0;
    for (const std::uint64_t word : board) {
      h ^= word;
      h *= 0x9E3779B97F4A7C15;
      h ^= h >> 32;
    }
    h *= 0xD6E8FEB86659FD93;
    return static_cast<std::size_t>(h ^ (h >> 29));
  }

  void grow() {
    std::vector<std::uint32_t> slots(slots_.size() * 2, kNone);
    const std::size_t mask = slots.size() - 1;
    for (std::uint32_t number = 0; number < count_; ++number) {
      std::size_t slot = hash((*this)[number].board) & mask;
      while (slots[slot] != kNone) slot = (slot + 1) & mask;
      slots[slot] = number;
    }
    slots_ = std::move(slots);
  }

  std::uint32_t count_ = 0;
  std::vector<std::unique_ptr<Entry[]>> entries_;
  std::vector<std::uint32_t> slots_;  // numbers, by hash; linear probing
};

}  // namespace farthest
