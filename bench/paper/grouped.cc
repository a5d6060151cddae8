// Memories that group items; grouped.h says how.
#include "paper/grouped.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace dpcache::paper {
namespace {

std::size_t nearest(const std::vector<Key>& keys, const Key& query) {
  std::size_t best = 0;
  double most = -2.0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const double similarity = cosine(keys[i], query);
    if (similarity > most) {
      most = similarity;
      best = i;
    }
  }
  return best;
}

// sum += key; an empty sum is one of zeros.
void accumulate(std::vector<double>& sum, const Key& key) {
  sum.resize(key.size(), 0.0);
  for (std::size_t j = 0; j < key.size(); ++j) sum[j] += static_cast<double>(key[j]);
}

// Solves A X = B for a symmetric, positive definite A (n, n), by Cholesky; B (n, columns) becomes
// X.
void solve(std::vector<double>& a, std::vector<std::vector<double>>& b) {
  const std::size_t n = b.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
    }
  }
  const auto subtract = [&](std::size_t from, double factor, std::size_t row) {
    for (std::size_t c = 0; c < b[row].size(); ++c) b[row][c] -= factor * b[from][c];
  };
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) subtract(k, a[i * n + k], i);
    for (double& x : b[i]) x /= a[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) subtract(k, a[k * n + i], i);
    for (double& x : b[i]) x /= a[i * n + i];
  }
}

}  // namespace

Hashed::Hashed(std::size_t dimension, std::size_t buckets, std::size_t rounds, std::uint64_t seed) {
  studies::Random random(seed);
  projections_.resize(rounds);
  for (std::vector<Key>& round : projections_) {
    for (std::size_t i = 0; i < buckets / 2; ++i) {
      round.push_back(studies::random_key(random, dimension));
    }
  }
}

std::vector<std::size_t> Hashed::buckets_of(const Key& key) const {
  std::vector<std::size_t> out;
  for (const std::vector<Key>& round : projections_) {
    std::vector<double> scores;
    scores.reserve(2 * round.size());
    for (const Key& direction : round) scores.push_back(cosine(direction, key));
    for (std::size_t i = 0; i < round.size(); ++i) scores.push_back(-scores[i]);
    out.push_back(largest(scores, 1)[0]);
  }
  return out;
}

void Hashed::write(const Key& key, std::size_t item_class) {
  FullAttention::write(key, item_class);
  buckets_.push_back(buckets_of(key));
}

Value Hashed::read(const Key& query) const {
  const std::vector<std::size_t> mine = buckets_of(query);
  std::vector<Entry> shared;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    for (std::size_t round = 0; round < mine.size(); ++round) {
      if (buckets_[i][round] != mine[round]) continue;
      shared.push_back(tokens[i]);
      break;
    }
  }
  return attend(shared, query);
}

Clusters cluster(const std::vector<Entry>& tokens, std::size_t count, std::uint64_t seed) {
  constexpr int kRounds = 25;
  studies::Random random(seed);
  std::vector<std::size_t> order(tokens.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  random.shuffle(order);
  Clusters out;
  for (std::size_t i = 0; i < std::min(count, order.size()); ++i) {
    out.centres.push_back(tokens[order[i]].key);
  }
  out.of.resize(tokens.size());
  for (int round = 0; round <= kRounds; ++round) {
    std::vector<std::vector<double>> sums(out.centres.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      out.of[i] = nearest(out.centres, tokens[i].key);
      accumulate(sums[out.of[i]], tokens[i].key);
    }
    for (std::size_t c = 0; c < sums.size() && round < kRounds; ++c) {
      if (!sums[c].empty()) out.centres[c] = studies::unit(sums[c]);
    }
  }
  return out;
}

void Clustered::finish() {
  Clusters clusters = cluster(tokens, count_, seed_);
  std::vector<Entry> slots(clusters.centres.size());
  std::vector<double> members(slots.size(), 0.0);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    add(slots[clusters.of[i]].value, 1.0, tokens[i].value);
    ++members[clusters.of[i]];
  }
  for (std::size_t c = 0; c < slots.size(); ++c) {
    slots[c].key = std::move(clusters.centres[c]);
    for (double& weight : slots[c].value) weight /= std::max(members[c], 1.0);
  }
  tokens = std::move(slots);
}

Value Routed::read(const Key& query) const {
  const std::size_t mine = nearest(clusters_.centres, query);
  std::vector<Entry> shared;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (clusters_.of[i] == mine) shared.push_back(tokens[i]);
  }
  return attend(shared, query);
}

bool Blocks::begins_block(const Key& key) {
  if (blocks_.empty()) return true;
  if (bounds_ == Bounds::fixed) return blocks_.back().end - blocks_.back().begin >= 16;
  constexpr std::size_t kWindow = 32;
  double most = -1.0;
  for (std::size_t i = tokens.size() - std::min(tokens.size(), kWindow); i < tokens.size(); ++i) {
    most = std::max(most, cosine(tokens[i].key, key));
  }
  studies::Spread recent;
  const std::size_t first = surprises_.size() - std::min(surprises_.size(), kWindow);
  for (std::size_t i = first; i < surprises_.size(); ++i) recent.add(surprises_[i]);
  const bool begins = first < surprises_.size() && 1.0 - most > recent.mean() + recent.sd();
  surprises_.push_back(1.0 - most);
  return begins;
}

void Blocks::write(const Key& key, std::size_t item_class) {
  if (begins_block(key)) blocks_.push_back({tokens.size(), tokens.size(), {}});
  FullAttention::write(key, item_class);
  blocks_.back().end = tokens.size();
  accumulate(blocks_.back().sum, key);
}

Value Blocks::read(const Key& query) const {
  std::vector<double> scores;
  for (const Block& block : blocks_) scores.push_back(cosine(studies::unit(block.sum), query));
  std::vector<Entry> chosen;
  for (std::size_t index : largest(scores, best_)) {
    const Block& block = blocks_[index];
    chosen.insert(chosen.end(), tokens.begin() + static_cast<std::ptrdiff_t>(block.begin),
                  tokens.begin() + static_cast<std::ptrdiff_t>(block.end));
  }
  return attend(chosen, query);
}

double Blocks::floats() const {
  return FullAttention::floats() +
         static_cast<double>(blocks_.size() * (blocks_.empty() ? 0 : blocks_[0].sum.size()));
}

void Continuous::finish() {
  constexpr double kRidge = 1e-3;
  if (tokens.empty()) return;
  const std::size_t n = functions_;
  const std::size_t dimension = tokens[0].key.size();
  const auto bump = [&](double time, std::size_t j) {  // time in [0, 1]
    const double centre = (static_cast<double>(j) + 0.5) / static_cast<double>(n);
    const double x = (time - centre) * static_cast<double>(n);
    return std::exp(-0.5 * x * x);
  };
  std::vector<double> gram(n * n, 0.0);
  std::vector<std::vector<double>> right(n, std::vector<double>(dimension + kClasses, 0.0));
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const double time = (static_cast<double>(t) + 0.5) / static_cast<double>(tokens.size());
    for (std::size_t i = 0; i < n; ++i) {
      const double at = bump(time, i);
      for (std::size_t j = 0; j < n; ++j) gram[i * n + j] += at * bump(time, j);
      for (std::size_t c = 0; c < dimension; ++c) {
        right[i][c] += at * static_cast<double>(tokens[t].key[c]);
      }
      for (std::size_t c = 0; c < kClasses; ++c) right[i][dimension + c] += at * tokens[t].value[c];
    }
  }
  for (std::size_t i = 0; i < n; ++i) gram[i * n + i] += kRidge;
  solve(gram, right);
  std::vector<Entry> points(n);
  for (std::size_t p = 0; p < n; ++p) {
    const double time = (static_cast<double>(p) + 0.5) / static_cast<double>(n);
    points[p].key.assign(dimension, 0.0F);
    for (std::size_t j = 0; j < n; ++j) {
      const double at = bump(time, j);
      for (std::size_t c = 0; c < dimension; ++c) {
        points[p].key[c] += static_cast<float>(at * right[j][c]);
      }
      for (std::size_t c = 0; c < kClasses; ++c) points[p].value[c] += at * right[j][dimension + c];
    }
  }
  tokens = std::move(points);
}

void Leader::write(const Key& key, std::size_t item_class) {
  for (double similarity : cosines(tokens, key)) {
    if (similarity >= least_) return;  // the slot keeps its first value
  }
  FullAttention::write(key, item_class);
}

Value Dpcache::read(const Key& query) const {
  const Result<Reading> reading = memory_.cache().read(query, {.k = 0, .time = {}, .encoder = {}});
  if (!reading || reading->empty) throw std::invalid_argument("the memory has no answer");
  Value value{};
  std::copy(reading->value.begin(), reading->value.end(), value.begin());
  return value;
}

double Dpcache::floats() const {
  const Config& config = memory_.cache().config();
  const bool sums = config.keep_sums || config.key_update == KeyUpdate::centroid;
  return slots() * static_cast<double>(config.dimension * (sums ? 2U : 1U) + kClasses + 1);
}

}  // namespace dpcache::paper
