#include <algorithm>

#include "check.hpp"
#include "samples.hpp"

namespace farthest::test {
namespace {

// The key by the formula of docs/key-layout.md, in plain loops.
Key slow_key(const Sample& sample, const Board& board) {
  std::vector<int> free;
  for (int slot = 0; slot < sample.slots(); ++slot) free.push_back(slot);
  Key full = 0, digits = 0;
  std::size_t blank = 0;
  for (std::size_t cls = 0; cls < sample.counts.size(); ++cls) {
    std::vector<int> left;
    std::uint64_t rank = 0;
    int taken = 0;
    for (std::size_t p = 0; p < free.size(); ++p) {
      const auto slot = static_cast<std::size_t>(free[p]);
      if (board[slot] != cls) {
        left.push_back(free[p]);
        continue;
      }
      rank += binomial(static_cast<int>(p), ++taken);
      if (cls == 0) blank = slot;
    }
    if (taken != sample.counts[cls]) return kNoKey;
    full = full * binomial(static_cast<int>(free.size()), taken) + rank;
    digits += rank;
    free = left;
  }
  if (sample.parity.empty()) return full;
  return (digits & 1) == sample.parity[blank] ? full / 2 : kNoKey;
}

std::uint64_t multinomial(const Sample& sample) {
  std::uint64_t out = 1;
  int free = sample.slots();
  for (const int count : sample.counts) {
    out *= binomial(free, count);
    free -= count;
  }
  return out;
}

TEST(every_arrangement_has_one_key_or_the_wrong_parity) {
  for (const Sample& sample : small_samples()) {
    const Layout layout = sample.layout();
    const std::uint64_t arrangements = multinomial(sample);
    CHECK(layout.keys() == (sample.parity.empty() ? arrangements : arrangements / 2));
    Board board;
    for (std::size_t cls = 0; cls < sample.counts.size(); ++cls)
      board.insert(board.end(), static_cast<std::size_t>(sample.counts[cls]), static_cast<std::uint8_t>(cls));
    std::vector<bool> seen(layout.keys());
    std::uint64_t boards = 0;
    do {
      ++boards;
      const Key key = layout.encode(board);
      CHECK(key == slow_key(sample, board));
      if (key == kNoKey) continue;
      CHECK(key < layout.keys() && !seen[key]);
      seen[key] = true;
      CHECK(board_of(layout, key) == board);
    } while (std::ranges::next_permutation(board).found);
    CHECK(boards == arrangements);
    CHECK(std::ranges::all_of(seen, [](bool is) { return is; }));
  }
}

TEST(random_keys_of_large_layouts_round_trip) {
  Random random(2);
  for (const Sample& sample : large_samples()) {
    const Layout layout = sample.layout();
    for (int i = 0; i < 500; ++i) {
      const Key key = i == 0 ? 0 : i == 1 ? layout.keys() - 1 : random.below(layout.keys());
      const Board board = board_of(layout, key);
      CHECK(layout.encode(board) == key);
      CHECK(slow_key(sample, board) == key);
      const auto place = layout.place(key);
      CHECK(place.word < layout.words() && place.bit >= 0 && place.bit < layout.bits());
      CHECK(layout.key_at(place.word, place.bit) == key);
    }
  }
}

TEST(places_of_bits_are_a_bijection) {
  for (const Sample& sample : small_samples()) {
    const Layout layout = sample.layout();
    CHECK(layout.words() * static_cast<std::uint64_t>(layout.bits()) == layout.keys());
    CHECK(layout.lines() * layout.keys_per_line() == layout.keys());
    CHECK(layout.bits() >= 1 && layout.bits() <= 64);
    for (std::uint64_t word = 0; word < layout.words(); ++word)
      for (int b = 0; b < layout.bits(); ++b) {
        const Key key = layout.key_at(word, b);
        CHECK(key < layout.keys());
        const auto place = layout.place(key);
        CHECK(place.word == word && place.bit == b);
        CHECK(word / layout.words_per_line() == key / layout.keys_per_line());
      }
  }
}

TEST(samples_have_every_mode) {
  bool seen[3] = {};
  std::uint64_t most_words = 0;
  for (const auto* samples : {&small_samples(), &large_samples()})
    for (const Sample& sample : *samples) {
      const Layout layout = sample.layout();
      seen[static_cast<int>(layout.mode())] = true;
      CHECK((layout.mode() == WordMode::halved) == !sample.parity.empty());
      CHECK(layout.upper_classes() >= 1);
      most_words = std::max(most_words, layout.words_per_line());
    }
  CHECK(seen[0] && seen[1] && seen[2]);
  CHECK(most_words > 60 && most_words <= 512);
  CHECK(large_samples().size() >= 10);
}

TEST(boards_with_wrong_labels_have_no_key) {
  const Layout layout(4, {1, 1, 2}, {});
  CHECK(layout.encode(Board{0, 1, 2, 2}) != kNoKey);
  for (const Board& board : {Board{0, 1, 1, 2}, Board{0, 0, 1, 2}, Board{1, 1, 2, 2}, Board{0, 1, 2, 3},
                             Board{0, 1, 2, 255}, Board{2, 2, 2, 2}})
    CHECK(layout.encode(board) == kNoKey);
}

TEST(layouts_that_do_not_fit_are_refused) {
  CHECK_THROWS(Layout(1, {1}, {}));
  CHECK_THROWS(Layout(0, {}, {}));
  CHECK_THROWS(Layout(-3, {1, 1}, {}));
  CHECK_THROWS(Layout(65, {1, 64}, {}));
  CHECK_THROWS(Layout(3, {3}, {}));
  CHECK_THROWS(Layout(3, {}, {}));
  CHECK_THROWS(Layout(3, {1, 1}, {}));
  CHECK_THROWS(Layout(3, {1, 3}, {}));
  CHECK_THROWS(Layout(3, {0, 3}, {}));
  CHECK_THROWS(Layout(3, {-1, 4}, {}));
  CHECK_THROWS(Layout(21, std::vector<int>(21, 1), {}));  // 21! is more than 2^62
  CHECK_THROWS(Layout(64, std::vector<int>(64, 1), {}));
  CHECK_THROWS(Layout(64, {16, 16, 16, 16}, {}));
  CHECK_THROWS(Layout(4, {1, 1, 2}, {0, 1, 0, 1}));  // identical labels have no parity
  CHECK_THROWS(Layout(2, {1, 1}, {0, 1}));           //
  CHECK_THROWS(Layout(4, {1, 1, 1, 1}, {0, 1, 0}));  // one bit a slot
  CHECK(Layout(20, std::vector<int>(20, 1), {}).keys() == 2432902008176640000u);
}

}  // namespace
}  // namespace farthest::test
