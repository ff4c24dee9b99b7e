// Steps of sets of codes against std::set: codes of all widths, one box and many.
#include "farthest/reduced_runs.hpp"

#include <algorithm>
#include <set>

#include "check.hpp"
#include "samples.hpp"

namespace farthest::test {
namespace {

using BoardContents = std::vector<std::size_t>;  // of a board's cells

std::vector<PackedField> some_fields(std::size_t width, std::size_t cells) {
  std::vector<PackedField> fields;
  for (std::size_t i = 0; i < cells; ++i) {
    const int place = static_cast<int>(i * 5);
    const int in_word = width == 8 ? 0 : place / 60;
    fields.push_back({in_word, (width == 8 ? 59 : 59 + 60 * in_word) - place, 5});
  }
  return fields;
}

std::vector<std::uint8_t> code_of(const BoardContents& contents, const std::vector<PackedField>& fields,
                                  std::size_t width) {
  WideCode<8> words{};
  for (std::size_t i = 0; i < fields.size(); ++i)
    words[static_cast<std::size_t>(fields[i].word)] |= std::uint64_t{contents[i]} << fields[i].shift;
  std::vector<std::uint8_t> bytes(width);
  if (width == 8)
    store_code<Key>(words[0], bytes.data(), width);
  else
    store_code<WideCode<8>>(words, bytes.data(), width);
  return bytes;
}

PointMap some_map(std::size_t cells, Random& random) {
  PointMap map(cells * 256);
  const auto to = random.permutation(static_cast<int>(cells));
  for (std::size_t i = 0; i < cells; ++i) {
    const auto contents = random.permutation(32);
    for (std::size_t x = 0; x < 256; ++x)
      map[i * 256 + x] = static_cast<std::uint16_t>(to[i] * 256 + (x < 32 ? contents[x] : 0));
  }
  return map;
}

BoardContents image(const PointMap& map, const BoardContents& contents) {
  BoardContents found(contents.size());
  for (std::size_t i = 0; i < contents.size(); ++i)
    found[map[i * 256 + contents[i]] / 256U] = map[i * 256 + contents[i]] % 256U;
  return found;
}

using Set = std::set<std::vector<std::uint8_t>>;

Set set_of(const std::vector<std::uint8_t>& codes, std::size_t width) {
  Set found;
  for (std::size_t at = 0; at < codes.size(); at += width)
    found.insert({codes.begin() + static_cast<std::ptrdiff_t>(at),
                  codes.begin() + static_cast<std::ptrdiff_t>(at + width)});
  return found;
}

void compare(std::size_t width, std::size_t cells, std::size_t states, int seed) {
  Random random(static_cast<std::uint64_t>(seed));
  const auto fields = some_fields(width, cells);
  std::vector<PointMap> maps;
  for (int i = 0; i < 3; ++i) maps.push_back(some_map(cells, random));
  const auto runs = reduced_runs(width, fields, maps, {{{{0, 0}, {1, 1}, {0, 2}}, {}}, {{{1, 0}}, {}}});
  std::vector<std::vector<BoardContents>> boards(2);
  std::vector<std::vector<std::uint8_t>> codes(2);
  for (std::size_t shard = 0; shard < 2; ++shard)
    for (std::size_t i = 0; i < states; ++i) {
      BoardContents contents(cells);  // few contents: images coincide
      for (std::size_t& content : contents) content = random.below(cells > 4 ? 2 : 8);
      boards[shard].push_back(contents);
      const auto code = code_of(contents, fields, width);
      codes[shard].insert(codes[shard].end(), code.begin(), code.end());
    }
  Set expected;
  for (const RunLink link : {RunLink{0, 0}, RunLink{1, 1}, RunLink{0, 2}})
    for (const BoardContents& board : boards[link.source])
      expected.insert(code_of(image(maps[link.map], board), fields, width));
  for (const auto& code : set_of(codes[1], width)) expected.erase(code);
  const std::vector<Bytes> layer{codes[0], codes[1]};
  for (const std::uint64_t most : {~std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{0}}) {
    const auto found = runs->step({0, 1}, layer, {{codes[1]}, {}}, most, 2);
    CHECK(found.size() == 2);
    CHECK(found[0].states == expected.size());
    CHECK(found[0].classes == expected.size());
    CHECK(found[1].states == set_of(codes[1], width).size());
    const Set kept = set_of(found[0].codes, width);
    CHECK(kept.size() * width == found[0].codes.size());
    const std::size_t wanted = std::min<std::size_t>(most, expected.size());
    CHECK(kept.size() == wanted);
    // Codes of 8 bytes are ordered as numbers, not as their bytes.
    if (width != 8) CHECK(std::equal(kept.begin(), kept.end(), expected.begin()));
    CHECK(std::ranges::includes(expected, kept));
  }
}

TEST(reduced_runs_give_what_links_give) {
  int seed = 0;
  for (const std::size_t states : {0U, 1U, 40U}) {
    compare(8, 3, states, ++seed);
    compare(8, 12, states, ++seed);
    compare(13, 20, states, ++seed);
    compare(16, 24, states, ++seed);
    compare(24, 36, states, ++seed);
    compare(40, 60, states, ++seed);
  }
  compare(13, 20, 30'000, ++seed);  // many boxes
  compare(8, 12, 30'000, ++seed);
}

}  // namespace
}  // namespace farthest::test
