#include "farthest/outboxes.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "check.hpp"
#include "farthest/expansion.hpp"
#include "farthest/map_runs.hpp"
#include "farthest/thin_layers.hpp"
#include "samples.hpp"

namespace farthest::test {
namespace {

// Numbers below 2^bits; a move turns one bit over, or the number around.
class Cube : public KeyExpander {
 public:
  explicit Cube(int bits) : bits_(bits) {}

  void successors(std::span<const Key> codes, std::vector<Key>& out) const override {
    for (const Key code : codes) {
      for (int i = 0; i < bits_; ++i) out.push_back(code ^ Key{1} << i);
      out.push_back(~code & ((Key{1} << bits_) - 1));
    }
  }

 private:
  int bits_;
};

std::vector<std::uint8_t> bytes_of(const std::vector<Key>& codes) {
  std::vector<std::uint8_t> bytes(codes.size() * 8);
  store_codes<Key>(codes, bytes, 8);
  return bytes;
}

constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

// Takes everything out: the states of each shard.
std::vector<Run<Key>> taken(Outboxes& boxes, const std::vector<Blob>& exclude, int threads) {
  const auto shards = boxes.filled();
  const std::vector<std::vector<Bytes>> known(shards.size(),
                                              std::vector<Bytes>(exclude.begin(), exclude.end()));
  std::vector<Run<Key>> runs;
  for (const auto& [states, blob] : boxes.take(shards, known, kAll, threads)) {
    runs.push_back(decode_run<Key>(blob, 8));
    CHECK(runs.back().size() == states);
  }
  return runs;
}

TEST(layers_of_a_cube_are_found_from_its_outboxes) {
  constexpr int kBits = 11;
  constexpr Key kStates = Key{1} << kBits;
  const Cube cube(kBits);
  for (const Key keys : {Key{0}, kStates})
    for (const std::uint64_t shards : {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{300}})
      for (const int threads : {1, 3})
        for (const std::size_t room : {std::size_t{0}, std::size_t{1} << 30}) {
          const auto boxes = make_outboxes(8, Sharding(shards, keys), room);
          std::vector<Blob> layer{encode_run<Key>(Run<Key>{0}, 8)};
          std::set<Key> seen{0};
          std::vector<Blob> known = layer;
          for (std::uint64_t depth = 1; !layer.empty(); ++depth) {
            boxes->expand(cube, {layer.begin(), layer.end()}, 0, kAll, threads);
            layer.clear();
            for (const Run<Key>& run : taken(*boxes, known, threads)) {
              for (const Key code : run) CHECK(seen.insert(code).second);
              if (!run.empty()) layer.push_back(encode_run<Key>(run, 8));
            }
            known.insert(known.end(), layer.begin(), layer.end());
            CHECK(depth > 6 || !layer.empty());
          }
          CHECK(seen.size() == kStates);
          CHECK(boxes->filled().empty());
          boxes->trim();
          CHECK(boxes->bytes() == 0);
        }
}

TEST(thin_layers_are_found_together) {
  constexpr int kBits = 9;
  const Cube cube(kBits);
  std::vector<std::set<Key>> layers{{5}};
  std::set<Key> seen = layers[0];
  while (!layers.back().empty()) {
    std::vector<Key> codes(layers.back().begin(), layers.back().end()), next;
    cube.successors(codes, next);
    layers.emplace_back();
    for (const Key key : next)
      if (seen.insert(key).second) layers.back().insert(key);
  }
  const auto blob = [&](std::size_t layer) {
    return encode_run<Key>(Run<Key>(layers[layer].begin(), layers[layer].end()), 8);
  };
  const auto found = [&](std::size_t last, const std::vector<Bytes>& older, ThinLimits limits) {
    const Blob before = blob(last);
    const ThinLayers thin = thin_layers(cube, {before}, older, 8, Key{1} << kBits, limits);
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < thin.layers.size(); ++i) {
      CHECK(thin.layers[i].blob == blob(last + 1 + i));
      CHECK(thin.layers[i].states == layers[last + 1 + i].size());
      all += thin.layers[i].states;
    }
    CHECK(thin.all.states == all);
    CHECK(decode_run<Key>(thin.all.blob, 8).size() == all);
    return thin.layers.size();
  };
  const std::size_t depth = layers.size() - 1;  // of the empty layer
  CHECK(found(0, {}, {kAll, kAll, kAll}) == depth);
  CHECK(found(0, {}, {3, kAll, kAll}) == 3);
  CHECK(found(0, {}, {kAll, 10, kAll}) == 2);  // of 10 and 36
  CHECK(found(0, {}, {kAll, kAll, 11}) == 2);
  const Blob first = blob(0), second = blob(1);
  CHECK(found(1, {first, second}, {kAll, kAll, kAll}) == depth - 1);
  CHECK_THROWS((thin_layers(cube, {first}, {}, 8, 5, {kAll, kAll, kAll}), 0));
  CHECK_THROWS((thin_layers(cube, {first}, {}, 16, 0, {kAll, kAll, kAll}), 0));
}

TEST(successors_are_the_same_for_any_number_of_threads) {
  const Cube cube(20);
  std::vector<Key> codes;
  for (Key code = 0; code < 20000; ++code) codes.push_back(code * 37);
  std::vector<Key> wanted;
  cube.successors(codes, wanted);
  for (const int threads : {1, 2, 5}) CHECK(expand<Key>(cube, codes, threads) == wanted);
  CHECK(expand<Key>(cube, {}, 3).empty());
}

TEST(shards_are_expanded_and_counted_some_at_a_time) {
  const Cube cube(12);
  const Blob layer = encode_run<Key>(Run<Key>{1, 700, 4000}, 8);
  const auto whole = make_outboxes(8, Sharding(7, 0), 1000), some = make_outboxes(8, Sharding(7, 0), 1000);
  whole->expand(cube, {layer}, 0, kAll, 1);
  const std::vector<Run<Key>> wanted = taken(*whole, {}, 1);
  std::size_t shard = 0;
  for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{4}}) {
    some->expand(cube, {layer}, first, first == 0 ? 4 : kAll, 1);
    for (const std::uint64_t filled : some->filled()) {
      const CountedRun counted = some->take({filled}, {{}}, 2, 1).front();
      const Run<Key>& all = wanted[shard++];
      CHECK(counted.states == all.size());
      CHECK((decode_run<Key>(counted.blob, 8) ==
             Run<Key>(all.begin(),
                      all.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(2, all.size())))));
    }
  }
  CHECK(shard == wanted.size());
}

TEST(boxes_are_divided_anew_when_they_are_empty) {
  const Cube cube(12);
  const Blob layer = encode_run<Key>(Run<Key>{1, 700, 4000}, 8);
  const auto boxes = make_outboxes(8, Sharding(1, 4096), 1000);
  std::set<Key> wanted;
  for (const std::uint64_t shards : {1, 16, 2}) {
    boxes->divide(Sharding(shards, 4096), 1000);
    CHECK(boxes->filled().empty());
    boxes->expand(cube, {layer}, 0, kAll, 2);
    CHECK_THROWS((boxes->divide(Sharding(4, 4096), 1000), 0));
    std::set<Key> found;
    std::size_t shard = 0;
    for (const auto& run : taken(*boxes, {}, 2)) {
      const auto number = run.front() * shards / 4096;
      CHECK((shard == 0 || number >= shard) && run.back() * shards / 4096 == number);
      shard = number + 1;
      found.insert(run.begin(), run.end());
    }
    if (wanted.empty()) wanted = found;
    CHECK(found == wanted && found.size() > 30);
  }
}

TEST(repeated_codes_are_removed_before_they_fill_the_memory) {
  const auto boxes = make_outboxes(8, Sharding(3, 0), std::size_t{1} << 20);
  std::vector<Key> codes;
  for (Key code = 0; code < 20000; ++code) codes.push_back(code % 500);
  for (int i = 0; i < 100; ++i) boxes->add(bytes_of(codes), 1);
  CHECK(boxes->bytes() < std::size_t{4} << 20);  // not 16 MB
  std::size_t states = 0;
  for (const Run<Key>& run : taken(*boxes, {}, 2)) states += run.size();
  CHECK(states == 500);
}

TEST(outboxes_refuse_what_is_no_key_and_no_run) {
  const Cube cube(12);
  const auto boxes = make_outboxes(8, Sharding(3, 100), 1000);
  CHECK_THROWS((boxes->expand(cube, {Blob{0, 1, 5}}, 0, kAll, 2), 0));
  const Blob run = encode_run<Key>(Run<Key>{99}, 8);
  CHECK_THROWS((boxes->expand(cube, {run}, 0, kAll, 2), 0));
  boxes->add(bytes_of({5}), 1);
  CHECK_THROWS((boxes->take({0}, {{Blob{7}}}, kAll, 1), 0));
  CHECK_THROWS((boxes->take({3}, {{}}, kAll, 1), 0));
  CHECK_THROWS((boxes->take({0, 0}, {{}, {}}, kAll, 1), 0));
  CHECK_THROWS((boxes->take({0}, {}, kAll, 1), 0));
  const auto wide = make_outboxes(16, Sharding(3, 0), 1000);
  CHECK_THROWS((wide->expand(cube, {run}, 0, kAll, 1), 0));
  CHECK_THROWS((Sharding(0, 5), 0));
  CHECK_THROWS((Sharding(65537, 5), 0));
}

TEST(shards_share_a_sparse_space_evenly) {
  const Sharding sharding(10, 0);
  std::vector<std::size_t> numbers(10), wide(10);
  for (Key code = 0; code < 10000; ++code) {
    ++numbers[sharding.shard(code << 20)];
    ++wide[sharding.shard(WideCode<2>{7, code << 30})];
  }
  for (const auto& counts : {numbers, wide})
    CHECK(std::ranges::min(counts) > 700 && std::ranges::max(counts) < 1300);
}

TEST(maps_are_read_as_they_were_written) {
  Random random(41);
  std::set<Key> codes;
  while (codes.size() < 3000) codes.insert(random.below(10000));
  const Sharding sharding(6, 10000);
  const auto writer = make_map_writer(8, sharding, 5);
  const auto add = [&](Key code, int distance) {
    writer->add(bytes_of({code}), Blob{static_cast<std::uint8_t>(distance)}, 1);
    return 0;
  };
  std::vector<std::pair<Key, std::uint16_t>> wanted;
  for (const Key code : codes) {
    wanted.emplace_back(code, static_cast<std::uint16_t>(random.below(6)));
    add(code, wanted.back().second);
  }
  CHECK_THROWS(add(*codes.rbegin(), 0));
  CHECK_THROWS(add(10000, 0));
  if (*codes.rbegin() != 9999) CHECK_THROWS(add(9999, 6));
  CHECK_THROWS((writer->add(bytes_of({1}), Blob{1, 2}, 1), 0));
  CHECK_THROWS((writer->runs(6), 0));
  std::vector<Blob> blobs;
  std::vector<std::uint16_t> depths;
  for (std::uint16_t depth = 0; depth < 6; ++depth)
    for (const auto& [shard, run] : writer->runs(depth)) {
      CHECK(states_of(run.blob, 8) == run.states);
      blobs.push_back(run.blob);
      depths.push_back(depth);
    }
  std::vector<LayerRun> runs;
  for (std::size_t i = 0; i < blobs.size(); ++i) runs.push_back({blobs[i], depths[i]});
  for (const std::size_t states : {1u, 100u, 5000u}) {
    const auto reader = make_map_reader(runs, 8);
    std::vector<std::pair<Key, std::uint16_t>> read;
    for (std::size_t got = states; got == states;) {
      got = reader->next(states, 2);
      Blob codes_of(got * 8), distances_of(got * 2);
      reader->write(codes_of, distances_of, 2);
      for (std::size_t i = 0; i < got; ++i)
        read.emplace_back(load_code<Key>(codes_of.data() + 8 * i, 8),
                          static_cast<std::uint16_t>(distances_of[2 * i] | distances_of[2 * i + 1] << 8));
    }
    CHECK(read == wanted);
    CHECK(reader->next(states, 2) == 0);
    Blob room(8);
    CHECK_THROWS((reader->write(room, {}, 2), 0));
  }
  const auto reader = make_map_reader(runs, 8);
  std::vector<std::uint8_t> distances(10000);
  for (const std::size_t first : {std::size_t{0}, std::size_t{4321}})
    reader->fill(first, std::span(distances).subspan(first, first == 0 ? 4321 : 5679));
  std::size_t i = 0;
  for (Key key = 0; key < 10000; ++key)
    CHECK(distances[key] == (i < wanted.size() && wanted[i].first == key ? wanted[i++].second : 255));
  const auto late = make_map_reader(runs, 8);
  CHECK_THROWS((late->fill(9000, std::span(distances)), 0));
}

}  // namespace
}  // namespace farthest::test
