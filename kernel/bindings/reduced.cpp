#include "reduced.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "buffers.hpp"
#include "farthest/reduced.hpp"
#include "isas.hpp"

namespace farthest::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Numbers = Array<const std::uint32_t>;

template <class T, class Buffer>
std::vector<T> copied(const Buffer& buffer) {
  const auto all = aligned<const T>(buffer);
  return {all.begin(), all.end()};
}

void make(ReducedSpace* place, std::uint64_t words_per_line, int bits,
          const std::vector<std::tuple<std::uint64_t, Numbers, nb::bytes>>& digits,
          const Array<const std::uint64_t>& first, const Numbers& sources, const Numbers& maps,
          const Numbers& terms, const Array<const std::uint64_t>& held_first, const Numbers& held_maps,
          const Numbers& held_terms, const Numbers& weights,
          const std::vector<Array<const std::uint16_t>>& bit_maps, bool reversible, const std::string& isa) {
  std::vector<LineDigit> lists;
  for (const auto& [radix, numbers, odd] : digits) {
    const auto* values = static_cast<const std::uint8_t*>(odd.data());
    lists.push_back({radix, copied<std::uint32_t>(numbers), {values, values + odd.size()}});
  }
  std::vector<std::vector<std::uint16_t>> all;
  for (const auto& each : bit_maps) all.push_back(copied<std::uint16_t>(each));
  new (place) ReducedSpace(words_per_line, bits, std::move(lists),
                           {copied<std::uint64_t>(first), copied<std::uint32_t>(sources),
                            copied<std::uint32_t>(maps), copied<std::uint32_t>(terms)},
                           {copied<std::uint64_t>(held_first), copied<std::uint32_t>(held_maps),
                            copied<std::uint32_t>(held_terms)},
                           copied<std::uint32_t>(weights), all, reversible, isa_named(isa));
}

}  // namespace

void bind_reduced(nb::module_& m) {
  nb::class_<ReducedSpace, Space>(
      m, "ReducedSpace",
      "A space with a shard for each class of outer numbers under symmetries. digits: of the number of a "
      "line in its shard, (radix, terms, odd), the first most significant; terms: uint32, lists of `radix` "
      "summands of the source line, 2**31 where no line leads there; odd: of each value whether it is, empty "
      "where none is. Links, those of one shard after another: first: uint64, for each shard its first link, "
      "and their number; sources: uint32, the source shard; maps: uint32, index into bit_maps, of lines with "
      "an odd number of odd values its number ^ 1; terms: uint32, for each digit the number of the list. "
      "held_first, held_maps, held_terms: the same of the symmetries "
      "but the identity that keep a shard's outer number. weights: uint32, the number of states that each "
      "key of a shard "
      "stands for. bit_maps: uint16, for each key of a line that of the source "
      "line, 65535 where there is none. isa: empty for the best available. Raises ValueError.")
      .def("__init__", &make, "words_per_line"_a, "bits"_a, "digits"_a, "first"_a.noconvert(),
           "sources"_a.noconvert(), "maps"_a.noconvert(), "terms"_a.noconvert(), "held_first"_a.noconvert(),
           "held_maps"_a.noconvert(), "held_terms"_a.noconvert(), "weights"_a.noconvert(), "bit_maps"_a,
           "reversible"_a, "isa"_a = "");
}

}  // namespace farthest::python
