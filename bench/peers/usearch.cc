// USearch's exact search over rows, with the kernels of the library that comes with it.
#include <algorithm>
#include <usearch/index_plugins.hpp>

#include "peers.h"

namespace peers {
namespace {

namespace usearch = unum::usearch;

class Exact : public Index {
 public:
  Exact(std::size_t dimension, std::size_t capacity)
      : dimension_(dimension),
        metric_(dimension, usearch::metric_kind_t::ip_k, usearch::scalar_kind_t::f32_k) {
    keys_.reserve(dimension * capacity);
  }
  void add(const float* keys, std::size_t count) override {
    keys_.insert(keys_.end(), keys, keys + count * dimension_);
  }
  void search(const float* queries, std::size_t count, std::size_t k, Hit* hits) override {
    const std::size_t row = dimension_ * sizeof(float);
    const std::size_t rows = keys_.size() / dimension_;
    // It holds two matrices of scores at once: no more than about 1 GB of them.
    const std::size_t most = std::max<std::size_t>(1, (std::size_t{1} << 26U) / rows);
    for (std::size_t begin = 0; begin < count; begin += most) {
      const std::size_t n = std::min(most, count - begin);
      const auto found = search_(reinterpret_cast<const usearch::byte_t*>(keys_.data()), rows, row,
                                 reinterpret_cast<const usearch::byte_t*>(queries) + begin * row, n,
                                 row, k, metric_);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < k; ++j) {
          hits[(begin + i) * k + j] = {found.at(i)[j].offset, 1.0F - found.at(i)[j].distance};
        }
      }
    }
  }

 private:
  std::size_t dimension_;
  usearch::metric_punned_t metric_;
  usearch::exact_search_t search_;
  std::vector<float> keys_;
};

}  // namespace

std::vector<Peer> usearch_peers() {
  const usearch::metric_punned_t metric(384, usearch::metric_kind_t::ip_k,
                                        usearch::scalar_kind_t::f32_k);
  return {{std::string("USearch exact, ") + metric.isa_name(), Kind::exact,
           [](std::size_t dimension, std::size_t capacity) -> std::unique_ptr<Index> {
             return std::make_unique<Exact>(dimension, capacity);
           }}};
}

}  // namespace peers
