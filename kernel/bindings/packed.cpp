#include "farthest/packed.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "packed.hpp"

namespace farthest::python {

using namespace nb::literals;

namespace {

using FieldArgs = std::tuple<int, int, int>;
using PackedMoveArgs = std::tuple<std::vector<int>, std::vector<int>, std::uint64_t, std::uint64_t>;

std::unique_ptr<Expander> make_packed(std::size_t width, const std::vector<FieldArgs>& fields,
                                      std::optional<std::uint32_t> sum,
                                      const std::vector<ContentTable>& tables,
                                      const std::vector<PackedMoveArgs>& moves) {
  PackedBoards boards{{}, sum, tables};
  for (const auto& [word, shift, bits] : fields) boards.fields.push_back({word, shift, bits});
  std::vector<PackedMove> made;
  for (const auto& [to, turns, require, forbid] : moves) made.push_back({to, turns, require, forbid});
  return packed_expander(width, boards, made);
}

}  // namespace

void bind_packed(nb::module_& m) {
  m.def(
      "packed_expander", &make_packed, "width"_a, "fields"_a, "sum"_a.none(), "tables"_a, "moves"_a,
      "Successors of boards packed into codes of `width` bytes. fields: (word, shift, bits), the bits of "
      "each "
      "cell's content; the last cell has none where the sum of all contents is known. tables: a content for "
      "each content, 256 each. moves: (to, turns, require, forbid): what stands in cell i goes to cell to[i] "
      "and becomes what tables[turns[i]] says, where the cells of the bit mask `require` hold 0 and those of "
      "`forbid` do not. Raises ValueError.");
}

}  // namespace farthest::python
