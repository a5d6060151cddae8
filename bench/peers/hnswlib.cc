// hnswlib: its brute force, which is exact, and its graph, which is not.
#include <hnswlib/hnswlib.h>

#include <type_traits>

#include "peers.h"

namespace peers {
namespace {

// What is common at M = 16: no settings were sought that suit this data.
constexpr std::size_t kLinks = 16;
constexpr std::size_t kConstruction = 200;
constexpr std::size_t kSearch = 64;

template <typename Algorithm>
class Hnswlib : public Index {
 public:
  Hnswlib(std::size_t dimension, std::size_t capacity) : dimension_(dimension), space_(dimension) {
    if constexpr (std::is_same_v<Algorithm, hnswlib::BruteforceSearch<float>>) {
      index_ = std::make_unique<Algorithm>(&space_, capacity);
    } else {
      index_ = std::make_unique<Algorithm>(&space_, capacity, kLinks, kConstruction);
      index_->setEf(kSearch);
    }
  }
  void add(const float* keys, std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) index_->addPoint(keys + i * dimension_, rows_++);
  }
  void search(const float* queries, std::size_t count, std::size_t k, Hit* hits) override {
    for (std::size_t i = 0; i < count; ++i) {
      auto found = index_->searchKnn(queries + i * dimension_, k);  // the worst on top
      for (std::size_t j = found.size(); j > 0; --j) {
        hits[i * k + j - 1] = {static_cast<std::int64_t>(found.top().second),
                               1.0F - found.top().first};
        found.pop();
      }
    }
  }

 private:
  std::size_t dimension_;
  std::size_t rows_ = 0;
  hnswlib::InnerProductSpace space_;
  std::unique_ptr<Algorithm> index_;
};

template <typename Algorithm>
std::unique_ptr<Index> make(std::size_t dimension, std::size_t capacity) {
  return std::make_unique<Hnswlib<Algorithm>>(dimension, capacity);
}

}  // namespace

std::vector<Peer> hnswlib_peers() {
  return {{"hnswlib brute force", Kind::exact, make<hnswlib::BruteforceSearch<float>>},
          {"hnswlib HNSW (not exact)", Kind::graph, make<hnswlib::HierarchicalNSW<float>>}};
}

}  // namespace peers
