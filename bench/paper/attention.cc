// Attention over tokens; attention.h says which.
#include "paper/attention.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace dpcache::paper {
namespace {

// The index of the smallest among the first n.
std::size_t smallest(const std::vector<double>& list, std::size_t n) {
  const auto end = list.begin() + static_cast<std::ptrdiff_t>(n);
  return static_cast<std::size_t>(std::min_element(list.begin(), end) - list.begin());
}

}  // namespace

Value Nearest::read(const Key& query) const {
  const std::vector<double> similarities = cosines(tokens, query);
  const std::vector<std::size_t> best = largest(similarities, k_);
  std::vector<double> weights;
  weights.reserve(best.size());
  for (std::size_t i : best) weights.push_back(similarities[i]);
  softmax(weights);
  Value sum{};
  for (std::size_t i = 0; i < best.size(); ++i) add(sum, weights[i], tokens[best[i]].value);
  return sum;
}

void Window::write(const Key& key, std::size_t item_class) {
  if (tokens.size() < budget_) {
    FullAttention::write(key, item_class);
    return;
  }
  tokens[sinks_ + oldest_] = {key, one_hot(item_class)};
  oldest_ = (oldest_ + 1) % (budget_ - sinks_);
}

void HeavyHitters::write(const Key& key, std::size_t item_class) {
  FullAttention::write(key, item_class);
  gathered_.push_back(0.0);
  std::vector<double> attention = cosines(tokens, key);
  softmax(attention);
  for (std::size_t i = 0; i < attention.size(); ++i) gathered_[i] += attention[i];
  if (tokens.size() <= budget_) return;
  const std::size_t least = smallest(gathered_, tokens.size() - recent_);
  drop(least);
  gathered_.erase(gathered_.begin() + static_cast<std::ptrdiff_t>(least));
}

void Snapshot::finish() {
  constexpr std::size_t kPool = 2;  // each side: an average over five neighbours
  const std::size_t count = tokens.size();
  if (count <= budget_) return;
  const std::size_t old = count - window_;
  std::vector<double> votes(old, 0.0);
  for (std::size_t t = old; t < count; ++t) {
    std::vector<double> attention;  // causal: up to t
    for (std::size_t i = 0; i <= t; ++i) {
      attention.push_back(cosine(tokens[i].key, tokens[t].key));
    }
    softmax(attention);
    for (std::size_t i = 0; i < old; ++i) votes[i] += attention[i];
  }
  std::vector<double> pooled(old, 0.0);
  for (std::size_t i = 0; i < old; ++i) {
    for (std::size_t j = i - std::min(i, kPool); j <= std::min(old - 1, i + kPool); ++j) {
      pooled[i] += votes[j];
    }
  }
  std::vector<Entry> kept;
  for (std::size_t i : largest(pooled, budget_ - window_)) kept.push_back(tokens[i]);
  kept.insert(kept.end(), tokens.begin() + static_cast<std::ptrdiff_t>(old), tokens.end());
  tokens = std::move(kept);
}

void LeastAttended::write(const Key& key, std::size_t item_class) {
  FullAttention::write(key, item_class);
  if (tokens.size() <= budget_) return;
  drop(smallest(cosines(tokens, key), tokens.size() - 1));  // never itself
}

Value Hopfield::read(const Key& query) const {
  Key state = query;
  for (std::size_t update = 0; update < updates_; ++update) {
    std::vector<double> weights = cosines(tokens, state);
    softmax(weights);
    std::vector<double> moved(state.size(), 0.0);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      for (std::size_t j = 0; j < moved.size(); ++j) {
        moved[j] += weights[i] * static_cast<double>(tokens[i].key[j]);
      }
    }
    state = studies::unit(moved);
  }
  return attend(tokens, state);
}

void Episodic::write(const Key& key, std::size_t item_class) {
  const auto same = std::find_if(tokens.begin(), tokens.end(),
                                 [&](const Entry& token) { return token.key == key; });
  if (same != tokens.end()) {
    constexpr double kRate = 0.5;
    for (double& weight : same->value) weight *= 1.0 - kRate;
    add(same->value, kRate, one_hot(item_class));
    return;
  }
  FullAttention::write(key, item_class);
  if (tokens.size() > budget_) drop(0);
}

Value Episodic::read(const Key& query) const {
  constexpr double kDelta = 1e-3;
  const std::vector<double> similarities = cosines(tokens, query);
  Value sum{};
  for (std::size_t i : largest(similarities, nearest_)) {
    const double squared_distance = std::max(0.0, 2.0 - 2.0 * similarities[i]);
    add(sum, 1.0 / (squared_distance + kDelta), tokens[i].value);
  }
  return sum;
}

}  // namespace dpcache::paper
