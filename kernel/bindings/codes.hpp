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
  explicit ByteView(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_SIMPLE) != 0) nb::raise_python_error();
  }
  ByteView(const ByteView&) = delete;
  ByteView& operator=(const ByteView&) = delete;
  ~ByteView() { PyBuffer_Release(&buffer_); }

  std::span<const std::uint8_t> bytes() const {
    return {static_cast<const std::uint8_t*>(buffer_.buf), static_cast<std::size_t>(buffer_.len)};
  }

 private:
  Py_buffer buffer_{};
};

// 64-bit codes, little endian, from bytes that may begin anywhere.
inline std::vector<Key> keys_from(std::span<const std::uint8_t> bytes) {
  if (bytes.size() % sizeof(Key) != 0) throw InvalidArgument("codes must have 8 bytes each");
  std::vector<Key> keys(bytes.size() / sizeof(Key));
  if (!keys.empty()) std::memcpy(keys.data(), bytes.data(), bytes.size());
  return keys;
}

inline nb::bytes bytes_of(std::span<const Key> keys) {
  return nb::bytes(keys.data(), keys.size() * sizeof(Key));
}

}  // namespace farthest::python
