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
    const MapTable* table;
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
        inverse_(problem.coordinates->inverse ? &*problem.coordinates->inverse : nullptr),
        term_count_(problem.coordinates->terms.size()),
        steady_(order_ != nullptr) {
    for (const auto& term : problem.coordinates->terms) {
      LookUps& look_ups = terms_.emplace_back();
      for (const std::size_t map : term) {
        const MapCoordinates& coordinates = problem.coordinates->maps[map];
        look_ups.maps.push_back({&coordinates, &coordinates.map(), width_});
        reduced_ = reduced_ || coordinates.map().representatives;
        width_ += coordinates.size();
        most_maps_ = std::max(most_maps_, look_ups.maps.size());
      }
    }
    for (int m = 0; m < problem.moves.count(); ++m) steady_ = steady_ && problem.moves.back(m) >= 0;
    for (std::size_t i = 0; inverse_ != nullptr && i < inverse_->maps().size(); ++i) {
      const MapCoordinates& coordinates = inverse_->map(i);
      inverse_maps_.push_back({&coordinates, &coordinates.map()});
    }
    for (const bool tied : problem.coordinates->tied) tied_count_ += tied ? 1 : 0;
  }

  WalkResult run(const WalkRoot& root) {
    root_ = &root;
    depth_ = root.depth;
    way_ = root.before;
    if (!judge_root()) return std::move(result_);
    begin();
    while (level_ >= 0) {
      Expanded& board = here();
      if (board.next == board.open.size())
        leave();
      else if (!visit(board.next++))
        break;
    }
    return std::move(result_);
  }

 private:
  // How many siblings are expanded together.
  static constexpr std::size_t kTogether = 16;

  struct InverseMap {
    const MapCoordinates* coordinates;
    const MapTable* table;
  };
  // A board whose moves are tried, and its children by move.
  struct Expanded {
    std::vector<std::uint64_t> forbidden;  // bits of moves
    std::vector<std::uint16_t> open;       // the moves that the bound leaves
    std::size_t next = 0;                  // of `open`
    std::size_t ready = 0;                 // the first of `open` whose children are not generated
    std::vector<std::uint32_t> values;     // by move: the coordinates
    std::vector<int> bounds;               // by move and term: the value, or more where it is not looked up
    std::vector<int> looked_up;            // by move: the greatest value looked up
    std::vector<std::uint32_t> sequence;   // of terms
    std::vector<Key> keys;                 // by map of a term and child
    std::vector<std::uint8_t> ties;        // by move: tied terms that are as great as the bound leaves
    InverseLookUps::Inverse inverse;       // of the board
    std::vector<Key> inverse_keys;         // by child and map
    const std::uint32_t* own_values;       // of the board itself, in its parent
    const int* own_bounds;
  };
  // Boards of one depth: siblings, of which one is searched below.
  struct Level {
    std::vector<Expanded> boards;
    std::size_t at = 0;
  };

  Expanded& here() {
    Level& level = levels_[static_cast<std::size_t>(level_)];
    return level.boards[level.at];
  }

  // Room for a board at a level.
  Expanded& room(int number, std::size_t place) {
    const auto levels = static_cast<std::size_t>(number) + 1;
    if (levels_.size() < levels) [[unlikely]]
      levels_.resize(levels);
    Level& level = levels_[static_cast<std::size_t>(number)];
    while (level.boards.size() <= place) [[unlikely]] {
      Expanded& board = level.boards.emplace_back();
      board.forbidden.resize(move_words_);
      board.open.reserve(move_count_);
      board.values.resize(move_count_ * width_ + 1);
      board.bounds.resize(move_count_ * term_count_);
      board.looked_up.resize(move_count_);
      board.sequence.resize(term_count_);
      board.keys.resize(most_maps_ * move_count_);
      board.ties.resize(move_count_);
      if (inverse_ != nullptr) board.inverse.resize(static_cast<std::size_t>(problem_.moves.slots()));
      board.inverse_keys.resize(inverse_maps_.size() * move_count_);
    }
    return level.boards[place];
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
    Expanded& board = room(0, 0);
    board.forbidden = std::move(forbidden);
    board.own_values = root_values_.data();
    board.own_bounds = root_bounds_.data();
    if (inverse_ != nullptr) board.inverse = inverse_->start(root_->board.data());
    level_ = 0;
    ++depth_;
    expand(levels_[0], 0, 1, depth_);
  }

  void forbid_back(int last, std::uint64_t* out) const {
    std::fill_n(out, move_words_, 0);
    const int back = last < 0 ? -1 : problem_.moves.back(last);
    if (back >= 0) out[back / 64] |= std::uint64_t{1} << (back % 64);
  }

  // Expands the open children of here() from `first` on that are no goals, some of them together.
  void prepare(std::size_t first) {
    room(level_ + 1, kTogether - 1);
    const Expanded& from = here();
    Level& below = levels_[static_cast<std::size_t>(level_) + 1];
    std::size_t count = 0;
    for (std::size_t i = first; i < from.open.size() && count < kTogether; ++i, ++count) {
      const std::uint16_t move = from.open[i];
      if (i > first && from.looked_up[move] == 0) break;
      Expanded& board = below.boards[count];
      if (order_ != nullptr)
        order_->after(move, from.forbidden.data(), board.forbidden.data());
      else
        forbid_back(move, board.forbidden.data());
      board.own_values = from.values.data() + move * width_;
      board.own_bounds = from.bounds.data() + move * term_count_;
      if (inverse_ != nullptr) inverse_->step(move, from.inverse, board.inverse);
    }
    expand(below, 0, count, depth_ + 1);
    here().ready = first + count;
    below.at = 0;
  }

  void leave() {
    --level_;
    --depth_;
    if (level_ >= 0) {
      way_.pop_back();
      ++levels_[static_cast<std::size_t>(level_) + 1].at;
    }
  }

  // Generates the children of boards of a level, which are `depth` moves from where the bound is counted
  // from.
  void expand(Level& level, std::size_t first, std::size_t last, int depth) {
    const int most = limits_.bound - depth;
    for (std::size_t i = first; i < last; ++i) open_all(level.boards[i]);
    for (std::size_t place = 0; place < term_count_; ++place) {
      for (std::size_t i = first; i < last; ++i)
        if (!level.boards[i].open.empty()) ask(level.boards[i], place, most);
      for (std::size_t i = first; reduced_ && i < last; ++i)
        if (!level.boards[i].open.empty()) locate(level.boards[i], place, most);
      for (std::size_t i = first; i < last; ++i)
        if (!level.boards[i].open.empty()) compare(level.boards[i], place, most, depth);
    }
    if (most < 1) return;
    if (tied_count_ != 0)
      for (std::size_t i = first; i < last; ++i) part_ties(level.boards[i], most, depth);
    if (inverse_ == nullptr) return;
    for (std::size_t i = first; i < last; ++i) ask_inverse(level.boards[i]);
    for (std::size_t i = first; reduced_ && i < last; ++i) locate_inverse(level.boards[i]);
    for (std::size_t i = first; i < last; ++i) compare_inverse(level.boards[i], most, depth);
  }

  // All moves that may be tried.
  void open_all(Expanded& board) {
    board.next = board.ready = 0;
    board.open.clear();
    for (std::size_t i = 0; i < move_words_; ++i) {
      std::uint64_t rest = ~board.forbidden[i];
      if (i + 1 == move_words_ && move_count_ % 64 != 0) rest &= (std::uint64_t{1} << move_count_ % 64) - 1;
      for (; rest != 0; rest &= rest - 1) {
        board.open.push_back(
            static_cast<std::uint16_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(rest))));
        board.looked_up[board.open.back()] = 0;
        board.ties[board.open.back()] = 0;
      }
    }
    result_.nodes += board.open.size();
    arrange(board);
  }

  // The terms, the greatest first.
  void arrange(Expanded& board) const {
    for (std::size_t t = 0; t < term_count_; ++t) {
      std::size_t place = t;
      for (; place > 0 && board.own_bounds[board.sequence[place - 1]] < board.own_bounds[t]; --place)
        board.sequence[place] = board.sequence[place - 1];
      board.sequence[place] = static_cast<std::uint32_t>(t);
    }
  }

  // What the term is at most for a child, and whether it must be looked up.
  int risen(const Expanded& board, std::size_t term) const {
    return board.own_bounds[term] + static_cast<int>(terms_[term].maps.size());
  }
  bool looks_up(const Expanded& board, std::size_t place, int most) const {
    const std::size_t term = board.sequence[place];
    const int cuts_from = problem_.coordinates->tied[term] ? most : most + 1;
    return place == 0 || !steady_ || risen(board, term) >= cuts_from;
  }

  // The children's coordinates and keys of a term; asks memory for what is read next.
  void ask(Expanded& board, std::size_t place, int most) const {
    const std::size_t count = board.open.size();
    Key* keys = board.keys.data();
    for (const auto& map : terms_[board.sequence[place]].maps) {
      map.coordinates->step(board.own_values + map.first, board.open.data(), count,
                            board.values.data() + map.first, width_, keys);
      if (looks_up(board, place, most)) {
        if (map.table->representatives)
          for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(map.coordinates->told(keys[i]));
        else
          for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(map.table->place(keys[i]));
      }
      keys += move_count_;
    }
  }

  // The entries of keys in maps kept by representatives; asks memory for their distances.
  void locate(Expanded& board, std::size_t place, int most) const {
    if (!looks_up(board, place, most)) return;
    Key* keys = board.keys.data();
    for (const auto& map : terms_[board.sequence[place]].maps) {
      if (map.table->representatives) {
        map.table->representatives->locate(keys, board.open.size());
        for (std::size_t i = 0; i < board.open.size(); ++i) __builtin_prefetch(map.table->place(keys[i]));
      }
      keys += move_count_;
    }
  }

  // Leaves open what a term does not cut off.
  void compare(Expanded& board, std::size_t place, int most, int depth) {
    const std::size_t term = board.sequence[place];
    if (!looks_up(board, place, most)) {
      for (const auto move : board.open) board.bounds[move * term_count_ + term] = risen(board, term);
      return;
    }
    std::size_t kept = 0;
    int least_cut = kUnreachable;
    for (std::size_t i = 0; i < board.open.size(); ++i) {
      const std::uint16_t move = board.open[i];
      int sum = 0;
      const Key* key = board.keys.data() + i;
      for (const auto& map : terms_[term].maps) {
        sum = std::min(sum + map.table->distance(*key), kUnreachable);
        key += move_count_;
      }
      if (sum > most) {
        least_cut = std::min(least_cut, sum);
        continue;
      }
      board.bounds[move * term_count_ + term] = sum;
      board.looked_up[move] = std::max(board.looked_up[move], sum);
      if (sum == most && problem_.coordinates->tied[term]) ++board.ties[move];
      board.open[kept++] = move;
    }
    board.open.resize(kept);
    cut(least_cut, depth);
  }

  // Leaves open what has a tied term that is less than the others.
  void part_ties(Expanded& board, int most, int depth) {
    const auto out = std::ranges::remove_if(
        board.open, [&](std::uint16_t move) { return board.ties[move] == tied_count_; });
    if (out.empty()) return;
    board.open.erase(out.begin(), out.end());
    cut(most + 1, depth);
  }

  void ask_inverse(Expanded& board) const {
    Key* keys = board.inverse_keys.data();
    for (const std::uint16_t move : board.open) {
      inverse_->keys(move, board.inverse, keys);
      for (const InverseMap& map : inverse_maps_) {
        if (map.table->representatives)
          __builtin_prefetch(map.coordinates->told(*keys++));
        else
          __builtin_prefetch(map.table->place(*keys++));
      }
    }
  }

  void locate_inverse(Expanded& board) const {
    Key* key = board.inverse_keys.data();
    for (std::size_t i = 0; i < board.open.size(); ++i)
      for (const InverseMap& map : inverse_maps_) {
        if (map.table->representatives) {
          map.table->representatives->locate(key, 1);
          __builtin_prefetch(map.table->place(*key));
        }
        ++key;
      }
  }

  void compare_inverse(Expanded& board, int most, int depth) {
    const auto& tied = problem_.coordinates->inverse_tied;
    const Key* keys = board.inverse_keys.data();
    const auto distance = [&](std::size_t i) { return inverse_maps_[i].table->distance(keys[i]); };
    std::size_t kept = 0;
    for (const std::uint16_t move : board.open) {
      int greatest = 0, least = kUnreachable;
      for (std::size_t i = 0; i < inverse_maps_.size(); ++i) greatest = std::max(greatest, distance(i));
      if (greatest == most && !tied.empty()) {
        for (const std::size_t i : tied) least = std::min(least, distance(i));
        if (least == most) ++greatest;
      }
      keys += inverse_maps_.size();
      if (greatest > most)
        cut(greatest, depth);
      else
        board.open[kept++] = move;
    }
    board.open.resize(kept);
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
      if (limits_.bound == depth_) {
        cut(1, depth_);
        return true;
      }
    }
    if (result_.nodes >= limits_.budget) {
      give_back(number);
      return false;
    }
    if (number >= here().ready) prepare(number);
    way_.push_back(move);
    ++level_;
    ++depth_;
    return true;
  }

  // What has not been searched, the deepest first: of boards whose children are generated these.
  void give_back(std::size_t number) {
    for (here().next = number; level_ >= 0; leave()) {
      Expanded& board = here();
      const Level* below =
          board.next < board.ready ? &levels_[static_cast<std::size_t>(level_) + 1] : nullptr;
      for (std::size_t place = below ? below->at : 0; board.next < board.open.size(); ++board.next, ++place) {
        const std::uint16_t move = board.open[board.next];
        if (board.next >= board.ready) {
          put_back(move);
          continue;
        }
        way_.push_back(move);
        for (const auto child : below->boards[place].open) put_back(child);
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
  const std::size_t move_words_, move_count_;
  const InverseLookUps* inverse_;  // none: null
  const std::size_t term_count_;
  std::vector<InverseMap> inverse_maps_;
  int tied_count_ = 0;
  bool steady_;           // no move changes a map's distance by more than 1
  bool reduced_ = false;  // a map is kept by representatives
  std::size_t width_ = 0, most_maps_ = 1;
  std::vector<LookUps> terms_;
  const WalkRoot* root_ = nullptr;
  int level_ = -1;  // of the board whose moves are tried
  int depth_ = 0;   // of the boards that they lead to
  std::vector<Level> levels_;
  std::vector<std::uint32_t> root_values_;
  std::vector<int> root_bounds_;
  Way way_;
  WalkResult result_;
};

}  // namespace

WalkResult walk_by_coordinates(const WalkProblem& problem, const WalkRoot& root, const WalkLimits& limits) {
  return CoordinateDescent(problem, limits).run(root);
}

}  // namespace farthest
