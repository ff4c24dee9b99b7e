// The boards that end a search: patterns, some of whose cells may hold anything.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "farthest/types.hpp"

namespace farthest {

class BoardGoals {
 public:
  static constexpr std::uint8_t kAnything = 255;

  // patterns: at least one, each of `cells` bytes; kAnything stands for any content. Throws InvalidArgument.
  BoardGoals(int cells, const std::vector<std::vector<std::uint8_t>>& patterns);

  int cells() const { return cells_; }
  // The goal, where there is one and it says what is in every cell; else empty.
  const std::vector<std::uint8_t>& only() const { return only_; }

  // board: W words, as many as board_words() says of `cells`.
  template <int W>
  bool hold(const std::uint64_t* board) const {
    for (const Group& group : groups_) {
      std::uint64_t masked[W];
      for (int i = 0; i < W; ++i) masked[i] = board[i] & group.mask[static_cast<std::size_t>(i)];
      for (auto low = group.boards.begin(), high = group.boards.end(); low != high;) {
        // Binary search over rows of W words.
        const auto middle = low + (high - low) / W / 2 * W;
        const int order = compare<W>(masked, &*middle);
        if (order == 0) return true;
        if (order < 0)
          high = middle;
        else
          low = middle + W;
      }
    }
    return false;
  }

 private:
  // Patterns that are anything in the same cells.
  struct Group {
    std::vector<std::uint64_t> mask;    // bytes of 255 where the board must be the pattern's
    std::vector<std::uint64_t> boards;  // masked, ascending
  };

  template <int W>
  static int compare(const std::uint64_t* a, const std::uint64_t* b) {
    for (int i = 0; i < W; ++i)
      if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
  }

  int cells_;
  std::vector<std::uint8_t> only_;
  std::vector<Group> groups_;
};

}  // namespace farthest
