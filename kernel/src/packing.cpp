#include "farthest/packing.hpp"

#include <algorithm>
#include <cstring>

#include "pieces.hpp"

namespace farthest {
namespace {

static_assert(std::endian::native == std::endian::little, "words are copied to and from blobs as they are");

constexpr std::size_t kWordBytes = sizeof(Word);

std::size_t bitmap_words(std::uint64_t lines) { return (lines + 63) / 64; }

std::uint64_t filled_count(const std::vector<Word>& filled) {
  std::uint64_t count = 0;
  for (const Word word : filled) count += static_cast<std::uint64_t>(std::popcount(word));
  return count;
}

// Calls visit(line) for each bit of the bitmap, in order.
template <class Visit>
void each_filled(const std::vector<Word>& filled, Visit visit) {
  for (std::size_t i = 0; i < filled.size(); ++i)
    for (Word word = filled[i]; word != 0; word &= word - 1)
      visit(64 * i + static_cast<std::uint64_t>(std::countr_zero(word)));
}

// Word i of a blob's part, which may begin at any address.
Word word_at(const std::uint8_t* packed, std::size_t i) {
  Word word;
  std::memcpy(&word, packed + i * kWordBytes, kWordBytes);
  return word;
}

// What a check of a blob's lines counts and collects.
struct Tally {
  std::uint64_t states = 0;
  Word used = 0;  // the bits that are 1 in any word

  // Counts in bytes side by side, which compilers make vectors of: processors older than the instruction that
  // counts a word's bits are slow at counting one word at a time.
  void add(const std::uint8_t* line, std::size_t words) {
    constexpr std::size_t kSummed = 31;  // words of 8 bits a byte: 31 * 8 < 256
    constexpr Word k55 = 0x5555555555555555, k33 = 0x3333333333333333, k0f = 0x0f0f0f0f0f0f0f0f;
    constexpr Word k00ff = 0x00ff00ff00ff00ff, k0001 = 0x0001000100010001;
    Word any = 0;
    for (std::size_t at = 0; at < words; at += kSummed) {
      Word bytes = 0;
      for (std::size_t w = at; w < std::min(at + kSummed, words); ++w) {
        Word word = word_at(line, w);
        any |= word;
        word -= word >> 1 & k55;
        word = (word & k33) + (word >> 2 & k33);
        bytes += (word + (word >> 4)) & k0f;
      }
      states += ((bytes & k00ff) + (bytes >> 8 & k00ff)) * k0001 >> 48;
    }
    if (any == 0) throw InvalidArgument("the packed layer has an empty line");
    used |= any;
  }
};

// The bitmap of a blob of `lines` lines. Throws InvalidArgument when the blob does not begin with one.
std::vector<Word> bitmap_of(std::span<const std::uint8_t> blob, std::uint64_t lines) {
  std::vector<Word> filled(bitmap_words(lines));
  if (blob.size() / kWordBytes < filled.size()) throw InvalidArgument("the packed layer is cut short");
  if (!filled.empty()) std::memcpy(filled.data(), blob.data(), filled.size() * kWordBytes);
  if (lines % 64 != 0 && filled.back() >> lines % 64 != 0)
    throw InvalidArgument("the packed layer has lines beyond its shards");
  return filled;
}

}  // namespace

std::vector<Word> filled_lines(const Space& space, const LayerView& layer) {
  const std::uint64_t lines = layer.shards * space.lines_per_shard();
  const std::uint64_t words_per_line = space.words_per_line();
  std::vector<Word> filled(bitmap_words(lines));
  for (std::uint64_t line = 0; line < lines; ++line) {
    if (layer.flags[line] == 0) continue;
    const Word* words = layer.words + line * words_per_line;
    const bool any = std::any_of(words, words + words_per_line, [](Word word) { return word != 0; });
    filled[line / 64] |= static_cast<Word>(any) << line % 64;
  }
  return filled;
}

std::size_t packed_bytes(const Space& space, const std::vector<Word>& filled) {
  return (filled.size() + filled_count(filled) * space.words_per_line()) * kWordBytes;
}

void pack(const Space& space, const LayerView& layer, const std::vector<Word>& filled,
          std::span<std::uint8_t> out) {
  if (filled.size() != bitmap_words(layer.shards * space.lines_per_shard()) ||
      out.size() != packed_bytes(space, filled))
    throw InvalidArgument("the bitmap, the layer and the blob must fit together");
  if (filled.empty()) return;
  const std::uint64_t words_per_line = space.words_per_line();
  std::memcpy(out.data(), filled.data(), filled.size() * kWordBytes);
  std::uint8_t* at = out.data() + filled.size() * kWordBytes;
  each_filled(filled, [&](std::uint64_t line) {
    std::memcpy(at, layer.words + line * words_per_line, words_per_line * kWordBytes);
    at += words_per_line * kWordBytes;
  });
}

std::uint64_t unpack(const Space& space, std::span<const std::uint8_t> blob,
                     const std::vector<LayerView>& layers) {
  if (layers.empty()) throw InvalidArgument("a packed layer needs a layer to be added to");
  // The bitmap is a copy: what is read and written below stays within bounds though the blob should change.
  const std::vector<Word> filled = bitmap_of(blob, piece_of(space, layers).shards * space.lines_per_shard());
  if (blob.size() != packed_bytes(space, filled))
    throw InvalidArgument("the packed layer's size is not that of its lines");
  const std::size_t words = space.words_per_line();
  const std::uint8_t* packed = blob.data() + filled.size() * kWordBytes;
  Tally tally;
  each_filled(filled, [&](std::uint64_t) {
    tally.add(packed, words);
    packed += words * kWordBytes;
  });
  if (tally.used >> (space.bits() - 1) > 1)
    throw InvalidArgument("the packed layer has bits that are no states");
  packed = blob.data() + filled.size() * kWordBytes;
  each_filled(filled, [&](std::uint64_t line) {
    for (const LayerView& layer : layers) {
      Word* to = layer.words + line * words;
      for (std::size_t w = 0; w < words; ++w) to[w] |= word_at(packed, w);
      layer.flags[line] = 1;
    }
    packed += words * kWordBytes;
  });
  return tally.states;
}

}  // namespace farthest
