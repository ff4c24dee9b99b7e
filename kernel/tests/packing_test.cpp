#include "farthest/packing.hpp"

#include <algorithm>
#include <numeric>

#include "check.hpp"
#include "samples.hpp"

namespace farthest::test {
namespace {

using Blob = std::vector<std::uint8_t>;

Blob packed(const Space& space, const LayerView& layer) {
  const auto filled = filled_lines(space, layer);
  Blob blob(packed_bytes(space, filled));
  pack(space, layer, filled, blob);
  return blob;
}

// What the header says a blob is, byte by byte.
Blob packed_by_hand(const Space& space, const LayerView& layer) {
  const std::uint64_t lines = layer.shards * space.lines_per_shard();
  const std::uint64_t words = space.words_per_line();
  Blob blob((lines + 63) / 64 * 8);
  for (std::uint64_t line = 0; line < lines; ++line) {
    const std::span<const Word> here(layer.words + line * words, words);
    if (std::ranges::all_of(here, [](Word word) { return word == 0; })) continue;
    blob[line / 8] = static_cast<std::uint8_t>(blob[line / 8] | 1 << line % 8);
    for (const Word word : here)
      for (int byte = 0; byte < 8; ++byte) blob.push_back(static_cast<std::uint8_t>(word >> (8 * byte)));
  }
  return blob;
}

bool refused(const Space& space, const Blob& blob, const std::vector<LayerView>& layers) {
  try {
    unpack(space, blob, layers);
  } catch (const InvalidArgument&) {
    return true;
  }
  return false;
}

ArrangementSpace sample_space(const Sample& sample) {
  return ArrangementSpace(sample.layout(), row_moves(sample.slots()), 1, Isa::portable);
}

TEST(packed_layers_are_as_described_and_come_back) {
  Random random(21);
  for (const Sample& sample : small_samples()) {
    const ArrangementSpace space = sample_space(sample);
    for (int i = 0; i < 6; ++i) {
      const std::uint64_t first = random.below(space.shards() + 1);
      const std::uint64_t shards = random.below(space.shards() - first + 1);
      Bitmap layer(space, random_keys(space.layout(), 1 + random.below(300), random));
      const LayerView view = layer.part(space, first, shards);
      const auto counts = population(space, view);
      const Blob blob = packed(space, view);
      CHECK(blob == packed_by_hand(space, view));
      for (auto& flag : layer.flags) flag = 1;
      CHECK(packed(space, view) == blob);

      Bitmap unpacked(space), part(space), other(space, random_keys(space.layout(), 100, random));
      const LayerView from = layer.part(space, first, shards), to = part.part(space, first, shards);
      std::copy_n(from.words, shards * space.words_per_shard(), to.words);
      Bitmap united = other;
      for (std::size_t w = 0; w < united.words.size(); ++w) united.words[w] |= part.words[w];
      const std::uint64_t states =
          unpack(space, blob, {unpacked.part(space, first, shards), other.part(space, first, shards)});
      CHECK(states == std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
      CHECK(unpacked.words == part.words && unpacked.flagged(space));
      CHECK(other.words == united.words && other.flagged(space));
    }
  }
}

TEST(packed_layers_may_begin_at_any_address) {
  Random random(22);
  const ArrangementSpace space = sample_space({{1, 1, 1, 1, 1, 1, 1, 1}, {}});
  Bitmap layer(space, random_keys(space.layout(), 500, random));
  const Blob blob = packed(space, layer.view(space));
  for (std::size_t offset = 0; offset < 8; ++offset) {
    Blob moved(offset);
    moved.insert(moved.end(), blob.begin(), blob.end());
    Bitmap out(space);
    CHECK(unpack(space, std::span<const std::uint8_t>(moved).subspan(offset), {out.view(space)}) == 500);
    CHECK(out == layer);
  }
}

TEST(all_states_are_counted) {
  for (const Sample& sample : small_samples()) {
    const ArrangementSpace space = sample_space(sample);
    Bitmap layer(space), out(space);
    for (Key key = 0; key < space.keys(); ++key) insert(space, key, layer.view(space));
    CHECK(unpack(space, packed(space, layer.view(space)), {out.view(space)}) == space.keys());
    CHECK(out == layer);
  }
}

TEST(flags_of_empty_lines_spare_looking_at_them) {
  const ArrangementSpace space = sample_space({{1, 2, 3}, {}});
  Bitmap layer(space, {7});
  std::ranges::fill(layer.flags, std::uint8_t{0});
  CHECK(packed(space, layer.view(space)) == packed(space, Bitmap(space).view(space)));
}

TEST(damaged_packed_layers_are_refused_and_change_nothing) {
  Random random(23);
  for (const Sample& sample : small_samples()) {
    const ArrangementSpace space = sample_space(sample);
    const std::uint64_t lines = space.lines(), bytes_per_line = space.words_per_line() * 8;
    const auto keys = random_keys(space.layout(), 12, random);
    Bitmap layer(space, keys), out(space);
    const Blob blob = packed(space, layer.view(space));
    const std::size_t bitmap_bytes = (lines + 63) / 64 * 8;
    const auto is_refused = [&](const Blob& damaged) { return refused(space, damaged, {out.view(space)}); };
    for (std::size_t size = 0; size < blob.size(); ++size)
      CHECK(is_refused(Blob(blob.begin(), blob.begin() + static_cast<std::ptrdiff_t>(size))));
    Blob longer = blob;
    for (std::uint64_t i = 0; i < 2 * bytes_per_line; ++i) {
      longer.push_back(static_cast<std::uint8_t>(random.below(256)));
      CHECK(is_refused(longer));
    }
    for (std::size_t i = 0; i < 8 * bitmap_bytes; ++i) {  // a line more or less, or beyond the last
      Blob damaged = blob;
      damaged[i / 8] = static_cast<std::uint8_t>(damaged[i / 8] ^ 1 << i % 8);
      CHECK(is_refused(damaged));
    }
    for (std::size_t i = lines; i < 8 * bitmap_bytes; ++i) {  // of the right size
      Blob damaged = blob;
      damaged[i / 8] = static_cast<std::uint8_t>(damaged[i / 8] | 1 << i % 8);
      damaged.insert(damaged.end(), bytes_per_line, 1);
      CHECK(is_refused(damaged));
    }
    for (std::size_t at = bitmap_bytes; at < blob.size(); at += bytes_per_line) {
      Blob damaged = blob;
      std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(at), bytes_per_line, std::uint8_t{0});
      CHECK(is_refused(damaged));
    }
    for (std::size_t at = bitmap_bytes; at < blob.size(); at += 8)
      for (int b = space.bits(); b < 64; ++b) {
        Blob damaged = blob;
        auto& byte = damaged[at + static_cast<std::size_t>(b) / 8];
        byte = static_cast<std::uint8_t>(byte | 1 << b % 8);
        CHECK(is_refused(damaged));
      }
    CHECK(out == Bitmap(space));
    CHECK(unpack(space, blob, {out.view(space)}) == keys.size());
  }
}

TEST(packing_refuses_what_does_not_fit_together) {
  const ArrangementSpace space = sample_space({{1, 2, 3}, {}});
  Bitmap layer(space, {3, 4}), out(space);
  const Blob blob = packed(space, layer.view(space));
  CHECK(refused(space, blob, {}));
  CHECK(refused(space, blob, {out.view(space), out.part(space, 0, 5)}));
  CHECK(refused(space, blob, {out.part(space, 0, 5), out.part(space, 1, 5)}));
  CHECK(out == Bitmap(space));
  const auto filled = filled_lines(space, layer.view(space));
  Blob shorter(blob.size() - 8), longer(blob.size() + 8), bitmap(8);
  CHECK_THROWS((pack(space, layer.view(space), filled, shorter), 0));
  CHECK_THROWS((pack(space, layer.view(space), filled, longer), 0));
  CHECK_THROWS((pack(space, layer.view(space), {}, {}), 0));
  CHECK_THROWS((pack(space, layer.part(space, 0, 0), {0}, bitmap), 0));
}

}  // namespace
}  // namespace farthest::test
