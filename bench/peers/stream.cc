// Insert-if-novel streams: search, then add what is unlike everything so far.
#include "stream.h"

#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>
#include <utility>

#include "clock.h"
#include "data.h"
#include "dpcache_index.h"

namespace peers {
namespace {

constexpr float kTau = 0.15F;
constexpr std::size_t kTimes = 4;
constexpr std::size_t kChunk = 256;

struct Outcome {
  bool opened = false;
  std::int64_t row = -1;  // opened or joined
};

// One way to take a stream.
class Taker {
 public:
  explicit Taker(std::size_t dimension) : dimension_(dimension) {}
  Taker(const Taker&) = delete;
  Taker& operator=(const Taker&) = delete;
  virtual ~Taker() = default;
  virtual void take(const float* items, std::size_t count, Outcome* out) = 0;
  virtual void bring(const float* key) = 0;
  virtual void settle() {}

 protected:
  std::size_t dimension() const { return dimension_; }

 private:
  std::size_t dimension_;
};

// The plain loop whose decisions are right.
class Plain : public Taker {
 public:
  using Taker::Taker;
  void take(const float* items, std::size_t count, Outcome* out) override {
    for (std::size_t i = 0; i < count; ++i) {
      const float* item = items + i * dimension();
      double best = -2;
      for (std::size_t row = 0; row < rows(); ++row) {
        const double cosine = dot(keys_.data() + row * dimension(), item, dimension());
        if (cosine <= best) continue;
        best = cosine;
        out[i].row = static_cast<std::int64_t>(row);
      }
      out[i].opened = 1 - best > static_cast<double>(kTau);
      if (!out[i].opened) continue;
      out[i].row = static_cast<std::int64_t>(rows());
      bring(item);
    }
  }
  void bring(const float* key) override { keys_.insert(keys_.end(), key, key + dimension()); }
  std::size_t rows() const { return keys_.size() / dimension(); }

 private:
  std::vector<float> keys_;
};

class OneByOne : public Taker {
 public:
  OneByOne(std::size_t dimension, std::unique_ptr<Index> index)
      : Taker(dimension), index_(std::move(index)) {}
  void take(const float* items, std::size_t count, Outcome* out) override {
    for (std::size_t i = 0; i < count; ++i) {
      const float* item = items + i * dimension();
      Hit hit;
      if (rows_ > 0) index_->search(item, 1, 1, &hit);
      out[i] = {1 - hit.similarity > kTau, hit.row};
      if (!out[i].opened) continue;
      out[i].row = rows_;
      bring(item);
    }
  }
  void bring(const float* key) override {
    index_->add(key, 1);
    ++rows_;
  }

 private:
  std::unique_ptr<Index> index_;
  std::int64_t rows_ = 0;
};

// Searches a chunk at once, then compares each item with those that the chunk has opened so far.
class ByChunks : public Taker {
 public:
  ByChunks(std::size_t dimension, std::unique_ptr<Index> index)
      : Taker(dimension), index_(std::move(index)) {}
  void take(const float* items, std::size_t count, Outcome* out) override {
    std::vector<Hit> hits(count);
    if (rows_ > 0) index_->search(items, count, 1, hits.data());
    std::vector<float> fresh;
    for (std::size_t i = 0; i < count; ++i) {
      const float* item = items + i * dimension();
      Hit best = hits[i];
      for (std::size_t at = 0; at < fresh.size(); at += dimension()) {
        const float cosine = std::inner_product(item, item + dimension(), fresh.data() + at, 0.0F);
        if (cosine > best.similarity) {
          best = {rows_ + static_cast<std::int64_t>(at / dimension()), cosine};
        }
      }
      out[i] = {1 - best.similarity > kTau, best.row};
      if (!out[i].opened) continue;
      out[i].row = rows_ + static_cast<std::int64_t>(fresh.size() / dimension());
      fresh.insert(fresh.end(), item, item + dimension());
    }
    index_->add(fresh.data(), fresh.size() / dimension());
    rows_ += static_cast<std::int64_t>(fresh.size() / dimension());
  }
  void bring(const float* key) override {
    index_->add(key, 1);
    ++rows_;
  }

 private:
  std::unique_ptr<Index> index_;
  std::int64_t rows_ = 0;
};

Outcome outcome(const dpcache::Decision& decision) {
  return {decision.action == dpcache::Action::allocate, row_of(decision.slot)};
}

class Observe : public Taker {
 public:
  explicit Observe(std::size_t dimension) : Taker(dimension), cache_(make_cache(dimension, kTau)) {}
  void take(const float* items, std::size_t count, Outcome* out) override {
    for (std::size_t i = 0; i < count; ++i) {
      dpcache::Item item;
      item.key = std::span(items + i * dimension(), dimension());
      out[i] = outcome(checked(cache_.observe(item)));
    }
  }
  void bring(const float* key) override { brought_.insert(brought_.end(), key, key + dimension()); }
  void settle() override {
    take_in(cache_, brought_.data(), brought_.size() / dimension());
    brought_.clear();
    cache_.prepare();
  }

 protected:
  dpcache::Cache& cache() { return cache_; }

 private:
  dpcache::Cache cache_;
  std::vector<float> brought_;  // until they settle
};

class ObserveBatch : public Observe {
 public:
  using Observe::Observe;
  void take(const float* items, std::size_t count, Outcome* out) override {
    std::vector<dpcache::Item> batch(count);
    for (std::size_t i = 0; i < count; ++i) {
      batch[i].key = std::span(items + i * dimension(), dimension());
    }
    const dpcache::BatchResult result = cache().observe_batch(batch);
    if (!result) std::abort();
    for (std::size_t i = 0; i < count; ++i) out[i] = outcome(result.decisions[i]);
  }
};

struct Contender {
  std::string name;
  bool exact = true;
  std::unique_ptr<Taker> taker;
  std::vector<std::int64_t> owner;  // the plain loop's row of each row
  double seconds = 0;
  std::size_t wrong = 0;
};

std::vector<Contender> contenders(std::size_t dimension, std::size_t distinct,
                                  const std::vector<Peer>& all) {
  std::vector<Contender> out;
  out.push_back({"dpcache observe", true, std::make_unique<Observe>(dimension), {}});
  out.push_back(
      {"dpcache observe_batch of 256", true, std::make_unique<ObserveBatch>(dimension), {}});
  // Of 100,000 a graph takes minutes to build; those that take one query at a time and were never
  // the fastest are left out as well.
  for (const Peer& peer : all) {
    if (peer.kind != Kind::batching && distinct > 10'000) continue;
    const std::size_t capacity = distinct * kTimes;
    out.push_back({peer.name + ", one by one",
                   peer.kind != Kind::graph,
                   std::make_unique<OneByOne>(dimension, peer.make(dimension, capacity)),
                   {}});
    if (peer.kind != Kind::batching) continue;
    out.push_back({peer.name + ", by 256",
                   true,
                   std::make_unique<ByChunks>(dimension, peer.make(dimension, capacity)),
                   {}});
  }
  return out;
}

// Takes the stream once; the number of measured items.
std::size_t take_stream(const Vectors& origins, std::size_t every, std::uint64_t seed,
                        std::vector<Contender>& all) {
  const std::size_t dimension = origins.dimension;
  Random random(seed);
  std::vector<std::size_t> order(origins.size() * kTimes);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i % origins.size();
  std::shuffle(order.begin(), order.end(), random);
  Plain plain(dimension);
  std::vector<bool> seen(origins.size());
  std::vector<Outcome> right(kChunk);
  std::vector<Outcome> got(kChunk);
  std::size_t measured = 0;
  for (std::size_t begin = 0; begin < order.size(); begin += kChunk) {
    const std::size_t count = std::min(kChunk, order.size() - begin);
    const bool measure = begin / kChunk % every == every / 2;
    Vectors items{dimension, {}};
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t id = order[begin + i];
      if (measure || !seen[id]) append_repeat(origins.row(id), random, items);
      if (!measure && !seen[id]) {
        const float* key = items.row(items.size() - 1);
        for (Contender& one : all) {
          one.taker->bring(key);
          one.owner.push_back(static_cast<std::int64_t>(plain.rows()));
        }
        plain.bring(key);
      }
      seen[id] = true;
    }
    if (!measure) continue;
    measured += count;
    plain.take(items.data.data(), count, right.data());
    for (std::size_t turn = 0; turn < all.size(); ++turn) {
      Contender& one = all[(turn + begin / kChunk) % all.size()];
      one.taker->settle();
      const double start = cpu_seconds();
      one.taker->take(items.data.data(), count, got.data());
      one.seconds += cpu_seconds() - start;
      for (std::size_t i = 0; i < count; ++i) {
        if (got[i].opened) one.owner.push_back(right[i].row);
        const bool same = got[i].opened == right[i].opened &&
                          one.owner[static_cast<std::size_t>(got[i].row)] == right[i].row;
        one.wrong += same ? 0U : 1U;
      }
    }
  }
  return measured;
}

}  // namespace

void run_stream(std::size_t dimension, std::size_t distinct, std::size_t every, std::size_t rounds,
                const std::vector<Peer>& all) {
  const Vectors origins = clustered(distinct, dimension, 7);
  std::vector<Contender> last;
  std::vector<std::vector<double>> times;
  std::size_t measured = 0;
  std::vector<std::size_t> wrong;
  for (std::size_t round = 0; round < rounds; ++round) {
    last = contenders(dimension, distinct, all);
    times.resize(last.size());
    wrong.resize(last.size());
    measured = take_stream(origins, every, round + 1, last);
    for (std::size_t i = 0; i < last.size(); ++i) {
      times[i].push_back(last[i].seconds / static_cast<double>(measured) * 1e6);
      wrong[i] += last[i].wrong;
    }
  }
  for (std::size_t i = 0; i < last.size(); ++i) {
    std::printf(
        "{\"section\": \"stream\", \"d\": %zu, \"n\": %zu, \"who\": \"%s\", \"exact\": %s, "
        "\"us\": %.3f, \"wrong\": %zu, \"checked\": %zu, \"every\": %zu, "
        "\"rounds\": %zu}\n",
        dimension, distinct, last[i].name.c_str(), last[i].exact ? "true" : "false",
        median(times[i]), wrong[i], measured * rounds, every, rounds);
  }
}

void run_growth(std::size_t dimension) {
  const std::size_t sizes[] = {1'000, 3'162, 10'000, 31'623, 100'000};
  constexpr std::size_t kItems = 1024;
  constexpr std::size_t kRounds = 5;
  struct One {
    std::size_t size = 0;
    std::unique_ptr<Observe> one;
    std::unique_ptr<ObserveBatch> batch;
    Vectors items;
    std::vector<double> one_times, batch_times;
    std::size_t wrong = 0;
  };
  std::vector<One> all;
  std::vector<std::vector<std::int64_t>> origin;
  for (const std::size_t size : sizes) {
    One one;
    one.size = size;
    one.one = std::make_unique<Observe>(dimension);
    one.batch = std::make_unique<ObserveBatch>(dimension);
    one.items.dimension = dimension;
    const Vectors keys = clustered(size, dimension, 7);
    for (std::size_t i = 0; i < size; ++i) {
      one.one->bring(keys.row(i));
      one.batch->bring(keys.row(i));
    }
    one.one->settle();
    one.batch->settle();
    Random random(size);
    origin.emplace_back();
    for (std::size_t i = 0; i < kItems; ++i) {
      origin.back().push_back(static_cast<std::int64_t>(random() % size));
      append_repeat(keys.row(static_cast<std::size_t>(origin.back().back())), random, one.items);
    }
    all.push_back(std::move(one));
  }
  std::vector<Outcome> got(kItems);
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (std::size_t s = 0; s < all.size(); ++s) {
      One& one = all[s];
      const float* items = one.items.data.data();
      double start = cpu_seconds();
      one.one->take(items, kItems, got.data());
      one.one_times.push_back((cpu_seconds() - start) / kItems * 1e6);
      // At .96 no other key is nearer: at tau .15 an item joins the slot that it repeats.
      for (std::size_t i = 0; i < kItems; ++i) one.wrong += got[i].row != origin[s][i];
      start = cpu_seconds();
      for (std::size_t i = 0; i < kItems; i += kChunk) {
        one.batch->take(items + i * dimension, kChunk, got.data() + i);
      }
      one.batch_times.push_back((cpu_seconds() - start) / kItems * 1e6);
      for (std::size_t i = 0; i < kItems; ++i) one.wrong += got[i].row != origin[s][i];
    }
  }
  for (const One& one : all) {
    std::printf(
        "{\"section\": \"growth\", \"d\": %zu, \"n\": %zu, \"us\": %.3f, \"batch_us\": "
        "%.3f, \"wrong\": %zu, \"checked\": %zu}\n",
        dimension, one.size, median(one.one_times), median(one.batch_times), one.wrong,
        2 * kItems * kRounds);
  }
}

}  // namespace peers
