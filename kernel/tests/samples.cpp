#include "samples.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace farthest::test {
namespace {

// The parity of row_moves: one swap and one slot of class 0 at a time.
std::vector<std::uint8_t> alternating(int slots, int first) {
  std::vector<std::uint8_t> out;
  for (int slot = 0; slot < slots; ++slot) out.push_back(static_cast<std::uint8_t>((slot + first) & 1));
  return out;
}

Sample halved(int slots, int first) {
  return {std::vector<int>(static_cast<std::size_t>(slots), 1), alternating(slots, first)};
}

}  // namespace

std::vector<std::uint8_t> Random::permutation(int n) {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), std::uint8_t{0});
  for (std::size_t i = out.size(); i > 1; --i) std::swap(out[i - 1], out[below(i)]);
  return out;
}

int Sample::slots() const { return std::accumulate(counts.begin(), counts.end(), 0); }

const std::vector<Sample>& small_samples() {
  static const std::vector<Sample> all{
      {{1, 1}, {}},              // two keys, one bit a word
      {{1, 3}, {}},              //
      {{3, 1}, {}},              // more blanks than pieces
      {{1, 1, 1}, {}},           //
      {{1, 2, 3}, {}},           //
      {{2, 1, 2, 1}, {}},        //
      {{1, 3, 3}, {}},           // 20 bits
      {{1, 1, 1, 1, 2}, {}},     // 60 bits, plain
      {{1, 1, 62}, {}},          // 64 slots, 63 bits
      {{2, 4, 4}, {}},           // 70 arrangements do not fit a word
      {{2, 2, 2, 2}, {}},        //
      {{1, 1, 1, 1, 1, 1}, {}},  // split, one prefix a slot of class 0
      {{2, 1, 1, 1, 1, 1}, {}},  //
      {{2, 2, 1, 1, 1, 1, 1}, {}},
      {{1, 2, 1, 1, 1, 1, 1}, {}},     // split, with a line class
      {{1, 1, 1, 1, 1, 1, 1, 1}, {}},  // split, several line classes
      halved(3, 0),
      halved(4, 1),
      halved(5, 0),
      halved(6, 1),
      halved(7, 0),
      halved(8, 1),
  };
  return all;
}

const std::vector<Sample>& large_samples() {
  static const std::vector<Sample> all{
      {{1, 2, 2, 4, 4}, {}},  // many lines in a shard
      {{6, 1, 6}, {}},        // many shards
      {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {}},
      {{3, 2, 2, 2, 1, 1, 1, 1, 1}, {}},
      {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {}},  // 19 distinct labels
      {{30, 30, 4}, {}},                                                // fewer than 2^62 by little
      {{1, 63}, {}},
      {{63, 1}, {}},
      {{1, 31, 16, 16}, {}},
      halved(12, 0),
      halved(16, 1),
      halved(20, 0),
  };
  static const std::vector<Sample> fitting = [] {
    std::vector<Sample> out;
    for (const Sample& sample : all) {
      try {
        sample.layout();
        out.push_back(sample);
      } catch (const InvalidArgument&) {
        continue;
      }
    }
    return out;
  }();
  return fitting;
}

std::vector<Move> row_moves(int slots) {
  std::vector<Move> moves;
  for (int a = 0; a + 1 < slots; ++a)
    for (const auto& [blank, piece] : {std::pair{a, a + 1}, std::pair{a + 1, a}}) {
      Move move{{}, bit(blank), bit(piece)};
      for (int slot = 0; slot < slots; ++slot) move.to.push_back(static_cast<std::uint8_t>(slot));
      std::swap(move.to[static_cast<std::size_t>(blank)], move.to[static_cast<std::size_t>(piece)]);
      moves.push_back(move);
    }
  return moves;
}

std::vector<Move> ring_moves(int slots) {
  std::vector<Move> moves = row_moves(slots);
  std::erase_if(moves, [](const Move& move) { return lowest(move.require) > lowest(move.forbid); });
  Move around = moves.front();
  std::iota(around.to.begin(), around.to.end(), std::uint8_t{0});
  std::swap(around.to.front(), around.to.back());
  around.require = bit(slots - 1);
  around.forbid = bit(0);
  moves.push_back(around);
  return moves;
}

std::vector<Move> random_moves(int slots, int moves, Random& random) {
  std::vector<Move> out;
  for (int m = 0; m < moves; ++m) {
    Move move{random.permutation(slots), 0, 0};
    if (random.below(2) == 0)
      move.require = bit(static_cast<int>(random.below(static_cast<unsigned>(slots))));
    if (random.below(2) == 0)
      move.forbid = bit(static_cast<int>(random.below(static_cast<unsigned>(slots)))) & ~move.require;
    out.push_back(move);
  }
  return out;
}

std::vector<Move> moves_for(const Sample& sample, Random& random) {
  return sample.parity.empty() ? random_moves(sample.slots(), 5, random) : row_moves(sample.slots());
}

std::vector<Move> moves_within(const Layout& layout, int count, Random& random) {
  std::vector<Move> out;
  for (int m = 0; m < count; ++m) {
    Move move{Board(static_cast<std::size_t>(layout.slots())), 0, 0};
    for (const Orbit& orbit : layout.orbits()) {
      const auto order = random.permutation(std::popcount(orbit.slots));
      std::vector<std::uint8_t> slots;
      for (SlotMask mask = orbit.slots; mask != 0; mask &= mask - 1)
        slots.push_back(static_cast<std::uint8_t>(lowest(mask)));
      for (std::size_t i = 0; i < slots.size(); ++i) move.to[slots[i]] = slots[order[i]];
    }
    if (m % 4 != 0)
      for (int slot = 0; slot < layout.slots(); ++slot)
        move.delta.push_back(static_cast<std::uint8_t>(random.below(256)));
    for (const Layout::DigitGroup& group : layout.digit_groups()) {
      if (group.dropped < 0 || move.delta.empty()) continue;
      std::uint64_t sum = 0;
      for (SlotMask left = layout.home_of_slot(group.dropped); left != 0; left &= left - 1)
        sum += move.delta[static_cast<std::size_t>(lowest(left))];
      auto& last = move.delta[static_cast<std::size_t>(group.dropped)];
      last = static_cast<std::uint8_t>((last % group.radix + group.radix - sum % group.radix) % group.radix);
    }
    if (m % 3 == 2) move.require = bit(lowest(layout.home(0)));
    out.push_back(move);
  }
  return out;
}

bool legal(const Move& move, const Board& board) {
  for (std::size_t slot = 0; slot < board.size(); ++slot) {
    const SlotMask here = bit(static_cast<int>(slot));
    if ((move.require & here) != 0 && board[slot] != 0) return false;
    if ((move.forbid & here) != 0 && board[slot] == 0) return false;
  }
  return true;
}

Board moved(const Move& move, const Board& board) {
  Board out(board.size());
  for (std::size_t slot = 0; slot < board.size(); ++slot) out[move.to[slot]] = board[slot];
  return out;
}

Board board_of(const Layout& layout, Key key) {
  Board board(static_cast<std::size_t>(layout.slots()));
  layout.decode(key, board);
  return board;
}

std::set<Key> image_of(const Layout& layout, const std::vector<Move>& moves, const std::set<Key>& keys) {
  std::set<Key> out;
  for (const Key key : keys) {
    const Board board = board_of(layout, key);
    for (const Move& move : moves)
      if (legal(move, board)) out.insert(layout.encode(moved(move, board)));
  }
  return out;
}

std::set<Key> Bitmap::keys(const Space& space) {
  const auto found = keys_of(space, view(space), std::numeric_limits<std::size_t>::max());
  return {found.begin(), found.end()};
}

bool Bitmap::flagged(const Space& space) const {
  const auto words_per_line = static_cast<std::ptrdiff_t>(space.words_per_line());
  auto line = words.begin();
  return std::ranges::all_of(flags, [&](std::uint8_t flag) {
    const auto begin = line;
    line += words_per_line;
    return flag != 0 || std::all_of(begin, line, [](Word word) { return word == 0; });
  });
}

std::vector<std::uint64_t> all_shards(const Space& space) {
  std::vector<std::uint64_t> out(space.shards());
  std::iota(out.begin(), out.end(), std::uint64_t{0});
  return out;
}

Bitmap stepped_in_parts(const Space& space, const Bitmap& frontier, const Bitmap& known) {
  constexpr std::uint64_t kPart = 3;
  const std::uint64_t lines = space.lines_per_shard(), words = space.words_per_line();
  Bitmap out(space);
  for (std::uint64_t shard = 0; shard < space.shards(); ++shard) {
    std::vector<const Word*> source_words;
    std::vector<const std::uint8_t*> source_flags;
    for (const auto source : space.sources(shard)) {
      source_words.push_back(frontier.words.data() + source * space.words_per_shard());
      source_flags.push_back(frontier.flags.data() + source * lines);
    }
    for (std::uint64_t first = 0; first < lines; first += kPart) {
      const auto count = std::min(kPart, lines - first), at = shard * lines + first;
      // Of their own size, and stale, so that the sanitizers see what goes wrong.
      std::vector<Word> fresh(count * words, ~Word{0}), sum(count * words);
      std::vector<std::uint8_t> fresh_flags(count, 1), sum_flags(count);
      const auto excluded = known.words.begin() + static_cast<std::ptrdiff_t>(at * words);
      const std::vector<Word> exclude(excluded, excluded + static_cast<std::ptrdiff_t>(count * words));
      LineRange range;
      range.shard = shard;
      range.from = range.first = first;
      range.source_words = source_words;
      range.source_flags = source_flags;
      range.fresh = fresh.data();
      range.fresh_flags = fresh_flags.data();
      range.exclude[range.excludes++] = exclude.data();
      range.accumulate[range.accumulates] = sum.data();
      range.accumulate_flags[range.accumulates++] = sum_flags.data();
      for (; range.first < first + count; range.first = range.last) {
        range.last =
            std::min(range.first + 2, first + count);  // the second time in the middle of the buffers
        space.step_lines(range);
      }
      if (fresh == sum && fresh_flags == sum_flags) {
        std::ranges::copy(fresh, out.words.begin() + static_cast<std::ptrdiff_t>(at * words));
        std::ranges::copy(fresh_flags, out.flags.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
  }
  return out;
}

std::set<Key> random_keys(const Layout& layout, std::uint64_t most, Random& random) {
  std::set<Key> out;
  const std::uint64_t wanted = std::min(most, layout.keys() / 3 + 1);
  while (out.size() < wanted) out.insert(random.below(layout.keys()));
  return out;
}

}  // namespace farthest::test
