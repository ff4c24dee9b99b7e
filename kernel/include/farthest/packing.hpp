// Layers as blobs, for storage and transport: the lines that hold states, and nothing else.
//
//   bitmap   one bit a line of the layer's shards, in order, the lowest bit of a word first: 1 where the line
//            holds a state; filled up with zeros to a whole word
//   words    those of the lines with a 1, line after line
//
// All words have 8 bytes, the lowest first. A layer has exactly one blob: flags that are 1 for empty lines
// leave no trace in it.
#pragma once

#include <span>
#include <vector>

#include "farthest/step.hpp"

namespace farthest {

// The blob's bitmap.
std::vector<Word> filled_lines(const Space& space, const LayerView& layer);

// Bytes of a blob with this bitmap.
std::size_t packed_bytes(const Space& space, const std::vector<Word>& filled);

// Writes the blob. filled: filled_lines(space, layer), which the caller needs to know how large `out` must
// be. Throws InvalidArgument when the sizes do not fit together.
void pack(const Space& space, const LayerView& layer, const std::vector<Word>& filled,
          std::span<std::uint8_t> out);

// Adds the states of a blob to each of `layers`, which hold the shards that it was packed from. Returns their
// number. Throws InvalidArgument, and changes no layer, when there are no layers, they differ in their
// shards, or no layer of these shards has this blob.
std::uint64_t unpack(const Space& space, std::span<const std::uint8_t> blob,
                     const std::vector<LayerView>& layers);

}  // namespace farthest
