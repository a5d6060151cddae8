// The studies that compare mechanisms: table 1, the frontier, noise, fixed states, clustering, and
// the hybrid of an integrator and a memory.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "paper/grouped.h"
#include "paper/lineup.h"
#include "paper/mechanism.h"
#include "paper/table.h"
#include "studies/plateau.h"
#include "studies/studies.h"

namespace dpcache::paper {
namespace {

using studies::Distinct;
using studies::Random;
using studies::Spread;
using studies::Stream;

double recall(const Mechanism& mechanism, const Stream& stream) {
  double right = 0.0;
  for (std::size_t i = 0; i < stream.queries.size(); ++i) {
    if (mechanism.answer(stream.queries[i]) == stream.answers[i]) ++right;
  }
  return right / static_cast<double>(stream.queries.size());
}

void fill(Mechanism& mechanism, const Stream& stream) {
  for (std::size_t t = 0; t < stream.keys.size(); ++t) {
    mechanism.write(stream.keys[t], stream.classes[t]);
  }
  mechanism.finish();
}

struct Figures {
  Spread recall;
  Spread slots;
  Spread floats;
  void add(const Mechanism& mechanism, const Stream& stream) {
    recall.add(paper::recall(mechanism, stream));
    slots.add(mechanism.slots());
    floats.add(mechanism.floats());
  }
  // Means over the episodes of a seed.
  void add(const Figures& episodes) {
    recall.add(episodes.recall.mean());
    slots.add(episodes.slots.mean());
    floats.add(episodes.floats.mean());
  }
  void put_all(const std::string& study, const std::string& series, double x) const {
    put(study, series, x, "recall", recall);
    put(study, series, x, "slots", slots);
    put(study, series, x, "floats", floats);
  }
};

Stream repeated(Random& random, std::size_t items, std::size_t times, std::size_t dimension,
                double rho) {
  const Distinct distinct = studies::distinct_items(random, items, dimension);
  return studies::make_stream(random, distinct, studies::each_repeated(random, items, times), rho);
}

// 64 items four times in keys of `dimension`, ten seeds of twenty episodes.
Figures table_one_of(const Contender& one, std::size_t dimension) {
  Figures figures;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Figures episodes;
    for (std::uint64_t episode = 0; episode < 20; ++episode) {
      Random random(1000 * seed + episode);
      const Stream stream = repeated(random, 64, 4, dimension, 0.0);
      Setting setting;
      setting.dimension = dimension;
      setting.seed = 1000 * seed + episode;
      const std::unique_ptr<Mechanism> mechanism = one.make(setting);
      fill(*mechanism, stream);
      episodes.add(*mechanism, stream);
    }
    figures.add(episodes);
  }
  return figures;
}

void frontier_of(const std::string& study, const std::vector<Stream>& streams,
                 const std::vector<std::size_t>& budgets) {
  for (const Contender& one : budgeted_contenders()) {
    for (std::size_t budget : budgets) {
      Figures figures;
      for (std::size_t seed = 0; seed < streams.size(); ++seed) {
        Setting setting;
        setting.budget = budget;
        setting.least_similarity = 0.6;
        setting.seed = seed;
        const std::unique_ptr<Mechanism> mechanism = one.make(setting);
        fill(*mechanism, streams[seed]);
        figures.add(*mechanism, streams[seed]);
      }
      figures.put_all(study, one.name, static_cast<double>(budget));
    }
  }
}

// 256 items in 4,096 elements, each once and the rest by Zipf's law.
Stream zipf_stream(Random& random, double rho) {
  const Distinct items = studies::distinct_items(random, 256, 64);
  const std::vector<double> weights =
      studies::popularity_weights(random, studies::Popularity::zipf, 256);
  return studies::make_stream(random, items, studies::each_and_popular(random, weights, 4096), rho);
}

// One pass that does not know the number of items, against k-means over all tokens, which must be
// told it.
void clustering_of(const std::string& study, std::size_t items, std::uint64_t seeds,
                   const std::vector<double>& rhos) {
  enum class Kind { frozen, centroid, consolidated, half, equal, twice };
  const std::vector<std::pair<Kind, const char*>> kinds = {
      {Kind::frozen, "dpcache, frozen keys"},
      {Kind::centroid, "dpcache, centroids"},
      {Kind::consolidated, "dpcache, consolidated at the end"},
      {Kind::half, "k-means, M = K/2"},
      {Kind::equal, "k-means, M = K"},
      {Kind::twice, "k-means, M = 2K"}};
  for (const auto& [kind, name] : kinds) {
    for (double rho : rhos) {
      Figures figures;
      for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        Random random(seed);
        const Stream stream =
            study == "clustering" ? repeated(random, items, 8, 64, rho) : zipf_stream(random, rho);
        if (kind >= Kind::half) {
          const std::size_t twice = kind == Kind::half ? 1 : kind == Kind::equal ? 2 : 4;
          Clustered mechanism(items * twice / 2, seed);
          fill(mechanism, stream);
          figures.add(mechanism, stream);
          continue;
        }
        Config config = studies::settings(0.6);
        config.keep_sums = kind == Kind::consolidated;
        if (kind == Kind::centroid) config.key_update = KeyUpdate::centroid;
        Dpcache mechanism(config);
        fill(mechanism, stream);
        if (kind == Kind::consolidated) static_cast<void>(mechanism.cache().consolidate());
        figures.add(mechanism, stream);
      }
      figures.put_all(study, name, rho);
    }
  }
}

}  // namespace

void table_one() {
  for (const Contender& one : all_contenders()) {
    table_one_of(one, 64).put_all("table1", one.name, 64);
  }
  for (const char* name : {"linear attention", "DeltaNet (beta 1)"}) {
    table_one_of(contender(name), 32).put_all("table1", std::string(name) + ", d = 32", 32);
  }
}

void frontier() {
  std::vector<Stream> uniform;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    uniform.push_back(repeated(random, 64, 4, 64, 0.3));
  }
  frontier_of("frontier_uniform", uniform, {16, 24, 32, 40, 48, 56, 64, 96, 128, 192});
  std::vector<Stream> zipf;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    zipf.push_back(zipf_stream(random, 0.3));
  }
  frontier_of("frontier_zipf", zipf, {32, 64, 128, 192, 256, 512});
}

// Both keys and queries carry noise; budgets are the number of items.
void noise() {
  for (const char* name : {"dpcache", "full attention", "H2O (B/8 recent)", "recency",
                           "clustered attention (k-means, B)", "linear attention",
                           "DeltaNet (beta 1)", "neural episodic control", "Kanerva (B rows)"}) {
    for (double rho : {0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0}) {
      Figures figures;
      for (std::uint64_t seed = 0; seed < 10; ++seed) {
        Random random(seed);
        const Stream stream = repeated(random, 64, 4, 64, rho);
        Setting setting;
        setting.least_similarity = 0.6;
        setting.seed = seed;
        const std::unique_ptr<Mechanism> mechanism = contender(name).make(setting);
        fill(*mechanism, stream);
        figures.add(*mechanism, stream);
      }
      figures.put_all("noise", name, rho);
    }
  }
}

// How many items a state of a fixed size can hold.
void fixed_state() {
  for (const char* name : {"dpcache", "DeltaNet (beta 1)", "linear attention", "Titans-like",
                           "selective scan (Mamba-like)", "diagonal SSM (64 states)"}) {
    for (std::size_t items : {8U, 16U, 32U, 64U, 128U, 256U, 512U}) {
      Figures figures;
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        Random random(seed);
        const Stream stream = repeated(random, items, 4, 64, 0.3);
        Setting setting;
        setting.least_similarity = 0.6;
        setting.seed = seed;
        const std::unique_ptr<Mechanism> mechanism = contender(name).make(setting);
        fill(*mechanism, stream);
        figures.add(*mechanism, stream);
      }
      figures.put_all("fixed_state", name, static_cast<double>(items));
    }
  }
}

void clustering() {
  clustering_of("clustering", 64, 10, {0.1, 0.3, 0.5, 0.7});
  clustering_of("clustering_zipf", 256, 5, {0.1, 0.3, 0.5, 0.7});
}

// 24 items three times; each token has a flag, and the second question is how many were set. An
// integrator counts them, a memory recalls; R^2 is of the best line from a feature to the count.
void hybrid() {
  constexpr std::size_t kTaught = 1500;
  constexpr std::size_t kEpisodes = 2000;
  const std::vector<const char*> names = {"SSM alone (an integrator and class counts)",
                                          "attention over all tokens", "dpcache alone",
                                          "SSM + dpcache"};
  std::vector<Spread> recalls(4);
  std::vector<Spread> fits(4);
  Spread slots;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Random random(seed);
    std::vector<std::vector<double>> features(4);
    std::vector<double> counts;
    std::vector<Spread> right(4);
    for (std::size_t episode = 0; episode < kEpisodes; ++episode) {
      const Stream stream = repeated(random, 24, 3, 64, 0.3);
      const double chance = random.uniform();
      Dpcache memory(studies::settings(0.6));
      FullAttention attention;
      double count = 0.0;
      double first_flags = 0.0;  // those that came with the items that opened a slot
      Value classes{};
      for (std::size_t t = 0; t < stream.keys.size(); ++t) {
        const double flag = random.uniform() < chance ? 1.0 : 0.0;
        const double before = memory.slots();
        memory.write(stream.keys[t], stream.classes[t]);
        attention.write(stream.keys[t], stream.classes[t]);
        count += flag;
        if (memory.slots() > before) first_flags += flag;
        ++classes[stream.classes[t]];
      }
      counts.push_back(count);
      features[0].push_back(count);
      features[1].push_back(count / static_cast<double>(stream.keys.size()));
      features[2].push_back(first_flags / memory.slots());
      features[3].push_back(count);
      slots.add(memory.slots());
      if (episode < kTaught) continue;
      const auto modal = static_cast<std::size_t>(std::max_element(classes.begin(), classes.end()) -
                                                  classes.begin());
      double modal_right = 0.0;
      for (std::size_t answer : stream.answers) modal_right += answer == modal ? 1.0 : 0.0;
      right[0].add(modal_right / static_cast<double>(stream.answers.size()));
      right[1].add(recall(attention, stream));
      right[2].add(recall(memory, stream));
      right[3].add(recall(memory, stream));
    }
    for (std::size_t kind = 0; kind < 4; ++kind) {
      const std::vector<double> xs(features[kind].begin(), features[kind].begin() + kTaught);
      const std::vector<double> ys(counts.begin(), counts.begin() + kTaught);
      const double slope = studies::slope(xs, ys);
      Spread x_all;
      Spread y_all;
      for (double x : xs) x_all.add(x);
      for (double y : ys) y_all.add(y);
      Spread tested;
      double missed = 0.0;
      for (std::size_t e = kTaught; e < kEpisodes; ++e) {
        const double said = y_all.mean() + slope * (features[kind][e] - x_all.mean());
        missed += (counts[e] - said) * (counts[e] - said);
        tested.add(counts[e]);
      }
      const auto n = static_cast<double>(kEpisodes - kTaught);
      fits[kind].add(1.0 - missed / (tested.sd() * tested.sd() * n));
      recalls[kind].add(right[kind].mean());
    }
  }
  const std::vector<double> held = {1.0, 72.0, slots.mean(), slots.mean()};
  constexpr double kEntry = 64.0 + kClasses;
  const std::vector<double> floats = {1.0 + kClasses, 72.0 * (kEntry + 1.0),
                                      slots.mean() * (kEntry + 2.0),
                                      slots.mean() * (kEntry + 1.0) + 1.0};
  for (std::size_t kind = 0; kind < 4; ++kind) {
    put("hybrid", names[kind], 24, "recall", recalls[kind]);
    put("hybrid", names[kind], 24, "r2", fits[kind]);
    put("hybrid", names[kind], 24, "slots", held[kind]);
    put("hybrid", names[kind], 24, "floats", floats[kind]);
  }
}

}  // namespace dpcache::paper
