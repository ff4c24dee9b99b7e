// Splitting work among threads that live for one call. (A pool that outlived the call would be lost, and hang
// its callers, in a process forked later.)
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace farthest {

// Starting a thread costs about as much as stepping some hundred lines.
inline int useful_threads(std::uint64_t lines, int threads) {
  constexpr std::uint64_t kLinesPerThread = 512;
  return static_cast<int>(
      std::clamp<std::uint64_t>(lines / kLinesPerThread, 1, static_cast<std::uint64_t>(threads)));
}

// Calls work(0) .. work(pieces - 1), each once, in any order. Rethrows the first exception.
template <class Work>
void in_parallel(std::uint64_t pieces, int threads, Work work) {
  std::atomic<std::uint64_t> next{0};
  std::exception_ptr failure;
  std::mutex failing;
  const auto run = [&] {
    try {
      for (std::uint64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < pieces;) work(i);
    } catch (...) {
      const std::lock_guard lock(failing);
      if (!failure) failure = std::current_exception();
      next = pieces;
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (int i = 1; i < threads && static_cast<std::uint64_t>(i) < pieces; ++i) others.emplace_back(run);
    } catch (const std::system_error&) {
      // The system has no more threads to give; fewer do the same work.
    }
    run();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace farthest
