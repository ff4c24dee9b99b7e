// Packed boards side by side, 64 at a time: the words of their codes, and of each cell the contents.
#pragma once

#include "farthest/types.hpp"

namespace farthest {

inline constexpr std::size_t kPackedBlock = 64;
inline constexpr int kPackedShuffleBits = 6;  // of contents that a register is a table for

// A field of a word gets what a table says of the contents of another cell.
struct PackedChange {
  const Key* fields;             // for each content the bits of the field
  const std::uint8_t* contents;  // for each of 64 contents what the field then holds
  std::uint32_t from;            // cell
  std::uint32_t shift;           // of the field
};

// Where it reads and writes words there must be kPackedBlock of them.
struct PackedBackend {
  // The contents of a cell.
  void (*read)(const Key* words, int shift, Key mask, std::uint8_t* contents);
  // The boards whose content is 0.
  SlotMask (*blanks)(const std::uint8_t* contents);
  // For each of `boards`, one after another, the bits `kept` of its word, and the changes, of fields that
  // have no bit in common: 64 at most. contents: of all cells, kPackedBlock each.
  void (*make)(const PackedChange* changes, std::size_t count, const std::uint8_t* contents, const Key* words,
               Key kept, SlotMask boards, Key* out);
};

PackedBackend portable_packed();
#ifdef FARTHEST_X86
PackedBackend avx512_packed();  // needs VBMI, and fields of at most kPackedShuffleBits
#endif

}  // namespace farthest
