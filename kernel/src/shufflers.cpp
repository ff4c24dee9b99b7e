#include "shufflers.hpp"

namespace farthest {
namespace {

const Backend& backend_for(Isa isa, int bits) {
#ifdef FARTHEST_X86
  if (isa == Isa::avx512) return avx512_backend();
  if (isa == Isa::avx2) return avx2_backend(bits);
#else
  static_cast<void>(isa), static_cast<void>(bits);
#endif
  return portable_backend();
}

}  // namespace

std::vector<Isa> available_isas() {
  std::vector<Isa> isas{Isa::portable};
#ifdef FARTHEST_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt")) {
    isas.push_back(Isa::avx2);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bitalg") &&
        __builtin_cpu_supports("avx512vpopcntdq"))
      isas.push_back(Isa::avx512);
  }
#endif
  return isas;
}

Shufflers::Shufflers(Isa isa, int bits, const std::vector<BitMap>& maps) : backend_(backend_for(isa, bits)) {
  if (maps.empty()) return;
  memory_ = ::operator new(maps.size() * backend_.bytes, std::align_val_t{backend_.align});
  for (std::size_t i = 0; i < maps.size(); ++i)
    backend_.make(static_cast<char*>(memory_) + i * backend_.bytes, maps[i]);
}

Shufflers::~Shufflers() {
  if (memory_ != nullptr) ::operator delete(memory_, std::align_val_t{backend_.align});
}

}  // namespace farthest
