// A training's report as one JSON object.
#include <nlohmann/json.hpp>

#include "cli/json_text.h"
#include "cli/train_report.h"

namespace dpcache::cli {
namespace {

nlohmann::ordered_json point(const CurvePoint& at) {
  nlohmann::ordered_json json;
  json["tau"] = json_number(at.tau);
  json["false_merges"] = at.false_merges;
  json["missed_merges"] = at.missed_merges;
  json["false_merge_bound"] = at.false_merge_bound;
  return json;
}

}  // namespace

void print_json(const TrainReport& report, Output& output) {
  const auto& learned = report.learned;
  nlohmann::ordered_json json;
  json["per"] = report.per == Per::pair ? "pair" : "item";
  json[report.per == Per::pair ? "pairs" : "items"] = report.trials;
  if (report.per == Per::item) json["reference"] = report.reference;
  json["same"] = learned.same;
  json["different"] = learned.different;
  json["separation"] = learned.separation;
  json["dimension"] = report.config.dimension;
  if (report.config.encoder) json["encoder"] = *report.config.encoder;
  if (report.steps) json["steps"] = *report.steps;
  json["gate"] = nullptr;
  if (report.config.gate) {
    json["gate"] = {{"a", json_number(report.config.gate->a)},
                    {"b", json_number(report.config.gate->b)}};
  }
  if (report.config.tau) json["tau"] = json_number(*report.config.tau);
  if (!report.refusal.empty()) json["refusal"] = report.refusal;
  if (report.bounded) {
    nlohmann::ordered_json bound;
    bound["max_false_merge"] = report.bound.max_false_merge;
    bound["confidence"] = report.bound.confidence;
    if (report.bound.upcoming > 0) bound["upcoming"] = report.bound.upcoming;
    bound["chosen"] = nullptr;
    if (report.calibration.chosen) bound["chosen"] = point(*report.calibration.chosen);
    if (report.calibration.needed) bound["needed"] = *report.calibration.needed;
    json["bound"] = std::move(bound);
  }
  json["at_risk"] = report.calibration.at_risk;
  json["mergeable"] = report.calibration.mergeable;
  json["curve_confidence"] = report.bound.confidence;
  json["curve"] = nlohmann::ordered_json::array();
  for (const auto& at : report.calibration.curve) json["curve"].push_back(point(at));
  output.add(json_text(json));
  output.add('\n');
}

}  // namespace dpcache::cli
