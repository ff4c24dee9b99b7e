#include "farthest/move_order.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace farthest {
namespace {

// What a move does: where slots go, then what is added to orientations.
using Effect = std::vector<std::uint16_t>;

Effect effect_of(const Move& move) {
  Effect out(move.to.begin(), move.to.end());
  out.resize(2 * move.to.size());
  std::ranges::copy(move.delta, out.begin() + static_cast<std::ptrdiff_t>(move.to.size()));
  return out;
}

// First a, then b.
void multiply(const Effect& a, const Effect& b, const std::vector<std::uint8_t>& moduli, Effect& out) {
  const std::size_t slots = a.size() / 2;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const std::size_t between = a[slot];
    out[slot] = b[between];
    const int turned = a[slots + slot] + b[slots + between];
    out[slots + slot] = static_cast<std::uint16_t>(moduli.empty() ? 0 : turned % moduli[slot]);
  }
}

// For each place of a word the places before it that must come before it in every order.
using Before = std::vector<std::vector<std::size_t>>;

Before before_in(const MoveOrder& order, std::span<const std::uint16_t> way) {
  Before out(way.size());
  for (std::size_t i = 0; i < way.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!order.commute(way[j], way[i])) out[i].push_back(j);
  return out;
}

using Taken = std::vector<bool>;  // places of a word

bool can_follow(const Taken& taken, const Before& before, std::size_t place) {
  return !taken[place] &&
         std::ranges::all_of(before[place], [&](std::size_t earlier) { return taken[earlier]; });
}

class Lister {
 public:
  Lister(const MoveOrder& order, std::span<const std::uint16_t> way, std::size_t most, std::vector<Way>& out)
      : way_(way), before_(before_in(order, way)), taken_(way.size()), most_(most), out_(out) {}

  void run() {
    if (out_.size() >= most_) return;
    if (word_.size() == way_.size()) {
      out_.push_back(word_);
      return;
    }
    std::vector<std::size_t> next;
    for (std::size_t place = 0; place < way_.size(); ++place)
      if (can_follow(taken_, before_, place)) next.push_back(place);
    std::ranges::sort(next, {}, [&](std::size_t place) { return way_[place]; });
    for (const std::size_t place : next) {
      taken_[place] = true;
      word_.push_back(way_[place]);
      run();
      word_.pop_back();
      taken_[place] = false;
    }
  }

 private:
  std::span<const std::uint16_t> way_;
  Before before_;
  Taken taken_;
  std::size_t most_;
  Way word_;
  std::vector<Way>& out_;
};

}  // namespace

MoveOrder::MoveOrder(const BoardMoves& moves) : words_(static_cast<std::size_t>(moves.move_words())) {
  if (moves.blanked()) throw InvalidArgument("moves that need blanks have no order");
  const auto count = static_cast<std::size_t>(moves.count());
  std::vector<Effect> effects;
  for (int m = 0; m < moves.count(); ++m) effects.push_back(effect_of(moves.move(m)));
  std::set<Effect> single(effects.begin(), effects.end());
  Effect nothing(effects[0].size());
  for (std::size_t slot = 0; slot < nothing.size() / 2; ++slot)
    nothing[slot] = static_cast<std::uint16_t>(slot);
  single.insert(nothing);
  less_.resize(count * words_);
  commuting_.resize(count * words_);
  joined_.resize(count * words_);
  Effect ab(nothing.size()), ba(nothing.size());
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < count; ++b) {
      const std::uint64_t own = std::uint64_t{1} << (b % 64);
      const std::size_t place = a * words_ + b / 64;
      multiply(effects[a], effects[b], moves.moduli(), ab);
      multiply(effects[b], effects[a], moves.moduli(), ba);
      if (b < a) less_[place] |= own;
      if (a != b && ab == ba) commuting_[place] |= own;
      if (single.contains(ab)) joined_[place] |= own;
    }
}

std::uint64_t MoveOrder::count(std::span<const std::uint16_t> way) const {
  // Ways to take the places one after the other, by the places taken.
  const Before before = before_in(*this, way);
  std::map<Taken, std::uint64_t> ways{{Taken(way.size()), 1}};
  for (std::size_t length = 0; length < way.size(); ++length) {
    std::map<Taken, std::uint64_t> longer;
    for (const auto& [taken, number] : ways)
      for (std::size_t place = 0; place < way.size(); ++place)
        if (can_follow(taken, before, place)) {
          Taken more = taken;
          more[place] = true;
          std::uint64_t& sum = longer[more];
          sum = number > ~sum ? ~std::uint64_t{0} : sum + number;
        }
    ways = std::move(longer);
  }
  return ways.begin()->second;
}

void MoveOrder::list(std::span<const std::uint16_t> way, std::size_t most, std::vector<Way>& out) const {
  Lister(*this, way, most, out).run();
}

}  // namespace farthest
