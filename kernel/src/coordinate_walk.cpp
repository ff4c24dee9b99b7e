#include "coordinate_walk.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>

namespace farthest {
namespace {

// A term of the bound, as it is looked up: maps, and where their coordinates begin.
struct LookUps {
  struct Map {
    const MapCoordinates* coordinates;
    const std::uint8_t* distances;
    std::size_t first;
  };
  std::vector<Map> maps;
};

// The children of a board are generated together, in stages: the keys of one term are worked out for all of
// them, and their distances asked for, before the first is compared with the bound; those that it leaves go
// on to the next term. The term that was greatest for the board comes first. No move changes a distance by
// more than 1, so another term is left out where it cannot cut off a child.
class CoordinateDescent {
 public:
  CoordinateDescent(const WalkProblem& problem, const WalkLimits& limits)
      : problem_(problem),
        limits_(limits),
        order_(problem.order ? &*problem.order : nullptr),
        move_words_(static_cast<std::size_t>(problem.moves.move_words())),
        move_count_(static_cast<std::size_t>(problem.moves.count())),
        term_count_(problem.coordinates->terms.size()),
        steady_(order_ != nullptr) {
    for (const auto& term : problem.coordinates->terms) {
      LookUps& look_ups = terms_.emplace_back();
      for (const std::size_t map : term) {
        const MapCoordinates& coordinates = problem.coordinates->maps[map];
        look_ups.maps.push_back({&coordinates, coordinates.distances(), width_});
        width_ += coordinates.size();
        most_maps_ = std::max(most_maps_, look_ups.maps.size());
      }
    }
    for (int m = 0; m < problem.moves.count(); ++m) steady_ = steady_ && problem.moves.back(m) >= 0;
    keys_.resize(most_maps_ * move_count_);
    sequence_.resize(term_count_);
  }

  WalkResult run(const WalkRoot& root) {
    root_ = &root;
    depth_ = root.depth;
    way_ = root.before;
    grow();
    if (!judge_root()) return std::move(result_);
    begin();
    while (level_ >= 0) {
      Level& level = levels_[static_cast<std::size_t>(level_)];
      if (level.next == level.open.size())
        leave();
      else if (!visit(level.open[level.next++]))
        break;
    }
    return std::move(result_);
  }

 private:
  // A board whose moves are tried, and its children by move.
  struct Level {
    std::vector<std::uint64_t> forbidden;  // bits of moves
    std::vector<std::uint16_t> open;       // the moves that the bound leaves
    std::size_t next = 0;                  // of `open`
    std::vector<std::uint32_t> values;     // by move: the coordinates
    std::vector<int> bounds;               // by move and term: the value, or more where it is not looked up
    std::vector<int> looked_up;            // by move: the greatest value looked up
  };

  // Room for level_ + 1.
  void grow() {
    const auto levels = static_cast<std::size_t>(level_ + 2);
    while (levels_.size() < levels) [[unlikely]] {
      Level& level = levels_.emplace_back();
      level.forbidden.resize(move_words_);
      level.open.reserve(move_count_);
      level.values.resize(move_count_ * width_ + 1);
      level.bounds.resize(move_count_ * term_count_);
      level.looked_up.resize(move_count_);
    }
  }

  void cut(int value) {
    if (value >= kUnreachable) return;
    const int sum = depth_ + value;
    if (result_.next_bound == WalkResult::kNone || sum < result_.next_bound) result_.next_bound = sum;
  }

  static int sum_of(int sum, std::uint8_t distance) {
    return distance == MapTable::kNever ? kUnreachable : std::min(sum + distance, kUnreachable);
  }

  // Whether there is anything to be searched below the root.
  bool judge_root() {
    const int value = bound_of(problem_, root_->board);
    if (value > limits_.bound - depth_) {
      cut(value);
      return false;
    }
    if (value == 0) {
      solved();
      return false;
    }
    std::vector<int> values(static_cast<std::size_t>(problem_.bounds.components()));
    problem_.bounds.start(root_->board.data(), values.data());
    root_values_.resize(width_ + 1);
    for (std::size_t t = 0; t < term_count_; ++t) {
      int sum = 0;
      for (const std::size_t map : problem_.coordinates->terms[t]) sum += values[map];
      root_bounds_.push_back(sum);
      for (const auto& map : terms_[t].maps)
        map.coordinates->start(root_->board.data(), root_values_.data() + map.first);
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
    ++level_;
    levels_[0].forbidden = std::move(forbidden);
    expand(root_values_.data(), root_bounds_.data());
  }

  void forbid_back(int last, std::uint64_t* out) const {
    std::fill_n(out, move_words_, 0);
    const int back = last < 0 ? -1 : problem_.moves.back(last);
    if (back >= 0) out[back / 64] |= std::uint64_t{1} << (back % 64);
  }

  // Begins with the moves on the board that `move` of level_ leads to.
  void enter(std::uint16_t move) {
    grow();
    const Level& from = levels_[static_cast<std::size_t>(level_)];
    ++level_;
    Level& to = levels_[static_cast<std::size_t>(level_)];
    if (order_ != nullptr)
      order_->after(move, from.forbidden.data(), to.forbidden.data());
    else
      forbid_back(move, to.forbidden.data());
    way_.push_back(move);
    expand(from.values.data() + move * width_, from.bounds.data() + move * term_count_);
  }

  void leave() {
    --level_;
    --depth_;
    if (level_ >= 0) way_.pop_back();
  }

  // Generates the children at level_ of a board with these coordinates and bounds.
  void expand(const std::uint32_t* values, const int* bounds) {
    Level& level = levels_[static_cast<std::size_t>(level_)];
    ++depth_;
    level.next = 0;
    level.open.resize(move_count_);
    std::uint16_t* moves = level.open.data();
    std::size_t count = 0;
    for (std::size_t i = 0; i < move_words_; ++i) {
      std::uint64_t rest = ~level.forbidden[i];
      if (i + 1 == move_words_ && move_count_ % 64 != 0) rest &= (std::uint64_t{1} << move_count_ % 64) - 1;
      for (; rest != 0; rest &= rest - 1)
        moves[count++] =
            static_cast<std::uint16_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
    }
    result_.nodes += count;
    for (std::size_t i = 0; i < count; ++i) level.looked_up[moves[i]] = 0;
    const int most = limits_.bound - depth_;
    arrange(bounds);
    for (std::size_t place = 0; place < term_count_ && count != 0; ++place) {
      const std::size_t term = sequence_[place];
      const int rise = static_cast<int>(terms_[term].maps.size());
      const bool looked_up = place == 0 || !steady_ || bounds[term] + rise > most;
      count = stage(level, term, looked_up, values, bounds[term] + rise, most, count);
    }
    level.open.resize(count);
  }

  // The terms, the greatest first.
  void arrange(const int* bounds) {
    for (std::size_t t = 0; t < term_count_; ++t) {
      std::size_t place = t;
      for (; place > 0 && bounds[sequence_[place - 1]] < bounds[t]; --place)
        sequence_[place] = sequence_[place - 1];
      sequence_[place] = static_cast<std::uint32_t>(t);
    }
  }

  // Compares one term with the bound; the number of children that are left. risen: what the term is at most.
  std::size_t stage(Level& level, std::size_t term, bool looked_up, const std::uint32_t* values, int risen,
                    int most, std::size_t count) {
    std::uint16_t* moves = level.open.data();
    const auto& maps = terms_[term].maps;
    Key* keys = keys_.data();
    for (const auto& map : maps) {
      map.coordinates->step(values + map.first, moves, count, level.values.data() + map.first, width_, keys);
      if (looked_up)
        for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(map.distances + keys[i]);
      keys += move_count_;
    }
    if (!looked_up) {
      for (std::size_t i = 0; i < count; ++i) level.bounds[moves[i] * term_count_ + term] = risen;
      return count;
    }
    std::size_t kept = 0;
    int least_cut = kUnreachable;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint16_t move = moves[i];
      int sum = 0;
      const Key* key = keys_.data() + i;
      for (const auto& map : maps) {
        sum = sum_of(sum, map.distances[*key]);
        key += move_count_;
      }
      if (sum > most) {
        least_cut = std::min(least_cut, sum);
        continue;
      }
      level.bounds[move * term_count_ + term] = sum;
      level.looked_up[move] = std::max(level.looked_up[move], sum);
      moves[kept++] = move;
    }
    cut(least_cut);
    return kept;
  }

  // False: the search is over, or given back.
  bool visit(std::uint16_t move) {
    if (levels_[static_cast<std::size_t>(level_)].looked_up[move] == 0) [[unlikely]] {
      way_.push_back(move);
      const bool goal = bound_of(problem_, board_after(way_)) == 0;
      if (goal) solved();
      way_.pop_back();
      if (goal) return !limits_.first;
      if (limits_.bound == depth_) {
        cut(1);
        return true;
      }
    }
    if (result_.nodes >= limits_.budget) {
      put_back(move);
      for (; level_ >= 0; leave()) {
        Level& level = levels_[static_cast<std::size_t>(level_)];
        while (level.next < level.open.size()) put_back(level.open[level.next++]);
      }
      return false;
    }
    enter(move);
    return true;
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
  const std::size_t move_words_, move_count_, term_count_;
  bool steady_;  // no move changes a map's distance by more than 1
  std::size_t width_ = 0, most_maps_ = 1;
  std::vector<LookUps> terms_;
  const WalkRoot* root_ = nullptr;
  int level_ = -1;  // of the board whose moves are tried
  int depth_ = 0;   // of the boards that they lead to
  std::vector<Level> levels_;
  std::vector<std::uint32_t> root_values_;
  std::vector<int> root_bounds_;
  std::vector<Key> keys_;                // by map of a term and child
  std::vector<std::uint32_t> sequence_;  // of terms
  Way way_;
  WalkResult result_;
};

}  // namespace

std::optional<CoordinateBounds> CoordinateBounds::of(const BoardMoves& moves, const BoardBounds& bounds) {
  if (moves.blanked() || !bounds.maps_alone()) return {};
  CoordinateBounds out;
  for (const MapTable& map : bounds.maps()) {
    auto coordinates = MapCoordinates::of(moves, map);
    if (!coordinates) return {};
    out.maps.push_back(std::move(*coordinates));
  }
  for (const auto& term : bounds.terms())
    if (!term.empty()) out.terms.emplace_back(term.begin(), term.end());
  return out.terms.empty() ? std::nullopt : std::optional(std::move(out));
}

WalkResult walk_by_coordinates(const WalkProblem& problem, const WalkRoot& root, const WalkLimits& limits) {
  return CoordinateDescent(problem, limits).run(root);
}

}  // namespace farthest
