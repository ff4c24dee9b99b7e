#include "farthest/program.hpp"

#include <algorithm>
#include <numeric>

namespace farthest {
namespace {

constexpr std::uint32_t kIdentityMap = ~std::uint32_t{0};

std::string name_of(const Pattern& pattern) { return {pattern.begin(), pattern.end()}; }

bool is_identity(const Pattern& pattern) {
  for (std::size_t i = 0; i < pattern.size(); ++i)
    if (pattern[i] != i) return false;
  return true;
}

int sign(const Pattern& pattern) {  // 1 for an odd permutation
  int inversions = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i)
    for (std::size_t j = i + 1; j < pattern.size(); ++j) inversions += pattern[j] < pattern[i];
  return inversions & 1;
}

SlotMask pulled_from(SlotMask places, const Pattern& pattern) {
  SlotMask out = 0;
  for (; places != 0; places &= places - 1) out |= bit(pattern[static_cast<std::size_t>(lowest(places))]);
  return out;
}

// The pattern on the positions `left` of the line pulled into, renumbered from 0 on both sides.
Pattern restricted(const Pattern& pattern, SlotMask left) {
  const SlotMask source = pulled_from(left, pattern);
  Pattern out;
  for (SlotMask m = left; m != 0; m &= m - 1)
    out.push_back(static_cast<std::uint8_t>(below(source, pattern[static_cast<std::size_t>(lowest(m))])));
  return out;
}

// Places the classes first..last-1 by the digits of `rank` on `free`; calls visit(set) for each.
template <class Visit>
SlotMask place_classes(const Layout& layout, int first, int last, std::uint64_t rank, SlotMask free,
                       Visit visit) {
  std::array<std::uint64_t, kMaxSlots> digit{};
  for (int j = last - 1; j >= first; --j) {
    digit[static_cast<std::size_t>(j)] = rank % layout.radix(j);
    rank /= layout.radix(j);
  }
  for (int j = first; j < last; ++j) {
    const SlotMask places = unrank_set(digit[static_cast<std::size_t>(j)], layout.count(j), free);
    visit(places);
    free ^= places;
  }
  return free;
}

struct Pulled {
  std::uint64_t rank;  // of the same classes in the place pulled from
  SlotMask left;       // positions left free in the place pulled into
};

Pulled pull(const Layout& layout, int first, int last, std::uint64_t rank, const Pattern& pattern) {
  const SlotMask all = first_slots(static_cast<int>(pattern.size()));
  Pulled out{0, 0};
  SlotMask source_free = all;
  int j = first;
  out.left = place_classes(layout, first, last, rank, all, [&](SlotMask places) {
    const SlotMask source = pulled_from(places, pattern);
    out.rank = out.rank * layout.radix(j++) + rank_set(source, source_free);
    source_free ^= source;
  });
  return out;
}

// Whether the digits of a placement of the line classes have an odd sum.
bool digits_are_odd(const Layout& layout, std::uint64_t placement) {
  std::uint64_t sum = 0;
  for (int cls = layout.classes() - layout.word_classes() - 1; cls >= layout.upper_classes(); --cls) {
    sum += placement % layout.radix(cls);
    placement /= layout.radix(cls);
  }
  return (sum & 1) != 0;
}

// The maps in the order of the words that they write first, whatever their numbers: up to a tenth faster.
void sort_by_map(Program& program) {
  std::unordered_map<std::uint32_t, std::uint16_t> first_to;
  for (const WordShuffle& shuffle : program.shuffles) first_to.try_emplace(shuffle.map, shuffle.to);
  std::ranges::stable_sort(program.shuffles, {},
                           [&](const WordShuffle& shuffle) { return first_to.at(shuffle.map); });
}

}  // namespace

ProgramTable::ProgramTable(const Layout& layout) : layout_(layout) {
  if (layout.has_twists() && !layout.exchanges_twists()) build_turns();
}

void ProgramTable::build_turns() {
  const int line = layout_.line_twist(), word = layout_.word_twist(), end = layout_.twist_digits();
  const auto bits = static_cast<std::uint64_t>(layout_.bits());
  for (std::uint64_t turn = 1; turn < bits; ++turn) {
    BitMap map;
    map.fill(63);
    for (std::uint64_t b = 0; b < bits; ++b)
      map[b] = static_cast<std::uint8_t>(layout_.turned(b, turn, word, end));
    maps_.push_back(map);
  }
  const auto words = static_cast<std::uint16_t>(layout_.line_twists());
  for (std::uint64_t line_turn = 0; line_turn < words; ++line_turn) {
    std::vector<WordCopy> copies;
    for (std::uint16_t to = 0; to < words; ++to)
      copies.push_back({to, static_cast<std::uint16_t>(layout_.turned(to, line_turn, line, word))});
    programs_.push_back(line_turn == 0 ? Program{true, {}, {}} : Program{false, copies, {}});
    for (std::uint32_t map = 0; map + 1 < bits; ++map) {
      auto& shuffles = programs_.emplace_back().shuffles;
      shuffles.reserve(words);
      for (const WordCopy& copy : copies) shuffles.push_back({copy.to, copy.from, map});
    }
  }
}

bool parity_matters(const Layout& layout, std::span<const std::uint8_t> labels) {
  if (!layout.halved() || labels.empty()) return false;
  // The two arrangements of a bit differ by an exchange of the last two labels.
  return std::ranges::any_of(labels.last(2), [&](int label) { return label < layout.classes() - 2; });
}

std::uint32_t ProgramTable::intern(const Pattern& pattern, std::span<const std::uint8_t> labels, bool odd) {
  const bool stay = std::ranges::is_sorted(labels);
  std::string name = name_of(pattern);
  if (!stay) {
    name.append(labels.begin(), labels.end());
    name.push_back(odd ? '\1' : '\0');
  }
  if (const auto known = index_.find(name); known != index_.end()) return known->second;
  programs_.push_back(stay ? build(pattern) : build(pattern, labels, odd));
  const auto number = static_cast<std::uint32_t>(programs_.size() - 1);
  index_.emplace(name, number);
  return number;
}

std::uint32_t ProgramTable::intern(const Turn& turn) {
  std::string name(turn.from.begin() + layout_.line_twist(), turn.from.end());
  name.append(turn.add.begin() + layout_.line_twist(), turn.add.end());
  if (const auto known = index_.find(name); known != index_.end()) return known->second;
  programs_.push_back(build(turn));
  const auto number = static_cast<std::uint32_t>(programs_.size() - 1);
  index_.emplace(name, number);
  return number;
}

Program ProgramTable::build(const Turn& turn) {
  const auto bits = static_cast<std::uint64_t>(layout_.bits());
  Program program;
  for (std::uint64_t to = 0; to < layout_.words_per_line(); ++to) {
    std::map<std::uint64_t, BitMap> parts;  // by the word that the bits are from
    for (std::uint64_t b = 0; b < bits; ++b) {
      const auto source = layout_.turned(to * bits + b, turn, layout_.line_twist(), layout_.twist_digits());
      BitMap nothing;
      nothing.fill(kNoBit);
      parts.try_emplace(source / bits, nothing).first->second[b] = static_cast<std::uint8_t>(source % bits);
    }
    add_word(program, to, parts);
  }
  program.identity =
      program.shuffles.empty() &&
      std::ranges::all_of(program.copies, [](const WordCopy& copy) { return copy.to == copy.from; });
  if (program.identity) program.copies.clear();
  std::ranges::stable_sort(program.shuffles, {}, &WordShuffle::map);
  return program;
}

void ProgramTable::add_word(Program& program, std::uint64_t to,
                            const std::map<std::uint64_t, BitMap>& parts) {
  const auto word = static_cast<std::uint16_t>(to);
  for (const auto& [number, map] : parts) {
    const auto from = static_cast<std::uint16_t>(number);
    const auto known = intern_map(map);
    if (known == kIdentityMap)
      program.copies.push_back({word, from});
    else
      program.shuffles.push_back({word, from, known});
  }
}

std::uint32_t ProgramTable::intern_map(const BitMap& map) {
  bool same = true;
  for (std::size_t b = 0; b < static_cast<std::size_t>(layout_.bits()); ++b) same = same && map[b] == b;
  if (same) return kIdentityMap;
  const auto [known, is_new] =
      map_index_.try_emplace({map.begin(), map.end()}, static_cast<std::uint32_t>(maps_.size()));
  if (is_new) maps_.push_back(map);
  return known->second;
}

Program ProgramTable::build(const Pattern& pattern) {
  Program program;
  program.identity = is_identity(pattern);
  if (program.identity) return program;
  const int first = layout_.upper_classes(), last = layout_.classes() - layout_.word_classes();
  const int halves = layout_.halves();
  for (std::uint64_t rank = 0; rank < layout_.placements(); ++rank) {
    const Pulled line = pull(layout_, first, last, rank, pattern);
    const Pattern rest = restricted(pattern, line.left);
    const auto map = intern_map(rest);
    for (int half = 0; half < halves; ++half) {
      const auto to = static_cast<std::uint16_t>(rank * static_cast<std::uint64_t>(halves) +
                                                 static_cast<std::uint64_t>(half));
      const int source_half = halves == 2 ? half ^ sign(rest) : 0;
      const auto from = static_cast<std::uint16_t>(line.rank * static_cast<std::uint64_t>(halves) +
                                                   static_cast<std::uint64_t>(source_half));
      if (map == kIdentityMap)
        program.copies.push_back({to, from});
      else
        program.shuffles.push_back({to, from, map});
    }
  }
  sort_by_map(program);
  return program;
}

Program ProgramTable::build(const Pattern& pattern, std::span<const std::uint8_t> labels, bool odd) {
  Program program;
  const auto first = static_cast<std::size_t>(layout_.upper_classes());
  const SlotMask all = first_slots(layout_.line_slots());
  const auto halves = static_cast<std::uint64_t>(layout_.halves());
  const std::uint64_t keys = layout_.word_arrangements();
  const bool in_pairs = layout_.mode() != WordMode::plain;
  const auto parity = [&](std::uint64_t arrangement) {
    return static_cast<unsigned>(layout_.pair_parity(static_cast<int>(arrangement / 2))) ^ (arrangement & 1);
  };
  std::vector<SlotMask> sources(labels.size());
  std::map<std::uint64_t, BitMap> parts;
  for (std::uint64_t to = 0; to < layout_.words_per_line(); ++to) {
    parts.clear();
    const std::uint64_t placement = to / halves;
    const bool odd_word = halves == 2 ? to % 2 != 0 : odd != digits_are_odd(layout_, placement);
    for (std::size_t b = 0; b < static_cast<std::size_t>(layout_.bits()); ++b) {
      std::uint64_t number = in_pairs ? 2 * b : b;
      if (in_pairs && (parity(number) != 0) != odd_word) ++number;
      std::size_t i = 0;
      place_classes(layout_, layout_.upper_classes(), layout_.classes(), placement * keys + number, all,
                    [&](SlotMask places) { sources[labels[i++] - first] = pulled_from(places, pattern); });
      SlotMask free = all;
      std::uint64_t rank = 0;
      for (i = 0; i < sources.size(); free ^= sources[i++])
        rank = rank * layout_.radix(static_cast<int>(first + i)) + rank_set(sources[i], free);
      number = rank % keys;
      const std::uint64_t word = rank / keys * halves + (halves == 2 ? parity(number) : 0);
      BitMap nothing;
      nothing.fill(kNoBit);
      parts.try_emplace(word, nothing).first->second[b] =
          static_cast<std::uint8_t>(in_pairs ? number / 2 : number);
    }
    add_word(program, to, parts);
  }
  sort_by_map(program);
  return program;
}

std::uint32_t ProgramTable::intern_map(const Pattern& pattern) {
  if (is_identity(pattern)) return kIdentityMap;
  const std::string name = name_of(pattern);
  if (const auto known = map_index_.find(name); known != map_index_.end()) return known->second;
  BitMap map;
  map.fill(63);
  const int first = layout_.classes() - layout_.word_classes(), last = layout_.classes();
  const int each = layout_.mode() == WordMode::plain ? 1 : 2;  // arrangements that a bit may stand for
  for (int b = 0; b < layout_.bits(); ++b) {
    const auto source = pull(layout_, first, last, static_cast<std::uint64_t>(b * each), pattern).rank;
    map[static_cast<std::size_t>(b)] = static_cast<std::uint8_t>(source / static_cast<std::uint64_t>(each));
  }
  maps_.push_back(map);
  const auto number = static_cast<std::uint32_t>(maps_.size() - 1);
  map_index_.emplace(name, number);
  return number;
}

}  // namespace farthest
