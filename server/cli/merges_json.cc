// What merges say of themselves, as JSON.
#include "cli/json_text.h"
#include "cli/merges.h"

namespace dpcache::cli {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Named& slot) {
  return {{"slot", slot.slot}, {"count", slot.count}, {"text", slot.text}};
}

Json json_of(const ListedReview& review) {
  return {{"slot", json_of(review.slot)},
          {"other", json_of(review.other)},
          {"similarity", json_number(review.similarity)}};
}

void put(const Json& json, Output& output) {
  output.add(json_text(json));
  output.add('\n');
}

}  // namespace

void print_json(const Explanation& explanation, Output& output) {
  Json json = json_of(explanation.slot);
  json["threshold"] = json_number(explanation.threshold);
  json["members"] = Json::array();
  for (const auto& member : explanation.members) {
    Json one;
    one["member"] = member.member;
    if (!member.id.empty()) one["id"] = member.id;
    one["opened"] = member.opened;
    one["similarity"] = json_number(member.similarity);
    one["threshold"] = json_number(member.threshold);
    one["gate"] = json_number(member.gate);
    one["guarded"] = member.guarded;
    one["time"] = member.time;
    one["text"] = member.text;
    json["members"].push_back(std::move(one));
  }
  json["must_not_merge"] = Json::array();
  for (const auto& slot : explanation.apart) json["must_not_merge"].push_back(json_of(slot));
  json["reviews"] = Json::array();
  for (const auto& review : explanation.reviews) json["reviews"].push_back(json_of(review));
  put(json, output);
}

void print_json(const Undone& undone, Output& output) {
  put({{"slot", json_of(undone.slot)}, {"opened", json_of(undone.opened)}}, output);
}

void print_json(const std::vector<ListedReview>& reviews, Output& output) {
  for (const auto& review : reviews) put(json_of(review), output);
}

}  // namespace dpcache::cli
