// Times the memory's own work at several sizes, beside the time that reading its keys takes.
//
// The caches are made by replaying recorded allocations, which scores nothing, so that 100,000
// slots take no minutes to make. Keys are random directions; queries are a key with a little noise.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "dpcache/dpcache.h"
#include "kernels.h"

namespace {

using dpcache::Cache;
using dpcache::Config;
using dpcache::Item;

constexpr std::uint32_t kValueDimension = 16;

std::vector<float> random_vectors(std::size_t count, std::size_t dimension, std::uint64_t seed) {
  std::vector<float> out(count * dimension);
  std::uint64_t i = seed << 32U;
  for (float& x : out) {
    // A sum of four uniform numbers is near enough to a Gaussian for directions.
    std::int64_t sum = 0;
    for (int part = 0; part < 4; ++part) {
      sum += static_cast<std::int32_t>(dpcache::mix64(i++) >> 32U);
    }
    x = static_cast<float>(sum) * 0x1p-31F;
  }
  return out;
}

Cache make_cache(std::uint32_t dimension, std::size_t slots) {
  Config config;
  config.dimension = dimension;
  config.value_dimension = kValueDimension;
  Cache cache = std::move(*Cache::create(config));
  const std::vector<float> keys = random_vectors(slots, dimension, 1);
  const std::vector<float> value(kValueDimension, 1.0F);
  std::vector<float> unit(dpcache::padded(dimension));
  for (std::size_t i = 0; i < slots; ++i) {
    dpcache::kernels::normalise(std::span(keys).subspan(i * dimension, dimension), unit);
    dpcache::Event event;
    event.seq = i + 1;
    event.item.key = std::span(unit).first(dimension);
    event.item.value = value;
    event.decision.slot = i + 1;
    if (!cache.apply(event)) std::abort();
  }
  return cache;
}

// One cache a size, made once.
Cache& cache_of(const benchmark::State& state) {
  static std::map<std::pair<std::int64_t, std::int64_t>, Cache> caches;
  const std::pair size{state.range(0), state.range(1)};
  auto at = caches.find(size);
  if (at == caches.end()) {
    caches.clear();  // one at a time: 100,000 x 768 takes 300 MB
    at = caches
             .emplace(size, make_cache(static_cast<std::uint32_t>(size.first),
                                       static_cast<std::size_t>(size.second)))
             .first;
  }
  return at->second;
}

// Queries near slots, so that each merges.
std::vector<float> near_slots(const Cache& cache, std::size_t count) {
  const std::uint32_t dimension = cache.config().dimension;
  const std::vector<float> noise = random_vectors(count, dimension, 2);
  std::vector<float> out;
  for (std::size_t i = 0; i < count; ++i) {
    const auto slot = cache.slot(dpcache::mix64(i) % cache.size() + 1);
    for (std::size_t d = 0; d < dimension; ++d) {
      out.push_back(slot->key[d] +
                    0.2F * noise[i * dimension + d] / static_cast<float>(dimension / 8));
    }
  }
  return out;
}

constexpr std::size_t kQueries = 64;

void set_bytes(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * state.range(0) * state.range(1) * 4);
}

// What the machine can do at best with the same bytes: read them once.
#if defined(__x86_64__) && !defined(__clang__)
__attribute__((target_clones("default", "avx2", "avx512f")))
#endif
std::uint64_t
add_up(const std::uint64_t* x, std::size_t n) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += x[i];
  return sum;
}

void read_bandwidth(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0) * state.range(1)) / 2;
  std::vector<std::uint64_t> bytes(n, 1);
  for (auto _ : state) benchmark::DoNotOptimize(add_up(bytes.data(), n));
  set_bytes(state);
}

void normalise(benchmark::State& state) {
  const auto dimension = static_cast<std::size_t>(state.range(0));
  const std::vector<float> key = random_vectors(1, dimension, 3);
  std::vector<float> out(dpcache::padded(dimension));
  for (auto _ : state) {
    dpcache::kernels::normalise(key, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations());
}

void nearest(benchmark::State& state) {
  const Cache& cache = cache_of(state);
  const std::vector<float> queries = near_slots(cache, kQueries);
  const std::size_t dimension = cache.config().dimension;
  std::size_t i = 0;
  for (auto _ : state) {
    const auto query = std::span(queries).subspan(i++ % kQueries * dimension, dimension);
    benchmark::DoNotOptimize(cache.nearest(query));
  }
  set_bytes(state);
}

void score_top_10(benchmark::State& state) {
  const Cache& cache = cache_of(state);
  const std::vector<float> queries = near_slots(cache, kQueries);
  const std::size_t dimension = cache.config().dimension;
  std::size_t i = 0;
  for (auto _ : state) {
    const auto query = std::span(queries).subspan(i++ % kQueries * dimension, dimension);
    benchmark::DoNotOptimize(cache.score(query));
  }
  set_bytes(state);
}

void observe_merge(benchmark::State& state) {
  Cache& cache = cache_of(state);
  const std::vector<float> queries = near_slots(cache, kQueries);
  const std::size_t dimension = cache.config().dimension;
  const std::vector<float> value(kValueDimension, 1.0F);
  std::size_t i = 0;
  for (auto _ : state) {
    Item item;
    item.key = std::span(queries).subspan(i++ % kQueries * dimension, dimension);
    item.value = value;
    const auto decision = cache.observe(item);
    if (decision->action != dpcache::Action::merge) state.SkipWithError("the item did not merge");
  }
  set_bytes(state);
}

void read_mix(benchmark::State& state) {
  const Cache& cache = cache_of(state);
  const std::vector<float> queries = near_slots(cache, kQueries);
  const std::size_t dimension = cache.config().dimension;
  std::size_t i = 0;
  for (auto _ : state) {
    const auto query = std::span(queries).subspan(i++ % kQueries * dimension, dimension);
    benchmark::DoNotOptimize(cache.read(query));
  }
  set_bytes(state);
}

void save(benchmark::State& state) {
  const Cache& cache = cache_of(state);
  std::size_t size = 0;
  for (auto _ : state) {
    const std::vector<std::byte> bytes = cache.save();
    size = bytes.size();
    benchmark::DoNotOptimize(bytes.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(size));
}

void load(benchmark::State& state) {
  const std::vector<std::byte> bytes = cache_of(state).save();
  for (auto _ : state) benchmark::DoNotOptimize(Cache::load(bytes));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
}

}  // namespace

int main(int argc, char** argv) {
  for (std::int64_t dimension : {128, 384, 768}) {
    benchmark::RegisterBenchmark("normalise", normalise)->Args({dimension, 1});
    for (std::int64_t slots : {1'000, 10'000, 100'000}) {
      const std::pair<const char*, void (*)(benchmark::State&)> all[] = {
          {"read_bandwidth", read_bandwidth},
          {"nearest", nearest},
          {"score_top_10", score_top_10},
          {"observe_merge", observe_merge},
          {"read_mix", read_mix},
          {"save", save},
          {"load", load}};
      for (const auto& [name, function] : all) {
        benchmark::RegisterBenchmark(name, function)
            ->Args({dimension, slots})
            ->ArgNames({"d", "slots"})
            ->Unit(benchmark::kMicrosecond);
      }
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
