#include "parallel.hpp"

#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace farthest {

void run_in_threads(Handout& pieces, int threads, void (*run)(Handout&, const void*), const void* work) {
  std::exception_ptr failure;
  std::mutex failing;
  const auto guarded = [&] {
    try {
      run(pieces, work);
    } catch (...) {
      const std::lock_guard lock(failing);
      if (!failure) failure = std::current_exception();
      pieces.next = pieces.count;
    }
  };
  // Not std::jthread, which the library of some Clangs has not.
  std::vector<std::thread> others;
  try {
    for (int i = 1; i < threads && static_cast<std::uint64_t>(i) < pieces.count; ++i)
      others.emplace_back(guarded);
  } catch (const std::system_error&) {
    // The system has no more threads to give; fewer do the same work.
  }
  guarded();
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace farthest
