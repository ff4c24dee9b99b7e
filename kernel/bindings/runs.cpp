#include "runs.hpp"

#include <algorithm>

#include "buffers.hpp"
#include "codes.hpp"
#include "farthest/expansion.hpp"

namespace farthest::python {

using namespace nb::literals;

namespace {

nb::bytes expand_codes(const Expander& expander, nb::handle codes, int threads) {
  const ByteView view(codes);
  std::vector<Key> successors;
  {
    const nb::gil_scoped_release release;
    successors = expand(expander, keys_from(view.bytes()), std::max(threads, 1));
  }
  return bytes_of(successors);
}

}  // namespace

void bind_runs(nb::module_& m) {
  nb::class_<Expander>(m, "Expander", "Gives the successors of 64-bit codes; each family has its own.");
  m.def(
      "expand_codes", &expand_codes,
      nb::sig("def expand_codes(expander: Expander, codes: " BUFFER ", threads: int = 1) -> bytes"),
      "expander"_a, "codes"_a, "threads"_a = 1,
      "The codes (uint64, little endian) of all successors of `codes`; they may repeat. Raises ValueError.");
}

}  // namespace farthest::python
