#include "farthest/blocks.hpp"

#include <algorithm>

#include "farthest/layout.hpp"

namespace farthest {

Blocks::Blocks(int cells, const CellLinks& beside, const std::vector<int>& counts,
               const std::vector<unsigned>& ways, const std::vector<std::vector<SlotMask>>& covers,
               BlockMetric metric)
    : cells_(cells), beside_(beside), metric_(metric) {
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
  weights_.resize(kinds_.size());
  for (std::size_t i = kinds_.size(); i-- > 0;) {
    weights_[i] = codes_;
    if (radix_[i] > ~Code128{0} / codes_) throw LimitExceeded("codes of more than 128 bits");
    codes_ *= radix_[i];
  }
  code_bytes_ = codes_ <= kNoKey ? 8 : 16;
}

template <class Code>
bool Blocks::decode(Code code, Placement& placement) const {
  if (code >= codes_) return false;
  placement.covered = 0;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const BlockKind& kind = kinds_[i];
    const auto weight = static_cast<Code>(weights_[i]);
    const auto rank = static_cast<std::uint64_t>(code / weight);
    code = static_cast<Code>(code % weight);
    placement.anchors[i] = unrank_set(rank, kind.count, kind.anchors);
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
  Code code = 0;
  for (std::size_t i = 0; i < kinds_.size(); ++i)
    code = static_cast<Code>(code + static_cast<Code>(weights_[i]) *
                                        rank_set(placement.anchors[i], kinds_[i].anchors));
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
void Blocks::each_move(Code code, Found found) const {
  Placement placement;
  if (!decode(code, placement)) return;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const BlockKind& kind = kinds_[i];
    const SlotMask before = placement.anchors[i];
    const Code base =
        static_cast<Code>(code - static_cast<Code>(weights_[i]) * rank_set(before, kind.anchors));
    for (SlotMask left = before; left != 0; left &= left - 1) {
      const int from = lowest(left);
      const SlotMask others = placement.covered & ~kind.covers[static_cast<std::size_t>(from)];
      for (SlotMask reached = reach(kind, from, others); reached != 0; reached &= reached - 1) {
        const int to = lowest(reached);
        const SlotMask after = (before & ~bit(from)) | bit(to);
        const std::uint64_t rank = rank_set(after, kind.anchors);
        found(static_cast<Code>(base + static_cast<Code>(weights_[i]) * rank), i, before, after, from, to);
      }
    }
  }
}

template <class Code>
void Blocks::neighbours(std::span<const Code> codes, std::vector<Code>& out) const {
  for (const Code code : codes)
    each_move(code, [&](Code next, std::size_t, SlotMask, SlotMask, int, int) { out.push_back(next); });
}

template <class Code>
void Blocks::moves(Code code, std::vector<Code>& out, std::vector<BlockMove>& names) const {
  each_move(code, [&](Code next, std::size_t kind, SlotMask before, SlotMask after, int from, int to) {
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

#define FARTHEST_BLOCKS_OF(Code)                                                        \
  template bool Blocks::decode(Code, Placement&) const;                                 \
  template Code Blocks::encode(const Placement&) const;                                 \
  template void Blocks::neighbours(std::span<const Code>, std::vector<Code>&) const;    \
  template void Blocks::moves(Code, std::vector<Code>&, std::vector<BlockMove>&) const; \
  template std::vector<Code> Blocks::placements(const Placement&, std::uint64_t) const
FARTHEST_BLOCKS_OF(std::uint64_t);
FARTHEST_BLOCKS_OF(Code128);
#undef FARTHEST_BLOCKS_OF

}  // namespace farthest
