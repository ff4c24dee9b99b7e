// Memory for large tables that are read here and there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace farthest {

// Zeros, on huge pages where the system has them: a look-up then seldom waits for the address besides the
// data.
class Pages {
 public:
  // Throws std::bad_alloc.
  explicit Pages(std::size_t size);
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages();

  std::span<std::uint8_t> bytes() const { return {data_, size_}; }

 private:
  std::size_t size_;
  std::size_t mapped_;
  void* mapping_;
  std::uint8_t* data_;
};

}  // namespace farthest
