// Splitting work among threads that live for one call. (A pool that outlived the call would be lost, and hang
// its callers, in a process forked later.)
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace farthest {

// Starting a thread costs about as much as stepping some hundred lines.
inline constexpr std::uint64_t kLinesPerThread = 512;

inline int useful_threads(std::uint64_t work, int threads, std::uint64_t per_thread = kLinesPerThread) {
  return static_cast<int>(
      std::clamp<std::uint64_t>(work / per_thread, 1, static_cast<std::uint64_t>(threads)));
}

// The pieces of one call of in_parallel(), handed out to its threads.
struct Handout {
  std::uint64_t count;
  std::atomic<std::uint64_t> next{0};
};

// Calls run(pieces, work) in this thread and in others, `threads` together, fewer where there are fewer
// pieces. Rethrows the first exception, after which no more pieces are handed out.
void run_in_threads(Handout& pieces, int threads, void (*run)(Handout& pieces, const void* work),
                    const void* work);

// Calls work(0) .. work(pieces - 1), each once, in any order. Rethrows the first exception. What is compiled
// for each work is the loop alone; threads and exceptions are in parallel.cpp.
template <class Work>
void in_parallel(std::uint64_t count, int threads, const Work& work) {
  Handout pieces{count};
  run_in_threads(
      pieces, threads,
      [](Handout& all, const void* one) {
        for (std::uint64_t i; (i = all.next.fetch_add(1, std::memory_order_relaxed)) < all.count;)
          (*static_cast<const Work*>(one))(i);
      },
      &work);
}

}  // namespace farthest
