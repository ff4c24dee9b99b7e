#include "farthest/pages.hpp"

#include <sys/mman.h>

#include <new>

namespace farthest {

namespace {

constexpr std::size_t kHugePage = std::size_t{1} << 21;

}  // namespace

Pages::Pages(std::size_t size) : size_(size), mapped_(size + kHugePage), mapping_(MAP_FAILED) {
  if (mapped_ > size)
    mapping_ = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping_ == MAP_FAILED) throw std::bad_alloc();
  const auto begin = reinterpret_cast<std::uintptr_t>(mapping_);
  data_ = static_cast<std::uint8_t*>(mapping_) + (kHugePage - begin % kHugePage) % kHugePage;
#ifdef MADV_HUGEPAGE
  ::madvise(data_, size_, MADV_HUGEPAGE);  // a wish: small pages do as well
#endif
}

Pages::~Pages() { ::munmap(mapping_, mapped_); }

}  // namespace farthest
