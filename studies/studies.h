// What the studies of the method share: random items, streams of them, a memory that answers with
// a class, and figures with their spread over seeds. docs/method.md has the table of all studies.
//
// Streams come from a stated integer generator, so that a study is the same in each run; their
// Gaussians pass through libm, so that another platform may differ in last bits. Nothing that a
// study asserts depends on those.
#ifndef DPCACHE_STUDIES_STUDIES_H_
#define DPCACHE_STUDIES_STUDIES_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <numbers>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dpcache/dpcache.h"

namespace dpcache::studies {

// SplitMix64 (Steele, Lea & Flood 2014). Each seed starts it at an unrelated place.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mixed(seed + kStep)) {}

  double uniform() { return static_cast<double>(bits() >> 11U) * 0x1p-53; }  // [0, 1)

  std::size_t below(std::size_t n) {
    return static_cast<std::size_t>(uniform() * static_cast<double>(n));
  }

  double gaussian() {  // Box & Muller: two at a time
    if (std::exchange(has_spare_, false)) return spare_;
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    const double angle = 2.0 * std::numbers::pi * uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
  }

  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t n = list.size(); n > 1; --n) std::swap(list[n - 1], list[below(n)]);
  }

 private:
  static constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15ULL;

  static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31U);
  }
  std::uint64_t bits() { return mixed(state_ += kStep); }

  std::uint64_t state_;
  double spare_ = 0.0;
  bool has_spare_ = false;
};

using Key = std::vector<float>;

inline Key unit(const std::vector<double>& x) {
  const double norm = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
  Key out;
  for (double component : x) out.push_back(static_cast<float>(component / norm));
  return out;
}

inline Key random_key(Random& random, std::size_t dimension) {
  std::vector<double> x(dimension);
  for (double& component : x) component = random.gaussian();
  return unit(x);
}

// unit(key + rho / sqrt(d) N(0, I)): the noise has a norm of about rho in every dimension. Two
// noisy copies of a key have a cosine of about 1 / (1 + rho^2).
inline Key noisy(Random& random, const Key& key, double rho) {
  if (rho == 0.0) return key;
  const double scale = rho / std::sqrt(static_cast<double>(key.size()));
  std::vector<double> x(key.begin(), key.end());
  for (double& component : x) component += scale * random.gaussian();
  return unit(x);
}

inline constexpr std::size_t kClasses = 16;

// The distinct items of a study: keys in random directions, each with a random class.
struct Distinct {
  std::vector<Key> keys;
  std::vector<std::size_t> classes;
};

inline Distinct distinct_items(Random& random, std::size_t count, std::size_t dimension) {
  Distinct items;
  for (std::size_t i = 0; i < count; ++i) {
    items.keys.push_back(random_key(random, dimension));
    items.classes.push_back(random.below(kClasses));
  }
  return items;
}

// Orders: which of the distinct items each element of a stream repeats.
using Order = std::vector<std::size_t>;

inline Order each_repeated(Random& random, std::size_t count, std::size_t times) {
  Order order;
  for (std::size_t i = 0; i < count * times; ++i) order.push_back(i / times);
  random.shuffle(order);
  return order;
}

inline Order drawn(Random& random, std::size_t count, std::size_t length) {
  Order order(length);
  for (std::size_t& source : order) source = random.below(count);
  return order;
}

// Each item once, and the rest of `length` drawn in proportion to `popularity`.
inline Order each_and_popular(Random& random, const std::vector<double>& popularity,
                              std::size_t length) {
  std::vector<double> cumulated(popularity.size());
  std::partial_sum(popularity.begin(), popularity.end(), cumulated.begin());
  Order order(popularity.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  while (order.size() < length) {
    const double at = random.uniform() * cumulated.back();
    const auto found = std::upper_bound(cumulated.begin(), cumulated.end(), at);
    order.push_back(static_cast<std::size_t>(found - cumulated.begin()));
  }
  random.shuffle(order);
  return order;
}

// What goes into a memory, and what it is asked at the end: a noisy copy of each item's key.
struct Stream {
  std::vector<Key> keys;
  std::vector<std::size_t> classes;
  std::vector<Key> queries;
  std::vector<std::size_t> answers;
};

enum class Asked { all_items, items_seen };

inline Stream make_stream(Random& random, const Distinct& items, const Order& order, double rho,
                          Asked asked = Asked::all_items) {
  Stream stream;
  for (std::size_t source : order) {
    stream.keys.push_back(noisy(random, items.keys[source], rho));
    stream.classes.push_back(items.classes[source]);
  }
  const std::set<std::size_t> seen(order.begin(), order.end());
  for (std::size_t i = 0; i < items.keys.size(); ++i) {
    if (asked == Asked::items_seen && !seen.contains(i)) continue;
    stream.queries.push_back(noisy(random, items.keys[i], rho));
    stream.answers.push_back(items.classes[i]);
  }
  return stream;
}

// The settings of most studies. A slot keeps the class of the item that opened it, so that a false
// merge is an error that recall can see.
inline Config settings(double least_similarity, std::size_t dimension = 64) {
  Config config;
  config.dimension = static_cast<std::uint32_t>(dimension);
  config.value_dimension = kClasses;
  config.value_update = ValueUpdate::first;
  config.tau = static_cast<float>(1.0 - least_similarity);
  config.theta = 0.05F;
  return config;
}

// A cache whose values are one-hot classes, and which answers with the largest of the mixed value.
class Memory {
 public:
  explicit Memory(const Config& config) : one_hot_(kClasses, 0.0F) {
    Result<Cache> made = Cache::create(config);
    if (!made) throw std::invalid_argument(made.status.detail);
    cache_ = std::move(*made);
  }

  Decision observe(const Key& key, std::size_t item_class) {
    one_hot_[item_class] = 1.0F;
    Item item;
    item.key = key;
    item.value = one_hot_;
    Result<Decision> decision = cache_.observe(item);
    one_hot_[item_class] = 0.0F;
    if (!decision) throw std::invalid_argument(decision.status.detail);
    return std::move(*decision);
  }

  void observe(const Stream& stream) {
    for (std::size_t t = 0; t < stream.keys.size(); ++t) observe(stream.keys[t], stream.classes[t]);
  }

  std::size_t answer(const Key& query) const {
    const Result<Reading> reading = cache_.read(query, {.k = 0, .time = {}, .encoder = {}});
    if (!reading || reading->empty) throw std::invalid_argument("the memory has no answer");
    const auto largest = std::max_element(reading->value.begin(), reading->value.end());
    return static_cast<std::size_t>(largest - reading->value.begin());
  }

  // The share of queries whose answer is right.
  double recall(const Stream& stream) const {
    std::size_t right = 0;
    for (std::size_t i = 0; i < stream.queries.size(); ++i) {
      if (answer(stream.queries[i]) == stream.answers[i]) ++right;
    }
    return static_cast<double>(right) / static_cast<double>(stream.queries.size());
  }

  double slots() const { return static_cast<double>(cache_.size()); }
  Cache& cache() { return cache_; }
  const Cache& cache() const { return cache_; }

 private:
  Cache cache_;
  Key one_hot_;
};

// One figure over seeds.
class Spread {
 public:
  void add(double x) { all_.push_back(x); }
  double mean() const {
    return std::accumulate(all_.begin(), all_.end(), 0.0) / static_cast<double>(all_.size());
  }
  double sd() const {
    double squares = 0.0;
    for (double x : all_) squares += (x - mean()) * (x - mean());
    return std::sqrt(squares / static_cast<double>(all_.size()));
  }
  std::size_t count() const { return all_.size(); }
  const std::vector<double>& all() const { return all_; }
  double least() const { return *std::min_element(all_.begin(), all_.end()); }
  double largest() const { return *std::max_element(all_.begin(), all_.end()); }

  friend std::ostream& operator<<(std::ostream& out, const Spread& spread) {
    return out << spread.mean() << " ± " << spread.sd();
  }

 private:
  std::vector<double> all_;
};

// y at x on the line through (xs, ys), xs ascending; beyond the ends the end's value.
inline double interpolate(double x, const std::vector<double>& xs, const std::vector<double>& ys) {
  if (x <= xs.front()) return ys.front();
  for (std::size_t i = 1; i < xs.size(); ++i) {
    if (x > xs[i]) continue;
    const double share = (x - xs[i - 1]) / (xs[i] - xs[i - 1]);
    return ys[i - 1] + share * (ys[i] - ys[i - 1]);
  }
  return ys.back();
}

// The slope of the least-squares line.
inline double slope(const std::vector<double>& xs, const std::vector<double>& ys) {
  const auto n = static_cast<double>(xs.size());
  const double x_mean = std::accumulate(xs.begin(), xs.end(), 0.0) / n;
  const double y_mean = std::accumulate(ys.begin(), ys.end(), 0.0) / n;
  double covariance = 0.0;
  double variance = 0.0;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    covariance += (xs[i] - x_mean) * (ys[i] - y_mean);
    variance += (xs[i] - x_mean) * (xs[i] - x_mean);
  }
  return covariance / variance;
}

// The parts as one line, numbers with three digits after the point: for the message of a failure.
template <class... Parts>
std::string line(const Parts&... parts) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(3);
  (out << ... << parts);
  return out.str();
}

// The same, and printed: what was measured, for docs/method.md.
template <class... Parts>
std::string say(const Parts&... parts) {
  std::string text = line(parts...);
  std::cout << "[ figures  ] " << text << std::endl;
  return text;
}

}  // namespace dpcache::studies

#endif  // DPCACHE_STUDIES_STUDIES_H_
