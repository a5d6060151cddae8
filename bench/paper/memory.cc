// The studies of the memory alone: threshold, growth, budgets, weaknesses, and the cost of a read.
// Set-ups are those of the tests, in studies/.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "paper/grouped.h"
#include "paper/table.h"
#include "studies/budgets.h"
#include "studies/plateau.h"
#include "studies/restaurant.h"
#include "studies/studies.h"
#include "studies/weaknesses.h"

namespace dpcache::paper {
namespace {

using namespace studies;  // NOLINT(google-build-using-namespace): nearly all of this file is it

void restaurants() {
  constexpr std::size_t kCustomers = 100000;
  constexpr std::uint64_t kRuns = 200;
  std::vector<std::size_t> marks;
  for (double n = 1.0; n <= 1.0001 * kCustomers; n *= std::pow(10.0, 0.25)) {
    marks.push_back(static_cast<std::size_t>(std::lround(n)));
  }
  for (double alpha : {1.0, 5.0, 10.0}) {
    const std::string series = "alpha = " + std::to_string(static_cast<int>(alpha));
    std::vector<Spread> at(marks.size());
    Spread slopes;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
      Random random(seed);
      Growth growth;
      double tables = 0.0;
      for (std::size_t n = 0, mark = 0; n < kCustomers; ++n) {
        if (opens_table(random, alpha, n)) ++tables;
        growth.note(n + 1, tables);
        while (mark < marks.size() && marks[mark] == n + 1) at[mark++].add(tables);
      }
      slopes.add(growth.per_logarithm());
    }
    for (std::size_t mark = 0; mark < marks.size(); ++mark) {
      const auto n = static_cast<double>(marks[mark]);
      put("crp", series, n, "tables", at[mark]);
      put("crp", series, n, "expected", expected_tables(alpha, marks[mark]));
    }
    put("crp", series, kCustomers, "slope", slopes);
  }
}

// The memory in such a restaurant, each customer a noisy copy of its table's key.
void memory_in_restaurants() {
  constexpr std::size_t kCustomers = 10000;
  for (double alpha : {1.0, 5.0, 10.0}) {
    Spread slots;
    Spread tables;
    double equal = 0.0;  // runs
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Random random(static_cast<std::uint64_t>(alpha) * 100 + seed);
      Order order;
      std::vector<Key> keys;
      Memory memory(settings(0.5, 128));
      for (std::size_t n = 0; n < kCustomers; ++n) {
        const bool opens = opens_table(random, alpha, n);
        order.push_back(opens ? keys.size() : order[random.below(n)]);
        if (opens) keys.push_back(random_key(random, 128));
        memory.observe(noisy(random, keys[order[n]], 0.3), 0);
      }
      slots.add(memory.slots());
      tables.add(static_cast<double>(keys.size()));
      if (memory.slots() == static_cast<double>(keys.size())) ++equal;
    }
    const std::string series = "alpha = " + std::to_string(static_cast<int>(alpha));
    put("crp_memory", series, kCustomers, "slots", slots);
    put("crp_memory", series, kCustomers, "equal", equal);
    put("crp_memory", series, kCustomers, "tables", tables);
  }
}

void finite_vocabulary() {
  const std::vector<std::size_t> marks = {1, 4, 16, 32, 64, 96, 128, 192, 256, 384, 512, 1024};
  std::vector<Spread> slots(marks.size());
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const Distinct items = distinct_items(random, 64, 128);
    const Stream stream = make_stream(random, items, drawn(random, 64, marks.back()), 0.3);
    Memory memory(settings(0.5, 128));
    for (std::size_t t = 0, mark = 0; t < stream.keys.size(); ++t) {
      memory.observe(stream.keys[t], stream.classes[t]);
      if (t + 1 == marks[mark]) slots[mark++].add(memory.slots());
    }
  }
  for (std::size_t mark = 0; mark < marks.size(); ++mark) {
    const auto n = static_cast<double>(marks[mark]);
    put("finite", "dpcache", n, "slots", slots[mark]);
    put("finite", "dpcache", n, "expected", 64.0 * (1.0 - std::pow(63.0 / 64.0, n)));
  }
}

void put_budget(const std::string& stream, const std::string& kind, const Outcome& outcome) {
  put("budget", stream, 0, kind + " recall", outcome.recall);
  put("budget", stream, 0, kind + " slots", outcome.slots);
}

// Means of the slots over time, all seeds together.
void put_trace(const std::string& series, const Config& config, const std::vector<Phases>& seeds) {
  std::vector<Spread> slots;
  for (const Phases& phases : seeds) {
    Memory memory(config);
    std::size_t step = 0;
    for (const Stream& phase : phases) {
      for (std::size_t t = 0; t < phase.keys.size(); ++t, ++step) {
        memory.observe(phase.keys[t], phase.classes[t]);
        if (step == slots.size()) slots.emplace_back();
        slots[step].add(memory.slots());
      }
    }
  }
  for (std::size_t step = 0; step < slots.size(); step += 4) {
    put("budget_trace", series, static_cast<double>(step + 1), "slots", slots[step]);
  }
}

void put_point(const std::string& series, const Point& point) {
  put("weakness", series, 0, "slots", point.slots);
  put("weakness", series, 0, "least slots", point.slots.least());
  put("weakness", series, 0, "most slots", point.slots.largest());
  put("weakness", series, 0, "recall", point.recall);
}

// Microseconds of one read.
double microseconds(const Cache& cache, const std::vector<Key>& queries) {
  const auto start = std::chrono::steady_clock::now();
  std::size_t reads = 0;
  double sink = 0.0;
  while (reads < 2000) {
    for (const Key& query : queries) {
      sink += static_cast<double>(
          cache.read(query, {.k = 0, .time = {}, .encoder = {}})->value.front());
      ++reads;
    }
  }
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  return took.count() / static_cast<double>(reads) + 0.0 * sink;
}

}  // namespace

void plateau_study() {
  const std::vector<double> least = {0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95};
  const std::vector<std::pair<Popularity, const char*>> kinds = {
      {Popularity::log_normal, "log-normal"},
      {Popularity::uniform, "uniform"},
      {Popularity::zipf, "Zipf"}};
  for (const auto& [popularity, name] : kinds) {
    const std::vector<PlateauPoint> points = plateau(popularity, least, 5);
    for (std::size_t i = 0; i < least.size(); ++i) {
      put("plateau", name, least[i], "recall", points[i].recall);
      put("plateau", name, least[i], "slots an item", points[i].slots);
    }
  }
}

void growth() {
  restaurants();
  memory_in_restaurants();
  finite_vocabulary();
}

void budgets() {
  const std::vector<std::pair<const char*, std::vector<Phases>>> streams = {
      {"6 and 30 fresh items in turn", six_and_thirty()},
      {"bursts", bursty()},
      {"one constant set of 18", constant_set(18, 108, 8)},
      {"one constant set of 30", constant_set(30, 108, 8)},
      {"fresh sets of 18", fresh_sets(std::vector<std::size_t>(8, 18), 108)},
      {"fresh sets of 30", fresh_sets(std::vector<std::size_t>(8, 30), 108)}};
  for (const auto& [name, seeds] : streams) {
    for (BudgetKind kind : {BudgetKind::adaptive, BudgetKind::ghost}) {
      const std::string label = kind == BudgetKind::adaptive ? "adaptive" : "ghost";
      const Outcome outcome = run(budgeted(kind, 6.0), seeds);
      put_budget(name, label, outcome);
      put("budget", name, 0, label + " fixed recall", fixed_recall(outcome.slots.mean(), seeds));
    }
  }
  const std::vector<Phases>& turns = streams.front().second;
  put_budget("6 and 30 fresh items in turn", "unbounded",
             run(budgeted(BudgetKind::none, 6.0), turns));
  put_budget("6 and 30 fresh items in turn", "fixed 18",
             run(budgeted(BudgetKind::fixed, 18.0), turns));
  put_trace("adaptive", budgeted(BudgetKind::adaptive, 6.0), turns);
  put_trace("ghost list", budgeted(BudgetKind::ghost, 6.0), turns);
  put_trace("fixed, 18", budgeted(BudgetKind::fixed, 18.0), turns);
}

void weaknesses() {
  for (double least : {0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9}) {
    const Point point = chain(least);
    put("chain", "cosine .75", least, "slots", point.slots);
    put("chain", "cosine .75", least, "recall", point.recall);
  }
  put("drift", "frozen", 180, "slots", slots_after_drift(KeyUpdate::frozen));
  put("drift", "centroid", 180, "slots", slots_after_drift(KeyUpdate::centroid));
  put_point("order, rho .3, frozen", orders(0.3, 0.6, KeyUpdate::frozen));
  put_point("order, rho .5, frozen", orders(0.5, 0.6, KeyUpdate::frozen));
  put_point("order, rho .7, frozen", orders(0.7, 0.6, KeyUpdate::frozen));
  put_point("order, rho .7, centroid", orders(0.7, 0.6, KeyUpdate::centroid));
  const Duplicates split = duplicates();
  put("duplicates", "as they came", 0, "slots an item", split.slots);
  put("duplicates", "as they came", 0, "recall", split.recall);
  put("duplicates", "consolidated", 0, "slots an item", split.slots_after);
  put("duplicates", "consolidated", 0, "recall", split.recall_after);
}

// 64 items r times. "All tokens" is the same code with a threshold that merges exact repeats only,
// so that the difference is what is kept, not how well it was written.
void read_cost() {
  struct Contender {
    std::string name;
    double repeats;
    std::unique_ptr<Memory> memory;
    std::vector<Key> queries;
    double least;  // microseconds
  };
  std::vector<Contender> all;
  for (std::size_t repeats : {4U, 8U, 16U, 32U, 64U, 128U}) {
    Random random(repeats);
    const Distinct items = distinct_items(random, 64, 64);
    const Stream stream = make_stream(random, items, each_repeated(random, 64, repeats), 0.3);
    for (const auto& [least, name] : {std::pair{0.5, "dpcache"}, std::pair{1.0, "all tokens"}}) {
      auto memory = std::make_unique<Memory>(settings(least));
      memory->observe(stream);
      all.push_back({name, static_cast<double>(repeats), std::move(memory), stream.queries, 1e9});
    }
  }
  // In turns, so that what else the machine does for a while falls on all of them.
  for (int round = 0; round < 15; ++round) {
    for (Contender& one : all) {
      one.least = std::min(one.least, microseconds(one.memory->cache(), one.queries));
    }
  }
  for (const Contender& one : all) {
    put("cost", one.name, one.repeats, "microseconds", one.least);
    put("cost", one.name, one.repeats, "slots", one.memory->slots());
  }
}

}  // namespace dpcache::paper
