// Maps kept by representatives.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "farthest/representatives.hpp"

namespace farthest::python {

// Maps that are searched share it with its Python object.
struct SharedRepresentatives {
  std::shared_ptr<const Representatives> shared;
};

void bind_representatives(nanobind::module_& m);

}  // namespace farthest::python
