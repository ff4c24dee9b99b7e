#include "blocks.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../src/parallel.hpp"
#include "buffers.hpp"
#include "codes.hpp"
#include "farthest/blocks.hpp"

namespace farthest::python {

using namespace nb::literals;

namespace {

constexpr std::size_t kPiece = 4096;  // codes that a thread takes at a time

// Codes in bytes: 8, little-endian, as numpy has them, or 16, big-endian, so that bytes compare as numbers
// do.
void load(const std::uint8_t* bytes, std::uint64_t& code) { std::memcpy(&code, bytes, 8); }
void load(const std::uint8_t* bytes, Code128& code) {
  code = 0;
  for (int i = 0; i < 16; ++i) code = code << 8 | bytes[i];
}
void store(std::uint64_t code, std::uint8_t* bytes) { std::memcpy(bytes, &code, 8); }
void store(Code128 code, std::uint8_t* bytes) {
  for (int i = 16; i-- > 0; code >>= 8) bytes[i] = static_cast<std::uint8_t>(code & 0xff);
}

template <class Code>
std::vector<Code> loaded(std::span<const std::uint8_t> bytes) {
  if (bytes.size() % sizeof(Code) != 0) throw InvalidArgument("the codes' bytes are not whole codes");
  std::vector<Code> codes(bytes.size() / sizeof(Code));
  for (std::size_t i = 0; i < codes.size(); ++i) load(bytes.data() + i * sizeof(Code), codes[i]);
  return codes;
}

template <class Code>
nb::bytes stored(const std::vector<Code>& codes) {
  std::vector<std::uint8_t> bytes(codes.size() * sizeof(Code));
  for (std::size_t i = 0; i < codes.size(); ++i) store(codes[i], bytes.data() + i * sizeof(Code));
  return nb::bytes(bytes.data(), bytes.size());
}

// Calls work(Code{}) with the type of the space's codes.
template <class Work>
auto with_codes(const Blocks& blocks, Work work) {
  return blocks.code_bytes() == 8 ? work(std::uint64_t{}) : work(Code128{});
}

void make_blocks(Blocks* self, int cells, const std::vector<std::vector<int>>& beside,
                 const std::vector<int>& counts, const std::vector<unsigned>& ways,
                 const std::vector<std::vector<SlotMask>>& covers, const std::string& metric) {
  CellLinks links;
  for (auto& way : links) way.fill(-1);
  if (cells < 1 || cells > kMaxSlots || beside.size() != kDirections)
    throw InvalidArgument("expected 1 to 64 cells and their neighbours in 4 directions");
  for (std::size_t way = 0; way < kDirections; ++way) {
    if (beside[way].size() != static_cast<std::size_t>(cells)) throw InvalidArgument("beside: one a cell");
    for (std::size_t cell = 0; cell < beside[way].size(); ++cell) {
      if (beside[way][cell] < -1 || beside[way][cell] >= cells) throw InvalidArgument("beside: no such cell");
      links[way][cell] = static_cast<std::int8_t>(beside[way][cell]);
    }
  }
  if (metric != "step" && metric != "slide" && metric != "move") throw InvalidArgument("no such metric");
  const auto chosen = metric == "step"    ? BlockMetric::step
                      : metric == "slide" ? BlockMetric::slide
                                          : BlockMetric::move;
  new (self) Blocks(cells, links, counts, ways, covers, chosen);
}

nb::bytes encode(const Blocks& blocks, Array<const std::uint8_t> boards) {
  const auto cells = static_cast<std::size_t>(blocks.cells());
  if (boards.size() % cells != 0) throw InvalidArgument("the boards' bytes are not whole boards");
  return with_codes(blocks, [&](auto zero) {
    using Code = decltype(zero);
    std::vector<Code> codes(boards.size() / cells);
    {
      const nb::gil_scoped_release release;
      Placement placement;
      for (std::size_t i = 0; i < codes.size(); ++i) {
        const std::span board(boards.data() + i * cells, cells);
        codes[i] = static_cast<Code>(blocks.read(board, placement) ? blocks.encode<Code>(placement)
                                                                   : static_cast<Code>(~Code{0}));
      }
    }
    return stored(codes);
  });
}

nb::bytes decode(const Blocks& blocks, nb::handle buffer) {
  const ByteView view(buffer);
  const auto cells = static_cast<std::size_t>(blocks.cells());
  std::vector<std::uint8_t> boards;
  with_codes(blocks, [&](auto zero) {
    const nb::gil_scoped_release release;
    const auto codes = loaded<decltype(zero)>(view.bytes());
    boards.resize(codes.size() * cells);
    Placement placement;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      if (!blocks.decode(codes[i], placement)) throw InvalidArgument("a code is no state's");
      blocks.draw(placement, std::span(boards.data() + i * cells, cells));
    }
  });
  return nb::bytes(boards.data(), boards.size());
}

nb::bytes successors(const Blocks& blocks, nb::handle buffer, int threads) {
  const ByteView view(buffer);
  return with_codes(blocks, [&](auto zero) {
    using Code = decltype(zero);
    std::vector<Code> all;
    {
      const nb::gil_scoped_release release;
      const auto codes = loaded<Code>(view.bytes());
      std::vector<std::vector<Code>> parts((codes.size() + kPiece - 1) / kPiece);
      in_parallel(parts.size(), std::max(threads, 1), [&](std::uint64_t i) {
        const auto first = static_cast<std::size_t>(i) * kPiece;
        const auto count = std::min(kPiece, codes.size() - first);
        blocks.neighbours<Code>(std::span(codes).subspan(first, count), parts[static_cast<std::size_t>(i)]);
      });
      for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    }
    return stored(all);
  });
}

nb::tuple moves(const Blocks& blocks, nb::handle buffer) {
  const ByteView view(buffer);
  std::vector<std::uint64_t> rows;
  std::vector<BlockMove> names;
  static_assert(sizeof(BlockMove) == 5);
  const nb::bytes next = with_codes(blocks, [&](auto zero) {
    using Code = decltype(zero);
    std::vector<Code> out;
    {
      const nb::gil_scoped_release release;
      const auto codes = loaded<Code>(view.bytes());
      for (std::size_t i = 0; i < codes.size(); ++i) {
        blocks.moves(codes[i], out, names);
        rows.resize(out.size(), i);
      }
    }
    return stored(out);
  });
  return nb::make_tuple(nb::bytes(rows.data(), rows.size() * sizeof(std::uint64_t)), next,
                        nb::bytes(names.data(), names.size() * sizeof(BlockMove)));
}

nb::bytes placements(const Blocks& blocks, const std::vector<SlotMask>& anchors, std::uint64_t limit) {
  if (anchors.size() != static_cast<std::size_t>(blocks.kinds()))
    throw InvalidArgument("anchors: one a kind");
  Placement fixed;
  std::ranges::copy(anchors, fixed.anchors.begin());
  return with_codes(blocks, [&](auto zero) {
    std::vector<decltype(zero)> codes;
    {
      const nb::gil_scoped_release release;
      codes = blocks.placements<decltype(zero)>(fixed, limit);
    }
    return stored(codes);
  });
}

}  // namespace

void bind_blocks(nb::module_& m) {
  nb::class_<Blocks, Expander>(
      m, "Blocks",
      "Sliding blocks on `cells` cells. beside: for each direction (up, down, left, right) the neighbour of "
      "each "
      "cell, -1 none. For each kind of piece: counts, ways (directions it may go, a bit each) and covers "
      "(for each "
      "cell the mask of the cells of a piece anchored there, 0 where it does not fit). metric: step, slide, "
      "move. "
      "Codes are uint64 or, where these are too few, 16 bytes, big-endian. Raises ValueError.")
      .def("__init__", &make_blocks, "cells"_a, "beside"_a, "counts"_a, "ways"_a, "covers"_a, "metric"_a)
      .def_prop_ro("code_bytes", &Blocks::code_bytes, "Bytes of a code: 8 or 16.")
      .def("encode", &encode, nb::sig("def encode(self, boards: " BUFFER ") -> bytes"),
           "boards"_a.noconvert(),
           "The codes of boards (uint8, 0 or 1 + kind for each cell), all bits set where a board is none.")
      .def("decode", &decode, nb::sig("def decode(self, codes: " BUFFER ") -> bytes"), "codes"_a,
           "Inverse of encode. Raises ValueError when a code is no state's.")
      .def("successors", &successors,
           nb::sig("def successors(self, codes: " BUFFER ", threads: int = 1) -> bytes"), "codes"_a,
           "threads"_a = 1, "The codes of all states one move away from each; they may repeat.")
      .def("moves", &moves, nb::sig("def moves(self, codes: " BUFFER ") -> tuple[bytes, bytes, bytes]"),
           "codes"_a,
           "All moves from the states: the index of each one's state (uint64), the code that it leads to, "
           "and 5 "
           "bytes: kind, anchor before and after, number of the piece among its kind's in order of anchors "
           "before and after.")
      .def(
          "placements", &placements, "anchors"_a, "limit"_a,
          "The codes of all states whose kinds have at least these anchors (a mask each); limit + 1 codes if "
          "there are more. Raises ValueError when they overlap or do not fit.");
}

}  // namespace farthest::python
