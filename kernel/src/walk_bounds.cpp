#include "farthest/walk_bounds.hpp"

namespace farthest {

BoardBounds::BoardBounds(const BoardMoves& moves, std::vector<SlotTable> tables, std::vector<GapTable> gaps,
                         std::vector<MapTable> maps, std::vector<std::vector<int>> terms)
    : slots_(static_cast<std::size_t>(moves.slots())),
      tables_(std::move(tables)),
      maps_(std::move(maps)),
      terms_(std::move(terms)) {
  for (int label = 0; label < moves.labels(); ++label)
    ignored_[static_cast<std::size_t>(label)] = moves.ignored(label) ? 1 : 0;
  for (SlotTable& table : tables_) {
    check_table(moves, table);
    divisors_.push_back(table.divisor);
  }
  for (GapTable& table : gaps) gaps_.emplace_back(moves, std::move(table));
  for (const MapTable& map : maps_) check_map(moves, map);
  divisors_.resize(static_cast<std::size_t>(components()), 1);
  for (const auto& term : terms_)
    for (const int component : term)
      if (component < 0 || component >= components())
        throw InvalidArgument("a term must be made of the components that there are");
  for (int m = 0; m < moves.count(); ++m) {
    const Move& move = moves.move(m);
    const auto first = static_cast<std::uint32_t>(moved_.size());
    for (std::size_t slot = 0; slot < slots_; ++slot) {
      const std::uint8_t delta = move.delta.empty() ? std::uint8_t{0} : move.delta[slot];
      const std::uint8_t modulus = moves.turned() ? moves.moduli()[slot] : std::uint8_t{1};
      const bool blank = (move.require & bit(static_cast<int>(slot))) != 0;
      if ((move.to[slot] != slot || delta != 0) && !blank)
        moved_.push_back({static_cast<std::uint8_t>(slot), move.to[slot], delta, modulus});
    }
    changes_.push_back({first, static_cast<std::uint32_t>(moved_.size())});
  }
}

void BoardBounds::check_table(const BoardMoves& moves, SlotTable& table) const {
  const int most = moves.turned() ? std::ranges::max(moves.moduli()) : 1;
  if (table.turns < 1 || table.turns > 64 || (table.turns != 1 && table.turns < most))
    throw InvalidArgument("a table's turns must be 1, or all orientations that there are");
  if (table.turns != 1 && !moves.turned())
    throw InvalidArgument("a table's turns must be 1 where nothing is turned");
  if (table.divisor < 1 || table.divisor > (1 << 20)) throw InvalidArgument("a divisor must be 1 to 1048576");
  const auto contents = static_cast<std::size_t>(moves.labels() * table.turns);
  if (table.table.size() != slots_ * contents)
    throw InvalidArgument("a table must have an entry for each content and slot");
  const auto blanks = static_cast<std::size_t>(moves.blanked() ? table.turns : 0);
  std::fill_n(table.table.begin(), slots_ * blanks, std::uint8_t{0});
}

void BoardBounds::start(const std::uint8_t* board, int* values) const {
  int* out = values;
  for (const SlotTable& table : tables_) {
    const auto turns = static_cast<std::size_t>(table.turns);
    int sum = 0;
    for (std::size_t slot = 0; slot < slots_; ++slot) {
      const std::size_t content = turns == 1 ? board[slot] : board[slot] * turns + board[slots_ + slot];
      sum += table.table[content * slots_ + slot];
    }
    *out++ = sum;
  }
  for (const Gaps& gaps : gaps_) *out++ = gaps.value(board);
  look_up(board, values);
}

void BoardBounds::look_up(const std::uint8_t* board, int* out) const {
  out += tables_.size() + gaps_.size();
  for (const MapTable& map : maps_) {
    const Key key = key_in(map, board);
    *out++ = key == kNoKey ? kUnreachable : map.table.bound(map.table.entry(key));
  }
}

Key BoardBounds::key_in(const MapTable& map, const std::uint8_t* board) const {
  Key key = 0;
  if (map.layout) {
    std::uint8_t classes[kMaxSlots], twists[kMaxSlots];
    for (std::size_t i = 0; i < map.places.size(); ++i) classes[i] = map.class_of[board[map.places[i]]];
    for (std::size_t i = 0; i < map.turn_places.size(); ++i)
      twists[i] = map.turn(board, map.turn_places[i] - slots_, slots_);
    key = map.layout->encode({classes, map.places.size()}, {twists, map.turn_places.size()});
    if (key == kNoKey) return kNoKey;
  }
  for (const MapTable::Digit& digit : map.digits) {
    const std::uint8_t turn = map.ignored[board[digit.label_cell]] != 0
                                  ? std::uint8_t{0}
                                  : map.turn(board, digit.cell - slots_, slots_);
    if (turn >= digit.radix) return kNoKey;
    key = key * digit.radix + turn;
  }
  return key;
}

namespace {

// Representatives are of the digits of the map's layout.
void check_digits(const MapTable& map) {
  std::vector<std::uint64_t> radices;
  if (map.layout && !map.layout->halved()) {
    for (int j = 0; j < map.layout->classes(); ++j) radices.push_back(map.layout->radix(j));
    for (int i = 0; i < map.layout->twist_digits(); ++i) radices.push_back(map.layout->twist_radix(i));
  }
  const auto& digits = map.table.representatives()->digits();
  if (radices.empty() || !std::ranges::equal(digits, radices, {}, &Representatives::Digit::radix))
    throw InvalidArgument("representatives must have the digits of the map's layout");
}

}  // namespace

void BoardBounds::check_map(const BoardMoves& moves, const MapTable& map) const {
  const auto cells = static_cast<std::size_t>(moves.cells());
  const std::size_t slots = map.layout ? static_cast<std::size_t>(map.layout->slots()) : 0;
  const auto inside = [&](std::uint8_t cell, std::size_t first, std::size_t last) {
    if (cell < first || cell >= last) throw InvalidArgument("a map must be read from cells of the board");
  };
  const auto labels = static_cast<std::size_t>(moves.labels());
  if (map.class_of.size() != labels || map.ignored.size() != labels)
    throw InvalidArgument("a map must have a class for each label, and whether it is turned");
  if (map.places.size() != slots || (!map.turn_places.empty() && map.turn_places.size() != slots))
    throw InvalidArgument("a map must have a place for each slot of its layout");
  for (const auto cell : map.places) inside(cell, 0, slots_);
  for (const auto cell : map.turn_places) inside(cell, slots_, cells);
  const auto most = static_cast<std::size_t>(moves.turned() ? std::ranges::max(moves.moduli()) : 1);
  if (!map.turn_image.empty() && (map.turns < most || map.turns > 64 || !moves.turned() ||
                                  map.turn_image.size() != slots_ * labels * map.turns))
    throw InvalidArgument("a map must have an image of each orientation for each slot and label");
  Key keys = map.layout ? map.layout->keys() : 1;
  for (const MapTable::Digit& digit : map.digits) {
    inside(digit.label_cell, 0, slots_);
    inside(digit.cell, slots_, cells);
    if (digit.radix < 1 || map.table.representatives() != nullptr || keys > map.table.keys())
      throw InvalidArgument("a map must have a distance for each key");
    keys *= digit.radix;
  }
  if (map.table.representatives() != nullptr) check_digits(map);
  if (keys != map.table.keys()) throw InvalidArgument("a map must have a distance for each key");
}

BoardBounds::Gaps::Gaps(const BoardMoves& moves, GapTable table)
    : slots_(moves.slots()),
      turns_(table.turns),
      contents_(table.last.size()),
      pairs_(std::move(table.pairs)),
      last_(std::move(table.last)) {
  if (turns_ < 1 || turns_ > 64 || contents_ > 256 ||
      contents_ != static_cast<std::size_t>(moves.labels() * turns_) ||
      pairs_.size() != contents_ * contents_)
    throw InvalidArgument("gaps must be told for all pairs of contents, at most 256");
  for (const auto modulus : moves.moduli())
    if (turns_ != 1 && modulus != turns_) throw InvalidArgument("gaps need one modulus of all orientations");
  if (turns_ != 1 && !moves.turned())
    throw InvalidArgument("gaps tell orientations of pieces that are not turned");
  for (int delta = 0; delta < turns_; ++delta)
    for (int content = 0; content < static_cast<int>(contents_); ++content) {
      const int label = content / turns_, turn = moves.ignored(label) ? 0 : (content + delta) % turns_;
      turn_.push_back(static_cast<std::uint8_t>(label * turns_ + turn));
    }
  for (int m = 0; m < moves.count(); ++m) compile(moves.move(m));
}

int BoardBounds::Gaps::value(const std::uint8_t* board) const {
  int sum = last_[content(board, slots_ - 1)];
  for (int slot = 0; slot + 1 < slots_; ++slot) sum += pair(content(board, slot), content(board, slot + 1));
  return sum;
}

bool BoardBounds::Gaps::same_reversed(int a, int b) {
  const auto [known, fresh] = reversed_.try_emplace({a, b}, true);
  if (!fresh) return known->second;
  const auto turned_by = [&](int delta, std::size_t content) {
    return std::size_t{turn_[static_cast<std::size_t>(delta) * contents_ + content]};
  };
  for (std::size_t x = 0; x < contents_; ++x)
    for (std::size_t y = 0; y < contents_; ++y)
      if (pair(x, y) != pair(turned_by(b, y), turned_by(a, x))) return known->second = false;
  return true;
}

void BoardBounds::Gaps::compile(const Move& move) {
  const auto next = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
  const auto delta = [&](std::size_t slot) {
    return turns_ == 1 || move.delta.empty() ? std::uint8_t{0} : move.delta[slot];
  };
  const auto slots = static_cast<std::size_t>(slots_);
  std::vector<std::uint8_t> from(slots);
  for (std::size_t slot = 0; slot < slots; ++slot) from[move.to[slot]] = static_cast<std::uint8_t>(slot);
  std::vector<bool> kept(slots);  // whether the gap after this slot was there before the move
  Change change{next(parted_), 0, next(joined_), 0, false, {}};
  for (std::size_t slot = 0; slot + 1 < slots; ++slot) {
    const std::size_t a = move.to[slot], b = move.to[slot + 1];
    const bool onward = b == a + 1 && delta(slot) == 0 && delta(slot + 1) == 0;
    const bool back = a == b + 1 && same_reversed(delta(slot), delta(slot + 1));
    if (onward || back)
      kept[std::min(a, b)] = true;
    else
      parted_.push_back(static_cast<std::uint8_t>(slot));
  }
  const auto piece = [&](std::size_t slot) { return Piece{from[slot], delta(from[slot])}; };
  for (std::size_t slot = 0; slot + 1 < slots; ++slot)
    if (!kept[slot]) joined_.push_back({piece(slot), piece(slot + 1)});
  change.last_parted = next(parted_);
  change.last_joined = next(joined_);
  change.end = piece(slots - 1);
  change.ends = change.end.slot != slots - 1 || change.end.delta != 0;
  changes_.push_back(change);
}

}  // namespace farthest
