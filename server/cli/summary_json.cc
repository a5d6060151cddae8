// A memory's summary as one JSON object.
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/json_text.h"
#include "cli/summary.h"

namespace dpcache::cli {

void print_json(const Summary& summary, Output& output) {
  const auto& stats = summary.stats;
  nlohmann::ordered_json json;
  json["file"] = summary.path;
  json["bytes"] = summary.bytes;
  json["generation"] = summary.generation;
  json["config"] = nlohmann::ordered_json::parse(to_json(summary.config));
  json["metadata"] = summary.metadata;
  nlohmann::ordered_json counters;
  counters["slots"] = stats.slots;
  counters["singletons"] = summary.singletons;
  counters["items"] = stats.items;
  counters["allocations"] = stats.allocations;
  counters["merges"] = stats.merges;
  counters["evictions"] = stats.evictions;
  counters["folds"] = stats.folds;
  counters["expirations"] = stats.expirations;
  counters["erasures"] = stats.erasures;
  if (stats.splits != 0) counters["splits"] = stats.splits;
  if (stats.reviews != 0) counters["reviews"] = stats.reviews;
  counters["next_id"] = stats.next_id;
  counters["seq"] = stats.seq;
  // 64 bits are more than many JSON readers hold in a number.
  std::array<char, 32> hash{};
  std::snprintf(hash.data(), hash.size(), "%016llx",
                static_cast<unsigned long long>(stats.state_hash));
  counters["state_hash"] = hash.data();
  counters["surprise"] = json_number(stats.surprise);
  if (stats.budget) counters["budget"] = json_number(*stats.budget);
  json["stats"] = std::move(counters);
  if (summary.first_time) json["first_time"] = *summary.first_time;
  if (summary.last_time) json["last_time"] = *summary.last_time;
  if (!summary.warning.empty()) json["warning"] = summary.warning;
  json["top"] = nlohmann::ordered_json::array();
  for (const auto& one : summary.top) {
    nlohmann::ordered_json slot;
    slot["slot"] = one.slot;
    slot["count"] = one.count;
    slot["usage"] = one.usage;
    slot["file"] = one.first.file;
    slot["line"] = one.first.line;
    slot["first_time"] = one.first_time;
    slot["last_time"] = one.last_time;
    slot["text"] = one.first.text;
    if (one.first.bytes) slot["bytes"] = *one.first.bytes;
    json["top"].push_back(std::move(slot));
  }
  output.add(json_text(json));
  output.add('\n');
}

}  // namespace dpcache::cli
