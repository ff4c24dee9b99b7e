#include "farthest/search.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <tuple>

#include "buffers.hpp"
#include "codes.hpp"
#include "farthest/pages.hpp"
#include "search.hpp"

namespace farthest::python {

using namespace nb::literals;

namespace {

// A pattern table and the buffer that it looks into.
struct HeldPattern {
  Array<const std::uint8_t> buffer;
  PatternTable part;

  HeldPattern(std::vector<int> labels, Array<const std::uint8_t> distances, std::vector<int> cell_of)
      : buffer(std::move(distances)),
        part{std::move(labels), {buffer.data(), buffer.size()}, std::move(cell_of)} {}
};

using PartArgs = std::variant<const CellTable*, const HeldPattern*, const LinearConflict*, const Matching*>;
using Ways = std::vector<nb::bytes>;
using Rest = std::vector<std::tuple<nb::bytes, int, int, nb::bytes>>;
using Piece = std::tuple<std::int64_t, std::int64_t, Ways, std::optional<int>, Rest>;

// A search and the buffers of its tables.
class HeldSearch {
 public:
  HeldSearch(std::vector<std::vector<int>> sources, std::vector<int> counts,
             std::vector<std::vector<int>> goals, const std::vector<std::vector<PartArgs>>& terms) {
    std::vector<HeuristicTerm> made;
    for (const auto& term : terms) {
      made.emplace_back();
      for (const PartArgs& args : term) std::visit([&](const auto* part) { add(part, made.back()); }, args);
    }
    const SlidingGame game{std::move(sources), std::move(counts), std::move(goals)};
    const nb::gil_scoped_release release;
    search_ = std::make_unique<const SlidingSearch>(game, made);
  }

  int evaluate(nb::handle board) const {
    const ByteView view(board);
    const nb::gil_scoped_release release;
    return search_->evaluate(view.bytes());
  }

  Piece run(nb::handle board, int depth, int last, int bound, std::int64_t budget, bool first,
            std::size_t listed) const {
    SearchNode root{{}, depth, last, {}};
    {
      const ByteView view(board);
      root.board.assign(view.bytes().begin(), view.bytes().end());
    }
    SearchPiece piece;
    {
      const nb::gil_scoped_release release;
      piece = search_->run(root, {bound, budget, first, listed});
    }
    Ways ways;
    for (const auto& way : piece.listed) ways.push_back(bytes(way));
    Rest rest;
    for (const SearchNode& node : piece.rest)
      rest.emplace_back(bytes(node.board), node.depth, node.last, bytes(node.way));
    return {piece.nodes, piece.solutions, std::move(ways), piece.next_bound, std::move(rest)};
  }

 private:
  template <class Part>
  void add(const Part* part, HeuristicTerm& term) {
    if (part == nullptr) throw InvalidArgument("expected a part of a heuristic, not None");
    if constexpr (std::is_same_v<Part, HeldPattern>) {
      tables_.push_back(part->buffer);
      term.emplace_back(part->part);
    } else {
      term.emplace_back(*part);
    }
  }
  static nb::bytes bytes(const std::vector<std::uint8_t>& from) {
    return nb::bytes(from.data(), from.size());
  }

  std::vector<Array<const std::uint8_t>> tables_;
  std::unique_ptr<const SlidingSearch> search_;
};

void make_table(CellTable* place, nb::handle values) {
  const ByteView view(values);
  new (place) CellTable{{view.bytes().begin(), view.bytes().end()}};
}

void make_lines(LinearConflict* place, std::vector<std::vector<int>> rows, std::vector<int> goal) {
  new (place) LinearConflict{std::move(rows), std::move(goal)};
}

void make_matching(Matching* place, std::vector<std::vector<int>> distances, std::vector<int> goal) {
  new (place) Matching{std::move(distances), std::move(goal)};
}

nb::ndarray<nb::memview, std::uint8_t, nb::ndim<1>> pages(std::size_t size) {
  auto held = std::make_unique<Pages>(size);
  std::uint8_t* data = held->bytes().data();
  const nb::capsule owner(held.get(), [](void* memory) noexcept { delete static_cast<Pages*>(memory); });
  held.release();
  return {data, {size}, owner};
}

}  // namespace

void bind_search(nb::module_& m) {
  nb::class_<CellTable>(
      m, "CellTable",
      "The sum of values[label * cells + cell] (bytes) over all pieces; label 0 is the blank.")
      .def("__init__", &make_table, nb::sig("def __init__(self, values: " BUFFER ") -> None"), "values"_a);
  nb::class_<HeldPattern>(
      m, "PatternTable",
      "distances[place], uint8, of the placements of labels: mixed radix, first label first, each digit the "
      "number "
      "of free cells before the label's; board cells are renumbered by cell_of before. The buffer is shared.")
      .def(nb::init<std::vector<int>, Array<const std::uint8_t>, std::vector<int>>(),
           nb::sig("def __init__(self, labels: Sequence[int], distances: " BUFFER
                   ", cell_of: Sequence[int]) -> None"),
           "labels"_a, "distances"_a, "cell_of"_a);
  nb::class_<LinearConflict>(
      m, "LinearConflict",
      "Manhattan distance on a grid (rows of cells, -1 where there is none), and two for "
      "each piece that has to leave its goal's row or column.")
      .def("__init__", &make_lines, "rows"_a, "goal"_a);
  nb::class_<Matching>(m, "Matching",
                       "For each kind of piece the least sum of distances[from][to] to different goal cells.")
      .def("__init__", &make_matching, "distances"_a, "goal"_a);
  nb::class_<HeldSearch>(
      m, "SlidingSearch",
      "Depth-first search of a sliding puzzle with one blank, one piece a move. sources: for each blank cell "
      "the "
      "cells whose piece may move there, ascending. counts: of each label, 0 the blank. goals: labels, -1 "
      "for any "
      "piece. terms: the heuristic is the greatest of these sums. May be used by several threads. Raises "
      "ValueError.")
      .def(nb::init<std::vector<std::vector<int>>, std::vector<int>, std::vector<std::vector<int>>,
                    const std::vector<std::vector<PartArgs>>&>(),
           "sources"_a, "counts"_a, "goals"_a, "terms"_a)
      .def("evaluate", &HeldSearch::evaluate, nb::sig("def evaluate(self, board: " BUFFER ") -> int"),
           "board"_a, "The heuristic's value of a board, a byte a cell. Raises ValueError.")
      .def(
          "run", &HeldSearch::run,
          nb::sig("def run(self, board: " BUFFER
                  ", depth: int, last: int, bound: int, budget: int, first: bool, listed: int) -> "
                  "tuple[int, int, list[bytes], int | None, list[tuple[bytes, int, int, bytes]]]"),
          "board"_a, "depth"_a, "last"_a, "bound"_a, "budget"_a, "first"_a, "listed"_a,
          "Searches below a board that lies `depth` moves deep, for ways of at most `bound` moves in all. "
          "last: the "
          "cell where the blank does not go back at once, or -1. A node whose children would exceed the "
          "budget (-1: "
          "none) ends the search, as does the first solution if `first`. Returns the children generated, the "
          "solutions, the first `listed` of them (the cells that the blank comes to), the least depth + "
          "heuristic "
          "above the bound, and the nodes that the budget left: (board, depth, last, way), in the order of "
          "the "
          "search. Raises ValueError.");
  m.def("pages", &pages, "size"_a,
        "Zeroed memory, on huge pages where the system has them: for tables with random access. Raises "
        "MemoryError.");
}

}  // namespace farthest::python
