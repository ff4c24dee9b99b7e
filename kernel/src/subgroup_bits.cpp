#include "farthest/subgroup_bits.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "farthest/types.hpp"
#include "parallel.hpp"
#include "subgroup_lines.hpp"
#include "subgroup_marks.hpp"

namespace farthest {

namespace {

constexpr std::size_t kSlack = 64;  // what is read from a block on
constexpr std::size_t kMostOwn = 32;
constexpr std::size_t kEight = 8, kFour = 4, kSecond = 16, kThird = 24;

using Eight = std::array<std::uint8_t, kEight>;
using Four = std::array<std::uint8_t, kFour>;

// What a move does: where the contents of each orbit's slots come from.
struct Parts {
  Eight first, second;
  Four third;
};

enum class Kind { upper, lower, exchange };

// How a move permutes the second and the third orbit, if it is one of the ways that fit.
template <class Contents>
bool is_start(const Contents& contents) {
  for (std::size_t i = 0; i < contents.size(); ++i)
    if (contents[i] != i) return false;
  return true;
}

std::optional<Kind> kind_of(const Eight& second, const Four& third) {
  std::size_t upper = 0, lower = 0, across = 0;  // slots that get something, and from the other half
  for (std::size_t i = 0; i < kEight; ++i) {
    if (second[i] == i) continue;
    ++(i < kFour ? upper : lower);
    across += (i < kFour) != (second[i] < kFour);
  }
  if (upper == 1 && lower == 1 && across == 2) return Kind::exchange;
  if (across > 0 || !is_start(third)) return {};
  if (lower == 0) return Kind::upper;
  if (upper == 0) return Kind::lower;
  return {};
}

template <class Contents>
int inversions(const Contents& contents) {
  int found = 0;
  for (std::size_t i = 0; i < contents.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) found += contents[j] > contents[i];
  return found;
}

[[noreturn]] void refuse(const std::string& why) {
  throw InvalidArgument("the subgroup has no bits: " + why);
}

Parts parts_of(const SubgroupBits::Bytes& move) {
  Parts parts;
  std::uint32_t met = 0;
  for (std::size_t i = 0; i < move.size(); ++i) {
    const std::size_t from = i / 16 * 16 + move[i];
    const bool moving = i < kEight || (i >= kSecond && i < kThird + kFour);
    const bool keeps =
        moving ? i / kEight == from / kEight && (i < kThird || from < kThird + kFour) : from == i;
    if (move[i] >= 16 || !keeps) refuse("a move takes bytes from one orbit to another");
    met |= std::uint32_t{1} << from;
    if (i < kEight)
      parts.first[i] = move[i];
    else if (i >= kThird && moving)
      parts.third[i - kThird] = static_cast<std::uint8_t>(from - kThird);
    else if (moving)
      parts.second[i - kSecond] = move[i];
  }
  if (met != ~std::uint32_t{0}) refuse("a move takes two bytes to one");
  if ((inversions(parts.first) + inversions(parts.second) + inversions(parts.third)) % 2 != 0)
    refuse("a move is an odd permutation");
  return parts;
}

// Contents before a move.
template <class Contents>
Contents before(const Contents& after, const Contents& from) {
  Contents made;
  for (std::size_t i = 0; i < after.size(); ++i) made[from[i]] = after[i];
  return made;
}

SubgroupRanks make_ranks() {
  SubgroupRanks ranks;
  std::uint16_t number = 0;
  for (std::size_t word = 0; word < ranks.first.size(); ++word) {
    Four four;  // ascend with the word, the first slot's first
    for (std::size_t i = 0; i < kFour; ++i) four[i] = word >> 3 * (kFour - 1 - i) & 7;
    std::size_t bits = 0, order = 0;
    bool alike = false;
    for (std::size_t i = 0; i < kFour; ++i) {
      bits |= std::size_t{four[i]} << 3 * i;
      std::size_t smaller = 0;
      for (std::size_t j = i + 1; j < kFour; ++j) {
        smaller += four[j] < four[i];
        alike |= four[j] == four[i];
      }
      order = order * (kFour - i) + smaller;
    }
    if (alike) continue;
    ranks.first[bits] = static_cast<std::uint16_t>(number++ * SubgroupBits::kLanes);
    ranks.last[bits] = static_cast<std::uint16_t>(order);
  }
  for (std::size_t word = 0; word < ranks.third.size(); ++word) {
    std::size_t at[kFour] = {};
    for (std::size_t i = 0; i < kFour; ++i) at[word >> 2 * i & 3] = i;
    ranks.third[word] = static_cast<std::uint8_t>(at[0] * 3 + at[1] - (at[1] > at[0]));
  }
  return ranks;
}

void take_lane(SubgroupLanes& lanes, std::size_t lane, std::size_t from, std::size_t source = 0) {
  for (std::size_t byte = 0; byte < 2; ++byte)
    lanes.from[2 * lane + byte] = static_cast<std::uint8_t>(source % 2 * 64 + from * 3 / 2 + byte);
  lanes.shift[lane] = from % 2 * 4;
}

constexpr SubgroupShuffle kNoShuffle = [] {
  SubgroupShuffle none{};
  for (auto& chunk : none.from) std::ranges::fill(chunk, std::uint8_t{0xff});
  return none;
}();

void take_lane(SubgroupShuffle& shuffle, std::size_t lane, std::size_t from) {
  for (std::size_t byte = 0; byte < 2; ++byte)
    shuffle.from[from / kEight][2 * lane + byte] = static_cast<std::uint8_t>(from % kEight * 3 / 2 + byte);
  shuffle.shifted[lane] = from % 2 == 0 ? 0 : 0xffff;
}

// By exchanged slot's piece.
void fill_groups(SubgroupExchange& exchange) {
  exchange.gather = kNoShuffle;
  std::memset(exchange.spread, 0xff, sizeof exchange.spread);
  std::size_t counts[SubgroupExchange::kPieces] = {};
  for (std::size_t lane = 0; lane < SubgroupBits::kLanes; ++lane) {
    const std::size_t up = exchange.up[lane], number = counts[up]++;
    take_lane(exchange.gather, kEight * up + number, lane);
    for (std::size_t byte = 0; byte < 2; ++byte)
      exchange.spread[up][2 * lane + byte] = static_cast<std::uint8_t>(2 * number + byte);
  }
}

// What a move makes of the bits of a lane.
void fill_thirds(SubgroupExchange& exchange, const SubgroupRanks& ranks, const Four& from) {
  std::array<std::size_t, SubgroupBits::kLaneBits> to{};
  Four third{0, 1, 2, 3};
  const auto rank = [&](const Four& contents) {
    std::size_t bits = 0;
    for (std::size_t i = 0; i < kFour; ++i) bits |= std::size_t{contents[i]} << 2 * i;
    return ranks.third[bits];
  };
  do to[rank(before(third, from))] = rank(third);
  while (std::ranges::next_permutation(third).found);
  for (std::size_t bits = 0; bits < std::size(exchange.becomes); ++bits)
    for (std::size_t bit = 0; bit < to.size(); ++bit)
      if ((bits >> bit & 1) != 0) exchange.becomes[bits] |= static_cast<std::uint16_t>(1 << to[bit]);
  for (std::size_t six = 0; six < 64; ++six)
    for (std::size_t high = 0; high < 2; ++high)
      for (std::size_t byte = 0; byte < 2; ++byte)
        exchange.bytes[high][byte][six] =
            static_cast<std::uint8_t>(exchange.becomes[high != 0 ? six << 6 : six] >> 8 * byte);
  for (std::size_t four = 0; four < 32; ++four)
    for (std::size_t part = 0; part < 3; ++part)
      for (std::size_t byte = 0; byte < 2; ++byte)
        exchange.fours[part][byte][four] =
            static_cast<std::uint8_t>(exchange.becomes[four % 16 << 4 * part] >> 8 * byte);
}

}  // namespace

// The tables of a step, and which pages it goes by.
struct SubgroupMoves {
  SubgroupMoves(const SubgroupRanks& ranks, const std::vector<SubgroupBits::Bytes>& own, Isa isa);

  SubgroupTables tables() const {
    return {upper.size(), lower.size(),          exchange.size(), upper.data(),
            lower.data(), lower_shuffles.data(), exchange.data()};
  }
  std::size_t count() const { return upper.size() + lower.size() + exchange.size(); }

  std::vector<SubgroupBlocks> upper;
  std::vector<SubgroupLanes> lower;
  std::vector<SubgroupShuffle> lower_shuffles;
  std::vector<SubgroupExchange> exchange;
  std::vector<std::uint16_t> pages;  // by page and move: where it is made from
  SubgroupStep step = subgroup_step_portable;

  // Pages that uppers and lowers take to each other are a set: they are made together, as most of what they
  // read is then in the cache. Some sets, a batch, are made at a time, after their pages have been kept as
  // they were; what is kept is no longer needed when all sets that read it are made. So sets come in an order
  // in which few are kept.
  std::vector<std::uint16_t> order;  // pages
  std::vector<std::size_t> sets;     // where they begin in it, and the end
  static constexpr std::size_t kBatch = 64;
  std::vector<std::uint16_t> batch, place;  // by page: its batch, and where it is kept
  std::size_t places = 0;
  std::size_t batches() const { return (sets.size() + kBatch - 2) / kBatch; }

 private:
  void order_sets();
};

SubgroupMoves::SubgroupMoves(const SubgroupRanks& ranks, const std::vector<SubgroupBits::Bytes>& own,
                             Isa isa) {
#ifdef FARTHEST_X86
  if (isa != Isa::portable) step = subgroup_step_avx2;
  if (isa == Isa::avx512 && __builtin_cpu_supports("avx512vbmi")) step = subgroup_step_avx512;
#else
  static_cast<void>(isa);
#endif
  if (own.size() > kMostOwn) refuse("it has more than 32 moves");
  std::vector<Eight> contents(SubgroupBits::kPages);  // by rank
  Eight eight{0, 1, 2, 3, 4, 5, 6, 7};
  const auto rank = [&](const Eight& some) -> std::size_t {
    std::size_t bits = 0;
    for (std::size_t i = 0; i < kEight; ++i) bits |= std::size_t{some[i]} << 3 * i;
    return std::size_t{ranks.first[bits & 4095]} + ranks.last[bits >> 12];
  };
  do contents[rank(eight)] = eight;
  while (std::ranges::next_permutation(eight).found);

  std::vector<Parts> sorted;
  for (const Kind kind : {Kind::upper, Kind::lower, Kind::exchange})
    for (const auto& move : own)
      if (const Parts parts = parts_of(move); kind_of(parts.second, parts.third) == kind)
        sorted.push_back(parts);
  if (sorted.size() != own.size())
    refuse("a move is neither of the halves of the second orbit nor exchanges two slots");
  for (const Parts& move : sorted) {
    // Of an element of the second orbit, the one before the move.
    const auto source = [&](std::size_t after) { return rank(before(contents[after], move.second)); };
    switch (*kind_of(move.second, move.third)) {
      case Kind::upper: {
        auto& blocks = upper.emplace_back();
        for (std::size_t block = 0; block < SubgroupBits::kBlocks; ++block)
          blocks.number[block] =
              static_cast<std::uint16_t>(source(block * SubgroupBits::kLanes) / SubgroupBits::kLanes);
        break;
      }
      case Kind::lower: {
        auto& lanes = lower.emplace_back();
        auto& shuffle = lower_shuffles.emplace_back(kNoShuffle);
        for (std::size_t lane = 0; lane < SubgroupBits::kLanes; ++lane) {
          take_lane(lanes, lane, source(lane));
          take_lane(shuffle, lane, source(lane));
        }
        break;
      }
      case Kind::exchange: {
        auto& made = exchange.emplace_back();
        fill_thirds(made, ranks, move.third);
        std::size_t high = 0, low = kFour;  // the slots
        while (move.second[high] == high) ++high;
        while (move.second[low] == low) ++low;
        for (std::size_t lane = 0; lane < SubgroupBits::kLanes; ++lane) {
          made.up[lane] = static_cast<std::uint8_t>(contents[lane][low] - kFour);
          made.second[lane] = made.up[lane] < 2 ? 0 : 0xffff;
        }
        fill_groups(made);
        for (std::size_t block = 0; block < SubgroupBits::kBlocks; ++block) {
          const Eight& some = contents[block * SubgroupBits::kLanes];
          for (std::size_t i = kFour; i < kEight; ++i) made.ranks[block] += some[i] < some[high];
          for (std::size_t lane = 0; lane < SubgroupBits::kLanes; ++lane) {
            const std::size_t from = source(block * SubgroupBits::kLanes + lane);
            made.blocks[block][made.up[lane]] = static_cast<std::uint16_t>(from / SubgroupBits::kLanes);
            take_lane(made.lanes[made.ranks[block]], lane, from % SubgroupBits::kLanes, made.up[lane]);
          }
        }
      }
    }
  }
  for (const Eight& page : contents)
    for (const Parts& move : sorted)
      pages.push_back(static_cast<std::uint16_t>(rank(before(page, move.first))));
  order_sets();
}

// Next comes the set that reads most of those that are made; of several the one of which that has been true
// for longest.
void SubgroupMoves::order_sets() {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<std::vector<std::uint16_t>> found;
  std::vector<std::uint32_t> set_of(SubgroupBits::kPages, kNone);
  const auto near = [&](std::size_t page, std::size_t move) { return pages[page * count() + move]; };
  for (std::size_t page = 0; page < SubgroupBits::kPages; ++page) {
    if (set_of[page] != kNone) continue;
    const auto here = static_cast<std::uint32_t>(found.size());
    auto& set = found.emplace_back(1, static_cast<std::uint16_t>(page));
    set_of[page] = here;
    for (std::size_t i = 0; i < set.size(); ++i)
      for (std::size_t move = 0; move < upper.size() + lower.size(); ++move)
        if (const std::uint16_t next = near(set[i], move); std::exchange(set_of[next], here) == kNone)
          set.push_back(next);
  }
  std::vector<std::vector<std::uint32_t>> readers(found.size());
  for (std::size_t page = 0; page < SubgroupBits::kPages; ++page)
    for (std::size_t move = upper.size() + lower.size(); move < count(); ++move)
      readers[set_of[near(page, move)]].push_back(set_of[page]);
  for (auto& some : readers) {
    std::ranges::sort(some);
    some.erase(std::ranges::unique(some).begin(), some.end());
  }
  std::vector<std::size_t> made_before(found.size()), since(found.size()), number(found.size(), kNone);
  std::vector<std::size_t> made;
  while (made.size() < found.size()) {
    std::size_t best = kNone;
    for (std::size_t set = 0; set < found.size(); ++set)
      if (number[set] == kNone && (best == kNone || made_before[set] > made_before[best] ||
                                   (made_before[set] == made_before[best] && since[set] < since[best])))
        best = set;
    number[best] = made.size();
    sets.push_back(order.size());
    order.insert(order.end(), found[best].begin(), found[best].end());
    for (const auto reader : readers[best]) {
      ++made_before[reader];
      since[reader] = made.size();
    }
    made.push_back(best);
  }
  sets.push_back(order.size());

  batch.resize(SubgroupBits::kPages);
  place.resize(SubgroupBits::kPages);
  std::vector<std::uint16_t> free;
  std::vector<std::vector<std::size_t>> last(batches());  // by batch: the sets that are read last in it
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (i % kBatch == 0 && i > 0)
      for (const auto set : last[i / kBatch - 1])
        for (const auto page : found[set]) free.push_back(place[page]);
    std::size_t end = i / kBatch;
    for (const auto reader : readers[made[i]]) end = std::max(end, number[reader] / kBatch);
    last[end].push_back(made[i]);
    for (const auto page : found[made[i]]) {
      if (free.empty()) free.push_back(static_cast<std::uint16_t>(places++));
      batch[page] = static_cast<std::uint16_t>(i / kBatch);
      place[page] = free.back();
      free.pop_back();
    }
  }
}

std::vector<std::uint8_t> SubgroupBits::places(const std::vector<std::vector<std::uint8_t>>& own) {
  if (own.empty()) refuse("there are no moves");
  for (const auto& move : own) {
    std::vector<bool> met(move.size());
    for (const auto from : move)
      if (move.size() != kSlots || from >= kSlots || met[from])
        refuse("a move is no permutation of 20 slots");
      else
        met[from] = true;
  }
  std::vector<std::vector<std::uint8_t>> orbits;
  std::vector<bool> met(kSlots);
  for (std::uint8_t slot = 0; slot < kSlots; ++slot) {
    if (met[slot]) continue;
    met[slot] = true;
    auto& orbit = orbits.emplace_back(1, slot);
    for (std::size_t i = 0; i < orbit.size(); ++i)
      for (const auto& move : own)
        if (const std::uint8_t from = move[orbit[i]]; !met[from]) {
          met[from] = true;
          orbit.push_back(from);
        }
    std::ranges::sort(orbit);
  }
  std::ranges::stable_sort(orbits, std::ranges::greater{}, &std::vector<std::uint8_t>::size);
  if (orbits.size() != 3 || orbits[0].size() != kEight || orbits[1].size() != kEight)
    refuse("its moves do not have orbits of 8, 8 and 4 slots");
  // Each of the eights may be the second orbit, and any four of its slots the upper ones.
  for (int second = 0; second < 2; ++second, std::swap(orbits[0], orbits[1]))
    for (unsigned half = 0; half < 256; ++half) {
      if (std::popcount(half) != kFour) continue;
      std::vector<std::uint8_t> place(kSlots), slots = orbits[0];
      for (const unsigned wanted : {1u, 0u})
        for (std::size_t i = 0; i < kEight; ++i)
          if ((half >> i & 1) == wanted) slots.push_back(orbits[1][i]);
      slots.insert(slots.end(), orbits[2].begin(), orbits[2].end());
      for (std::size_t i = 0; i < kSlots; ++i)
        place[slots[i]] = static_cast<std::uint8_t>(i < kEight ? i : kSecond - kEight + i);
      if (std::ranges::all_of(own, [&](const auto& move) {
            Eight eight;
            Four four;
            for (std::size_t i = 0; i < kEight; ++i)
              eight[i] = static_cast<std::uint8_t>(place[move[slots[kEight + i]]] - kSecond);
            for (std::size_t i = 0; i < kFour; ++i)
              four[i] = static_cast<std::uint8_t>(place[move[slots[2 * kEight + i]]] - kThird);
            return kind_of(eight, four).has_value();
          }))
        return place;
    }
  refuse("its moves do not permute one half of an orbit of 8, or exchange two slots of its halves");
}

SubgroupBits::SubgroupBits(const std::vector<Bytes>& own, Isa isa)
    : ranks_(make_ranks()),
      moves_(std::make_unique<SubgroupMoves>(ranks_, own, isa)),
      bits_(kPages * kPageBytes + kSlack),
      kept_(moves_->places * kPageBytes + kSlack),
      filled_(kPages),
      after_(kPages) {}

SubgroupBits::~SubgroupBits() = default;

std::span<const std::uint8_t> SubgroupBits::pages(std::size_t first, std::size_t count) const {
  if (first > kPages || count > kPages - first) throw InvalidArgument("there are no such pages");
  const auto filled = std::span(filled_).subspan(first, count);
  if (std::ranges::all_of(filled, [](std::uint8_t some) { return some == 0; })) return {};
  return bits_.bytes().subspan(first * kPageBytes, count * kPageBytes);
}

void SubgroupBits::set_pages(std::size_t first, std::span<const std::uint8_t> bytes) {
  const std::size_t count = bytes.size() / kPageBytes;
  if (bytes.size() % kPageBytes != 0) throw InvalidArgument("the bytes are not whole pages");
  if (first > kPages || count > kPages - first) throw InvalidArgument("there are no such pages");
  for (std::size_t page = first; page < first + count; ++page) {
    const auto from = bytes.subspan((page - first) * kPageBytes, kPageBytes);
    const bool some = std::ranges::any_of(from, [](std::uint8_t byte) { return byte != 0; });
    if (some || filled_[page] != 0)
      std::memcpy(bits_.bytes().data() + page * kPageBytes, from.data(), kPageBytes);
    filled_[page] = some;
  }
}

std::uint64_t SubgroupBits::ones(int threads) const {
  std::atomic<std::uint64_t> ones{0};
  in_parallel(kPages, threads, [&](std::uint64_t page) {
    if (filled_[page] == 0) return;
    const std::uint64_t* word = words() + page * kPageBytes / sizeof(std::uint64_t);
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < kPageBytes / sizeof(std::uint64_t); ++i)
      found += static_cast<std::uint64_t>(std::popcount(word[i]));
    ones.fetch_add(found, std::memory_order_relaxed);
  });
  return ones;
}

std::optional<std::uint64_t> SubgroupBits::step(int threads, std::chrono::steady_clock::time_point until) {
  const SubgroupMoves& moves = *moves_;
  const SubgroupTables tables = moves.tables();
  const std::size_t count = moves.count();
  std::uint8_t* const bits = bits_.bytes().data();
  std::uint8_t* const kept = kept_.bytes().data();
  const std::vector<std::uint8_t> zeros(kPageBytes + kSlack);
  std::atomic<std::uint64_t> ones{batch_ == 0 ? 0 : ones_};
  do {
    const std::size_t first = batch_ * SubgroupMoves::kBatch;
    const std::size_t size = std::min(SubgroupMoves::kBatch, moves.sets.size() - 1 - first);
    const auto each_page = [&](const auto& work) {
      in_parallel(size, threads, [&](std::uint64_t set) {
        for (std::size_t i = moves.sets[first + set]; i < moves.sets[first + set + 1]; ++i)
          work(std::size_t{moves.order[i]});
      });
    };
    each_page([&](std::size_t page) {
      if (filled_[page] != 0)
        std::memcpy(kept + moves.place[page] * kPageBytes, bits + page * kPageBytes, kPageBytes);
    });
    const auto source = [&](std::size_t page) -> const std::uint8_t* {
      if (filled_[page] == 0) return zeros.data();
      return moves.batch[page] <= batch_ ? kept + moves.place[page] * kPageBytes : bits + page * kPageBytes;
    };
    each_page([&](std::size_t page) {
      std::array<const std::uint8_t*, kMostOwn + 1> sources;
      after_[page] = filled_[page];
      sources[0] = source(page);
      for (std::size_t move = 0; move < count; ++move) {
        const std::size_t from = moves.pages[page * count + move];
        after_[page] |= filled_[from];
        sources[move + 1] = source(from);
      }
      if (after_[page] != 0)
        ones.fetch_add(moves.step(tables, sources.data(), bits + page * kPageBytes),
                       std::memory_order_relaxed);
    });
  } while (++batch_ < moves.batches() && std::chrono::steady_clock::now() < until);
  ones_ = ones.load();
  if (batch_ < moves.batches()) return {};
  batch_ = 0;
  filled_.swap(after_);
  return ones_;
}

}  // namespace farthest
