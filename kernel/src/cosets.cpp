#include "farthest/cosets.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace farthest {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};
constexpr int kMostDistance = 255;
constexpr std::size_t kTogether = 256;  // nodes

// The moves as those of pieces that are all alike but for their places: the points.
BoardMoves moves_of_points(std::size_t points, const std::vector<Cosets::Element>& moves) {
  if (points < 2 || points > Cosets::kMostPoints) throw InvalidArgument("there must be 2 to 64 points");
  if (moves.empty() || moves.size() > Cosets::kMostMoves)
    throw InvalidArgument("there must be 1 to 64 moves");
  std::vector<Move> made;
  for (const auto& images : moves) {
    Move& move = made.emplace_back();
    for (const auto image : images) move.to.push_back(static_cast<std::uint8_t>(std::min<int>(image, 255)));
  }
  const auto slots = static_cast<int>(points);
  return {slots, slots, {}, {}, made};
}

std::vector<Cosets::Element> chosen(const std::vector<Cosets::Element>& moves, const std::vector<bool>& own) {
  if (own.size() != moves.size()) throw InvalidArgument("for each move it must be told whether it is in H");
  std::vector<Cosets::Element> found;
  for (std::size_t move = 0; move < moves.size(); ++move)
    if (own[move]) found.push_back(moves[move]);
  return found;
}

}  // namespace

Cosets::Cosets(std::size_t points, std::vector<GroupLevel> levels, const std::vector<Element>& moves,
               const std::vector<bool>& own, const std::vector<Element>& symmetries, std::uint32_t most)
    : subgroup_(points, std::move(levels), chosen(moves, own)),
      moves_(moves),
      order_(moves_of_points(points, moves)),
      all_moves_(~std::uint64_t{0} >> (64 - moves.size())),
      stride_(kNexts + moves.size()) {
  for (std::size_t move = 0; move < moves.size(); ++move)
    if (own[move]) own_moves_ |= std::uint64_t{1} << move;
  find(most);
  compare();
  classify(symmetries);
}

std::uint32_t Cosets::checked(std::uint32_t coset) const {
  if (coset >= count()) throw InvalidArgument("there is no such coset");
  return coset;
}

std::size_t Cosets::slot(std::span<const std::uint16_t> least) const {
  std::uint64_t hash = 0;
  for (const auto image : least) hash = (hash ^ image) * 0x9e3779b97f4a7c15u + (hash >> 29);
  std::size_t at = (hash ^ hash >> 32) & (slots_.size() - 1);
  const auto equal = [&](std::uint32_t coset) {
    return std::ranges::equal(least, std::span(least_).subspan(coset * least.size(), least.size()));
  };
  while (slots_[at] != kNone && !equal(slots_[at])) at = (at + 1) & (slots_.size() - 1);
  return at;
}

void Cosets::widen() {
  slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), kNone);
  Element least(subgroup_.points());
  for (std::uint32_t coset = 0; coset < count(); ++coset) {
    std::copy_n(least_.begin() + static_cast<std::ptrdiff_t>(coset * least.size()), least.size(),
                least.begin());
    slots_[slot(least)] = coset;
  }
}

std::uint32_t Cosets::coset_of(const Element& element) const {
  if (element.size() != subgroup_.points()) throw InvalidArgument("an element has another number of points");
  if (std::ranges::any_of(element, [&](auto image) { return image >= element.size(); }))
    throw InvalidArgument("an element has points that there are not");
  Element least = element;
  subgroup_.make_least(least);
  const std::uint32_t coset = slots_[slot(least)];
  if (coset == kNone) throw InvalidArgument("moves do not make this element");
  return coset;
}

// All cosets, by their distance from H, and where moves take them. (From H to a coset and back take equally
// many moves, since the inverses of moves are moves.)
void Cosets::find(std::uint32_t most) {
  const std::size_t points = subgroup_.points();
  for (int i = 0; i < static_cast<int>(moves_.size()); ++i) {
    const auto back = [&](const Element& other) {
      for (std::size_t point = 0; point < points; ++point)
        if (other[moves_[static_cast<std::size_t>(i)][point]] != point) return false;
      return true;
    };
    if (std::ranges::none_of(moves_, back)) throw InvalidArgument("the inverse of a move is no move");
  }
  Element element(points), after(points);
  const auto add = [&](std::span<const std::uint16_t> least, int depth, std::size_t move) {
    if (count() == most) throw LimitExceeded("there are more than " + std::to_string(most) + " cosets");
    if (depth > kMostDistance) throw LimitExceeded("a coset is more than 255 moves away");
    if (2 * (count() + std::size_t{1}) > slots_.size()) widen();
    slots_[slot(least)] = count();
    for (const auto image : least) least_.push_back(static_cast<std::uint8_t>(image));
    depths_.push_back(static_cast<std::uint8_t>(depth));
    from_.push_back(static_cast<std::uint8_t>(move));
  };
  for (std::size_t point = 0; point < points; ++point) after[point] = static_cast<std::uint16_t>(point);
  subgroup_.make_least(after);
  add(after, 0, 0);
  for (std::uint32_t coset = 0; coset < count(); ++coset) {
    rows_.resize(rows_.size() + kNexts);
    for (std::size_t point = 0; point < points; ++point) element[point] = least_[coset * points + point];
    for (std::size_t move = 0; move < moves_.size(); ++move) {
      for (std::size_t point = 0; point < points; ++point) after[point] = moves_[move][element[point]];
      subgroup_.make_least(after);
      if (slots_[slot(after)] == kNone) add(after, depths_[coset] + 1, move);
      rows_.push_back(slots_[slot(after)]);
    }
  }
}

// Which moves lead nearer.
void Cosets::compare() {
  for (std::uint32_t coset = 0; coset < count(); ++coset) {
    std::uint64_t nearer = 0, near = 0;
    for (std::size_t move = 0; move < moves_.size(); ++move) {
      const int there = depths_[next(coset, move)], here = depths_[coset];
      nearer |= std::uint64_t{there < here} << move;
      near |= std::uint64_t{there <= here} << move;
    }
    std::uint32_t* row = rows_.data() + coset * stride_;
    row[0] = static_cast<std::uint32_t>(nearer), row[1] = static_cast<std::uint32_t>(nearer >> 32);
    row[2] = static_cast<std::uint32_t>(near), row[3] = static_cast<std::uint32_t>(near >> 32);
  }
}

// Where a symmetry takes cosets follows from where it takes moves.
void Cosets::classify(const std::vector<Element>& symmetries) {
  classes_.resize(count());
  sizes_.resize(count());
  for (std::uint32_t coset = 0; coset < count(); ++coset) classes_[coset] = coset;
  std::vector<std::uint32_t> image(count());
  for (const Element& symmetry : symmetries) {
    if (symmetry.size() != moves_.size() ||
        std::ranges::any_of(symmetry, [&](auto move) { return move >= moves_.size(); }))
      throw InvalidArgument("a symmetry needs a move for each move");
    std::ranges::fill(image, kNone);
    image[0] = 0;
    for (std::uint32_t coset = 0; coset < count(); ++coset)  // each was found from one before it
      for (std::size_t move = 0; move < moves_.size(); ++move) {
        const std::uint32_t its = next(image[coset], symmetry[move]);
        const std::uint32_t before = std::exchange(image[next(coset, move)], its);
        if (before != kNone && before != its) throw InvalidArgument("a symmetry does not keep the cosets");
      }
    for (std::uint32_t coset = 0; coset < count(); ++coset)
      classes_[coset] = std::min(classes_[coset], image[coset]);
  }
  for (const auto first : classes_) ++sizes_[first];
  for (std::uint32_t coset = 0; coset < count(); ++coset)
    if (classes_[classes_[coset]] != classes_[coset]) throw InvalidArgument("the symmetries are not a group");
}

std::vector<std::uint32_t> Cosets::firsts() const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t coset = 0; coset < count(); ++coset)
    if (classes_[coset] == coset) found.push_back(coset);
  return found;
}

Way Cosets::way(std::uint32_t coset) const {
  Way way;
  for (checked(coset); coset != 0;) {
    const std::uint8_t move = from_[coset];
    way.push_back(move);
    std::size_t back = 0;
    while (next(next(coset, back), move) != coset) ++back;
    coset = next(coset, back);
  }
  std::ranges::reverse(way);
  return way;
}

CosetRun::CosetRun(const Cosets& cosets, const Cosets::Element& r, std::chrono::milliseconds slice)
    : cosets_(cosets), coset_(cosets.coset_of(r)), slice_(slice) {
  for (std::size_t level = 0; level < cosets.subgroup_.levels(); ++level)
    images_.push_back(r[cosets.subgroup_.base(level)]);
  const std::size_t words = (cosets.positions() + 63) / 64;
  reached_.resize(words);
  before_.resize(words);
  fresh_.resize(words);
}

std::uint64_t CosetRun::bit_of(std::span<const std::uint16_t> images) const {
  if (images.size() != cosets_.subgroup_.points())
    throw InvalidArgument("an element has another number of points");
  GroupExpander::Images bases;
  for (std::size_t level = 0; level < images_.size(); ++level) {
    bases[level] = images[cosets_.subgroup_.base(level)];
    if (bases[level] >= images.size()) throw InvalidArgument("an element has points that there are not");
  }
  return cosets_.subgroup_.key_of(bases);
}

std::optional<CosetRun::Found> CosetRun::advance(bool listed) {
  const Time until = std::chrono::steady_clock::now() + slice_;
  if (!under_way_) {
    if (listed && distance_ >= kMostListed)
      throw LimitExceeded("sequences of more than " + std::to_string(kMostListed) + " moves are not listed");
    found_ = {};
    ++distance_;
    std::swap(before_, fresh_);
    std::ranges::fill(fresh_, 0);
    word_ = 0;
    if (listed) begin_listing();
    under_way_ = true;
  }
  const bool pauses = word_ < before_.size() && left_ > 0 && !watched_.empty();
  if (!prepass(until) || pauses || !list(until)) return std::nullopt;
  mark(keys_, ways_);
  keys_.clear();
  ways_.clear();
  under_way_ = false;
  return found_;
}

// Whether it is done.
bool CosetRun::prepass(Time until) {
  constexpr std::size_t kBatch = 4096;
  std::vector<Key> from, to;
  while (word_ < before_.size()) {
    for (; word_ < before_.size() && from.size() < kBatch; ++word_)
      for (Word rest = before_[word_]; rest != 0; rest &= rest - 1)
        from.push_back(word_ * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
    cosets_.subgroup_.successors(from, to);
    mark(to);
    from.clear();
    to.clear();
    if (std::chrono::steady_clock::now() >= until) break;
  }
  return word_ == before_.size();
}

void CosetRun::begin_listing() {
  const int slack = distance_ - cosets_.distance(coset_);
  if (slack < 0) return;
  if (distance_ == 0) {
    GroupExpander::Images images;
    std::ranges::copy(images_, images);
    keys_.push_back(cosets_.subgroup_.key_of(images));
    ++found_.sequences;
    return;
  }
  left_ = top_ = static_cast<std::size_t>(distance_);
  levels_.resize(left_ + 1);
  levels_[left_].nodes.push_back({0, coset_, static_cast<std::uint32_t>(slack)});
  levels_[left_].images = images_;
  levels_[left_].way.clear();
}

// Depth first, but for what is kept until a level is full; then level by level. Whether it is done.
bool CosetRun::list(Time until) {
  while (left_ > 0) {
    Level& level = levels_[left_];
    bool full = false;
    while (!full && level.next < level.nodes.size())
      full = expand(level, level.next++, static_cast<int>(left_));
    if (full) {
      --left_;
      continue;
    }
    level.nodes.clear();
    level.images.clear();
    level.way.clear();
    level.next = 0;
    left_ = left_ == top_ ? --top_ : left_ + 1;
    if (std::chrono::steady_clock::now() >= until) break;
  }
  return left_ == 0;
}

// Whether the level below is full.
bool CosetRun::expand(const Level& level, std::size_t number, int left) {
  const Level::Node& node = level.nodes[number];
  const std::uint64_t nearer = cosets_.nearer(node.coset), near = cosets_.near(node.coset);
  const std::size_t bases = images_.size();
  const std::uint16_t* images = level.images.data() + number * bases;
  const auto add_way = [&, made = static_cast<std::size_t>(distance_ - left)](std::vector<std::uint8_t>& ways,
                                                                              std::size_t move) {
    if (watched_.empty()) return;
    const auto before = level.way.begin() + static_cast<std::ptrdiff_t>(number * made);
    ways.insert(ways.end(), before, before + static_cast<std::ptrdiff_t>(made));
    ways.push_back(static_cast<std::uint8_t>(move));
  };
  std::uint64_t moves = node.slack == 0 ? nearer : node.slack == 1 ? near : cosets_.all_moves_;
  moves &= ~node.forbidden;
  if (left == 1) {  // then they lead into H
    for (moves &= ~cosets_.own_moves_; moves != 0; moves &= moves - 1) {
      const auto number_of_move = static_cast<std::size_t>(std::countr_zero(moves));
      const std::uint16_t* move = cosets_.moves_[number_of_move].data();
      GroupExpander::Images after;
      for (std::size_t i = 0; i < bases; ++i) after[i] = move[images[i]];
      keys_.push_back(cosets_.subgroup_.key_of(after));
      add_way(ways_, number_of_move);
      ++found_.sequences;
    }
    if (keys_.size() >= kTogether) {
      mark(keys_, ways_);
      keys_.clear();
      ways_.clear();
    }
    return false;
  }
  Level& below = levels_[static_cast<std::size_t>(left) - 1];
  for (; moves != 0; moves &= moves - 1) {
    const auto move = static_cast<std::size_t>(std::countr_zero(moves));
    const std::uint32_t coset = cosets_.next(node.coset, move);
    __builtin_prefetch(cosets_.row(coset));
    std::uint64_t forbidden = 0;
    cosets_.order_.after(static_cast<int>(move), &node.forbidden, &forbidden);
    const auto nearness = static_cast<std::uint32_t>((nearer >> move & 1) + (near >> move & 1));
    below.nodes.push_back({forbidden, coset, node.slack + nearness - 2});
    add_way(below.way, move);
    for (std::size_t i = 0; i < bases; ++i) below.images.push_back(cosets_.moves_[move][images[i]]);
  }
  return below.nodes.size() >= kTogether;
}

// ways: to keys, one after another; none where they are not kept.
void CosetRun::mark(std::span<const Key> keys, std::span<const std::uint8_t> ways) {
  constexpr std::size_t kAhead = 64;
  for (std::size_t i = 0; i < keys.size() + kAhead; ++i) {
    if (i < keys.size()) __builtin_prefetch(&reached_[keys[i] / 64], 1);
    if (i < kAhead || i - kAhead >= keys.size()) continue;
    const Key key = keys[i - kAhead];
    const Word mask = Word{1} << (key % 64);
    Word& word = reached_[key / 64];
    if ((word & mask) != 0) continue;
    word |= mask;
    fresh_[key / 64] |= mask;
    ++found_.fresh;
    if (ways.empty() || !watched_.has(key)) continue;
    const auto way = ways.subspan((i - kAhead) * static_cast<std::size_t>(distance_));
    watched_.keep(key, {way.begin(), way.begin() + distance_});
  }
}

}  // namespace farthest
