#include "distance_table.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

namespace farthest::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

void make_representatives(SharedRepresentatives* place,
                          const std::vector<std::pair<std::uint64_t, std::size_t>>& digits, Key entries,
                          const Array<const std::uint64_t>& first, const Array<const std::uint32_t>& lists,
                          const Array<const std::uint32_t>& added,
                          const std::vector<Array<const std::uint32_t>>& terms) {
  std::vector<Representatives::Digit> made;
  for (const auto& [radix, side] : digits) made.push_back({radix, side});
  std::vector<std::vector<std::uint32_t>> sides;
  for (const auto& each : terms) {
    const auto list = aligned<const std::uint32_t>(each);
    sides.emplace_back(list.begin(), list.end());
  }
  new (place) SharedRepresentatives{std::make_shared<Representatives>(
      std::move(made), entries, aligned<const std::uint64_t>(first), aligned<const std::uint32_t>(lists),
      aligned<const std::uint32_t>(added), std::move(sides))};
}

void make_distances(KeptTable* place, Array<const std::uint8_t> bytes, Key entries, int bits, int base,
                    bool never, const SharedRepresentatives* representatives, int shared) {
  DistanceTable table({bytes.data(), bytes.size()}, entries, {bits, base, never, shared},
                      representatives != nullptr ? representatives->shared : nullptr);
  new (place) KeptTable{std::move(table), std::move(bytes)};
}

void bounds_of(const KeptTable& of, const Array<const std::uint64_t>& keys, const Array<std::int32_t>& out) {
  const auto all = aligned<const std::uint64_t>(keys);
  const auto found = aligned<std::int32_t>(out);
  if (all.size() != found.size()) throw InvalidArgument("there must be room for the bound of each key");
  const nb::gil_scoped_release release;
  for (std::size_t i = 0; i < all.size(); ++i)
    found[i] = all[i] < of.table.keys() ? of.table.bound(of.table.entry(all[i])) : kUnreachable;
}

}  // namespace

void bind_distance_table(nb::module_& m) {
  nb::class_<SharedRepresentatives>(
      m, "Representatives",
      "Where keys have their entries in a table by representatives. digits: (radix, side) of the key, the "
      "most "
      "significant first; a side's number is made of its digits. first: uint64, by number of side 0; lists: "
      "uint32, by number of side 0 and other side, flat; added: uint32, by number of side 0; terms: for each "
      "other "
      "side uint32, by list and number, flat. The entry is the first of side 0, and for each other side the "
      "term of "
      "its number in the list, with the bits `added` exchanged. Raises ValueError.")
      .def("__init__", &make_representatives,
           nb::sig("def __init__(self, digits: Sequence[tuple[int, int]], entries: int, first: " BUFFER
                   ", lists: " BUFFER ", added: " BUFFER ", terms: Sequence[" BUFFER "]) -> None"),
           "digits"_a, "entries"_a, "first"_a.noconvert(), "lists"_a.noconvert(), "added"_a.noconvert(),
           "terms"_a)
      .def_prop_ro(
          "keys", [](const SharedRepresentatives& of) { return of.shared->keys(); }, "Number of keys.")
      .def_prop_ro(
          "entries", [](const SharedRepresentatives& of) { return of.shared->entries(); },
          "Number of entries.");
  nb::class_<KeptTable>(
      m, "DistanceTable",
      "Distances that searches look up: the caller's memory, kept alive. entries: how many, of 1, 2, 4 or 8 "
      "`bits`, "
      "from the low bits of a byte on. A number n stands for the distance base + n; 0 for all up to the "
      "base, the "
      "greatest number for all from there on, or where `never` for keys from which no goal can be reached. "
      "representatives: give the entries of keys; None: the entry is the key. shared: 1, 2, 4, ... 1024 "
      "entries "
      "that follow one another have one number, of the least distance. Raises ValueError.")
      .def(
          "__init__", &make_distances,
          nb::sig(
              "def __init__(self, bytes: " BUFFER ", entries: int, bits: int = 8, base: int = 0, "
              "never: bool = True, representatives: Representatives | None = None, shared: int = 1) -> None"),
          "bytes"_a.noconvert(), "entries"_a, "bits"_a = 8, "base"_a = 0, "never"_a = true,
          "representatives"_a.none() = nb::none(), "shared"_a = 1)
      .def_prop_ro(
          "keys", [](const KeptTable& of) { return of.table.keys(); }, "Number of keys.")
      .def_prop_ro(
          "entry_is_key", [](const KeptTable& of) { return of.table.representatives() == nullptr; },
          "Whether it is not one by representatives.")
      .def("bounds", &bounds_of, nb::sig("def bounds(self, keys: " BUFFER ", out: " BUFFER ") -> None"),
           "keys"_a.noconvert(), "out"_a.noconvert(),
           "Writes for each key, uint64, what its distance is at the least, int32: 0 where that is not "
           "known; 2**28 "
           "where no goal can be reached, and where there is no such key. Raises ValueError.");
}

}  // namespace farthest::python
