#include "farthest/runs.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "check.hpp"
#include "farthest/run_blob.hpp"
#include "samples.hpp"

namespace farthest::test {
namespace {

// Calls visit(width, Code{}) for each type of code, with widths that it holds.
template <class Visit>
void for_widths(Visit visit) {
  for (const std::size_t width : {std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{16},
                                  std::size_t{17}, std::size_t{40}, std::size_t{128}, kMaxWidth})
    with_code(width, [&](auto code) { visit(width, code); });
}

// Some codes, with short distances and long ones between them, some twice.
template <class Code>
std::vector<Code> some_codes(std::size_t width, std::size_t count, Random& random) {
  std::vector<Code> codes;
  std::vector<std::uint8_t> bytes(width);
  for (std::size_t i = 0; i < count; ++i) {
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.below(256) >> random.below(9));
    for (std::size_t k = 0; k < width; ++k)
      if (random.below(3) == 0) bytes[k] = 0;
    codes.push_back(load_code<Code>(bytes.data(), width));
    if (random.below(8) == 0) codes.push_back(codes[random.below(codes.size())]);
  }
  return codes;
}

template <class Code>
Run<Code> run_of(const std::vector<Code>& codes) {
  const std::set<Code> unique(codes.begin(), codes.end());
  return {unique.begin(), unique.end()};
}

bool refused(std::size_t width, const Blob& blob) {
  return with_code(width, [&]<class Code>(Code) {
    try {
      const auto run = decode_run<Code>(blob, width);
      CHECK(std::ranges::adjacent_find(run, std::ranges::greater_equal{}) == run.end());
    } catch (const InvalidArgument&) {
      return true;
    }
    return false;
  });
}

TEST(codes_of_each_width_come_back_and_keep_their_order) {
  Random random(31);
  for_widths([&]<class Code>(std::size_t width, Code) {
    const auto codes = some_codes<Code>(width, 60, random);
    std::vector<std::uint8_t> bytes(codes.size() * width);
    store_codes<Code>(codes, bytes, width);
    CHECK(load_codes<Code>(bytes, width) == codes);
    if (width != 8)
      for (std::size_t i = 1; i < codes.size(); ++i) {
        const auto* at = bytes.data() + i * width;
        CHECK((codes[i - 1] < codes[i]) == std::lexicographical_compare(at - width, at, at, at + width));
      }
    bytes.pop_back();
    CHECK(width == 1 || bytes.size() % width != 0);
    if (width != 1) CHECK_THROWS((load_codes<Code>(bytes, width)));
  });
  CHECK_THROWS((with_code(0, [](auto) { return 0; })));
  CHECK_THROWS((with_code(kMaxWidth + 1, [](auto) { return 0; })));
}

// A run of those that were found, which must be as many.
template <class Code>
Run<Code> made(RunMaker<Code>& maker, const std::vector<std::span<const Code>>& parts,
               const std::vector<Bytes>& old = {}, std::size_t width = sizeof(Code)) {
  const std::size_t states = maker.find(parts, old, width);
  CHECK(states == maker.kept().size());
  const auto run = maker.run();
  return {run.begin(), run.end()};
}

TEST(any_codes_are_sorted_whatever_parts_they_come_in) {
  Random random(32);
  for_widths([&]<class Code>(std::size_t width, Code) {
    RunMaker<Code> maker;
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{40}, std::size_t{20000}}) {
      const auto codes = some_codes<Code>(width, width > 100 ? count / 50 : count, random);
      const std::size_t middle = codes.empty() ? 0 : random.below(codes.size());
      const std::span<const Code> all(codes);
      CHECK(made(maker, {all.first(middle), {}, all.subspan(middle)}) == run_of(codes));
    }
  });
}

TEST(numbers_are_sorted_whichever_digits_differ) {
  Random random(33);
  RunMaker<Key> maker;
  for (int low = 0; low < 64; low += 9)
    for (int high = low; high < 64; high += 13) {
      std::vector<Key> codes;
      const Key mask = (high == 63 ? ~Key{0} : (Key{1} << (high + 1)) - 1) & ~((Key{1} << low) - 1);
      const Key same = random.below(~Key{0}) & ~mask;
      for (int i = 0; i < 1000; ++i) codes.push_back((random.below(~Key{0}) & mask) | same);
      CHECK(made(maker, {std::span<const Key>(codes)}) == run_of(codes));
    }
}

TEST(numbers_close_together_are_sorted) {
  Random random(35);
  RunMaker<Key> maker;
  for (const Key range : {Key{1}, Key{63}, Key{64}, Key{65}, Key{1000}, Key{63990}, Key{64010}, Key{1} << 30})
    for (const Key first : {Key{0}, Key{12345}, ~Key{0} - range + 1}) {
      std::vector<Key> codes{first + range - 1, first};
      for (int i = 0; i < 1000; ++i) codes.push_back(first + random.below(range));
      CHECK(made(maker, {std::span<const Key>(codes)}) == run_of(codes));
    }
}

TEST(codes_that_share_long_beginnings_are_sorted) {
  // Each code has a bit more than the one before: any digit tells few of them from the others.
  constexpr std::size_t kWidth = 128;
  std::vector<WideCode<16>> codes;
  for (std::size_t bit = 8 * kWidth; bit-- > 0;) {
    auto& code = codes.emplace_back(codes.empty() ? WideCode<16>{} : codes.back());
    code[bit / 64] |= std::uint64_t{1} << (63 - bit % 64);
  }
  const auto wanted = run_of(codes);
  std::ranges::reverse(codes);
  RunMaker<WideCode<16>> maker;
  CHECK(made(maker, {std::span<const WideCode<16>>(codes)}) == wanted);
}

TEST(codes_of_old_runs_are_not_found) {
  Random random(34);
  for_widths([&]<class Code>(std::size_t width, Code) {
    const bool wide = width > 100;
    for (const std::size_t count : {std::size_t{50}, std::size_t{20000}}) {
      const auto codes = run_of(some_codes<Code>(width, wide ? 50 : count, random));
      auto other = some_codes<Code>(width, 100, random);
      for (std::size_t i = 0; i < codes.size(); i += 3) other.push_back(codes[i]);
      other = run_of(other);
      Run<Code> wanted;
      std::ranges::set_difference(codes, other, std::back_inserter(wanted));
      const std::size_t half = other.size() / 2;
      const Blob one = encode_run<Code>(std::span(other).first(half), width);
      const Blob two = encode_run<Code>(std::span(other).subspan(half), width);
      RunMaker<Code> maker;
      CHECK(made(maker, {std::span<const Code>(codes)}, {one, two}, width) == wanted);
      CHECK(maker.find({std::span<const Code>(codes)}, {one, two}, width, 5) == wanted.size());
      wanted.resize(std::min<std::size_t>(wanted.size(), 5));
      CHECK(std::ranges::equal(maker.run(), wanted));
      CHECK(made(maker, {std::span<const Code>(other)}, {one, two}, width).empty());
    }
  });
}

TEST(old_runs_take_no_memory_and_new_codes_a_few_times_theirs) {
  using Code = WideCode<2>;
  constexpr std::size_t kNew = 30'000;
  Random random(38);
  const auto code = [&] { return Code{random.below(~Key{0}), random.below(~Key{0})}; };
  std::vector<Code> codes(kNew), other(10 * kNew);
  std::ranges::generate(codes, code);
  std::ranges::generate(other, code);
  const Blob old = encode_run<Code>(run_of(other), sizeof(Code)),
             same = encode_run<Code>(run_of(codes), sizeof(Code));
  for (const std::vector<Bytes>& runs : {std::vector<Bytes>{}, {old}, {old, same}}) {
    RunMaker<Code> maker;
    CHECK(made(maker, {std::span<const Code>(codes)}, runs).size() == (runs.size() == 2 ? 0 : kNew));
    CHECK(maker.bytes() < 4 * kNew * sizeof(Code));
    maker.trim();
    CHECK(8 * maker.bytes() < 9 * kNew * sizeof(Code));
  }
}

TEST(runs_come_back_from_blobs) {
  Random random(35);
  for_widths([&]<class Code>(std::size_t width, Code) {
    for (const std::size_t count : {0u, 1u, 2u, 150u}) {
      const auto run = run_of(some_codes<Code>(width, count, random));
      const Blob blob = encode_run<Code>(run, width);
      CHECK(states_of(blob, width) == run.size());
      CHECK(decode_run<Code>(blob, width) == run);
      RunWriter<Code> writer;
      for (const Code& code : run) writer.add(code, width);
      CHECK(writer.states() == run.size() && writer.finish(width) == blob);
    }
  });
  constexpr Key kMost = std::numeric_limits<Key>::max();
  for (const Run<Key>& run : std::vector<Run<Key>>{{kMost}, {0, kMost}, {kMost - 1, kMost}, {0}}) {
    CHECK(decode_run<Key>(encode_run<Key>(run, 8), 8) == run);
  }
}

TEST(dense_runs_are_bitmaps_at_any_offset) {
  Random random(36);
  for (Key first = 0; first < 20; ++first)
    for (const Key span : {Key{100}, Key{5000}}) {
      Run<Key> run;
      for (Key code = first; code < first + span; ++code)
        if (random.below(3) != 0) run.push_back(code);
      const Blob blob = encode_run<Key>(run, 8);
      CHECK(blob[0] == 1 && blob.size() < span / 8 + 12);
      CHECK(decode_run<Key>(blob, 8) == run);
      RunWriter<Key> writer;
      for (const Key code : run) writer.add(code, 8);
      CHECK(writer.finish(8) == blob);
    }
}

TEST(damaged_blobs_are_refused_or_read_as_runs) {
  Random random(37);
  for_widths([&]<class Code>(std::size_t width, Code) {
    for (const std::size_t count : {1u, 3u, 30u}) {
      auto run = run_of(some_codes<Code>(width, count, random));
      if constexpr (std::is_same_v<Code, Key>)
        if (count == 30)
          for (std::size_t i = 0; i < run.size(); ++i) run[i] = 1000 + 3 * i / 2;  // a bitmap
      const Blob blob = encode_run<Code>(run, width);
      for (std::size_t size = 0; size < std::min<std::size_t>(blob.size(), 400); ++size)
        CHECK(refused(width, Blob(blob.begin(), blob.begin() + static_cast<std::ptrdiff_t>(size))));
      Blob longer = blob;
      longer.push_back(0);
      CHECK(refused(width, longer));
      for (std::size_t i = 0; i < 8 * std::min<std::size_t>(blob.size(), 200); ++i) {
        Blob damaged = blob;
        damaged[i / 8] = static_cast<std::uint8_t>(damaged[i / 8] ^ 1 << i % 8);
        static_cast<void>(refused(width, damaged));
      }
    }
  });
  for (int i = 0; i < 3000; ++i) {
    Blob noise(random.below(24));
    for (auto& byte : noise) byte = static_cast<std::uint8_t>(random.below(256));
    if (!noise.empty()) noise[0] = static_cast<std::uint8_t>(noise[0] % 4);
    static_cast<void>(refused(8, noise));
    static_cast<void>(refused(5, noise));
  }
}

}  // namespace
}  // namespace farthest::test
