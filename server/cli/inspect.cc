// dpcache inspect: what is in a memory file?
#include <algorithm>
#include <vector>

#include "cli/commands.h"
#include "cli/memory_file.h"
#include "cli/output.h"
#include "cli/summary.h"

namespace dpcache::cli {
namespace {

constexpr std::size_t kPage = 1024;

struct Ranked {
  std::uint64_t count = 0;
  SlotId slot = 0;
};

// One pass over the slots; what is needed of them fits in 16 bytes each.
void read_slots(const Cache& cache, std::uint64_t top, Summary& summary) {
  std::vector<Ranked> ranked;
  SlotId after = 0;
  for (auto page = cache.slots(after, kPage); !page.empty(); page = cache.slots(after, kPage)) {
    for (const auto& slot : page) {
      after = slot.id;
      ranked.push_back({slot.count, slot.id});
      if (slot.count == 1) ++summary.singletons;
      summary.first_time = std::min(summary.first_time.value_or(slot.first_time), slot.first_time);
      summary.last_time = std::max(summary.last_time.value_or(slot.last_time), slot.last_time);
    }
  }
  const auto shown = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(top, ranked.size()));
  std::partial_sort(ranked.begin(), ranked.begin() + shown, ranked.end(),
                    [](const Ranked& a, const Ranked& b) {
                      return a.count != b.count ? a.count > b.count : a.slot < b.slot;
                    });
  ranked.resize(static_cast<std::size_t>(shown));
  for (const auto& one : ranked) {
    const auto slot = cache.slot(one.slot);
    summary.top.push_back({one.slot, one.count, slot->usage, read_example(slot->payload),
                           slot->first_time, slot->last_time});
  }
}

}  // namespace

Ending run_inspect(const InspectOptions& options) {
  const auto loaded = read_memory(options.memory);
  Summary summary;
  summary.path = options.memory;
  summary.bytes = loaded.bytes;
  summary.generation = loaded.generation;
  summary.config = loaded.cache.config();
  summary.metadata = loaded.cache.metadata();
  summary.stats = loaded.cache.stats();
  summary.warning = loaded.cache.warning();
  read_slots(loaded.cache, options.top, summary);
  Output output;
  if (options.format == Format::json) {
    print_json(summary, output);
  } else {
    print_text(summary, output);
  }
  output.close();
  return {};
}

}  // namespace dpcache::cli
