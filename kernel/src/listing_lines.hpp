// The search of sequence_listing.hpp. Included by files for one instruction set each: everything here is in
// an anonymous namespace.
#pragma once

#include <algorithm>
#include <bit>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "sequence_listing.hpp"
#include "subgroup_marks.hpp"

namespace farthest {
namespace {

// What stands in slot i was in slot from.at[i], a number within its half.
inline void shuffle(const Pieces& pieces, const Pieces& from, Pieces& out) {
#if defined(__AVX2__)
  _mm256_store_si256(reinterpret_cast<__m256i*>(&out),
                     _mm256_shuffle_epi8(_mm256_load_si256(reinterpret_cast<const __m256i*>(&pieces)),
                                         _mm256_load_si256(reinterpret_cast<const __m256i*>(&from))));
#else
  for (std::size_t i = 0; i < 32; ++i) out.at[i] = pieces.at[i / 16 * 16 + from.at[i]];
#endif
}

// The moves that lead to a leaf.
Way way_to(const ListingWork& work, const ListingWork::Leaf& leaf) {
  const std::size_t each = work.moves->from.size() + 1;
  Way way;
  for (auto [high, low] = leaf.node->made; high != 0 || low != 1; low = low >> 5 | high << 59, high >>= 5)
    way.push_back(static_cast<std::uint16_t>(low & 31));
  std::ranges::reverse(way);
  for (const std::size_t word : {Tails::first_word(leaf.tail), Tails::last_word(leaf.tail)})
    for (const std::size_t move : {word / each / each, word / each % each, word % each})
      if (move + 1 != each) way.push_back(static_cast<std::uint16_t>(move));
  return way;
}

// What is looked up in a loop is asked for so many rounds before: memory then works all the time on as much
// as it can.
constexpr std::size_t kAhead = 32;

void finish(ListingWork& work, const SubgroupMarks& marks, std::size_t count) {
  const Pieces* words = work.tails->words.data();
  std::uint64_t* const ends = work.ends;
  std::uint64_t fresh = 0;
  for (std::size_t i = 0; i < count + kAhead; ++i) {
    if (i < count) {
      const auto [node, tail] = work.leaves[i];
      Pieces middle, end;
      shuffle(node->pieces, words[Tails::first_word(tail)], middle);
      shuffle(middle, words[Tails::last_word(tail)], end);
      ends[i] = marks.bit_of(end);
      marks.ask(ends[i]);
    }
    if (i < kAhead || !marks.set(ends[i - kAhead])) continue;
    ++fresh;
    if (work.watched != nullptr && work.watched->has(ends[i - kAhead]))
      work.watched->keep(ends[i - kAhead], way_to(work, work.leaves[i - kAhead]));
  }
  work.found.fresh += fresh;
  work.found.sequences += count;
}

// Which tails follow which nodes first, then where they end: so that nothing waits for a branch.
void end(ListingWork& work, const SubgroupMarks& marks, const ListingNode* nodes, std::size_t count) {
  const Tails& tails = *work.tails;
  const std::uint64_t* slots = tails.slots.data();
  const std::size_t mask = (std::size_t{1} << tails.bits) - 1;
  std::size_t lists = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t key = work.table->key(nodes[i].state);
    std::size_t at = tails.home(key);
    while (slots[at] != Tails::kEmpty && slots[at] >> 32 != key) at = (at + 1) & mask;
    if (slots[at] == Tails::kEmpty) continue;
    const std::uint32_t* tail = tails.tails.data() + (slots[at] & 0xffffffff);
    work.lists[lists++] = {nodes + i, tail};
    __builtin_prefetch(tail);
  }
  std::size_t leaves = 0;
  for (std::size_t i = 0; i < lists; ++i) {
    const ListingNode* node = work.lists[i].node;
    const std::uint32_t faces = work.moves->faces_after[node->face];
    for (const std::uint32_t* tail = work.lists[i].tail;; ++tail) {
      work.leaves[leaves] = {node, *tail};
      leaves += faces >> Tails::face(*tail) & 1;
      if (Tails::last(*tail)) break;
    }
    if (leaves >= ListingWork::kLeaves) {
      finish(work, marks, leaves);
      leaves = 0;
    }
  }
  finish(work, marks, leaves);
}

std::size_t expand(const ListingWork& work, ListingNode& node, int left, ListingNode* out) {
  const ListingMoves& moves = *work.moves;
  const TurnTable& table = *work.table;
  const bool ends = left - 1 == work.tails->length;
  const auto [nearer, near] = table.turns(node.place);
  std::uint32_t some = node.slack == 0 ? nearer : node.slack == 1 ? near : ~std::uint32_t{0};
  // Copies, since what is written to children might be anything for the compiler.
  const Pieces pieces = node.pieces, *const from = moves.from.data();
  const std::uint8_t* const face = moves.face.data();
  const TurnTable::Row row = table.row(node.state);
  const bool watched = work.watched != nullptr;
  const int slack = node.slack - 2;
  std::size_t count = 0;
  for (some &= moves.after[node.face]; some != 0; some &= some - 1) {
    const auto move = static_cast<std::size_t>(std::countr_zero(some));
    ListingNode& child = out[count++];
    shuffle(pieces, from[move], child.pieces);
    child.state = row.after(move);
    child.face = face[move];
    if (watched) child.made = node.made.then(move);
    child.slack =
        static_cast<std::int8_t>(slack + static_cast<int>((near >> move & 1) + (nearer >> move & 1)));
    if (ends)
      __builtin_prefetch(work.tails->slots.data() + work.tails->home(table.key(child.state)));
    else
      table.prefetch(child.state);
  }
  return count;
}

// Goes on below nodes that have `left` moves left.
void go_on(ListingWork& work, const SubgroupMarks& marks, ListingNode* nodes, std::size_t count, int left) {
  if (left == work.tails->length) return end(work, marks, nodes, count);
  const auto ask = [&](ListingNode& node) {
    node.place = work.table->place(node.state);
    work.table->prefetch(node.place);
  };
  std::for_each_n(nodes, std::min(count, kAhead), ask);
  ListingWork::Level& below = work.levels[left - 1];
  for (std::size_t i = 0; i < count; ++i) {
    if (i + kAhead < count) ask(nodes[i + kAhead]);
    below.count += expand(work, nodes[i], left, below.nodes + below.count);
    if (below.count >= ListingWork::kTogether) {
      go_on(work, marks, below.nodes, below.count, left - 1);
      below.count = 0;
    }
  }
  work.found.nodes += count;
}

std::size_t expand_root(const ListingWork& work, ListingNode& node, int left, ListingNode* out) {
  node.place = work.table->place(node.state);
  return expand(work, node, left, out);
}

void search(ListingWork& work, const ListingNode& node, int left) {
  const SubgroupMarks marks(*work.bits);
  ListingNode root = node;
  go_on(work, marks, &root, 1, left);
}

void flush(ListingWork& work) {
  const SubgroupMarks marks(*work.bits);
  for (int left = ListingWork::kMostMoves - 1; left >= work.tails->length; --left) {
    ListingWork::Level& level = work.levels[left];
    go_on(work, marks, level.nodes, level.count, left);
    level.count = 0;
  }
}

}  // namespace
}  // namespace farthest
