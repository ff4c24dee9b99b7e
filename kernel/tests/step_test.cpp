// Steps against images of sets; every instruction set, thread count and division into shards gives the same.
#include "farthest/step.hpp"

#include <algorithm>
#include <utility>

#include "check.hpp"
#include "farthest/planes.hpp"
#include "samples.hpp"

namespace farthest::test {
namespace {

std::set<Key> without(std::set<Key> keys, const std::set<Key>& others) {
  for (const Key key : others) keys.erase(key);
  return keys;
}

struct Case {
  Layout layout;
  std::vector<Move> moves;
  std::set<Key> frontier, known;  // known: taken away from the image
  std::set<Key> expected;

  Case(const Layout& of, std::vector<Move> by, std::uint64_t most, Random& random)
      : layout(of),
        moves(std::move(by)),
        frontier(random_keys(layout, most, random)),
        known(random_keys(layout, most, random)),
        expected(without(image_of(layout, moves, frontier), known)) {
    expected.erase(kNoKey);
  }
};

// Bits of the fresh layer; checks the counts, the flags and what was accumulated.
std::vector<Word> stepped(const Case& of, int shard_classes, Isa isa, int threads, bool shard_by_shard) {
  ArrangementSpace space(of.layout, of.moves, shard_classes, isa);
  Bitmap frontier(space, of.frontier), known(space, of.known), fresh(space), sum(space, of.known),
      copy(space);
  const auto shards = all_shards(space);
  space.prepare(shards, threads);
  StepInput input{{frontier.view(space)},
                  {fresh.view(space)},
                  {{known.view(space)}},
                  {{sum.view(space)}, {copy.view(space)}}};
  std::vector<std::uint64_t> counts;
  if (!shard_by_shard) {
    counts = step(space, shards, input, threads);
  } else {
    const std::uint64_t cut = space.shards() / 2;  // the layers come in pieces
    input.frontier = {frontier.part(space, cut, space.shards() - cut), frontier.part(space, 0, cut)};
    for (const auto shard : shards) {
      input.fresh = {fresh.part(space, shard, 1)};
      const auto one = step(space, {shard}, input, threads);
      CHECK(one.size() == 1);
      counts.push_back(one[0]);
    }
  }
  CHECK(counts == population(space, fresh.view(space)));
  CHECK(fresh.flagged(space) && sum.flagged(space));
  CHECK(fresh.keys(space) == of.expected);
  CHECK(copy.words == fresh.words);
  CHECK(stepped_in_parts(space, frontier, known) == fresh);
  std::set<Key> all = of.known;
  all.insert(of.expected.begin(), of.expected.end());
  CHECK(sum.keys(space) == all);
  return fresh.words;
}

void check_all_ways(const Case& of) {
  const auto reference = stepped(of, 1, Isa::portable, 1, false);
  for (const Isa isa : available_isas()) {
    for (const int threads : {1, 2, 5}) CHECK(stepped(of, 1, isa, threads, false) == reference);
    for (int classes = 2; classes <= of.layout.upper_classes(); ++classes)
      CHECK(stepped(of, classes, isa, 2, false) == reference);
  }
  for (int classes = 1; classes <= std::min(2, of.layout.upper_classes()); ++classes)
    CHECK(stepped(of, classes, available_isas().back(), 1, true) == reference);
}

TEST(a_step_is_the_image_of_the_frontier) {
  Random random(5);
  for (const Sample& sample : small_samples()) {
    const Layout layout = sample.layout();
    check_all_ways({layout, moves_for(sample, random), 300, random});
    check_all_ways({layout, row_moves(layout.slots()), 300, random});
  }
}

TEST(a_step_of_one_way_moves) {
  Random random(6);
  for (const auto& counts : {std::vector{1, 2, 3}, std::vector{2, 1, 1, 1, 1, 1}, std::vector{3, 2, 2}}) {
    const Layout layout(Sample{counts, {}}.slots(), counts, {});
    check_all_ways({layout, ring_moves(layout.slots()), 200, random});
  }
}

TEST(large_spaces_use_threads_and_pieces_of_shards) {
  Random random(7);
  for (const auto& counts : {std::vector{1, 2, 2, 4, 4}, std::vector{6, 1, 6}, std::vector{6, 7}}) {
    const Layout layout(13, counts, {});
    CHECK(layout.lines() > 1024);
    const Case of(layout, row_moves(13), 2000, random);
    const auto reference = stepped(of, 1, Isa::portable, 1, false);
    for (const Isa isa : available_isas())
      for (const int threads : {1, 5})
        CHECK(stepped(of, threads > 1 ? layout.upper_classes() : 1, isa, threads, false) == reference);
  }
}

TEST(fresh_may_be_written_over_an_excluded_layer) {
  // As in an undirected search with two layers: layer d + 1 takes the place of layer d - 1.
  const Layout layout(7, {1, 3, 3}, {});
  for (const Isa isa : available_isas()) {
    ArrangementSpace space(layout, row_moves(7), 1, isa);
    space.prepare(all_shards(space), 1);
    std::set<Key> before{}, now{5};
    Bitmap older(space, before), newer(space, now);
    for (int depth = 1; !now.empty(); ++depth) {
      const auto next = without(without(image_of(layout, space.moves(), now), now), before);
      step(space, all_shards(space),
           {{newer.view(space)}, {older.view(space)}, {{older.view(space)}, {newer.view(space)}}, {}}, 1);
      CHECK(older.keys(space) == next && older.flagged(space));
      std::swap(older, newer);
      before = std::exchange(now, next);
      if (depth > 1000) return CHECK(depth <= 1000);
    }
  }
}

TEST(stale_lines_are_cleared) {
  const Layout layout(6, {1, 2, 3}, {});
  ArrangementSpace space(layout, row_moves(6), 1, available_isas().back());
  space.prepare(all_shards(space), 1);
  Bitmap frontier(space), fresh(space, {0, 7, 31});
  const auto counts =
      step(space, all_shards(space), {{frontier.view(space)}, {fresh.view(space)}, {}, {}}, 1);
  CHECK(std::ranges::all_of(counts, [](auto n) { return n == 0; }));
  CHECK(std::ranges::all_of(fresh.words, [](Word w) { return w == 0; }));
  CHECK(std::ranges::all_of(fresh.flags, [](auto f) { return f == 0; }));
}

TEST(colours_change_with_every_move) {
  Random random(8);
  int coloured = 0;
  for (const Sample& sample : small_samples()) {
    const Layout layout = sample.layout();
    for (const auto& moves : {row_moves(layout.slots()), moves_for(sample, random)})
      for (int classes = 1; classes <= layout.upper_classes(); ++classes) {
        const ArrangementSpace space(layout, moves, classes, Isa::portable);
        const auto& colours = space.colours();
        if (colours.empty()) continue;
        ++coloured;
        const std::uint64_t per_shard = layout.keys() / space.shards();
        for (Key key = 0; key < std::min<Key>(layout.keys(), 500); ++key)
          for (const Key next : image_of(layout, moves, {key}))
            CHECK(colours[key / per_shard] != colours[next / per_shard]);
      }
  }
  CHECK(coloured > 20);
  CHECK(ArrangementSpace(Layout(4, {1, 3}, {}),
                         {Move{{1, 0, 2, 3}, bit(0), bit(1)}, Move{{0, 1, 2, 3}, 0, 0}}, 1, Isa::portable)
            .colours()
            .empty());
}

TEST(sources_are_the_shards_that_moves_lead_from) {
  Random random(9);
  for (const Sample& sample : small_samples()) {
    const Layout layout = sample.layout();
    if (layout.keys() > 3000) continue;
    const auto moves = moves_for(sample, random);
    for (int classes = 1; classes <= layout.upper_classes(); ++classes) {
      const ArrangementSpace space(layout, moves, classes, Isa::portable);
      const std::uint64_t per_shard = layout.keys() / space.shards();
      for (Key key = 0; key < layout.keys(); ++key)
        for (const Key next : image_of(layout, moves, {key})) {
          const auto sources = space.sources(next / per_shard);
          CHECK(std::ranges::find(sources, key / per_shard) != sources.end());
        }
    }
  }
}

TEST(wrong_steps_are_refused) {
  const Layout layout(6, {1, 1, 1, 1, 2}, {});
  const Isa isa = Isa::portable;
  CHECK_THROWS(ArrangementSpace(layout, row_moves(6), 0, isa));
  CHECK_THROWS(ArrangementSpace(layout, row_moves(6), layout.upper_classes() + 1, isa));
  CHECK_THROWS(ArrangementSpace(layout, row_moves(5), 1, isa));
  ArrangementSpace space(layout, row_moves(6), 1, isa);
  Bitmap frontier(space), fresh(space);
  const StepInput good{{frontier.view(space)}, {fresh.view(space)}, {}, {}};
  CHECK_THROWS(step(space, {0}, good, 1));  // not prepared
  space.prepare(all_shards(space), 1);
  CHECK(step(space, {0}, good, 1) == std::vector<std::uint64_t>{0});
  CHECK(step(space, {}, good, 1).empty());
  CHECK_THROWS(step(space, {space.shards()}, good, 1));
  StepInput wrong = good;
  wrong.frontier = {frontier.part(space, 0, 1)};
  CHECK_THROWS(step(space, {0}, wrong, 1));  // its source is shard 1
  wrong = good;
  wrong.fresh = {fresh.part(space, 1, 1)};
  CHECK_THROWS(step(space, {0}, wrong, 1));
  wrong = good;
  wrong.exclude.assign(3, {frontier.view(space)});
  CHECK_THROWS(step(space, {0}, wrong, 1));
  wrong = good;
  wrong.accumulate.assign(19, {frontier.view(space)});
  CHECK_THROWS(step(space, {0}, wrong, 1));
  wrong = good;
  wrong.accumulate = {{}};
  CHECK_THROWS(step(space, {0}, wrong, 1));
}

TEST(preparing_again_or_one_shard_several_times_changes_nothing) {
  Random random(10);
  const Layout layout(13, {1, 2, 2, 4, 4}, {});
  const Case of(layout, row_moves(13), 500, random);
  const auto reference = stepped(of, 1, Isa::portable, 1, false);
  ArrangementSpace space(layout, of.moves, 1, Isa::portable);
  auto shards = all_shards(space);
  shards.insert(shards.end(), shards.begin(), shards.end());
  std::ranges::sort(shards);  // the same shard beside itself: taken up by two threads at once
  space.prepare(shards, 5);
  space.prepare(all_shards(space), 5);
  Bitmap frontier(space, of.frontier), known(space, of.known), fresh(space);
  step(space, all_shards(space), {{frontier.view(space)}, {fresh.view(space)}, {{known.view(space)}}, {}}, 2);
  CHECK(fresh.words == reference);
}

}  // namespace
}  // namespace farthest::test
