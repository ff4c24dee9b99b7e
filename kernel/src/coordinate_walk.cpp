#include "coordinate_walk.hpp"

#include <algorithm>

#include "coordinate_expansion.hpp"

namespace farthest {
namespace {

class CoordinateDescent {
 public:
  CoordinateDescent(const WalkProblem& problem, const WalkLimits& limits)
      : problem_(problem),
        limits_(limits),
        order_(problem.order ? &*problem.order : nullptr),
        move_words_(static_cast<std::size_t>(problem.moves.move_words())),
        expansion_(problem) {}

  WalkResult run(const WalkRoot& root) {
    root_ = &root;
    depth_ = root.depth;
    way_ = root.before;
    if (!judge_root()) return std::move(result_);
    begin();
    while (level_ >= 0) {
      std::size_t& next = place().next;
      if (next == here().open.size())
        leave();
      else if (!visit(next++))
        break;
    }
    return std::move(result_);
  }

 private:
  // How many siblings are expanded together.
  static constexpr std::size_t kTogether = 16;

  using Board = Expansion::Board;
  struct Place {
    std::size_t next = 0;   // of the open moves
    std::size_t ready = 0;  // the first of them whose children are not generated
  };
  // Boards of one depth: siblings, of which one is searched below.
  struct Level {
    std::vector<Board> boards;
    std::vector<Place> places;  // by board
    std::size_t at = 0;
  };

  Level& level() { return levels_[static_cast<std::size_t>(level_)]; }
  Board& here() { return level().boards[level().at]; }
  Place& place() { return level().places[level().at]; }

  // Room for boards at a level.
  Level& room(int number, std::size_t boards) {
    const auto levels = static_cast<std::size_t>(number) + 1;
    if (levels_.size() < levels) [[unlikely]]
      levels_.resize(levels);
    Level& level = levels_[static_cast<std::size_t>(number)];
    while (level.boards.size() < boards) [[unlikely]] {
      level.boards.push_back(expansion_.made());
      level.places.emplace_back();
    }
    return level;
  }

  void cut(int value, int depth) {
    if (value >= kUnreachable) return;
    const int sum = depth + value;
    if (result_.next_bound == WalkResult::kNone || sum < result_.next_bound) result_.next_bound = sum;
  }

  // Whether there is anything to be searched below the root.
  bool judge_root() {
    const int value = bound_of(problem_, root_->board);
    if (value > limits_.bound - depth_) {
      cut(value, depth_);
      return false;
    }
    if (value == 0) {
      solved();
      return false;
    }
    return true;
  }

  // The root's moves.
  void begin() {
    std::vector<std::uint64_t> forbidden(move_words_);
    if (order_ == nullptr) {
      const int last = root_->before.empty() ? root_->last : root_->before.back();
      forbid_back(last, forbidden.data());
    } else {
      if (root_->before.empty() && root_->last >= 0) {
        // Other ways to the root count as well, in which the last move may be another: what could come before
        // it in these must not be left out.
        if (limits_.first)
          order_->after(root_->last, forbidden.data(), forbidden.data());
        else
          std::copy_n(order_->joined(root_->last), move_words_, forbidden.data());
      }
      for (const auto move : root_->before) order_->after(move, forbidden.data(), forbidden.data());
    }
    std::vector<int> values(static_cast<std::size_t>(problem_.bounds.components()));
    problem_.bounds.start(root_->board.data(), values.data());
    Level& first = room(0, 1);
    expansion_.begin(root_->board.data(), values.data(), first.boards[0]);
    first.boards[0].forbidden = std::move(forbidden);
    level_ = 0;
    ++depth_;
    expand(first, 1, depth_);
  }

  void forbid_back(int last, std::uint64_t* out) const {
    std::fill_n(out, move_words_, 0);
    const int back = last < 0 ? -1 : problem_.moves.back(last);
    if (back >= 0) out[back / 64] |= std::uint64_t{1} << (back % 64);
  }

  // Expands the open children of here() from `first` on that are no goals, some of them together.
  void prepare(std::size_t first) {
    Level& below = room(level_ + 1, kTogether);
    const Board& from = here();
    std::size_t count = 0;
    for (std::size_t i = first; i < from.open.size() && count < kTogether; ++i, ++count) {
      const std::uint16_t move = from.open[i];
      if (i > first && from.looked_up[move] == 0) break;
      Board& board = below.boards[count];
      if (order_ != nullptr)
        order_->after(move, from.forbidden.data(), board.forbidden.data());
      else
        forbid_back(move, board.forbidden.data());
      expansion_.step(from, move, board);
    }
    expand(below, count, depth_ + 1);
    place().ready = first + count;
    below.at = 0;
  }

  // Generates the children of the first boards of a level, which are `depth` moves from where the bound is
  // counted from.
  void expand(Level& level, std::size_t boards, int depth) {
    std::fill_n(level.places.begin(), boards, Place{});
    expansion_.expand({level.boards.data(), boards}, limits_.bound - depth);
    result_.nodes = expansion_.nodes();
    cut(expansion_.least_cut(), depth);
  }

  void leave() {
    --level_;
    --depth_;
    if (level_ >= 0) {
      way_.pop_back();
      ++levels_[static_cast<std::size_t>(level_) + 1].at;
    }
  }

  // False: the search is over, or given back.
  bool visit(std::size_t number) {
    const std::uint16_t move = here().open[number];
    if (here().looked_up[move] == 0) [[unlikely]] {
      way_.push_back(move);
      const bool goal = bound_of(problem_, board_after(way_)) == 0;
      if (goal) solved();
      way_.pop_back();
      if (goal) return !limits_.first;
    }
    if (limits_.bound == depth_) [[unlikely]] {  // tables with a floor leave it open
      cut(1, depth_);
      return true;
    }
    if (result_.nodes >= limits_.budget) {
      give_back(number);
      return false;
    }
    if (number >= place().ready) prepare(number);
    way_.push_back(move);
    ++level_;
    ++depth_;
    return true;
  }

  // What has not been searched, the deepest first: of boards whose children are generated these.
  void give_back(std::size_t number) {
    for (place().next = number; level_ >= 0; leave()) {
      const Board& board = here();
      auto& [next, ready] = place();
      const Level* below = next < ready ? &levels_[static_cast<std::size_t>(level_) + 1] : nullptr;
      for (std::size_t sibling = below ? below->at : 0; next < board.open.size(); ++next, ++sibling) {
        const std::uint16_t move = board.open[next];
        if (next >= ready) {
          put_back(move);
          continue;
        }
        way_.push_back(move);
        for (const auto child : below->boards[sibling].open) put_back(child);
        way_.pop_back();
      }
    }
  }

  void solved() {
    const std::size_t most = limits_.listed;
    if (order_ == nullptr || limits_.first) {
      ++result_.solutions;
      if (result_.listed.size() < most) result_.listed.push_back(way_);
      return;
    }
    result_.solutions += order_->count(way_);
    order_->list(way_, most, result_.listed);
  }

  void put_back(std::uint16_t move) {
    WalkNode node{{}, way_};
    node.way.push_back(move);
    node.board = board_after(node.way);
    result_.rest.push_back(std::move(node));
  }

  // The board that the moves since the root lead to.
  std::vector<std::uint8_t> board_after(const Way& way) const {
    std::vector<std::uint8_t> board(root_->board.begin(), root_->board.end()), after = board;
    for (std::size_t i = root_->before.size(); i < way.size(); ++i) {
      problem_.moves.apply(way[i], board.data(), after.data());
      board = after;
    }
    return board;
  }

  const WalkProblem& problem_;
  const WalkLimits limits_;
  const MoveOrder* order_;
  const std::size_t move_words_;
  Expansion expansion_;
  const WalkRoot* root_ = nullptr;
  int level_ = -1;  // of the board whose moves are tried
  int depth_ = 0;   // of the boards that they lead to
  std::vector<Level> levels_;
  Way way_;
  WalkResult result_;
};

}  // namespace

WalkResult walk_by_coordinates(const WalkProblem& problem, const WalkRoot& root, const WalkLimits& limits) {
  return CoordinateDescent(problem, limits).run(root);
}

}  // namespace farthest
