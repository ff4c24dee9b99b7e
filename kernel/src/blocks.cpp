#include "farthest/blocks.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "farthest/layout.hpp"

namespace farthest {

namespace {

Number128 number_of(const WideCode<2>& code) { return Number128{code[0]} << 64 | code[1]; }

WideCode<2> code_of(Number128 number) {
  return {static_cast<std::uint64_t>(number >> 64), static_cast<std::uint64_t>(number)};
}

// The words of a code.
std::span<const std::uint64_t> words(const Key& code) { return {&code, 1}; }
template <std::size_t Words>
std::span<const std::uint64_t> words(const WideCode<Words>& code) {
  return code;
}

std::uint64_t mask_of(const PackedField& field) { return (std::uint64_t{1} << field.bits) - 1; }

std::uint64_t high_product(std::uint64_t one, std::uint64_t other) {
  return static_cast<std::uint64_t>(Number128{one} * other >> 64);
}

// The number divided by a weight of which share is (2^64 - 1) / weight, rounded down.
std::uint64_t quotient(std::uint64_t number, std::uint64_t weight, std::uint64_t share) {
  const std::uint64_t near = high_product(number, share);  // or one less than it
  return near + (number - near * weight >= weight ? 1 : 0);
}

BlockSet set_of(const BlockKind& kind, SlotMask anchors) {
  BlockSet set{anchors, 0};
  for (SlotMask left = anchors; left != 0; left &= left - 1) {
    const SlotMask covered = kind.covers[static_cast<std::size_t>(lowest(left))];
    if ((set.covered & covered) != 0) return {anchors, 0};
    set.covered |= covered;
  }
  return set;
}

// Sets and rows are kept where there are not more: at most some MiB a kind.
constexpr std::uint64_t kMostSets = 1 << 16;
constexpr std::uint64_t kMostRowNumbers = 1 << 19;

// The ranks of `others` with one more anchor, for each that it may be.
template <class Rank>
void fill_row(const BlockKind& kind, SlotMask others, Rank* row) {
  std::uint64_t below = 0, above = 0;  // what the others add that are below the anchor, and above it
  int place = 0, order = 1;            // of the anchor: in the kind's anchors, and in its set
  for (SlotMask left = kind.anchors; left != 0; left &= left - 1, ++place)
    if ((others & left & -left) != 0) above += binomial(place, ++order);
  place = 0, order = 1;
  for (SlotMask left = kind.anchors; left != 0; left &= left - 1, ++place) {
    if ((others & left & -left) != 0) {
      below += binomial(place, order);
      above -= binomial(place, ++order);
    } else {
      row[lowest(left)] = static_cast<Rank>(below + binomial(place, order) + above);
    }
  }
}

// Adds what follows from the covers.
void complete(BlockKind& kind, int cells, unsigned ways, const CellLinks& beside) {
  for (SlotMask left = kind.anchors; left != 0; left &= left - 1) {
    const auto anchor = static_cast<std::size_t>(lowest(left));
    for (std::size_t way = 0; way < kDirections; ++way) {
      const int next = beside[way][anchor];
      const bool fits = (ways >> way & 1) != 0 && next >= 0 && (kind.anchors & bit(next)) != 0;
      kind.steps[anchor][way] = fits ? BlockStep{kind.covers[static_cast<std::size_t>(next)], bit(next)}
                                     : BlockStep{0, bit(lowest(left))};
      kind.beside[anchor] |= kind.steps[anchor][way].entered & ~kind.covers[anchor];
    }
  }
  const int places = std::popcount(kind.anchors);
  kind.radix = binomial(places, kind.count);
  const std::uint64_t rests = binomial(places, kind.count - 1);
  const auto row = static_cast<std::uint64_t>(cells);
  if (kind.radix > kMostSets || rests > kMostRowNumbers / row) return;
  kind.rows.resize(rests * row);
  for (std::uint64_t rest = 0; rest < rests; ++rest)
    fill_row(kind, unrank_set(rest, kind.count - 1, kind.anchors), &kind.rows[rest * row]);
  for (std::uint64_t rank = 0; rank < kind.radix; ++rank) {
    const BlockSet set = set_of(kind, unrank_set(rank, kind.count, kind.anchors));
    kind.sets.push_back(set);
    for (SlotMask left = set.anchors; left != 0; left &= left - 1)
      kind.row_of.push_back(
          static_cast<std::uint32_t>(rank_set(set.anchors ^ (left & -left), kind.anchors) * row));
  }
}

// Calls found(to) for the anchors to which a piece can go from `from` where `others` are covered by other
// pieces, none twice. Few of the branches are hard to foretell: these would cost more than all else.
template <BlockMetric metric, class Found>
void each_reached(const BlockKind& kind, int from, SlotMask others, Found found) {
  const auto step = [&](int anchor, std::size_t way) -> SlotMask {
    const BlockStep& one = kind.steps[static_cast<std::size_t>(anchor)][way];
    return one.to & -SlotMask{(one.entered & others) == 0};
  };
  SlotMask reached = bit(from);
  if constexpr (metric == BlockMetric::slide) {
    unsigned ways = 0;
    for (std::size_t way = 0; way < kDirections; ++way)
      ways |= static_cast<unsigned>((step(from, way) & ~bit(from)) != 0) << way;
    for (; ways != 0; ways &= ways - 1) {
      const auto way = static_cast<std::size_t>(std::countr_zero(ways));
      SlotMask ray = bit(from);
      for (SlotMask at = step(from, way); (at & ~ray) != 0; at = step(lowest(at), way)) {
        if ((at & ~reached) != 0) found(lowest(at));
        reached |= at;
        ray |= at;
      }
    }
  } else {
    static_assert(kDirections == 4);
    const auto steps = [&](int anchor) {
      return step(anchor, 0) | step(anchor, 1) | step(anchor, 2) | step(anchor, 3);
    };
    for (SlotMask fresh = steps(from) & ~reached; fresh != 0;) {
      const int anchor = lowest(fresh);
      found(anchor);
      reached |= bit(anchor);
      fresh &= fresh - 1;
      if constexpr (metric == BlockMetric::move) fresh |= steps(anchor) & ~reached;
    }
  }
}

}  // namespace

Blocks::Blocks(int cells, const CellLinks& beside, const std::vector<int>& counts,
               const std::vector<unsigned>& ways, const std::vector<std::vector<SlotMask>>& covers,
               BlockMetric metric, std::vector<PackedField> fields, std::size_t width)
    : cells_(cells), metric_(metric), width_(width), fields_(std::move(fields)) {
  if (cells < 1 || cells > kMaxSlots) throw InvalidArgument("cells must be 1 to 64");
  for (const auto& way : beside)
    if (std::ranges::any_of(way, [&](int cell) { return cell < -1 || cell >= cells; }))
      throw InvalidArgument("beside must hold cells or -1");
  if (counts.empty() || counts.size() > kMaxSlots || ways.size() != counts.size() ||
      covers.size() != counts.size())
    throw InvalidArgument("expected 1 to 64 kinds, with counts, ways and covers of each");
  for (std::size_t i = 0; i < counts.size(); ++i) {
    BlockKind kind;
    kind.count = counts[i];
    if (ways[i] >= 1u << kDirections) throw InvalidArgument("ways must be sets of 4 directions");
    if (covers[i].size() != static_cast<std::size_t>(cells)) throw InvalidArgument("covers: one a cell");
    for (int cell = 0; cell < cells; ++cell) {
      const SlotMask covered = covers[i][static_cast<std::size_t>(cell)];
      if (covered == 0) continue;
      if (lowest(covered) != cell || (covered & ~first_slots(cells)) != 0)
        throw InvalidArgument("a piece must cover its anchor and none but later cells");
      kind.anchors |= bit(cell);
      kind.covers[static_cast<std::size_t>(cell)] = covered;
    }
    if (kind.count < 1 || kind.count > std::popcount(kind.anchors))
      throw InvalidArgument("a kind needs 1 piece or more, and no more than anchors");
    complete(kind, cells, ways[i], beside);
    kinds_.push_back(std::move(kind));
  }
  if (fields_.empty()) {
    weigh();
    return;
  }
  check_width(width);
  if (fields_.size() != kinds_.size()) throw InvalidArgument("fields: one a kind");
  used_.resize(width == sizeof(Key) ? 1 : (width + 7) / 8);
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const PackedField& field = fields_[i];
    if (field.bits < 1 || field.bits > 63 || field.shift < 0 || field.shift + field.bits > 64 ||
        field.word < 0 || static_cast<std::size_t>(field.word) >= used_.size())
      throw InvalidArgument("a field must be 1 to 63 bits of one word of the code");
    if (kinds_[i].radix - 1 > mask_of(field)) throw InvalidArgument("a field is too small for its kind");
    kinds_[i].word = static_cast<std::size_t>(field.word);
    kinds_[i].weight = std::uint64_t{1} << field.shift;
    used_[kinds_[i].word] |= mask_of(field) << field.shift;
  }
}

// The numbers that codes are.
void Blocks::weigh() {
  weights_.resize(kinds_.size());
  for (std::size_t i = kinds_.size(); i-- > 0;) {
    weights_[i] = codes_;
    if (kinds_[i].radix > ~Number128{0} / codes_) throw LimitExceeded("codes of more than 128 bits");
    kinds_[i].weight = static_cast<std::uint64_t>(codes_);
    if (kinds_[i].weight != 0) kinds_[i].share = ~std::uint64_t{0} / kinds_[i].weight;
    codes_ *= kinds_[i].radix;
  }
  width_ = codes_ <= kNoKey ? sizeof(Key) : sizeof(Number128);
}

// The rank of each kind; false where a code has none of these.
template <class Code>
bool Blocks::read_ranks(const Code& code, std::array<std::uint64_t, kMaxSlots>& ranks) const {
  if (!fields_.empty()) {
    const auto all = words(code);
    for (std::size_t word = 0; word < used_.size(); ++word)
      if ((all[word] & ~used_[word]) != 0) return false;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      ranks[i] = all[kinds_[i].word] >> fields_[i].shift & mask_of(fields_[i]);
      if (ranks[i] >= kinds_[i].radix) return false;
    }
    return true;
  }
  if constexpr (std::is_same_v<Code, Key>) {
    if (code >= static_cast<Key>(codes_)) return false;
    std::uint64_t above = 0;  // the rank is what the kinds up to it make, less what those before it make
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      const std::uint64_t here = quotient(code, kinds_[i].weight, kinds_[i].share);
      ranks[i] = here - above * kinds_[i].radix;
      above = here;
    }
    return true;
  } else if constexpr (std::is_same_v<Code, WideCode<2>>) {
    Number128 left = number_of(code);
    if (left >= codes_) return false;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      ranks[i] = static_cast<std::uint64_t>(left / weights_[i]);
      left %= weights_[i];
    }
    return true;
  }
  return false;
}

// The code in which the kind's rank is so much more, modulo 2^64.
template <class Code>
Code Blocks::with_rank(Code code, std::size_t kind, std::uint64_t more) const {
  if constexpr (std::is_same_v<Code, Key>) {
    return code + kinds_[kind].weight * more;
  } else {
    if constexpr (std::is_same_v<Code, WideCode<2>>)
      if (fields_.empty()) {
        const auto change = static_cast<Number128>(static_cast<std::int64_t>(more));
        return code_of(number_of(code) + weights_[kind] * change);
      }
    code[kinds_[kind].word] += kinds_[kind].weight * more;
    return code;
  }
}

template <class Code>
bool Blocks::decode(const Code& code, Placement& placement, std::size_t left_out) const {
  auto& ranks = placement.ranks;
  if (!read_ranks(code, ranks)) return false;
  placement.covered = 0;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (i == left_out) continue;
    const BlockKind& kind = kinds_[i];
    const BlockSet set = kind.sets.empty() ? set_of(kind, unrank_set(ranks[i], kind.count, kind.anchors))
                                           : kind.sets[ranks[i]];
    if (set.covered == 0 || (placement.covered & set.covered) != 0) return false;
    placement.anchors[i] = set.anchors;
    placement.covered |= set.covered;
  }
  return true;
}

template <class Code>
Code Blocks::encode(const Placement& placement) const {
  Code code{};
  for (std::size_t i = 0; i < kinds_.size(); ++i)
    code = with_rank(code, i, rank_set(placement.anchors[i], kinds_[i].anchors));
  return code;
}

void Blocks::draw(const Placement& placement, std::span<std::uint8_t> board) const {
  std::ranges::fill(board, std::uint8_t{0});
  for (std::size_t i = 0; i < kinds_.size(); ++i)
    for (SlotMask left = placement.anchors[i]; left != 0; left &= left - 1)
      for (SlotMask covered = kinds_[i].covers[static_cast<std::size_t>(lowest(left))]; covered != 0;
           covered &= covered - 1)
        board[static_cast<std::size_t>(lowest(covered))] = static_cast<std::uint8_t>(i + 1);
}

bool Blocks::read(std::span<const std::uint8_t> board, Placement& placement) const {
  std::array<SlotMask, kMaxSlots> cells_of{};
  for (std::size_t cell = 0; cell < board.size(); ++cell) {
    if (board[cell] > kinds_.size()) return false;
    if (board[cell] != 0) cells_of[board[cell] - 1u] |= bit(static_cast<int>(cell));
  }
  placement.covered = 0;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    placement.anchors[i] = 0;
    placement.covered |= cells_of[i];
    while (cells_of[i] != 0) {
      const int anchor = lowest(cells_of[i]);
      const SlotMask covered = kinds_[i].covers[static_cast<std::size_t>(anchor)];
      if (covered == 0 || (covered & ~cells_of[i]) != 0) return false;
      placement.anchors[i] |= bit(anchor);
      cells_of[i] &= ~covered;
    }
    if (std::popcount(placement.anchors[i]) != kinds_[i].count) return false;
  }
  return true;
}

// Calls found(code, kind, from, to) for each move. `placement` is where the code is decoded.
template <BlockMetric metric, class Code, class Found>
void Blocks::each_move(const Code& code, Placement& placement, Found found) const {
  if (!decode(code, placement)) return;
  struct Piece {
    std::uint8_t kind, anchor, number;
  };
  std::array<Piece, kMaxSlots + 1> movable;  // and room for one that is not
  std::size_t count = 0;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    std::uint8_t number = 0;
    for (SlotMask left = placement.anchors[i]; left != 0; left &= left - 1, ++number) {
      const int anchor = lowest(left);
      movable[count] = {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(anchor), number};
      count += (kinds_[i].beside[static_cast<std::size_t>(anchor)] & ~placement.covered) != 0 ? 1 : 0;
    }
  }
  std::array<std::uint64_t, kMaxSlots> made;
  for (const auto [i, from, number] : std::span(movable).first(count)) {
    const BlockKind& kind = kinds_[i];
    const SlotMask others = placement.covered & ~kind.covers[from];
    const std::uint64_t rank = placement.ranks[i];
    const auto each = [&](const auto* row) {
      each_reached<metric>(kind, from, others,
                           [&](int to) { found(with_rank(code, i, row[to] - rank), i, from, to); });
    };
    if (kind.rows.empty()) {
      fill_row(kind, placement.anchors[i] & ~bit(from), made.data());
      each(made.data());
    } else {
      each(&kind.rows[kind.row_of[rank * static_cast<std::uint64_t>(kind.count) + number]]);
    }
  }
}

template <class Visit>
void Blocks::with_metric(Visit visit) const {
  switch (metric_) {
    case BlockMetric::step:
      return visit.template operator()<BlockMetric::step>();
    case BlockMetric::slide:
      return visit.template operator()<BlockMetric::slide>();
    case BlockMetric::move:
      return visit.template operator()<BlockMetric::move>();
  }
}

template <class Code>
void Blocks::neighbours(std::span<const Code> codes, std::vector<Code>& out) const {
  with_metric([&]<BlockMetric metric>() {
    Placement placement;
    for (const Code& code : codes)
      each_move<metric>(code, placement,
                        [&](const Code& next, std::size_t, int, int) { out.push_back(next); });
  });
}

template <class Code>
void Blocks::moves(const Code& code, std::vector<Code>& out, std::vector<BlockMove>& names) const {
  with_metric([&]<BlockMetric metric>() {
    Placement placement;
    each_move<metric>(code, placement, [&](const Code& next, std::size_t kind, int from, int to) {
      const SlotMask before = placement.anchors[kind];
      const auto byte = [](auto value) { return static_cast<std::uint8_t>(value); };
      out.push_back(next);
      names.push_back({byte(kind), byte(from), byte(to), byte(below(before, from)),
                       byte(below(before & ~bit(from), to))});
    });
  });
}

// All placements that are asked for, or as many as are allowed.
template <class Code>
struct Blocks::Filling {
  std::uint64_t part, parts, limit;
  std::uint64_t divided = 0;  // how often the pieces that decide the part have been placed
  std::vector<Code> out{};
};

// Places the `left` pieces of `kind` that have no anchor yet at `next` or later, then those of later kinds.
// deciding: pieces left of those whose places decide the part; 0: they are placed.
template <class Code>
bool Blocks::fill(std::size_t kind, int left, int next, int deciding, Placement& placement,
                  Filling<Code>& filling) const {
  if (left == 0) {
    if (++kind == kinds_.size()) {
      filling.out.push_back(encode<Code>(placement));
      return filling.out.size() <= filling.limit;
    }
    return fill(kind, kinds_[kind].count - std::popcount(placement.anchors[kind]), 0, deciding, placement,
                filling);
  }
  SlotMask candidates = kinds_[kind].anchors & ~placement.covered & ~first_slots(next);
  for (; candidates != 0; candidates &= candidates - 1) {
    const int anchor = lowest(candidates);
    const SlotMask covered = kinds_[kind].covers[static_cast<std::size_t>(anchor)];
    if ((covered & placement.covered) != 0) continue;
    if (deciding == 1 && filling.divided++ % filling.parts != filling.part) continue;
    placement.anchors[kind] |= bit(anchor);
    placement.covered |= covered;
    const bool go_on = fill(kind, left - 1, anchor + 1, std::max(deciding - 1, 0), placement, filling);
    placement.anchors[kind] &= ~bit(anchor);
    placement.covered &= ~covered;
    if (!go_on) return false;
  }
  return true;
}

template <class Code>
std::vector<Code> Blocks::placements(const Placement& fixed, std::uint64_t limit, std::uint64_t part,
                                     std::uint64_t parts) const {
  if (part >= parts) throw InvalidArgument("no such part");
  Placement placement{};
  int free = 0;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    placement.anchors[i] = fixed.anchors[i];
    if ((fixed.anchors[i] & ~kinds_[i].anchors) != 0 || std::popcount(fixed.anchors[i]) > kinds_[i].count)
      throw InvalidArgument("the fixed pieces do not fit");
    for (SlotMask left = fixed.anchors[i]; left != 0; left &= left - 1) {
      const SlotMask covered = kinds_[i].covers[static_cast<std::size_t>(lowest(left))];
      if ((covered & placement.covered) != 0) throw InvalidArgument("the fixed pieces overlap");
      placement.covered |= covered;
    }
    free += kinds_[i].count - std::popcount(fixed.anchors[i]);
  }
  if (free == 0 && part != 0) return {};
  Filling<Code> filling{part, parts, limit};
  fill(0, kinds_[0].count - std::popcount(placement.anchors[0]), 0, (free + 1) / 2, placement, filling);
  return std::move(filling.out);
}

template <class Code>
bool Blocks::component(const Code& start, std::span<const Code> among, std::uint64_t limit,
                       std::vector<Code>& out) const {
  constexpr auto before = [](const Code& one, const Code& other) { return less(one, other); };
  const auto same = [](const Code& one, const Code& other) { return equal(one, other); };
  const std::size_t first = out.size();
  std::vector<Code> last, layer{start}, found, next, fresh;
  out.push_back(start);
  while (!layer.empty()) {
    found.clear();
    for (const Code& code : layer) {
      const std::size_t known = found.size();
      neighbours(std::span(&code, 1), found);
      for (std::size_t i = known; i < found.size(); ++i)
        if (less(found[i], start) &&
            (among.empty() || std::binary_search(among.begin(), among.end(), found[i], before))) {
          out.resize(first);
          return false;
        }
    }
    std::sort(found.begin(), found.end(), before);
    found.erase(std::unique(found.begin(), found.end(), same), found.end());
    // Moves can be taken back, so they lead to the layer before, this one and the next.
    next.clear();
    std::set_difference(found.begin(), found.end(), last.begin(), last.end(), std::back_inserter(next),
                        before);
    fresh.clear();
    std::set_difference(next.begin(), next.end(), layer.begin(), layer.end(), std::back_inserter(fresh),
                        before);
    out.insert(out.end(), fresh.begin(), fresh.end());
    if (out.size() - first > limit) throw LimitExceeded("the component has more states");
    last.swap(layer);
    layer.swap(fresh);
  }
  return true;
}

#define FARTHEST_BLOCKS_OF(Code)                                                                \
  template bool Blocks::decode(const Code&, Placement&, std::size_t) const;                     \
  template Code Blocks::encode(const Placement&) const;                                         \
  template void Blocks::neighbours(std::span<const Code>, std::vector<Code>&) const;            \
  template void Blocks::moves(const Code&, std::vector<Code>&, std::vector<BlockMove>&) const;  \
  template std::vector<Code> Blocks::placements(const Placement&, std::uint64_t, std::uint64_t, \
                                                std::uint64_t) const;                           \
  template bool Blocks::component(const Code&, std::span<const Code>, std::uint64_t, std::vector<Code>&) const
FARTHEST_FOR_CODES(FARTHEST_BLOCKS_OF);
#undef FARTHEST_BLOCKS_OF

namespace {

template <class Code>
class BlockExpander final : public ExpanderOf<Code> {
 public:
  explicit BlockExpander(const Blocks& blocks) : blocks_(blocks) {}

  std::size_t width() const override { return blocks_.width(); }
  void successors(std::span<const Code> codes, std::vector<Code>& out) const override {
    blocks_.neighbours(codes, out);
  }

 private:
  Blocks blocks_;
};

}  // namespace

std::unique_ptr<Expander> block_expander(const Blocks& blocks) {
  return with_code(blocks.width(), [&]<class Code>(Code) -> std::unique_ptr<Expander> {
    return std::make_unique<BlockExpander<Code>>(blocks);
  });
}

}  // namespace farthest
