// All sequences of moves of one length that lead from a board into a subgroup H, the last move not in H:
// their ends, as bits of the subgroup. The search of a coset (cosets.hpp) where H and its cosets are large.
//
// Boards of each number of moves left are kept until there are some hundred of them, and then expanded
// together, depth first: what is looked up (a lead's class, an entry, tails, bits) has been asked for a pass
// before. A board has its *slack*: moves left, less the distance from H. At slack 0 only moves that lead
// nearer are made, at 1 also those that keep the distance, at 2 all; so the child's slack is the same, 1 less
// or 2 less, and nothing is looked up for children that are not made.
//
// The last moves are not searched but read: the *tails* are all sequences of a few moves whose last is not in
// H, by the coset that they take into H. Left out of them are those in which the last two commute and the one
// before is in H: the other order ends in H.
//
// Included by files for one instruction set each: everything here is in an anonymous namespace.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "farthest/turn_table.hpp"

namespace farthest {
namespace {

// The pieces in up to 32 slots, those of the first 16 and of the last 16 apart: moves take none across.
struct alignas(32) Pieces {
  std::array<std::uint8_t, 32> at;

  // What stands in slot i is what stood in slot from.at[i], a number within its half.
  Pieces after(const Pieces& from) const {
    Pieces out;
#if defined(__AVX2__)
    const auto* here = reinterpret_cast<const __m256i*>(at.data());
    const auto* order = reinterpret_cast<const __m256i*>(from.at.data());
    _mm256_store_si256(reinterpret_cast<__m256i*>(out.at.data()),
                       _mm256_shuffle_epi8(_mm256_load_si256(here), _mm256_load_si256(order)));
#else
    for (std::size_t i = 0; i < 32; ++i) out.at[i] = at[i / 16 * 16 + from.at[i]];
#endif
    return out;
  }
};

struct Coset {
  std::uint32_t lead;
  std::uint16_t other;
};

// Moves as the search makes them.
struct ListingMoves {
  const TurnTable& table;
  std::vector<std::uint32_t> lead_after;   // by lead and move
  std::vector<std::uint16_t> other_after;  // by other and move
  std::vector<Pieces> from;                // by move
  std::vector<std::uint8_t> inverse;       // by move
  // By move, bits: the moves that may follow it, of which more than one order or sum is left out; the last
  // row: those that may come first. Moves that commute with it and are in another face.
  std::vector<std::uint32_t> allowed, commuting;
  std::uint32_t own;  // the moves in H

  std::size_t count() const { return from.size(); }
  Coset after(Coset coset, std::size_t move) const {
    return {lead_after[coset.lead * count() + move], other_after[coset.other * count() + move]};
  }
};

class Tails {
 public:
  // Of a tail: two words of up to three moves each, its first move, whether it is its coset's last.
  struct Tail {
    std::uint16_t first_word, last_word;
    std::uint8_t first, last;
  };

  Tails(const ListingMoves& moves, int length) : moves_(moves), length_(static_cast<std::size_t>(length)) {
    const std::size_t each = moves.count() + 1;
    Pieces none;
    for (std::size_t i = 0; i < 32; ++i) none.at[i] = static_cast<std::uint8_t>(i % 16);
    words_.reserve(each * each * each);
    for (std::size_t a = 0; a < each; ++a)
      for (std::size_t b = 0; b < each; ++b)
        for (std::size_t c = 0; c < each; ++c) {
          Pieces made = none;
          for (const std::size_t move : {a, b, c})
            if (move + 1 < each) made = made.after(moves.from[move]);
          words_.push_back(made);
        }
    std::array<std::size_t, 6> word;
    word.fill(moves.count());
    list({0, 0}, word, length_);
    index();
  }

  int length() const { return static_cast<int>(length_); }
  std::size_t size() const { return tails_.size(); }
  std::size_t longest() const { return longest_; }
  void prefetch(Coset coset) const { __builtin_prefetch(&slots_[home(key(coset))]); }
  // The first of a coset's tails; nullptr if it has none.
  const Tail* first(Coset coset) const {
    const std::uint64_t wanted = key(coset);
    for (std::size_t at = home(wanted); slots_[at].key != kEmpty; at = (at + 1) & (slots_.size() - 1))
      if (slots_[at].key == wanted) return &tails_[slots_[at].tail];
    return nullptr;
  }
  Pieces after(const Pieces& pieces, const Tail& tail) const {
    return pieces.after(words_[tail.first_word]).after(words_[tail.last_word]);
  }

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  struct Slot {
    std::uint64_t key, tail;
  };

  static std::uint64_t key(Coset coset) { return std::uint64_t{coset.lead} << 16 | coset.other; }
  std::size_t home(std::uint64_t key) const { return key * 0x9e3779b97f4a7c15u >> (64 - bits_); }

  // `left` moves are still to be put before those that are there; the coset is the one that these lead from.
  void list(Coset coset, std::array<std::size_t, 6>& word, std::size_t left) {
    const std::size_t each = moves_.count() + 1;
    if (left == 0) {
      const auto half = [&](std::size_t i) {
        return static_cast<std::uint16_t>((word[i] * each + word[i + 1]) * each + word[i + 2]);
      };
      found_.push_back({key(coset), {half(0), half(3), static_cast<std::uint8_t>(word[0]), 0}});
      return;
    }
    for (std::size_t move = 0; move < moves_.count(); ++move) {
      const bool own = (moves_.own >> move & 1) != 0;
      if (left == length_ && own) continue;
      if (left < length_) {
        const std::size_t next = word[left];
        if ((moves_.allowed[move] >> next & 1) == 0) continue;
        if (left + 1 == length_ && own && (moves_.commuting[move] >> next & 1) != 0) continue;
      }
      word[left - 1] = move;
      list(moves_.after(coset, moves_.inverse[move]), word, left - 1);
    }
    word[left - 1] = moves_.count();
  }

  void index() {
    std::ranges::stable_sort(found_, {}, [](const auto& each) { return each.first; });
    bits_ = static_cast<int>(std::bit_width(found_.size())) + 1;
    slots_.assign(std::size_t{1} << bits_, {kEmpty, 0});
    for (std::size_t i = 0, run = 0; i < found_.size(); ++i) {
      const std::uint64_t wanted = found_[i].first;
      if (run++ == 0) {
        std::size_t at = home(wanted);
        while (slots_[at].key != kEmpty) at = (at + 1) & (slots_.size() - 1);
        slots_[at] = {wanted, i};
      }
      tails_.push_back(found_[i].second);
      longest_ = std::max(longest_, run);
      if (i + 1 == found_.size() || found_[i + 1].first != wanted) {
        tails_.back().last = 1;
        run = 0;
      }
    }
    found_ = {};
  }

  const ListingMoves& moves_;
  std::size_t length_, longest_ = 0;
  int bits_ = 1;
  std::vector<Pieces> words_;
  std::vector<std::pair<std::uint64_t, Tail>> found_;
  std::vector<Tail> tails_;
  std::vector<Slot> slots_;
};

// One thread of a search. Bits has bit_of(pieces) and mark(bits), which gives how many were new.
template <class Bits>
class Listing {
 public:
  struct Node {
    Pieces pieces;
    Coset coset;
    std::uint32_t allowed;  // moves
    int slack;
    TurnTable::Place place;
  };
  struct Found {
    std::uint64_t sequences = 0, nodes = 0, bits = 0;
  };

  Listing(const ListingMoves& moves, const Tails& tails, Bits& bits)
      : moves_(moves), tails_(tails), bits_(bits), leaves_(1024 + tails.longest()), ends_(leaves_.size()) {}

  Node root(const Pieces& pieces, Coset coset, int depth) const {
    return {pieces,
            coset,
            moves_.allowed[moves_.count()],
            depth - moves_.table.distance(coset.lead, coset.other),
            {}};
  }

  // Goes on below nodes that have `left` moves left, no fewer than a tail has.
  void search(std::span<Node> nodes, int left) {
    if (left == tails_.length()) return end(nodes);
    for (Node& node : nodes) {
      node.place = moves_.table.place(node.coset.lead, node.coset.other);
      moves_.table.prefetch(node.place);
    }
    if (levels_.size() < static_cast<std::size_t>(left)) levels_.resize(static_cast<std::size_t>(left));
    for (const Node& node : nodes) {
      auto& children = levels_[static_cast<std::size_t>(left) - 1];
      expand(node, left - 1, children);
      if (children.size() >= kTogether) empty(left - 1);
    }
    found_.nodes += nodes.size();
  }
  // The children of nodes with `left` moves left, all of them.
  std::vector<Node> children(std::span<Node> nodes, int left) {
    std::vector<Node> made;
    for (Node& node : nodes) {
      node.place = moves_.table.place(node.coset.lead, node.coset.other);
      expand(node, left - 1, made);
    }
    return made;
  }
  // What is still waiting with `left` moves left or fewer, and what has been found.
  Found finish(int left) {
    for (; left >= tails_.length(); --left)
      if (static_cast<std::size_t>(left) < levels_.size()) empty(left);
    return std::exchange(found_, {});
  }

 private:
  static constexpr std::size_t kTogether = 256;

  // The children that can still come into H in time, if `left` moves are left for them.
  void expand(const Node& node, int left, std::vector<Node>& out) {
    const auto [nearer, near] = moves_.table.turns(node.place);
    std::uint32_t some = node.slack == 0 ? nearer : node.slack == 1 ? near : ~std::uint32_t{0};
    for (some &= node.allowed; some != 0; some &= some - 1) {
      const auto move = static_cast<std::size_t>(std::countr_zero(some));
      Node& child = out.emplace_back();
      child.pieces = node.pieces.after(moves_.from[move]);
      child.coset = moves_.after(node.coset, move);
      child.allowed = moves_.allowed[move];
      child.slack = node.slack - 2 + static_cast<int>((near >> move & 1) + (nearer >> move & 1));
      if (left == tails_.length())
        tails_.prefetch(child.coset);
      else
        moves_.table.prefetch(child.coset.lead);
    }
  }

  void empty(int left) {
    std::vector<Node> nodes;
    std::swap(nodes, levels_[static_cast<std::size_t>(left)]);
    search(nodes, left);
    nodes.clear();
    std::swap(nodes, levels_[static_cast<std::size_t>(left)]);  // its room
  }

  // Which tails follow which nodes first, then where they end: so that nothing waits for a branch.
  void end(std::span<const Node> nodes) {
    lists_.clear();
    for (const Node& node : nodes)
      if (const Tails::Tail* tail = tails_.first(node.coset)) {
        lists_.push_back({&node, tail});
        __builtin_prefetch(tail);
      }
    std::size_t count = 0;
    for (auto [node, tail] : lists_) {
      for (bool last = false; !last; ++tail) {
        last = tail->last != 0;
        leaves_[count] = {node, tail};
        count += node->allowed >> tail->first & 1;
      }
      if (count + tails_.longest() > leaves_.size()) end_all(std::exchange(count, 0));
    }
    end_all(count);
  }
  void end_all(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      ends_[i] = bits_.bit_of(tails_.after(leaves_[i].first->pieces, *leaves_[i].second));
    found_.bits += bits_.mark({ends_.data(), count});
    found_.sequences += count;
  }

  const ListingMoves& moves_;
  const Tails& tails_;
  Bits& bits_;
  std::vector<std::vector<Node>> levels_;  // by moves left
  std::vector<std::pair<const Node*, const Tails::Tail*>> lists_, leaves_;
  std::vector<std::uint64_t> ends_;
  Found found_;
};

}  // namespace
}  // namespace farthest
