#include "farthest/inverse_look_ups.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace farthest {

class InverseLookUps::Builder {
 public:
  Builder(const BoardMoves& moves, const std::vector<std::uint8_t>& goal) : moves_(moves) {
    out_.slots_ = static_cast<std::size_t>(moves.slots());
    out_.goal_ = goal;
    out_.moduli_ = moves.moduli();
    for (const auto modulus : out_.moduli_) out_.turns_ = std::max<std::size_t>(out_.turns_, modulus);
  }

  std::optional<InverseLookUps> build(std::span<const MapCoordinates* const> maps) {
    if (!has_inverses()) return {};
    for (std::size_t number = 0; number < maps.size(); ++number) add(number, *maps[number]);
    if (out_.numbers_.empty()) return {};
    for (int m = 0; m < moves_.count(); ++m) out_.becomes_.push_back(becomes(moves_.move(m)));
    find_leaving();
    return std::move(out_);
  }

 private:
  bool has_inverses() {
    if (moves_.blanked() || static_cast<std::size_t>(moves_.labels()) * out_.turns_ > kContents) return false;
    out_.home_.assign(static_cast<std::size_t>(moves_.labels()), kNoSlot);
    for (std::size_t slot = 0; slot < out_.slots_; ++slot) {
      const std::uint8_t label = out_.goal_[slot];
      if (moves_.ignored(label) || out_.home_[label] != kNoSlot) return false;
      out_.home_[label] = static_cast<std::uint8_t>(slot);
    }
    for (int m = 0; m < moves_.count(); ++m)
      if (moves_.back(m) < 0) return false;
    return true;
  }

  std::size_t modulus(std::size_t slot) const { return moves_.turned() ? moves_.moduli()[slot] : 1; }
  std::size_t goal_turn(std::size_t slot) const {
    return moves_.turned() ? out_.goal_[out_.slots_ + slot] : 0;
  }

  // What a move makes of each content of the inverse.
  std::array<std::uint8_t, 256> becomes(const Move& move) const {
    std::array<std::uint8_t, 256> out{};
    for (std::size_t slot = 0; slot < out_.slots_; ++slot) {
      const std::size_t to = move.to[slot], turns = modulus(slot);
      const std::size_t delta = move.delta.empty() ? 0 : move.delta[slot];
      for (std::size_t turn = 0; turn < turns; ++turn) {
        const std::size_t turned = (turn + 2 * turns - goal_turn(slot) - delta + goal_turn(to)) % turns;
        out[out_.goal_[slot] * out_.turns_ + turn] =
            static_cast<std::uint8_t>(out_.goal_[to] * out_.turns_ + turned);
      }
    }
    return out;
  }

  // A map, where its key is such a sum.
  void add(std::size_t number, const MapCoordinates& coordinates) {
    const MapTable& map = coordinates.map();
    const Layout& layout = *map.layout;
    const auto slots = static_cast<std::size_t>(layout.slots());
    for (int digit = 0; digit < layout.twist_digits(); ++digit)
      if (layout.twist_digit(digit).cls >= 0) return;
    std::vector<std::size_t> unit(slots), first(slots);  // of a slot's digit, and the class that it is 0 for
    std::vector<Share> orbits;
    std::size_t first_bit = 0;
    for (int cls = 0, last = 0; cls < layout.classes(); cls = last) {
      while (last < layout.classes() && layout.home(last) == layout.home(cls)) ++last;
      if (last == cls + 1) continue;
      std::size_t numbers = 1;
      for (SlotMask rest = layout.home(cls); rest != 0; rest &= rest - 1) {
        const auto slot = static_cast<std::size_t>(lowest(rest));
        unit[slot] = numbers << first_bit;
        first[slot] = static_cast<std::size_t>(cls);
        numbers *= static_cast<std::size_t>(last - cls);
        if (numbers << first_bit > kNumbers) return;
      }
      const auto bits = static_cast<std::size_t>(std::bit_width(numbers - 1));
      if (first_bit + bits > kNumberBits) return;
      orbits.push_back({first_bit, (std::size_t{1} << bits) - 1, keys_of(coordinates, cls, last, numbers)});
      first_bit += bits;
    }
    const std::size_t place = out_.numbers_.size() % kMaps;
    if (place == 0) out_.words_.resize(out_.words_.size() + out_.slots_ * kContents * kBlock);
    std::uint64_t* words = out_.words_.data() + out_.words_.size() - out_.slots_ * kContents * kBlock;
    const auto each_content = [&](std::size_t layout_slot, auto visit) {
      const std::size_t slot = map.places[layout_slot];
      for (std::size_t label = 0; label < static_cast<std::size_t>(moves_.labels()); ++label)
        for (std::size_t turn = 0; turn < modulus(slot); ++turn)
          visit(slot, label, turn, words + (slot * kContents + label * out_.turns_ + turn) * kBlock);
    };
    for (std::size_t at = 0; at < slots; ++at) {
      if (unit[at] == 0) continue;
      each_content(at, [&](std::size_t, std::size_t label, std::size_t, std::uint64_t* block) {
        const std::size_t digit = map.class_of[label] - first[at];
        if (digit < slots) block[kMaps] += (digit * unit[at]) << (place * kNumberBits);
      });
    }
    for (int digit = 0; digit < layout.twist_digits(); ++digit) {
      const auto at = static_cast<std::size_t>(layout.twist_digit(digit).slot);
      const Key weight = coordinates.digit_weight(digit);
      each_content(at, [&](std::size_t slot, std::size_t label, std::size_t turn, std::uint64_t* block) {
        block[place] += weight * turned(map, slot, label, turn);
      });
    }
    out_.numbers_.push_back(number);
    out_.maps_.push_back({&coordinates, std::move(orbits)});
  }

  // The moves that leave a key as it is leave that of the goal.
  void find_leaving() {
    const Inverse goal = out_.start(out_.goal_.data());
    std::vector<Key> before(out_.numbers_.size()), after = before;
    out_.keys(goal, before.data());
    out_.leave_.assign(before.size(),
                       std::vector<std::uint64_t>(static_cast<std::size_t>(moves_.move_words())));
    for (int m = 0; m < moves_.count(); ++m) {
      out_.keys(m, goal, after.size(), after.data());
      for (std::size_t place = 0; place < before.size(); ++place)
        if (after[place] == before[place])
          out_.leave_[place][static_cast<std::size_t>(m) / 64] |= std::uint64_t{1} << (m % 64);
    }
  }

  std::size_t turned(const MapTable& map, std::size_t slot, std::size_t label, std::size_t turn) const {
    if (map.turn_image.empty()) return turn;
    return map.turn_image[(slot * static_cast<std::size_t>(moves_.labels()) + label) * map.turns + turn];
  }

  // The part in the key of the places of the classes [cls, last) of an orbit, by the number of their digits.
  static std::vector<Key> keys_of(const MapCoordinates& coordinates, int cls, int last, std::size_t numbers) {
    const Layout& layout = *coordinates.map().layout;
    const auto classes = static_cast<std::size_t>(last - cls);
    std::vector<Key> out(numbers);
    for (std::size_t number = 0; number < numbers; ++number) {
      SlotMask free = layout.home(cls);
      for (int each = cls; each < last; ++each) {
        SlotMask here = 0;
        std::size_t digits = number;
        for (SlotMask rest = layout.home(cls); rest != 0; rest &= rest - 1, digits /= classes)
          if (digits % classes == static_cast<std::size_t>(each - cls)) here |= bit(lowest(rest));
        // No board has another number of pieces of the class.
        if (std::popcount(here) != layout.count(each)) break;
        out[number] += rank_set(here, free) * coordinates.class_weight(each);
        free &= ~here;
      }
    }
    return out;
  }

  static constexpr std::uint8_t kNoSlot = 255;

  const BoardMoves& moves_;
  InverseLookUps out_;
};

std::optional<InverseLookUps> InverseLookUps::of(const BoardMoves& moves,
                                                 const std::vector<std::uint8_t>& goal,
                                                 std::span<const MapCoordinates* const> maps) {
  return Builder(moves, goal).build(maps);
}

InverseLookUps::Inverse InverseLookUps::start(const std::uint8_t* board) const {
  Inverse out(slots_);
  for (std::size_t slot = 0; slot < slots_; ++slot) {
    const std::size_t home = home_[board[slot]];
    // The piece has been turned by its orientation less that in the goal; the inverse turns back.
    std::size_t turn = 0;
    if (const std::size_t modulus = moduli_.empty() ? 1 : moduli_[slot]; modulus > 1)
      turn = (goal_[slots_ + slot] + goal_[slots_ + home] + modulus - board[slots_ + slot]) % modulus;
    out[home] = static_cast<std::uint8_t>(goal_[slot] * turns_ + turn);
  }
  return out;
}

}  // namespace farthest
