#include "farthest/residues.hpp"

#include <algorithm>

#include "check.hpp"
#include "samples.hpp"

namespace farthest::test {
namespace {

constexpr std::uint8_t kNone = 255;

// Distances from key `origin` by the slow model, 255 where there is none, and the residue map of them.
struct Made {
  std::vector<std::uint8_t> distances, colours, present;
  std::vector<Word> words;
  std::vector<Key> origins;
  std::int32_t most = 0;

  Made(const ArrangementSpace& space, Key origin, bool low, bool coloured)
      : distances(space.keys(), kNone), origins{origin} {
    distances[origin] = 0;
    for (std::set<Key> layer{origin}; !layer.empty();) {
      std::set<Key> next;
      for (const Key key : image_of(space.layout(), space.moves(), layer))
        if (distances[key] == kNone) next.insert(key);
      if (!next.empty()) ++most;
      for (const Key key : next) distances[key] = static_cast<std::uint8_t>(most);
      layer = std::move(next);
    }
    if (coloured) {
      const std::uint8_t zero = space.colours()[origin / space.keys_per_shard()];
      for (const auto colour : space.colours()) colours.push_back(static_cast<std::uint8_t>(colour ^ zero));
    }
    const std::size_t planes = coloured ? 1 : 2;
    words.assign(space.words() * planes, 0);
    present.assign((words.size() + kResiduePageWords - 1) / kResiduePageWords, 0);
    for (Key key = 0; key < space.keys(); ++key) {
      if (distances[key] == kNone) continue;
      const int distance = distances[key];
      const int number = coloured ? (distance / 2 % 2) ^ (low ? 1 : 0) : distance % 3 + 1;
      const auto [word, at] = space.place(key);
      for (std::size_t plane = 0; plane < planes; ++plane)
        words[word * planes + plane] |= static_cast<Word>(number >> plane & 1) << at;
    }
  }

  ResidueMap map(const ArrangementSpace& space, bool low) const {
    return {space, words, present, colours, low, origins};
  }
};

// Walks from all keys; pages come as they are asked for.
std::vector<std::uint8_t> walked(const ArrangementSpace& space, Made& made, bool low, int threads) {
  const ResidueMap map = made.map(space, low);
  const std::size_t count = space.keys();
  std::vector<Key> keys(count);
  for (Key key = 0; key < count; ++key) keys[key] = key;
  std::vector<std::int32_t> steps(count);
  std::vector<ResidueMap::End> ends(count);
  std::vector<std::uint64_t> pages(count);
  bool missing = true;
  while (missing) {
    map.walk(keys, steps, ends, pages, made.most, threads);
    missing = false;
    for (std::size_t i = 0; i < count; ++i) {
      if (ends[i] != ResidueMap::End::missing) continue;
      made.present[pages[i]] = 1;
      missing = true;
    }
  }
  std::vector<std::uint8_t> out(count, kNone);
  for (std::size_t i = 0; i < count; ++i)
    if (ends[i] == ResidueMap::End::origin) out[i] = static_cast<std::uint8_t>(steps[i]);
  return out;
}

TEST(walks_find_the_distances) {
  Random random(5);
  for (const Sample& sample : small_samples()) {
    const ArrangementSpace space(sample.layout(), row_moves(sample.slots()), 1, available_isas().back());
    const Key origin = random.below(space.keys());
    for (const bool coloured : {false, true}) {
      if (coloured && space.colours().empty()) continue;
      for (const bool low : {false, true}) {
        if (low && !coloured) continue;
        Made made(space, origin, low, coloured);
        // Of a complete map the numbers of keys that are not reached may be either; for `low` they are 0 too.
        CHECK(walked(space, made, low, 3) == made.distances);
        std::ranges::fill(made.present, std::uint8_t{1});
        std::vector<std::uint8_t> out(space.keys());
        made.map(space, low).expand(std::span(out), made.most, 4);
        CHECK(out == made.distances);
        std::vector<std::uint16_t> wide(space.keys());
        made.map(space, low).expand(std::span(wide), made.most, 1);
        CHECK(std::ranges::equal(wide, made.distances,
                                 [](unsigned a, unsigned b) { return b == kNone ? a == 65535 : a == b; }));
      }
    }
  }
}

TEST(residue_maps_check_what_they_get) {
  const ArrangementSpace space({4, {1, 1, 1, 1}, {}}, row_moves(4), 1, available_isas().back());
  const Made made(space, 0, false, false);
  const std::span<const Word> words(made.words);
  const std::span<const std::uint8_t> present(made.present), none;
  const std::vector<Key> two{1, 0};
  CHECK_THROWS(ResidueMap(space, words.first(words.size() - 1), present, none, false, made.origins));
  CHECK_THROWS(ResidueMap(space, words, none, none, false, made.origins));
  CHECK_THROWS(ResidueMap(space, words, present, none, false, two));
  const std::vector<std::uint8_t> colours{2, 0};
  CHECK_THROWS(ResidueMap(space, words.first(space.words()), present, colours, false, made.origins));
  const ArrangementSpace ring({4, {1, 1, 1, 1}, {}}, ring_moves(4), 1, available_isas().back());
  CHECK_THROWS(ResidueMap(ring, words, present, none, false, made.origins));
  const ResidueMap map = made.map(space, false);
  std::vector<Key> keys{space.keys()};
  std::vector<std::int32_t> steps(1);
  std::vector<ResidueMap::End> ends(1);
  std::vector<std::uint64_t> pages(1);
  CHECK_THROWS(map.walk(keys, steps, ends, pages, 9, 1));
  keys = {0, 1};
  CHECK_THROWS(map.walk(keys, steps, ends, pages, 9, 1));
  std::vector<std::uint8_t> out(space.keys());
  CHECK_THROWS(map.expand(std::span(out), 9, 1));  // no page is there
}

}  // namespace
}  // namespace farthest::test
