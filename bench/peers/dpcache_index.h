// dpcache, seen as the others are: through its public calls alone.
#ifndef DPCACHE_BENCH_PEERS_DPCACHE_INDEX_H_
#define DPCACHE_BENCH_PEERS_DPCACHE_INDEX_H_

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <utility>
#include <vector>

#include "dpcache/dpcache.h"
#include "peers.h"

namespace peers {

// In a benchmark nothing may fail.
template <typename Result>
auto checked(Result&& result) {
  if (!result) {
    std::cerr << "dpcache refused what it was given\n";
    std::abort();
  }
  return *std::forward<Result>(result);
}

inline dpcache::Cache make_cache(std::size_t dimension, float tau) {
  dpcache::Config config;
  config.dimension = static_cast<std::uint32_t>(dimension);
  config.tau = tau;
  auto cache = dpcache::Cache::create(config);
  if (!cache) std::abort();
  return std::move(*cache);
}

// Replays an allocation, which makes no decision.
inline void open_slot(dpcache::Cache& cache, const float* key) {
  const dpcache::Stats stats = cache.stats();
  dpcache::Event event;
  event.seq = stats.seq + 1;
  event.item.key = std::span(key, cache.config().dimension);
  event.decision.slot = stats.next_id;
  if (!cache.apply(event)) {
    std::cerr << "dpcache refused a key\n";
    std::abort();
  }
}

// Takes keys as a stream brings them: how far a slot is from the others is found when it opens.
// opened: whether each has opened a slot.
inline std::vector<bool> take_in(dpcache::Cache& cache, const float* keys, std::size_t count) {
  constexpr std::size_t kBatch = 256;
  const std::size_t dimension = cache.config().dimension;
  std::vector<bool> opened;
  for (std::size_t begin = 0; begin < count; begin += kBatch) {
    std::vector<dpcache::Item> items(std::min(kBatch, count - begin));
    for (std::size_t i = 0; i < items.size(); ++i) {
      items[i].key = std::span(keys + (begin + i) * dimension, dimension);
    }
    const dpcache::BatchResult result = cache.observe_batch(items);
    if (!result) {
      std::cerr << "dpcache refused a key\n";
      std::abort();
    }
    for (const dpcache::Decision& one : result.decisions) {
      opened.push_back(one.action == dpcache::Action::allocate);
    }
  }
  return opened;
}

// The row of a slot: no slot ever goes here, so that ids count up from 1.
inline std::int64_t row_of(dpcache::SlotId slot) {
  return static_cast<std::int64_t>(slot) - 1;
}

class DpcacheIndex : public Index {
 public:
  DpcacheIndex(std::size_t dimension, std::size_t /*capacity*/)
      : cache_(make_cache(dimension, 0.0F)) {}

  void add(const float* keys, std::size_t count) override {
    const std::size_t dimension = cache_.config().dimension;
    const std::vector<bool> opened = take_in(cache_, keys, count);
    for (std::size_t i = 0; i < count; ++i) {
      if (opened[i]) rows_.push_back(first_ + static_cast<std::int64_t>(i));
    }
    for (std::size_t i = 0; i < count; ++i) {  // equal ones, which would merge
      if (opened[i]) continue;
      open_slot(cache_, keys + i * dimension);
      rows_.push_back(first_ + static_cast<std::int64_t>(i));
    }
    first_ += static_cast<std::int64_t>(count);
  }
  void settle() override { cache_.prepare(); }

  void search(const float* queries, std::size_t count, std::size_t k, Hit* hits) override {
    const std::size_t dimension = cache_.config().dimension;
    if (count == 1 && k == 1) {
      const auto match = cache_.nearest(std::span(queries, dimension));
      hits[0] = hit(**match);
      return;
    }
    dpcache::QueryOptions options;
    options.k = k;
    const auto all = cache_.score(std::span(queries, count * dimension), options);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < k; ++j) {
        hits[i * k + j] = hit((*all)[i][j]);
      }
    }
  }

 private:
  Hit hit(const dpcache::Match& match) const {
    return {rows_[static_cast<std::size_t>(row_of(match.slot))], match.similarity};
  }

  dpcache::Cache cache_;
  std::vector<std::int64_t> rows_;  // of each slot
  std::int64_t first_ = 0;          // the next row
};

}  // namespace peers

#endif  // DPCACHE_BENCH_PEERS_DPCACHE_INDEX_H_
