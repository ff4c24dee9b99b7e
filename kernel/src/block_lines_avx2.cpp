#include <immintrin.h>

#include "block_lines_expand.hpp"

namespace farthest {
namespace {

class Bmi2Places {
 public:
  explicit Bmi2Places(SlotMask free) : free_(free) {}
  SlotMask set(SlotMask anchors) const { return _pext_u64(anchors, free_); }
  SlotMask anchors(SlotMask set) const { return _pdep_u64(set, free_); }

 private:
  SlotMask free_;
};

}  // namespace

ExpandFrame avx2_block_lines() { return &expand_frame<Bmi2Places>; }

}  // namespace farthest
