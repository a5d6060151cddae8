// Attention over tokens: all of them, the nearest ones, or as many as a budget leaves.
#ifndef DPCACHE_BENCH_PAPER_ATTENTION_H_
#define DPCACHE_BENCH_PAPER_ATTENTION_H_

#include <cstddef>
#include <vector>

#include "paper/mechanism.h"

namespace dpcache::paper {

// Keeps tokens, reads by softmax over those kept. By itself: full attention.
class FullAttention : public Mechanism {
 public:
  void write(const Key& key, std::size_t item_class) override {
    tokens.push_back({key, one_hot(item_class)});
  }
  Value read(const Key& query) const override { return attend(tokens, query); }
  double slots() const override { return static_cast<double>(tokens.size()); }
  double floats() const override {
    return tokens.empty() ? 0.0 : slots() * static_cast<double>(tokens[0].key.size() + kClasses);
  }

 protected:
  void drop(std::size_t index) {
    tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(index));
  }
  std::vector<Entry> tokens;  // in the order in which they came
};

// kNN-LM and the Memorizing Transformer: all tokens kept, the k nearest read.
class Nearest : public FullAttention {
 public:
  explicit Nearest(std::size_t k) : k_(k) {}
  Value read(const Key& query) const override;

 private:
  std::size_t k_;
};

// The first `sinks` tokens and the latest ones: StreamingLLM; without sinks, recency.
class Window : public FullAttention {
 public:
  Window(std::size_t budget, std::size_t sinks) : budget_(budget), sinks_(sinks) {}
  void write(const Key& key, std::size_t item_class) override;

 private:
  std::size_t budget_;
  std::size_t sinks_;
  std::size_t oldest_ = 0;  // of those behind the sinks: the one that the next overwrites
};

// H2O: each key asks what is kept, and what gathered least attention goes, the latest aside.
class HeavyHitters : public FullAttention {
 public:
  HeavyHitters(std::size_t budget, std::size_t recent) : budget_(budget), recent_(recent) {}
  void write(const Key& key, std::size_t item_class) override;
  double floats() const override { return FullAttention::floats() + slots(); }

 private:
  std::size_t budget_;
  std::size_t recent_;
  std::vector<double> gathered_;
};

// SnapKV: once, at the end, the last `window` keys vote on what stays beside them.
class Snapshot : public FullAttention {
 public:
  Snapshot(std::size_t budget, std::size_t window) : budget_(budget), window_(window) {}
  void finish() override;

 private:
  std::size_t budget_;
  std::size_t window_;
};

// TOVA: what the latest key attends to least goes.
class LeastAttended : public FullAttention {
 public:
  explicit LeastAttended(std::size_t budget) : budget_(budget) {}
  void write(const Key& key, std::size_t item_class) override;

 private:
  std::size_t budget_;
};

// A modern Hopfield network: the query moves towards the patterns before it is read; beta = 1 /
// theta.
class Hopfield : public FullAttention {
 public:
  explicit Hopfield(std::size_t updates) : updates_(updates) {}
  Value read(const Key& query) const override;

 private:
  std::size_t updates_;
};

// Neural episodic control: appends, overwrites the oldest, reads the nearest by an inverse-distance
// kernel; an exact repeat moves its value.
class Episodic : public FullAttention {
 public:
  Episodic(std::size_t budget, std::size_t nearest) : budget_(budget), nearest_(nearest) {}
  void write(const Key& key, std::size_t item_class) override;
  Value read(const Key& query) const override;

 private:
  std::size_t budget_;
  std::size_t nearest_;
};

}  // namespace dpcache::paper

#endif  // DPCACHE_BENCH_PAPER_ATTENTION_H_
