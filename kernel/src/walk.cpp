#include "farthest/walk.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "coordinate_walk.hpp"

namespace farthest {
namespace {

// What the bound is made of: a single component is kept in a register while moves are tried.
enum class Kind { nothing, table, gaps, any };

Kind kind_of(const BoardBounds& bounds) {
  if (bounds.single_table()) return Kind::table;
  if (bounds.single_gaps()) return Kind::gaps;
  return bounds.components() == 0 ? Kind::nothing : Kind::any;
}

// W: words of a board.
template <int W, Kind K>
class Descent {
 public:
  Descent(const WalkProblem& problem, const WalkLimits& limits)
      : moves_(problem.moves),
        goals_(problem.goals),
        bounds_(problem.bounds),
        limits_(limits),
        components_(static_cast<std::size_t>(bounds_.components())),
        move_words_(static_cast<std::size_t>(moves_.move_words())) {}

  WalkResult run(const WalkRoot& start) {
    depth_ = start.depth;
    way_ = start.before;
    grow();
    Board& root = boards_[0];
    root.fill(0);
    std::memcpy(root.data(), start.board.data(), start.board.size());
    bounds_.start(bytes(root), values_.data());
    switch (judge(root, bounds_.greatest(values_.data()))) {
      case Verdict::cut:
        return std::move(result_);
      case Verdict::goal:
        solved();
        return std::move(result_);
      case Verdict::open:
        break;
    }
    enter(start.last, moves_.blanks(bytes(root)));
    while (level_ >= 0) {
      const int move = next_move();
      if (move < 0)
        leave();
      else if (!visit(move))
        break;
    }
    return std::move(result_);
  }

 private:
  using Board = std::array<std::uint64_t, W>;
  enum class Verdict { cut, open, goal };

  static std::uint8_t* bytes(Board& board) { return reinterpret_cast<std::uint8_t*>(board.data()); }

  // Room for the board after the one at level_, and for its values and moves.
  void grow() {
    const auto levels = static_cast<std::size_t>(level_) + 2;
    if (boards_.size() < levels) [[unlikely]]
      enlarge(levels);
  }
  [[gnu::noinline]] void enlarge(std::size_t levels) {
    const std::size_t room = std::max<std::size_t>(2 * levels, 16);
    boards_.resize(room);
    values_.resize(room * components_ + 1);
    untried_.resize(room * move_words_);
    blanks_.resize(room);
  }

  // The bound cuts off a board at depth_.
  void cut(int value) {
    if (value >= kUnreachable) return;
    const int sum = depth_ + value;
    if (result_.next_bound == WalkResult::kNone || sum < result_.next_bound) result_.next_bound = sum;
  }

  // A board at depth_. What is no goal is at least one move away from one.
  Verdict judge(const Board& board, int value) {
    const int most = limits_.bound - depth_;
    const bool goal = value <= most && goals_.template hold<W>(board.data());
    if (goal) return Verdict::goal;
    value = std::max(value, 1);
    if (value <= most) return Verdict::open;
    cut(value);
    return Verdict::cut;
  }

  // Begins with the moves on the board at level_ + 1, where `move` led to.
  void enter(int move, SlotMask blanks) {
    ++level_;
    grow();
    const auto level = static_cast<std::size_t>(level_);
    blanks_[level] = blanks;
    std::uint64_t* untried = untried_.data() + level * move_words_;
    moves_.legal(blanks, untried);
    const int back = move < 0 ? -1 : moves_.back(move);
    if (back >= 0) untried[back / 64] &= ~(std::uint64_t{1} << (back % 64));
    ++depth_;
  }

  void leave() {
    --level_;
    --depth_;
    if (level_ >= 0) way_.pop_back();
  }

  // The bound of the board that a move leads to; of a bound that is looked up what is known before.
  int value_after(int move, const std::uint8_t* board, const int* values, int* after) const {
    if constexpr (K == Kind::nothing) return 0;
    if constexpr (K == Kind::table)
      return bounds_.table_bound(*after = bounds_.table_after(move, board, *values));
    if constexpr (K == Kind::gaps) return *after = bounds_.gaps_after(move, board, *values);
    bounds_.step(move, board, values, after);
    return bounds_.looks_up() ? 0 : bounds_.greatest(after);
  }

  // The next move at level_ that the bound does not cut off by what is known before it is made; the others
  // are counted. -1: there are no more.
  int next_move() {
    const auto level = static_cast<std::size_t>(level_);
    const std::uint8_t* board = bytes(boards_[level]);
    const int* values = values_.data() + level * components_;
    int* after = values_.data() + (level + 1) * components_;
    std::uint64_t* untried = untried_.data() + level * move_words_;
    const int most = limits_.bound - depth_;
    int least_cut = kUnreachable;
    int found = -1;
    std::uint64_t tried = 0;
    for (std::size_t i = 0; i < move_words_ && found < 0; ++i) {
      std::uint64_t rest = untried[i];
      while (rest != 0) {
        const int move = static_cast<int>(i) * 64 + std::countr_zero(rest);
        rest &= rest - 1;
        ++tried;
        const int value = value_after(move, board, values, after);
        if (value <= most) {
          value_ = value;
          found = move;
          break;
        }
        least_cut = std::min(least_cut, value);
      }
      untried[i] = rest;
    }
    result_.nodes += tried;
    cut(least_cut);
    return found;
  }

  // Makes the move that next_move() gave, at level_ + 1.
  Verdict make(int move) {
    const auto level = static_cast<std::size_t>(level_);
    Board& from = boards_[level];
    Board& to = boards_[level + 1];
    to = from;
    moves_.apply(move, bytes(from), bytes(to));
    if constexpr (K == Kind::any)
      if (bounds_.looks_up()) {
        int* after = values_.data() + (level + 1) * components_;
        bounds_.look_up(bytes(to), after);
        return judge(to, bounds_.greatest(after));
      }
    return judge(to, value_);
  }

  // False: the search is over, or given back.
  bool visit(int move) {
    switch (make(move)) {
      case Verdict::cut:
        return true;
      case Verdict::goal:
        way_.push_back(static_cast<std::uint16_t>(move));
        solved();
        way_.pop_back();
        return !limits_.first;
      case Verdict::open:
        break;
    }
    if (result_.nodes >= limits_.budget) {
      put_back(move);
      give_back();
      return false;
    }
    way_.push_back(static_cast<std::uint16_t>(move));
    enter(move, moves_.blanks_after(move, blanks_[static_cast<std::size_t>(level_)]));
    return true;
  }

  void solved() {
    ++result_.solutions;
    if (result_.listed.size() < limits_.listed) result_.listed.push_back(way_);
  }

  void put_back(int move) {
    const std::uint8_t* board = bytes(boards_[static_cast<std::size_t>(level_) + 1]);
    WalkNode node{{board, board + moves_.cells()}, way_};
    node.way.push_back(static_cast<std::uint16_t>(move));
    result_.rest.push_back(std::move(node));
  }

  // What has not been tried on the boards of the way, deepest first. Goals among them stay what they are:
  // they come after the solutions below the nodes before them.
  void give_back() {
    for (; level_ >= 0; leave())
      for (int move = next_move(); move >= 0; move = next_move())
        if (make(move) != Verdict::cut) put_back(move);
  }

  const BoardMoves& moves_;
  const BoardGoals& goals_;
  const BoardBounds& bounds_;
  const WalkLimits limits_;
  const std::size_t components_;
  const std::size_t move_words_;
  int level_ = -1;  // of the board whose moves are tried; the way to it has as many moves
  int depth_ = 0;   // of the boards that it leads to
  int value_ = 0;   // of the board that the move leads to that next_move() gave
  std::vector<Board> boards_;
  std::vector<int> values_;             // by level and component
  std::vector<std::uint64_t> untried_;  // by level: bits of moves
  std::vector<SlotMask> blanks_;
  Way way_;
  WalkResult result_;
};

template <int W>
WalkResult descend(const WalkProblem& problem, const WalkRoot& root, const WalkLimits& limits) {
  switch (kind_of(problem.bounds)) {
    case Kind::nothing:
      return Descent<W, Kind::nothing>(problem, limits).run(root);
    case Kind::table:
      return Descent<W, Kind::table>(problem, limits).run(root);
    case Kind::gaps:
      return Descent<W, Kind::gaps>(problem, limits).run(root);
    default:
      return Descent<W, Kind::any>(problem, limits).run(root);
  }
}

}  // namespace

WalkProblem::WalkProblem(BoardMoves moves_, BoardGoals goals_, BoardBounds bounds_, bool shortest)
    : moves(std::move(moves_)), goals(std::move(goals_)), bounds(std::move(bounds_)) {
  if (goals.cells() != moves.cells()) throw InvalidArgument("goals must have as many cells as the puzzle");
  coordinates = CoordinateBounds::of(moves, goals, bounds, shortest);
  if (coordinates && shortest) order.emplace(moves);
}

int bound_of(const WalkProblem& problem, std::span<const std::uint8_t> board) {
  problem.moves.check(board);
  const bool goal = with_words(problem.moves.words(), [&]<int W>() {
    std::array<std::uint64_t, W> words{};
    std::memcpy(words.data(), board.data(), board.size());
    return problem.goals.hold<W>(words.data());
  });
  if (goal) return 0;
  std::vector<int> values(static_cast<std::size_t>(problem.bounds.components()) + 1);
  problem.bounds.start(board.data(), values.data());
  return std::clamp(problem.bounds.greatest(values.data()), 1, kUnreachable);
}

WalkResult walk(const WalkProblem& problem, const WalkRoot& root, const WalkLimits& limits) {
  problem.moves.check(root.board);
  if (root.depth < 0 || root.depth > kMaxBound || limits.bound > kMaxBound)
    throw InvalidArgument("depths and bounds must be 0 to 1048576");
  const auto known = [&](int move) { return move < problem.moves.count(); };
  if (root.last < -1 || !known(root.last) || !std::ranges::all_of(root.before, known))
    throw InvalidArgument("the last move must be a move, or -1");
  if (problem.coordinates) return walk_by_coordinates(problem, root, limits);
  return with_words(problem.moves.words(), [&]<int W>() { return descend<W>(problem, root, limits); });
}

}  // namespace farthest
