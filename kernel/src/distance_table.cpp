#include "farthest/distance_table.hpp"

#include <bit>
#include <utility>

namespace farthest {

static constexpr int kMostShared = 1024;

DistanceTable::DistanceTable(std::span<const std::uint8_t> bytes, Key entries, Form form,
                             std::shared_ptr<const Representatives> representatives)
    : data_(bytes.data()), entries_(entries), base_(form.base), representatives_(std::move(representatives)) {
  if (form.bits != 1 && form.bits != 2 && form.bits != 4 && form.bits != 8)
    throw InvalidArgument("a distance must have 1, 2, 4 or 8 bits");
  if (form.base < 0 || form.base > (1 << 16)) throw InvalidArgument("the base must be 0 to 65536");
  if (form.shared < 1 || form.shared > kMostShared || (form.shared & (form.shared - 1)) != 0)
    throw InvalidArgument("so many entries cannot share a number: 1, 2, 4, ... 1024");
  const auto bits = static_cast<Key>(form.bits), together = 8 / bits;
  const Key in_byte = together * static_cast<Key>(form.shared);
  if (bytes.size() != entries / in_byte + (entries % in_byte != 0 ? 1 : 0) ||
      (representatives_ && representatives_->entries() != entries))
    throw InvalidArgument("a table must have a distance for each entry");
  mask_ = together - 1;
  log_bits_ = std::countr_zero(bits);
  log_shared_ = std::countr_zero(static_cast<unsigned>(form.shared));
  log_entries_ = std::countr_zero(in_byte);
  top_ = (1 << form.bits) - 1;
  top_value_ = form.never ? kUnreachable : base_ + top_;
}

}  // namespace farthest
