#include "farthest/residues.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "parallel.hpp"

namespace farthest {

// One walk: a key, its arrangement, and its residue.
class ResidueWalker {
 public:
  explicit ResidueWalker(const ResidueMap& map)
      : map_(map), layout_(map.space_.layout()), modulus_(map.colours_.empty() ? 3 : 4) {}

  enum class Step : std::uint8_t { made, none, missing };

  // Puts the walk on a key. False: its page is missing. A key that is not reached has the residue -1.
  bool start(Key key) {
    key_ = key;
    layout_.decode(key, classes_, twists_);
    return read(key, residue_);
  }

  // To the first nearer neighbour.
  Step step() {
    const int wanted = (residue_ + modulus_ - 1) % modulus_;
    if (residue_ < 0) return Step::none;
    SlotMask first = 0;
    for (int slot = 0; slot < layout_.slots(); ++slot)
      if (classes_[static_cast<std::size_t>(slot)] == 0) first |= bit(slot);
    for (const Move& move : map_.space_.moves()) {
      if ((move.require & ~first) != 0 || (move.forbid & first) != 0) continue;
      make(move);
      const Key after = layout_.encode(next_classes_, next_twists_);
      if (after == kNoKey) continue;
      int residue = 0;
      if (!read(after, residue)) return Step::missing;
      if (residue != wanted) continue;
      key_ = after;
      residue_ = residue;
      std::swap(classes_, next_classes_);
      std::swap(twists_, next_twists_);
      return Step::made;
    }
    return Step::none;
  }

  bool at_origin() const { return residue_ == 0 && map_.is_origin(key_); }
  Key key() const { return key_; }
  std::uint64_t page() const { return page_; }

 private:
  void make(const Move& move) {
    for (std::size_t slot = 0; slot < move.to.size(); ++slot) {
      const std::size_t to = move.to[slot];
      next_classes_[to] = classes_[slot];
      const int turned = twists_[slot] + (move.delta.empty() ? 0 : move.delta[slot]);
      next_twists_[to] = static_cast<std::uint8_t>(turned % layout_.moduli()[to]);
    }
  }

  // The residue of a key. False: its page is missing, and page() says which.
  bool read(Key key, int& residue) {
    const auto [word, at] = map_.space_.place(key);
    const std::uint64_t planes = modulus_ == 4 ? 1 : 2;
    const std::uint64_t first = word * planes;
    page_ = first / kResiduePageWords;
    if (map_.present_[page_] == 0) return false;
    const auto number = [&](std::uint64_t plane) {
      return static_cast<int>(map_.words_[first + plane] >> at & 1);
    };
    if (modulus_ == 4)
      residue = 2 * (number(0) ^ (map_.low_ ? 1 : 0)) + map_.colours_[key / map_.keys_per_colour_];
    else
      residue = number(0) + 2 * number(1) - 1;
    return true;
  }

  using Slots = std::array<std::uint8_t, kMaxSlots>;

  const ResidueMap& map_;
  const Layout& layout_;
  int modulus_;
  Key key_ = 0;
  int residue_ = 0;
  std::uint64_t page_ = 0;
  Slots classes_{}, twists_{}, next_classes_{}, next_twists_{};
};

ResidueMap::ResidueMap(const ArrangementSpace& space, std::span<const Word> words,
                       std::span<const std::uint8_t> present, std::span<const std::uint8_t> colours, bool low,
                       std::span<const Key> origins)
    : space_(space), words_(words), present_(present), colours_(colours), low_(low), origins_(origins) {
  const std::uint64_t planes = colours.empty() ? 2 : 1;
  if (space.keys() != space.layout().keys()) throw InvalidArgument("a residue map has a key for each state");
  if (!space.reversible()) throw InvalidArgument("the moves of a residue map can be taken back");
  if (words.size() != space.words() * planes) throw InvalidArgument("words must hold all planes of all keys");
  if (present.size() != (words.size() + kResiduePageWords - 1) / kResiduePageWords)
    throw InvalidArgument("present must have one entry a page");
  if (!colours.empty() && space.keys() % colours.size() != 0)
    throw InvalidArgument("colours must be those of equally long ranges of keys");
  if (std::ranges::any_of(colours, [](auto colour) { return colour > 1; }))
    throw InvalidArgument("colours must be 0 or 1");
  if (!std::ranges::is_sorted(origins)) throw InvalidArgument("origins must be ascending");
  keys_per_colour_ = colours.empty() ? 0 : space.keys() / colours.size();
}

bool ResidueMap::is_origin(Key key) const { return std::ranges::binary_search(origins_, key); }

void ResidueMap::walk(std::span<Key> keys, std::span<std::int32_t> steps, std::span<End> ends,
                      std::span<std::uint64_t> pages, std::int32_t most, int threads) const {
  if (steps.size() != keys.size() || ends.size() != keys.size() || pages.size() != keys.size())
    throw InvalidArgument("there must be as many steps, ends and pages as keys");
  if (std::ranges::any_of(keys, [&](Key key) { return key >= space_.keys(); }))
    throw InvalidArgument("a key is out of range");
  constexpr std::size_t kTogether = 64;
  const std::uint64_t pieces = (keys.size() + kTogether - 1) / kTogether;
  const auto useful =
      static_cast<int>(std::clamp<std::uint64_t>(pieces, 1, static_cast<std::uint64_t>(threads)));
  in_parallel(pieces, useful, [&](std::uint64_t piece) {
    ResidueWalker walker(*this);
    const std::size_t end = std::min(keys.size(), (piece + 1) * kTogether);
    for (std::size_t i = piece * kTogether; i < end; ++i) {
      bool there = walker.start(keys[i]);
      while (true) {
        if (!there) {
          ends[i] = End::missing;
          pages[i] = walker.page();
          break;
        }
        if (walker.at_origin()) {
          ends[i] = End::origin;
          break;
        }
        const auto made = walker.step();
        if (made == ResidueWalker::Step::none) {
          ends[i] = End::elsewhere;
          break;
        }
        there = made == ResidueWalker::Step::made;
        if (there && ++steps[i] > most) {
          ends[i] = End::too_long;
          break;
        }
      }
      keys[i] = walker.key();
    }
  });
}

template <class Distance>
void ResidueMap::expand(std::span<Distance> out, std::int32_t most, int threads) const {
  constexpr auto kNone = std::numeric_limits<Distance>::max();
  if (out.size() != space_.keys()) throw InvalidArgument("there must be a distance for each key");
  if (most < 0 || most >= kNone) throw InvalidArgument("the distances do not fit their type");
  if (std::ranges::any_of(present_, [](auto there) { return there == 0; }))
    throw InvalidArgument("all pages must be there");
  std::ranges::fill(out, kNone);
  constexpr std::size_t kTogether = 1 << 14;
  const std::uint64_t pieces = (out.size() + kTogether - 1) / kTogether;
  in_parallel(pieces, threads, [&](std::uint64_t piece) {
    ResidueWalker walker(*this);
    std::vector<Key> trail;
    const Key end = std::min<Key>(out.size(), (piece + 1) * kTogether);
    for (Key key = piece * kTogether; key < end; ++key) {
      // Threads may write the same distance at once.
      if (__atomic_load_n(&out[key], __ATOMIC_RELAXED) != kNone) continue;
      trail.clear();
      walker.start(key);
      std::int32_t distance = -1;
      while (true) {
        const Distance known = __atomic_load_n(&out[walker.key()], __ATOMIC_RELAXED);
        if (known != kNone) {
          distance = known;
          break;
        }
        trail.push_back(walker.key());
        if (walker.at_origin()) {
          distance = -1;
          break;
        }
        if (static_cast<std::int32_t>(trail.size()) > most || walker.step() != ResidueWalker::Step::made) {
          trail.clear();
          break;
        }
      }
      for (auto at = trail.rbegin(); at != trail.rend() && distance < most; ++at)
        __atomic_store_n(&out[*at], static_cast<Distance>(++distance), __ATOMIC_RELAXED);
    }
  });
}

template void ResidueMap::expand(std::span<std::uint8_t>, std::int32_t, int) const;
template void ResidueMap::expand(std::span<std::uint16_t>, std::int32_t, int) const;

}  // namespace farthest
