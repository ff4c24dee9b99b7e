#include "representatives.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>
#include <vector>

#include "buffers.hpp"

namespace farthest::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

void make(SharedRepresentatives* place, const std::vector<std::pair<std::uint64_t, bool>>& digits,
          const Array<const std::uint32_t>& told, const Array<const std::uint32_t>& moves) {
  std::vector<Representatives::Digit> made;
  for (const auto& [radix, moved] : digits) made.push_back({radix, moved});
  const auto classes = aligned<const std::uint32_t>(told), after = aligned<const std::uint32_t>(moves);
  new (place) SharedRepresentatives{std::make_shared<Representatives>(
      std::move(made), std::vector(classes.begin(), classes.end()), std::vector(after.begin(), after.end()))};
}

void entries_of(const SharedRepresentatives& of, const Array<const std::uint64_t>& keys,
                const Array<std::uint64_t>& out) {
  const auto all = aligned<const std::uint64_t>(keys);
  const auto entries = aligned<std::uint64_t>(out);
  if (all.size() != entries.size()) throw InvalidArgument("there must be an entry for each key");
  const nb::gil_scoped_release release;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] >= of.shared->keys()) throw InvalidArgument("there is no such key");
    entries[i] = of.shared->entry(all[i]);
  }
}

std::optional<Key> take(const SharedRepresentatives& of, Key first,
                        const Array<const std::uint8_t>& distances, const Array<std::uint8_t>& entries) {
  const nb::gil_scoped_release release;
  const Key wrong =
      of.shared->take(first, {distances.data(), distances.size()}, {entries.data(), entries.size()});
  return wrong == kNoKey ? std::nullopt : std::optional(wrong);
}

}  // namespace

void bind_representatives(nb::module_& m) {
  nb::class_<SharedRepresentatives>(
      m, "Representatives",
      "Where the distances of keys are that are kept by representatives. digits: (radix, whether it is of "
      "the "
      "moved side) of the key, the most significant first; both sides are numbers made of their digits. "
      "told: "
      "uint32, for each number of the reduced side 256 * its class + a symmetry. moves: uint32, flat, for "
      "each symmetry what it makes of each number of the moved side. The entry of a key is its class * the "
      "numbers of the moved side + the number that the symmetry makes. Raises ValueError.")
      .def("__init__", &make,
           nb::sig("def __init__(self, digits: Sequence[tuple[int, bool]], told: " BUFFER ", moves: " BUFFER
                   ") -> None"),
           "digits"_a, "told"_a.noconvert(), "moves"_a.noconvert())
      .def_ro_static("unset", &Representatives::kUnset, "What entries have before distances are taken.")
      .def_prop_ro(
          "keys", [](const SharedRepresentatives& of) { return of.shared->keys(); }, "Number of keys.")
      .def_prop_ro(
          "entries", [](const SharedRepresentatives& of) { return of.shared->entries(); },
          "Number of entries.")
      .def("entries_of", &entries_of,
           nb::sig("def entries_of(self, keys: " BUFFER ", out: " BUFFER ") -> None"), "keys"_a.noconvert(),
           "out"_a.noconvert(), "Writes the entry of each key, both uint64. Raises ValueError.")
      .def("take", &take,
           nb::sig("def take(self, first: int, distances: " BUFFER ", entries: " BUFFER ") -> int | None"),
           "first"_a, "distances"_a.noconvert(), "entries"_a.noconvert(),
           "Gives the distances of the keys from `first` on, uint8, to their entries. Returns the first key "
           "whose entry has another distance already, or None. Raises ValueError.");
}

}  // namespace farthest::python
