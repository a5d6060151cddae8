// Memories for a scorer, and what loops find in them.
#ifndef DPCACHE_TESTS_CUDA_SCORER_SUPPORT_H_
#define DPCACHE_TESTS_CUDA_SCORER_SUPPORT_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "aligned.h"
#include "cuda/emulated_device.h"
#include "cuda/scorer.h"
#include "dpcache/scorer.h"
#include "kernels.h"
#include "numerics.h"
#include "reference.h"

namespace dpcache::cuda {

// Keys as the core has them, and the changes as it would tell them.
class TestMemory {
 public:
  TestMemory(std::uint64_t id, std::size_t dimension, unsigned seed)
      : id_(id), dimension_(dimension), engine_(seed) {}

  std::vector<float> random_unit() {
    std::normal_distribution<float> normal;
    std::vector<float> x(dimension_);
    for (float& part : x) part = normal(engine_);
    std::vector<float> out(padded(dimension_));
    kernels::normalise(x, out);
    return out;
  }
  void add(std::size_t count, Scorer* scorer) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<float> key = random_unit();
      keys_.insert(keys_.end(), key.begin(), key.end());
    }
    tell(rows() - count, rows(), scorer);
  }
  void move(std::size_t row, Scorer* scorer) {
    const std::vector<float> key = random_unit();
    std::copy(key.begin(), key.end(), keys_.begin() + static_cast<std::ptrdiff_t>(row * stride()));
    tell(row, row + 1, scorer);
  }
  void shrink(std::size_t rows_left, Scorer* scorer) {
    keys_.resize(rows_left * stride());
    tell(0, 0, scorer);
  }
  void skip(std::size_t row) {
    skip_.resize((rows() + 63) / 64);
    skip_[row / 64] |= std::uint64_t{1} << row % 64;
  }

  std::size_t rows() const { return keys_.size() / stride(); }
  std::size_t stride() const { return padded(dimension_); }
  KeysView view() {
    if (!skip_.empty()) skip_.resize((rows() + 63) / 64);
    KeysView view;
    view.keys = keys_.data();
    view.rows = rows();
    view.stride = stride();
    view.margin = snap_margin(stride());
    view.skip = skip_;
    view.memory = id_;
    view.version = version_;
    return view;
  }
  // Queries near some of the rows, or near one.
  std::vector<float> queries(std::size_t count) {
    return queries(count, [this] { return engine_() % rows(); });
  }
  template <class Choose>
  std::vector<float> queries(std::size_t count, const Choose& choose) {
    std::vector<float> all;
    std::normal_distribution<float> normal;
    for (std::size_t q = 0; q < count; ++q) {
      std::vector<float> x(dimension_);
      const float* key = keys_.data() + choose() * stride();
      for (std::size_t i = 0; i < dimension_; ++i) x[i] = key[i] + 0.02F * normal(engine_);
      std::vector<float> unit(stride());
      kernels::normalise(x, unit);
      all.insert(all.end(), unit.begin(), unit.end());
    }
    return all;
  }
  std::vector<RowMatch> by_loops(std::span<const float> queries, std::size_t k) {
    std::vector<RowMatch> out;
    const std::vector<std::uint64_t> skips = skip_;
    for (std::size_t q = 0; q < queries.size() / stride(); ++q) {
      const std::span<const float> query = queries.subspan(q * stride(), stride());
      std::vector<RowMatch> all;
      for (std::uint32_t r = 0; r < rows(); ++r) {
        if (!skips.empty() && (skips[r / 64] >> r % 64 & 1U) != 0) continue;
        const float* key = keys_.data() + r * stride();
        const float score = reference::canonical_sum<float>(stride(), [&](std::size_t i) {
          const float product = query[i] * key[i];
          return product;
        });
        all.push_back({r, snap(score, snap_margin(stride()))});
      }
      std::stable_sort(all.begin(), all.end(), [](const RowMatch& a, const RowMatch& b) {
        return a.similarity > b.similarity;
      });
      all.resize(k);
      out.insert(out.end(), all.begin(), all.end());
    }
    return out;
  }

 private:
  void tell(std::size_t first, std::size_t last, Scorer* scorer) {
    ++version_;
    if (scorer != nullptr) scorer->changed(id_, first, last);
  }

  std::uint64_t id_;
  std::size_t dimension_;
  std::mt19937 engine_;
  AlignedFloats keys_;
  std::vector<std::uint64_t> skip_;
  std::uint64_t version_ = 1;
};

// A scorer on an emulated device, which takes even the smallest work, by codes.
class TestScorer {
 public:
  explicit TestScorer(ScorerOptions options = {}) {
    options.least_scores = 0;
    options.scan_floats = 0;
    options.say = [this](const std::string& line) { lines.push_back(line); };
    scorer = std::make_unique<CudaScorer>(std::make_unique<EmulatedDevice>(control), options);
  }
  ~TestScorer() {
    scorer.reset();
    EXPECT_EQ(control.pieces, 0) << "memory that nobody has freed";
  }
  TestScorer(const TestScorer&) = delete;
  TestScorer& operator=(const TestScorer&) = delete;

  // Whether it answered; if so, as loops do.
  bool answers(TestMemory& memory, std::size_t count, std::size_t k = 1) {
    const std::vector<float> queries = memory.queries(count);
    std::vector<RowMatch> found(count * k);
    const bool done = k == 1 ? scorer->nearest(memory.view(), queries, found)
                             : scorer->top(memory.view(), queries, k, found);
    if (done) {
      EXPECT_EQ(found, memory.by_loops(queries, k));
    }
    return done;
  }

  EmulatedDevice::Control control;
  std::vector<std::string> lines;  // one at a time
  std::unique_ptr<CudaScorer> scorer;
};

}  // namespace dpcache::cuda

#endif  // DPCACHE_TESTS_CUDA_SCORER_SUPPORT_H_
