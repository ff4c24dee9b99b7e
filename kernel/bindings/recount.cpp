#include "recount.hpp"

#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>

#include "buffers.hpp"
#include "farthest/recount.hpp"

namespace farthest::python {

using namespace nb::literals;

namespace {

// Tables and the buffers that they are in.
struct HeldMoves {
  Array<const std::uint32_t> leads;
  Array<const std::uint16_t> kinds, tables;
  BlockMoves moves;

  HeldMoves(std::size_t words, std::size_t most, Array<const std::uint32_t> to,
            Array<const std::uint16_t> of_moves, Array<const std::uint16_t> bits)
      : leads(std::move(to)),
        kinds(std::move(of_moves)),
        tables(std::move(bits)),
        moves(words, most, aligned<const std::uint32_t>(leads), aligned<const std::uint16_t>(kinds),
              aligned<const std::uint16_t>(tables)) {}
};

std::tuple<std::uint64_t, std::uint64_t, std::uint64_t> step_blocks(
    const HeldMoves& held, const Array<const std::uint32_t>& blocks,
    const Array<const std::uint64_t>& frontier, const Array<const std::uint32_t>& frontier_counts,
    const Array<std::uint64_t>& fresh, const Array<std::uint32_t>& fresh_counts, bool apart,
    const Array<const std::uint64_t>& map, std::size_t planes, unsigned number, int threads) {
  const auto stepped = aligned<const std::uint32_t>(blocks);
  const RecountLayers layers{aligned<const Word>(frontier), aligned<const std::uint32_t>(frontier_counts),
                             aligned<Word>(fresh), aligned<std::uint32_t>(fresh_counts), apart};
  const RecountMap words{aligned<const Word>(map), planes, number};
  const nb::gil_scoped_release release;
  const Recounted found = recount(held.moves, stepped, layers, words, std::max(threads, 1));
  return {found.states, found.wrong, found.first};
}

}  // namespace

void bind_recount(nb::module_& m) {
  nb::class_<HeldMoves>(
      m, "BlockMoves",
      "Moves between blocks of keys, from tables: leads uint32, the block that each move of "
      "each block leads to, 2**32 - 1 for none; kinds uint16, its table; tables uint16, for "
      "each bit there the bit here. words: of a block. The arrays are the caller's, kept "
      "alive. Raises ValueError.")
      .def(nb::init<std::size_t, std::size_t, Array<const std::uint32_t>, Array<const std::uint16_t>,
                    Array<const std::uint16_t>>(),
           nb::sig("def __init__(self, words: int, moves: int, leads: " BUFFER ", kinds: " BUFFER
                   ", tables: " BUFFER ") -> None"),
           "words"_a, "moves"_a, "leads"_a.noconvert(), "kinds"_a.noconvert(), "tables"_a.noconvert())
      .def(
          "step", &step_blocks,
          nb::sig("def step(self, blocks: " BUFFER ", frontier: " BUFFER ", frontier_counts: " BUFFER
                  ", fresh: " BUFFER ", fresh_counts: " BUFFER ", apart: bool, map: " BUFFER
                  ", planes: int, number: int, threads: int = 1) -> tuple[int, int, int]"),
          "blocks"_a.noconvert(), "frontier"_a.noconvert(), "frontier_counts"_a.noconvert(),
          "fresh"_a.noconvert(), "fresh_counts"_a.noconvert(), "apart"_a, "map"_a.noconvert(), "planes"_a,
          "number"_a, "threads"_a = 1,
          "Steps blocks (uint32, distinct): words of `fresh` (uint64) hold layer d - 1 and then layer d + 1, "
          "those of `frontier` layer d; counts (uint32): states of each block. apart: they are two arrays, "
          "and neighbours may be in layer d. map, planes, number: what states of layer d + 1 have in the "
          "map. Returns (states, states with another number, the first of these as word * 64 + bit). Raises "
          "ValueError.");
}

}  // namespace farthest::python
