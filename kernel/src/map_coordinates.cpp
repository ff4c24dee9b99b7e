#include "farthest/map_coordinates.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace farthest {
namespace {

constexpr std::size_t kMostArrangements = 1 << 16, kMostTwists = 1 << 8;
// A table of moves should stay in the second-nearest cache, beside others.
constexpr std::size_t kMostEntries = 1 << 18;
constexpr std::size_t kMostPlaces = 1 << 20;

}  // namespace

// Makes the groups of one map.
class MapCoordinates::Builder {
 public:
  Builder(const BoardMoves& moves, const MapTable& map)
      : moves_(moves), map_(map), layout_(*map.layout), out_(map) {}

  std::optional<MapCoordinates> build() {
    out_.moves_ = static_cast<std::size_t>(moves_.count());
    out_.board_slots_ = static_cast<std::size_t>(moves_.slots());
    out_.shift_ = layout_.halved() ? 1 : 0;
    weigh();
    for (int first = 0; first < layout_.classes();) {
      int last = first;  // of the orbit
      while (last < layout_.classes() && layout_.home(last) == layout_.home(first)) ++last;
      if (!cut_orbit(first, last)) return {};
      first = last;
    }
    for (const Layout::DigitGroup& digits : layout_.digit_groups())
      if (layout_.twist_digit(digits.first).cls < 0 ? !add_turned(digits) : digits.last > digits.first + 1)
        return {};
    out_.class_weights_ = weight_;
    out_.digit_weights_ = digit_weight_;
    out_.at_.resize(out_.groups_.size());
    std::iota(out_.at_.begin(), out_.at_.end(), 0);
    return std::move(out_);
  }

 private:
  // What a move adds to the orientation of what goes from a slot of the board to another, as the map reads
  // it; none where that depends on the piece or its orientation.
  std::optional<std::uint8_t> added(const Move& move, std::size_t slot, std::size_t modulus) const {
    const std::size_t own = move.delta.empty() ? 0 : move.delta[slot];
    if (map_.turn_image.empty()) return static_cast<std::uint8_t>(own % modulus);
    const std::size_t labels = map_.class_of.size(), turns = moves_.moduli()[slot];
    const auto image = [&](std::size_t at, std::size_t label, std::size_t turn) {
      return std::size_t{map_.turn_image[(at * labels + label) * map_.turns + turn % turns]};
    };
    std::optional<std::uint8_t> found;
    for (std::size_t label = 0; label < labels; ++label)
      for (std::size_t turn = 0; turn < turns; ++turn) {
        const std::size_t before = image(slot, label, turn) % modulus;
        const auto difference =
            static_cast<std::uint8_t>((image(move.to[slot], label, turn + own) + modulus - before) % modulus);
        if (found && *found != difference) return {};
        found = difference;
      }
    return found;
  }

  // The weights in the sum of the digits of classes and of twists.
  void weigh() {
    const Representatives* kept = map_.table.representatives();
    Key next = 1;
    std::size_t digits = kept != nullptr ? kept->digits().size() : 0;
    const auto weight_of = [&](std::uint64_t radix) {  // of the digits, the last first
      return kept != nullptr ? kept->weight(--digits) : std::exchange(next, next * radix);
    };
    twist_weight_.resize(static_cast<std::size_t>(layout_.classes()));
    digit_weight_.resize(static_cast<std::size_t>(layout_.twist_digits()));
    for (int digit = layout_.twist_digits() - 1; digit >= 0; --digit) {
      const Key weight = weight_of(layout_.twist_radix(digit));
      digit_weight_[static_cast<std::size_t>(digit)] = weight;
      if (layout_.twist_digit(digit).cls >= 0)
        twist_weight_[static_cast<std::size_t>(layout_.twist_digit(digit).cls)] = weight;
    }
    weight_.resize(static_cast<std::size_t>(layout_.classes()));
    for (int j = layout_.classes() - 1; j >= 0; --j)
      weight_[static_cast<std::size_t>(j)] = weight_of(layout_.radix(j));
  }

  // Whether the digits [first, last), counted through those of classes and of twists, are of one side.
  bool of_one_side(int first, int last) const {
    if (map_.table.representatives() == nullptr) return true;
    const auto& digits = map_.table.representatives()->digits();
    return std::all_of(digits.begin() + first, digits.begin() + last,
                       [&](const Representatives::Digit& each) {
                         return each.side == digits[static_cast<std::size_t>(first)].side;
                       });
  }

  bool told(int cls) const {
    return layout_.radix(cls) > 1 || twist_weight_[static_cast<std::size_t>(cls)] != 0;
  }

  // Groups of the classes [first, last) of one orbit, as long as tables allow.
  bool cut_orbit(int first, int last) {
    while (last > first && !told(last - 1)) --last;
    std::vector<std::uint8_t> slots;
    for (SlotMask rest = layout_.home(first); rest != 0; rest &= rest - 1)
      slots.push_back(static_cast<std::uint8_t>(lowest(rest)));
    int taken = 0;
    while (first < last) {
      int end = first, size = 0;
      std::size_t arrangements = 1, twists = 1;
      for (int free = static_cast<int>(slots.size()); end < last; ++end) {
        const auto more = arrangements * binomial(free, layout_.count(end));
        const auto turned =
            twists * (twist_weight_[static_cast<std::size_t>(end)] != 0 ? layout_.moduli()[slots[0]] : 1);
        if (end > first && (more * out_.moves_ > kMostEntries || turned > kMostTwists)) break;
        arrangements = more;
        twists = turned;
        size += layout_.count(end);
        free -= layout_.count(end);
      }
      const auto sets = binomial(static_cast<int>(slots.size()), taken);
      const auto sets_after = binomial(static_cast<int>(slots.size()), taken + size);
      if (arrangements > kMostArrangements || arrangements * out_.moves_ > 4 * kMostEntries ||
          twists > kMostTwists || sets * arrangements > kMostPlaces ||
          (end < last && sets_after > kMostArrangements))
        return false;
      if (!add(slots, first, end, last, taken)) return false;
      taken += size;
      first = end;
    }
    return true;
  }

  // The group of the classes [first, end); those to `last` follow in the orbit, which `taken` pieces of
  // earlier groups are in.
  bool add(const std::vector<std::uint8_t>& slots, int first, int end, int last, int taken) {
    if (!of_one_side(first, end)) return false;
    Group group;
    group.slots = slots;
    group.first_class = static_cast<std::uint8_t>(first);
    group.classes = static_cast<std::uint8_t>(end - first);
    group.modulus = layout_.moduli()[slots[0]];
    std::vector<int> counts;
    int rest = static_cast<int>(slots.size());
    for (int j = first; j < end; ++j) {
      counts.push_back(layout_.count(j));
      rest -= layout_.count(j);
      if (twist_weight_[static_cast<std::size_t>(j)] == 0) continue;
      group.twisted.push_back(static_cast<std::uint8_t>(j - first));
      group.twists *= group.modulus;
    }
    if (rest > 0) counts.push_back(rest);
    if (counts.size() > 1) {
      group.ranks.emplace(static_cast<int>(slots.size()), counts, std::vector<std::uint8_t>{});
      group.arrangements = static_cast<std::size_t>(group.ranks->keys());
    }
    group.weight = weight_[static_cast<std::size_t>(end - 1)];
    if (!advance(group)) return false;
    add_up(group);
    rank(group, first, end, end < last, taken);
    keep(std::move(group));
    return true;
  }

  // The orientations in the slots of an orbit: a move takes them from slot to slot, whatever is there.
  bool add_turned(const Layout::DigitGroup& digits) {
    for (int label = 0; label < moves_.labels(); ++label)
      if (moves_.ignored(label)) return false;
    if (!of_one_side(layout_.classes() + digits.first, layout_.classes() + digits.last)) return false;
    Group group;
    const auto modulus = static_cast<std::size_t>(digits.radix);
    std::vector<std::uint8_t> cells, number(kMaxSlots, kNoSlot);
    for (int digit = digits.first; digit < digits.last; ++digit) {
      group.slots.push_back(static_cast<std::uint8_t>(layout_.twist_digit(digit).slot));
      group.arrangements *= modulus;
      if (group.arrangements > kMostArrangements) return false;
    }
    if (group.arrangements * out_.moves_ > 4 * kMostEntries) return false;
    const std::size_t told = group.slots.size();
    group.by_slot = true;
    group.modulus = static_cast<std::uint8_t>(modulus);
    group.weight = digit_weight_[static_cast<std::size_t>(digits.last - 1)];
    std::vector<std::uint8_t> slots = group.slots;
    if (digits.dropped >= 0) slots.push_back(static_cast<std::uint8_t>(digits.dropped));
    for (const auto slot : slots) {
      const std::uint8_t cell = map_.places[slot];
      if (number[cell] != kNoSlot) return false;
      number[cell] = static_cast<std::uint8_t>(cells.size());
      cells.push_back(cell);
    }
    struct Carried {  // the content of a slot
      std::size_t to, turned;
    };
    std::vector<Carried> carried;  // by move and slot
    for (std::size_t m = 0; m < out_.moves_; ++m)
      for (const auto cell : cells) {
        const Move& move = moves_.move(static_cast<int>(m));
        const auto to = number[move.to[cell]];
        const auto turned = added(move, cell, modulus);
        if (to == kNoSlot || !turned) return false;
        carried.push_back({to, *turned});
      }
    group.next.resize(group.arrangements * out_.moves_);
    std::vector<std::size_t> before(slots.size()), after(slots.size());
    for (std::size_t state = 0; state < group.arrangements; ++state) {
      std::size_t rest = state, sum = 0;
      for (std::size_t i = told; i-- > 0; rest /= modulus) sum += before[i] = rest % modulus;
      if (told < slots.size()) before[told] = (digits.sum + (modulus - sum % modulus)) % modulus;
      for (std::size_t m = 0; m < out_.moves_; ++m) {
        const Carried* each = carried.data() + m * slots.size();
        for (std::size_t i = 0; i < slots.size(); ++i) {
          const std::size_t sum_after = before[i] + each[i].turned;
          after[each[i].to] = sum_after >= modulus ? sum_after - modulus : sum_after;
        }
        std::size_t next = 0;
        for (std::size_t i = 0; i < told; ++i) next = next * modulus + after[i];
        group.next[state * out_.moves_ + m] = static_cast<std::uint32_t>(next);
      }
      group.place.push_back(static_cast<std::uint32_t>(state));
    }
    keep(std::move(group));
    return true;
  }

  void keep(Group group) {
    bool alone = group.twists == 1 && group.place.size() == group.arrangements;
    for (std::size_t i = 0; alone && i < group.arrangements; ++i) alone = group.place[i] == i;
    if (alone) {
      for (const auto next : group.next) group.alone.push_back(static_cast<std::uint16_t>(next));
      group.next = {};
      group.place = {};
    }
    out_.groups_.push_back(std::move(group));
  }

  // The tables that say what moves do.
  bool advance(Group& group) const {
    const std::size_t slots = group.slots.size();
    std::vector<std::uint8_t> number(kMaxSlots, kNoSlot), cells(slots);  // of cells, and of the orbit's slots
    for (std::size_t i = 0; i < slots; ++i) {
      cells[i] = map_.places[group.slots[i]];
      if (number[cells[i]] != kNoSlot) return false;
      number[cells[i]] = static_cast<std::uint8_t>(i);
    }
    std::vector<std::uint8_t> turns;  // by move and slot of the orbit: added
    for (std::size_t m = 0; m < out_.moves_ && !group.twisted.empty(); ++m)
      for (const auto cell : cells) {
        const auto turned = added(moves_.move(static_cast<int>(m)), cell, group.modulus);
        if (!turned) return false;
        turns.push_back(*turned);
      }
    group.next.resize(group.arrangements * out_.moves_);
    std::vector<std::uint8_t> before(slots), after(slots);
    for (std::size_t state = 0; state < group.arrangements; ++state) {
      if (group.ranks) group.ranks->decode(state, before);
      for (std::size_t m = 0; m < out_.moves_; ++m) {
        const Move& move = moves_.move(static_cast<int>(m));
        std::size_t turned = 0;
        for (std::size_t i = 0; i < slots; ++i) {
          const auto to = number[move.to[cells[i]]];
          if (to == kNoSlot) return false;
          after[to] = before[i];
        }
        for (const auto cls : group.twisted) {
          const auto i = static_cast<std::size_t>(std::ranges::find(before, cls) - before.begin());
          turned = turned * group.modulus + turns[m * slots + i];
        }
        const Key next = group.ranks ? group.ranks->encode(after) : 0;
        group.next[state * out_.moves_ + m] = static_cast<std::uint32_t>(next | turned << 16);
      }
    }
    return true;
  }

  // Sums of twists, and their share of the key.
  void add_up(Group& group) const {
    const std::size_t digits = group.twisted.size();
    const auto digit = [&](std::size_t number, std::size_t i) {  // the i-th from the last
      for (; i > 0; --i) number /= group.modulus;
      return number % group.modulus;
    };
    for (std::size_t a = 0; a < group.twists; ++a)
      for (std::size_t b = 0; b < group.twists; ++b) {
        std::size_t sum = 0;
        for (std::size_t i = digits; i-- > 0;)
          sum = sum * group.modulus + (digit(a, i) + digit(b, i)) % group.modulus;
        group.sum.push_back(static_cast<std::uint8_t>(sum));
      }
    for (std::size_t number = 0; number < group.twists; ++number) {
      Key share = 0;
      for (std::size_t i = 0; i < digits; ++i)
        share += digit(number, i) *
                 twist_weight_[static_cast<std::size_t>(group.first_class) + group.twisted[digits - 1 - i]];
      // Where the key is half of the full rank there are no twists.
      group.twist_share.push_back(share);
    }
  }

  // The digits of the arrangements, and the sets of slots taken.
  void rank(Group& group, int first, int end, bool followed, int taken) const {
    const int slots = static_cast<int>(group.slots.size());
    const auto sets = static_cast<std::size_t>(binomial(slots, taken));
    group.place.resize(sets * group.arrangements);
    std::vector<std::uint8_t> classes(group.slots.size());
    for (std::size_t state = 0; state < group.arrangements; ++state) {
      if (group.ranks) group.ranks->decode(state, classes);
      std::vector<SlotMask> places(static_cast<std::size_t>(end - first));
      SlotMask own = 0;
      for (std::size_t i = 0; i < classes.size(); ++i)
        if (classes[i] < places.size()) {
          places[classes[i]] |= bit(static_cast<int>(i));
          own |= bit(static_cast<int>(i));
        }
      for (std::size_t set = 0; set < sets; ++set) {
        const SlotMask before = unrank_set(set, taken, first_slots(slots));
        if ((before & own) != 0) continue;  // two pieces in one slot: never
        SlotMask free = first_slots(slots) & ~before;
        Key digits = 0;
        for (int j = first; j < end; ++j) {
          const SlotMask here = places[static_cast<std::size_t>(j - first)];
          digits = digits * layout_.radix(j) + rank_set(here, free);
          free &= ~here;
        }
        const Key after = followed ? rank_set(before | own, first_slots(slots)) : 0;
        group.place[set * group.arrangements + state] = static_cast<std::uint32_t>(digits | after << 16);
      }
    }
  }

  static constexpr std::uint8_t kNoSlot = 255;

  const BoardMoves& moves_;
  const MapTable& map_;
  const Layout& layout_;
  MapCoordinates out_;
  std::vector<Key> weight_, twist_weight_;  // by class; 0: it has no twist
  std::vector<Key> digit_weight_;           // by twist digit
};

std::optional<MapCoordinates> MapCoordinates::of(const BoardMoves& moves, const MapTable& map) {
  if (moves.blanked() || !map.layout || !map.digits.empty()) return {};
  if (map.layout->has_twists() == map.turn_places.empty()) return {};
  return Builder(moves, map).build();
}

void MapCoordinates::start(const std::uint8_t* board, std::uint32_t* values) const {
  const std::size_t slots = board_slots_;
  std::uint8_t classes[kMaxSlots], twists[kMaxSlots];
  for (std::size_t i = 0; i < map_.places.size(); ++i) classes[i] = map_.class_of[board[map_.places[i]]];
  for (std::size_t i = 0; i < map_.turn_places.size(); ++i)
    twists[i] = map_.turn(board, map_.turn_places[i] - slots, slots);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    std::uint32_t& value = values[at_[g]];
    const std::size_t orbit = group.slots.size();
    std::vector<std::uint8_t> own(orbit, group.classes);
    std::size_t turned = 0;
    if (group.by_slot) {
      for (const auto slot : group.slots) turned = turned * group.modulus + twists[slot];
      value = static_cast<std::uint32_t>(turned);
      continue;
    }
    for (std::size_t i = 0; i < orbit; ++i) {
      const int cls = classes[group.slots[i]] - group.first_class;
      if (cls >= 0 && cls < group.classes) own[i] = static_cast<std::uint8_t>(cls);
    }
    for (const auto cls : group.twisted)
      turned = turned * group.modulus +
               twists[group.slots[static_cast<std::size_t>(std::ranges::find(own, cls) - own.begin())]];
    const Key arrangement = group.ranks ? group.ranks->encode(own) : 0;
    value = static_cast<std::uint32_t>(arrangement | turned << 16);
  }
}

std::optional<std::vector<std::size_t>> MapCoordinates::among(const MapCoordinates& other) const {
  const auto piece = [](const MapCoordinates& of, const Group& group, std::size_t label) {
    const int cls = of.map_.class_of[label] - group.first_class;
    return group.by_slot || cls < 0 || cls > group.classes ? int{group.classes} : cls;
  };
  std::vector<std::size_t> found;
  for (const Group& group : groups_) {
    std::size_t place = 0;
    for (; place < other.groups_.size(); ++place) {
      const Group& its = other.groups_[place];
      bool same = its.slots == group.slots && its.by_slot == group.by_slot && its.classes == group.classes &&
                  its.twisted == group.twisted && its.alone == group.alone && its.next == group.next &&
                  its.sum == group.sum;
      for (std::size_t label = 0; same && label < map_.class_of.size(); ++label)
        same = piece(*this, group, label) == piece(other, its, label);
      if (same) break;
    }
    if (place == other.groups_.size()) return {};
    found.push_back(other.at_[place]);
  }
  return found;
}

}  // namespace farthest
