#include "listing_lines.hpp"

namespace farthest {

ListingBackend portable_listing() { return {expand_root, search, flush}; }

}  // namespace farthest
