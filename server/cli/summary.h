// What is in a memory, as data, and how inspect shows it.
#ifndef DPCACHE_CLI_SUMMARY_H_
#define DPCACHE_CLI_SUMMARY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/example_json.h"
#include "cli/memory_file.h"
#include "cli/output.h"
#include "dpcache/cache.h"

namespace dpcache::cli {

struct TopSlot {
  SlotId slot = 0;
  std::uint64_t count = 0;
  double usage = 0.0;
  Example first;
  std::int64_t first_time = 0;
  std::int64_t last_time = 0;
};

struct Summary {
  std::string path;
  std::uint64_t bytes = 0;
  std::uint64_t generation = 0;
  Config config;
  std::map<std::string, std::string> metadata;
  Stats stats;
  std::optional<std::int64_t> first_time;  // of all slots
  std::optional<std::int64_t> last_time;
  std::uint64_t singletons = 0;  // slots of count 1
  std::string warning;
  std::vector<TopSlot> top;  // by count, descending
};

void print_text(const Summary& summary, Output& output);
void print_json(const Summary& summary, Output& output);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_SUMMARY_H_
