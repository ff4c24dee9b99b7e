#include "farthest/graph_search.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "board_table.hpp"

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
class Search : public GraphSearch {
 public:
  Search(const WalkProblem& problem, std::span<const std::uint8_t> board, std::uint64_t memory)
      : problem_(problem), untried_(static_cast<std::size_t>(problem.moves.move_words())), memory_(memory) {
    Board first{};
    std::memcpy(first.data(), board.data(), board.size());
    if (!room()) {
      state_ = State::full;
      return;
    }
    table_.meet(stored(first), kNone, 0);
    stored_ = 1;
  }

  State advance(std::uint64_t boards) final {
    try {
      for (; boards != 0 && state_ == State::open; --boards) state_ = take();
    } catch (const std::bad_alloc&) {
      state_ = State::full;
    }
    bytes_ = table_.bytes() + open_bytes();
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

 protected:
  using Board = std::array<std::uint64_t, W>;
  using Table = BoardTable<S>;
  static constexpr std::uint32_t kNone = Table::kNone;

  // The board to be taken next, or kNone.
  virtual std::uint32_t next() = 0;
  // A move leads from `from` to the board `number`, which is fresh or not.
  virtual void met(const Board& board, typename Table::Place place, std::uint32_t from,
                   std::uint16_t move) = 0;
  virtual std::uint64_t open_bytes() const = 0;

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

  const WalkProblem& problem_;
  Table table_;

 private:
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
    const std::uint32_t number = next();
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
        met(to, place, number, static_cast<std::uint16_t>(move));
      }
    open_room_ = open_bytes();
    return State::open;
  }

  std::vector<std::uint64_t> untried_;
  const std::uint64_t memory_;
  std::uint64_t open_room_ = 0;
  std::uint32_t at_ = kNone;  // taken last
  State state_ = State::open;
};

template <int W, int S>
class BreadthFirst final : public Search<W, S> {
 public:
  using Base = Search<W, S>;
  using Base::Base;

 private:
  std::uint32_t next() override { return next_ < this->table_.count() ? next_++ : Base::kNone; }
  void met(const typename Base::Board&, typename Base::Table::Place, std::uint32_t, std::uint16_t) override {}
  std::uint64_t open_bytes() const override { return 0; }

  std::uint32_t next_ = 0;  // boards are taken in the order in which they were met
};

template <int W, int S>
class DepthFirst final : public Search<W, S> {
 public:
  using Base = Search<W, S>;
  DepthFirst(const WalkProblem& problem, std::span<const std::uint8_t> board, std::uint64_t memory)
      : Base(problem, board, memory), open_{0} {}

 private:
  std::uint32_t next() override {
    if (open_.empty()) return Base::kNone;
    const std::uint32_t number = open_.back();
    open_.pop_back();
    return number;
  }
  void met(const typename Base::Board&, typename Base::Table::Place place, std::uint32_t,
           std::uint16_t) override {
    if (place.fresh) open_.push_back(place.number);
  }
  std::uint64_t open_bytes() const override { return open_.capacity() * sizeof(std::uint32_t); }

  std::vector<std::uint32_t> open_;
};

template <int W, int S>
class BestFirst final : public Search<W, S> {
 public:
  using Base = Search<W, S>;
  BestFirst(const WalkProblem& problem, std::span<const std::uint8_t> board, std::uint64_t memory)
      : Base(problem, board, memory), values_(static_cast<std::size_t>(problem.bounds.components()) + 1) {
    if (this->table_.count() == 0) return;
    labels_.push_back({0, value(this->board(0))});
    open(0);
  }

 private:
  struct Label {
    std::int32_t moves;
    std::int32_t value;
  };
  // Boards opened with one sum and one value, so after the same number of moves; the first opened is taken
  // first. A board that was opened again after fewer moves is passed over.
  struct Line {
    std::vector<std::uint32_t> numbers;
    std::size_t taken = 0;
  };
  struct Bucket {
    std::vector<Line> lines;  // by value
    std::size_t nearest = 0;  // no line before this one has boards
  };

  int value(const typename Base::Board& board) {
    this->problem_.bounds.start(Base::bytes(board), values_.data());
    return this->problem_.bounds.greatest(values_.data());
  }

  void open(std::uint32_t number) {
    const Label& label = labels_[number];
    if (label.value >= kUnreachable) return;
    const auto near = static_cast<std::size_t>(label.value);
    const std::size_t sum = static_cast<std::size_t>(label.moves) + near;
    if (buckets_.size() <= sum) buckets_.resize(sum + 1);
    Bucket& bucket = buckets_[sum];
    if (bucket.lines.size() <= near) {
      lines_ += near + 1 - bucket.lines.size();
      bucket.lines.resize(near + 1);
    }
    std::vector<std::uint32_t>& numbers = bucket.lines[near].numbers;
    held_ -= numbers.capacity();
    numbers.push_back(number);
    held_ += numbers.capacity();
    bucket.nearest = std::min(bucket.nearest, near);
    least_ = std::min(least_, sum);
  }

  std::uint32_t next() override {
    for (; least_ < buckets_.size(); ++least_) {
      Bucket& bucket = buckets_[least_];
      for (; bucket.nearest < bucket.lines.size(); ++bucket.nearest) {
        Line& line = bucket.lines[bucket.nearest];
        while (line.taken < line.numbers.size()) {
          const std::uint32_t number = line.numbers[line.taken++];
          if (static_cast<std::size_t>(labels_[number].moves) + bucket.nearest == least_) return number;
        }
        line.numbers.clear();
        line.taken = 0;
      }
    }
    return Base::kNone;
  }

  void met(const typename Base::Board& board, typename Base::Table::Place place, std::uint32_t from,
           std::uint16_t move) override {
    const std::int32_t moves = labels_[from].moves + 1;
    if (place.fresh) {
      labels_.push_back({moves, value(board)});
    } else {
      Label& label = labels_[place.number];
      if (moves >= label.moves) return;
      label.moves = moves;
      this->table_[place.number].parent = from;
      this->table_[place.number].move = move;
    }
    open(place.number);
  }

  std::uint64_t open_bytes() const override {
    return labels_.capacity() * sizeof(Label) + held_ * sizeof(std::uint32_t) + lines_ * sizeof(Line) +
           buckets_.capacity() * sizeof(Bucket);
  }

  std::vector<int> values_;
  std::vector<Label> labels_;    // by number
  std::vector<Bucket> buckets_;  // by sum of moves and value
  std::size_t least_ = 0;        // no bucket before this one has boards
  std::uint64_t held_ = 0;       // room for numbers in all lines
  std::uint64_t lines_ = 0;
};

template <int W, int S>
std::unique_ptr<GraphSearch> make(const WalkProblem& problem, SearchOrder order,
                                  std::span<const std::uint8_t> board, std::uint64_t memory) {
  switch (order) {
    case SearchOrder::breadth:
      return std::make_unique<BreadthFirst<W, S>>(problem, board, memory);
    case SearchOrder::depth:
      return std::make_unique<DepthFirst<W, S>>(problem, board, memory);
    default:
      return std::make_unique<BestFirst<W, S>>(problem, board, memory);
  }
}

}  // namespace

std::unique_ptr<GraphSearch> graph_search(const WalkProblem& problem, SearchOrder order,
                                          std::span<const std::uint8_t> board, std::uint64_t memory) {
  problem.moves.check(board);
  const BoardMoves& moves = problem.moves;
  const bool halves =
      moves.labels() <= 16 && std::ranges::all_of(moves.moduli(), [](int m) { return m <= 16; });
  return with_words(moves.words(), [&]<int W>() {
    if constexpr (W == 2)
      if (halves) return make<2, 1>(problem, order, board, memory);
    return make<W, W>(problem, order, board, memory);
  });
}

}  // namespace farthest
