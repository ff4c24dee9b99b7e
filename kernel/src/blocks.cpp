#include "farthest/blocks.hpp"

#include <algorithm>

#include "farthest/layout.hpp"

namespace farthest {

namespace {

template <class Code>
constexpr bool kIsNumber = std::is_same_v<Code, Key> || std::is_same_v<Code, WideCode<2>>;

Key number_of(Key code) { return code; }
Number128 number_of(const WideCode<2>& code) { return Number128{code[0]} << 64 | code[1]; }

template <class Code, class Number>
Code code_of(Number number) {
  if constexpr (std::is_same_v<Code, Key>)
    return static_cast<Key>(number);
  else
    return {static_cast<std::uint64_t>(number >> 64), static_cast<std::uint64_t>(number)};
}

// The words of a code.
std::span<std::uint64_t> words(Key& code) { return {&code, 1}; }
std::span<const std::uint64_t> words(const Key& code) { return {&code, 1}; }
template <std::size_t Words>
std::span<std::uint64_t> words(WideCode<Words>& code) {
  return code;
}
template <std::size_t Words>
std::span<const std::uint64_t> words(const WideCode<Words>& code) {
  return code;
}

std::uint64_t mask_of(const PackedField& field) { return ((std::uint64_t{1} << field.bits) - 1); }

}  // namespace

Blocks::Blocks(int cells, const CellLinks& beside, const std::vector<int>& counts,
               const std::vector<unsigned>& ways, const std::vector<std::vector<SlotMask>>& covers,
               BlockMetric metric, std::vector<PackedField> fields, std::size_t width)
    : cells_(cells), beside_(beside), metric_(metric), width_(width), fields_(std::move(fields)) {
  if (cells < 1 || cells > kMaxSlots) throw InvalidArgument("cells must be 1 to 64");
  for (const auto& way : beside)
    if (std::ranges::any_of(way, [&](int cell) { return cell < -1 || cell >= cells; }))
      throw InvalidArgument("beside must hold cells or -1");
  if (counts.empty() || counts.size() > kMaxSlots || ways.size() != counts.size() ||
      covers.size() != counts.size())
    throw InvalidArgument("expected 1 to 64 kinds, with counts, ways and covers of each");
  for (std::size_t i = 0; i < counts.size(); ++i) {
    BlockKind kind{.count = counts[i], .ways = ways[i]};
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
    kinds_.push_back(kind);
    radix_.push_back(binomial(std::popcount(kind.anchors), kind.count));
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
    if (radix_[i] - 1 > mask_of(field)) throw InvalidArgument("a field is too small for its kind");
    used_[static_cast<std::size_t>(field.word)] |= mask_of(field) << field.shift;
  }
}

// The numbers that codes are.
void Blocks::weigh() {
  weights_.resize(kinds_.size());
  for (std::size_t i = kinds_.size(); i-- > 0;) {
    weights_[i] = codes_;
    if (radix_[i] > ~Number128{0} / codes_) throw LimitExceeded("codes of more than 128 bits");
    codes_ *= radix_[i];
  }
  width_ = codes_ <= kNoKey ? sizeof(Key) : sizeof(Number128);
}

// The rank of each kind; false where a code has none of these.
template <class Code>
bool Blocks::read_ranks(const Code& code, Ranks& ranks) const {
  if (!fields_.empty()) {
    const auto all = words(code);
    for (std::size_t word = 0; word < used_.size(); ++word)
      if ((all[word] & ~used_[word]) != 0) return false;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      ranks[i] = all[static_cast<std::size_t>(fields_[i].word)] >> fields_[i].shift & mask_of(fields_[i]);
      if (ranks[i] >= radix_[i]) return false;
    }
    return true;
  }
  if constexpr (kIsNumber<Code>) {
    auto left = number_of(code);
    using Number = decltype(left);
    if (left >= codes_) return false;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      const auto weight = static_cast<Number>(weights_[i]);
      ranks[i] = static_cast<std::uint64_t>(left / weight);
      left %= weight;
    }
    return true;
  }
  return false;
}

// The code in which the kind has another rank.
template <class Code>
Code Blocks::with_rank(Code code, std::size_t kind, std::uint64_t before, std::uint64_t after) const {
  if (!fields_.empty()) {
    const PackedField& field = fields_[kind];
    words(code)[static_cast<std::size_t>(field.word)] ^= (before ^ after) << field.shift;
    return code;
  }
  if constexpr (kIsNumber<Code>) {
    using Number = decltype(number_of(code));
    const auto weight = static_cast<Number>(weights_[kind]);
    return code_of<Code>(static_cast<Number>(number_of(code) + weight * after - weight * before));
  }
  return code;
}

template <class Code>
bool Blocks::decode(const Code& code, Placement& placement) const {
  Ranks ranks;
  if (!read_ranks(code, ranks)) return false;
  placement.covered = 0;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const BlockKind& kind = kinds_[i];
    placement.anchors[i] = unrank_set(ranks[i], kind.count, kind.anchors);
    for (SlotMask left = placement.anchors[i]; left != 0; left &= left - 1) {
      const SlotMask covered = kind.covers[static_cast<std::size_t>(lowest(left))];
      if ((placement.covered & covered) != 0) return false;
      placement.covered |= covered;
    }
  }
  return true;
}

template <class Code>
Code Blocks::encode(const Placement& placement) const {
  Code code{};
  for (std::size_t i = 0; i < kinds_.size(); ++i)
    code = with_rank(code, i, 0, rank_set(placement.anchors[i], kinds_[i].anchors));
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

// The anchors that a piece can be moved to from `from` where `others` are covered by other pieces.
SlotMask Blocks::reach(const BlockKind& kind, int from, SlotMask others) const {
  const auto step = [&](int anchor, std::size_t way) -> int {
    const int next = beside_[way][static_cast<std::size_t>(anchor)];
    if ((kind.ways >> way & 1) == 0 || next < 0) return -1;
    const SlotMask covered = kind.covers[static_cast<std::size_t>(next)];
    return covered == 0 || (covered & others) != 0 ? -1 : next;
  };
  SlotMask reached = 0;
  if (metric_ == BlockMetric::move) {
    reached = bit(from);
    for (SlotMask fresh = reached; fresh != 0;) {
      const int anchor = lowest(fresh);
      fresh &= fresh - 1;
      for (std::size_t way = 0; way < kDirections; ++way) {
        const int next = step(anchor, way);
        if (next < 0 || (reached & bit(next)) != 0) continue;
        reached |= bit(next);
        fresh |= bit(next);
      }
    }
    return reached & ~bit(from);
  }
  for (std::size_t way = 0; way < kDirections; ++way)
    for (int next = step(from, way); next >= 0 && (reached & bit(next)) == 0; next = step(next, way)) {
      reached |= bit(next);
      if (metric_ == BlockMetric::step) break;
    }
  return reached;
}

// Calls found(code, kind, anchors before, anchors after, from, to) for each move.
template <class Code, class Found>
void Blocks::each_move(const Code& code, Found found) const {
  Placement placement;
  if (!decode(code, placement)) return;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const BlockKind& kind = kinds_[i];
    const SlotMask before = placement.anchors[i];
    const std::uint64_t rank = rank_set(before, kind.anchors);
    for (SlotMask left = before; left != 0; left &= left - 1) {
      const int from = lowest(left);
      const SlotMask others = placement.covered & ~kind.covers[static_cast<std::size_t>(from)];
      for (SlotMask reached = reach(kind, from, others); reached != 0; reached &= reached - 1) {
        const int to = lowest(reached);
        const SlotMask after = (before & ~bit(from)) | bit(to);
        found(with_rank(code, i, rank, rank_set(after, kind.anchors)), i, before, after, from, to);
      }
    }
  }
}

template <class Code>
void Blocks::neighbours(std::span<const Code> codes, std::vector<Code>& out) const {
  for (const Code& code : codes)
    each_move(code,
              [&](const Code& next, std::size_t, SlotMask, SlotMask, int, int) { out.push_back(next); });
}

template <class Code>
void Blocks::moves(const Code& code, std::vector<Code>& out, std::vector<BlockMove>& names) const {
  each_move(code, [&](const Code& next, std::size_t kind, SlotMask before, SlotMask after, int from, int to) {
    const auto byte = [](auto value) { return static_cast<std::uint8_t>(value); };
    out.push_back(next);
    names.push_back({byte(kind), byte(from), byte(to), byte(below(before, from)), byte(below(after, to))});
  });
}

// Places the `left` pieces of `kind` that have no anchor yet at `next` or later, then those of later kinds.
template <class Code>
bool Blocks::fill(std::size_t kind, int left, int next, Placement& placement, std::uint64_t limit,
                  std::vector<Code>& out) const {
  if (left == 0) {
    if (++kind == kinds_.size()) {
      out.push_back(encode<Code>(placement));
      return out.size() <= limit;
    }
    return fill(kind, kinds_[kind].count - std::popcount(placement.anchors[kind]), 0, placement, limit, out);
  }
  SlotMask candidates = kinds_[kind].anchors & ~placement.covered & ~first_slots(next);
  for (; candidates != 0; candidates &= candidates - 1) {
    const int anchor = lowest(candidates);
    const SlotMask covered = kinds_[kind].covers[static_cast<std::size_t>(anchor)];
    if ((covered & placement.covered) != 0) continue;
    placement.anchors[kind] |= bit(anchor);
    placement.covered |= covered;
    const bool go_on = fill(kind, left - 1, anchor + 1, placement, limit, out);
    placement.anchors[kind] &= ~bit(anchor);
    placement.covered &= ~covered;
    if (!go_on) return false;
  }
  return true;
}

template <class Code>
std::vector<Code> Blocks::placements(const Placement& fixed, std::uint64_t limit) const {
  Placement placement{};
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    placement.anchors[i] = fixed.anchors[i];
    if ((fixed.anchors[i] & ~kinds_[i].anchors) != 0 || std::popcount(fixed.anchors[i]) > kinds_[i].count)
      throw InvalidArgument("the fixed pieces do not fit");
    for (SlotMask left = fixed.anchors[i]; left != 0; left &= left - 1) {
      const SlotMask covered = kinds_[i].covers[static_cast<std::size_t>(lowest(left))];
      if ((covered & placement.covered) != 0) throw InvalidArgument("the fixed pieces overlap");
      placement.covered |= covered;
    }
  }
  std::vector<Code> out;
  fill(0, kinds_[0].count - std::popcount(placement.anchors[0]), 0, placement, limit, out);
  return out;
}

#define FARTHEST_BLOCKS_OF(Code)                                                               \
  template bool Blocks::decode(const Code&, Placement&) const;                                 \
  template Code Blocks::encode(const Placement&) const;                                        \
  template void Blocks::neighbours(std::span<const Code>, std::vector<Code>&) const;           \
  template void Blocks::moves(const Code&, std::vector<Code>&, std::vector<BlockMove>&) const; \
  template std::vector<Code> Blocks::placements(const Placement&, std::uint64_t) const
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
