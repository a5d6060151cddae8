// Vectors to measure with, made or read, and what is true about them in double precision.
#ifndef DPCACHE_BENCH_PEERS_DATA_H_
#define DPCACHE_BENCH_PEERS_DATA_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "peers.h"

namespace peers {

using Random = std::mt19937_64;

// Unit vectors, row-major.
struct Vectors {
  std::size_t dimension = 0;
  std::vector<float> data;

  std::size_t size() const { return data.size() / dimension; }
  const float* row(std::size_t i) const { return data.data() + i * dimension; }
};

// sqrt(n) clusters of cosine .5 within: keys crowd, as those of texts do.
Vectors clustered(std::size_t n, std::size_t dimension, std::uint64_t seed);
// Random directions: far from each other, as no real keys are.
Vectors scattered(std::size_t n, std::size_t dimension, std::uint64_t seed);

// Appends a vector of cosine .96 to `unit`.
void append_repeat(const float* unit, Random& random, Vectors& out);

// The rows of a .npy file of int8, scaled to unit length; zero rows are left out. Empty: no file.
Vectors read_int8(const std::string& path);

double dot(const float* a, const float* b, std::size_t dimension);

// What a scan in double precision finds.
class Truth {
 public:
  // queries: (count, dimension). `keys` and `queries` must stay.
  Truth(const Vectors& keys, const float* queries, std::size_t count, std::size_t k);

  // Of `count` answers of k hits those in which a hit is repeated, or less similar than what the
  // scan found at its place, by more than what sums of float32 lose.
  std::size_t wrong(const Hit* hits, std::size_t count) const;

 private:
  const Vectors* keys_;
  const float* queries_;
  std::size_t k_;
  std::vector<double> best_;  // (count, k)
};

}  // namespace peers

#endif  // DPCACHE_BENCH_PEERS_DATA_H_
