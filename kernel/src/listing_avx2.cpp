#include "listing_lines.hpp"

namespace farthest {

ListingBackend avx2_listing() { return {expand_root, search, flush}; }

}  // namespace farthest
