#include "farthest/shard_blobs.hpp"

#include <algorithm>
#include <numeric>

#include "check.hpp"
#include "farthest/unit_step.hpp"
#include "samples.hpp"

namespace farthest::test {
namespace {

std::vector<Blob> blobs_of(const std::vector<ShardBlob>& shards) {
  std::vector<Blob> blobs;
  for (const ShardBlob& shard : shards) blobs.emplace_back(shard.blob);
  return blobs;
}

bool refused(const Space& space, const std::vector<Blob>& blobs, const std::vector<LayerView>& layers) {
  try {
    decode_shards(space, blobs, layers, Isa::portable);
  } catch (const InvalidArgument&) {
    return true;
  }
  return false;
}

ArrangementSpace sample_space(const Sample& sample) {
  return ArrangementSpace(sample.layout(), row_moves(sample.slots()), 1, Isa::portable);
}

TEST(coded_shards_come_back_into_each_layer_and_are_those_of_unit_steps) {
  Random random(21);
  for (const Sample& sample : small_samples()) {
    const ArrangementSpace space = sample_space(sample);
    UnitStepper stepper(space, 1, Isa::portable);
    for (int i = 0; i < 6; ++i) {
      const std::uint64_t first = random.below(space.shards() + 1);
      const std::uint64_t shards = random.below(space.shards() - first + 1);
      Bitmap layer(space, random_keys(space.layout(), 1 + random.below(300), random));
      const LayerView view = layer.part(space, first, shards);
      const auto counts = population(space, view);
      const auto coded = encode_shards(space, view, Isa::portable);
      CHECK(coded.size() == shards);
      std::vector<std::uint8_t> again;
      for (std::uint64_t shard = 0; shard < shards; ++shard) {
        CHECK(coded[shard].states == counts[shard]);
        std::vector<Key> keys;
        for (const Key key : layer.keys(space))
          if (key / space.keys_per_shard() == first + shard) keys.push_back(key % space.keys_per_shard());
        CHECK(coded[shard].blob == stepper.blob_of(keys));
        CHECK(coded[shard].blob.size() <= longest_shard_blob(space));
      }
      Bitmap decoded(space), part(space), other(space, random_keys(space.layout(), 100, random));
      const LayerView to = part.part(space, first, shards);
      std::copy_n(view.words, shards * space.words_per_shard(), to.words);
      Bitmap united = other;
      for (std::size_t w = 0; w < united.words.size(); ++w) united.words[w] |= part.words[w];
      const std::uint64_t states = decode_shards(
          space, blobs_of(coded), {decoded.part(space, first, shards), other.part(space, first, shards)},
          Isa::portable);
      CHECK(states == std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
      CHECK(decoded.words == part.words && decoded.flagged(space));
      CHECK(other.words == united.words && other.flagged(space));
    }
  }
}

TEST(flags_of_empty_lines_spare_looking_at_them) {
  const ArrangementSpace space = sample_space({{1, 2, 3}, {}});
  Bitmap layer(space, {7});
  std::ranges::fill(layer.flags, std::uint8_t{0});
  for (const ShardBlob& shard : encode_shards(space, layer.view(space), Isa::portable))
    CHECK(shard.blob.empty() && shard.states == 0);
}

TEST(damaged_blobs_of_shards_are_refused) {
  Random random(23);
  for (const Sample& sample : small_samples()) {
    const ArrangementSpace space = sample_space(sample);
    Bitmap layer(space, random_keys(space.layout(), 12, random)), out(space);
    const auto coded = encode_shards(space, layer.view(space), Isa::portable);
    const auto whole = blobs_of(coded);
    const auto at = std::ranges::find_if(coded, [](const auto& one) { return one.states != 0; });
    const auto number = static_cast<std::size_t>(at - coded.begin());
    const auto is_refused = [&](const std::vector<std::uint8_t>& damaged) {
      auto blobs = whole;
      blobs[number] = damaged;
      return refused(space, blobs, {out.view(space)});
    };
    for (std::size_t size = 1; size < at->blob.size(); ++size)
      CHECK(is_refused({at->blob.begin(), at->blob.begin() + static_cast<std::ptrdiff_t>(size)}));
    for (std::size_t bit = 0; bit < 8 * at->blob.size(); ++bit) {
      auto damaged = at->blob;
      damaged[bit / 8] = static_cast<std::uint8_t>(damaged[bit / 8] ^ 1 << bit % 8);
      CHECK(is_refused(damaged));
    }
    auto longer = at->blob;
    longer.push_back(0);
    CHECK(is_refused(longer));
    CHECK(refused(space, {}, {out.view(space)}));
    CHECK(refused(space, whole, {}));
    CHECK(refused(space, whole, {out.view(space), out.part(space, 0, 1)}));
  }
}

TEST(states_that_the_space_does_not_have_are_refused) {
  for (const Sample& sample : small_samples()) {
    const ArrangementSpace space = sample_space(sample);
    if (space.bits() == 64) continue;
    Bitmap layer(space), out(space);
    layer.words[0] = Word{1} << 63;
    layer.flags[0] = 1;
    CHECK(
        refused(space, blobs_of(encode_shards(space, layer.view(space), Isa::portable)), {out.view(space)}));
  }
}

}  // namespace
}  // namespace farthest::test
