// Eigen: a matrix times a vector for one query, times a matrix in blocks of keys for more.
#include <Eigen/Dense>
#include <algorithm>

#include "peers.h"

namespace peers {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

class Product : public Index {
 public:
  Product(std::size_t dimension, std::size_t capacity) : dimension_(dimension) {
    keys_.reserve(dimension * capacity);
  }
  void add(const float* keys, std::size_t count) override {
    keys_.insert(keys_.end(), keys, keys + count * dimension_);
  }
  void search(const float* queries, std::size_t count, std::size_t k, Hit* hits) override {
    std::fill(hits, hits + count * k, Hit{});
    const std::size_t rows = keys_.size() / dimension_;
    const auto d = static_cast<Eigen::Index>(dimension_);
    const std::size_t most = count == 1 ? rows : kBlock;
    const Eigen::Map<const Matrix> all(queries, static_cast<Eigen::Index>(count), d);
    for (std::size_t begin = 0; begin < rows; begin += most) {
      const std::size_t n = std::min(most, rows - begin);
      const Eigen::Map<const Matrix> keys(keys_.data() + begin * dimension_,
                                          static_cast<Eigen::Index>(n), d);
      if (count == 1) {
        one_.noalias() = keys * all.row(0).transpose();
        best_of(one_.data(), n, static_cast<std::int64_t>(begin), k, hits);
        continue;
      }
      scores_.noalias() = all * keys.transpose();
      for (std::size_t i = 0; i < count; ++i) {
        best_of(scores_.data() + i * n, n, static_cast<std::int64_t>(begin), k, hits + i * k);
      }
    }
  }

 private:
  static constexpr std::size_t kBlock = 4096;
  std::size_t dimension_;
  std::vector<float> keys_;
  Eigen::VectorXf one_;
  Matrix scores_;
};

}  // namespace

std::vector<Peer> eigen_peers() {
  return {{"Eigen", Kind::batching,
           [](std::size_t dimension, std::size_t capacity) -> std::unique_ptr<Index> {
             return std::make_unique<Product>(dimension, capacity);
           }}};
}

}  // namespace peers
