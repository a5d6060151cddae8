// Rounds of the same queries, with more threads and fewer.
#include "threads.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "clock.h"
#include "data.h"
#include "dpcache_index.h"

namespace peers {

namespace {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Shape {
  std::size_t batch;
  std::size_t k;
  std::size_t count;  // queries a round
};

}  // namespace

void run_threads(std::size_t dimension, std::size_t slots, std::size_t most) {
  constexpr std::size_t kQueries = 1024;
  constexpr std::size_t kRounds = 9;
  const Vectors keys = scattered(slots, dimension, 7);
  const Vectors queries = scattered(kQueries, dimension, 8);
  DpcacheIndex index(dimension, slots);
  index.add(keys.data.data(), slots);
  index.settle();
  for (const Shape shape :
       {Shape{1, 1, 64}, Shape{kQueries, 1, kQueries}, Shape{kQueries, 10, kQueries}}) {
    std::vector<std::vector<double>> times(most);
    std::vector<Hit> first(kQueries * shape.k);
    std::size_t wrong = 0;
    for (std::size_t round = 0; round <= kRounds; ++round) {
      for (std::size_t turn = 0; turn < most; ++turn) {
        const std::size_t threads = (round + turn) % most;
        if (!dpcache::use_threads(threads + 1)) std::abort();
        std::vector<Hit> hits(kQueries * shape.k);
        const double start = wall_seconds();
        for (std::size_t i = 0; i < shape.count; i += shape.batch) {
          index.search(queries.row(i), shape.batch, shape.k, hits.data() + i * shape.k);
        }
        const double took = wall_seconds() - start;
        if (round == 0 && turn == 0) first = hits;
        for (std::size_t i = 0; i < hits.size(); ++i) {
          wrong += hits[i].row != first[i].row || hits[i].similarity != first[i].similarity;
        }
        if (round > 0) times[threads].push_back(took / static_cast<double>(shape.count) * 1e6);
      }
    }
    for (std::size_t threads = 0; threads < most; ++threads) {
      std::printf(
          "{\"section\": \"threads\", \"d\": %zu, \"n\": %zu, \"batch\": %zu, \"k\": %zu, "
          "\"threads\": %zu, \"us\": %.3f, \"wrong\": %zu}\n",
          dimension, slots, shape.batch, shape.k, threads + 1, median(times[threads]), wrong);
    }
  }
  std::fflush(stdout);
}

}  // namespace peers
