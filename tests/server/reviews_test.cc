// A judge that is a client: pairs are listed by pages, named in decisions and events, and answered;
// and merges are undone where the cache has kept no more than ids.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/api_support.h"

namespace dpcache::server::testing {
namespace {

using nlohmann::json;

class Reviews : public ::testing::Test {
 protected:
  json make(const std::string& config, const std::string& items) {
    EXPECT_EQ(machine.ask("PUT", "/v1/caches/a", config).status, 201U);
    return observe(items);
  }
  json observe(const std::string& items) {
    const Reply reply =
        machine.ask("POST", "/v1/caches/a/observe", R"({"items": [)" + items + "]}");
    EXPECT_EQ(reply.status, 200U) << reply.body;
    return reply.json()["decisions"];
  }
  json get(const std::string& path) {
    const Reply reply = machine.ask("GET", "/v1/caches/a" + path);
    EXPECT_EQ(reply.status, 200U) << reply.body;
    return reply.json();
  }
  Reply answer(const std::string& id, const std::string& verdict) {
    return machine.ask("POST", "/v1/caches/a/reviews/" + id, R"({"verdict": ")" + verdict + "\"}");
  }
  std::vector<std::string> listed(const std::string& query = "") {
    std::vector<std::string> ids;
    const json page = get("/reviews" + query);
    for (const json& review : page["reviews"]) ids.push_back(review["id"]);
    return ids;
  }

  Machine machine;
};

constexpr const char* kDoubts = R"({"dimension": 2, "tau": 0.5, "tau_merge": 0.01})";
// Each is uncertain about the one before.
constexpr const char* kFour = R"({"key": [1, 0], "payload": "east"},
  {"key": [4, 1]}, {"key": [4, 3], "payload": {"a": 1}}, {"key": [3, 4]})";

TEST_F(Reviews, AreNamedByDecisionsAndEventsAndLookedAt) {
  const json decisions = make(kDoubts, kFour);
  EXPECT_FALSE(decisions[0].contains("review"));
  EXPECT_EQ(decisions[1]["review"], "2-1");
  EXPECT_EQ(decisions[3]["review"], "4-3");
  const json events = get("/events")["events"];
  EXPECT_EQ(events[2]["decision"]["review"], "3-2");
  const json review = get("/reviews/3-2");
  EXPECT_EQ(review["slot"]["id"], 3);
  EXPECT_EQ(review["slot"]["payload"], json({{"a", 1}}));
  EXPECT_EQ(review["other"]["id"], 2);
  EXPECT_FALSE(review["slot"].contains("key"));
  EXPECT_EQ(review["similarity"], decisions[2]["similarity"]);
  for (const char* id : {"2-3", "9-1", "3", "x-2", "3-", "-2", "3-2x"}) {
    EXPECT_EQ(machine.ask("GET", std::string("/v1/caches/a/reviews/") + id).status, 404U) << id;
    EXPECT_EQ(answer(id, "same").status, 404U) << id;
  }
}

TEST_F(Reviews, AreListedPageByPage) {
  make(kDoubts, kFour);
  EXPECT_EQ(listed(), (std::vector<std::string>{"2-1", "3-2", "4-3"}));
  EXPECT_EQ(get("/reviews")["next"], nullptr);
  const json page = get("/reviews?limit=2");
  EXPECT_EQ(page["reviews"].size(), 2U);
  EXPECT_EQ(page["next"], "3-2");
  EXPECT_EQ(listed("?limit=2&after=3-2"), (std::vector<std::string>{"4-3"}));
  // Also behind one that has been answered meanwhile.
  EXPECT_EQ(answer("3-2", "unknown").status, 204U);
  EXPECT_EQ(listed("?after=3-2"), (std::vector<std::string>{"4-3"}));
  for (const char* query : {"?after=3", "?after=", "?limit=0", "?limit=1001", "?before=1-2"}) {
    EXPECT_EQ(machine.ask("GET", std::string("/v1/caches/a/reviews") + query).status, 400U);
  }
}

TEST_F(Reviews, AreAnsweredOnceAndForGood) {
  make(kDoubts, kFour);
  EXPECT_EQ(answer("2-1", "different").status, 204U);
  EXPECT_EQ(answer("2-1", "same").status, 404U);  // was answered
  EXPECT_EQ(answer("4-3", "same").status, 204U);
  EXPECT_EQ(listed(), (std::vector<std::string>{"3-2"}));
  EXPECT_EQ(get("/slots?keys=0")["slots"].size(), 3U);
  EXPECT_EQ(get("/slots/3")["count"], 2);
  EXPECT_EQ(get("/pairs")["must_not_merge"], json::parse(R"([{"slot": 1, "other": 2}])"));
  machine.restart();
  EXPECT_EQ(listed(), (std::vector<std::string>{"3-2"}));
  // The older of the two takes the place of the newer in what else is asked of it.
  EXPECT_EQ(answer("3-2", "same").status, 204U);
  EXPECT_EQ(listed(), (std::vector<std::string>{}));
  for (const char* body : {"", "{}", R"({"verdict": "maybe"})", R"({"verdict": null})",
                           R"({"verdict": "same", "slot": 1})"}) {
    const Reply reply = machine.ask("POST", "/v1/caches/a/reviews/3-2", body);
    EXPECT_TRUE(reply.status == 400U || reply.status == 422U) << body << reply.body;
  }
}

// As a judge that is a client works: an event names a pair, and the list has what has got another
// name since, because one of its slots was folded.
TEST_F(Reviews, AreAllFoundByWhoReadsTheEventsAndThenTheList) {
  make(kDoubts, kFour);
  observe(R"({"key": [1, 4]})");
  int answered = 0;
  const auto judge = [&](const json& review) {
    const bool same = review["similarity"] > .9;
    EXPECT_EQ(answer(review["id"], same ? "same" : "different").status, 204U);
    ++answered;
  };
  const json page = get("/events");
  for (const json& event : page["events"]) {
    if (event["kind"] != "observe" || !event["decision"].contains("review")) continue;
    const std::string id = event["decision"]["review"];
    const Reply reply = machine.ask("GET", "/v1/caches/a/reviews/" + id);
    if (reply.status == 200) judge(reply.json());
  }
  EXPECT_GE(answered, 2);
  EXPECT_EQ(listed(), (std::vector<std::string>{"3-1", "5-3"}));
  for (json rest = get("/reviews"); !rest["reviews"].empty(); rest = get("/reviews")) {
    judge(rest["reviews"][0]);
  }
  EXPECT_EQ(answered, 4);
}

TEST_F(Reviews, TeachAGateThatLearns) {
  make(R"({"dimension": 2, "gate": {"a": 10, "b": 0.5}, "tau_merge": 0.01,
           "correction_rate": 0.1})",
       kFour);
  EXPECT_EQ(answer("3-2", "different").status, 204U);
  const double learned = get("")["config"]["gate"]["b"];
  EXPECT_LT(learned, .5);
  machine.restart();
  EXPECT_EQ(get("")["config"]["gate"]["b"], learned);
}

TEST_F(Reviews, OfPairsCanSayWhichSlotStays) {
  make(kDoubts, kFour);
  const auto post = [&](const std::string& body) {
    return machine.ask("POST", "/v1/caches/a/pairs", body);
  };
  for (const char* body : {R"({"slot": 1, "other": 2, "verdict": "same", "into": 3})",
                           R"({"slot": 1, "other": 2, "verdict": "same", "into": 0})",
                           R"({"slot": 1, "other": 2, "verdict": "different", "into": 2})"}) {
    const Reply reply = post(body);
    EXPECT_EQ(reply.status, 400U) << body;
    EXPECT_EQ(reply.json()["errors"][0]["pointer"], "/into");
  }
  EXPECT_EQ(post(R"({"slot": 1, "other": 2, "verdict": "same", "into": 2})").status, 204U);
  EXPECT_EQ(machine.ask("GET", "/v1/caches/a/slots/1").status, 404U);
  EXPECT_EQ(get("/slots/2")["count"], 2);
}

class Splits : public Reviews {
 protected:
  Reply split(const std::string& body) { return machine.ask("POST", "/v1/caches/a/split", body); }
};

TEST_F(Splits, ByIdsBringTheItemOnceMore) {
  make(R"({"text": {"masks": "none"}, "tau": 0.9, "audit": "ids", "guards": ["scope"],
           "value_update": "first"})",
       R"({"text": "turn on dark mode", "id": "on", "payload": 1},
          {"text": "turn off dark mode", "id": "off", "payload": {"z": 1.0, "a": 2}})");
  EXPECT_EQ(split(R"({"slot": 1, "id": "off"})").status, 422U);  // without the item
  const Reply other =
      split(R"({"slot": 1, "id": "off", "item": {"text": "turn it off", "payload": 2}})");
  EXPECT_EQ(other.status, 400U) << other.body;  // is not it
  EXPECT_EQ(other.json()["errors"][0]["pointer"], "/item/key");
  const Reply done = split(R"({"slot": 1, "id": "off",
    "item": {"text": "turn off dark mode", "id": "off", "payload": {"z": 1.0, "a": 2}}})");
  ASSERT_EQ(done.status, 200U) << done.body;
  EXPECT_EQ(done.json()["opened"], 2);
  EXPECT_EQ(get("/slots/1")["count"], 1);
  // The bytes of the payload are those that an observed item has.
  EXPECT_NE(machine.ask("GET", "/v1/caches/a/slots/2").body.find(R"({"z":1.0,"a":2})"),
            std::string::npos);
  EXPECT_EQ(observe(R"({"text": "turn off dark mode"})")[0]["slot"], 2);
  machine.restart();
  EXPECT_EQ(get("/slots/2")["count"], 2);
}

TEST_F(Splits, RefuseAnItemThatIsNone) {
  make(R"({"dimension": 2, "tau": 0.9, "audit": "ids", "value_update": "first"})",
       R"({"key": [1, 0]}, {"key": [1, 1]})");
  const auto pointer = [&](const std::string& item) {
    const Reply reply = split(R"({"slot": 1, "member": 2, "item": )" + item + "}");
    EXPECT_TRUE(reply.status >= 400U && reply.status < 500U) << reply.status << reply.body;
    return reply.json()["errors"][0]["pointer"].get<std::string>();
  };
  EXPECT_EQ(pointer("null"), "/item");
  EXPECT_EQ(pointer("{}"), "/item/key");
  EXPECT_EQ(pointer(R"({"key": [1]})"), "/item/key");
  EXPECT_EQ(pointer(R"({"key": [0, 0]})"), "/item/key");
  EXPECT_EQ(pointer(R"({"key": [1, "x"]})"), "/item/key/1");
  EXPECT_EQ(pointer(R"({"key": [1, 1], "tau": 1})"), "/item/tau");
  EXPECT_EQ(pointer(R"({"text": "a"})"), "/item/text");
  EXPECT_EQ(get("/slots")["slots"].size(), 1U);
  EXPECT_EQ(split(R"({"slot": 1, "member": 2, "item": {"key": [2, 2]}})").status, 200U);
}

}  // namespace
}  // namespace dpcache::server::testing
