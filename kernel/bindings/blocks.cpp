#include "blocks.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "buffers.hpp"
#include "codes.hpp"
#include "farthest/block_lines.hpp"
#include "farthest/blocks.hpp"

namespace farthest::python {

using namespace nb::literals;

namespace {

template <class Code>
nb::bytes stored(const std::vector<Code>& codes, std::size_t width) {
  std::vector<std::uint8_t> bytes(codes.size() * width);
  store_codes<Code>(codes, bytes, width);
  return nb::bytes(bytes.data(), bytes.size());
}

void make_blocks(Blocks* self, int cells, const std::vector<std::vector<int>>& beside,
                 const std::vector<int>& counts, const std::vector<unsigned>& ways,
                 const std::vector<std::vector<SlotMask>>& covers, const std::string& metric,
                 const std::vector<std::tuple<int, int, int>>& fields, std::size_t width) {
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
  std::vector<PackedField> packed;
  for (const auto& [word, shift, bits] : fields) packed.push_back({word, shift, bits});
  new (self) Blocks(cells, links, counts, ways, covers, chosen, packed, width);
}

nb::bytes encode(const Blocks& blocks, Array<const std::uint8_t> boards) {
  const auto cells = static_cast<std::size_t>(blocks.cells());
  const std::size_t width = blocks.width();
  if (boards.size() % cells != 0) throw InvalidArgument("the boards' bytes are not whole boards");
  std::vector<std::uint8_t> codes(boards.size() / cells * width, 255);
  with_code(width, [&]<class Code>(Code) {
    const nb::gil_scoped_release release;
    Placement placement;
    for (std::size_t i = 0; i < boards.size() / cells; ++i)
      if (blocks.read(std::span(boards.data() + i * cells, cells), placement))
        store_code(blocks.encode<Code>(placement), codes.data() + i * width, width);
  });
  return nb::bytes(codes.data(), codes.size());
}

nb::bytes decode(const Blocks& blocks, nb::handle buffer) {
  const ByteView view(buffer);
  const auto cells = static_cast<std::size_t>(blocks.cells());
  std::vector<std::uint8_t> boards;
  with_code(blocks.width(), [&]<class Code>(Code) {
    const nb::gil_scoped_release release;
    const auto codes = load_codes<Code>(view.bytes(), blocks.width());
    boards.resize(codes.size() * cells);
    Placement placement;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      if (!blocks.decode(codes[i], placement)) throw InvalidArgument("a code is no state's");
      blocks.draw(placement, std::span(boards.data() + i * cells, cells));
    }
  });
  return nb::bytes(boards.data(), boards.size());
}

nb::tuple moves(const Blocks& blocks, nb::handle buffer) {
  const ByteView view(buffer);
  std::vector<std::uint64_t> rows;
  std::vector<BlockMove> names;
  static_assert(sizeof(BlockMove) == 5);
  const nb::bytes next = with_code(blocks.width(), [&]<class Code>(Code) {
    std::vector<Code> out;
    {
      const nb::gil_scoped_release release;
      const auto codes = load_codes<Code>(view.bytes(), blocks.width());
      for (std::size_t i = 0; i < codes.size(); ++i) {
        blocks.moves(codes[i], out, names);
        rows.resize(out.size(), i);
      }
    }
    return stored(out, blocks.width());
  });
  return nb::make_tuple(nb::bytes(rows.data(), rows.size() * sizeof(std::uint64_t)), next,
                        nb::bytes(names.data(), names.size() * sizeof(BlockMove)));
}

nb::bytes placements(const Blocks& blocks, const std::vector<SlotMask>& anchors, std::uint64_t limit,
                     std::uint64_t part, std::uint64_t parts) {
  if (anchors.size() != blocks.kinds().size()) throw InvalidArgument("anchors: one a kind");
  Placement fixed;
  std::ranges::copy(anchors, fixed.anchors.begin());
  return with_code(blocks.width(), [&]<class Code>(Code) {
    std::vector<Code> codes;
    {
      const nb::gil_scoped_release release;
      codes = blocks.placements<Code>(fixed, limit, part, parts);
    }
    return stored(codes, blocks.width());
  });
}

std::tuple<nb::bytes, std::vector<std::size_t>, std::size_t> components(const Blocks& blocks,
                                                                        nb::handle starts, nb::handle among,
                                                                        std::uint64_t limit,
                                                                        std::size_t enough) {
  const ByteView start_view(starts), among_view(among);
  return with_code(blocks.width(), [&]<class Code>(Code) {
    std::vector<Code> found;
    std::vector<std::size_t> sizes;
    std::size_t done = 0;
    {
      const nb::gil_scoped_release release;
      const auto from = load_codes<Code>(start_view.bytes(), blocks.width());
      const auto known = load_codes<Code>(among_view.bytes(), blocks.width());
      while (done < from.size() && found.size() < enough) {
        const std::size_t before = found.size();
        if (blocks.component<Code>(from[done++], known, limit, found)) sizes.push_back(found.size() - before);
      }
    }
    return std::tuple(stored(found, blocks.width()), sizes, done);
  });
}

std::unique_ptr<BlockLines> lines_from(const Blocks& blocks, nb::handle buffer) {
  const ByteView view(buffer);
  const nb::gil_scoped_release release;
  if (blocks.width() != sizeof(Key)) return nullptr;
  return block_lines(blocks, load_codes<Key>(view.bytes(), sizeof(Key)));
}

bool expand_lines(BlockLines& lines, std::size_t most, int threads) {
  const nb::gil_scoped_release release;
  return lines.expand(most, threads);
}

std::uint64_t settle_lines(BlockLines& lines) {
  const nb::gil_scoped_release release;
  return lines.settle();
}

nb::bytes codes_of_layer(const BlockLines& lines, std::size_t layer) {
  const std::vector<Key> codes = [&] {
    const nb::gil_scoped_release release;
    return lines.codes(layer);
  }();
  return nb::bytes(codes.data(), codes.size() * sizeof(Key));
}

}  // namespace

void bind_blocks(nb::module_& m) {
  nb::class_<Blocks>(
      m, "Blocks",
      "Sliding blocks on `cells` cells. beside: for each direction (up, down, left, right) the neighbour of "
      "each "
      "cell, -1 none. For each kind of piece: counts, ways (directions it may go, a bit each) and covers "
      "(for each "
      "cell the mask of the cells of a piece anchored there, 0 where it does not fit). metric: step, slide, "
      "move. "
      "Codes are uint64 or, where these are too few, 16 bytes, big-endian. With fields, (word, shift, bits) "
      "for the rank of each kind, they are packed into `width` bytes. Raises ValueError.")
      .def("__init__", &make_blocks, "cells"_a, "beside"_a, "counts"_a, "ways"_a, "covers"_a, "metric"_a,
           "fields"_a, "width"_a)
      .def_prop_ro("code_bytes", &Blocks::width, "Bytes of a code.")
      .def("encode", &encode, nb::sig("def encode(self, boards: " BUFFER ") -> bytes"),
           "boards"_a.noconvert(),
           "The codes of boards (uint8, 0 or 1 + kind for each cell), all bits set where a board is none.")
      .def("decode", &decode, nb::sig("def decode(self, codes: " BUFFER ") -> bytes"), "codes"_a,
           "Inverse of encode. Raises ValueError when a code is no state's.")
      .def("expander", &block_expander, "The successors of the codes.")
      .def("moves", &moves, nb::sig("def moves(self, codes: " BUFFER ") -> tuple[bytes, bytes, bytes]"),
           "codes"_a,
           "All moves from the states: the index of each one's state (uint64), the code that it leads to, "
           "and 5 "
           "bytes: kind, anchor before and after, number of the piece among its kind's in order of anchors "
           "before and after.")
      .def(
          "placements", &placements, "anchors"_a, "limit"_a, "part"_a = 0, "parts"_a = 1,
          "The codes of all states whose kinds have at least these anchors (a mask each), those of a part of "
          "them; limit + 1 codes if there are more. Raises ValueError when they overlap or do not fit.")
      .def("components", &components,
           nb::sig("def components(self, starts: " BUFFER ", among: " BUFFER
                   ", limit: int, enough: int) -> tuple[bytes, list[int], int]"),
           "starts"_a, "among"_a, "limit"_a, "enough"_a,
           "The states of the components of which a start is the least state, or the least of `among`, "
           "ascending, if there are any; how many each has; and the number of starts done, when there are "
           "`enough` states. "
           "Raises LimitError for a component of more than `limit`, ValueError.")
      .def("lines", &lines_from, nb::sig("def lines(self, origins: " BUFFER ") -> BlockLines | None"),
           "origins"_a,
           "A search for layers as bits of lines from these codes; None where codes are not uint64, or no "
           "kind "
           "has several pieces of one cell with few anchors left. Raises ValueError for codes that are no "
           "state's.");
  nb::class_<BlockLines>(m, "BlockLines", "Layers of sliding blocks as bits of lines.")
      .def("expand", &expand_lines, "lines"_a, "threads"_a = 1,
           "Expands the last layer, of it at most so many lines a call. Whether lines are left.")
      .def("settle", &settle_lines,
           "What `expand` found becomes the next layer: the states that are in none. Their number.")
      .def("codes", &codes_of_layer, "layer"_a, "The codes of a layer, uint64, in any order.")
      .def("forget", &BlockLines::forget, "layer"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Gives up what `codes` needs of a layer other than the last one.")
      .def_prop_ro("bytes", &BlockLines::bytes, nb::call_guard<nb::gil_scoped_release>(),
                   "Bytes of memory that it takes, about.");
}

}  // namespace farthest::python
