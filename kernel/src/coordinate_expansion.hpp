// The children of some boards, generated together by coordinates of maps.
//
// In stages: the keys of one term are worked out for all children, and their distances asked for, before the
// first is compared with the bound; those that it leaves go on to the next term. The term that was greatest
// for the board comes first. No move changes a distance by more than 1, so another term is left out where it
// cannot cut off a child, alone or with the terms that it is tied to. What all terms leave is looked up by
// its inverse, unless the move leaves the key of that as it is: then the value is the board's own, and cuts
// the child off before anything is looked up.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "farthest/walk.hpp"

namespace farthest {

class Expansion {
 public:
  // A board whose moves are tried, and its children by move.
  struct Board {
    std::vector<std::uint64_t> forbidden;  // bits of moves
    std::vector<std::uint16_t> open;       // the moves that the bound leaves
    std::vector<std::uint32_t> values;     // by move: the coordinates
    std::vector<int> bounds;               // by move and term: the value, or more where it is not looked up
    std::vector<int> looked_up;            // by move: 0 where it may be a goal
    std::vector<std::uint32_t> sequence;   // of terms
    std::vector<Key> keys;                 // by map of a term and child
    std::vector<std::uint8_t> ties;        // by move: tied terms that are as great as the bound leaves
    InverseLookUps::Inverse inverse;       // of the board
    std::vector<Key> inverse_keys;         // by child and map
    std::vector<int> inverse_values;       // by move and map
    const std::uint32_t* own_values;       // of the board itself, in its parent
    const int* own_bounds;
    const int* own_inverse;
  };

  explicit Expansion(const WalkProblem& problem)
      : coordinates_(*problem.coordinates),
        inverse_(coordinates_.inverse ? &*coordinates_.inverse : nullptr),
        width_(coordinates_.width),
        slots_(static_cast<std::size_t>(problem.moves.slots())),
        move_words_(static_cast<std::size_t>(problem.moves.move_words())),
        move_count_(static_cast<std::size_t>(problem.moves.count())),
        term_count_(coordinates_.terms.size()),
        steady_(problem.order.has_value()) {
    for (const auto& term : coordinates_.terms) {
      LookUps& look_ups = terms_.emplace_back();
      for (const std::size_t map : term) {
        const MapCoordinates& coordinates = coordinates_.maps[map];
        look_ups.maps.push_back({&coordinates, &coordinates.map().table});
        look_ups.floor = coordinates.map().table.floor();
        look_ups.steady = look_ups.steady && !coordinates.map().table.shares();
        reduced_ = reduced_ || coordinates.map().table.representatives() != nullptr;
        most_maps_ = std::max(most_maps_, look_ups.maps.size());
      }
    }
    for (int m = 0; m < problem.moves.count(); ++m) steady_ = steady_ && problem.moves.back(m) >= 0;
    for (std::size_t i = 0; inverse_ != nullptr && i < inverse_->maps().size(); ++i) {
      const MapCoordinates& coordinates = inverse_->map(i);
      inverse_maps_.push_back({&coordinates, &coordinates.map().table});
    }
    root_inverse_.resize(inverse_maps_.size());
    for (const bool tied : coordinates_.tied) tied_count_ += tied ? 1 : 0;
  }

  // Room for a board and its children.
  Board made() const {
    Board board{};
    board.forbidden.resize(move_words_);
    board.open.reserve(move_count_);
    board.values.resize(move_count_ * width_ + 1);
    board.bounds.resize(move_count_ * term_count_);
    board.looked_up.resize(move_count_);
    board.sequence.resize(term_count_);
    board.keys.resize(most_maps_ * move_count_);
    board.ties.resize(move_count_);
    if (inverse_ != nullptr) board.inverse.resize(slots_);
    board.inverse_keys.resize(inverse_maps_.size() * move_count_);
    board.inverse_values.resize(inverse_maps_.size() * move_count_);
    return board;
  }

  // Makes `out` a board; values: of all maps, by number.
  void begin(const std::uint8_t* board, const int* values, Board& out) {
    root_values_.resize(width_ + 1);
    root_bounds_.clear();
    for (std::size_t t = 0; t < term_count_; ++t) {
      int sum = 0;
      for (const std::size_t map : coordinates_.terms[t]) sum += std::max(values[map], terms_[t].floor);
      root_bounds_.push_back(sum);
      for (const auto& map : terms_[t].maps) map.coordinates->start(board, root_values_.data());
    }
    out.own_values = root_values_.data();
    out.own_bounds = root_bounds_.data();
    out.own_inverse = root_inverse_.data();
    if (inverse_ == nullptr) return;
    out.inverse = inverse_->start(board);
    inverse_->keys(out.inverse, out.inverse_keys.data());
    for (std::size_t i = 0; i < inverse_maps_.size(); ++i) {
      const DistanceTable& table = *inverse_maps_[i].table;
      Key key = out.inverse_keys[i];
      if (table.representatives() != nullptr) table.representatives()->locate(&key, 1);
      root_inverse_[i] = table.bound(key);
    }
  }

  // Makes `out` the child of an expanded board, except for what is forbidden.
  void step(const Board& from, std::uint16_t move, Board& out) const {
    out.own_values = from.values.data() + move * width_;
    out.own_bounds = from.bounds.data() + move * term_count_;
    out.own_inverse = from.inverse_values.data() + move * inverse_maps_.size();
    if (inverse_ != nullptr) inverse_->step(move, from.inverse, out.inverse);
  }

  // Generates the children; those that need more than `most` moves are not open.
  void expand(std::span<Board> boards, int most) {
    least_cut_ = kUnreachable;
    for (Board& board : boards) open_all(board, most);
    for (std::size_t place = 0; place < term_count_; ++place) {
      for (Board& board : boards)
        if (!board.open.empty()) ask(board, place, most);
      if (reduced_)
        for (Board& board : boards)
          if (!board.open.empty()) locate(board, place, most);
      for (Board& board : boards)
        if (!board.open.empty()) compare(board, place, most);
    }
    if (most < 1) return;
    if (tied_count_ != 0)
      for (Board& board : boards) part_ties(board, most);
    if (inverse_ == nullptr) return;
    for (Board& board : boards) ask_inverse(board, most);
    if (reduced_)
      for (Board& board : boards) locate_inverse(board);
    for (Board& board : boards) compare_inverse(board, most);
  }

  // Children generated so far; the least value of those that the last expand() cut off, or kUnreachable.
  std::uint64_t nodes() const { return nodes_; }
  int least_cut() const { return least_cut_; }

 private:
  // A term of the bound, as it is looked up: maps, and where their coordinates begin. Values of a single map
  // that are no greater than the floor prove nothing.
  struct LookUps {
    struct Map {
      const MapCoordinates* coordinates;
      const DistanceTable* table;
    };
    std::vector<Map> maps;
    int floor = -1;
    bool steady = true;  // no move changes a value by more than 1 if none changes a distance by more
  };
  struct InverseMap {
    const MapCoordinates* coordinates;
    const DistanceTable* table;
  };
  static constexpr int kAsked = -1;  // a value that is not looked up yet

  // All moves that may be tried, but for those that the board's own inverse cuts off.
  void open_all(Board& board, int most) {
    board.open.clear();
    for (std::size_t i = 0; i < move_words_; ++i) {
      std::uint64_t rest = ~board.forbidden[i];
      if (i + 1 == move_words_ && move_count_ % 64 != 0) rest &= (std::uint64_t{1} << move_count_ % 64) - 1;
      nodes_ += static_cast<std::uint64_t>(std::popcount(rest));
      rest &= ~cut_by_own_inverse(board, i, rest, most);
      for (; rest != 0; rest &= rest - 1) {
        board.open.push_back(
            static_cast<std::uint16_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(rest))));
        board.looked_up[board.open.back()] = 0;
        board.ties[board.open.back()] = 0;
      }
    }
    arrange(board);
  }

  // Bits of the moves in a word that leave keys of the inverse as they are, whose values are too great.
  std::uint64_t cut_by_own_inverse(const Board& board, std::size_t word, std::uint64_t moves, int most) {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < inverse_maps_.size(); ++i) {
      if (board.own_inverse[i] <= most) continue;
      const std::uint64_t some = inverse_->leave(i)[word] & moves;
      if (some != 0) cut(board.own_inverse[i]);
      out |= some;
    }
    const auto& tied = coordinates_.inverse_tied;
    if (most < 1 || tied.empty()) return out;
    std::uint64_t some = moves & ~out;
    for (const std::size_t i : tied) some &= board.own_inverse[i] == most ? inverse_->leave(i)[word] : 0;
    if (some != 0) cut(most + 1);
    return out | some;
  }

  bool comes_before(const Board& board, std::size_t term, std::size_t other) const {
    if (coordinates_.coarse[term] != coordinates_.coarse[other]) return coordinates_.coarse[other];
    return board.own_bounds[other] < board.own_bounds[term];
  }

  // The terms, the greatest first; last those that follow from others.
  void arrange(Board& board) const {
    for (std::size_t t = 0; t < term_count_; ++t) {
      std::size_t place = t;
      for (; place > 0 && comes_before(board, t, board.sequence[place - 1]); --place)
        board.sequence[place] = board.sequence[place - 1];
      board.sequence[place] = static_cast<std::uint32_t>(t);
    }
  }

  // What the term is at most for a child, and whether it must be looked up.
  int risen(const Board& board, std::size_t term) const {
    return board.own_bounds[term] + static_cast<int>(terms_[term].maps.size());
  }
  bool looks_up(const Board& board, std::size_t place, int most) const {
    const std::size_t term = board.sequence[place];
    const int cuts_from = coordinates_.tied[term] ? most : most + 1;
    if (most > coordinates_.until[term]) return false;
    return place == 0 || !steady_ || !terms_[term].steady || risen(board, term) >= cuts_from;
  }

  // The children's coordinates and keys of a term; asks memory for what is read next.
  void ask(Board& board, std::size_t place, int most) const {
    const std::size_t count = board.open.size(), term = board.sequence[place];
    const bool wanted = looks_up(board, place, most);
    if (!wanted && coordinates_.coarse[term]) return;
    Key* keys = board.keys.data();
    for (const auto& map : terms_[term].maps) {
      map.coordinates->step(board.own_values, board.open.data(), count, board.values.data(), width_, keys);
      if (place == 0 && coordinates_.goal_sums[term] != kNoKey)
        for (std::size_t i = 0; i < count; ++i)
          board.looked_up[board.open[i]] = keys[i] != coordinates_.goal_sums[term];
      if (wanted) {
        if (map.table->representatives() != nullptr)
          for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(map.coordinates->told(keys[i]));
        else
          for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(map.table->place(keys[i]));
      }
      keys += move_count_;
    }
  }

  // The entries of keys in maps kept by representatives; asks memory for their distances.
  void locate(Board& board, std::size_t place, int most) const {
    if (!looks_up(board, place, most)) return;
    Key* keys = board.keys.data();
    for (const auto& map : terms_[board.sequence[place]].maps) {
      if (map.table->representatives() != nullptr) {
        map.table->representatives()->locate(keys, board.open.size());
        for (std::size_t i = 0; i < board.open.size(); ++i) __builtin_prefetch(map.table->place(keys[i]));
      }
      keys += move_count_;
    }
  }

  // Leaves open what a term does not cut off.
  void compare(Board& board, std::size_t place, int most) {
    const std::size_t term = board.sequence[place];
    if (!looks_up(board, place, most)) {
      for (const auto move : board.open) board.bounds[move * term_count_ + term] = risen(board, term);
      return;
    }
    std::size_t kept = 0;
    int least_cut = kUnreachable;
    const int floor = terms_[term].floor, greatest = std::max(most, floor);
    for (std::size_t i = 0; i < board.open.size(); ++i) {
      const std::uint16_t move = board.open[i];
      int sum = 0;
      const Key* key = board.keys.data() + i;
      for (const auto& map : terms_[term].maps) {
        sum = std::min(sum + map.table->clamped(*key), kUnreachable);
        key += move_count_;
      }
      if (sum > greatest) {
        least_cut = std::min(least_cut, sum);
        continue;
      }
      board.bounds[move * term_count_ + term] = sum;
      if (sum > floor) board.looked_up[move] = std::max(board.looked_up[move], sum);
      if (sum == most && sum > floor && coordinates_.tied[term]) ++board.ties[move];
      board.open[kept++] = move;
    }
    board.open.resize(kept);
    cut(least_cut);
  }

  // Leaves open what has a tied term that is less than the others.
  void part_ties(Board& board, int most) {
    const auto out = std::ranges::remove_if(
        board.open, [&](std::uint16_t move) { return board.ties[move] == tied_count_; });
    if (out.empty()) return;
    board.open.erase(out.begin(), out.end());
    cut(most + 1);
  }

  // The keys of the children's inverses that a move has changed, and values of the others.
  void ask_inverse(Board& board, int most) const {
    Key* keys = board.inverse_keys.data();
    std::size_t count = inverse_maps_.size();
    while (count > 0 && most > coordinates_.inverse_until[count - 1]) --count;
    for (const std::uint16_t move : board.open) {
      int* values = board.inverse_values.data() + move * inverse_maps_.size();
      inverse_->keys(move, board.inverse, count, keys);
      for (std::size_t i = 0; i < inverse_maps_.size(); ++i, ++keys) {
        const InverseMap& map = inverse_maps_[i];
        const bool known = inverse_->leaves(move, i) && board.own_inverse[i] != 0;
        values[i] = known ? board.own_inverse[i] : most > coordinates_.inverse_until[i] ? 0 : kAsked;
        if (values[i] != kAsked) continue;
        if (map.table->representatives() != nullptr)
          __builtin_prefetch(map.coordinates->told(*keys));
        else
          __builtin_prefetch(map.table->place(*keys));
      }
    }
  }

  void locate_inverse(Board& board) const {
    Key* key = board.inverse_keys.data();
    for (const std::uint16_t move : board.open) {
      const int* values = board.inverse_values.data() + move * inverse_maps_.size();
      for (std::size_t i = 0; i < inverse_maps_.size(); ++i, ++key) {
        const DistanceTable& table = *inverse_maps_[i].table;
        if (values[i] != kAsked || table.representatives() == nullptr) continue;
        table.representatives()->locate(key, 1);
        __builtin_prefetch(table.place(*key));
      }
    }
  }

  void compare_inverse(Board& board, int most) {
    const auto& tied = coordinates_.inverse_tied;
    const Key* keys = board.inverse_keys.data();
    std::size_t kept = 0;
    for (const std::uint16_t move : board.open) {
      int* values = board.inverse_values.data() + move * inverse_maps_.size();
      int greatest = 0, least = kUnreachable;
      for (std::size_t i = 0; i < inverse_maps_.size(); ++i, ++keys) {
        if (values[i] == kAsked) values[i] = inverse_maps_[i].table->bound(*keys);
        greatest = std::max(greatest, values[i]);
      }
      if (greatest == most && !tied.empty()) {
        for (const std::size_t i : tied) least = std::min(least, values[i]);
        if (least == most) ++greatest;
      }
      if (greatest > most)
        cut(greatest);
      else
        board.open[kept++] = move;
    }
    board.open.resize(kept);
  }

  void cut(int value) { least_cut_ = std::min(least_cut_, value); }

  const CoordinateBounds& coordinates_;
  const InverseLookUps* inverse_;  // none: null
  const std::size_t width_, slots_, move_words_, move_count_, term_count_;
  std::vector<LookUps> terms_;
  std::vector<InverseMap> inverse_maps_;
  int tied_count_ = 0;
  bool steady_;           // no move changes a map's distance by more than 1
  bool reduced_ = false;  // a map is kept by representatives
  std::size_t most_maps_ = 1;
  std::vector<std::uint32_t> root_values_;
  std::vector<int> root_bounds_, root_inverse_;
  std::uint64_t nodes_ = 0;
  int least_cut_ = kUnreachable;
};

}  // namespace farthest
