// Advice, field by field.
#include "api/advice_json.h"

#include <optional>

namespace dpcache::server {

namespace {

const char* name_of(Evidence evidence) {
  switch (evidence) {
    case Evidence::items:
      return "items";
    case Evidence::pairs:
      return "pairs";
    case Evidence::valley:
      return "valley";
    case Evidence::none:
      return "none";
  }
  return "";
}

template <class T>
void write_maybe(JsonWriter& json, const std::optional<T>& value) {
  if (value) {
    json.number(*value);
  } else {
    json.null();
  }
}

void write(JsonWriter& json, const Valley& valley) {
  json.begin_object();
  json.name("tau").number(valley.tau);
  json.name("low").number(valley.low);
  json.name("high").number(valley.high);
  json.name("nearer").number(valley.nearer);
  json.name("farther").number(valley.farther);
  json.name("depth").number(valley.depth);
  json.name("chance").number(valley.chance);
  json.name("again").number(valley.again);
  json.name("of_repeats").boolean(valley.of_repeats);
  json.end_object();
}

void write(JsonWriter& json, const Calibration& calibration) {
  json.begin_object();
  json.name("at_risk").number(calibration.at_risk);
  json.name("mergeable").number(calibration.mergeable);
  json.name("chosen");
  if (const auto& chosen = calibration.chosen) {
    json.begin_object();
    json.name("tau").number(chosen->tau);
    json.name("false_merges").number(chosen->false_merges);
    json.name("missed_merges").number(chosen->missed_merges);
    json.name("false_merge_bound").number(chosen->false_merge_bound);
    json.end_object();
  } else {
    json.null();
    json.name("refusal").text(calibration.reason);
  }
  if (calibration.needed) json.name("needed").number(*calibration.needed);
  json.end_object();
}

void write(JsonWriter& json, const TauTried& tried, const Advice& advice) {
  json.begin_object();
  json.name("tau").number(tried.tau);
  json.name("slots").number(tried.slots);
  json.name("merged").number(tried.merged);
  json.name("largest").number(tried.largest);
  const bool guards = advice.with_facts > 0;
  if (guards) json.name("guarded").number(tried.guarded);
  if (advice.labelled > 0) {
    json.name("wrong").number(tried.wrong);
    json.name("wrong_bound").number(tried.wrong_bound);
  }
  if (advice.per_pair) {
    json.name("different_merged").number(tried.different_merged);
    if (guards) json.name("different_guarded").number(tried.different_guarded);
    json.name("same_apart").number(tried.same_apart);
    if (guards) json.name("same_guarded").number(tried.same_guarded);
  }
  json.end_object();
}

}  // namespace

void write_fields(JsonWriter& json, const Advice& advice) {
  json.name("items").number(advice.seen);
  json.name("sampled").number(advice.sampled);
  json.name("repeats").number(advice.repeats);
  json.name("labelled").number(advice.labelled);
  json.name("pairs").begin_object();
  json.name("same").number(advice.same);
  json.name("different").number(advice.different);
  json.end_object();
  json.name("tau");
  write_maybe(json, advice.tau);
  json.name("evidence").text(name_of(advice.evidence));
  json.name("reason").text(advice.reason);
  json.name("wrong_share");
  write_maybe(json, advice.wrong_share);
  json.name("wrong_share_is");
  json.text(!advice.wrong_share ? "unknown" : advice.bounded ? "bound" : "estimate");
  json.name("warnings").begin_array();
  for (const auto& warning : advice.warnings) json.text(warning);
  json.end_array();
  json.name("valleys").begin_array();
  for (const auto& valley : advice.valleys) write(json, valley);
  json.end_array();
  if (advice.per_item) {
    json.name("per_item");
    write(json, *advice.per_item);
  }
  if (advice.per_pair) {
    json.name("per_pair");
    write(json, *advice.per_pair);
  }
  json.name("tried").begin_array();
  for (const auto& tried : advice.tried) write(json, tried, advice);
  json.end_array();
  json.name("histogram").begin_object();
  json.name("width").number(2.0 / static_cast<double>(kNoveltyBins));
  json.name("counts").begin_array();
  for (const auto count : advice.histogram) json.number(count);
  json.end_array().end_object();
}

}  // namespace dpcache::server
