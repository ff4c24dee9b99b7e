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

class Linker {
 public:
  Linker(const Layout& layout, int shard_classes)
      : layout_(layout), shard_classes_(shard_classes), weight_(static_cast<std::size_t>(shard_classes)) {
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

  void add_shard(std::uint64_t shard, const std::vector<Move>& moves, const std::vector<Move>& pulls) {
    find_places(shard);
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
  void find_places(std::uint64_t shard) {
    at_.places.resize(weight_.size());
    digit_.resize(weight_.size());
    for (int cls = shard_classes_ - 1; cls >= 0; --cls) {
      digit_[static_cast<std::size_t>(cls)] = shard % layout_.radix(cls);
      shard /= layout_.radix(cls);
    }
    at_.free = first_slots(layout_.slots());
    for (int cls = 0; cls < shard_classes_; ++cls) {
      const auto i = static_cast<std::size_t>(cls);
      at_.places[i] = unrank_set(digit_[i], layout_.count(cls), at_.free & layout_.home(cls));
      at_.free ^= at_.places[i];
    }
  }

  void add_link(const Move& pull) {
    SlotMask source_free = first_slots(layout_.slots());
    std::uint64_t source = 0;
    for (int cls = 0; cls < shard_classes_; ++cls) {
      const SlotMask set = image(at_.places[static_cast<std::size_t>(cls)], pull.to);
      source = source * layout_.radix(cls) + rank_set(set, source_free & layout_.home(cls));
      source_free ^= set;
    }
    links_.sources.push_back(static_cast<std::uint32_t>(source));
    links_.tables.push_back(table(pull, source_free));
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
  std::vector<std::uint64_t> weight_;  // by shard class: of its digit in the twist rank, 0 for none
  SlotMask twisted_ = 0;               // orbits where a class that is no shard class has a twist
  std::vector<std::uint64_t> digit_;
  ShardPlaces at_{};
  RowKey key_;
  std::unordered_map<std::string, std::uint32_t> index_;
  ShardLinks links_{{0}, {}, {}, {}};
};

}  // namespace

ShardLinks link_shards(const Layout& layout, const std::vector<Move>& moves, const std::vector<Move>& pulls,
                       int shard_classes) {
  std::uint64_t shards = 1;
  for (int cls = 0; cls < shard_classes; ++cls) shards *= layout.radix(cls);
  Linker linker(layout, shard_classes);
  for (std::uint64_t shard = 0; shard < shards; ++shard) linker.add_shard(shard, moves, pulls);
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
