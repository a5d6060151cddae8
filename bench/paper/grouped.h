// Memories that group items: by hash, by cluster, by block of the stream, and by novelty.
#ifndef DPCACHE_BENCH_PAPER_GROUPED_H_
#define DPCACHE_BENCH_PAPER_GROUPED_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "paper/attention.h"
#include "paper/mechanism.h"

namespace dpcache::paper {

// Reformer: all tokens kept; a query reads those that share a bucket, arg max [xR; -xR], in one of
// the rounds.
class Hashed : public FullAttention {
 public:
  Hashed(std::size_t dimension, std::size_t buckets, std::size_t rounds, std::uint64_t seed);
  void write(const Key& key, std::size_t item_class) override;
  Value read(const Key& query) const override;

 private:
  std::vector<std::size_t> buckets_of(const Key& key) const;  // one a round
  std::vector<std::vector<Key>> projections_;                 // (rounds, buckets / 2, dimension)
  std::vector<std::vector<std::size_t>> buckets_;             // of each token
};

// Spherical k-means over all tokens, 25 rounds from randomly chosen ones.
struct Clusters {
  std::vector<Key> centres;
  std::vector<std::size_t> of;  // each token's
};
Clusters cluster(const std::vector<Entry>& tokens, std::size_t count, std::uint64_t seed);

// Clustered attention: offline, one slot a cluster, its value the mean of its tokens'.
class Clustered : public FullAttention {
 public:
  Clustered(std::size_t clusters, std::uint64_t seed) : count_(clusters), seed_(seed) {}
  void finish() override;

 private:
  std::size_t count_;
  std::uint64_t seed_;
};

// Routing: offline clusters, all tokens kept; a query reads the tokens of its cluster.
class Routed : public FullAttention {
 public:
  Routed(std::size_t clusters, std::uint64_t seed) : count_(clusters), seed_(seed) {}
  void finish() override { clusters_ = cluster(tokens, count_, seed_); }
  Value read(const Key& query) const override;

 private:
  std::size_t count_;
  std::uint64_t seed_;
  Clusters clusters_;
};

// Blocks of consecutive tokens, each with the mean of its keys; a query reads the tokens of the
// best blocks. Landmark: blocks of 16. EM-LLM: a block begins where novelty against the last 32
// tokens is above their mean by one standard deviation.
class Blocks : public FullAttention {
 public:
  enum class Bounds { fixed, surprise };
  Blocks(Bounds bounds, std::size_t best) : bounds_(bounds), best_(best) {}
  void write(const Key& key, std::size_t item_class) override;
  Value read(const Key& query) const override;
  double floats() const override;

 private:
  bool begins_block(const Key& key);
  struct Block {
    std::size_t begin;
    std::size_t end;
    std::vector<double> sum;
  };
  Bounds bounds_;
  std::size_t best_;
  std::vector<Block> blocks_;
  std::vector<double> surprises_;
};

// As the infinite-former: the past as coefficients of a fixed number of bumps over time, fitted at
// the end by ridge regression; read at as many points of time.
class Continuous : public FullAttention {
 public:
  explicit Continuous(std::size_t functions) : functions_(functions) {}
  void finish() override;

 private:
  std::size_t functions_;
};

// Leader clustering: an item joins the nearest slot if it is similar enough, else opens one. What
// dpcache does with frozen keys and no budget, in ten lines.
class Leader : public FullAttention {
 public:
  explicit Leader(double least_similarity) : least_(least_similarity) {}
  void write(const Key& key, std::size_t item_class) override;

 private:
  double least_;
};

// dpcache itself, by its public interface.
class Dpcache : public Mechanism {
 public:
  explicit Dpcache(const Config& config) : memory_(config) {}
  void write(const Key& key, std::size_t item_class) override { memory_.observe(key, item_class); }
  Value read(const Key& query) const override;
  double slots() const override { return memory_.slots(); }
  double floats() const override;  // key, value and usage; a sum of keys where one is kept
  Cache& cache() { return memory_.cache(); }

 private:
  studies::Memory memory_;
};

}  // namespace dpcache::paper

#endif  // DPCACHE_BENCH_PAPER_GROUPED_H_
