#include "farthest/distance_table.hpp"

#include <bit>
#include <utility>

namespace farthest {

DistanceTable::DistanceTable(std::span<const std::uint8_t> bytes, Key entries, Form form,
                             std::shared_ptr<const Representatives> representatives)
    : data_(bytes.data()), entries_(entries), base_(form.base), representatives_(std::move(representatives)) {
  if (form.bits != 2 && form.bits != 4 && form.bits != 8)
    throw InvalidArgument("a distance must have 2, 4 or 8 bits");
  if (form.base < 0 || form.base > (1 << 16)) throw InvalidArgument("the base must be 0 to 65536");
  const auto bits = static_cast<Key>(form.bits), together = 8 / bits;
  if (bytes.size() != entries / together + (entries % together != 0 ? 1 : 0) ||
      (representatives_ && representatives_->entries() != entries))
    throw InvalidArgument("a table must have a distance for each entry");
  mask_ = together - 1;
  log_bits_ = std::countr_zero(bits);
  log_entries_ = std::countr_zero(together);
  top_ = (1 << form.bits) - 1;
  top_value_ = form.never ? kUnreachable : base_ + top_;
}

}  // namespace farthest
