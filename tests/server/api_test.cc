// The REST API, without sockets: what it takes, what it answers, what it refuses.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <future>
#include <new>

#include "api/body.h"
#include "server/api_support.h"
#include "service/turns.h"

namespace dpcache::server::testing {
namespace {

using nlohmann::json;

std::string floats(std::initializer_list<float> values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.begin(), bytes.size());
  return bytes;
}

const Headers kBinary = {{"content-type", "Application/Octet-Stream; charset=binary"}};

struct Api : ::testing::Test {
  Machine machine;

  Reply ask(std::string method, std::string target, std::string body = "", Headers headers = {}) {
    return machine.ask(std::move(method), std::move(target), std::move(body), std::move(headers));
  }
  void make(const std::string& name = "c", const std::string& config = R"({"dimension": 2})") {
    const Reply reply = ask("PUT", "/v1/caches/" + name, config);
    ASSERT_EQ(reply.status, 201) << reply.body;
  }
  void expect_problem(const Reply& reply, unsigned status, std::string_view code,
                      std::string_view pointer = "") {
    EXPECT_EQ(reply.status, status) << reply.body;
    EXPECT_EQ(reply.header("Content-Type"), "application/problem+json");
    const json body = reply.json();
    ASSERT_TRUE(body.is_object()) << reply.body;
    EXPECT_EQ(body["code"], code) << reply.body;
    EXPECT_EQ(body["status"], status);
    if (!pointer.empty()) {
      ASSERT_TRUE(body.contains("errors")) << reply.body;
      EXPECT_EQ(body["errors"][0]["pointer"], pointer) << reply.body;
    }
  }
  json stats(const std::string& name = "c") {
    return ask("GET", "/v1/caches/" + name).json()["stats"];
  }
};

TEST_F(Api, MakesListsConfiguresAndRemovesCaches) {
  const Reply made = ask("PUT", "/v1/caches/logs", R"({"dimension": 4, "tau": 0.2})");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.header("Location"), "/v1/caches/logs");
  const std::string tag = made.header("ETag");
  EXPECT_FALSE(tag.empty());
  EXPECT_EQ(made.json()["config"]["durability"], "sync");
  EXPECT_EQ(ask("GET", "/v1/caches/logs").header("ETag"), tag);

  const Reply changed =
      ask("PUT", "/v1/caches/logs", R"({"dimension": 4, "tau": 0.1, "durability": "relaxed"})",
          {{"if-match", tag}});
  EXPECT_EQ(changed.status, 200) << changed.body;
  EXPECT_NE(changed.header("ETag"), tag);
  EXPECT_EQ(changed.json()["config"]["durability"], "relaxed");
  expect_problem(ask("PUT", "/v1/caches/logs", R"({"dimension": 4})", {{"if-match", tag}}), 412,
                 "precondition_failed");
  expect_problem(ask("PUT", "/v1/caches/logs", R"({"dimension": 5})"), 422, "bad_config",
                 "/dimension");
  expect_problem(ask("PUT", "/v1/caches/logs", R"({"dimension": 4})", {{"if-none-match", "*"}}),
                 412, "precondition_failed");

  make("a");
  make("b");
  const json first = ask("GET", "/v1/caches?limit=2").json();
  ASSERT_EQ(first["caches"].size(), 2U);
  EXPECT_EQ(first["caches"][0]["name"], "a");
  EXPECT_EQ(first["next"], "b");
  const json second = ask("GET", "/v1/caches?limit=2&after=b").json();
  EXPECT_EQ(second["caches"][0]["name"], "logs");
  EXPECT_TRUE(second["next"].is_null());

  EXPECT_EQ(ask("DELETE", "/v1/caches/logs").status, 204);
  expect_problem(ask("GET", "/v1/caches/logs"), 404, "not_found");
  expect_problem(ask("DELETE", "/v1/caches/logs"), 404, "not_found");
  make("logs", R"({"dimension": 3})");  // another one of the same name
  EXPECT_EQ(stats("logs")["items"], 0);
}

TEST_F(Api, TakesVectorsInThreeForms) {
  make();
  const Reply first =
      ask("POST", "/v1/caches/c/observe",
          R"({"items": [{"key": [1, 0], "payload": {"a": [1, null]}, "time": 7}]})");
  ASSERT_EQ(first.status, 200) << first.body;
  const json decision = first.json()["decisions"][0];
  EXPECT_EQ(decision["action"], "allocate");
  EXPECT_EQ(decision["slot"], 1);
  EXPECT_TRUE(decision["nearest"].is_null());
  EXPECT_EQ(decision["threshold"], 0.4);
  // base64 of 1.0, 0.0
  const Reply second =
      ask("POST", "/v1/caches/c/observe", R"({"items": [{"key": "AACAPwAAAAA="}]})");
  EXPECT_EQ(second.json()["decisions"][0]["action"], "merge") << second.body;
  const Reply third = ask("POST", "/v1/caches/c/observe", floats({0, 1, 1, 0}), kBinary);
  EXPECT_EQ(third.json()["decisions"][0]["action"], "allocate");
  EXPECT_EQ(third.json()["decisions"][1]["slot"], 1);
  EXPECT_EQ(third.json()["decisions"][0]["nearest"]["slot"], 1);

  const json slot = ask("GET", "/v1/caches/c/slots/1").json();
  EXPECT_EQ(slot["payload"], json::parse(R"({"a": [1, null]})"));
  EXPECT_EQ(slot["count"], 3);
  EXPECT_EQ(slot["first_time"], 7);

  const json read =
      ask("POST", "/v1/caches/c/read", R"({"queries": [{"key": [0.9, 0.1]}]})").json();
  const json result = read["results"][0];
  EXPECT_EQ(result["action"], "merge");
  EXPECT_EQ(result["top"][0]["slot"], 1);
  EXPECT_EQ(result["top"][0]["payload"]["a"][0], 1);
  EXPECT_EQ(result["threshold"], 0.4);
  const json scores = ask("POST", "/v1/caches/c/score?k=1", floats({0, -1}), kBinary).json();
  EXPECT_EQ(scores["results"][0]["action"], "allocate");
  EXPECT_EQ(scores["results"][0]["top"].size(), 1U);
  EXPECT_EQ(scores["results"][0]["top"][0]["slot"], 1);
}

TEST_F(Api, KeepsTheBytesOfAPayload) {
  make();
  // base64 of "plain text", and of {"n":123456789012345678901}
  const Reply taken = ask("POST", "/v1/caches/c/observe",
                          R"({"items": [{"key": [1, 0], "payload_base64": "cGxhaW4gdGV4dA=="},
                        {"key": [0, 1], "payload_base64": "eyJuIjoxMjM0NTY3ODkwMTIzNDU2Nzg5MDF9"}]})");
  ASSERT_EQ(taken.status, 200) << taken.body;
  EXPECT_EQ(ask("GET", "/v1/caches/c/slots/1").json()["payload"], "plain text");
  EXPECT_NE(
      ask("GET", "/v1/caches/c/slots/2").body.find(R"("payload":{"n":123456789012345678901})"),
      std::string::npos);
  for (const char* both :
       {R"("payload": 1, "payload_base64": "MQ==")", R"("payload_base64": "MQ==", "payload": 1)",
        R"("payload_base64": "MQ")", R"("payload_base64": "M!==")"}) {
    const Reply reply = ask("POST", "/v1/caches/c/observe",
                            R"({"items": [{"key": [1, 0], )" + std::string(both) + "}]}");
    expect_problem(reply, 400, "bad_request");
  }
}

TEST_F(Api, TakesTheClientsTimes) {
  make("c", R"({"dimension": 2, "keep_sums": true, "ttl_ms": 10})");
  ask("POST", "/v1/caches/c/observe", R"({"items": [{"key": [1, 0], "time": 100}]})");
  const auto found = [&](const std::string& time) {
    const Reply reply =
        ask("POST", "/v1/caches/c/score", R"({"queries": [{"key": [1, 0])" + time + "}]}");
    return reply.json()["results"][0]["top"].size();
  };
  EXPECT_EQ(found(R"(, "time": 109)"), 1U);
  EXPECT_EQ(found(R"(, "time": 110)"), 0U);
  EXPECT_EQ(found(R"(, "time": null)"), 1U);  // at no time
  EXPECT_EQ(found(""), 0U);                   // now
  EXPECT_EQ(ask("POST", "/v1/caches/c/consolidate?time=101").status, 200);
  const std::string config = R"({"dimension": 2, "keep_sums": true, "tau": 0.1})";
  EXPECT_EQ(ask("PUT", "/v1/caches/c?time=-102", config).status, 200);
  EXPECT_EQ(ask("DELETE", "/v1/caches/c/slots/1?time=103").status, 204);
  const json events = ask("GET", "/v1/caches/c/events").json()["events"];
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[1]["time"], 101);
  EXPECT_EQ(events[2]["time"], -102);
  EXPECT_EQ(events[3]["time"], 103);
}

TEST_F(Api, RefusesABodyOfAnotherCount) {
  make();
  const std::string four = floats({0, 1, 1, 0});
  EXPECT_EQ(ask("POST", "/v1/caches/c/observe?count=2", four, kBinary).status, 200);
  expect_problem(ask("POST", "/v1/caches/c/observe?count=1", four, kBinary), 422, "bad_shape");
  expect_problem(ask("POST", "/v1/caches/c/read?count=1", four, kBinary), 422, "bad_shape");
  expect_problem(ask("POST", "/v1/caches/c/score?count=2", R"({"queries": [{"key": [1, 0]}]})"),
                 422, "bad_shape");
  EXPECT_EQ(stats("c")["items"], 2);
}

TEST_F(Api, TellsTheBytesOfEventsThatAnotherCacheApplies) {
  make();
  ask("POST", "/v1/caches/c/observe", R"({"items": [{"key": [3, 4], "time": 1, "payload": "a"}]})");
  ask("DELETE", "/v1/caches/c/slots/1?time=2");
  const auto config = config_from_json(R"({"dimension": 2})");
  ASSERT_TRUE(config);
  auto mirror = Cache::create(*config);
  ASSERT_TRUE(mirror);
  const json page = ask("GET", "/v1/caches/c/events?bytes=1").json();
  EXPECT_EQ(page["events"].size(), 2U);
  for (const json& event : page["events"]) {
    const auto bytes = from_base64(event["bytes"].get<std::string>());
    ASSERT_TRUE(bytes);
    const auto decoded = decode_event(std::as_bytes(std::span(*bytes)));
    ASSERT_TRUE(decoded);
    EXPECT_TRUE(mirror->apply(decoded->event()));
  }
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016llx",
                static_cast<unsigned long long>(mirror->stats().state_hash));
  EXPECT_EQ(stats("c")["state_hash"], std::string(hash));
  EXPECT_FALSE(ask("GET", "/v1/caches/c/events").json()["events"][0].contains("bytes"));
}

TEST(Base64, ComesBackAsItWas) {
  for (std::size_t size = 0; size < 70; ++size) {
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(i * 251 + size);
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes) << size;
  }
  for (const char* bad : {"a", "ab", "abc", "ab=c", "a===", "====", "abcd=", "ab\xff="}) {
    EXPECT_FALSE(from_base64(bad)) << bad;
  }
}

TEST_F(Api, RefusesABatchWholeAndNamesEveryBadItem) {
  make();
  const Reply reply = ask("POST", "/v1/caches/c/observe",
                          R"({"items": [{"key": [1, 0]}, {"key": [1]}, {"key": [0, 0]},
                              {"key": [1, "x"]}, {"kye": [1, 0]}, {"key": [1, 2], "text": "a"},
                              {"text": "a"}, 5, {"key": "####"}, {"key": [1e39, 0]}]})");
  expect_problem(reply, 422, "bad_shape", "/items/1/key");
  const json errors = reply.json()["errors"];
  ASSERT_EQ(errors.size(), 9U) << reply.body;
  const char* pointers[] = {"/items/1/key", "/items/2/key",  "/items/3/key/1",
                            "/items/4/kye", "/items/5/text", "/items/6/text",
                            "/items/7",     "/items/8/key",  "/items/9/key/0"};
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(errors[i]["pointer"], pointers[i]);
  EXPECT_EQ(errors[1]["code"], "zero_norm");
  EXPECT_EQ(errors[5]["code"], "encoder_mismatch");
  EXPECT_EQ(stats()["items"], 0);
  EXPECT_EQ(stats()["seq"], 0);
}

TEST_F(Api, RefusesWhatIsNoRequest) {
  make();
  const std::string observe = "/v1/caches/c/observe";
  for (const char* body :
       {"", "{", "[]", "7", "{}", R"({"items": []})", R"({"items": {}})",
        R"({"items": [{"key": [1, 0]}], "more": 1})", "\xff", "{\"items\":[{\"key\":[01]}]}"}) {
    expect_problem(ask("POST", observe, body), 400, "bad_request");
  }
  std::string many = R"({"items": [)";
  for (int i = 0; i < 4097; ++i) many += i > 0 ? R"(,{"key":[1,0]})" : R"({"key":[1,0]})";
  expect_problem(ask("POST", observe, many + "]}"), 400, "bad_request");
  expect_problem(ask("POST", observe, std::string(7, 'x'), kBinary), 400, "bad_request");
  expect_problem(ask("POST", observe, "", kBinary), 400, "bad_request");
  expect_problem(ask("POST", observe, "{}", {{"content-type", "text/plain"}}), 415, "unsupported");
  expect_problem(ask("POST", observe, "{}", {{"content-encoding", "gzip"}}), 415, "unsupported");
  expect_problem(ask("POST", "/v1/caches/none/observe", "{}"), 404, "not_found");
  expect_problem(ask("GET", observe), 405, "method_not_allowed");
  EXPECT_EQ(ask("GET", observe).header("Allow"), "POST");
  expect_problem(ask("GET", "/nothing"), 404, "not_found");
  for (const char* name : {"%2e%2e", "..%2f..", ".hidden", "a%20b", "%ff", "-a", "a%2fb"}) {
    expect_problem(ask("PUT", std::string("/v1/caches/") + name, R"({"dimension": 2})"), 400,
                   "bad_request");
  }
  expect_problem(ask("GET", "/v1/caches/a%00b"), 400, "bad_request");
  expect_problem(ask("GET", "/v1/caches/a%2"), 400, "bad_request");
  for (const char* query :
       {"limit=0", "limit=-1", "limit=1000000000", "limit=1e3", "limit=", "lim=1"}) {
    expect_problem(ask("GET", std::string("/v1/caches?") + query), 400, "bad_request");
    expect_problem(ask("GET", std::string("/v1/caches/c/slots?") + query), 400, "bad_request");
    expect_problem(ask("GET", std::string("/v1/caches/c/events?") + query), 400, "bad_request");
  }
  expect_problem(ask("GET", "/v1/caches/c/slots/1"), 404, "not_found");
  expect_problem(ask("GET", "/v1/caches/c/slots/x"), 404, "not_found");
  expect_problem(ask("DELETE", "/v1/caches/c/slots/0"), 404, "not_found");
  expect_problem(ask("PUT", "/v1/caches/d", R"({"dimension": 0})"), 422, "bad_config",
                 "/dimension");
  expect_problem(ask("PUT", "/v1/caches/d", R"({"dimension": 2, "durability": "no"})"), 422,
                 "bad_config", "/durability");
  expect_problem(ask("PUT", "/v1/caches/d", R"({"dimension": 2, "value-dimension": 1})"), 422,
                 "bad_config", "/value-dimension");
  expect_problem(ask("PUT", "/v1/caches/d/snapshot", "no memory file"), 422, "bad_snapshot");
  EXPECT_EQ(stats()["seq"], 0);
}

TEST_F(Api, AdvisesFromTheSlotsAndChangesNothing) {
  make("c", R"({"dimension": 2, "tau": 0})");
  std::string items;
  for (int i = 0; i < 300; ++i) {  // ten directions, thirty times each, a little apart
    const double angle = i % 10 * 0.6 + i * 1e-5;
    items += "{\"key\": [" + std::to_string(std::cos(angle)) + ", " +
             std::to_string(std::sin(angle)) + "]}\n";
  }
  ASSERT_EQ(
      ask("POST", "/v1/caches/c/observe", items, {{"content-type", "application/x-ndjson"}}).status,
      200U);
  const json before = stats();
  Reply reply = ask("POST", "/v1/caches/c/advise", R"({"taus": [0.001, 0.01, 2]})");
  ASSERT_EQ(reply.status, 200U) << reply.body;
  json advice = reply.json();
  EXPECT_EQ(advice["threshold"], 0.0);
  EXPECT_EQ(advice["items"], before["slots"]);
  ASSERT_GE(advice["tried"].size(), 3U);
  for (const json& tried : advice["tried"]) {
    if (tried["tau"] == 0.01) {
      EXPECT_EQ(tried["slots"], 10U);
    }
    if (tried["tau"] == 2.0) {
      EXPECT_EQ(tried["slots"], 1U);
    }
  }
  advice = ask("POST", "/v1/caches/c/advise", R"({"sample": 5})").json();
  EXPECT_EQ(advice["sampled"], 5U);
  EXPECT_EQ(stats(), before);
  make("none");
  reply = ask("POST", "/v1/caches/none/advise");
  EXPECT_EQ(reply.json()["reason"], "there are fewer than two items");
  EXPECT_TRUE(reply.json()["tau"].is_null());
  for (const char* body : {"[]", R"({"sample": 1})", R"({"sample": 20001})", R"({"taus": []})",
                           R"({"taus": [3]})", R"({"taus": ["a"]})", R"({"x": 1})"}) {
    EXPECT_EQ(ask("POST", "/v1/caches/c/advise", body).status, 400U) << body;
  }
  EXPECT_EQ(ask("POST", "/v1/caches/gone/advise").status, 404U);
}

TEST_F(Api, TakesItemsAndGivesSlotsAsLines) {
  const Headers lines = {{"content-type", "application/x-ndjson"}};
  ASSERT_EQ(machine.ask("PUT", "/v1/caches/l", R"({"dimension": 2, "tau": 0.1})").status, 201U);
  const std::string items =
      "{\"key\": [1, 0], \"payload\": {\"a\": \"b\\nc\"}, \"time\": 5}\n\n"
      "{\"key\": [0, 1]}\r\n"
      "{\"key\": [-1, 0], \"exact_key\": \"k\"}";
  auto reply = machine.ask("POST", "/v1/caches/l/observe", items, lines);
  ASSERT_EQ(reply.status, 200U) << reply.body;
  EXPECT_EQ(reply.json()["decisions"].size(), 3U);
  // A payload of several lines, by its bytes.
  reply = machine.ask(
      "POST", "/v1/caches/l/observe",
      R"({"key": [0, -1], "payload_base64": ")" + to_base64("{\n\"x\":\r\n1}") + "\"}\n", lines);
  ASSERT_EQ(reply.status, 200U) << reply.body;

  std::string all;
  std::string after = "0";
  for (int pages = 0; !after.empty() && pages < 5; ++pages) {
    reply = machine.ask("GET", "/v1/caches/l/slots?limit=3&after=" + after, "",
                        {{"accept", "application/x-ndjson"}});
    ASSERT_EQ(reply.status, 200U);
    EXPECT_EQ(reply.header("Content-Type"), "application/x-ndjson");
    all += reply.body;
    after = reply.header("Dpcache-Next");
  }
  ASSERT_EQ(std::count(all.begin(), all.end(), '\n'), 4);
  const auto listed = machine.ask("GET", "/v1/caches/l/slots").json()["slots"];
  std::size_t begin = 0;
  for (const auto& slot : listed) {
    const auto end = all.find('\n', begin);
    EXPECT_EQ(nlohmann::json::parse(all.substr(begin, end - begin), nullptr, false), slot);
    begin = end + 1;
  }

  // Every bad line is named by its place among the items, and nothing is taken.
  reply = machine.ask("POST", "/v1/caches/l/observe",
                      "{\"key\": [1, 1]}\nno json\n\n{\"key\": [1]}\n{\"key\": [1, 2], \"x\": 1}\n",
                      lines);
  EXPECT_EQ(reply.status, 400U) << reply.body;  // as the first of them
  const auto errors = reply.json()["errors"];
  ASSERT_EQ(errors.size(), 3U) << reply.body;
  EXPECT_EQ(errors[0]["index"], 1U);
  EXPECT_EQ(errors[1]["index"], 2U);
  EXPECT_EQ(errors[2]["index"], 3U);
  for (const std::string& body : {std::string(), std::string("\n \n")}) {
    EXPECT_EQ(machine.ask("POST", "/v1/caches/l/observe", body, lines).status, 400U);
  }
  std::string many;
  for (int i = 0; i < 4097; ++i) many += "{\"key\": [1, 0]}\n";
  EXPECT_EQ(machine.ask("POST", "/v1/caches/l/observe", many, lines).status, 400U);
  EXPECT_EQ(machine.ask("GET", "/v1/caches/l").json()["stats"]["items"], 4U);
  EXPECT_EQ(machine.ask("POST", "/v1/caches/l/read", items, lines).status, 415U);
}

TEST_F(Api, TakesTextWhereTheCacheHasTheBuiltInEncoder) {
  make("t", R"({"text": {"dimension": 256, "masks": "number"}})");
  const Reply reply = ask("POST", "/v1/caches/t/observe",
                          R"({"items": [{"text": "disk 1 is full"}, {"text": "disk 2 is full"},
                              {"text": "something else happened"}]})");
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.json()["decisions"][1]["action"], "merge");
  EXPECT_EQ(reply.json()["decisions"][2]["action"], "allocate");
  const json read =
      ask("POST", "/v1/caches/t/read", R"({"queries": [{"text": "disk 3 is full"}]})").json();
  EXPECT_EQ(read["results"][0]["top"][0]["slot"], 1) << read;
}

TEST_F(Api, AnswersARepetitionAsTheFirstTime) {
  make();
  const std::string body = R"({"items": [{"key": [1, 0]}]})";
  const Headers key = {{"idempotency-key", "k1"}};
  const Reply first = ask("POST", "/v1/caches/c/observe", body, key);
  const Reply again = ask("POST", "/v1/caches/c/observe", body, key);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(stats()["items"], 1);
  expect_problem(ask("POST", "/v1/caches/c/observe", R"({"items": [{"key": [0, 1]}]})", key), 422,
                 "idempotency_mismatch");

  machine.log.hold();
  auto pending =
      machine.begin(request("POST", "/v1/caches/c/observe", body, {{"idempotency-key", "k2"}}));
  expect_problem(ask("POST", "/v1/caches/c/observe", body, {{"idempotency-key", "k2"}}), 409,
                 "conflict");
  EXPECT_NE(pending.wait_for(std::chrono::milliseconds(50)), std::future_status::ready)
      << "acknowledged before it is on the disk";
  machine.log.release();
  EXPECT_EQ(pending.get().status, 200);

  machine.restart();
  const Reply after = ask("POST", "/v1/caches/c/observe", body, key);
  EXPECT_EQ(after.body, first.body);
  machine.service->snapshot(true);
  machine.restart();
  EXPECT_EQ(ask("POST", "/v1/caches/c/observe", body, key).body, first.body);
  EXPECT_EQ(stats()["items"], 2);
}

TEST_F(Api, ReadersDoNotWaitForTheDisk) {
  make();
  machine.log.hold();
  auto pending =
      machine.begin(request("POST", "/v1/caches/c/observe", R"({"items": [{"key": [1, 0]}]})"));
  const json read = ask("POST", "/v1/caches/c/read", R"({"queries": [{"key": [1, 0]}]})").json();
  EXPECT_EQ(read["results"][0]["top"].size(), 1U);
  machine.log.release();
  EXPECT_EQ(pending.get().status, 200);
}

TEST_F(Api, RelaxedChangesAreAcknowledgedAtOnce) {
  make("c", R"({"dimension": 2, "durability": "relaxed"})");
  machine.log.hold();
  const std::string body = R"({"items": [{"key": [1, 0]}]})";
  const Headers key = {{"idempotency-key", "k"}};
  const Reply first = ask("POST", "/v1/caches/c/observe", body, key);
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(ask("POST", "/v1/caches/c/observe", body, key).body, first.body);
  machine.log.release();
}

TEST_F(Api, RelaxedDurabilityBeginsAndEndsOnTheDisk) {
  make();
  for (const char* durability : {"relaxed", "sync"}) {
    const std::string config =
        R"({"dimension": 2, "tau": 0.5, "durability": ")" + std::string(durability) + "\"}";
    machine.log.hold();
    auto pending = machine.begin(request("PUT", "/v1/caches/c", config));
    EXPECT_EQ(pending.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
    machine.log.release();
    EXPECT_EQ(pending.get().status, 200) << durability;
    EXPECT_EQ(ask("GET", "/v1/caches/c").json()["config"]["durability"], durability);
  }
}

TEST_F(Api, ComesBackAfterARestart) {
  make("c", R"({"dimension": 2, "budget": "fixed", "m0": 5, "tau": 0.001, "keep_sums": true})");
  make("gone");
  for (int i = 0; i < 40; ++i) {
    const std::string item = R"({"items": [{"key": [1, )" + std::to_string(i * i) +
                             R"(], "payload": )" + std::to_string(i) + "}]}";
    ASSERT_EQ(ask("POST", "/v1/caches/c/observe", item).status, 200);
    if (i == 10) machine.service->snapshot(true);
    if (i == 20) {
      ASSERT_EQ(ask("DELETE", "/v1/caches/gone").status, 204);
    }
    if (i == 30) {
      ASSERT_EQ(ask("POST", "/v1/caches/c/consolidate", "{}").status, 200);
    }
  }
  const json before = stats();
  const std::string tag = ask("GET", "/v1/caches/c").header("ETag");
  machine.restart();
  EXPECT_EQ(stats()["state_hash"], before["state_hash"]);
  EXPECT_EQ(stats()["slots"], before["slots"]);
  EXPECT_EQ(ask("GET", "/v1/caches/c").header("ETag"), tag);
  expect_problem(ask("GET", "/v1/caches/gone"), 404, "not_found");
  machine.service->snapshot(true);
  machine.restart();
  EXPECT_EQ(stats()["state_hash"], before["state_hash"]);
  EXPECT_EQ(ask("POST", "/v1/caches/c/observe", R"({"items": [{"key": [1, 0]}]})").status, 200);
  EXPECT_EQ(machine.errors(), "");
}

TEST_F(Api, GoesBackToWhatTheLogHasWhenAnAppendFails) {
  make();
  ASSERT_EQ(ask("POST", "/v1/caches/c/observe", R"({"items": [{"key": [1, 0]}]})").status, 200);
  const json before = stats();
  const Partition partition = Service::partition_of("c");
  struct Case {
    Append outcome;
    unsigned status;
  };
  for (const Case& one : {Case{Append::full, 507}, Case{Append::conflict, 503}}) {
    machine.log.fail_next(partition, one.outcome);
    const Reply lost = ask("POST", "/v1/caches/c/observe", R"({"items": [{"key": [0, 1]}]})");
    EXPECT_EQ(lost.status, one.status) << lost.body;
    // Meanwhile changes are refused; soon it is as before, and takes changes again.
    Reply next;
    for (int i = 0; i < 200; ++i) {
      next = ask("POST", "/v1/caches/c/observe", R"({"items": [{"key": [1, 0]}]})");
      if (next.status == 200) break;
      EXPECT_EQ(next.status, 503) << next.body;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ASSERT_EQ(next.status, 200);
    EXPECT_EQ(next.json()["decisions"][0]["slot"], 1);
  }
  const json after = stats();
  EXPECT_EQ(after["slots"], 1);
  EXPECT_EQ(after["items"], 3);
  machine.restart();
  EXPECT_EQ(stats()["state_hash"], after["state_hash"]);
}

TEST_F(Api, MemoryFilesGoOutAndComeIn) {
  make();
  ask("POST", "/v1/caches/c/observe", R"({"items": [{"key": [1, 0]}, {"key": [0, 1]}]})");
  const Reply file = ask("GET", "/v1/caches/c/snapshot");
  ASSERT_EQ(file.status, 200);
  EXPECT_EQ(ask("PUT", "/v1/caches/copy/snapshot", file.body, kBinary).status, 204);
  EXPECT_EQ(stats("copy")["state_hash"], stats("c")["state_hash"]);
  EXPECT_EQ(ask("GET", "/v1/caches/copy/snapshot").body, file.body);
  // In the place of one that is there.
  ask("POST", "/v1/caches/copy/observe", R"({"items": [{"key": [-1, 0]}]})");
  EXPECT_EQ(ask("PUT", "/v1/caches/copy/snapshot", file.body, kBinary).status, 204);
  EXPECT_EQ(stats("copy")["slots"], 2);
  ask("POST", "/v1/caches/copy/observe", R"({"items": [{"key": [-1, 0]}]})");
  const json before = stats("copy");
  machine.restart();
  EXPECT_EQ(stats("copy")["state_hash"], before["state_hash"]);
  EXPECT_EQ(stats("copy")["slots"], 3);
  EXPECT_EQ(machine.errors(), "");
}

TEST_F(Api, AMemoryFileThatCannotBeStoredLeavesTheOldCacheThere) {
  make();
  const Reply file = ask("GET", "/v1/caches/c/snapshot");
  ask("POST", "/v1/caches/c/observe", R"({"items": [{"key": [1, 0]}, {"key": [0, 1]}]})");
  const json before = stats();
  for (const Append outcome : {Append::full, Append::conflict}) {
    machine.log.fail_next(Service::partition_of("c"), outcome);
    EXPECT_GE(ask("PUT", "/v1/caches/c/snapshot", file.body, kBinary).status, 500U);
    EXPECT_EQ(stats()["state_hash"], before["state_hash"]);
    // When the partition has been mended, it takes changes, and nothing ends the cache.
    unsigned status = 503;
    for (int i = 0; i < 500 && status == 503; ++i) {
      status = ask("PUT", "/v1/caches/c", R"({"dimension": 2})").status;
      if (status == 503) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(status, 200U);
    machine.service->snapshot(true);
  }
  machine.restart();
  EXPECT_EQ(stats()["state_hash"], before["state_hash"]);
  EXPECT_EQ(ask("PUT", "/v1/caches/c/snapshot", file.body, kBinary).status, 204);
  EXPECT_EQ(stats()["slots"], 0);
}

TEST_F(Api, AReplacementThatAKillInterruptedIsFinishedAtTheStart) {
  make();
  const Reply empty = ask("GET", "/v1/caches/c/snapshot");
  ask("POST", "/v1/caches/c/observe", R"({"items": [{"key": [1, 0]}]})");
  machine.service->snapshot(true);
  ask("POST", "/v1/caches/c/observe", R"({"items": [{"key": [0, 1]}]})");
  machine.app.reset();
  machine.service.reset();
  // What stands on the disk when the new cache is there and the end of the old one is not.
  const Partition partition = Service::partition_of("c");
  Entry entry;
  entry.kind = EntryKind::load;
  entry.cache = make_id(partition, 9'000'000'000'000, 1);
  entry.name = "c";
  entry.settings = to_json(Settings{});
  entry.previous = machine.log.range(partition).last;
  machine.snapshots->put(entry.cache, 0, std::as_bytes(std::span(empty.body)));
  std::promise<Append> stored;
  machine.log.append(partition, entry.previous, encode(entry),
                     [&](Append outcome, const std::string&) { stored.set_value(outcome); });
  ASSERT_EQ(stored.get_future().get(), Append::ok);
  for (int times = 0; times < 3; ++times) {
    machine.start();
    EXPECT_EQ(stats()["slots"], 0) << times;
    if (times == 1) machine.service->snapshot(true);
    machine.app.reset();
    machine.service.reset();
  }
  machine.start();
  EXPECT_EQ(machine.errors(), "");
}

TEST_F(Api, ListenersWaitForWhatIsOnItsWayToTheDisk) {
  make();
  ask("POST", "/v1/caches/c/observe", R"({"items": [{"key": [1, 0]}]})");
  machine.log.hold();
  auto pending =
      machine.begin(request("POST", "/v1/caches/c/observe", R"({"items": [{"key": [0, 1]}]})"));
  EXPECT_EQ(ask("GET", "/v1/caches/c/events?after=1").json()["events"].size(), 0U);
  const Reply stream = ask("GET", "/v1/caches/c/events", "", {{"accept", "text/event-stream"}});
  auto promise = std::make_shared<std::promise<std::optional<std::string>>>();
  stream.parts([promise](std::optional<std::string> part) { promise->set_value(std::move(part)); });
  auto part = promise->get_future();
  EXPECT_NE(part.wait_for(std::chrono::milliseconds(30)), std::future_status::ready);
  machine.log.release();
  const auto text = part.get();
  ASSERT_TRUE(text);
  EXPECT_TRUE(text->starts_with("id: 2\n")) << *text;
  EXPECT_EQ(pending.get().status, 200);
}

TEST_F(Api, AListenerThatComesTooLateHearsThatItHasMissedEvents) {
  make();
  ask("POST", "/v1/caches/c/observe", R"({"items": [{"key": [3, 4]}, {"key": [0, 1]}]})");
  for (int times = 0; times < 3; ++times) machine.service->snapshot(true);
  machine.restart();
  ask("POST", "/v1/caches/c/observe", R"({"items": [{"key": [3, 4]}]})");
  const Headers stream = {{"accept", "text/event-stream"}};
  expect_problem(ask("GET", "/v1/caches/c/events?after=1", "", stream), 404, "not_found");
  EXPECT_EQ(ask("GET", "/v1/caches/c/events?after=2", "", stream).status, 200);
  EXPECT_EQ(ask("GET", "/v1/caches/c/events?after=3", "", stream).status, 200);
}

TEST_F(Api, TellsWhatHappened) {
  make();
  ask("POST", "/v1/caches/c/observe", R"({"items": [{"key": [3, 4]}, {"key": [0, 1]}]})");
  const json page = ask("GET", "/v1/caches/c/events?limit=1").json();
  ASSERT_EQ(page["events"].size(), 1U);
  EXPECT_EQ(page["events"][0]["seq"], 1);
  EXPECT_EQ(page["events"][0]["kind"], "observe");
  EXPECT_EQ(page["next"], 1);
  const json rest = ask("GET", "/v1/caches/c/events?after=1").json();
  ASSERT_EQ(rest["events"].size(), 1U);
  EXPECT_EQ(rest["next"], 2);
  EXPECT_EQ(ask("GET", "/v1/caches/c/events?after=2").json()["events"].size(), 0U);

  const Reply stream = ask("GET", "/v1/caches/c/events", "",
                           {{"accept", "text/event-stream"}, {"last-event-id", "1"}});
  EXPECT_EQ(stream.header("Content-Type"), "text/event-stream");
  const auto next = [&] {
    auto promise = std::make_shared<std::promise<std::optional<std::string>>>();
    auto future = promise->get_future();
    stream.parts(
        [promise](std::optional<std::string> part) { promise->set_value(std::move(part)); });
    return future;
  };
  const auto first = next().get();
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->starts_with("id: 2\ndata: {\"seq\":2,")) << *first;
  auto later = next();
  EXPECT_NE(later.wait_for(std::chrono::milliseconds(30)), std::future_status::ready);
  ask("DELETE", "/v1/caches/c/slots/1");
  const auto second = later.get();
  ASSERT_TRUE(second);
  EXPECT_NE(second->find("\"kind\":\"erase\""), std::string::npos) << *second;
  auto last = next();
  ask("DELETE", "/v1/caches/c");
  EXPECT_FALSE(last.get());
}

TEST_F(Api, SaysWhichEventsAreGone) {
  make();
  ask("POST", "/v1/caches/c/observe", R"({"items": [{"key": [1, 0]}]})");
  machine.service->snapshot(true);
  ask("POST", "/v1/caches/c/observe", R"({"items": [{"key": [0, 1]}]})");
  expect_problem(ask("GET", "/v1/caches/c/events"), 404, "not_found");
  EXPECT_EQ(ask("GET", "/v1/caches/c/events?after=1").json()["events"].size(), 1U);
}

TEST(Tokens, DecideWhoMayDoWhat) {
  AppOptions options;
  options.tokens = Tokens::parse(
      "# all\nadmin aaaaaaaaaaaaaaaa\nwrite wwwwwwwwwwwwwwww log-*\n\nread rrrrrrrrrrrrrrrr\n");
  Machine machine({}, options);
  const auto as = [](const char* secret) {
    return Headers{{"authorization", std::string("Bearer ") + secret}};
  };
  const Headers admin = as("aaaaaaaaaaaaaaaa");
  const Headers write = as("wwwwwwwwwwwwwwww");
  const Headers read = as("rrrrrrrrrrrrrrrr");
  const std::string config = R"({"dimension": 2})";
  const std::string items = R"({"items": [{"key": [1, 0]}]})";
  EXPECT_EQ(machine.ask("PUT", "/v1/caches/log-1", config).status, 401);
  EXPECT_EQ(machine.ask("PUT", "/v1/caches/log-1", config, as("aaaaaaaaaaaaaaab")).status, 401);
  EXPECT_EQ(machine.ask("PUT", "/v1/caches/log-1", config, as("aaaaaaaaaaaaaaaaa")).status, 401);
  EXPECT_EQ(machine.ask("PUT", "/v1/caches/log-1", config, as("")).status, 401);
  EXPECT_EQ(machine.ask("PUT", "/v1/caches/log-1", config, write).status, 403);
  EXPECT_EQ(machine.ask("PUT", "/v1/caches/log-1", config, admin).status, 201);
  EXPECT_EQ(machine.ask("PUT", "/v1/caches/other", config, admin).status, 201);
  EXPECT_EQ(machine.ask("POST", "/v1/caches/log-1/observe", items, read).status, 403);
  EXPECT_EQ(machine.ask("POST", "/v1/caches/log-1/observe", items, write).status, 200);
  EXPECT_EQ(machine.ask("POST", "/v1/caches/other/observe", items, write).status, 403);
  EXPECT_EQ(machine.ask("GET", "/v1/caches", "", write).json()["caches"].size(), 1U);
  EXPECT_EQ(machine.ask("GET", "/v1/caches", "", read).json()["caches"].size(), 2U);
  EXPECT_EQ(machine.ask("GET", "/livez").status, 200);
  EXPECT_EQ(machine.ask("GET", "/metrics").status, 401);
  for (const char* bad :
       {"", "root aaaaaaaaaaaaaaaa", "read short", "read", "read aaaaaaaaaaaaaaaa a b",
        "read aaaaaaaaaaaaaaaa\nwrite aaaaaaaaaaaaaaaa"}) {
    EXPECT_THROW(Tokens::parse(bad), std::runtime_error) << bad;
  }
}

TEST(Origins, OtherPagesAskOnlyWhereTheyMay) {
  AppOptions options;
  options.cors = {"https://good.example"};
  Machine machine({}, options);
  const std::string config = R"({"dimension": 2})";
  const auto from = [](std::string origin) {
    return Headers{{"origin", std::move(origin)}, {"host", "localhost:8080"}};
  };
  EXPECT_EQ(machine.ask("PUT", "/v1/caches/a", config, from("https://bad.example")).status, 403);
  EXPECT_EQ(machine.ask("PUT", "/v1/caches/a", config, from("null")).status, 403);
  EXPECT_EQ(machine.ask("PUT", "/v1/caches/a", config, from("http://localhost:8080")).status, 201);
  const Reply good = machine.ask("GET", "/v1/caches/a", "", from("https://good.example"));
  EXPECT_EQ(good.status, 200);
  EXPECT_EQ(good.header("Access-Control-Allow-Origin"), "https://good.example");
  Headers preflight = from("https://good.example");
  preflight.push_back({"access-control-request-method", "PUT"});
  const Reply asked = machine.ask("OPTIONS", "/v1/caches/a", "", preflight);
  EXPECT_EQ(asked.status, 204);
  EXPECT_NE(asked.header("Access-Control-Allow-Methods").find("PUT"), std::string::npos);
  EXPECT_EQ(machine.ask("OPTIONS", "/v1/caches/a").status, 405);
}

// A cache that was replaced ends in a turn of its own, which a service that ends has to wait for.
TEST(Services, EndAfterWhatTheyHaveBegun) {
  for (int i = 0; i < 50; ++i) {
    Machine machine;
    ASSERT_EQ(machine.ask("PUT", "/v1/caches/c", R"({"dimension": 2})").status, 201U);
    const Reply file = machine.ask("GET", "/v1/caches/c/snapshot");
    for (int j = 0; j < 3; ++j) {
      ASSERT_EQ(machine.ask("PUT", "/v1/caches/c/snapshot", file.body, kBinary).status, 204U);
    }
    machine.app.reset();
    machine.service.reset();
    // A change that came after the end would have been told to nobody.
    machine.start();
    EXPECT_EQ(machine.ask("GET", "/v1/caches/c").status, 200U);
  }
}

TEST(Turns, EndWithATaskThatThrows) {
  Pool pool(1);
  Turns turns(pool);
  EXPECT_THROW(turns.write(true, [] { throw std::bad_alloc(); }), std::bad_alloc);
  turns.write(false, [] { throw std::bad_alloc(); });
  std::promise<void> done;
  turns.write(false, [&] { done.set_value(); });
  ASSERT_EQ(done.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

TEST(Lists, PassOverTheCachesOfOthers) {
  AppOptions options;
  options.tokens = Tokens::parse("admin aaaaaaaaaaaaaaaa\nread rrrrrrrrrrrrrrrr b*");
  Machine machine({}, options);
  const auto as = [&](const std::string& token) {
    return Headers{{"authorization", "Bearer " + token}};
  };
  for (const char* name : {"a1", "a2", "a3", "b1", "c1", "c2", "c3", "c4", "b2", "b3"}) {
    ASSERT_EQ(machine
                  .ask("PUT", std::string("/v1/caches/") + name, R"({"dimension": 2})",
                       as("aaaaaaaaaaaaaaaa"))
                  .status,
              201U);
  }
  const auto names = [&](const std::string& query) {
    const auto answer = machine.ask("GET", "/v1/caches" + query, "", as("rrrrrrrrrrrrrrrr")).json();
    std::string found;
    for (const auto& one : answer["caches"]) found += one["name"].get<std::string>() + " ";
    return found + (answer["next"].is_null() ? "" : "next " + answer["next"].get<std::string>());
  };
  EXPECT_EQ(names("?limit=1"), "b1 next b1");
  EXPECT_EQ(names("?limit=2"), "b1 b2 next b2");
  EXPECT_EQ(names("?limit=1&after=b2"), "b3 ");
  EXPECT_EQ(names("?limit=3"), "b1 b2 b3 ");
}

TEST(Limits, HoldForRatesMemoryAndNumbers) {
  AppOptions app;
  app.rate = 3;
  ServiceOptions service;
  service.max_caches = 2;
  Machine machine(service, app);
  const std::string config = R"({"dimension": 2})";
  EXPECT_EQ(machine.ask("PUT", "/v1/caches/a", config).status, 201);
  EXPECT_EQ(machine.ask("PUT", "/v1/caches/b", config).status, 201);
  EXPECT_EQ(machine.ask("PUT", "/v1/caches/c", config).status, 507);
  const Reply fast = machine.ask("GET", "/v1/caches/a");
  EXPECT_EQ(fast.status, 429);
  EXPECT_EQ(fast.header("Retry-After"), "1");

  ServiceOptions small;
  small.max_memory = 100'000;
  Machine little(small, {});
  EXPECT_EQ(little.ask("PUT", "/v1/caches/a", R"({"dimension": 1000, "tau": 0.01})").status, 201);
  unsigned status = 200;
  int taken = 0;
  for (; status == 200 && taken < 1000; ++taken) {
    std::string item = R"({"items": [{"key": [)" + std::to_string(taken + 1);
    for (int i = 1; i < 1000; ++i) item += (i * 7 + taken) % 11 > 5 ? ",1" : ",-1";
    status = little.ask("POST", "/v1/caches/a/observe", item + "]}]}").status;
  }
  EXPECT_EQ(status, 507);
  EXPECT_EQ(little.ask("POST", "/v1/caches/a/read", R"({"queries": [{"text": "x"}]})").status, 409);
}

// Scores nothing; counts what it is told.
class Listener final : public Scorer {
 public:
  void changed(std::uint64_t, std::size_t first, std::size_t last) noexcept override {
    rows += last - first;
  }
  void forget(std::uint64_t) noexcept override { ++forgotten; }
  bool nearest(const KeysView&, std::span<const float>, std::span<RowMatch>) noexcept override {
    return false;
  }
  bool top(const KeysView&, std::span<const float>, std::size_t,
           std::span<RowMatch>) noexcept override {
    return false;
  }
  std::atomic<std::size_t> rows = 0;
  std::atomic<std::size_t> forgotten = 0;
};

TEST(Scoring, ScorersFollowTheCachesOfAService) {
  Listener scorer;
  ServiceOptions options;
  options.scorer = &scorer;
  Machine machine(options, {});
  machine.ask("PUT", "/v1/caches/a", R"({"dimension": 2})");
  machine.ask("POST", "/v1/caches/a/observe", R"({"items": [{"key": [1, 0]}, {"key": [0, 1]}]})");
  EXPECT_EQ(scorer.rows, 2U);
  machine.restart();  // the log brings the slots back
  EXPECT_EQ(scorer.forgotten, 1U);
  EXPECT_EQ(scorer.rows, 4U);
  machine.ask("PUT", "/v1/caches/a/snapshot", machine.ask("GET", "/v1/caches/a/snapshot").body);
  EXPECT_EQ(scorer.rows, 6U);
  machine.ask("DELETE", "/v1/caches/a");
  EXPECT_EQ(machine.ask("GET", "/v1/caches/a").status, 404);
}

TEST_F(Api, AnswersToScoresAreThoseOfEachAlone) {
  make("c", R"({"dimension": 3, "tau": 0.1})");
  ask("POST", "/v1/caches/c/observe",
      R"({"items": [{"key": [1, 0, 0]}, {"key": [0, 1, 0]}, {"key": [0, 0, 1], "ttl_ms": 100000}]})");
  const std::vector<std::string> queries = {R"({"key": [1, 2, 3]})", R"({"key": [3, 1, 0]})",
                                            R"({"key": [0, 1, 1], "k": 1})",
                                            R"({"key": [0, 0, 5], "time": 9007199254740000})"};
  const auto results = [&](const std::string& list) {
    const Reply reply = ask("POST", "/v1/caches/c/score", R"({"k": 2, "queries": [)" + list + "]}");
    EXPECT_EQ(reply.status, 200) << reply.body;
    return json::parse(reply.body)["results"];
  };
  json alone = json::array();
  for (const std::string& query : queries) alone.push_back(results(query)[0]);
  // The first two ask for the same and are found together; with the others each is found alone.
  EXPECT_EQ(results(queries[0] + "," + queries[1]), json::array({alone[0], alone[1]}));
  EXPECT_EQ(results(queries[0] + "," + queries[1] + "," + queries[2] + "," + queries[3]), alone);
  const Reply bad =
      ask("POST", "/v1/caches/c/score", R"({"queries": [{"key": [1, 0, 0]}, {"key": [0, 0, 0]}]})");
  expect_problem(bad, 422, "zero_norm", "/queries/1/key");
}

TEST_F(Api, CountsWhatItDoes) {
  make();
  ask("POST", "/v1/caches/c/observe", R"({"items": [{"key": [1, 0]}, {"key": [1, 0]}]})");
  machine.app->completed(request("POST", "/v1/caches/c/observe"), 200, 10, .002);
  const std::string text = ask("GET", "/metrics").body;
  for (const char* line :
       {"dpcache_slots{cache=\"c\"} 1\n", "dpcache_merges_total{cache=\"c\"} 1\n",
        "dpcache_requests_total{route=\"POST /v1/caches/{name}/observe\",class=\"2xx\"} 1\n",
        "dpcache_request_seconds_count{route=\"POST /v1/caches/{name}/observe\"} 1\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace dpcache::server::testing
