// Advice as one JSON object.
#include <nlohmann/json.hpp>

#include "cli/advise_report.h"
#include "cli/json_text.h"

namespace dpcache::cli {
namespace {

using nlohmann::ordered_json;

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

ordered_json json_of(const Valley& valley) {
  return {{"tau", json_number(valley.tau)},
          {"low", json_number(valley.low)},
          {"high", json_number(valley.high)},
          {"nearer", json_number(valley.nearer)},
          {"farther", json_number(valley.farther)},
          {"depth", valley.depth},
          {"chance", valley.chance},
          {"again", valley.again}};
}

ordered_json json_of(const Calibration& calibration) {
  ordered_json json;
  json["at_risk"] = calibration.at_risk;
  json["mergeable"] = calibration.mergeable;
  json["chosen"] = nullptr;
  if (const auto& chosen = calibration.chosen) {
    json["chosen"] = {{"tau", json_number(chosen->tau)},
                      {"false_merges", chosen->false_merges},
                      {"missed_merges", chosen->missed_merges},
                      {"false_merge_bound", chosen->false_merge_bound}};
  } else {
    json["refusal"] = calibration.reason;
  }
  if (calibration.needed) json["needed"] = *calibration.needed;
  return json;
}

ordered_json json_of(const TauTried& tried, const Advice& advice) {
  ordered_json json;
  json["tau"] = json_number(tried.tau);
  json["slots"] = tried.slots;
  json["merged"] = tried.merged;
  json["largest"] = tried.largest;
  if (advice.labelled > 0) {
    json["wrong"] = tried.wrong;
    json["wrong_bound"] = tried.wrong_bound;
  }
  if (advice.per_pair) {
    json["different_merged"] = tried.different_merged;
    json["same_apart"] = tried.same_apart;
  }
  return json;
}

}  // namespace

void print_json(const AdviceReport& report, Output& output) {
  const auto& advice = report.advice;
  ordered_json json;
  json["items"] = advice.seen;
  json["sampled"] = advice.sampled;
  json["repeats"] = advice.repeats;
  json["labelled"] = advice.labelled;
  json["pairs"] = {{"same", advice.same}, {"different", advice.different}};
  json["dimension"] = report.config.dimension;
  if (report.config.encoder) json["encoder"] = *report.config.encoder;
  json["tau"] = nullptr;
  if (advice.tau) json["tau"] = json_number(*advice.tau);
  json["evidence"] = name_of(advice.evidence);
  json["reason"] = advice.reason;
  json["wrong_share"] = nullptr;
  if (advice.wrong_share) json["wrong_share"] = *advice.wrong_share;
  json["wrong_share_is"] = !advice.wrong_share ? "unknown" : advice.bounded ? "bound" : "estimate";
  json["max_false_merge"] = report.max_false_merge;
  json["confidence"] = report.confidence;
  json["warnings"] = advice.warnings;
  json["valleys"] = ordered_json::array();
  for (const auto& valley : advice.valleys) json["valleys"].push_back(json_of(valley));
  if (advice.per_item) json["per_item"] = json_of(*advice.per_item);
  if (advice.per_pair) json["per_pair"] = json_of(*advice.per_pair);
  json["tried"] = ordered_json::array();
  for (const auto& tried : advice.tried) json["tried"].push_back(json_of(tried, advice));
  json["opposites"] = ordered_json::array();
  for (const auto& pair : report.opposites) {
    json["opposites"].push_back(
        {{"a", pair.a}, {"b", pair.b}, {"novelty", json_number(pair.novelty)}});
  }
  json["histogram"] = {{"width", 2.0 / static_cast<double>(kNoveltyBins)},
                       {"counts", advice.histogram}};
  output.add(json_text(json));
  output.add('\n');
}

}  // namespace dpcache::cli
