// Ways to learn the gate that the library does not have, beside the one that it has: the paper's
// soft mask, straight-through samples, and perceptrons in place of two parameters.
#ifndef DPCACHE_STUDIES_GATE_RULES_H_
#define DPCACHE_STUDIES_GATE_RULES_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "studies/attention.h"
#include "studies/studies.h"

namespace dpcache::studies {

inline constexpr std::size_t kGateDimension = 64;

inline double sigmoid(double z) {
  return 1.0 / (1.0 + std::exp(-z));
}

// A stream, the novelty of each token over all earlier ones, and which tokens answer a query.
struct GateStream {
  Stream stream;
  std::size_t items = 0;
  std::vector<double> novelties;
};

inline GateStream gate_stream(Random& random, std::size_t items, std::size_t repeats) {
  GateStream lesson;
  lesson.items = items;
  const Distinct distinct = distinct_items(random, items, kGateDimension);
  Order order;
  for (std::size_t i = 0; i < items; ++i) {
    std::size_t times = repeats;  // 0: 1 + min(Geometric(1/4) - 1, 15)
    if (times == 0) {
      times = 1;
      while (times < 16 && random.uniform() > 0.25) ++times;
    }
    order.insert(order.end(), times, i);
  }
  random.shuffle(order);
  lesson.stream = make_stream(random, distinct, order, 0.3);
  const std::vector<Key>& keys = lesson.stream.keys;
  for (std::size_t t = 0; t < keys.size(); ++t) {
    double most = 0.0;
    for (std::size_t i = 0; i < t; ++i) most = std::max(most, cosine(keys[i], keys[t]));
    lesson.novelties.push_back(1.0 - most);
  }
  return lesson;
}

// z of the gate sigmoid(z): two parameters on the novelty, or one hidden layer on the key, with the
// novelty or without.
enum class Form { two_parameters, key_and_novelty, key_only };

class GateNet {
 public:
  GateNet(Form form, std::pair<double, double> start, std::uint64_t seed) : form_(form) {
    if (form == Form::two_parameters) {
      weights_ = {start.first, -start.first * start.second};
    } else {
      Random random(seed);
      const double scale = std::sqrt(2.0 / static_cast<double>(inputs()));
      for (std::size_t i = 0; i < kHidden * inputs(); ++i) {
        weights_.push_back(scale * random.gaussian());
      }
      weights_.resize(weights_.size() + kHidden, 0.0);  // offsets
      for (std::size_t i = 0; i < kHidden; ++i) {
        weights_.push_back(random.gaussian() / std::sqrt(static_cast<double>(kHidden)));
      }
      weights_.push_back(0.0);
    }
    gradient_.resize(weights_.size());
    mean_.resize(weights_.size());
    square_.resize(weights_.size());
  }

  double z(const Key& key, double novelty) const {
    if (form_ == Form::two_parameters) return weights_[0] * novelty + weights_[1];
    double sum = weights_.back();
    for (std::size_t h = 0; h < kHidden; ++h) {
      sum += weights_[outer() + h] * std::max(0.0, hidden(h, key, novelty));
    }
    return sum;
  }

  void add_gradient(const Key& key, double novelty, double dz) {
    if (form_ == Form::two_parameters) {
      gradient_[0] += dz * novelty;
      gradient_[1] += dz;
      return;
    }
    gradient_.back() += dz;
    for (std::size_t h = 0; h < kHidden; ++h) {
      const double value = hidden(h, key, novelty);
      if (value <= 0.0) continue;
      gradient_[outer() + h] += dz * value;
      const double inner = dz * weights_[outer() + h];
      gradient_[kHidden * inputs() + h] += inner;
      for (std::size_t j = 0; j < inputs(); ++j) {
        gradient_[h * inputs() + j] += inner * input(j, key, novelty);
      }
    }
  }

  void step() {  // Adam
    const double rate = form_ == Form::two_parameters ? 0.05 : 0.005;
    ++steps_;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      const double g = std::exchange(gradient_[i], 0.0);
      mean_[i] = 0.9 * mean_[i] + 0.1 * g;
      square_[i] = 0.999 * square_[i] + 0.001 * g * g;
      const double mean = mean_[i] / (1.0 - std::pow(0.9, steps_));
      const double square = square_[i] / (1.0 - std::pow(0.999, steps_));
      weights_[i] -= rate * mean / (std::sqrt(square) + 1e-8);
    }
  }

 private:
  static constexpr std::size_t kHidden = 32;
  std::size_t inputs() const { return kGateDimension + (form_ == Form::key_and_novelty ? 1 : 0); }
  std::size_t outer() const { return kHidden * (inputs() + 1); }
  static double input(std::size_t j, const Key& key, double novelty) {
    return j < kGateDimension ? 4.0 * static_cast<double>(key[j])
                              : novelty;  // 4: components of about .5
  }
  double hidden(std::size_t h, const Key& key, double novelty) const {
    double sum = weights_[kHidden * inputs() + h];
    for (std::size_t j = 0; j < inputs(); ++j) {
      sum += weights_[h * inputs() + j] * input(j, key, novelty);
    }
    return sum;
  }

  Form form_;
  std::vector<double> weights_, gradient_, mean_, square_;
  double steps_ = 0.0;
};

// The library's rule; g as a soft mask on the attention logits with a price on (sum g - K)^2, as
// the paper has it; or hard samples whose gradient is that of a relaxed one.
enum class Rule { exact_flips, soft_mask, straight_through };

// d loss / d z of each token, by the query's softmax with log m added to its logits.
inline void through_logits(const GateStream& lesson, const std::vector<double>& mask,
                           std::vector<double>& by_log_mask) {
  const Stream& stream = lesson.stream;
  const auto queries = static_cast<double>(stream.queries.size());
  for (std::size_t q = 0; q < stream.queries.size(); ++q) {
    std::vector<double> share;
    for (std::size_t t = 0; t < mask.size(); ++t) {
      share.push_back(cosine(stream.queries[q], stream.keys[t]) + kTheta * std::log(mask[t]));
    }
    softmax(share);
    double right = 1e-9;
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (stream.classes[t] == stream.answers[q]) right += share[t];
    }
    for (std::size_t t = 0; t < mask.size(); ++t) {
      const double match = stream.classes[t] == stream.answers[q] ? 1.0 : 0.0;
      by_log_mask[t] += share[t] * (1.0 - match / right) / queries;
    }
  }
}

// For each token what keeping it adds to the loss, the others as drawn; a null slot of .6.
inline void by_flips(const GateStream& lesson, const std::vector<double>& keep,
                     std::vector<double>& gain) {
  const Stream& stream = lesson.stream;
  const auto queries = static_cast<double>(stream.queries.size());
  std::vector<double> weight(keep.size());
  for (std::size_t q = 0; q < stream.queries.size(); ++q) {
    double all = 1.0;
    double right = 1.0 / static_cast<double>(kClasses);
    for (std::size_t t = 0; t < keep.size(); ++t) {
      weight[t] = std::exp((cosine(stream.queries[q], stream.keys[t]) - 0.6) / kTheta);
      all += keep[t] * weight[t];
      if (stream.classes[t] == stream.answers[q]) right += keep[t] * weight[t];
    }
    for (std::size_t t = 0; t < keep.size(); ++t) {
      const double match = stream.classes[t] == stream.answers[q] ? 1.0 : 0.0;
      const double all_without = std::max(all - keep[t] * weight[t], 1e-9);
      const double right_without = std::max(right - match * keep[t] * weight[t], 1e-9);
      gain[t] += (std::log((all_without + weight[t]) / all_without) -
                  std::log((right_without + match * weight[t]) / right_without)) /
                 queries;
    }
  }
}

inline void teach(GateNet& net, Rule rule, const GateStream& lesson, Random& random) {
  constexpr double kPrice = 0.5;
  constexpr double kRelaxed = 0.5;  // temperature of the relaxed samples
  const Stream& stream = lesson.stream;
  const std::size_t n = stream.keys.size();
  const auto items = static_cast<double>(lesson.items);
  std::vector<double> g(n);
  std::vector<double> mask(n);
  std::vector<double> relaxed(n);
  std::vector<double> slope(n, 0.0);
  double sum = 0.0;
  for (std::size_t t = 0; t < n; ++t) {
    const double z = net.z(stream.keys[t], lesson.novelties[t]);
    g[t] = sigmoid(z);
    sum += g[t];
    const double u = std::clamp(random.uniform(), 1e-12, 1.0 - 1e-12);
    relaxed[t] = sigmoid((z + std::log(u / (1.0 - u))) / kRelaxed);
    const double hard = relaxed[t] > 0.5 ? 1.0 : 0.0;  // Bernoulli(g)
    mask[t] = rule == Rule::soft_mask     ? g[t] + 1e-12
              : rule == Rule::exact_flips ? hard
                                          : hard + 1e-4;
  }
  if (rule == Rule::exact_flips) {
    by_flips(lesson, mask, slope);
  } else {
    through_logits(lesson, mask, slope);
  }
  for (std::size_t t = 0; t < n; ++t) {
    const double bend = g[t] * (1.0 - g[t]);
    double dz = 0.0;
    if (rule == Rule::soft_mask) {
      dz = slope[t] * (1.0 - g[t]) + 2.0 * (sum - items) / (items * items) * bend;
    } else if (rule == Rule::straight_through) {
      dz = slope[t] / mask[t] * relaxed[t] * (1.0 - relaxed[t]) / kRelaxed + kPrice / items * bend;
    } else {
      dz = (slope[t] + kPrice / items) * bend;
    }
    net.add_gradient(stream.keys[t], lesson.novelties[t], dz);
  }
  net.step();
}

// What a gate keeps of 64 items, four times each: the tokens with g > 1/2; means of five streams.
struct GateOutcome {
  double kept = 0.0;
  double recall = 0.0;
  double best_recall = 0.0;  // from the 64 tokens of largest g instead

  bool converged() const { return kept <= 70.0 && recall >= 0.99; }
};

inline double recall_from(const std::vector<Entry>& entries, const Stream& stream) {
  double right = 0.0;
  for (std::size_t q = 0; q < stream.queries.size(); ++q) {
    const Value value = attend(entries, stream.queries[q]);
    const auto at = std::max_element(value.begin(), value.end()) - value.begin();
    if (static_cast<std::size_t>(at) == stream.answers[q]) ++right;
  }
  return right / static_cast<double>(stream.queries.size());
}

inline GateOutcome judged(const GateNet& net, std::uint64_t seed) {
  constexpr int kStreams = 5;
  Random random(5000 + seed);
  GateOutcome out;
  for (int episode = 0; episode < kStreams; ++episode) {
    const GateStream lesson = gate_stream(random, 64, 4);
    const Stream& stream = lesson.stream;
    std::vector<double> z;
    std::vector<Entry> open;
    std::vector<Entry> best;
    for (std::size_t t = 0; t < stream.keys.size(); ++t) {
      z.push_back(net.z(stream.keys[t], lesson.novelties[t]));
      if (z[t] > 0.0) open.push_back({stream.keys[t], one_hot(stream.classes[t])});
    }
    for (std::size_t t : largest(z, 64)) {
      best.push_back({stream.keys[t], one_hot(stream.classes[t])});
    }
    out.kept += static_cast<double>(open.size()) / kStreams;
    out.recall += recall_from(open, stream) / kStreams;
    out.best_recall += recall_from(best, stream) / kStreams;
  }
  return out;
}

// One run on streams of 16 to 64 items.
inline GateOutcome learned_gate(Rule rule, Form form, std::pair<double, double> start,
                                std::uint64_t seed, int steps) {
  GateNet net(form, start, seed);
  Random random(seed);
  for (int step = 0; step < steps; ++step) {
    teach(net, rule, gate_stream(random, 16 + random.below(49), 0), random);
  }
  return judged(net, seed);
}

}  // namespace dpcache::studies

#endif  // DPCACHE_STUDIES_GATE_RULES_H_
