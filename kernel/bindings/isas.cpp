#include "isas.hpp"

#include <algorithm>
#include <utility>

#include "farthest/types.hpp"

namespace farthest::python {
namespace {

const std::vector<std::pair<Isa, std::string>>& isa_names() {
  static const std::vector<std::pair<Isa, std::string>> names{
      {Isa::portable, "portable"}, {Isa::avx2, "avx2"}, {Isa::avx512, "avx512"}};
  return names;
}

}  // namespace

std::vector<std::string> isas() {
  std::vector<std::string> out;
  for (const auto isa : available_isas())
    for (const auto& [value, name] : isa_names())
      if (value == isa) out.push_back(name);
  return out;
}

Isa isa_named(const std::string& wanted) {
  const auto available = available_isas();
  if (wanted.empty()) return available.back();
  for (const auto& [value, name] : isa_names())
    if (name == wanted && std::ranges::find(available, value) != available.end()) return value;
  throw InvalidArgument("this processor has no instruction set '" + wanted + "'");
}

}  // namespace farthest::python
