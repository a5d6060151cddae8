// The shared vectors (tests/vectors): their exact answers on every instruction set, and the same
// answers when the cache is saved and loaded between the calls, replayed from its events, or fed in
// batches.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "hash.h"
#include "native/support.h"
#include "vector_runner.h"

namespace dpcache {
namespace {

using testing::Bytes;
using vectors::CacheMachine;
using vectors::Json;

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator(DPCACHE_TEST_DATA)) {
    if (entry.path().extension() == ".json") all.push_back(entry.path().stem().string());
  }
  std::sort(all.begin(), all.end());
  return all;
}

// Compared as text, because numbers that are equal need not have equal bits: 0 and -0.
void expect_answers(const Json& answers, const Json& expected) {
  ASSERT_EQ(answers.size(), expected.size());
  for (std::size_t step = 0; step < answers.size(); ++step) {
    EXPECT_EQ(answers[step].dump(), expected[step].dump()) << "step " << step;
  }
}

class Vectors : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::ifstream file(std::string(DPCACHE_TEST_DATA) + "/" + GetParam() + ".json");
    vector = Json::parse(file, nullptr, false);
    ASSERT_TRUE(vector.is_object()) << "not JSON";
    config = *config_from_json(vector["config"].dump());
  }

  void expect_hashes(const Cache& cache) const {
    EXPECT_EQ(vectors::hex(cache.stats().state_hash), vector["state_hash"]);
    EXPECT_EQ(vectors::hex(hash64(cache.save(), 0)), vector["snapshot_hash"]);
  }

  Json vector;
  Config config;
};

TEST_P(Vectors, HaveTheSameAnswersOnEveryTarget) {
  testing::on_every_target([&] {
    CacheMachine machine(config);
    expect_answers(vectors::run(machine, vector), vector["answers"]);
    expect_hashes(machine.cache());
  });
}

// Saves and loads before each call.
class ReloadingMachine : public CacheMachine {
 public:
  using CacheMachine::CacheMachine;

  Json observe(const Item& item) { return reloaded().CacheMachine::observe(item); }
  Json read(std::span<const float> query, const QueryOptions& options) {
    return reloaded().CacheMachine::read(query, options);
  }
  Json nearest(std::span<const float> query, const QueryOptions& options) {
    return reloaded().CacheMachine::nearest(query, options);
  }
  Json score(std::span<const float> query, const QueryOptions& options) {
    return reloaded().CacheMachine::score(query, options);
  }
  void erase(SlotId id, std::int64_t time) { reloaded().CacheMachine::erase(id, time); }
  Json consolidate(float similarity, std::int64_t time) {
    return reloaded().CacheMachine::consolidate(similarity, time);
  }
  void configure(const Config& config, std::int64_t time) {
    reloaded().CacheMachine::configure(config, time);
  }
  Json slots() { return reloaded().CacheMachine::slots(); }

 private:
  ReloadingMachine& reloaded() {
    const Bytes before = cache().save();
    cache() = testing::copy_of(cache());
    EXPECT_EQ(cache().save(), before);
    return *this;
  }
};

TEST_P(Vectors, HaveTheSameAnswersWhenSavedAndLoadedBetweenTheCalls) {
  ReloadingMachine machine(config);
  expect_answers(vectors::run(machine, vector), vector["answers"]);
  expect_hashes(machine.cache());
}

TEST_P(Vectors, AreReplayedFromTheirEventsToTheSameCache) {
  CacheMachine machine(config);
  const testing::EventLog log(machine.cache());
  vectors::run(machine, vector);
  machine.cache().on_event({});

  Cache replayed = testing::make_cache(config);
  log.replay(replayed);
  EXPECT_EQ(replayed.save(), machine.cache().save());
  expect_hashes(replayed);
}

// Remembers the calls and their answers. Runs of observations stand together.
class RecordingMachine : public CacheMachine {
 public:
  using CacheMachine::CacheMachine;
  struct Run {
    std::vector<testing::OwnedItem> items;
    std::vector<Json> decisions;
    std::function<void(CacheMachine&)> then;  // the call that ends the run
  };

  Json observe(const Item& item) {
    testing::OwnedItem owned{{item.key.begin(), item.key.end()},
                             {item.value.begin(), item.value.end()},
                             std::string(item.payload),
                             {},
                             item.time,
                             item.ttl_ms};
    if (item.exact_key) owned.exact_key = *item.exact_key;
    runs.back().items.push_back(std::move(owned));
    runs.back().decisions.push_back(CacheMachine::observe(item));
    return runs.back().decisions.back();
  }
  void erase(SlotId id, std::int64_t time) {
    end_run([=](CacheMachine& machine) { machine.erase(id, time); });
  }
  Json consolidate(float similarity, std::int64_t time) {
    end_run([=](CacheMachine& machine) { machine.consolidate(similarity, time); });
    return {};
  }
  void configure(const Config& config, std::int64_t time) {
    end_run([=](CacheMachine& machine) { machine.configure(config, time); });
  }

  std::vector<Run> runs{1};

 private:
  void end_run(std::function<void(CacheMachine&)> call) {
    call(*this);
    runs.back().then = std::move(call);
    runs.emplace_back();
  }
};

TEST_P(Vectors, HaveTheSameDecisionsInBatches) {
  RecordingMachine recorded(config);
  vectors::run(recorded, vector);

  CacheMachine machine(config);
  for (const RecordingMachine::Run& run : recorded.runs) {
    std::vector<Item> items;
    for (const testing::OwnedItem& item : run.items) items.push_back(item.view());
    const BatchResult batch = machine.cache().observe_batch(items);
    ASSERT_TRUE(batch);
    ASSERT_EQ(batch.decisions.size(), run.decisions.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      EXPECT_EQ(vectors::to_json(batch.decisions[i]).dump(), run.decisions[i].dump())
          << "item " << i;
    }
    if (run.then) run.then(machine);
  }
  expect_hashes(machine.cache());
}

INSTANTIATE_TEST_SUITE_P(All, Vectors, ::testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

TEST(VectorsFolder, HoldsVectors) {
  EXPECT_GE(names().size(), 35U);
}

}  // namespace
}  // namespace dpcache
