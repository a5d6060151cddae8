// Runs the script of a test vector on a cache, or on the reference, and writes down what it
// answers. tests/vectors/README.md describes the files.
#ifndef DPCACHE_TESTS_VECTOR_RUNNER_H_
#define DPCACHE_TESTS_VECTOR_RUNNER_H_

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dpcache/dpcache.h"
#include "reference.h"
#include "streams.h"

namespace dpcache::vectors {

using Json = nlohmann::ordered_json;

// A float as the number of 9 significant digits that gives its bits back.
inline Json number(float x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", static_cast<double>(x));
  return std::strtod(text, nullptr);
}

inline Json numbers(std::span<const float> x) {
  Json list = Json::array();
  for (float value : x) list.push_back(number(value));
  return list;
}

inline std::vector<float> floats(const Json& list) {
  std::vector<float> out;
  for (const Json& value : list) out.push_back(static_cast<float>(value.get<double>()));
  return out;
}

inline std::string hex(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, value);
  return text;
}

inline Json to_json(const Decision& decision) {
  Json json;
  json["action"] = decision.action == Action::allocate ? "allocate" : "merge";
  json["slot"] = decision.slot;
  json["novelty"] = number(decision.novelty);
  json["threshold"] = number(decision.threshold);
  json["gate"] = number(decision.gate);
  json["similarity"] = number(decision.similarity);
  if (decision.nearest) {
    json["nearest"] = {decision.nearest->slot, number(decision.nearest->similarity)};
  }
  if (!decision.evicted.empty()) json["evicted"] = decision.evicted;
  for (const Fold& fold : decision.folded) json["folded"].push_back({fold.slot, fold.into});
  json["surprise"] = number(decision.surprise);
  if (decision.budget) json["budget"] = number(*decision.budget);
  return json;
}

inline Json to_json(const Reading& reading) {
  Json json;
  json["empty"] = reading.empty;
  json["value"] = numbers(reading.value);
  json["null_weight"] = number(reading.null_weight);
  json["top"] = Json::array();
  for (const Weighted& one : reading.top) {
    json["top"].push_back({one.slot, number(one.similarity), number(one.weight)});
  }
  return json;
}

inline Json to_json(const std::vector<Match>& matches) {
  Json json = Json::array();
  for (const Match& match : matches) json.push_back({match.slot, number(match.similarity)});
  return json;
}

inline Json to_json(const std::vector<Fold>& folds) {
  Json json = Json::array();
  for (const Fold& fold : folds) json.push_back({fold.slot, fold.into});
  return json;
}

// The same calls on both machines.
class CacheMachine {
 public:
  explicit CacheMachine(const Config& config) : cache_(std::move(*Cache::create(config))) {}
  explicit CacheMachine(Cache cache) : cache_(std::move(cache)) {}

  Json observe(const Item& item) {
    const Result<Decision> decision = cache_.observe(item);
    return decision ? to_json(*decision) : Json(to_string(decision.status.code));
  }
  Json read(std::span<const float> query, const QueryOptions& options) {
    return to_json(*cache_.read(query, options));
  }
  Json nearest(std::span<const float> query, const QueryOptions& options) {
    const std::optional<Match> match = *cache_.nearest(query, options);
    return match ? to_json(std::vector{*match}) : Json::array();
  }
  Json score(std::span<const float> query, const QueryOptions& options) {
    return to_json(cache_.score(query, options)->front());
  }
  void erase(SlotId id, std::int64_t time) { cache_.erase(id, time); }
  Json consolidate(float similarity, std::int64_t time) {
    return to_json(*cache_.consolidate(similarity, time));
  }
  void configure(const Config& config, std::int64_t time) { cache_.configure(config, time); }
  Json slots() {
    Json list = Json::array();
    for (const Slot& slot : cache_.slots()) {
      Json json;
      json["slot"] = slot.id;
      json["usage"] = slot.usage;
      json["count"] = slot.count;
      json["times"] = {slot.first_time, slot.last_time};
      if (slot.expires) json["expires"] = *slot.expires;
      json["payload"] = slot.payload;
      json["exact_keys"] = slot.exact_keys;
      json["value"] = numbers(slot.value);
      json["key"] = numbers(slot.key);
      list.push_back(std::move(json));
    }
    return list;
  }
  Cache& cache() { return cache_; }

 private:
  Cache cache_;
};

class ReferenceMachine {
 public:
  explicit ReferenceMachine(const Config& config) : cache_(config) {}

  Json observe(const Item& item) { return to_json(cache_.observe(item)); }
  Json read(std::span<const float> query, const QueryOptions& options) {
    return to_json(cache_.read(query, options));
  }
  Json nearest(std::span<const float> query, const QueryOptions& options) {
    const std::optional<Match> match = cache_.nearest(query, options);
    return match ? to_json(std::vector{*match}) : Json::array();
  }
  Json score(std::span<const float> query, const QueryOptions& options) {
    return to_json(cache_.score(query, options));
  }
  void erase(SlotId id, std::int64_t /*time*/) { cache_.erase(id); }
  Json consolidate(float similarity, std::int64_t time) {
    return to_json(cache_.consolidate(similarity, time));
  }
  void configure(const Config& config, std::int64_t /*time*/) { cache_.configure(config); }
  Json slots() {
    Json list = Json::array();
    for (const auto& slot : cache_.slots()) {
      Json json;
      json["slot"] = slot.id;
      json["usage"] = cache_.usage(slot);
      json["count"] = slot.count;
      json["times"] = {slot.first_time, slot.last_time};
      if (slot.expires != std::numeric_limits<std::int64_t>::max()) json["expires"] = slot.expires;
      json["payload"] = slot.payload;
      json["exact_keys"] = slot.exact_keys;
      json["value"] = numbers(slot.value);
      json["key"] = numbers(slot.key);
      list.push_back(std::move(json));
    }
    return list;
  }

 private:
  reference::ReferenceCache<float> cache_;
};

// What a step of a script is about: explicit numbers, or item t of the script's stream.
class Inputs {
 public:
  Inputs(const Json& script, std::uint32_t value_dimension) : value_dimension_(value_dimension) {
    if (!script.contains("stream")) return;
    const Json& stream = script["stream"];
    rule_ = {stream["seed"], stream["dimension"], stream["distinct"],
             static_cast<float>(stream["noise"].get<double>())};
  }
  std::vector<float> key(std::uint64_t t) const { return rule_.key(t); }
  std::vector<float> value(std::uint64_t t) const {
    std::vector<float> out(value_dimension_);
    for (std::uint32_t i = 0; i < value_dimension_; ++i) {
      out[i] = streams::random_float(rule_.seed + 3, t * value_dimension_ + i);
    }
    return out;
  }

 private:
  streams::Rule rule_;
  std::uint32_t value_dimension_;
};

// Runs the steps; one answer a step.
template <class Machine>
Json run(Machine& machine, const Json& script) {
  Config config = *config_from_json(script["config"].dump());
  const Inputs inputs(script, config.value_dimension);
  Json answers = Json::array();
  for (const Json& step : script["steps"]) {
    const std::string op = step["op"];
    const std::int64_t time = step.value("time", std::int64_t{0});
    QueryOptions options;
    options.k = step.value("k", std::size_t{3});
    if (step.contains("time")) options.time = time;

    if (op == "erase") {
      machine.erase(step["slot"], time);
      answers.push_back("erased");
    } else if (op == "consolidate") {
      answers.push_back(
          machine.consolidate(static_cast<float>(step["similarity"].get<double>()), time));
    } else if (op == "configure") {
      for (const auto& [key, value] : step["config"].items()) {
        Json changed = Json::parse(dpcache::to_json(config));
        changed[key] = value;
        if (value.is_null()) changed.erase(key);
        config = *config_from_json(changed.dump());
      }
      machine.configure(config, time);
      answers.push_back("configured");
    } else if (op == "slots") {
      answers.push_back(machine.slots());
    } else {  // observe, read, nearest, score: one explicit vector, or items from..to of the stream
      Json list = Json::array();
      const std::uint64_t from = step.value("from", std::uint64_t{0});
      const std::uint64_t to = step.contains("key") ? from + 1 : step["to"].get<std::uint64_t>();
      for (std::uint64_t t = from; t < to; ++t) {
        const std::vector<float> key = step.contains("key") ? floats(step["key"]) : inputs.key(t);
        if (op == "read") list.push_back(machine.read(key, options));
        if (op == "nearest") list.push_back(machine.nearest(key, options));
        if (op == "score") list.push_back(machine.score(key, options));
        if (op != "observe") continue;
        const std::vector<float> value =
            step.contains("value") ? floats(step["value"]) : inputs.value(t);
        std::string payload = step.value("payload", std::string());
        if (!payload.empty() && !step.contains("key")) payload += std::to_string(t);
        const std::string exact_key = step.value("exact_key", std::string());
        Item item;
        item.key = key;
        item.value = value;
        item.payload = payload;
        if (step.contains("exact_key")) item.exact_key = exact_key;
        if (step.contains("ttl_ms")) item.ttl_ms = step["ttl_ms"].get<std::int64_t>();
        // Items of a stream are step["every"] milliseconds apart.
        item.time =
            time + static_cast<std::int64_t>(t - from) * step.value("every", std::int64_t{1});
        list.push_back(machine.observe(item));
      }
      answers.push_back(std::move(list));
    }
  }
  return answers;
}

}  // namespace dpcache::vectors

#endif  // DPCACHE_TESTS_VECTOR_RUNNER_H_
