// Insert-if-novel streams: search, then add what is unlike everything so far.
#ifndef DPCACHE_BENCH_PEERS_STREAM_H_
#define DPCACHE_BENCH_PEERS_STREAM_H_

#include <cstddef>
#include <vector>

#include "peers.h"

namespace peers {

// Distinct items, each four times in random order, each time with noise of cosine .96 (so that two
// sights of one are .92 alike; tau .15). Every `every`-th chunk of 256 items is measured, all
// contenders in turns; the slots that the others open are only brought. Prints a line each.
void run_stream(std::size_t dimension, std::size_t distinct, std::size_t every, std::size_t rounds,
                const std::vector<Peer>& all);

// Repeats of the slots of memories that grow by sqrt 10: whether an item's time grows slower than
// sqrt N.
void run_growth(std::size_t dimension);

}  // namespace peers

#endif  // DPCACHE_BENCH_PEERS_STREAM_H_
