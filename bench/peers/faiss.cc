// FAISS, flat, inner product.
#include <faiss/IndexFlat.h>
#include <omp.h>

#include "peers.h"

namespace peers {
namespace {

class Flat : public Index {
 public:
  explicit Flat(std::size_t dimension) : index_(static_cast<int>(dimension)) {
    omp_set_num_threads(1);
  }
  void add(const float* keys, std::size_t count) override {
    index_.add(static_cast<faiss::Index::idx_t>(count), keys);
  }
  void search(const float* queries, std::size_t count, std::size_t k, Hit* hits) override {
    similarities_.resize(count * k);
    rows_.resize(count * k);
    index_.search(static_cast<faiss::Index::idx_t>(count), queries,
                  static_cast<faiss::Index::idx_t>(k), similarities_.data(), rows_.data());
    for (std::size_t i = 0; i < count * k; ++i) hits[i] = {rows_[i], similarities_[i]};
  }

 private:
  faiss::IndexFlatIP index_;
  std::vector<float> similarities_;
  std::vector<faiss::Index::idx_t> rows_;
};

}  // namespace

std::vector<Peer> faiss_peers() {
  return {{"FAISS IndexFlatIP", Kind::batching,
           [](std::size_t dimension, std::size_t /*capacity*/) -> std::unique_ptr<Index> {
             return std::make_unique<Flat>(dimension);
           }}};
}

}  // namespace peers
