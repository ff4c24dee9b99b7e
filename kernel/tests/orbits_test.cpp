// Several orbits and twists: keys, programs and steps against plain models of boards and moves.
#include <algorithm>
#include <map>
#include <numeric>

#include "check.hpp"
#include "farthest/shard_blobs.hpp"
#include "farthest/step.hpp"
#include "samples.hpp"

namespace farthest::test {
namespace {

struct OrbitSample {
  std::vector<int> counts;
  std::vector<Orbit> orbits;
  std::vector<int> twisted;
  std::vector<int> turned = {};

  int slots() const { return std::accumulate(counts.begin(), counts.end(), 0); }
  Layout layout() const { return {slots(), counts, {}, orbits, twisted, turned}; }
};

// The class of each slot and its orientation.
struct State {
  Board classes, twists;
  auto operator<=>(const State&) const = default;
};

const std::vector<OrbitSample>& orbit_samples() {
  static const std::vector<OrbitSample> all{
      // No twists: the last orbit has the words, one class to many, plain and split.
      {{1, 2, 1, 1}, {{0b00111, 1}, {0b11000, 1}}, {}},
      {{2, 1, 2, 2}, {{0b1010100, 1}, {0b0101011, 1}}, {}},
      {{1, 1, 3}, {{0b01010, 1}, {0b10101, 1}}, {}},
      {{1, 1, 1, 1, 1, 1, 1, 1}, {{0b01001001, 1}, {0b10110110, 1}}, {}},
      {{1, 1, 1, 1, 1, 1, 1, 1, 1}, {{0b001001000, 1}, {0b110110111, 1}}, {}},
      {{2, 2, 1, 1, 2}, {{0b00001111, 1}, {0b00110000, 1}, {0b11000000, 1}}, {}},
      // Twists: one digit, several in a word, words in a line, digits in the line number, moduli mixed.
      {{1, 1}, {{0b11, 2}}, {0}},
      {{1, 1, 1}, {{0b111, 3}}, {0, 2}},
      {{1, 2, 1}, {{0b1111, 64}}, {0}},
      {{1, 1, 1, 1}, {{0b1111, 5}}, {3, 1, 0, 2}},
      {{1, 1, 1, 1, 1}, {{0b11111, 3}}, {0, 1, 2, 3}},
      {{1, 1, 1, 1, 1, 1}, {{0b010101, 2}, {0b101010, 3}}, {0, 1, 2, 3, 4, 5}},
      {{1, 1, 1, 2, 1}, {{0b001010, 4}, {0b110101, 6}}, {1, 4, 0, 2}},
      {{2, 1, 1, 3}, {{0b0100101, 7}, {0b1011010, 1}}, {1}},
      {{1, 1, 1}, {{0b111, 63}}, {1, 2}},
      {{1, 1, 1}, {{0b111, 50}}, {0, 1, 2}},
      {{1, 1, 1}, {{0b001, 64}, {0b010, 33}, {0b100, 2}}, {2, 0, 1}},
      // Equal pieces: twists by piece, by slot, by slot with a sum; one class; lines of many words; several
      // groups; groups in the line number; a group that no line can hold.
      {{3, 2}, {{0b11111, 3}}, {0}},
      {{1, 3, 1, 2}, {{0b0011111, 2}, {0b1100000, 5}}, {1, 3}},
      {{2, 3}, {{0b11111, 3}}, {}, {4, 0, 1, 2, 3}},
      {{2, 3}, {{0b11111, 3, 2}}, {}, {0, 3, 4, 1}},
      {{6}, {{0b111111, 2, 1}}, {}, {0, 1, 2, 3, 4}},
      {{3, 5}, {{0b11111111, 3, 1}}, {}, {0, 1, 2, 3, 4, 5, 6}},
      {{2, 8}, {{0b1111111111, 2}}, {}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
      {{2, 2, 1, 3}, {{0b00010111, 4}, {0b11101000, 2}}, {0, 1}, {3, 5, 6, 7}},
      {{4, 1, 3}, {{0b01010101, 3, 0}, {0b10101010, 2, 1}}, {}, {0, 2, 4, 1, 3, 5}},
      {{3, 3}, {{0b000111, 50, 3}, {0b111000, 2}}, {}, {0, 1, 3, 4, 5}},
      {{1, 2}, {{0b111, 33}}, {}, {0, 1, 2}},
  };
  return all;
}

// docs/key-layout.md in plain loops.
Key slow_key(const OrbitSample& sample, const State& state) {
  const Layout layout = sample.layout();
  std::vector<bool> used(state.classes.size());
  Key key = 0;
  for (std::size_t cls = 0; cls < sample.counts.size(); ++cls) {
    int position = 0, taken = 0;
    std::uint64_t rank = 0;
    for (std::size_t slot = 0; slot < used.size(); ++slot) {
      if (used[slot] || (layout.home(static_cast<int>(cls)) >> slot & 1) == 0) continue;
      if (state.classes[slot] == cls) {
        used[slot] = true;
        rank += binomial(position, ++taken);
      }
      ++position;
    }
    if (taken != sample.counts[cls]) return kNoKey;
    key = key * binomial(position, taken) + rank;
  }
  for (const int cls : sample.twisted)
    for (std::size_t slot = 0; slot < used.size(); ++slot)
      if (state.classes[slot] == cls) key = key * layout.moduli()[slot] + state.twists[slot];
  for (const int turned : sample.turned) {
    const auto slot = static_cast<std::size_t>(turned);
    key = key * layout.moduli()[slot] + state.twists[slot];
  }
  return key;
}

State state_of(const Layout& layout, Key key) {
  const auto slots = static_cast<std::size_t>(layout.slots());
  State out{Board(slots), Board(slots)};
  layout.decode(key, out.classes, out.twists);
  return out;
}

State moved(const Layout& layout, const Move& move, const State& state) {
  State out = state;
  for (std::size_t slot = 0; slot < state.classes.size(); ++slot) {
    const int delta = move.delta.empty() ? 0 : move.delta[slot];
    out.classes[move.to[slot]] = state.classes[slot];
    out.twists[move.to[slot]] =
        static_cast<std::uint8_t>((state.twists[slot] + delta) % layout.moduli()[slot]);
  }
  return out;
}

std::set<Key> image(const Layout& layout, const std::vector<Move>& moves, const std::set<Key>& keys) {
  std::set<Key> out;
  for (const Key key : keys) {
    const State state = state_of(layout, key);
    for (const Move& move : moves) {
      if (!legal(move, state.classes)) continue;
      const State next = moved(layout, move, state);
      out.insert(layout.encode(next.classes, next.twists));
    }
  }
  return out;
}

TEST(keys_of_several_orbits_and_twists_are_a_bijection) {
  for (const OrbitSample& sample : orbit_samples()) {
    const Layout layout = sample.layout();
    CHECK(layout.words() * static_cast<std::uint64_t>(layout.bits()) == layout.keys());
    CHECK(layout.lines() * layout.keys_per_line() == layout.keys());
    CHECK(layout.bits() >= 1 && layout.bits() <= 64 && layout.words_per_line() <= kMaxLineWords);
    const Key stride = layout.keys() / 20'000 | 1;  // odd: every digit of a key takes all its values
    for (Key key = 0; key < layout.keys(); key += stride) {
      const State state = state_of(layout, key);
      CHECK(layout.encode(state.classes, state.twists) == key && slow_key(sample, state) == key);
      const auto place = layout.place(key);
      CHECK(layout.key_at(place.word, place.bit) == key);
      CHECK(place.word / layout.words_per_line() == key / layout.keys_per_line());
    }
  }
}

TEST(boards_of_the_wrong_orbit_or_twist_have_no_key) {
  const Layout layout(4, {1, 1, 2}, {}, {{0b0011, 3}, {0b1100, 1}}, {0});
  CHECK(layout.encode(Board{1, 0, 2, 2}, Board{0, 2, 0, 0}) == 5);
  CHECK(layout.encode(Board{1, 0, 2, 2}, Board{9, 2, 9, 9}) == 5);  // not counted
  CHECK(layout.encode(Board{1, 0, 2, 2}) == 3);
  CHECK(layout.encode(Board{1, 0, 2, 2}, Board{0, 3, 0, 0}) == kNoKey);
  CHECK(layout.encode(Board{1, 2, 0, 2}) == kNoKey);
  CHECK(layout.encode(Board{1, 1, 2, 2}) == kNoKey);
}

TEST(wrong_orbits_and_twists_are_refused) {
  const std::vector<Orbit> two{{0b0011, 3}, {0b1100, 1}};
  CHECK(Layout(4, {1, 1, 2}, {}, two, {0, 1}).keys() == 2 * 9);
  CHECK_THROWS(Layout(4, {1, 2, 1}, {}, two, {}));                             // a class on two orbits
  CHECK_THROWS(Layout(4, {1, 1, 1, 1, 1}, {}, two, {}));                       //
  CHECK_THROWS(Layout(4, {1, 1, 1}, {}, two, {}));                             // too few pieces
  CHECK_THROWS(Layout(4, {2, 0, 2}, {}, two, {}));                             //
  CHECK_THROWS(Layout(4, {1, 1, 2}, {}, {{0b0011, 1}}, {}));                   // slots of no orbit
  CHECK_THROWS(Layout(4, {1, 1, 2}, {}, {{0b0011, 1}, {0b1110, 1}}, {}));      // of two
  CHECK_THROWS(Layout(4, {1, 1, 2}, {}, {{0b0011, 1}, {0b11100, 1}}, {}));     // beyond the last
  CHECK_THROWS(Layout(4, {1, 1, 2}, {}, {{0b0011, 1}, {0, 1}, {12, 1}}, {}));  // an empty one
  CHECK_THROWS(Layout(4, {1, 1, 2}, {}, {{0b0011, 0}, {0b1100, 1}}, {}));
  CHECK_THROWS(Layout(4, {1, 1, 2}, {}, {{0b0011, 65}, {0b1100, 1}}, {}));
  CHECK_THROWS(Layout(4, {1, 1, 2}, {}, two, {2}));     // no orientations there
  CHECK_THROWS(Layout(4, {1, 1, 2}, {}, two, {0, 0}));  //
  CHECK_THROWS(Layout(4, {1, 1, 2}, {}, two, {3}));
  CHECK_THROWS(Layout(4, {1, 1, 2}, {}, two, {-1}));
  const std::vector<Orbit> sum{{0b0011, 1}, {0b1100, 3, 2}};
  CHECK(Layout(4, {1, 1, 2}, {}, sum, {2}).keys() == 2 * 9);
  CHECK(Layout(4, {1, 1, 2}, {}, sum, {}, {3, 2}).keys() == 2 * 9);
  const Layout follows(4, {1, 1, 2}, {}, sum, {}, {3});
  CHECK(follows.keys() == 2 * 3);
  CHECK(follows.encode(Board{0, 1, 2, 2}, Board{0, 0, 1, 1}) == 1);
  CHECK(follows.encode(Board{0, 1, 2, 2}, Board{0, 0, 2, 1}) == kNoKey);
  CHECK(follows.encode(Board{0, 1, 2, 2}, Board{0, 0, 4, 1}) == kNoKey);
  CHECK_THROWS(ArrangementSpace(follows, {Move{{0, 1, 3, 2}, 0, 0, {0, 0, 1, 0}}}, 1, Isa::portable));
  CHECK_THROWS(Layout(4, {1, 1, 2}, {}, {{0b0011, 1}, {0b1100, 3, 3}}, {}, {3}));
  CHECK_THROWS(Layout(4, {1, 1, 2}, {}, sum, {2}, {2, 3}));  // by piece and by slot
  CHECK_THROWS(Layout(4, {1, 1, 2}, {}, sum, {}, {2, 2}));
  CHECK_THROWS(Layout(4, {1, 1, 2}, {}, sum, {}, {0}));
  CHECK_THROWS(Layout(4, {1, 1, 2}, {}, sum, {}, {4}));
  CHECK_THROWS(Layout(4, {1, 1, 2}, {}, sum, {}, {-1}));
  CHECK_THROWS(Layout(6, {3, 3}, {}, {{0b000111, 2}, {0b111000, 2}}, {}, {0}));              // two left out
  CHECK_THROWS(Layout(6, {3, 3}, {}, {{0b000111, 2}, {0b111000, 2}}, {}, {0, 1, 3, 4, 2}));  // not together
  CHECK_THROWS(Layout(3, {3}, {}, {{0b111, 1}}));
  CHECK_THROWS(Layout(4, {1, 1, 1, 1}, {0, 0, 0, 0}, {{0b0011, 1}, {0b1100, 1}}, {}));
  CHECK_THROWS(Layout(4, {1, 1, 1, 1}, {0, 0, 0, 0}, {{0b1111, 2}}, {0}));
  std::vector<int> all(12);
  std::iota(all.begin(), all.end(), 0);
  CHECK_THROWS(Layout(12, std::vector<int>(12, 1), {}, {{0xfff, 64}}, all));  // 2^72 twists
  const Layout layout(4, {1, 1, 2}, {}, two, {0});
  CHECK_THROWS(
      ArrangementSpace(layout, {Move{{2, 1, 0, 3}, 0, 0}}, 1, Isa::portable));  // from orbit to orbit
  CHECK_THROWS(ArrangementSpace(layout, {Move{{1, 0, 2, 3}, 0, 0, {1, 1}}}, 1, Isa::portable));
}

TEST(inverses_undo_twists_too) {
  Random random(31);
  for (const OrbitSample& sample : orbit_samples()) {
    const Layout layout = sample.layout();
    auto moves = moves_within(layout, 12, random);
    for (Move& move : moves) move = reduced(std::move(move), layout.moduli());
    std::vector<Move> both = moves;
    for (const Move& move : moves) {
      const Move back = inverse(move, layout.moduli());
      CHECK(inverse(back, layout.moduli()) == move);
      for (int i = 0; i < 5; ++i) {
        const State state = state_of(layout, random.below(layout.keys()));
        CHECK(moved(layout, back, moved(layout, move, state)) == state);
      }
      both.push_back(back);
    }
    CHECK(closed_under_inverse(both, layout.moduli()));
    Move once = reduced(Move{both[0].to, 0, 0, Board(both[0].to.size(), 1)}, layout.moduli());
    std::iota(once.to.begin(), once.to.end(), std::uint8_t{0});
    const bool own = once == inverse(once, layout.moduli());
    CHECK(closed_under_inverse({once}, layout.moduli()) == own);
    if (std::ranges::any_of(layout.digit_groups(), [](const auto& group) { return group.dropped >= 0; }))
      continue;  // its turns have a sum
    CHECK(ArrangementSpace(layout, {once}, 1, Isa::portable).reversible() == own);
  }
}

struct Case {
  Layout layout;
  std::vector<Move> moves;
  std::set<Key> frontier, known, expected;

  Case(const Layout& of, int count, std::uint64_t most, Random& random)
      : layout(of),
        moves(moves_within(layout, count, random)),
        frontier(random_keys(layout, most, random)),
        known(random_keys(layout, most, random)),
        expected(image(layout, moves, frontier)) {
    for (const Key key : known) expected.erase(key);
  }
};

void check_step(const Case& of, int shard_classes, Isa isa, int threads) {
  ArrangementSpace space(of.layout, of.moves, shard_classes, isa);
  Bitmap frontier(space, of.frontier), known(space, of.known), fresh(space), sum(space, of.known);
  const auto shards = all_shards(space);
  space.prepare(shards, threads);
  const auto counts = step(
      space, shards,
      {{frontier.view(space)}, {fresh.view(space)}, {{known.view(space)}}, {{sum.view(space)}}}, threads);
  CHECK(counts == population(space, fresh.view(space)));
  CHECK(fresh.flagged(space) && sum.flagged(space));
  CHECK(fresh.keys(space) == of.expected);
  const auto coded = encode_shards(space, fresh.view(space), isa);
  std::vector<Blob> blobs;
  for (const ShardBlob& shard : coded) blobs.emplace_back(shard.blob);
  Bitmap decoded(space);
  CHECK(decode_shards(space, blobs, {decoded.view(space)}, isa) == of.expected.size() && decoded == fresh);
}

TEST(a_step_of_several_orbits_and_twists_is_the_image_of_the_frontier) {
  Random random(32);
  for (const OrbitSample& sample : orbit_samples()) {
    const Case of(sample.layout(), 6, 200, random);
    for (const Isa isa : available_isas())
      for (int classes = 1; classes <= of.layout.upper_classes(); ++classes)
        check_step(of, classes, isa, classes % 3 + 1);
  }
}

TEST(lines_of_twists_are_split_as_the_layout_says) {
  const auto twisted = [](int pieces, int modulus) {
    std::vector<int> all(static_cast<std::size_t>(pieces));
    std::iota(all.begin(), all.end(), 0);
    return Layout(pieces, std::vector<int>(static_cast<std::size_t>(pieces), 1), {},
                  {{first_slots(pieces), modulus}}, all);
  };
  const Layout burnt = twisted(9, 2), corners = twisted(8, 3), many = twisted(12, 2), large = twisted(3, 50);
  CHECK(burnt.bits() == 64 && burnt.words_per_line() == 8 && burnt.upper_twists() == 1);
  CHECK(corners.bits() == 27 && corners.words_per_line() == 27 && corners.upper_twists() == 9);
  CHECK(many.bits() == 64 && many.words_per_line() == 16 && many.upper_twists() == 4);
  CHECK(large.bits() == 50 && large.words_per_line() == 1 && large.upper_twists() == 2500);
  Random random(33);
  for (const Layout& layout : {burnt, corners, large}) {
    const Case of(layout, 4, 500, random);
    for (const Isa isa : available_isas()) check_step(of, 2, isa, 2);
  }
}

// All states of a small cube-like puzzle, layer by layer, against the plain model.
TEST(a_whole_search_with_twists_finds_the_layers_of_the_plain_model) {
  const Layout layout(5, {1, 1, 1, 1, 1}, {}, {{0b00111, 3}, {0b11000, 2}}, {0, 1, 2, 3, 4});
  const std::vector<Move> moves{{{1, 2, 0, 3, 4}, 0, 0, {1, 1, 0, 0, 0}},
                                {{1, 0, 2, 4, 3}, 0, 0, {1, 2, 0, 1, 0}}};
  for (const Isa isa : available_isas()) {
    ArrangementSpace space(layout, moves, 2, isa);
    space.prepare(all_shards(space), 2);
    std::set<Key> found{0}, now{0};
    Bitmap frontier(space, now), fresh(space), known(space, found);
    for (int depth = 0; !now.empty() && depth < 100; ++depth) {
      now = image(layout, moves, now);
      for (const Key key : found) now.erase(key);
      found.insert(now.begin(), now.end());
      step(space, all_shards(space),
           {{frontier.view(space)}, {fresh.view(space)}, {{known.view(space)}}, {{known.view(space)}}}, 2);
      CHECK(fresh.keys(space) == now);
      std::swap(frontier, fresh);
    }
    CHECK(now.empty() && found.size() == 324);
  }
}

}  // namespace
}  // namespace farthest::test
