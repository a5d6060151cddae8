// What is measured, seen alike: an index takes unit keys and finds the nearest of them.
#ifndef DPCACHE_BENCH_PEERS_PEERS_H_
#define DPCACHE_BENCH_PEERS_PEERS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace peers {

struct Hit {
  std::int64_t row = -1;  // in the order in which the keys were added
  float similarity = -2.0F;
};

class Index {
 public:
  Index() = default;
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;
  virtual ~Index() = default;

  // keys: (count, dimension)
  virtual void add(const float* keys, std::size_t count) = 0;
  // queries: (count, dimension); hits: (count, k), best first. There are k keys at least.
  virtual void search(const float* queries, std::size_t count, std::size_t k, Hit* hits) = 0;
  // Called once after many keys were added at once.
  virtual void settle() {}
};

enum class Kind : std::uint8_t {
  exact,     // finds the nearest; one query at a time
  batching,  // exact, and gains by many queries at once
  graph,     // approximate: may miss the nearest, and takes long to build
};

struct Peer {
  std::string name;
  Kind kind = Kind::exact;
  std::unique_ptr<Index> (*make)(std::size_t dimension, std::size_t capacity) = nullptr;
};

// One a library. Those that the build did not find are not there.
std::vector<Peer> faiss_peers();
std::vector<Peer> openblas_peers();
std::vector<Peer> eigen_peers();
std::vector<Peer> hnswlib_peers();
std::vector<Peer> usearch_peers();

// The k best of n scores, best first, ties to the first row. hits: (k)
void best_of(const float* scores, std::size_t n, std::int64_t first_row, std::size_t k, Hit* hits);

}  // namespace peers

#endif  // DPCACHE_BENCH_PEERS_PEERS_H_
