// What threads that help with a search gain.
#ifndef DPCACHE_BENCH_PEERS_THREADS_H_
#define DPCACHE_BENCH_PEERS_THREADS_H_

#include <cstddef>

namespace peers {

// Searches of one memory by 1 to `most` threads in turns, on the wall clock: scattered keys and
// queries, of which none is certain before the codes are scanned. Prints a line each.
void run_threads(std::size_t dimension, std::size_t slots, std::size_t most);

}  // namespace peers

#endif  // DPCACHE_BENCH_PEERS_THREADS_H_
