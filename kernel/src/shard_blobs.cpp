#include "farthest/shard_blobs.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "farthest/bitmap_codec.hpp"
#include "pieces.hpp"

namespace farthest {
namespace {

static_assert(std::endian::native == std::endian::little, "words are coded as they are");

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr std::uint64_t kLinesTogether = 8;  // so many lines have a multiple of 64 bytes

std::uint32_t load32(const std::uint8_t* from) {
  return static_cast<std::uint32_t>(from[0]) | static_cast<std::uint32_t>(from[1]) << 8 |
         static_cast<std::uint32_t>(from[2]) << 16 | static_cast<std::uint32_t>(from[3]) << 24;
}

// What the words of a piece hold.
struct Tally {
  std::uint64_t states = 0;
  Word used = 0;  // the bits that are 1 in any word

  void add(const Word* words, std::size_t count) {
    for (std::size_t w = 0; w < count; ++w) {
      used |= words[w];
      states += static_cast<std::uint64_t>(std::popcount(words[w]));
    }
  }
};

}  // namespace

ShardPieces::ShardPieces(const Space& space)
    : shard_lines_(space.lines_per_shard()), line_bytes_(space.words_per_line() * sizeof(Word)) {
  const std::uint64_t fitting = kPieceBytes / line_bytes_;
  lines_ = std::min(std::max<std::uint64_t>(fitting / kLinesTogether, 1) * kLinesTogether, shard_lines_);
}

std::uint64_t ShardPieces::end(std::uint64_t piece) const {
  return std::min((piece + 1) * lines_, shard_lines_);
}

std::size_t ShardPieces::bytes(std::uint64_t piece) const {
  return ((end(piece) - begin(piece)) * line_bytes_ + 63) / 64 * 64;
}

PieceBlobs::PieceBlobs(Blob shard, std::uint64_t pieces) : shard_(shard), rest_(shard) {
  if (shard.empty()) return;
  if (shard.size() < 4 * pieces) throw InvalidArgument("a shard's blob is cut off");
  rest_ = shard.subspan(4 * pieces);
  std::uint64_t sum = 0;
  for (std::uint64_t piece = 0; piece < pieces; ++piece) sum += load32(shard.data() + 4 * piece);
  if (sum != rest_.size()) throw InvalidArgument("a shard's blob does not have the bytes of its pieces");
}

Blob PieceBlobs::next() {
  if (shard_.empty()) return {};
  const std::size_t size = load32(shard_.data() + 4 * piece_++);
  if (size > rest_.size()) throw InvalidArgument("a shard's blob changes while it is read");
  const Blob blob = rest_.first(size);
  rest_ = rest_.subspan(blob.size());
  return blob;
}

Blob PieceBlobs::at(std::uint64_t piece) {
  for (std::uint64_t before = 0; before < piece; ++before) next();
  return next();
}

void set_piece_bytes(std::vector<std::uint8_t>& shard, std::uint64_t piece, std::size_t bytes) {
  for (std::size_t i = 0; i < 4; ++i) shard[4 * piece + i] = static_cast<std::uint8_t>(bytes >> (8 * i));
}

std::size_t longest_shard_blob(const Space& space) {
  const ShardPieces pieces(space);
  std::size_t most = 0;
  for (std::uint64_t piece = 0; piece < pieces.count(); ++piece)
    most += 4 + BitmapCodec::bound(pieces.bytes(piece));
  return most;
}

std::vector<ShardBlob> encode_shards(const Space& space, const LayerView& layer, Isa isa) {
  const ShardPieces pieces(space);
  const std::size_t words = space.words_per_line();
  BitmapCodec codec(isa);
  std::vector<Word> bitmap(pieces.bytes(0) / sizeof(Word));
  std::vector<std::uint8_t> coded(BitmapCodec::bound(pieces.bytes(0)));
  std::vector<ShardBlob> shards(layer.shards);
  for (std::uint64_t shard = 0; shard < layer.shards; ++shard) {
    const std::uint64_t first = shard * space.lines_per_shard();
    const std::uint8_t* const flags = layer.flags + first;
    if (std::all_of(flags, flags + space.lines_per_shard(), [](auto flag) { return flag == 0; })) continue;
    ShardBlob& out = shards[shard];
    out.blob.assign(4 * pieces.count(), 0);
    for (std::uint64_t piece = 0; piece < pieces.count(); ++piece) {
      std::fill(bitmap.begin(), bitmap.end(), Word{0});
      for (std::uint64_t line = pieces.begin(piece); line < pieces.end(piece); ++line)
        if (flags[line] != 0)
          std::memcpy(bitmap.data() + (line - pieces.begin(piece)) * words,
                      layer.words + (first + line) * words, words * sizeof(Word));
      std::uint64_t states = 0;
      const Blob piece_bitmap(reinterpret_cast<const std::uint8_t*>(bitmap.data()), pieces.bytes(piece));
      const std::size_t size = codec.encode(piece_bitmap, coded.data(), states);
      out.blob.insert(out.blob.end(), coded.begin(), coded.begin() + static_cast<std::ptrdiff_t>(size));
      set_piece_bytes(out.blob, piece, size);
      out.states += states;
    }
    out.states *= space.weight(layer.first_shard + shard);
    if (out.states == 0) out.blob.clear();
  }
  return shards;
}

std::uint64_t decode_shards(const Space& space, const std::vector<Blob>& shards,
                            const std::vector<LayerView>& layers, Isa isa) {
  if (layers.empty()) throw InvalidArgument("blobs of shards need a layer to be added to");
  if (shards.size() != piece_of(space, layers).shards)
    throw InvalidArgument("as many blobs are needed as the layers have shards");
  const ShardPieces pieces(space);
  const std::size_t words = space.words_per_line();
  BitmapCodec codec(isa);
  std::vector<Word> bitmap(pieces.bytes(0) / sizeof(Word));
  Tally tally;
  std::uint64_t states = 0;
  for (std::uint64_t shard = 0; shard < shards.size(); ++shard) {
    const std::uint64_t before = tally.states;
    PieceBlobs blobs(shards[shard], pieces.count());
    for (std::uint64_t piece = 0; piece < pieces.count(); ++piece) {
      const Blob blob = blobs.next();
      if (blob.empty()) continue;
      codec.decode(blob, {reinterpret_cast<std::uint8_t*>(bitmap.data()), pieces.bytes(piece)});
      tally.add(bitmap.data(), pieces.bytes(piece) / sizeof(Word));
      const Word* from = bitmap.data();
      std::uint64_t line = shard * space.lines_per_shard() + pieces.begin(piece);
      const std::uint64_t last = shard * space.lines_per_shard() + pieces.end(piece);
      for (; line < last; ++line, from += words) {
        if (std::all_of(from, from + words, [](Word word) { return word == 0; })) continue;
        for (const LayerView& layer : layers) {
          Word* const to = layer.words + line * words;
          for (std::size_t w = 0; w < words; ++w) to[w] |= from[w];
          layer.flags[line] = 1;
        }
      }
      const Word* const end = bitmap.data() + pieces.bytes(piece) / sizeof(Word);
      if (std::any_of(from, end, [](Word word) { return word != 0; }))
        throw InvalidArgument("a shard's blob has states beyond its lines");
    }
    states += (tally.states - before) * space.weight(piece_of(space, layers).first_shard + shard);
  }
  if (tally.used >> (space.bits() - 1) > 1)
    throw InvalidArgument("a shard's blob has bits that are no states");
  return states;
}

}  // namespace farthest
