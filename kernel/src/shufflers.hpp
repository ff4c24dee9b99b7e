// A space's bit maps, prepared for the inner loop of one instruction set.
#pragma once

#include <new>

#include "farthest/isa.hpp"
#include "step_lines.hpp"

namespace farthest {

class Shufflers {
 public:
  // isa: one of available_isas(). bits: Layout::bits(), of the words that are shuffled.
  Shufflers(Isa isa, int bits, const std::vector<BitMap>& maps);
  ~Shufflers();
  Shufflers(const Shufflers&) = delete;
  Shufflers& operator=(const Shufflers&) = delete;

  const void* data() const { return memory_; }
  StepLines run() const { return backend_.run; }
  PullProgram pull() const { return backend_.pull; }

 private:
  const Backend& backend_;
  void* memory_ = nullptr;
};

}  // namespace farthest
