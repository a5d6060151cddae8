// A memory's summary for people.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "cli/summary.h"
#include "cli/terminal.h"

namespace dpcache::cli {
namespace {

constexpr std::size_t kNames = 14;  // columns

std::string counters(const Stats& stats) {
  std::string text = grouped(stats.items) + " = " +
                     plural(stats.allocations, "allocation", "allocations") + " + " +
                     plural(stats.merges, "merge", "merges");
  if (stats.splits > 0) text += " - " + plural(stats.splits, "split", "splits");
  const auto add = [&text](std::uint64_t number, const char* one, const char* many) {
    if (number > 0) text += "; " + plural(number, one, many);
  };
  add(stats.evictions, "eviction", "evictions");
  add(stats.folds, "fold", "folds");
  add(stats.expirations, "expiration", "expirations");
  add(stats.erasures, "erasure", "erasures");
  add(stats.reviews, "open review", "open reviews");
  return text;
}

// The settings that differ from a new cache's, and tau.
std::string settings(const Config& config) {
  std::string text = config.gate
                         ? "gate " + shortest(config.gate->a) + "," + shortest(config.gate->b)
                         : "tau " + shortest(threshold(config));
  const Config usual;
  const auto add = [&text](const std::string& part) { text += ", " + part; };
  if (config.tau_merge) add("merging to " + shortest(*config.tau_merge));
  if (!config.guards.empty()) add("guards " + config.guards.names());
  if (config.audit == Audit::ids) add("audit of ids");
  if (config.audit == Audit::full) add("full audit");
  if (config.correction_rate) add("learning by " + shortest(*config.correction_rate));
  if (config.key_update == KeyUpdate::centroid) add("centroid keys");
  if (config.usage_decay != usual.usage_decay) add("usage decay " + shortest(config.usage_decay));
  if (config.budget == BudgetKind::fixed) add("budget " + shortest(config.m0));
  if (config.budget == BudgetKind::adaptive) {
    add("budget " + shortest(config.m0) + " + " + shortest(config.beta) + " T, eta " +
        shortest(config.eta));
  }
  if (config.budget == BudgetKind::ghost) add("budget " + shortest(config.m0) + " with ghosts");
  if (config.max_slots) add("at most " + plural(*config.max_slots, "slot", "slots"));
  if (config.shrink == Shrink::merge) add("shrink by merging");
  if (config.ttl_ms) add("time to live " + in_time(std::chrono::milliseconds(*config.ttl_ms)));
  return text;
}

}  // namespace

void print_text(const Summary& summary, Output& output) {
  const auto line = [&output](std::string name, const std::string& value) {
    name.resize(std::max(kNames, name.size()), ' ');
    output.add(name + value + '\n');
  };
  const auto& stats = summary.stats;
  line("memory", printable(summary.path) + ", " + in_bytes(summary.bytes) + ", saved " +
                     plural(summary.generation, "time", "times"));
  line("encoder", printable(summary.config.encoder.value_or("none: own vectors")));
  if (const auto masks = summary.metadata.find("own_masks"); masks != summary.metadata.end()) {
    line("own masks", printable(masks->second));
  }
  line("dimension", std::to_string(summary.config.dimension));
  line("settings", settings(summary.config));
  line("slots", grouped(stats.slots) + ", " + grouped(summary.singletons) +
                    " of count 1, next id " + std::to_string(stats.next_id));
  line("items", counters(stats));
  if (stats.budget) {
    line("budget",
         shortest(*stats.budget) + " slots now, novelty rate " + shortest(stats.surprise));
  }
  if (summary.first_time) {
    line("from", in_date(*summary.first_time));
    line("to", in_date(*summary.last_time));
  }
  std::array<char, 32> hash{};
  std::snprintf(hash.data(), hash.size(), "%016llx",
                static_cast<unsigned long long>(stats.state_hash));
  line("state hash", std::string(hash.data()) + " after event " + std::to_string(stats.seq));
  if (!summary.warning.empty()) line("warning", summary.warning);
  if (summary.top.empty()) return;
  const bool terminal = is_terminal(STDOUT_FILENO);
  const auto columns =
      terminal ? std::max<std::size_t>(terminal_columns(STDOUT_FILENO), 40) : SIZE_MAX;
  output.add("\n     COUNT      SLOT  EXAMPLE\n");
  for (const auto& one : summary.top) {
    std::array<char, 64> start{};
    const int used = std::snprintf(start.data(), start.size(), "%10s  %8s  ",
                                   grouped(one.count).c_str(), std::to_string(one.slot).c_str());
    output.add(start.data());
    output.add(terminal ? printable(one.first.text, columns - static_cast<std::size_t>(used))
                        : one.first.text);
    output.add('\n');
  }
}

}  // namespace dpcache::cli
