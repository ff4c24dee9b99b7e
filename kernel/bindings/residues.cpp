#include "residues.hpp"

#include <algorithm>

#include "buffers.hpp"
#include "farthest/residues.hpp"

namespace farthest::python {

using namespace nb::literals;

namespace {

// A map and the buffers that it looks into.
struct HeldMap {
  Array<const std::uint64_t> words;
  Array<const std::uint8_t> present, colours;
  Array<const std::uint64_t> origins;
  ResidueMap map;

  HeldMap(const ArrangementSpace& space, Array<const std::uint64_t> bits, Array<const std::uint8_t> pages,
          Array<const std::uint8_t> of_keys, bool low, Array<const std::uint64_t> at_zero)
      : words(std::move(bits)),
        present(std::move(pages)),
        colours(std::move(of_keys)),
        origins(std::move(at_zero)),
        map(space, aligned<const Word>(words), {present.data(), present.size()},
            {colours.data(), colours.size()}, low, aligned<const Key>(origins)) {}
};

void walk(const HeldMap& held, const Array<std::uint64_t>& keys, const Array<std::int32_t>& steps,
          const Array<std::uint8_t>& ends, const Array<std::uint64_t>& pages, int most, int threads) {
  const auto places = aligned<Key>(keys);
  const auto counts = aligned<std::int32_t>(steps);
  const auto missing = aligned<std::uint64_t>(pages);
  auto* reasons = reinterpret_cast<ResidueMap::End*>(ends.data());
  const std::size_t reasons_size = ends.size();
  const nb::gil_scoped_release release;
  held.map.walk(places, counts, {reasons, reasons_size}, missing, most, std::max(threads, 1));
}

void expand(const HeldMap& held, const nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu>& out, int most,
            int threads) {
  const auto run = [&]<class Distance>(Distance) {
    const std::span<Distance> span = aligned<Distance>(out);
    const nb::gil_scoped_release release;
    held.map.expand(span, most, std::max(threads, 1));
  };
  if (out.dtype() == nb::dtype<std::uint8_t>()) return run(std::uint8_t{});
  if (out.dtype() == nb::dtype<std::uint16_t>()) return run(std::uint16_t{});
  throw InvalidArgument("distances must be uint8 or uint16");
}

}  // namespace

void bind_residues(nb::module_& m) {
  nb::class_<HeldMap>(
      m, "ResidueMap",
      "A residue map over an arrangement space: words uint64, present uint8 (one a page of 4096 bytes, 0 "
      "where "
      "its words are not there), colours uint8 of equally long ranges of keys (none: modulo 3), low: the bit "
      "says 0 or 1 and not 2 or 3, origins: keys uint64, ascending. The arrays are the caller's, kept alive. "
      "Raises ValueError.")
      .def(nb::init<const ArrangementSpace&, Array<const std::uint64_t>, Array<const std::uint8_t>,
                    Array<const std::uint8_t>, bool, Array<const std::uint64_t>>(),
           nb::sig("def __init__(self, space: ArrangementSpace, words: " BUFFER ", present: " BUFFER
                   ", colours: " BUFFER ", low: bool, origins: " BUFFER ") -> None"),
           "space"_a, "words"_a.noconvert(), "present"_a.noconvert(), "colours"_a.noconvert(), "low"_a,
           "origins"_a.noconvert(), nb::keep_alive<1, 2>())
      .def("walk", &walk,
           nb::sig("def walk(self, keys: " BUFFER ", steps: " BUFFER ", ends: " BUFFER ", pages: " BUFFER
                   ", most: int, threads: int = 1) -> None"),
           "keys"_a.noconvert(), "steps"_a.noconvert(), "ends"_a.noconvert(), "pages"_a.noconvert(), "most"_a,
           "threads"_a = 1,
           "Walks from keys (uint64) to nearer neighbours and adds to steps (int32); keys are then where the "
           "walks ended. ends (uint8): 0 the page in pages (uint64) is not there, 1 an origin, 2 no nearer "
           "neighbour, 3 more than `most` steps. Raises ValueError.")
      .def("expand", &expand,
           nb::sig("def expand(self, out: " BUFFER ", most: int, threads: int = 1) -> None"),
           "out"_a.noconvert(), "most"_a, "threads"_a = 1,
           "Writes the distances of all keys, up to `most`, as uint8 or uint16; the greatest number of the "
           "type "
           "where there is none. All pages must be there. Raises ValueError.");
}

}  // namespace farthest::python
