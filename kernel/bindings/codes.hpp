// Codes of states as they come from Python and go back: any object with a contiguous buffer, and bytes.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "farthest/types.hpp"

namespace farthest::python {

namespace nb = nanobind;

// The bytes of a contiguous buffer of any kind of items; TypeError where there is none.
class ByteView {
 public:
  explicit ByteView(nb::handle object) : ByteView(object, PyBUF_SIMPLE) {}
  ByteView(const ByteView&) = delete;
  ByteView& operator=(const ByteView&) = delete;
  ~ByteView() { PyBuffer_Release(&buffer_); }

  std::span<const std::uint8_t> bytes() const {
    return {static_cast<const std::uint8_t*>(buffer_.buf), static_cast<std::size_t>(buffer_.len)};
  }

 protected:
  ByteView(nb::handle object, int flags) {
    if (PyObject_GetBuffer(object.ptr(), &buffer_, flags) != 0) nb::raise_python_error();
  }

  Py_buffer buffer_{};
};

// The same of a buffer that can be written to; BufferError where there is none such.
class WritableByteView : public ByteView {
 public:
  explicit WritableByteView(nb::handle object) : ByteView(object, PyBUF_WRITABLE) {}

  std::span<std::uint8_t> bytes() const {
    return {static_cast<std::uint8_t*>(buffer_.buf), static_cast<std::size_t>(buffer_.len)};
  }
};

}  // namespace farthest::python
