// Memories of a fixed size that every item is added to: state-space models and fast weights.
#ifndef DPCACHE_BENCH_PAPER_RECURRENT_H_
#define DPCACHE_BENCH_PAPER_RECURRENT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "paper/mechanism.h"

namespace dpcache::paper {

// h = a h + B x over x = (key, value), diagonal a, random B. Key and value are added, not
// multiplied, so that the answer cannot depend on the query.
class DiagonalSsm : public Mechanism {
 public:
  DiagonalSsm(std::size_t dimension, std::size_t states, std::uint64_t seed);
  void write(const Key& key, std::size_t item_class) override;
  Value read(const Key& query) const override;
  double slots() const override { return static_cast<double>(state_.size()); }
  double floats() const override { return slots(); }

 private:
  std::size_t dimension_;
  std::vector<double> decay_;
  std::vector<Key> input_;  // (states, dimension + classes)
  std::vector<double> state_;
};

// A matrix from keys to values; what an item does to it is the rule.
class FastWeights : public Mechanism {
 public:
  explicit FastWeights(std::size_t dimension) : weights(dimension) {}
  Value read(const Key& query) const override;
  double slots() const override { return static_cast<double>(weights.size()); }
  double floats() const override { return slots() * kClasses; }

 protected:
  std::vector<Value> weights;  // (dimension, classes)
};

// S += k v: what a selective scan with A = 0, B = k, C = q is.
class LinearAttention : public FastWeights {
 public:
  using FastWeights::FastWeights;
  void write(const Key& key, std::size_t item_class) override;
};

// A scan as in Mamba: S = exp(-step A) S + step k v, the step softplus(w k + b) of the input. w is
// random, as nothing is trained here.
class SelectiveScan : public FastWeights {
 public:
  SelectiveScan(std::size_t dimension, std::uint64_t seed);
  void write(const Key& key, std::size_t item_class) override;

 private:
  Key step_;
};

// The delta rule: S += beta k (v - S k), so that a repeat adds nothing.
class DeltaNet : public FastWeights {
 public:
  DeltaNet(std::size_t dimension, double beta) : FastWeights(dimension), beta_(beta) {}
  void write(const Key& key, std::size_t item_class) override;

 private:
  double beta_;
};

// As in Titans: gradient descent with momentum and forgetting on |S k - v|^2.
class Titans : public FastWeights {
 public:
  explicit Titans(std::size_t dimension) : FastWeights(dimension), momentum_(dimension) {}
  void write(const Key& key, std::size_t item_class) override;
  double floats() const override { return 2.0 * FastWeights::floats(); }

 private:
  std::vector<Value> momentum_;
};

// A Kanerva machine's memory: a Gaussian over the values at `rows` random addresses, conditioned on
// each item; soft addresses.
class Kanerva : public Mechanism {
 public:
  Kanerva(std::size_t dimension, std::size_t rows, std::uint64_t seed);
  void write(const Key& key, std::size_t item_class) override;
  Value read(const Key& query) const override;
  double slots() const override { return static_cast<double>(mean_.size()); }
  double floats() const override { return slots() * (slots() + kClasses); }

 private:
  std::vector<double> address(const Key& key) const;
  std::vector<Key> addresses_;
  std::vector<Value> mean_;
  std::vector<double> covariance_;  // (rows, rows)
};

// Product keys: two codebooks of half keys give codes^2 values; the best `top` are written and
// read. The codebooks are random, as nothing is trained here.
class ProductKeys : public Mechanism {
 public:
  ProductKeys(std::size_t dimension, std::size_t codes, std::size_t top, std::uint64_t seed);
  void write(const Key& key, std::size_t item_class) override;
  Value read(const Key& query) const override;
  double slots() const override { return static_cast<double>(values_.size()); }
  double floats() const override;

 private:
  struct Place {
    std::size_t index;
    double weight;
  };
  std::vector<Place> places(const Key& key) const;
  std::size_t top_;
  std::vector<Key> first_, second_;  // (codes, dimension / 2)
  std::vector<Value> values_;        // (codes^2, classes)
};

}  // namespace dpcache::paper

#endif  // DPCACHE_BENCH_PAPER_RECURRENT_H_
