#include "farthest/planes.hpp"

#include <algorithm>
#include <limits>

#include "check.hpp"
#include "samples.hpp"

namespace farthest::test {
namespace {

template <class Distance>
constexpr Distance kNone = std::numeric_limits<Distance>::max();

// Bit planes over a whole space, with their memory.
struct Planes {
  std::vector<Bitmap> bitmaps;
  std::vector<LayerView> views;

  Planes(const Space& space, std::size_t count) : bitmaps(count, Bitmap(space)) {
    for (Bitmap& bitmap : bitmaps) views.push_back(bitmap.view(space));
  }
};

std::vector<std::uint8_t> random_parities(const Space& space, int shift, Random& random) {
  std::vector<std::uint8_t> out;
  if (shift == 1)
    for (std::uint64_t s = 0; s < space.shards(); ++s)
      out.push_back(static_cast<std::uint8_t>(random.below(2)));
  return out;
}

// Distances up to `most`, about a third of them none; with shift 1, of the parity of their shard.
template <class Distance>
std::vector<Distance> random_distances(const Space& space, const DistanceCode& code, unsigned most,
                                       Random& random) {
  const std::uint64_t per_shard = space.keys() / space.shards();
  std::vector<Distance> out(space.keys());
  for (Key key = 0; key < out.size(); ++key) {
    auto distance = static_cast<unsigned>(random.below(most + 1));
    if (code.shift == 1) distance = (distance & ~1u) | code.parity[key / per_shard];
    out[key] = random.below(3) == 0 || distance > most ? kNone<Distance> : static_cast<Distance>(distance);
  }
  return out;
}

template <class Distance>
void check_round_trip(const Space& space, int shift, unsigned most, Random& random) {
  const DistanceCode code{shift, random_parities(space, shift, random)};
  const auto distances = random_distances<Distance>(space, code, most, random);
  Planes planes(space, static_cast<std::size_t>(std::bit_width((most >> shift) + 1)));
  const Key keys = space.keys();
  const Key cut = random.below(keys + 1);
  const std::span<const Distance> all(distances);
  collect(space, 0, all.first(cut), shift, planes.views);
  collect(space, cut, all.subspan(cut), shift, planes.views);
  for (const Bitmap& bitmap : planes.bitmaps) CHECK(bitmap.flagged(space));
  for (const int threads : {1, 2, 5}) {
    std::vector<Distance> out(keys);
    expand(space, planes.views, code, 0, std::span(out), threads);
    CHECK(out == distances);
  }
  for (int i = 0; i < 20; ++i) {
    const Key first = random.below(keys + 1), count = random.below(keys - first + 1);
    std::vector<Distance> out(count);
    expand(space, planes.views, code, first, std::span(out), 1);
    CHECK(std::equal(out.begin(), out.end(), distances.begin() + static_cast<std::ptrdiff_t>(first)));
  }
  const auto depth = static_cast<Distance>(random.below(most + 1));
  Bitmap layer(space), found(space);
  mark(space, 0, all, depth, layer.view(space));
  mark_found(space, 0, all, found.view(space));
  std::set<Key> at_depth, at_any;
  for (Key key = 0; key < keys; ++key) {
    if (distances[key] == depth) at_depth.insert(key);
    if (distances[key] != kNone<Distance>) at_any.insert(key);
  }
  CHECK(layer.keys(space) == at_depth && found.keys(space) == at_any);
}

TEST(distances_round_trip_through_planes) {
  Random random(11);
  for (const Sample& sample : small_samples()) {
    const Layout layout = sample.layout();
    for (int classes = 1; classes <= std::min(2, layout.upper_classes()); ++classes) {
      const ArrangementSpace space(layout, row_moves(layout.slots()), classes, Isa::portable);
      for (const int shift : {0, 1}) {
        check_round_trip<std::uint8_t>(space, shift, 20, random);
        check_round_trip<std::uint8_t>(space, shift, 254, random);
        check_round_trip<std::uint16_t>(space, shift, 300, random);
        check_round_trip<std::uint16_t>(space, shift, 65534, random);
      }
    }
  }
}

// [first, last) cut at random into runs, some of them empty.
std::vector<std::pair<std::uint64_t, std::uint64_t>> cuts(std::uint64_t first, std::uint64_t last,
                                                          Random& random) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> out;
  while (first < last) {
    const std::uint64_t end = first + random.below(last - first + 1);
    out.emplace_back(first, end);
    first = end;
  }
  return out;
}

template <class Distance>
void check_pieces(const Space& space, int shift, unsigned most, Random& random) {
  const DistanceCode code{shift, random_parities(space, shift, random)};
  const auto distances = random_distances<Distance>(space, code, most, random);
  const auto count = static_cast<std::size_t>(std::bit_width((most >> shift) + 1));
  const auto depth = static_cast<Distance>(random.below(most + 1));
  const Key per_shard = space.keys() / space.shards();
  const std::span<const Distance> all(distances);
  Planes whole(space, count), glued(space, count);
  Bitmap layer(space), found(space), layer_glued(space), found_glued(space), inserted(space);
  collect(space, 0, all, shift, whole.views);
  mark(space, 0, all, depth, layer.view(space));
  mark_found(space, 0, all, found.view(space));
  std::vector<Distance> expanded(distances.size());
  for (const auto& [first_shard, last_shard] : cuts(0, space.shards(), random)) {
    const std::uint64_t shards = last_shard - first_shard;
    std::vector<LayerView> planes, expected;
    for (Bitmap& bitmap : glued.bitmaps) planes.push_back(bitmap.part(space, first_shard, shards));
    for (Bitmap& bitmap : whole.bitmaps) expected.push_back(bitmap.part(space, first_shard, shards));
    for (const auto& [first, last] : cuts(first_shard * per_shard, last_shard * per_shard, random)) {
      const auto some = all.subspan(first, last - first);
      const int threads = 1 + static_cast<int>(random.below(3));
      collect(space, first, some, shift, planes, threads);
      mark(space, first, some, depth, layer_glued.part(space, first_shard, shards), threads);
      mark_found(space, first, some, found_glued.part(space, first_shard, shards), threads);
      expand(space, expected, code, first, std::span(expanded).subspan(first, last - first), threads);
      for (Key key = first; key < last; ++key)
        if (distances[key] == depth) insert(space, key, inserted.part(space, first_shard, shards));
    }
  }
  CHECK(expanded == distances);
  for (std::size_t p = 0; p < count; ++p) CHECK(whole.bitmaps[p] == glued.bitmaps[p]);
  CHECK(layer == layer_glued && layer == inserted && found == found_glued);
}

void check_pieces_of(const Sample& sample, int rounds, Random& random) {
  const Layout layout = sample.layout();
  for (int classes = 1; classes <= std::min(2, layout.upper_classes()); ++classes) {
    const ArrangementSpace space(layout, row_moves(layout.slots()), classes, Isa::portable);
    for (int i = 0; i < rounds; ++i) {
      check_pieces<std::uint8_t>(space, i % 2, 1 + static_cast<unsigned>(random.below(254)), random);
      check_pieces<std::uint16_t>(space, i % 2, 1 + static_cast<unsigned>(random.below(65534)), random);
    }
  }
}

TEST(pieces_glued_together_are_the_whole) {
  Random random(14);
  for (const Sample& sample : small_samples()) check_pieces_of(sample, 4, random);
}

TEST(pieces_of_shards_of_many_lines_are_glued_together) {
  Random random(16);
  const std::vector<int> singles(9, 1);
  for (const Sample& sample : {Sample{{1, 1, 4, 4}, {}}, Sample{{1, 1, 5, 1, 3}, {}}, Sample{singles, {}},
                               Sample{singles, {0, 1, 0, 1, 0, 1, 0, 1, 0}}}) {
    CHECK(ArrangementSpace(sample.layout(), row_moves(sample.slots()), 1, Isa::portable).lines_per_shard() >
          1);
    check_pieces_of(sample, 2, random);
  }
}

// A piece with memory of its own, so that the sanitizers see what goes beyond it.
struct OwnPiece {
  std::vector<Word> words;
  std::vector<std::uint8_t> flags;
  LayerView view;

  OwnPiece(const Space& space, std::uint64_t first, std::uint64_t shards)
      : words(shards * space.words_per_shard()),
        flags(shards * space.lines_per_shard()),
        view{first, shards, words.data(), flags.data()} {}
};

TEST(keys_outside_of_a_piece_are_refused) {
  Random random(15);
  for (const Sample& sample : small_samples()) {
    const ArrangementSpace space(sample.layout(), row_moves(sample.slots()), 1, Isa::portable);
    const Key per_shard = space.keys() / space.shards();
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t first_shard = random.below(space.shards() + 1);
      const std::uint64_t shards = random.below(space.shards() - first_shard + 1);
      const OwnPiece piece(space, first_shard, shards);
      const std::vector<LayerView> planes{piece.view};
      const DistanceCode code{1, random_parities(space, 1, random)};
      const Key begin = first_shard * per_shard, end = begin + shards * per_shard;
      const auto tried = [&](Key first, std::size_t count) {
        std::vector<std::uint8_t> none(count, kNone<std::uint8_t>);
        const std::span<const std::uint8_t> distances(none);
        expand(space, planes, code, first, std::span(none), 1);
        CHECK(std::ranges::all_of(none, [](auto d) { return d == kNone<std::uint8_t>; }));
        collect(space, first, distances, 0, planes);
        mark(space, first, distances, std::uint8_t{3}, piece.view);
        mark_found(space, first, distances, piece.view);
      };
      const auto refused = [&](Key first, std::size_t count) {
        std::vector<std::uint8_t> some(count, 0);
        const std::span<const std::uint8_t> distances(some);
        CHECK_THROWS((expand(space, planes, code, first, std::span(some), 1), 0));
        CHECK_THROWS((collect(space, first, distances, 0, planes), 0));
        CHECK_THROWS((mark(space, first, distances, std::uint8_t{0}, piece.view), 0));
        CHECK_THROWS((mark_found(space, first, distances, piece.view), 0));
        if (count == 1) CHECK_THROWS((insert(space, first, piece.view), 0));
      };
      tried(begin, end - begin);
      tried(end, 0);
      refused(begin, end - begin + 1);
      refused(end, 1);
      refused(end + 1, 0);
      refused(kNoKey, 1);
      refused(kNoKey, 2);
      if (begin != 0) {
        refused(begin - 1, 0);
        refused(begin - 1, 1);
        refused(begin - 1, 2);
        refused(begin - 1, end - begin + 2);
        refused(0, 1);
      }
    }
  }
}

TEST(planes_of_different_shards_are_refused) {
  const ArrangementSpace space(Layout(6, {1, 2, 3}, {}), row_moves(6), 1, Isa::portable);
  const OwnPiece first(space, 0, 2), second(space, 1, 2), longer(space, 0, 3);
  for (const OwnPiece* other : {&second, &longer}) {
    const std::vector<LayerView> planes{first.view, other->view};
    std::vector<std::uint8_t> out(1, 0);
    CHECK_THROWS((expand(space, planes, {}, 10, std::span(out), 1), 0));
    CHECK_THROWS((collect(space, 10, std::span<const std::uint8_t>(out), 0, planes), 0));
  }
}

TEST(bits_that_are_no_states_are_passed_over) {
  for (const Sample& sample : small_samples()) {
    const ArrangementSpace space(sample.layout(), row_moves(sample.slots()), 1, Isa::portable);
    Bitmap layer(space);
    std::ranges::fill(layer.words, ~Word{0});
    std::ranges::fill(layer.flags, std::uint8_t{1});
    const auto keys = keys_of(space, layer.view(space), space.keys() + 1);
    CHECK(keys.size() == space.keys());
    for (Key key = 0; key < keys.size(); ++key) CHECK(keys[key] == key);
  }
}

TEST(large_maps_are_expanded_by_threads) {
  Random random(12);
  const ArrangementSpace space(Layout(13, {1, 2, 2, 4, 4}, {}), row_moves(13), 1, Isa::portable);
  Planes planes(space, 3);
  std::vector<std::uint8_t> expected(space.keys(), kNone<std::uint8_t>);
  for (const Key key : random_keys(space.layout(), 3000, random)) {
    expected[key] = static_cast<std::uint8_t>(random.below(7));
    const std::uint8_t one[] = {expected[key]};
    collect(space, key, std::span<const std::uint8_t>(one), 0, planes.views);
  }
  for (const int threads : {1, 5}) {
    std::vector<std::uint8_t> out(expected.size());
    expand(space, planes.views, {}, 0, std::span(out), threads);
    CHECK(out == expected);
  }
}

TEST(keys_and_population_of_layers) {
  Random random(13);
  for (const Sample& sample : small_samples()) {
    const ArrangementSpace space(sample.layout(), row_moves(sample.slots()), 1, Isa::portable);
    const auto keys = random_keys(space.layout(), 200, random);
    const std::vector<Key> sorted(keys.begin(), keys.end());
    Bitmap layer(space, keys);
    for (const std::size_t limit : {std::size_t{0}, std::size_t{1}, sorted.size() / 2, sorted.size(),
                                    std::numeric_limits<std::size_t>::max()}) {
      const auto found = keys_of(space, layer.view(space), limit);
      CHECK(found.size() == std::min(limit, sorted.size()));
      CHECK(std::equal(found.begin(), found.end(), sorted.begin()));
    }
    const std::uint64_t per_shard = space.keys() / space.shards();
    const auto counts = population(space, layer.view(space));
    for (std::uint64_t shard = 0; shard < space.shards(); ++shard) {
      std::vector<Key> here;
      std::ranges::copy_if(sorted, std::back_inserter(here), [&](Key k) { return k / per_shard == shard; });
      CHECK(counts[shard] == here.size());
      CHECK(keys_of(space, layer.part(space, shard, 1), sorted.size()) == here);
    }
    clear(space, layer.view(space));
    CHECK(layer.keys(space).empty());
    CHECK(std::ranges::all_of(layer.flags, [](auto flag) { return flag == 0; }));
  }
}

TEST(wrong_ranges_and_too_few_planes_are_refused) {
  const ArrangementSpace space(Layout(6, {1, 2, 3}, {}), row_moves(6), 1, Isa::portable);
  const Key keys = space.keys();
  Planes planes(space, 2);
  std::vector<std::uint8_t> out(10, 0);
  const std::span<const std::uint8_t> distances(out);
  CHECK_THROWS((expand(space, planes.views, {}, keys, std::span(out), 1), 0));
  CHECK_THROWS((expand(space, planes.views, {}, keys - 9, std::span(out), 1), 0));
  CHECK_THROWS((expand(space, planes.views, {}, kNoKey - 3, std::span(out), 1), 0));
  CHECK_THROWS((collect(space, keys - 9, distances, 0, planes.views), 0));
  CHECK_THROWS((mark(space, keys - 9, distances, std::uint8_t{0}, planes.views[0]), 0));
  CHECK_THROWS((mark_found(space, kNoKey, distances, planes.views[0]), 0));
  expand(space, planes.views, {}, keys, std::span(out).first(0), 1);
  out[3] = 3;  // needs the number 4
  CHECK_THROWS((collect(space, 0, distances, 0, planes.views), 0));
  const Planes many(space, 17);
  CHECK_THROWS((expand(space, many.views, {}, 0, std::span(out), 1), 0));
}

TEST(more_planes_than_a_number_has_bits) {
  const ArrangementSpace space(Layout(6, {1, 2, 3}, {}), row_moves(6), 1, Isa::portable);
  const Planes many(space, 40);
  const std::uint8_t distance[] = {5};
  try {
    collect(space, 0, std::span<const std::uint8_t>(distance), 0, many.views);
  } catch (const InvalidArgument&) {
    return;  // refused is as good
  }
  const auto empty = [](const Bitmap& bitmap) {
    return std::ranges::all_of(bitmap.words, [](Word word) { return word == 0; });
  };
  for (std::size_t p = 0; p < many.bitmaps.size(); ++p)
    CHECK(empty(many.bitmaps[p]) == (p >= 3 || (6u >> p & 1) == 0));
}

}  // namespace
}  // namespace farthest::test
