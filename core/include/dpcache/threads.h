// Threads that help with large searches.
#ifndef DPCACHE_THREADS_H_
#define DPCACHE_THREADS_H_

#include <cstddef>

#include "dpcache/error.h"

namespace dpcache {

inline constexpr std::size_t kMostThreads = 256;

// How many threads search a large memory together, or for a batch, the calling one among them. 1 at
// first: the library starts no thread. Answers and decisions are the same with any number. For all
// caches of the process; where several threads search at once, one of them has the helpers and the
// others search alone, so a server that has a thread for each request gains nothing. bad_config: 0,
// or above kMostThreads; full: the system starts no more threads, and there is one again. Has no
// effect in WebAssembly. Thread rule: from any thread; waits for a search that is being helped.
Status use_threads(std::size_t threads);

}  // namespace dpcache

#endif  // DPCACHE_THREADS_H_
