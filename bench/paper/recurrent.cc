// Memories of a fixed size; recurrent.h says which.
#include "paper/recurrent.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dpcache::paper {
namespace {

std::vector<Key> random_keys(std::uint64_t seed, std::size_t count, std::size_t dimension) {
  studies::Random random(seed);
  std::vector<Key> keys;
  for (std::size_t i = 0; i < count; ++i) keys.push_back(studies::random_key(random, dimension));
  return keys;
}

Value error(const Value& held, std::size_t item_class) {
  Value out = one_hot(item_class);
  add(out, -1.0, held);
  return out;
}

}  // namespace

DiagonalSsm::DiagonalSsm(std::size_t dimension, std::size_t states, std::uint64_t seed)
    : dimension_(dimension),
      input_(random_keys(seed, states, dimension + kClasses)),
      state_(states) {
  for (std::size_t n = 0; n < states; ++n) {  // time constants from 10 to 10,000 items
    const double share = static_cast<double>(n) / static_cast<double>(states);
    decay_.push_back(std::exp(-std::pow(10.0, -1.0 - 3.0 * share)));
  }
}

void DiagonalSsm::write(const Key& key, std::size_t item_class) {
  for (std::size_t n = 0; n < state_.size(); ++n) {
    const double x = dot(input_[n].data(), key.data(), dimension_) +
                     static_cast<double>(input_[n][dimension_ + item_class]);
    state_[n] = decay_[n] * state_[n] + x;
  }
}

Value DiagonalSsm::read(const Key& /*query*/) const {
  Value sum{};
  for (std::size_t n = 0; n < state_.size(); ++n) {
    for (std::size_t c = 0; c < kClasses; ++c) {
      sum[c] += state_[n] * static_cast<double>(input_[n][dimension_ + c]);
    }
  }
  return sum;
}

Value FastWeights::read(const Key& query) const {
  Value sum{};
  for (std::size_t j = 0; j < weights.size(); ++j) {
    add(sum, static_cast<double>(query[j]), weights[j]);
  }
  return sum;
}

void LinearAttention::write(const Key& key, std::size_t item_class) {
  for (std::size_t j = 0; j < weights.size(); ++j) {
    weights[j][item_class] += static_cast<double>(key[j]);
  }
}

SelectiveScan::SelectiveScan(std::size_t dimension, std::uint64_t seed)
    : FastWeights(dimension), step_(random_keys(seed, 1, dimension)[0]) {}

void SelectiveScan::write(const Key& key, std::size_t item_class) {
  constexpr double kRate = 1.0 / 256.0;  // A
  const double step = std::log1p(std::exp(4.0 * cosine(step_, key)));
  const double decay = std::exp(-step * kRate);
  for (std::size_t j = 0; j < weights.size(); ++j) {
    for (double& weight : weights[j]) weight *= decay;
    weights[j][item_class] += step * static_cast<double>(key[j]);
  }
}

void DeltaNet::write(const Key& key, std::size_t item_class) {
  const Value missing = error(read(key), item_class);
  for (std::size_t j = 0; j < weights.size(); ++j) {
    add(weights[j], beta_ * static_cast<double>(key[j]), missing);
  }
}

void Titans::write(const Key& key, std::size_t item_class) {
  constexpr double kMomentum = 0.5;
  constexpr double kStep = 0.25;
  constexpr double kForget = 0.001;
  const Value missing = error(read(key), item_class);
  for (std::size_t j = 0; j < weights.size(); ++j) {
    for (double& one : momentum_[j]) one *= kMomentum;
    add(momentum_[j], 2.0 * kStep * static_cast<double>(key[j]), missing);
    for (double& weight : weights[j]) weight *= 1.0 - kForget;
    add(weights[j], 1.0, momentum_[j]);
  }
}

Kanerva::Kanerva(std::size_t dimension, std::size_t rows, std::uint64_t seed)
    : addresses_(random_keys(seed, rows, dimension)), mean_(rows), covariance_(rows * rows) {
  for (std::size_t i = 0; i < rows; ++i) covariance_[i * rows + i] = 1.0;
}

std::vector<double> Kanerva::address(const Key& key) const {
  std::vector<double> weights;
  for (const Key& one : addresses_) weights.push_back(cosine(one, key));
  softmax(weights);
  return weights;
}

void Kanerva::write(const Key& key, std::size_t item_class) {
  constexpr double kNoise = 0.01;  // variance of an observed value
  const std::size_t rows = mean_.size();
  const std::vector<double> w = address(key);
  std::vector<double> reach(rows, 0.0);  // covariance of each row with what is observed
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < rows; ++j) reach[i] += covariance_[i * rows + j] * w[j];
  }
  double variance = kNoise;
  for (std::size_t i = 0; i < rows; ++i) variance += w[i] * reach[i];
  Value held{};
  for (std::size_t i = 0; i < rows; ++i) add(held, w[i], mean_[i]);
  const Value missing = error(held, item_class);
  for (std::size_t i = 0; i < rows; ++i) {
    add(mean_[i], reach[i] / variance, missing);
    for (std::size_t j = 0; j < rows; ++j) {
      covariance_[i * rows + j] -= reach[i] * reach[j] / variance;
    }
  }
}

Value Kanerva::read(const Key& query) const {
  const std::vector<double> w = address(query);
  Value sum{};
  for (std::size_t i = 0; i < w.size(); ++i) add(sum, w[i], mean_[i]);
  return sum;
}

ProductKeys::ProductKeys(std::size_t dimension, std::size_t codes, std::size_t top,
                         std::uint64_t seed)
    : top_(top),
      first_(random_keys(seed, codes, dimension / 2)),
      second_(random_keys(seed + 1, codes, dimension / 2)),
      values_(codes * codes) {}

std::vector<ProductKeys::Place> ProductKeys::places(const Key& key) const {
  const std::size_t half = key.size() / 2;
  std::vector<double> scores;
  for (const Key& a : first_) {
    const double score = dot(a.data(), key.data(), half);
    for (const Key& b : second_) scores.push_back(score + dot(b.data(), key.data() + half, half));
  }
  std::vector<std::size_t> best = largest(scores, top_);
  std::vector<double> weights;
  weights.reserve(best.size());
  for (std::size_t i : best) weights.push_back(scores[i]);
  softmax(weights);
  std::vector<Place> out;
  for (std::size_t i = 0; i < best.size(); ++i) out.push_back({best[i], weights[i]});
  return out;
}

void ProductKeys::write(const Key& key, std::size_t item_class) {
  for (const Place& place : places(key)) values_[place.index][item_class] += place.weight;
}

Value ProductKeys::read(const Key& query) const {
  Value sum{};
  for (const Place& place : places(query)) add(sum, place.weight, values_[place.index]);
  return sum;
}

double ProductKeys::floats() const {
  const double codebooks = 2.0 * static_cast<double>(first_.size() * first_[0].size());
  return codebooks + slots() * kClasses;
}

}  // namespace dpcache::paper
