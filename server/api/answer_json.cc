// Answers, field by field.
#include "api/answer_json.h"

#include <simdjson.h>

#include <nlohmann/json.hpp>

namespace dpcache::server {

namespace {

void write_ids(JsonWriter& json, const std::vector<SlotId>& ids) {
  json.begin_array();
  for (const SlotId id : ids) json.number(id);
  json.end_array();
}

void write_folds(JsonWriter& json, const std::vector<Fold>& folds) {
  json.begin_array();
  for (const Fold& fold : folds) {
    json.begin_object();
    json.name("slot").number(fold.slot);
    json.name("into").number(fold.into);
    json.end_object();
  }
  json.end_array();
}

template <class T>
void write_maybe(JsonWriter& json, const std::optional<T>& value) {
  if (value) {
    json.number(*value);
  } else {
    json.null();
  }
}

void write_guards(JsonWriter& json, GuardSet guards) {
  json.begin_array();
  for (const std::string_view guard : guards.list()) json.text(guard);
  json.end_array();
}

std::string hex(std::uint64_t number) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[number >> shift & 15U];
  return text;
}

bool is_json(std::string_view text) {
  static thread_local simdjson::dom::parser parser;
  if (parser.parse(simdjson::padded_string(text)).error() == simdjson::SUCCESS) return true;
  // It may hold integers that 64 bits do not, or be deeper than simdjson goes.
  return nlohmann::json::accept(text);
}

const char* name_of(EventKind kind) {
  switch (kind) {
    case EventKind::observe:
      return "observe";
    case EventKind::erase:
      return "erase";
    case EventKind::expire:
      return "expire";
    case EventKind::consolidate:
      return "consolidate";
    case EventKind::config:
      return "config";
    case EventKind::split:
      return "split";
    case EventKind::must_not_merge:
      return "must_not_merge";
    case EventKind::must_merge:
      return "must_merge";
    case EventKind::review:
      return "review";
  }
  return "";
}

}  // namespace

void write(JsonWriter& json, const Match& match) {
  json.begin_object();
  json.name("slot").number(match.slot);
  json.name("similarity").number(match.similarity);
  json.end_object();
}

void write(JsonWriter& json, const Decision& decision) {
  json.begin_object();
  json.name("action").text(decision.action == Action::merge ? "merge" : "allocate");
  json.name("slot").number(decision.slot);
  json.name("novelty").number(decision.novelty);
  json.name("threshold").number(decision.threshold);
  json.name("gate").number(decision.gate);
  json.name("similarity").number(decision.similarity);
  json.name("nearest");
  if (decision.nearest) {
    write(json, *decision.nearest);
  } else {
    json.null();
  }
  json.name("evicted");
  write_ids(json, decision.evicted);
  json.name("folded");
  write_folds(json, decision.folded);
  json.name("surprise").number(decision.surprise);
  json.name("budget");
  write_maybe(json, decision.budget);
  // What only caches that use them have to say.
  if (decision.uncertain) json.name("uncertain").boolean(true);
  const bool waits = decision.uncertain && decision.action == Action::allocate &&
                     decision.verdict != Judgement::different;
  if (waits) json.name("review").text(review_id(decision.slot, decision.nearest->slot));
  if (decision.verdict) json.name("verdict").text(to_string(*decision.verdict));
  if (!decision.guarded.empty()) {
    json.name("guarded");
    write_guards(json, decision.guarded);
  }
  json.end_object();
}

void write(JsonWriter& json, const Lookup& lookup, const Cache& cache) {
  const auto write_match = [&](const char* name, const std::optional<Match>& match) {
    json.name(name);
    if (match) {
      write(json, *match);
    } else {
      json.null();
    }
  };
  json.begin_object();
  json.name("found").text(to_string(lookup.found));
  write_match("slot", lookup.slot);
  write_match("other", lookup.other);
  json.name("novelty").number(lookup.novelty);
  json.name("tau_merge").number(lookup.tau_merge);
  json.name("threshold").number(lookup.threshold);
  json.name("reasons").begin_array();
  for (const Reason reason : lookup.reasons) json.text(to_string(reason));
  json.end_array();
  json.name("guarded");
  write_guards(json, lookup.guarded);
  json.name("payload");
  if (lookup.slot && lookup.found != Found::miss) {
    write_payload(json, cache.slot(lookup.slot->slot)->payload);
  } else {
    json.null();
  }
  json.end_object();
}

void write(JsonWriter& json, const Member& member) {
  json.begin_object();
  json.name("member").number(member.seq);
  json.name("id");
  if (member.id.empty()) {
    json.null();
  } else {
    json.text(member.id);
  }
  json.name("time").number(member.time);
  json.name("opened").boolean(member.opened);
  json.name("similarity").number(member.similarity);
  json.name("threshold").number(member.threshold);
  json.name("gate").number(member.gate);
  json.name("guarded");
  write_guards(json, member.guarded);
  if (member.kept) {
    json.name("payload");
    write_payload(json, member.payload);
    if (!member.text.empty()) json.name("text").text(member.text);
    if (member.exact_key) json.name("exact_key").text(*member.exact_key);
    if (!member.scope.empty()) json.name("scope").text(member.scope);
  }
  json.end_object();
}

std::string review_id(SlotId slot, SlotId other) {
  return std::to_string(slot) + "-" + std::to_string(other);
}

void write_payload(JsonWriter& json, std::string_view payload) {
  if (payload.empty()) {
    json.null();
  } else if (is_json(payload)) {
    json.raw(payload);
  } else {
    json.text(payload);
  }
}

void write_verdict(JsonWriter& json, float threshold, bool empty, float similarity) {
  const float novelty = empty ? 1.0F : 1.0F - similarity;
  json.name("action").text(empty || novelty > threshold ? "allocate" : "merge");
  json.name("novelty").number(novelty);
  json.name("threshold").number(threshold);
}

void write(JsonWriter& json, const Slot& slot, bool keys) {
  json.begin_object();
  json.name("id").number(slot.id);
  if (keys) json.name("key").floats(slot.key);
  if (!slot.value.empty()) json.name("value").floats(slot.value);
  json.name("payload");
  write_payload(json, slot.payload);
  json.name("exact_keys").begin_array();
  for (const std::string_view key : slot.exact_keys) json.text(key);
  json.end_array();
  json.name("usage").number(slot.usage);
  json.name("count").number(slot.count);
  json.name("first_time").number(slot.first_time);
  json.name("last_time").number(slot.last_time);
  json.name("expires");
  write_maybe(json, slot.expires);
  if (!slot.text.empty()) json.name("text").text(slot.text);
  json.end_object();
}

void write(JsonWriter& json, const Stats& stats) {
  json.begin_object();
  json.name("slots").number(stats.slots);
  json.name("items").number(stats.items);
  json.name("allocations").number(stats.allocations);
  json.name("merges").number(stats.merges);
  json.name("evictions").number(stats.evictions);
  json.name("folds").number(stats.folds);
  json.name("expirations").number(stats.expirations);
  json.name("erasures").number(stats.erasures);
  json.name("next_id").number(stats.next_id);
  json.name("seq").number(stats.seq);
  json.name("state_hash").text(hex(stats.state_hash));
  json.name("surprise").number(stats.surprise);
  json.name("budget");
  write_maybe(json, stats.budget);
  json.name("bytes").number(stats.bytes);
  if (stats.splits != 0) json.name("splits").number(stats.splits);
  if (stats.reviews != 0) json.name("reviews").number(stats.reviews);
  json.end_object();
}

void write(JsonWriter& json, const Event& event) {
  json.begin_object();
  json.name("seq").number(event.seq);
  json.name("kind").text(name_of(event.kind));
  json.name("time").number(event.time);
  if (event.kind == EventKind::observe) {
    json.name("item").begin_object();
    json.name("key").floats(event.item.key);
    if (!event.item.value.empty()) json.name("value").floats(event.item.value);
    json.name("payload");
    write_payload(json, event.item.payload);
    json.name("exact_key");
    if (event.item.exact_key) {
      json.text(*event.item.exact_key);
    } else {
      json.null();
    }
    json.name("ttl_ms");
    write_maybe(json, event.item.ttl_ms);
    if (!event.item.id.empty()) json.name("id").text(event.item.id);
    if (!event.item.text.empty()) json.name("text").text(event.item.text);
    if (!event.item.scope.empty()) json.name("scope").text(event.item.scope);
    json.end_object();
    json.name("decision");
    write(json, event.decision);
  } else if (event.config) {
    json.name("config").raw(to_json(*event.config));
  } else if (event.kind >= EventKind::split) {
    json.name("slot").number(event.correction.slot);
    json.name("other").number(event.correction.other);
    if (event.kind == EventKind::split) json.name("member").number(event.correction.member);
    if (event.kind == EventKind::review) {
      json.name("verdict").text(to_string(event.correction.verdict));
    }
  } else {
    json.name("removed");
    write_ids(json, event.decision.evicted);
    json.name("folded");
    write_folds(json, event.decision.folded);
  }
  json.end_object();
}

}  // namespace dpcache::server
