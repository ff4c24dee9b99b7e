// Buffers that come in from Python: numpy arrays, memoryviews, bytes; C-contiguous, one-dimensional.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>

#include "farthest/types.hpp"

namespace farthest::python {

namespace nb = nanobind;

template <class T>
using Array = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
// In signatures: any object with a buffer. (Before Python 3.12 numpy does not declare its arrays as buffers.)
#define BUFFER "typing_extensions.Buffer | numpy.typing.NDArray[typing.Any]"
// Buffers of Python may begin anywhere.
template <class Element, class Buffer>
std::span<Element> aligned(const Buffer& buffer) {
  const void* data = buffer.data();
  if (buffer.size() != 0 && reinterpret_cast<std::uintptr_t>(data) % alignof(Element) != 0)
    throw InvalidArgument("a buffer must begin at a multiple of its element's size");
  return {static_cast<Element*>(const_cast<void*>(data)), buffer.size()};
}

}  // namespace farthest::python
