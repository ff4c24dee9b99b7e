#include "farthest/group_expander.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>

namespace farthest {
namespace {

constexpr Key kMostElements = Key{1} << 62;
// Entries of a level's table: 16 megabytes, made in some hundredths of a second. Keys that are far apart take
// a quarter of the time that they take with an eighth of it.
constexpr std::size_t kMostEntries = std::size_t{1} << 21;
constexpr Key kMostProducts = Key{1} << 9;  // elements, each with each: a table that stays in the cache

bool is_permutation(std::span<const std::uint16_t> images) {
  std::vector<bool> met(images.size());
  for (const std::uint16_t image : images) {
    if (image >= images.size() || met[image]) return false;
    met[image] = true;
  }
  return true;
}

}  // namespace

// By level and move: the key's digits so far, and the change that is left.
struct GroupExpander::Work {
  Work(const GroupExpander& of, std::vector<Key>& to, std::size_t count)
      : moves(of.moves_.size()),
        points(of.points_),
        out(to),
        at(to.size()),
        keys(std::make_unique<Key[]>((of.levels_.size() + 1) * moves)),
        numbers(std::make_unique_for_overwrite<std::uint32_t[]>((of.levels_.size() + 1) * moves)),
        images(std::make_unique_for_overwrite<Point[]>(of.tables_ * moves * points)) {
    out.resize(at + count * moves);
  }

  Key* keys_of(std::size_t level) { return &keys[level * moves]; }
  std::uint32_t* numbers_of(std::size_t level) { return &numbers[level * moves]; }
  Point* images_of(std::size_t level, std::size_t move) { return &images[(level * moves + move) * points]; }

  std::size_t moves, points;
  std::vector<Key>& out;
  std::size_t at;
  std::unique_ptr<Key[]> keys;
  std::unique_ptr<std::uint32_t[]> numbers;
  std::unique_ptr<Point[]> images;
};

GroupExpander::GroupExpander(std::size_t points, std::vector<GroupLevel> levels,
                             const std::vector<std::vector<std::uint16_t>>& moves)
    : points_(points), moves_(moves) {
  if (points == 0 || points >= kNowhere) throw InvalidArgument("there must be 1 to 65,534 points");
  for (const auto& move : moves_)
    if (move.size() != points || !is_permutation(move)) throw InvalidArgument("a move is no permutation");
  check_and_take(levels);
  choose_tables();
  fill_tables();
}

void GroupExpander::check_and_take(std::vector<GroupLevel>& levels) {
  sizes_.assign(levels.size() + 1, 1);
  for (const GroupLevel& level : levels) {
    Level& made = levels_.emplace_back();
    made.base = level.base;
    made.ways = level.elements;
    made.radix = made.ways.size() / points_;
    if (made.base >= points_ || made.radix < 2 || made.ways.size() != made.radix * points_)
      throw InvalidArgument("a level needs a base point, and two elements or more");
    made.back.resize(made.ways.size());
    made.number.assign(points_, kNowhere);
    for (std::size_t digit = 0; digit < made.radix; ++digit) {
      const std::span images(&made.ways[digit * points_], points_);
      if (!is_permutation(images)) throw InvalidArgument("an element is no permutation");
      if (std::any_of(levels_.begin(), levels_.end() - 1, [&](auto& l) { return images[l.base] != l.base; }))
        throw InvalidArgument("an element moves the base point of a level before its own");
      if (made.number[images[made.base]] != kNowhere)
        throw InvalidArgument("two elements of a level take its base point to one point");
      made.number[images[made.base]] = static_cast<Point>(digit);
      for (std::size_t point = 0; point < points_; ++point)
        made.back[digit * points_ + images[point]] = static_cast<Point>(point);
    }
  }
  for (std::size_t level = levels_.size(); level-- > 0;) {
    if (sizes_[level + 1] > kMostElements / levels_[level].radix)
      throw LimitExceeded("there are more than 2^62 keys");
    sizes_[level] = sizes_[level + 1] * levels_[level].radix;
  }
}

void GroupExpander::choose_tables() {
  last_ = levels_.size();
  while (last_ > 0 && sizes_[last_ - 1] <= kMostProducts) --last_;
  tables_ = last_;
  while (tables_ > 0 && sizes_[tables_ - 1] <= kMostEntries / levels_[tables_ - 1].radix) --tables_;
}

// Calls use(element), as the images of all points, for the elements of the stabiliser that the level is of,
// in the order of their numbers.
template <class Use>
void GroupExpander::each_element(std::size_t level, const Use& use) const {
  const std::size_t depth = levels_.size() - level;
  std::vector<std::vector<Point>> made(depth + 1, std::vector<Point>(points_));
  std::iota(made[0].begin(), made[0].end(), Point{0});
  const auto choose = [&](const auto& self, std::size_t i) -> void {
    if (i == depth) return use(made[depth]);
    for (std::size_t digit = 0; digit < levels_[level + i].radix; ++digit) {
      const Point* element = way(level + i, digit);
      for (std::size_t point = 0; point < points_; ++point) made[i + 1][point] = made[i][element[point]];
      self(self, i + 1);
    }
  };
  choose(choose, 0);
}

void GroupExpander::fill_tables() {
  Images images;
  entries_.resize(levels_.size());
  for (std::size_t level = tables_; level < last_; ++level) {
    entries_[level].reserve(sizes_[level] * levels_[level].radix);
    each_element(level, [&](const std::vector<Point>& change) {
      for (std::size_t digit = 0; digit < levels_[level].radix; ++digit) {
        for (std::size_t i = level; i < levels_.size(); ++i)
          images[i] = change[way(level, digit)[levels_[i].base]];
        const Key number = number_of(level, images);
        entries_[level].push_back({static_cast<std::uint32_t>(number / sizes_[level + 1] * sizes_[level + 1]),
                                   static_cast<std::uint32_t>(number % sizes_[level + 1])});
      }
    });
  }
  std::vector<std::vector<Point>> bases;  // the images of the base points under each element
  each_element(last_, [&](const std::vector<Point>& element) {
    auto& base = bases.emplace_back();
    for (std::size_t i = last_; i < levels_.size(); ++i) base.push_back(element[levels_[i].base]);
  });
  products_.reserve(bases.size() * bases.size());
  each_element(last_, [&](const std::vector<Point>& change) {
    for (const auto& base : bases) {
      for (std::size_t i = last_; i < levels_.size(); ++i) images[i] = change[base[i - last_]];
      products_.push_back(static_cast<std::uint16_t>(number_of(last_, images)));
    }
  });
  if (tables_ > 0) return;
  for (const auto& move : moves_) {
    for (std::size_t i = 0; i < levels_.size(); ++i) images[i] = move[levels_[i].base];
    move_numbers_.push_back(static_cast<std::uint32_t>(number_of(0, images)));
  }
}

std::size_t GroupExpander::digit_at(std::size_t level, Point image) const {
  const Point digit = levels_[level].number[image];
  if (digit == kNowhere) throw InvalidArgument("the levels are no chain of stabilisers of the moves' group");
  return digit;
}

// The number in the stabiliser of the level of the element that takes its base points to images[level] and
// on.
Key GroupExpander::number_of(std::size_t level, Images& images) const {
  Key number = 0;
  for (std::size_t i = level; i < levels_.size(); ++i) {
    const std::size_t digit = digit_at(i, images[i]);
    number += digit * sizes_[i + 1];
    const Point* taken = back(i, digit);
    for (std::size_t j = i + 1; j < levels_.size(); ++j) images[j] = taken[images[j]];
  }
  return number;
}

void GroupExpander::make_least(std::span<std::uint16_t> element) const {
  std::vector<Point> made(points_);
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const Level& here = levels_[level];
    std::size_t least = 0;
    for (std::size_t digit = 1; digit < here.radix; ++digit)
      if (element[way(level, digit)[here.base]] < element[way(level, least)[here.base]]) least = digit;
    const Point* first = way(level, least);
    for (std::size_t point = 0; point < points_; ++point) made[point] = element[first[point]];
    std::ranges::copy(made, element.begin());
  }
}

void GroupExpander::successors(std::span<const Key> codes, std::vector<Key>& out) const {
  const Key most = codes.empty() ? 0 : std::ranges::max(codes);
  if (most >= keys())
    throw InvalidArgument("key " + std::to_string(most) + " is out of range, expected less than " +
                          std::to_string(keys()));
  Work work(*this, out, codes.size());
  if (tables_ == 0) {
    std::ranges::copy(move_numbers_, work.numbers_of(0));
    return tabled(0, codes, 0, work);
  }
  for (std::size_t move = 0; move < moves_.size(); ++move)
    std::ranges::copy(moves_[move], work.images_of(0, move));
  permuted(0, codes, 0, work);
}

// Of keys that have all digits before the level's in common with the key `first`.
void GroupExpander::permuted(std::size_t level, std::span<const Key> keys, Key first, Work& work) const {
  const Key size = sizes_[level + 1];
  while (!keys.empty()) {
    const std::size_t digit = (keys[0] - first) / size;
    const Key begin = first + digit * size;
    std::size_t same = 1;
    while (same < keys.size() && keys[same] - begin < size) ++same;
    const std::size_t left = levels_.size() - level;
    if (level + 1 == tables_) {
      number_on(level, digit, work);
      tabled(level + 1, keys.first(same), begin, work);
    } else if (2 * points_ <= same * left * left) {  // all points are fewer than the look-ups key by key
      permute_on(level, digit, work);
      permuted(level + 1, keys.first(same), begin, work);
    } else {
      for (const Key key : keys.first(same)) one(level, key - first, work);
    }
    keys = keys.subspan(same);
  }
}

// What the changes of a level leave for the next, after an element of the level: as permutations.
void GroupExpander::permute_on(std::size_t level, std::size_t digit, Work& work) const {
  const Point* element = way(level, digit);
  for (std::size_t move = 0; move < work.moves; ++move) {
    const Point* change = work.images_of(level, move);
    const std::size_t made = digit_at(level, change[element[levels_[level].base]]);
    work.keys_of(level + 1)[move] = work.keys_of(level)[move] + made * sizes_[level + 1];
    const Point* taken = back(level, made);
    Point* next = work.images_of(level + 1, move);
    for (std::size_t point = 0; point < points_; ++point) next[point] = taken[change[element[point]]];
  }
}

// The same as numbers.
void GroupExpander::number_on(std::size_t level, std::size_t digit, Work& work) const {
  const Point* element = way(level, digit);
  Images images;
  for (std::size_t move = 0; move < work.moves; ++move) {
    const Point* change = work.images_of(level, move);
    for (std::size_t i = level; i < levels_.size(); ++i) images[i] = change[element[levels_[i].base]];
    const Key number = number_of(level, images);
    const Key left = number % sizes_[level + 1];
    work.keys_of(level + 1)[move] = work.keys_of(level)[move] + (number - left);
    work.numbers_of(level + 1)[move] = static_cast<std::uint32_t>(left);
  }
}

// Of one key, less its digits before the level's.
void GroupExpander::one(std::size_t level, Key key, Work& work) const {
  Images bases, images;
  for (std::size_t i = level; i < levels_.size(); ++i) bases[i] = levels_[i].base;
  const Point* elements[64];
  for (std::size_t i = level; i < levels_.size(); ++i) {
    elements[i] = way(i, key / sizes_[i + 1]);
    key %= sizes_[i + 1];
  }
  for (std::size_t i = levels_.size(); i-- > level;)
    for (std::size_t j = i; j < levels_.size(); ++j) bases[j] = elements[i][bases[j]];
  for (std::size_t move = 0; move < work.moves; ++move) {
    const Point* change = work.images_of(level, move);
    for (std::size_t i = level; i < levels_.size(); ++i) images[i] = change[bases[i]];
    work.out[work.at++] = work.keys_of(level)[move] + number_of(level, images);
  }
}

void GroupExpander::tabled(std::size_t level, std::span<const Key> keys, Key first, Work& work) const {
  if (level == last_) return last(keys, first, work);
  const Key size = sizes_[level + 1];
  const std::size_t radix = levels_[level].radix;
  while (!keys.empty()) {
    const std::size_t digit = (keys[0] - first) / size;
    const Key begin = first + digit * size;
    std::size_t same = 1;
    while (same < keys.size() && keys[same] - begin < size) ++same;
    for (std::size_t move = 0; move < work.moves; ++move) {
      const Entry entry = entries_[level][work.numbers_of(level)[move] * radix + digit];
      work.keys_of(level + 1)[move] = work.keys_of(level)[move] + entry.offset;
      work.numbers_of(level + 1)[move] = entry.change;
    }
    tabled(level + 1, keys.first(same), begin, work);
    keys = keys.subspan(same);
  }
}

void GroupExpander::last(std::span<const Key> keys, Key first, Work& work) const {
  Key* out = work.out.data() + work.at;
  for (std::size_t move = 0; move < work.moves; ++move) {
    const Key made = work.keys_of(last_)[move];
    const std::uint16_t* products = &products_[work.numbers_of(last_)[move] * sizes_[last_]];
    for (const Key key : keys) *out++ = made + products[key - first];
  }
  work.at += work.moves * keys.size();
}

}  // namespace farthest
