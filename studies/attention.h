// Softmax attention over entries: how every mechanism that keeps keys is read.
#ifndef DPCACHE_STUDIES_ATTENTION_H_
#define DPCACHE_STUDIES_ATTENTION_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "studies/studies.h"

namespace dpcache::studies {

using Value = std::array<double, kClasses>;  // a weight for each class
inline constexpr double kTheta = 0.05;       // temperature of every softmax over similarities

// In eight partial sums, so that a compiler may use vectors.
inline double dot(const float* a, const float* b, std::size_t n) {
  std::array<float, 8> sums{};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (std::size_t lane = 0; lane < 8; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  for (; i < n; ++i) sums[0] += a[i] * b[i];
  float sum = 0.0F;
  for (float one : sums) sum += one;
  return static_cast<double>(sum);
}
inline double cosine(const Key& a, const Key& b) {
  return dot(a.data(), b.data(), a.size());
}

inline Value one_hot(std::size_t item_class) {
  Value value{};
  value[item_class] = 1.0;
  return value;
}

inline void add(Value& sum, double weight, const Value& value) {
  for (std::size_t c = 0; c < kClasses; ++c) sum[c] += weight * value[c];
}

// One entry: a key and the value that belongs to it.
struct Entry {
  Key key;
  Value value{};
};

// softmax(similarity / theta), in place.
inline void softmax(std::vector<double>& similarities, double theta = kTheta) {
  if (similarities.empty()) return;
  const double largest = *std::max_element(similarities.begin(), similarities.end());
  double sum = 0.0;
  for (double& s : similarities) sum += s = std::exp((s - largest) / theta);
  for (double& s : similarities) s /= sum;
}

inline std::vector<double> cosines(const std::vector<Entry>& entries, const Key& query) {
  std::vector<double> out;
  out.reserve(entries.size());
  for (const Entry& entry : entries) out.push_back(cosine(entry.key, query));
  return out;
}

// Softmax attention over all entries.
inline Value attend(const std::vector<Entry>& entries, const Key& query) {
  std::vector<double> weights = cosines(entries, query);
  softmax(weights);
  Value sum{};
  for (std::size_t i = 0; i < entries.size(); ++i) add(sum, weights[i], entries[i].value);
  return sum;
}

// Indices of the n largest, largest first; equal ones in their order.
inline std::vector<std::size_t> largest(const std::vector<double>& list, std::size_t n) {
  std::vector<std::size_t> order(list.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(n, order.size()));
  std::partial_sort(order.begin(), end, order.end(), [&](std::size_t a, std::size_t b) {
    return list[a] != list[b] ? list[a] > list[b] : a < b;
  });
  order.erase(end, order.end());
  return order;
}

}  // namespace dpcache::studies

#endif  // DPCACHE_STUDIES_ATTENTION_H_
