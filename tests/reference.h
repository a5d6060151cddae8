// The cache once more, as plainly as it can be said: naive loops, no index, nothing shared with
// core/ but the public types. ReferenceCache<float> has the exact bits; ReferenceCache<double> is
// the truth that float32 approximates: sums in double, libm's exp, no snapping.
#ifndef DPCACHE_TESTS_REFERENCE_H_
#define DPCACHE_TESTS_REFERENCE_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dpcache/dpcache.h"

namespace dpcache::reference {

// 16 partial sums, then 8-4-2-1. `term(i)` is the i-th summand.
template <class T, class Term>
T canonical_sum(std::size_t n, Term term) {
  std::array<T, 16> lanes{};
  for (std::size_t i = 0; i < n; ++i) lanes[i % 16] += term(i);
  for (std::size_t half = 8; half >= 1; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

template <class T>
T dot(const std::vector<T>& a, const std::vector<T>& b) {
  return canonical_sum<T>(a.size(), [&](std::size_t i) {
    const T product = a[i] * b[i];
    return product;
  });
}

// x / |x|, both in double, each component rounded to T once. Empty if |x| = 0.
template <class T, class X>
std::vector<T> unit(std::span<const X> x) {
  const double squares = canonical_sum<double>(x.size(), [&](std::size_t i) {
    const double square = static_cast<double>(x[i]) * static_cast<double>(x[i]);
    return square;
  });
  if (!(squares > 0.0)) return {};
  std::vector<T> out;
  for (X component : x)
    out.push_back(static_cast<T>(static_cast<double>(component) / std::sqrt(squares)));
  return out;
}

// Float: similarities within (ceil(d / 16) + 8) 2^-23 of 1 or -1 count as 1 or -1.
template <class T>
T snap(T score, std::size_t dimension) {
  const T margin =
      std::is_same_v<T, float>
          ? static_cast<T>(std::ldexp(static_cast<double>((dimension + 15) / 16 + 8), -23))
          : T{0};
  if (score >= T{1} - margin) return T{1};
  if (score <= margin - T{1}) return T{-1};
  return score;
}

// Float: the Taylor polynomial of degree 13 on |r| <= ln 2 / 2. Double: libm.
template <class T>
double exponential(double x) {
  if (!std::is_same_v<T, float>) return std::exp(x);
  if (!(x > -708.0)) return 0.0;
  const double n = std::nearbyint(x * 1.4426950408889634);
  const double high = x - n * 6.93147180369123816490e-01;
  const double r = high - n * 1.90821492927058770002e-10;
  double p = 0.0;
  for (int k = 13; k >= 0; --k) {
    double factorial = 1.0;
    for (int i = 2; i <= k; ++i) factorial *= i;
    p = k == 13 ? 1.0 / factorial : p * r + 1.0 / factorial;
  }
  return std::ldexp(p, static_cast<int>(n));
}

inline std::uint64_t mix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

// mantissa x 2^exponent, the mantissa in [1, 2).
struct Wide {
  double mantissa = 1.0;
  std::int64_t exponent = 0;

  static Wide normal(double mantissa, std::int64_t exponent) {
    int raised = 0;
    const double half = std::frexp(mantissa, &raised);  // in [1/2, 1)
    return {half * 2.0, exponent + raised - 1};
  }
  Wide times(double factor) const { return normal(mantissa * factor, exponent); }
  Wide plus(Wide other) const {
    if (exponent < other.exponent) return other.plus(*this);
    const std::int64_t gap = std::min<std::int64_t>(exponent - other.exponent, 2000);
    return normal(mantissa + std::ldexp(other.mantissa, -static_cast<int>(gap)), exponent);
  }
  double over(Wide other) const {
    return std::ldexp(mantissa / other.mantissa, static_cast<int>(exponent - other.exponent));
  }
  bool less(Wide other) const {
    return exponent != other.exponent ? exponent < other.exponent : mantissa < other.mantissa;
  }
};

template <class T>
struct ReferenceSlot {
  SlotId id = 0;
  std::vector<T> key;
  std::vector<T> value;
  std::string payload;
  std::vector<std::string> exact_keys;
  std::vector<double> key_sum;
  std::vector<double> value_sum;
  Wide usage;
  std::uint64_t count = 1;
  std::int64_t first_time = 0;
  std::int64_t last_time = 0;
  std::int64_t expires = std::numeric_limits<std::int64_t>::max();
};

template <class T>
class ReferenceCache {
 public:
  using ConcreteSlot = ReferenceSlot<T>;

  explicit ReferenceCache(Config config) : config_(std::move(config)), allowed_(config_.m0) {}

  Decision observe(const Item& item) {
    const std::vector<T> key = unit<T>(item.key);
    expire(item.time);

    // Novelty [eq. 1].
    const ConcreteSlot* nearest = nullptr;
    T similarity = 0;
    bool exact = false;
    for (const ConcreteSlot& slot : slots_) {
      if (item.exact_key &&
          std::count(slot.exact_keys.begin(), slot.exact_keys.end(), *item.exact_key) > 0) {
        nearest = &slot;
        similarity = snap(dot(key, slot.key), key.size());
        exact = true;
      }
    }
    if (!exact) nearest = find_nearest(key, std::numeric_limits<std::int64_t>::min(), similarity);

    Decision decision;
    decision.similarity = static_cast<float>(similarity);
    decision.novelty = static_cast<float>(T{1} - similarity);
    decision.threshold = threshold(config_);
    const bool novel =
        nearest == nullptr || (!exact && T{1} - similarity > static_cast<T>(decision.threshold));
    decision.gate = novel ? 1.0F : 0.0F;
    if (config_.gate && nearest != nullptr) {  // [eq. 2]
      const double x =
          static_cast<double>(config_.gate->a) *
          (static_cast<double>(decision.novelty) - static_cast<double>(config_.gate->b));
      const double e = exponential<T>(-std::fabs(x));
      decision.gate = static_cast<float>((x < 0 ? e : 1.0) / (1.0 + e));
    }

    if (config_.usage_decay != 1.0F)
      growth_ = growth_.times(1.0 / static_cast<double>(config_.usage_decay));
    if (novel) {
      decision.action = Action::allocate;
      if (nearest != nullptr) decision.nearest = Match{nearest->id, decision.similarity};
      decision.slot = next_id_++;
      open(decision.slot, key, item);
    } else {
      decision.action = Action::merge;
      decision.slot = nearest->id;
      merge(get(decision.slot), key, item);
    }

    // Surprise and budget [eq. 4, 5].
    surprise_ = (1.0F - config_.eta) * surprise_;
    if (novel) surprise_ = surprise_ + config_.eta;
    if (config_.budget == BudgetKind::fixed) allowed_ = config_.m0;
    if (config_.budget == BudgetKind::adaptive) {
      const float heat = config_.beta * surprise_;
      allowed_ = config_.m0 + heat;
    }
    if (config_.budget == BudgetKind::ghost) follow_ghosts(novel, key);
    decision.surprise = surprise_;
    if (config_.budget != BudgetKind::none) decision.budget = allowed_;

    while (static_cast<double>(slots_.size()) > limit()) {
      const SlotId least = least_used(decision.slot);
      if (config_.budget == BudgetKind::ghost) {
        ghosts_.push_back(signs(get(least).key));
        if (ghosts_.size() > 32) ghosts_.erase(ghosts_.begin());
      }
      if (config_.shrink == Shrink::evict) {  // [eq. 6]
        decision.evicted.push_back(least);
        erase(least);
      } else {
        const SlotId into = nearest_to_slot(least);
        fold(least, into, config_.key_update == KeyUpdate::centroid);
        decision.folded.push_back({least, into});
      }
    }
    return decision;
  }

  Reading read(std::span<const float> query, const QueryOptions& options) const {
    const std::vector<T> key = unit<T>(query);
    const std::vector<std::pair<const ConcreteSlot*, T>> all = scores(key, options);
    Reading reading;
    if (all.empty()) {
      reading.null_weight = config_.null_similarity ? 1.0F : 0.0F;
      return reading;
    }
    reading.empty = false;
    T largest = config_.null_similarity ? static_cast<T>(*config_.null_similarity) : T{-1};
    for (const auto& [slot, similarity] : all) largest = std::max(largest, similarity);
    const auto weight = [&](T similarity) {
      return exponential<T>((static_cast<double>(similarity) - static_cast<double>(largest)) /
                            static_cast<double>(config_.theta));
    };
    const double null_part =
        config_.null_similarity ? weight(static_cast<T>(*config_.null_similarity)) : 0.0;
    double total = null_part;
    std::vector<double> mixed(config_.value_dimension, 0.0);
    for (const auto& [slot, similarity] : all) {  // [eq. 3]
      total += weight(similarity);
      for (std::size_t i = 0; i < mixed.size(); ++i) {
        const double part = weight(similarity) * static_cast<double>(slot->value[i]);
        mixed[i] += part;
      }
    }
    for (double sum : mixed) reading.value.push_back(static_cast<float>(sum / total));
    reading.null_weight = static_cast<float>(null_part / total);
    for (const auto& [slot, similarity] : best(all, options.k)) {
      reading.top.push_back({slot->id, static_cast<float>(similarity),
                             static_cast<float>(weight(similarity) / total)});
    }
    return reading;
  }

  std::optional<Match> nearest(std::span<const float> query, const QueryOptions& options) const {
    const std::vector<T> key = unit<T>(query);
    T similarity = 0;
    const ConcreteSlot* found = find_nearest(key, time_of(options), similarity);
    if (found == nullptr) return {};
    return Match{found->id, static_cast<float>(similarity)};
  }

  std::vector<Match> score(std::span<const float> query, const QueryOptions& options) const {
    std::vector<Match> matches;
    for (const auto& [slot, similarity] : best(scores(unit<T>(query), options), options.k)) {
      matches.push_back({slot->id, static_cast<float>(similarity)});
    }
    return matches;
  }

  void erase(SlotId id) {
    std::erase_if(slots_, [&](const ConcreteSlot& slot) { return slot.id == id; });
  }

  // Scores all pairs anew after each fold.
  std::vector<Fold> consolidate(float least, std::int64_t time) {
    expire(time);
    std::vector<Fold> folds;
    for (;;) {
      std::vector<std::vector<T>> centroids;
      for (const ConcreteSlot& slot : slots_) {
        std::vector<T> centroid = unit<T>(std::span<const double>(slot.key_sum));
        centroids.push_back(centroid.empty() ? slot.key : centroid);
      }
      T similarity = -2;
      std::size_t first = 0;
      std::size_t second = 0;
      for (std::size_t i = 0; i < slots_.size(); ++i) {
        for (std::size_t j = i + 1; j < slots_.size(); ++j) {
          const T score = snap(dot(centroids[i], centroids[j]), config_.dimension);
          if (score > similarity) {
            similarity = score;
            first = i;
            second = j;
          }
        }
      }
      if (similarity < static_cast<T>(least)) return folds;
      if (slots_[first].usage.less(slots_[second].usage)) std::swap(first, second);
      const Fold best{slots_[second].id, slots_[first].id};
      fold(best.slot, best.into, true);
      folds.push_back(best);
    }
  }

  void configure(const Config& config) {
    if (config.budget != config_.budget || config.budget == BudgetKind::fixed) allowed_ = config.m0;
    if (config.budget == BudgetKind::ghost) allowed_ = std::max(allowed_, config.m0);
    if (config.budget != BudgetKind::ghost) ghosts_.clear();
    config_ = config;
  }

  const std::vector<ConcreteSlot>& slots() const { return slots_; }
  double usage(const ConcreteSlot& slot) const { return slot.usage.over(growth_); }
  const Config& config() const { return config_; }

 private:
  static std::int64_t time_of(const QueryOptions& options) {
    return options.time ? *options.time : std::numeric_limits<std::int64_t>::min();
  }

  ConcreteSlot& get(SlotId id) {
    return *std::find_if(slots_.begin(), slots_.end(),
                         [&](const ConcreteSlot& s) { return s.id == id; });
  }

  const ConcreteSlot* find_nearest(const std::vector<T>& key, std::int64_t time,
                                   T& similarity) const {
    const ConcreteSlot* found = nullptr;
    for (const ConcreteSlot& slot : slots_) {  // ascending ids: ties go to the oldest
      if (slot.expires <= time) continue;
      const T score = snap(dot(key, slot.key), key.size());
      if (found == nullptr || score > similarity) {
        found = &slot;
        similarity = score;
      }
    }
    return found;
  }

  std::vector<std::pair<const ConcreteSlot*, T>> scores(const std::vector<T>& key,
                                                        const QueryOptions& options) const {
    std::vector<std::pair<const ConcreteSlot*, T>> all;
    for (const ConcreteSlot& slot : slots_) {
      if (slot.expires > time_of(options))
        all.emplace_back(&slot, snap(dot(key, slot.key), key.size()));
    }
    return all;
  }

  static std::vector<std::pair<const ConcreteSlot*, T>> best(
      std::vector<std::pair<const ConcreteSlot*, T>> all, std::size_t k) {
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    all.resize(std::min(k, all.size()));
    return all;
  }

  void expire(std::int64_t time) {
    std::erase_if(slots_, [&](const ConcreteSlot& slot) { return slot.expires <= time; });
  }

  void open(SlotId id, const std::vector<T>& key, const Item& item) {
    ConcreteSlot slot;
    slot.id = id;
    slot.key = key;
    slot.value.assign(item.value.begin(), item.value.end());
    slot.payload = item.payload;
    if (item.exact_key) slot.exact_keys.emplace_back(*item.exact_key);
    slot.key_sum.assign(key.begin(), key.end());
    slot.value_sum.assign(item.value.begin(), item.value.end());
    slot.usage = growth_;
    slot.first_time = slot.last_time = item.time;
    const std::optional<std::int64_t> ttl = item.ttl_ms ? item.ttl_ms : config_.ttl_ms;
    if (ttl && item.time + *ttl <= kMaxInteger) slot.expires = item.time + *ttl;
    slots_.push_back(std::move(slot));
  }

  void merge(ConcreteSlot& slot, const std::vector<T>& key, const Item& item) {
    slot.usage = slot.usage.plus(growth_);
    ++slot.count;
    slot.last_time = std::max(slot.last_time, item.time);
    for (std::size_t i = 0; i < key.size(); ++i) slot.key_sum[i] += static_cast<double>(key[i]);
    if (config_.key_update == KeyUpdate::centroid) center(slot);
    for (std::size_t i = 0; i < slot.value.size(); ++i) {
      const T v = static_cast<T>(item.value[i]);
      slot.value_sum[i] += static_cast<double>(v);
      if (config_.value_update == ValueUpdate::last) slot.value[i] = v;
      if (config_.value_update == ValueUpdate::mean) {
        slot.value[i] = static_cast<T>(slot.value_sum[i] / static_cast<double>(slot.count));
      }
      if (config_.value_update == ValueUpdate::ema) {
        slot.value[i] = moved(slot.value[i], v);
      }
    }
    const bool keep = config_.value_update == ValueUpdate::first && !slot.payload.empty();
    if (!item.payload.empty() && !keep) slot.payload = item.payload;
    if (item.exact_key &&
        std::count(slot.exact_keys.begin(), slot.exact_keys.end(), *item.exact_key) == 0) {
      slot.exact_keys.emplace_back(*item.exact_key);
    }
  }

  // `ema` of the way to the target, in double, rounded once.
  T moved(T value, T target) const {
    const double step = static_cast<double>(config_.ema) *
                        (static_cast<double>(target) - static_cast<double>(value));
    return static_cast<T>(static_cast<double>(value) + step);
  }

  void center(ConcreteSlot& slot) {
    std::vector<T> key = unit<T>(std::span<const double>(slot.key_sum));
    if (!key.empty()) slot.key = std::move(key);
  }

  void fold(SlotId from_id, SlotId into_id, bool to_centroid) {
    ConcreteSlot& into = get(into_id);
    ConcreteSlot& from = get(from_id);
    for (std::size_t i = 0; i < into.key_sum.size(); ++i) into.key_sum[i] += from.key_sum[i];
    if (to_centroid) center(into);

    const bool from_first =
        std::pair(from.first_time, from.id) < std::pair(into.first_time, into.id);
    const bool from_last = std::pair(from.last_time, from.id) > std::pair(into.last_time, into.id);
    const double count = static_cast<double>(from.count + into.count);
    for (std::size_t i = 0; i < into.value.size(); ++i) {
      const T early = from_last ? into.value[i] : from.value[i];
      const T late = from_last ? from.value[i] : into.value[i];
      into.value_sum[i] += from.value_sum[i];
      switch (config_.value_update) {
        case ValueUpdate::first:
          into.value[i] = from_first ? from.value[i] : into.value[i];
          break;
        case ValueUpdate::last:
          into.value[i] = late;
          break;
        case ValueUpdate::mean:
          into.value[i] = static_cast<T>(into.value_sum[i] / count);
          break;
        case ValueUpdate::ema:
          into.value[i] = moved(early, late);
          break;
      }
    }
    const bool take = config_.value_update == ValueUpdate::first ? from_first : from_last;
    if (!from.payload.empty() && (take || into.payload.empty())) into.payload = from.payload;
    into.usage = into.usage.plus(from.usage);
    into.count += from.count;
    into.first_time = std::min(into.first_time, from.first_time);
    into.last_time = std::max(into.last_time, from.last_time);
    into.expires = std::min(into.expires, from.expires);
    into.exact_keys.insert(into.exact_keys.end(), from.exact_keys.begin(), from.exact_keys.end());
    erase(from_id);
  }

  SlotId least_used(SlotId keep) const {
    const ConcreteSlot* least = nullptr;
    for (const ConcreteSlot& slot : slots_) {
      if (slot.id != keep && (least == nullptr || slot.usage.less(least->usage))) least = &slot;
    }
    return least->id;
  }

  SlotId nearest_to_slot(SlotId id) {
    const std::vector<T> key = get(id).key;
    SlotId found = 0;
    T similarity = -2;
    for (const ConcreteSlot& slot : slots_) {
      const T score = snap(dot(key, slot.key), key.size());
      if (slot.id != id && score > similarity) {
        similarity = score;
        found = slot.id;
      }
    }
    return found;
  }

  double limit() const {
    double slots = std::numeric_limits<double>::infinity();
    if (config_.budget != BudgetKind::none)
      slots = std::max(1.0, std::floor(static_cast<double>(allowed_)));
    if (config_.max_slots) slots = std::min(slots, static_cast<double>(*config_.max_slots));
    return slots;
  }

  // Sign b: that of the sum of k_d, each with the sign that bit b of mix64(d) gives it.
  static std::uint64_t signs(const std::vector<T>& key) {
    std::uint64_t bits = 0;
    for (unsigned b = 0; b < 64; ++b) {
      const T sum = canonical_sum<T>(
          key.size(), [&](std::size_t d) { return (mix64(d) >> b & 1U) != 0 ? key[d] : -key[d]; });
      if (sum > 0) bits |= std::uint64_t{1} << b;
    }
    return bits;
  }

  void follow_ghosts(bool novel, const std::vector<T>& key) {
    if (!novel) {
      allowed_ = std::max(config_.m0, allowed_ - 0.2F);
      return;
    }
    const std::uint64_t bits = signs(key);
    const auto distance = [&](std::uint64_t ghost) { return std::popcount(ghost ^ bits); };
    const auto ghost = std::min_element(
        ghosts_.begin(), ghosts_.end(),
        [&](std::uint64_t a, std::uint64_t b) { return distance(a) < distance(b); });
    if (ghost == ghosts_.end() || distance(*ghost) > 16) return;
    ghosts_.erase(ghost);
    allowed_ = allowed_ + 1.0F;
    if (config_.max_slots) allowed_ = std::min(allowed_, static_cast<float>(*config_.max_slots));
    allowed_ = std::max(config_.m0, allowed_);
  }

  Config config_;
  std::vector<ConcreteSlot> slots_;  // ascending ids
  SlotId next_id_ = 1;
  Wide growth_;
  float surprise_ = 0.0F;
  float allowed_;
  std::vector<std::uint64_t> ghosts_;  // oldest first
};

}  // namespace dpcache::reference

#endif  // DPCACHE_TESTS_REFERENCE_H_
