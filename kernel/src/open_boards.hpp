// The boards that a search has met and not yet taken, by their numbers in the order of meeting.
#pragma once

#include <cstdint>
#include <memory>

#include "farthest/graph_search.hpp"

namespace farthest {

class OpenBoards {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  virtual ~OpenBoards() = default;

  // Board 0.
  virtual void begin(const std::uint8_t* board) = 0;
  // A move leads from the board `from` to the board `number`, which is fresh or was met before. Whether the
  // way to it is from now on that by `from`.
  virtual bool met(const std::uint8_t* board, std::uint32_t number, bool fresh, std::uint32_t from) = 0;
  // The board to be taken next, or kNone.
  virtual std::uint32_t next() = 0;
  virtual std::uint64_t bytes() const = 0;
};

// The problem must live as long.
std::unique_ptr<OpenBoards> open_boards(const WalkProblem& problem, SearchOrder order);

}  // namespace farthest
