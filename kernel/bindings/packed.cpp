#include "farthest/packed.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <deque>
#include <tuple>

#include "buffers.hpp"
#include "codes.hpp"
#include "farthest/reduced_runs.hpp"
#include "packed.hpp"

namespace farthest::python {

using namespace nb::literals;

namespace {

using FieldArgs = std::tuple<int, int, int>;
using GuardArgs = std::tuple<std::vector<int>, std::uint64_t, bool>;
using PackedMoveArgs =
    std::tuple<std::vector<int>, std::vector<int>, std::uint64_t, std::uint64_t, std::vector<GuardArgs>>;

std::unique_ptr<Expander> make_packed(std::size_t width, const std::vector<FieldArgs>& fields,
                                      std::optional<std::uint32_t> sum,
                                      const std::vector<ContentTable>& tables,
                                      const std::vector<PackedMoveArgs>& moves,
                                      const std::vector<ContentTable>& kinds) {
  PackedBoards boards{{}, sum, tables, kinds};
  for (const auto& [word, shift, bits] : fields) boards.fields.push_back({word, shift, bits});
  std::vector<PackedMove> made;
  for (const auto& [to, turns, require, forbid, guards] : moves) {
    PackedMove& move = made.emplace_back(PackedMove{to, turns, require, forbid, {}});
    for (const auto& [of, cells, joined] : guards) move.guards.push_back({of, cells, joined});
  }
  return packed_expander(width, boards, made);
}

using RunShardArgs =
    std::pair<std::vector<std::pair<std::uint32_t, std::uint32_t>>, std::vector<std::uint32_t>>;

std::unique_ptr<ReducedRuns> make_reduced(std::size_t width, const std::vector<FieldArgs>& fields,
                                          const std::vector<Array<const std::uint16_t>>& maps,
                                          const std::vector<RunShardArgs>& shards) {
  std::vector<PackedField> made_fields;
  for (const auto& [word, shift, bits] : fields) made_fields.push_back({word, shift, bits});
  std::vector<PointMap> made_maps;
  for (const auto& map : maps) {
    const auto points = aligned<const std::uint16_t>(map);
    made_maps.emplace_back(points.begin(), points.end());
  }
  std::vector<RunShard> made;
  for (const auto& [links, fixing] : shards) {
    RunShard& shard = made.emplace_back();
    for (const auto& [source, map] : links) shard.links.push_back({source, map});
    shard.fixing = fixing;
  }
  return reduced_runs(width, made_fields, made_maps, std::move(made));
}

std::vector<std::tuple<std::uint64_t, std::uint64_t, nb::bytes>> step_runs(
    const ReducedRuns& runs, const std::vector<std::uint32_t>& shards, const nb::sequence& layer,
    const std::vector<nb::sequence>& exclude, std::uint64_t most, int threads) {
  std::deque<ByteView> views;
  const auto spans = [&](const nb::sequence& objects) {
    std::vector<Bytes> found;
    for (const nb::handle object : objects) found.push_back(views.emplace_back(object).bytes());
    return found;
  };
  const std::vector<Bytes> all = spans(layer);
  std::vector<std::vector<Bytes>> excluded;
  for (const auto& codes : exclude) excluded.push_back(spans(codes));
  auto found = [&] {
    const nb::gil_scoped_release release;
    return runs.step(shards, all, excluded, most, threads);
  }();
  std::vector<std::tuple<std::uint64_t, std::uint64_t, nb::bytes>> out;
  for (FoundCodes& each : found) {  // each is copied, and given back: a layer is not held twice
    const auto codes = std::exchange(each.codes, {});
    out.emplace_back(each.states, each.classes, nb::bytes(codes.data(), codes.size()));
  }
  return out;
}

}  // namespace

void bind_packed(nb::module_& m) {
  m.def(
      "packed_expander", &make_packed, "width"_a, "fields"_a, "sum"_a.none(), "tables"_a, "moves"_a,
      "kinds"_a = std::vector<ContentTable>{},
      "Successors of boards packed into codes of `width` bytes. fields: (word, shift, bits), the bits of "
      "each "
      "cell's content; the last cell has none where the sum of all contents is known. tables: a content for "
      "each content, 256 each. moves: (to, turns, require, forbid, guards): what stands in cell i goes to "
      "cell "
      "to[i] and becomes what tables[turns[i]] says, where the cells of the bit mask `require` hold 0, those "
      "of "
      "`forbid` do not, and all guards hold: (kinds, cells, joined), of the contents of these kinds none "
      "stands "
      "in the cells of the mask, or where they are joined all or none. kinds: for each cell the kind of each "
      "content, 1 to 255, or 0. Raises ValueError.");

  nb::class_<ReducedRuns>(
      m, "ReducedRuns",
      "Layers of boards packed into codes of `width` bytes, by representatives of symmetries. fields: as of "
      "packed_expander, of all cells. maps: uint16, for each cell and content (256 a cell) the cell, times "
      "256, "
      "and the content that it becomes. shards: of each its links, (shard, map), which together give its "
      "states; and the maps that are its own symmetries, but the identity. Raises ValueError.")
      .def(nb::new_(&make_reduced), "width"_a, "fields"_a, "maps"_a, "shards"_a)
      .def("step", &step_runs,
           nb::sig("def step(self, shards: Sequence[int], layer: Sequence[" BUFFER
                   "], exclude: Sequence[Sequence[" BUFFER
                   "]], most: int = 18446744073709551615, threads: int = 1) -> list[tuple[int, int, bytes]]"),
           "shards"_a, "layer"_a, "exclude"_a, "most"_a = ~std::uint64_t{0}, "threads"_a = 1,
           "For each of `shards` what its links give and none of its codes of `exclude` are: the number of "
           "states, that of classes under its symmetries, and the codes, one after another; of these the "
           "`most` least. layer: the codes of all shards. Raises ValueError.");
}

}  // namespace farthest::python
