#include "farthest/reduced.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <set>

#include "reduced_lines.hpp"
#include "shufflers.hpp"

namespace farthest {
namespace {

// As many lines as stay in the second-level cache while all links are taken.
constexpr std::size_t kPieceWords = 32768, kMostLines = 1024;

ReducedBackend reduced_backend(Isa isa, std::size_t words) {
#ifdef FARTHEST_X86
  __builtin_cpu_init();
  if (isa == Isa::avx512 && __builtin_cpu_supports("avx512vbmi")) return avx512_reduced(words);
  if (isa != Isa::portable) return avx2_reduced(words);
#else
  static_cast<void>(isa);
#endif
  return portable_reduced(words);
}

void check_map(const std::vector<std::uint16_t>& map, std::size_t keys) {
  std::vector<bool> seen(keys);
  for (const auto key : map) {
    if (key == kNoLineBit) continue;
    if (key >= keys || seen[key]) throw InvalidArgument("a map of a line's bits must take none twice");
    seen[key] = true;
  }
  if (map.size() != keys) throw InvalidArgument("a map of a line's bits must have all of them");
}

bool is_partial(const std::vector<std::uint16_t>& map) {
  return std::ranges::find(map, kNoLineBit) != map.end();
}

Geometry geometry_of(std::uint64_t words, int bits, const std::vector<LineDigit>& digits,
                     std::size_t firsts) {
  if (words < 1 || words > kMaxLineWords || bits < 1 || bits > 64 ||
      words * static_cast<std::uint64_t>(bits) > kNoLineBit)
    throw InvalidArgument("a line must have 1 to 512 words of 1 to 64 bits, and at most 65535 bits");
  if (firsts < 2) throw InvalidArgument("a space must have a shard");
  std::uint64_t lines = 1;
  for (const LineDigit& digit : digits) {
    if (digit.radix < 1 || digit.radix > kNoLine / lines)
      throw LimitExceeded("a shard has more than 2^31 lines of states");
    if (digit.terms.empty() || digit.terms.size() % digit.radix != 0 ||
        (!digit.odd.empty() && digit.odd.size() != digit.radix))
      throw InvalidArgument("a digit must have lists of as many terms as values");
    lines *= digit.radix;
  }
  return {firsts - 1, lines, words, 1, bits, {}};
}

}  // namespace

// The maps of lines, each linear where it can be, else a program of shuffles.
class LineMaps {
 public:
  LineMaps(std::size_t words, int bits, const std::vector<std::vector<std::uint16_t>>& maps, Isa isa)
      : backend_(reduced_backend(isa, words)) {
    const std::size_t keys = words * static_cast<std::size_t>(bits);
    for (const auto& map : maps) {
      check_map(map, keys);
      std::optional<LineMap> found;
      if (bits == 64 && std::has_single_bit(words) && words <= 256 && !is_partial(map))
        found = linear_map(map, backend_.unit_bits);
      const auto word_bits = static_cast<std::size_t>(bits);
      if (found) {
        places_.push_back({Kind::linear, linears_.size()});
        add(std::move(*found));
      } else if (backend_.pull_bits != nullptr && scatters(map, words, word_bits)) {
        places_.push_back({Kind::bytes, bytes_.size()});
        bytes_.push_back(bytes_of(map, words, word_bits));
      } else {
        places_.push_back({Kind::program, programs_.size()});
        programs_.push_back(program_of(map, word_bits));
      }
    }
    shufflers_ = std::make_unique<Shufflers>(isa, bits, bit_maps_);
  }

  void pull(std::uint32_t map, const Pull& pull) const {
    const Place& place = places_[map];
    if (place.kind == Kind::linear)
      backend_.pull(linears_[place.number], pull);
    else if (place.kind == Kind::bytes)
      backend_.pull_bits(bytes_[place.number].data(), pull);
    else
      shufflers_->pull()(programs_[place.number], shufflers_->data(), pull);
  }
  FinishLines finish() const { return backend_.finish; }

 private:
  enum class Kind : std::uint8_t { linear, bytes, program };
  struct Place {
    Kind kind;
    std::size_t number;
  };

  // Whether words of the result have bits of several words of the source on the mean.
  static bool scatters(const std::vector<std::uint16_t>& map, std::size_t words, std::size_t bits) {
    std::set<std::pair<std::size_t, std::size_t>> parts;
    for (std::size_t key = 0; key < map.size() && parts.size() <= words; ++key)
      if (map[key] != kNoLineBit) parts.emplace(key / bits, map[key] / bits);
    return parts.size() > words;
  }

  void add(LineMap map) {
    const LineMap& kept = kept_.emplace_back(std::move(map));
    auto& stages = stages_.emplace_back();
    for (const LineStage& stage : kept.stages)
      stages.push_back({stage.partner, stage.shift, stage.left.data(), stage.right.data()});
    linears_.push_back({stages, kept.units.empty() ? nullptr : kept.units.data()});
  }

  // See LineBytes.
  static std::vector<LineBytes> bytes_of(const std::vector<std::uint16_t>& map, std::size_t words,
                                         std::size_t bits) {
    std::vector<LineBytes> found(words);
    for (std::size_t key = 0; key < map.size(); ++key) {
      if (map[key] == kNoLineBit) continue;
      LineBytes& to = found[key / bits];
      const std::size_t byte = map[key] / bits * 8 + map[key] % bits / 8;
      to.byte[key % bits] = static_cast<std::uint8_t>(byte);
      to.bit[key % bits] = static_cast<std::uint8_t>(1U << map[key] % bits % 8);
      if (byte >= 256) to.upper |= Word{1} << key % bits;
    }
    return found;
  }

  Program program_of(const std::vector<std::uint16_t>& map, std::size_t bits) {
    Program program;
    for (std::size_t to = 0; to * bits < map.size(); ++to) {
      std::map<std::size_t, BitMap> parts;  // by the word that the bits are from
      for (std::size_t b = 0; b < bits; ++b) {
        BitMap nothing;
        nothing.fill(kNoBit);
        const std::size_t from = map[to * bits + b];
        if (from == kNoLineBit) continue;
        parts.try_emplace(from / bits, nothing).first->second[b] = static_cast<std::uint8_t>(from % bits);
      }
      for (const auto& [from, part] : parts) {
        const auto word = static_cast<std::uint16_t>(from), here = static_cast<std::uint16_t>(to);
        bool same = true;
        for (std::size_t b = 0; b < bits; ++b) same = same && part[b] == b;
        if (same) {
          program.copies.push_back({here, word});
          continue;
        }
        const auto [known, is_new] = index_.try_emplace(part, static_cast<std::uint32_t>(bit_maps_.size()));
        if (is_new) bit_maps_.push_back(part);
        program.shuffles.push_back({here, word, known->second});
      }
    }
    std::ranges::stable_sort(program.shuffles, {}, &WordShuffle::map);
    return program;
  }

  ReducedBackend backend_;
  std::vector<Place> places_;
  std::deque<LineMap> kept_;
  std::deque<std::vector<LinearStage>> stages_;
  std::vector<LinearMap> linears_;
  std::vector<std::vector<LineBytes>> bytes_;
  std::vector<Program> programs_;
  std::vector<BitMap> bit_maps_;
  std::map<BitMap, std::uint32_t> index_;
  std::unique_ptr<Shufflers> shufflers_;
};

ReducedSpace::ReducedSpace(std::uint64_t words_per_line, int bits, std::vector<LineDigit> digits,
                           ReducedLinks links, HeldLinks held, std::vector<std::uint32_t> weights,
                           const std::vector<std::vector<std::uint16_t>>& maps, bool reversible, Isa isa)
    : Space(geometry_of(words_per_line, bits, digits, links.first.size())),
      digits_(std::move(digits)),
      links_(std::move(links)),
      held_(std::move(held)),
      weights_(std::move(weights)),
      reversible_(reversible),
      lines_at_once_(std::clamp<std::uint64_t>(kPieceWords / words_per_line, 1, kMostLines)),
      all_(bits == 64 ? ~Word{0} : (Word{1} << bits) - 1),
      maps_(std::make_unique<LineMaps>(words_per_line, bits, maps, isa)) {
  partial_ = std::ranges::any_of(maps, is_partial);
  halved_ = std::ranges::any_of(digits_, [](const LineDigit& digit) { return !digit.odd.empty(); });
  if (halved_ && maps.size() % 2 != 0) throw InvalidArgument("there must be two maps for a link");
  const std::uint64_t count = links_.sources.size();
  if (weights_.size() != shards()) throw InvalidArgument("there must be a weight for each shard");
  check_links(links_.first, links_.maps, links_.terms, maps.size());
  check_links(held_.first, held_.maps, held_.terms, maps.size());
  if (links_.maps.size() != count ||
      std::ranges::any_of(links_.sources, [&](auto s) { return s >= shards(); }))
    throw InvalidArgument("a link must name a shard");
  for (const auto& map : maps) {
    auto& kept = kept_.emplace_back(words_per_line);
    for (std::size_t key = 0; key < map.size(); ++key)
      if (map[key] == key)
        kept[key / static_cast<unsigned>(bits)] |= Word{1} << key % static_cast<unsigned>(bits);
  }
}

void ReducedSpace::check_links(const std::vector<std::uint64_t>& first,
                               const std::vector<std::uint32_t>& maps,
                               const std::vector<std::uint32_t>& terms, std::size_t most_maps) {
  const std::uint64_t count = maps.size();
  if (first.size() != shards() + 1 || first.front() != 0 || first.back() != count ||
      !std::ranges::is_sorted(first) || terms.size() != count * digits_.size())
    throw InvalidArgument("the links of shards must be told one shard after another");
  if (std::ranges::any_of(maps, [&](auto m) { return m >= most_maps; }))
    throw InvalidArgument("a link must name a map");
  // By digit, then by list: its greatest term, and whether some values have none.
  std::vector<std::vector<std::pair<std::uint32_t, bool>>> lists(digits_.size());
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    const LineDigit& digit = digits_[i];
    lists[i].resize(digit.terms.size() / digit.radix);
    for (std::size_t at = 0; at < digit.terms.size(); ++at) {
      auto& [greatest, partial] = lists[i][at / digit.radix];
      if (digit.terms[at] == kNoLine)
        partial = true;
      else
        greatest = std::max(greatest, digit.terms[at]);
    }
  }
  for (std::uint64_t link = 0; link < count; ++link) {
    std::uint64_t most = 0;  // source line
    for (std::size_t i = 0; i < digits_.size(); ++i) {
      const std::uint32_t list = terms[link * digits_.size() + i];
      if (list >= lists[i].size()) throw InvalidArgument("a link must name a list of terms of each digit");
      partial_ = partial_ || lists[i][list].second;
      most += lists[i][list].first;
    }
    if (most >= lines_per_shard()) throw InvalidArgument("a line must come from a line of a shard");
  }
}

ReducedSpace::~ReducedSpace() = default;

std::uint64_t ReducedSpace::row_bytes() const {
  std::uint64_t bytes = links_.sources.size() * (8 + 4 * digits_.size());
  for (const LineDigit& digit : digits_) bytes += digit.terms.size() * sizeof(std::uint32_t);
  return bytes;
}

void ReducedSpace::source_lines(const std::uint32_t* lists, std::uint64_t first, std::size_t count,
                                std::uint32_t* out) const {
  constexpr std::size_t kMostDigits = 64;
  const std::size_t digits = digits_.size();
  if (digits == 0) {
    std::fill_n(out, count, 0);
    return;
  }
  std::array<const std::uint32_t*, kMostDigits> terms{};
  std::array<std::uint64_t, kMostDigits> value{};
  for (std::size_t i = digits; i-- > 0;) {
    terms[i] = digits_[i].terms.data() + std::uint64_t{lists[i]} * digits_[i].radix;
    value[i] = first % digits_[i].radix;
    first /= digits_[i].radix;
  }
  const std::size_t last = digits - 1;
  while (count != 0) {
    std::uint32_t sum = 0;
    bool none = false;
    for (std::size_t i = 0; i < last; ++i) {
      none = none || terms[i][value[i]] == kNoLine;
      sum += terms[i][value[i]];
    }
    const auto run = std::min<std::size_t>(count, digits_[last].radix - value[last]);
    if (none)
      std::fill_n(out, run, kNoLine);
    else
      for (std::size_t i = 0; i < run; ++i) out[i] = sum + terms[last][value[last] + i];
    out += run, count -= run;
    value[last] += run;
    for (std::size_t i = digits; i-- > 0 && value[i] == digits_[i].radix;) {
      value[i] = 0;
      if (i > 0) ++value[i - 1];
    }
  }
}

void ReducedSpace::odd_lines(std::uint64_t first, std::size_t count, std::uint8_t* out) const {
  std::fill_n(out, count, std::uint8_t{0});
  std::uint64_t weight = 1;  // of the digit
  for (auto digit = digits_.rbegin(); digit != digits_.rend(); weight *= digit->radix, ++digit)
    for (std::size_t i = 0; i < count && !digit->odd.empty(); ++i)
      out[i] = out[i] != (digit->odd[(first + i) / weight % digit->radix] != 0);
}

std::uint64_t ReducedSpace::step_lines(const LineRange& range) const {
  static thread_local std::vector<Word> result;
  const std::size_t words = words_per_line();
  result.resize(std::max(result.size(), lines_at_once_ * words));
  // The links whose source has states: of small layers few have.
  std::vector<std::uint32_t> links;
  const bool looked_through = range.last - range.first >= lines_per_shard() / 4;
  for (std::uint32_t i = 0; i < range.source_words.size(); ++i) {
    const std::uint8_t* const flags = range.source_flags[i];
    if (!looked_through || std::any_of(flags, flags + lines_per_shard(), [](auto f) { return f != 0; }))
      links.push_back(i);
  }
  std::uint64_t total = 0;
  for (std::uint64_t first = range.first; first < range.last; first += lines_at_once_)
    total += step_some(range, links, first, std::min(range.last - first, lines_at_once_), result.data());
  return total * weights_[range.shard];
}

std::uint64_t ReducedSpace::step_some(const LineRange& range, std::span<const std::uint32_t> links,
                                      std::uint64_t first, std::size_t count, Word* result) const {
  const std::size_t words = words_per_line();
  std::array<std::uint8_t, kMostLines> touched;
  std::array<std::uint16_t, kMostLines> at[2];  // the lines that are not full, even and odd ones
  std::array<std::uint16_t, kMostLines> some;   // of these, those of which a link has states in the source
  std::array<std::uint32_t, kMostLines + kPullAhead> lines, chosen;
  std::array<std::uint8_t, kMostLines> odd;
  if (range.known_flags == nullptr) {
    std::fill_n(result, count * words, Word{0});
    std::fill_n(touched.begin(), count, std::uint8_t{0});
  } else {
    std::copy_n(range.known_flags + (first - range.from), count, touched.begin());
    std::copy_n(range.exclude[0] + (first - range.from) * words, count * words, result);
  }
  odd_lines(first, count, odd.data());
  std::size_t open[2] = {0, 0};
  for (std::size_t line = 0; line < count; ++line)
    at[odd[line]][open[odd[line]]++] = static_cast<std::uint16_t>(line);
  const std::uint64_t begin = links_.first[range.shard];
  for (const std::uint32_t i : links) {
    if (std::memchr(touched.data(), kFull, count) != nullptr)
      for (const int parity : {0, 1}) {
        const auto end = at[parity].begin() + static_cast<std::ptrdiff_t>(open[parity]);
        open[parity] = static_cast<std::size_t>(
            std::remove_if(at[parity].begin(), end, [&](auto line) { return touched[line] == kFull; }) -
            at[parity].begin());
      }
    if (open[0] + open[1] == 0) break;
    const auto known = std::min<std::uint64_t>(count + kPullAhead, lines_per_shard() - first);
    source_lines(links_.terms.data() + (begin + i) * digits_.size(), first, known, lines.data());
    const auto pull = [&](std::uint32_t map, std::array<std::uint32_t, kMostLines + kPullAhead>& from,
                          std::size_t end, const std::uint16_t* to, std::size_t taken) {
      std::fill(from.begin() + static_cast<std::ptrdiff_t>(end),
                from.begin() + static_cast<std::ptrdiff_t>(taken + kPullAhead), from[0]);
      maps_->pull(map, {words, range.source_words[i], range.source_flags[i], from.data(), to, taken, result,
                        touched.data(), all_});
    };
    if (open[0] == count && !partial_) {
      pull(links_.maps[begin + i], lines, known, at[0].data(), count);
      continue;
    }
    for (const std::uint32_t parity : {0U, 1U}) {
      std::size_t taken = 0;
      for (std::size_t line = 0; line < open[parity]; ++line) {
        const std::uint16_t to = at[parity][line];
        chosen[taken] = lines[to], some[taken] = to;
        taken += chosen[taken] < kNoLine && range.source_flags[i][chosen[taken]] != 0;
      }
      if (taken != 0) pull(links_.maps[begin + i] ^ parity, chosen, taken, some.data(), taken);
    }
  }
  return maps_->finish()(range, {first, count, words, result, touched.data(), all_});
}

std::uint64_t ReducedSpace::fixed_states(const LineRange& range) const {
  std::array<std::uint32_t, kMostLines> lines;
  std::array<std::uint8_t, kMostLines> odd{};
  const std::size_t words = words_per_line();
  std::uint64_t found = 0;
  for (std::uint64_t link = held_.first[range.shard]; link < held_.first[range.shard + 1]; ++link)
    for (std::uint64_t first = range.first; first < range.last; first += kMostLines) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(range.last - first, kMostLines));
      source_lines(held_.terms.data() + link * digits_.size(), first, count, lines.data());
      if (halved_) odd_lines(first, count, odd.data());
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t at = first + i - range.from;
        if (lines[i] != first + i || range.fresh_flags[at] == 0) continue;
        const std::vector<Word>& kept = kept_[held_.maps[link] ^ odd[i]];
        for (std::size_t w = 0; w < words; ++w) {
          Word fresh = range.fresh[at * words + w] & kept[w];
          if (range.known_flags != nullptr) fresh &= ~range.exclude[0][at * words + w];
          found += static_cast<std::uint64_t>(std::popcount(fresh));
        }
      }
    }
  return found;
}

}  // namespace farthest
