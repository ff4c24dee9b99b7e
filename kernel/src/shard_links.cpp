#include "farthest/shard_links.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace farthest {
namespace {

// Where the first classes lie in a shard.
struct ShardPlaces {
  std::vector<SlotMask> places;  // by class
  SlotMask free;
};

// digits: those of the number, by class.
ShardPlaces places_of(const Layout& layout, std::uint64_t number, std::vector<std::uint64_t>& digits) {
  for (std::size_t cls = digits.size(); cls-- > 0;) {
    digits[cls] = number % layout.radix(static_cast<int>(cls));
    number /= layout.radix(static_cast<int>(cls));
  }
  ShardPlaces at{{}, first_slots(layout.slots())};
  for (std::size_t cls = 0; cls < digits.size(); ++cls) {
    const int i = static_cast<int>(cls);
    at.places.push_back(unrank_set(digits[cls], layout.count(i), at.free & layout.home(i)));
    at.free ^= at.places.back();
  }
  return at;
}

// The number of which these are the places, by class.
std::uint64_t number_of(const Layout& layout, const std::vector<SlotMask>& places) {
  SlotMask free = first_slots(layout.slots());
  std::uint64_t number = 0;
  for (std::size_t cls = 0; cls < places.size(); ++cls) {
    const int i = static_cast<int>(cls);
    number = number * layout.radix(i) + rank_set(places[cls], free & layout.home(i));
    free ^= places[cls];
  }
  return number;
}

std::uint64_t outer_numbers(const Layout& layout, int shard_classes) {
  std::uint64_t count = 1;
  for (int cls = 0; cls < shard_classes; ++cls) count *= layout.radix(cls);
  return count;
}

bool is_permutation_of_all(const std::vector<std::uint8_t>& to) {
  std::vector<bool> seen(to.size());
  for (const auto each : to) {
    if (each >= to.size() || seen[each]) return false;
    seen[each] = true;
  }
  return true;
}

bool keeps(const Symmetry& symmetry, const Layout& layout, int shard_classes) {
  if (symmetry.to.size() != static_cast<std::size_t>(layout.slots()) ||
      symmetry.classes.size() != static_cast<std::size_t>(layout.classes()) ||
      !is_permutation_of_all(symmetry.to) || !is_permutation_of_all(symmetry.classes))
    return false;
  const auto part = [&](int cls) { return (cls >= shard_classes) + (cls >= layout.upper_classes()); };
  for (int cls = 0; cls < layout.classes(); ++cls) {
    const int there = symmetry.classes[static_cast<std::size_t>(cls)];
    if (part(there) != part(cls) || layout.count(there) != layout.count(cls) ||
        layout.home(there) != layout.home(cls))
      return false;
  }
  return std::ranges::all_of(layout.orbits(),
                             [&](const Orbit& o) { return image(o.slots, symmetry.to) == o.slots; });
}

class Linker {
 public:
  Linker(const Layout& layout, int shard_classes, const ShardOrbits& orbits)
      : layout_(layout),
        shard_classes_(shard_classes),
        orbits_(orbits),
        weight_(static_cast<std::size_t>(shard_classes)),
        digit_(weight_.size()) {
    std::uint64_t weight = 1;
    for (int digit = layout.twist_digits() - 1; digit >= 0; weight *= layout.twist_radix(digit--)) {
      const int cls = layout.twist_digit(digit).cls;
      if (cls < 0) continue;
      if (cls < shard_classes)
        weight_[static_cast<std::size_t>(cls)] = weight;
      else
        twisted_ |= layout.home(cls);
    }
  }

  std::uint64_t shards() const {
    return is_reduced() ? orbits_.representatives.size() : outer_numbers(layout_, shard_classes_);
  }

  void add_shard(std::uint64_t shard, const std::vector<Move>& moves, const std::vector<Move>& pulls) {
    at_ = places_of(layout_, is_reduced() ? orbits_.representatives[shard] : shard, digit_);
    for (std::size_t m = 0; m < moves.size(); ++m) {
      const SlotMask first = image(at_.places[0], pulls[m].to);
      if ((moves[m].require & ~first) == 0 && (moves[m].forbid & first) == 0) add_link(pulls[m]);
    }
    links_.first.push_back(links_.sources.size());
  }

  ShardLinks take() {
    links_.sources.shrink_to_fit();
    links_.tables.shrink_to_fit();
    return std::move(links_);
  }

 private:
  bool is_reduced() const { return !orbits_.symmetries.empty(); }

  void add_link(const Move& pull) {
    std::vector<SlotMask> places;
    for (const SlotMask set : at_.places) places.push_back(image(set, pull.to));
    const std::uint64_t source = number_of(layout_, places);
    if (!is_reduced()) {
      links_.sources.push_back(static_cast<std::uint32_t>(source));
      links_.tables.push_back(table(pull, image(at_.free, pull.to)));
      return;
    }
    const Symmetry& symmetry = orbits_.symmetries[orbits_.chosen[source]];
    Move both = pull;
    for (auto& slot : both.to) slot = symmetry.to[slot];
    find_labels(symmetry);
    links_.sources.push_back(orbits_.shards[source]);
    links_.tables.push_back(table(both, image(at_.free, both.to)));
  }

  // What becomes of the classes that are no shard classes.
  void find_labels(const Symmetry& symmetry) {
    key_.labels.assign(symmetry.classes.begin() + shard_classes_, symmetry.classes.end());
    if (std::ranges::is_sorted(key_.labels)) key_.labels.clear();  // all stay
    key_.odd = false;
    if (!parity_matters(layout_, key_.labels)) return;
    key_.odd = layout_.odd_at(lowest(at_.places[0]));
    for (const auto digit : digit_) key_.odd ^= (digit & 1) != 0;
  }

  // Whether one class without twists fills the free slots: then it does not matter which come from where.
  bool is_alike(SlotMask free) const {
    int cls = shard_classes_;
    while (cls < layout_.classes() && (layout_.home(cls) & free) == 0) ++cls;
    return cls < layout_.classes() && layout_.count(cls) == std::popcount(free) &&
           layout_.first_digit(cls) < 0;
  }

  std::uint32_t table(const Move& pull, SlotMask source_free) {
    key_.pattern.clear();
    for (const Orbit& orbit : layout_.orbits()) {
      const auto first = static_cast<int>(key_.pattern.size());  // in the source too
      if (is_alike(at_.free & orbit.slots)) {
        for (int i = 0; i < std::popcount(at_.free & orbit.slots); ++i)
          key_.pattern.push_back(static_cast<std::uint8_t>(first + i));
        continue;
      }
      for (SlotMask left = at_.free & orbit.slots; left != 0; left &= left - 1) {
        const int from = pull.to[static_cast<std::size_t>(lowest(left))];
        key_.pattern.push_back(static_cast<std::uint8_t>(first + below(source_free & orbit.slots, from)));
      }
    }
    if (layout_.has_twists()) find_turns(pull);
    if (layout_.exchanges_twists()) find_digits(pull);
    const auto [known, is_new] =
        index_.try_emplace(key_.name(), static_cast<std::uint32_t>(links_.keys.size()));
    if (is_new) links_.keys.push_back(key_);
    return known->second;
  }

  void find_turns(const Move& pull) {
    key_.turns.clear();
    key_.turn = 0;
    if (pull.delta.empty()) return;
    for (std::size_t i = 0; i < weight_.size() && !layout_.exchanges_twists(); ++i)
      key_.turn += weight_[i] * pull.delta[static_cast<std::size_t>(lowest(at_.places[i]))];
    for (const Orbit& orbit : layout_.orbits())
      for (SlotMask left = at_.free & orbit.slots; left != 0; left &= left - 1)
        key_.turns.push_back((orbit.slots & twisted_) == 0
                                 ? std::uint8_t{0}
                                 : pull.delta[static_cast<std::size_t>(lowest(left))]);
    if (std::ranges::all_of(key_.turns, [](auto turn) { return turn == 0; })) key_.turns.clear();
  }

  // What becomes of the twist digits of slots, and of shard classes; the others stay.
  void find_digits(const Move& pull) {
    std::vector<std::uint8_t> digit_of(pull.to.size(), Layout::kFollows), comes_from(pull.to.size());
    for (std::size_t slot = 0; slot < pull.to.size(); ++slot)
      comes_from[pull.to[slot]] = static_cast<std::uint8_t>(slot);
    const auto digits = static_cast<std::size_t>(layout_.twist_digits());
    key_.digits.from.resize(digits);
    key_.digits.add.assign(digits, 0);
    for (std::size_t i = 0; i < digits; ++i)
      if (const int slot = layout_.twist_digit(static_cast<int>(i)).slot; slot >= 0)
        digit_of[static_cast<std::size_t>(slot)] = static_cast<std::uint8_t>(i);
    for (std::size_t i = 0; i < digits; ++i) {
      const Layout::Digit& digit = layout_.twist_digit(static_cast<int>(i));
      key_.digits.from[i] = static_cast<std::uint8_t>(i);
      if (digit.cls >= shard_classes_) continue;
      int from = digit.slot;
      SlotMask places = 0;
      if (digit.cls >= 0) {
        places = at_.places[static_cast<std::size_t>(digit.cls)];
        SlotMask pieces = image(places, pull.to);
        for (int before = 0; before < digit.piece; ++before) pieces &= pieces - 1;
        from = lowest(pieces);
      }
      const int slot = comes_from[static_cast<std::size_t>(from)];
      key_.digits.from[i] =
          digit.cls < 0 ? digit_of[static_cast<std::size_t>(slot)]
                        : static_cast<std::uint8_t>(layout_.first_digit(digit.cls) + below(places, slot));
      if (!pull.delta.empty()) key_.digits.add[i] = pull.delta[static_cast<std::size_t>(slot)];
    }
  }

  const Layout& layout_;
  int shard_classes_;
  const ShardOrbits& orbits_;
  std::vector<std::uint64_t> weight_;  // by shard class: of its digit in the twist rank, 0 for none
  SlotMask twisted_ = 0;               // orbits where a class that is no shard class has a twist
  std::vector<std::uint64_t> digit_;   // by shard class
  ShardPlaces at_{};
  RowKey key_;
  std::unordered_map<std::string, std::uint32_t> index_;
  ShardLinks links_{{0}, {}, {}, {}};
};

}  // namespace

void check_orbits(const Layout& layout, int shard_classes, const ShardOrbits& orbits) {
  if (orbits.symmetries.empty()) return;
  const std::uint64_t outer = outer_numbers(layout, shard_classes), shards = orbits.representatives.size();
  if (layout.has_twists()) throw InvalidArgument("symmetries and orientations do not go together");
  for (const Symmetry& symmetry : orbits.symmetries)
    if (!keeps(symmetry, layout, shard_classes))
      throw InvalidArgument("a symmetry must keep slots, and the classes of shards, of lines and in lines");
  if (orbits.weights.size() != shards || orbits.shards.size() != outer || orbits.chosen.size() != outer)
    throw InvalidArgument("there must be a weight for each shard, a shard for each outer number");
  std::vector<std::uint64_t> digits(static_cast<std::size_t>(shard_classes));
  std::vector<SlotMask> there(digits.size());
  for (std::uint64_t number = 0; number < outer; ++number) {
    if (orbits.shards[number] >= shards || orbits.chosen[number] >= orbits.symmetries.size())
      throw InvalidArgument("an outer number must have a shard and a symmetry");
    const Symmetry& symmetry = orbits.symmetries[orbits.chosen[number]];
    const ShardPlaces at = places_of(layout, number, digits);
    for (std::size_t cls = 0; cls < there.size(); ++cls)
      there[symmetry.classes[cls]] = image(at.places[cls], symmetry.to);
    if (number_of(layout, there) != orbits.representatives[orbits.shards[number]])
      throw InvalidArgument("a symmetry must take an outer number to that of its shard");
  }
}

ShardLinks link_shards(const Layout& layout, const std::vector<Move>& moves, const std::vector<Move>& pulls,
                       int shard_classes, const ShardOrbits& orbits) {
  Linker linker(layout, shard_classes, orbits);
  for (std::uint64_t shard = 0; shard < linker.shards(); ++shard) linker.add_shard(shard, moves, pulls);
  return linker.take();
}

std::vector<std::uint8_t> colours_of(const ShardLinks& links) {
  // Shards that are linked with each other are a tree, whose root is the first of them.
  std::vector<std::uint32_t> parent(links.shards());
  std::iota(parent.begin(), parent.end(), std::uint32_t{0});
  std::vector<std::uint8_t> differs(links.shards());  // in colour from its parent
  struct Found {
    std::uint32_t root;
    int colour;  // where the root has 0
  };
  const auto find = [&](std::uint32_t shard) {
    int colour = 0;
    while (parent[shard] != shard) {
      differs[shard] ^= differs[parent[shard]];
      parent[shard] = parent[parent[shard]];
      colour ^= differs[shard];
      shard = parent[shard];
    }
    return Found{shard, colour};
  };
  for (std::uint64_t shard = 0; shard < links.shards(); ++shard)
    for (auto link = links.first[shard]; link < links.first[shard + 1]; ++link) {
      const auto [a, of_shard] = find(static_cast<std::uint32_t>(shard));
      const auto [b, of_source] = find(links.sources[link]);
      if (a != b) {
        parent[std::max(a, b)] = std::min(a, b);
        differs[std::max(a, b)] = static_cast<std::uint8_t>(of_shard ^ of_source ^ 1);
      } else if (of_shard == of_source) {
        return {};
      }
    }
  std::vector<std::uint8_t> colours;
  for (std::uint64_t shard = 0; shard < links.shards(); ++shard)
    colours.push_back(static_cast<std::uint8_t>(find(static_cast<std::uint32_t>(shard)).colour));
  return colours;
}

}  // namespace farthest
