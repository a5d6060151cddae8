// The public calls that ask: reading by attention, nearest, scores, slots and statistics.
#include <algorithm>
#include <atomic>
#include <new>

#include "digits.h"
#include "dpcache/cache.h"
#include "kernels.h"
#include "search.h"
#include "search_batch.h"
#include "state.h"
#include "validate.h"
#include "workers.h"

namespace dpcache {

namespace {

Status check_query(const Config& config, std::span<const float> query,
                   const QueryOptions& options) {
  if (Status status = check_encoder(config, options.encoder); !status) return status;
  if (options.time && !is_time(*options.time)) {
    return {Error::bad_request, 0, "/time", "time must be below 2^53"};
  }
  return check_vector(query, config.dimension, "/key");
}

std::int64_t time_of(const QueryOptions& options) {
  return options.time ? *options.time : kBeforeAll;
}

Slot view(const CacheState& state, std::size_t r) {
  const Slots& slots = state.slots;
  Slot slot;
  const Row& row = slots.row(r);
  slot.id = row.id;
  slot.key = slots.key(r).first(slots.dimension());
  slot.value = slots.value(r);
  slot.payload = slots.payload(r);
  slot.exact_keys.assign(slots.exact_keys(r).begin(), slots.exact_keys(r).end());
  slot.usage = slots.usage(r);
  slot.count = row.count;
  slot.first_time = row.first_time;
  slot.last_time = row.last_time;
  if (row.expires != kNever) slot.expires = row.expires;
#if DPCACHE_TRUST
  slot.text = state.ledger.text(row.id);
#endif
  return slot;
}

}  // namespace

// Weights are exponentials of (similarity - largest) / theta in double, summed in the order of ids;
// the mix is summed in double in that order too, and rounded once.
Result<Reading> Cache::read(std::span<const float> query, const QueryOptions& options) const {
  const Config& config = state_->config;
  const Slots& slots = state_->slots;
  if (Status status = check_query(config, query, options); !status) return status;
  AlignedFloats key(slots.stride());
  kernels::normalise(query, key);
  std::vector<Nearest> all;
  similarities(slots, key.data(), time_of(options), all);

  Reading reading;
  if (all.empty()) {
    reading.null_weight = config.null_similarity ? 1.0F : 0.0F;
    return reading;
  }
  reading.empty = false;

  float largest = config.null_similarity ? *config.null_similarity : -1.0F;
  for (const Nearest& one : all) largest = std::max(largest, one.similarity);
  const auto weigh = [&](float similarity) {
    const double below = static_cast<double>(similarity) - static_cast<double>(largest);
    return exp_nonpositive(below / static_cast<double>(config.theta));
  };
  const double null_part = config.null_similarity ? weigh(*config.null_similarity) : 0.0;
  double total = null_part;
  std::vector<double> mixed(slots.value_stride(), 0.0);
  for (const Nearest& one : all) {
    const double weight = weigh(one.similarity);
    total += weight;
    if (!mixed.empty()) {
      kernels::accumulate(weight, slots.value(one.row).data(), mixed.size(), mixed.data());
    }
  }
  reading.value.resize(slots.value_dimension());
  for (std::size_t i = 0; i < reading.value.size(); ++i) {
    reading.value[i] = static_cast<float>(mixed[i] / total);
  }
  reading.null_weight = static_cast<float>(null_part / total);

  keep_top(all, options.k);
  reading.top.reserve(all.size());
  for (const Nearest& one : all) {
    reading.top.push_back(
        {slots.row(one.row).id, one.similarity, static_cast<float>(weigh(one.similarity) / total)});
  }
  return reading;
}

Result<std::optional<Match>> Cache::nearest(std::span<const float> query,
                                            const QueryOptions& options) const {
  const Slots& slots = state_->slots;
  if (Status status = check_query(state_->config, query, options); !status) return status;
  AlignedFloats key(slots.stride());
  kernels::normalise(query, key);
  const Nearest found = dpcache::nearest(slots, key.data(), time_of(options));
  if (found.row == kNoRow) return std::optional<Match>();
  return std::optional(Match{slots.row(found.row).id, found.similarity});
}

Result<std::vector<std::vector<Match>>> Cache::score(std::span<const float> queries,
                                                     const QueryOptions& options) const {
  const Slots& slots = state_->slots;
  const std::size_t dimension = slots.dimension();
  if (queries.size() % dimension != 0) {
    return Status{Error::bad_shape, 0, "/queries",
                  "the length of the queries is not a multiple of " + whole_number(dimension)};
  }
  for (std::size_t i = 0; i < queries.size(); i += dimension) {
    Status status = check_query(state_->config, queries.subspan(i, dimension), options);
    if (status) continue;
    status.index = i / dimension;
    return status;
  }
  std::vector<std::vector<Match>> results(queries.size() / dimension);
  const auto answer = [&](std::size_t i, const std::vector<Nearest>& found) {
    results[i].reserve(found.size());
    for (const Nearest& one : found) {
      results[i].push_back({slots.row(one.row).id, one.similarity});
    }
  };
  const std::size_t stride = slots.stride();
  std::vector<Nearest> found;
#if DPCACHE_NIBBLES
  const std::size_t most = std::min(Batch::most(slots), std::max<std::size_t>(results.size(), 1));
  AlignedFloats keys(most * stride);
  OwnBatch own;
  Batch& batch = *own;
  for (std::size_t begin = 0; begin < results.size(); begin += most) {
    const std::size_t count = std::min(most, results.size() - begin);
    for (std::size_t i = 0; i < count; ++i) {
      kernels::normalise(queries.subspan((begin + i) * dimension, dimension),
                         std::span(keys).subspan(i * stride, stride));
    }
    batch.take(slots, keys.data(), count);
    for (std::size_t i = 0; i < count;) {
      const std::size_t end = batch.look_ahead(i, time_of(options), options.k);
      if (workers() > 1 && end > i + 1) {
        std::atomic<bool> has_room = true;
        divide(end - i, [&](std::size_t part) {
          try {
            std::vector<Nearest> own_found;
            batch.top(i + part, time_of(options), options.k, own_found);
            answer(begin + i + part, own_found);
          } catch (const std::bad_alloc&) {
            has_room = false;
          }
        });
        if (!has_room) throw std::bad_alloc();
        i = end;
      } else {
        batch.top(i, time_of(options), options.k, found);
        answer(begin + i, found);
        ++i;
      }
    }
  }
#else
  AlignedFloats key(stride);
  for (std::size_t i = 0; i < results.size(); ++i) {
    kernels::normalise(queries.subspan(i * dimension, dimension), key);
    similarities(slots, key.data(), time_of(options), found);
    keep_top(found, options.k);
    answer(i, found);
  }
#endif
  return results;
}

Result<Slot> Cache::slot(SlotId id) const {
  const std::size_t r = state_->slots.find(id);
  if (r == kNoRow) {
    return Status{Error::not_found, 0, "/slot", "there is no slot " + whole_number(id)};
  }
  return view(*state_, r);
}

std::vector<Slot> Cache::slots(SlotId after, std::size_t limit) const {
  std::vector<Slot> views;
  const Slots& slots = state_->slots;
  for (std::size_t r = slots.first_after(after); r < slots.rows() && views.size() < limit; ++r) {
    if (slots.row(r).alive) views.push_back(view(*state_, r));
  }
  return views;
}

std::size_t Cache::size() const noexcept {
  return state_->slots.size();
}

const Config& Cache::config() const noexcept {
  return state_->config;
}

const std::map<std::string, std::string>& Cache::metadata() const noexcept {
  return state_->metadata;
}

Stats Cache::stats() const noexcept {
  const Counters& counters = state_->counters;
  Stats stats;
  stats.slots = state_->slots.size();
  stats.items = counters.items;
  stats.allocations = counters.allocations;
  stats.merges = counters.merges;
  stats.evictions = counters.evictions;
  stats.folds = counters.folds;
  stats.expirations = counters.expirations;
  stats.erasures = counters.erasures;
  stats.next_id = counters.next_id;
  stats.seq = counters.seq;
  stats.state_hash = counters.state_hash;
  stats.surprise = state_->budget.surprise();
  stats.budget = state_->budget.allowed();
  stats.bytes = sizeof(CacheState) + state_->slots.bytes();
#if DPCACHE_TRUST
  stats.bytes += state_->ledger.bytes();
  stats.splits = counters.splits;
  stats.reviews = state_->ledger.open_questions().size();
  stats.apart = state_->ledger.apart_pairs().size();
#endif
  return stats;
}

std::string Cache::warning() const {
  constexpr double kLoose = 0.8;          // merges whatever has a cosine of .2: near chance
  constexpr double kSuspect = 0.5;        // below this, one slot rather means one item
  constexpr std::uint64_t kEnough = 100;  // items before the counts say anything
  constexpr int kDigits = 3;
  const auto tau = static_cast<double>(threshold(state_->config));
  const Counters& counters = state_->counters;
  const std::string begin = "tau = " + decimal(tau, kDigits);
  if (counters.items >= kEnough && counters.allocations == 1 && tau > kSuspect) {
    return begin + " merged all " + whole_number(counters.items) +
           " items into one slot: it is a novelty (1 - cosine), smaller is stricter";
  }
  if (counters.items >= kEnough && counters.allocations * 100 > counters.items * 99) {
    return begin + " merged fewer than 1 in 100 of " + whole_number(counters.items) +
           " items: it is a novelty (1 - cosine), larger is looser";
  }
  if (tau > kLoose) {
    return begin + " merges items whose cosine is as low as " + decimal(1.0 - tau, kDigits) +
           ": it is a novelty (1 - cosine), not a similarity";
  }
  return {};
}

}  // namespace dpcache
