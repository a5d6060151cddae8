// Snapshots and exports while others write: each is one moment of its cache, and nobody's change is
// lost. Runs under the thread sanitizer too.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "dpcache/dpcache.h"
#include "server/api_support.h"

namespace dpcache::server::testing {
namespace {

constexpr unsigned kWriters = 3;
constexpr unsigned kBatches = 150;  // of each writer, four items each

std::string batch(std::mt19937& random) {
  std::string body = R"({"items": [)";
  for (int i = 0; i < 4; ++i) {
    body += i == 0 ? "" : ", ";
    body += R"({"key": [)" + std::to_string(1 + random() % 40) + ", " +
            std::to_string(1 + random() % 40) + R"(], "time": 1000})";
  }
  return body + "]}";
}

std::span<const std::byte> bytes_of(const Reply& reply) {
  return std::as_bytes(std::span(reply.body.data(), reply.body.size()));
}

struct SnapshotsDuringWrites : ::testing::Test {
  Machine machine;

  void SetUp() override {
    const Reply made = machine.ask(
        "PUT", "/v1/caches/c", R"({"dimension": 2, "tau": 0.001, "budget": "fixed", "m0": 50})");
    ASSERT_EQ(made.status, 201) << made.body;
  }

  // Runs `beside` again and again until all writers have written. How often it ran.
  unsigned while_others_write(const std::function<void()>& beside) {
    std::atomic<unsigned> writing = kWriters;
    std::vector<std::thread> writers;
    for (unsigned which = 0; which < kWriters; ++which) {
      writers.emplace_back([this, which, &writing] {
        std::mt19937 random(which);
        for (unsigned i = 0; i < kBatches; ++i) {
          const Reply reply = machine.ask("POST", "/v1/caches/c/observe", batch(random));
          EXPECT_EQ(reply.status, 200) << reply.body;
        }
        --writing;
      });
    }
    unsigned count = 0;
    do {
      beside();
      ++count;
    } while (writing > 0);
    for (std::thread& writer : writers) writer.join();
    return count;
  }

  nlohmann::json stats() {
    nlohmann::json stats = machine.ask("GET", "/v1/caches/c").json()["stats"];
    stats.erase("bytes");  // how it was allocated is no part of the state
    return stats;
  }
};

TEST_F(SnapshotsDuringWrites, AnExportIsAMomentFromWhichTheEventsLeadToTheEnd) {
  std::vector<Reply> exports;
  while_others_write([&] {
    const std::uint64_t before = stats()["seq"];
    Reply reply = machine.ask("GET", "/v1/caches/c/snapshot");
    const std::uint64_t after = stats()["seq"];
    ASSERT_EQ(reply.status, 200);
    const auto cache = Cache::load(bytes_of(reply));
    ASSERT_TRUE(cache) << cache.status.detail;
    EXPECT_LE(before, cache->stats().seq);
    EXPECT_LE(cache->stats().seq, after);
    exports.push_back(std::move(reply));
  });
  const auto hosted = machine.service->find("c");
  ASSERT_TRUE(hosted);
  const std::uint64_t last = stats()["seq"];
  std::vector<std::string> events;
  ASSERT_TRUE(machine.service->events(*hosted, 0, 1U << 20U,
                                      [&](std::string_view event) { events.emplace_back(event); }));
  ASSERT_EQ(events.size(), last);
  for (const Reply& reply : exports) {
    auto cache = std::move(*Cache::load(bytes_of(reply)));
    for (std::uint64_t seq = cache.stats().seq; seq < last; ++seq) {
      const auto event = decode_event(std::as_bytes(std::span(events[seq])));
      ASSERT_TRUE(event) << event.status.detail;
      const Status applied = cache.apply(event->event());
      ASSERT_TRUE(applied) << applied.detail;
    }
    EXPECT_EQ(cache.stats().state_hash, hosted->cache().stats().state_hash);
  }
}

TEST_F(SnapshotsDuringWrites, TheServersOwnKeepNobodyWaitingAndLoseNothing) {
  const unsigned made = while_others_write([&] {
    machine.service->snapshot(true);
    EXPECT_EQ(machine.ask("GET", "/v1/caches/c/snapshot").status, 200);
  });
  EXPECT_GT(made, 0U);
  EXPECT_GT(machine.service->snapshots_made(), 0U);
  EXPECT_EQ(machine.service->snapshots_failed(), 0U);
  const nlohmann::json before = stats();
  EXPECT_EQ(before["items"], kWriters * kBatches * 4);
  machine.restart();  // from the last of them, and what came behind it
  EXPECT_EQ(stats(), before);
  EXPECT_EQ(machine.errors(), "");
}

TEST(Exports, DoNotHoldWhatTheLogHasLost) {
  ServiceOptions options;
  options.threads = 1;
  Machine machine(options);
  ASSERT_EQ(machine.ask("PUT", "/v1/caches/c", R"({"dimension": 2})").status, 201U);
  const auto hosted = machine.service->find("c");
  ASSERT_TRUE(soon([&] { return machine.log.waiting() == 0 && hosted->turns.waiting() == 0; }));
  machine.log.hold();
  machine.log.fail_next(Service::partition_of("c"), Append::full);
  auto losing =
      machine.begin(request("POST", "/v1/caches/c/observe", R"({"items": [{"key": [1, 0]}]})"));
  ASSERT_TRUE(soon([&] { return machine.log.waiting() == 1; }));
  // Nothing goes back to what the log has until the one thread for long work is free.
  std::promise<void> free;
  machine.service->pool().post([done = free.get_future().share()] { done.wait(); });
  machine.log.release();
  const Reply lost = losing.get();
  EXPECT_EQ(lost.status, 507U) << lost.body;
  auto waiting = machine.begin(request("GET", "/v1/caches/c/snapshot"));
  free.set_value();
  const Reply early = waiting.get();
  EXPECT_EQ(early.status, 503U);
  EXPECT_EQ(early.json()["code"], "unavailable") << early.body;
  Reply later;
  ASSERT_TRUE(soon([&] {
    later = machine.ask("GET", "/v1/caches/c/snapshot");
    return later.status == 200;
  }));
  const auto cache = Cache::load(bytes_of(later));
  ASSERT_TRUE(cache) << cache.status.detail;
  EXPECT_EQ(cache->stats().items, 0U);
}

}  // namespace
}  // namespace dpcache::server::testing
