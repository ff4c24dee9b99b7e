// A layer's states as blobs, one for each shard.
//
// A shard is coded in *pieces* of lines that fit the second-level cache. Its blob has for each piece u32
// bytes of the piece's blob (bitmap_codec.hpp), then these blobs. Of no states: no bytes. A piece has as many
// lines as fit 2^20 bytes, a multiple of 8 where there are so many; the last one perhaps fewer. Its bitmap is
// filled up with zeros to a multiple of 64 bytes.
#pragma once

#include <span>
#include <vector>

#include "farthest/isa.hpp"
#include "farthest/step.hpp"

namespace farthest {

using Blob = std::span<const std::uint8_t>;

// The blob of a shard, and how many states it has.
struct ShardBlob {
  std::vector<std::uint8_t> blob;
  std::uint64_t states = 0;
};

// How a shard is cut into pieces.
class ShardPieces {
 public:
  explicit ShardPieces(const Space& space);

  std::uint64_t count() const { return (shard_lines_ + lines_ - 1) / lines_; }
  std::uint64_t lines() const { return lines_; }  // of each piece but the last
  // The lines of a piece: its first, its last and one.
  std::uint64_t begin(std::uint64_t piece) const { return piece * lines_; }
  std::uint64_t end(std::uint64_t piece) const;
  // Bytes of a piece's bitmap, with the zeros that fill it up.
  std::size_t bytes(std::uint64_t piece) const;

 private:
  std::uint64_t shard_lines_, lines_;
  std::size_t line_bytes_;
};

// The blobs of a shard's pieces, one after the other.
class PieceBlobs {
 public:
  // Throws InvalidArgument where the shard's blob does not have the bytes of `pieces` pieces.
  PieceBlobs(Blob shard, std::uint64_t pieces);
  Blob next();
  Blob at(std::uint64_t piece);

 private:
  Blob shard_, rest_;
  std::uint64_t piece_ = 0;
};

// Notes in the beginning of a shard's blob how many bytes a piece's blob has.
void set_piece_bytes(std::vector<std::uint8_t>& shard, std::uint64_t piece, std::size_t bytes);

// No shard's blob has more bytes.
std::size_t longest_shard_blob(const Space& space);

// The blobs of the layer's shards, in their order.
std::vector<ShardBlob> encode_shards(const Space& space, const LayerView& layer, Isa isa);

// Adds the states of blobs to each of `layers`, which hold the blobs' shards. Returns their number. Throws
// InvalidArgument when there are no layers, they differ in their shards, or a blob is not that of a shard;
// what the layers hold is then undefined.
std::uint64_t decode_shards(const Space& space, const std::vector<Blob>& shards,
                            const std::vector<LayerView>& layers, Isa isa);

}  // namespace farthest
