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
  const std::uint64_t per_shard = space.layout().keys() / space.shards();
  std::vector<Distance> out(space.layout().keys());
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
  const Key keys = space.layout().keys();
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
      const Space space(layout, row_moves(layout.slots()), classes, Isa::portable);
      for (const int shift : {0, 1}) {
        check_round_trip<std::uint8_t>(space, shift, 20, random);
        check_round_trip<std::uint8_t>(space, shift, 254, random);
        check_round_trip<std::uint16_t>(space, shift, 300, random);
        check_round_trip<std::uint16_t>(space, shift, 65534, random);
      }
    }
  }
}

TEST(large_maps_are_expanded_by_threads) {
  Random random(12);
  const Space space(Layout(13, {1, 2, 2, 4, 4}, {}), row_moves(13), 1, Isa::portable);
  Planes planes(space, 3);
  std::vector<std::uint8_t> expected(space.layout().keys(), kNone<std::uint8_t>);
  for (const Key key : random_keys(space.layout(), 3000, random)) {
    expected[key] = static_cast<std::uint8_t>(random.below(7));
    const std::uint8_t one[] = {expected[key]};
    collect(space, key, std::span<const std::uint8_t>(one), 0, planes.views);
  }
  for (const int threads : {1, 2, 5}) {
    std::vector<std::uint8_t> out(expected.size());
    expand(space, planes.views, {}, 0, std::span(out), threads);
    CHECK(out == expected);
  }
}

TEST(keys_and_population_of_layers) {
  Random random(13);
  for (const Sample& sample : small_samples()) {
    const Space space(sample.layout(), row_moves(sample.slots()), 1, Isa::portable);
    const auto keys = random_keys(space.layout(), 200, random);
    const std::vector<Key> sorted(keys.begin(), keys.end());
    Bitmap layer(space, keys);
    for (const std::size_t limit : {std::size_t{0}, std::size_t{1}, sorted.size() / 2, sorted.size(),
                                    std::numeric_limits<std::size_t>::max()}) {
      const auto found = keys_of(space, layer.view(space), limit);
      CHECK(found.size() == std::min(limit, sorted.size()));
      CHECK(std::equal(found.begin(), found.end(), sorted.begin()));
    }
    const std::uint64_t per_shard = space.layout().keys() / space.shards();
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
  const Space space(Layout(6, {1, 2, 3}, {}), row_moves(6), 1, Isa::portable);
  const Key keys = space.layout().keys();
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
  const Space space(Layout(6, {1, 2, 3}, {}), row_moves(6), 1, Isa::portable);
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
