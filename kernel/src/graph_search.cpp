#include "farthest/graph_search.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "board_table.hpp"
#include "open_boards.hpp"

namespace farthest {
namespace {

// Boards of 16 bytes below 16 as half bytes: byte i and byte i + 8 in byte i.
std::array<std::uint64_t, 1> packed(const std::array<std::uint64_t, 2>& board) {
  return {board[0] | board[1] << 4};
}

std::array<std::uint64_t, 2> unpacked(const std::array<std::uint64_t, 1>& board) {
  constexpr std::uint64_t kLow = 0x0F0F0F0F0F0F0F0F;
  return {board[0] & kLow, board[0] >> 4 & kLow};
}

// W: words of a board; S: of a board as it is stored.
template <int W, int S>
class Search final : public GraphSearch {
 public:
  Search(const WalkProblem& problem, SearchOrder order, std::span<const std::uint8_t> board,
         std::uint64_t memory)
      : problem_(problem),
        open_(open_boards(problem, order)),
        untried_(static_cast<std::size_t>(problem.moves.move_words())),
        memory_(memory) {
    Board first{};
    std::memcpy(first.data(), board.data(), board.size());
    if (!room()) {
      state_ = State::full;
      return;
    }
    table_.meet(stored(first), kNone, 0);
    open_->begin(bytes(first));
    stored_ = 1;
  }

  State advance(std::uint64_t boards) final {
    try {
      for (; boards != 0 && state_ == State::open; --boards) state_ = take();
    } catch (const std::bad_alloc&) {
      state_ = State::full;
    }
    bytes_ = table_.bytes() + open_->bytes();
    return state_;
  }

  Way moves() const final {
    Way way;
    if (state_ != State::found) return way;
    for (std::uint32_t number = at_; table_[number].parent != kNone; number = table_[number].parent)
      way.push_back(table_[number].move);
    std::ranges::reverse(way);
    return way;
  }

 private:
  using Board = std::array<std::uint64_t, W>;
  using Table = BoardTable<S>;
  static constexpr std::uint32_t kNone = Table::kNone;

  static std::uint8_t* bytes(Board& board) { return reinterpret_cast<std::uint8_t*>(board.data()); }
  static const std::uint8_t* bytes(const Board& board) {
    return reinterpret_cast<const std::uint8_t*>(board.data());
  }
  Board board(std::uint32_t number) const {
    if constexpr (S == W)
      return table_[number].board;
    else
      return unpacked(table_[number].board);
  }

  static typename Table::Board stored(const Board& board) {
    if constexpr (S == W)
      return board;
    else
      return packed(board);
  }

  // Whether one board more may be stored.
  bool room() const {
    const std::uint64_t open = open_room_;
    return open <= memory_ && table_.room(memory_ - open);
  }

  State take() {
    const std::uint32_t number = open_->next();
    if (number == kNone) return State::exhausted;
    at_ = number;
    ++expanded_;
    const Board from = board(number);
    if (problem_.goals.template hold<W>(from.data())) return State::found;
    const BoardMoves& moves = problem_.moves;
    moves.legal(moves.blanks(bytes(from)), untried_.data());
    for (std::size_t i = 0; i < untried_.size(); ++i)
      for (std::uint64_t rest = untried_[i]; rest != 0; rest &= rest - 1) {
        const int move = static_cast<int>(i) * 64 + std::countr_zero(rest);
        Board to = from;
        moves.apply(move, bytes(from), bytes(to));
        ++generated_;
        if (!room()) return State::full;
        const auto place = table_.meet(stored(to), number, static_cast<std::uint16_t>(move));
        stored_ += place.fresh ? 1 : 0;
        if (open_->met(bytes(to), place.number, place.fresh, number)) {
          table_[place.number].parent = number;
          table_[place.number].move = static_cast<std::uint16_t>(move);
        }
      }
    open_room_ = open_->bytes();
    return State::open;
  }

  const WalkProblem& problem_;
  Table table_;
  const std::unique_ptr<OpenBoards> open_;
  std::vector<std::uint64_t> untried_;
  const std::uint64_t memory_;
  std::uint64_t open_room_ = 0;
  std::uint32_t at_ = kNone;  // taken last
  State state_ = State::open;
};

}  // namespace

std::unique_ptr<GraphSearch> graph_search(const WalkProblem& problem, SearchOrder order,
                                          std::span<const std::uint8_t> board, std::uint64_t memory) {
  problem.moves.check(board);
  const BoardMoves& moves = problem.moves;
  const bool halves =
      moves.labels() <= 16 && std::ranges::all_of(moves.moduli(), [](int m) { return m <= 16; });
  return with_words(moves.words(), [&]<int W>() -> std::unique_ptr<GraphSearch> {
    if constexpr (W == 2)
      if (halves) return std::make_unique<Search<2, 1>>(problem, order, board, memory);
    return std::make_unique<Search<W, W>>(problem, order, board, memory);
  });
}

}  // namespace farthest
