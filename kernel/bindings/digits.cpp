#include "farthest/digits.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "digits.hpp"

namespace farthest::python {

using namespace nb::literals;

namespace {

using DigitMoveArgs = std::pair<std::uint64_t, int>;

void make_lamps(LampExpander* place, int radix, int digits, const std::vector<DigitMoveArgs>& moves) {
  std::vector<DigitMove> made;
  for (const auto& [changed, added] : moves) made.push_back({changed, added});
  new (place) LampExpander(radix, digits, std::move(made));
}

}  // namespace

void bind_digits(nb::module_& m) {
  nb::class_<DigitExpander, Expander>(
      m, "DigitExpander", "Successors of keys that are numbers in one radix, digit 0 the lowest.");
  nb::class_<LampExpander, DigitExpander>(
      m, "LampExpander",
      "Moves that can always be made. moves: (changed, added): adds `added` to each digit of the bit mask, "
      "modulo the radix. Raises ValueError.")
      .def("__init__", &make_lamps, "radix"_a, "digits"_a, "moves"_a);
  nb::class_<DiscExpander, DigitExpander>(
      m, "DiscExpander",
      "The tower of Hanoi: digit i is the peg of disc i, disc 0 the smallest. arcs: pegs that a disc may be "
      "taken from and put on. Raises ValueError.")
      .def(nb::init<int, int, std::vector<DiscExpander::Arc>>(), "pegs"_a, "discs"_a, "arcs"_a);
}

}  // namespace farthest::python
