// Tables that searches look distances up in, and the representatives that these may be of.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "buffers.hpp"
#include "farthest/distance_table.hpp"

namespace farthest::python {

// Tables share it with its Python object.
struct SharedRepresentatives {
  std::shared_ptr<const Representatives> shared;
};

// A table and the buffer that it looks into.
struct KeptTable {
  DistanceTable table;
  Array<const std::uint8_t> bytes;
};

void bind_distance_table(nanobind::module_& m);

}  // namespace farthest::python
