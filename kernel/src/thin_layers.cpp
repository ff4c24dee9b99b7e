#include "farthest/thin_layers.hpp"

#include <algorithm>
#include <bit>

#include "packed_words.hpp"
#include "radix.hpp"

namespace farthest {
namespace {

// All codes, in the order in which they came, and where each is by its hash.
template <class Code>
class KnownCodes {
 public:
  // Whether the code is a new one.
  bool add(const Code& code) {
    if (2 * codes_.size() >= table_.size()) grow();
    std::uint32_t& place = place_of(code);
    if (place != 0) return false;
    codes_.push_back(code);
    place = static_cast<std::uint32_t>(codes_.size());
    return true;
  }

  std::size_t size() const { return codes_.size(); }
  std::span<const Code> from(std::size_t first) const { return std::span(codes_).subspan(first); }

 private:
  std::uint32_t& place_of(const Code& code) {
    std::uint64_t hash = 0;
    for (std::size_t word = 0; word < sizeof(Code) / sizeof(Key); ++word)
      hash = (hash ^ word_of(code, word) ^ hash >> 32) * 0xD6E8FEB86659FD93;
    std::size_t at = hash >> (64 - std::countr_zero(table_.size()));
    for (std::uint32_t held; (held = table_[at]) != 0; at = (at + 1) & (table_.size() - 1))
      if (equal(codes_[held - 1], code)) break;
    return table_[at];
  }

  void grow() {
    table_.assign(std::max<std::size_t>(256, 2 * table_.size()), 0);
    for (std::size_t i = 0; i < codes_.size(); ++i) place_of(codes_[i]) = static_cast<std::uint32_t>(i + 1);
  }

  std::vector<Code> codes_;
  std::vector<std::uint32_t> table_;  // by hash: the place of a code, and one; 0: none
};

}  // namespace

ThinLayers thin_layers(const Expander& expander, const std::vector<Bytes>& last,
                       const std::vector<Bytes>& older, std::size_t width, Key keys, ThinLimits limits) {
  return with_code(width, [&]<class Code>(Code) -> ThinLayers {
    const ExpanderOf<Code>& of_codes = expander_of<Code>(expander, width);
    auto sort = [other = std::vector<Code>()](std::span<Code> codes) mutable {
      radix_sort(codes, other, sizeof(Code) / sizeof(Key),
                 [](auto& code, std::size_t word) { return word_of(code, word); });
    };
    KnownCodes<Code> known;
    std::vector<Code> before, found;
    for (const Bytes run : last)
      for (const Code& code : decode_run<Code>(run, width)) before.push_back(code);
    for (const Code& code : before) known.add(code);
    for (const Bytes run : older)
      for (RunReader<Code> reader(run, width); reader.left() != 0; reader.advance()) known.add(reader.head());
    const std::size_t first = known.size();
    ThinLayers thin;
    while (thin.layers.size() < limits.layers && known.size() - first < limits.states) {
      const std::size_t begin = known.size();
      found.clear();
      of_codes.successors(before, found);
      if constexpr (std::is_same_v<Code, Key>)
        if (keys != 0 && std::ranges::any_of(found, [&](Key key) { return key >= keys; }))
          throw InvalidArgument("a successor is no key of the space");
      sort(found);
      for (const Code& code : found) known.add(code);
      const std::span<const Code> layer = known.from(begin);
      thin.layers.push_back({layer.size(), encode_run<Code>(layer, width)});
      if (layer.empty() || layer.size() > limits.wide) break;
      before.assign(layer.begin(), layer.end());
    }
    found.assign(known.from(first).begin(), known.from(first).end());
    sort(found);
    thin.all = {found.size(), encode_run<Code>(found, width)};
    return thin;
  });
}

}  // namespace farthest
