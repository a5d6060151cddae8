// OpenBLAS: sgemv for one query, sgemm in blocks of keys for more, then the best of the scores.
#include <cblas.h>

#include <algorithm>

#include "peers.h"

namespace peers {
namespace {

class Product : public Index {
 public:
  Product(std::size_t dimension, std::size_t capacity) : dimension_(dimension) {
    openblas_set_num_threads(1);
    keys_.reserve(dimension * capacity);
  }
  void add(const float* keys, std::size_t count) override {
    keys_.insert(keys_.end(), keys, keys + count * dimension_);
  }
  void search(const float* queries, std::size_t count, std::size_t k, Hit* hits) override {
    std::fill(hits, hits + count * k, Hit{});
    const std::size_t rows = keys_.size() / dimension_;
    const auto d = static_cast<blasint>(dimension_);
    const std::size_t most = count == 1 ? rows : kBlock;
    scores_.resize(most * count);
    for (std::size_t begin = 0; begin < rows; begin += most) {
      const std::size_t n = std::min(most, rows - begin);
      const float* keys = keys_.data() + begin * dimension_;
      const auto size = static_cast<blasint>(n);
      if (count == 1) {
        cblas_sgemv(CblasRowMajor, CblasNoTrans, size, d, 1.0F, keys, d, queries, 1, 0.0F,
                    scores_.data(), 1);
      } else {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<blasint>(count), size, d,
                    1.0F, queries, d, keys, d, 0.0F, scores_.data(), size);
      }
      for (std::size_t i = 0; i < count; ++i) {
        best_of(scores_.data() + i * n, n, static_cast<std::int64_t>(begin), k, hits + i * k);
      }
    }
  }

 private:
  static constexpr std::size_t kBlock = 4096;  // scores of 1,024 queries: 16 MiB
  std::size_t dimension_;
  std::vector<float> keys_;
  std::vector<float> scores_;
};

}  // namespace

std::vector<Peer> openblas_peers() {
  return {{"OpenBLAS sgemv, sgemm", Kind::batching,
           [](std::size_t dimension, std::size_t capacity) -> std::unique_ptr<Index> {
             return std::make_unique<Product>(dimension, capacity);
           }}};
}

}  // namespace peers
