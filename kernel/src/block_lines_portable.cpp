#include "block_lines_expand.hpp"

namespace farthest {
namespace {

class PortablePlaces {
 public:
  explicit PortablePlaces(SlotMask free) {
    for (std::size_t count = 0; free != 0; free &= free - 1, ++count) {
      anchors_[count] = free & -free;
      sets_[lowest(free)] = static_cast<std::uint16_t>(1u << count);
    }
  }
  SlotMask set(SlotMask anchors) const {
    SlotMask found = 0;
    for (; anchors != 0; anchors &= anchors - 1) found |= sets_[lowest(anchors)];
    return found;
  }
  SlotMask anchors(SlotMask set) const {
    SlotMask found = 0;
    for (; set != 0; set &= set - 1) found |= anchors_[lowest(set)];
    return found;
  }

 private:
  SlotMask anchors_[kMostFree];
  std::uint16_t sets_[kMaxSlots];
};

}  // namespace

ExpandFrame portable_block_lines() { return &expand_frame<PortablePlaces>; }

}  // namespace farthest
