// dpcache verify: is a memory file whole? Loading checks the checksums and every length; this adds
// what must hold of any memory.
#include <cmath>
#include <string>

#include "cli/commands.h"
#include "cli/memory_file.h"
#include "cli/notices.h"
#include "cli/output.h"
#include "cli/template_file.h"
#include "cli/terminal.h"

namespace dpcache::cli {
namespace {

constexpr std::size_t kPage = 1024;

// Empty, or why the slot cannot be.
std::string fault_of(const Slot& slot, const Cache& cache) {
  const auto& config = cache.config();
  double norm = 0;
  for (const float component : slot.key)
    norm += static_cast<double>(component) * static_cast<double>(component);
  // Rounding each component moves the length by less than 2^-24 sqrt(d), and d is at most 65,536.
  if (!(std::abs(norm - 1) < 1e-4)) return "its key is not of unit length";
  if (slot.key.size() != config.dimension) return "its key has the wrong length";
  if (slot.value.size() != config.value_dimension) return "its value has the wrong length";
  if (slot.count == 0) return "it has absorbed nothing";
  if (!(slot.usage >= 0)) return "its usage is not a number from 0 up";
  return {};
}

std::string fault_of(const Cache& cache) {
  const auto stats = cache.stats();
  if (stats.items + stats.splits != stats.allocations + stats.merges)
    return "items are not allocations and merges";
  if (stats.slots + stats.evictions + stats.folds + stats.expirations + stats.erasures !=
      stats.allocations) {
    return "allocations are not the slots and those that went";
  }
  std::uint64_t slots = 0;
  std::uint64_t counts = 0;
  SlotId after = 0;
  for (auto page = cache.slots(after, kPage); !page.empty(); page = cache.slots(after, kPage)) {
    for (const auto& slot : page) {
      if (slot.id <= after || slot.id >= stats.next_id) return "slot ids are out of order";
      after = slot.id;
      ++slots;
      counts += slot.count;
      if (const auto fault = fault_of(slot, cache); !fault.empty()) {
        return "slot " + std::to_string(slot.id) + ": " + fault;
      }
    }
  }
  if (slots != stats.slots) return "the number of slots is wrong";
  if (counts > stats.items) return "the slots have absorbed more than all items";
  return {};
}

// A file of templates is checked wholly when it is loaded. False: it is something else.
bool verify_templates(const std::string& path, Output& output) {
  const FileBytes file = read_file_whole(path);
  if (!holds_templates(file.bytes)) return false;
  const Templates templates = load_templates(file.bytes, path);
  output.add(path + ": ok, " + plural(templates.size(), "template", "templates") + ", " +
             plural(templates.lines(), "line", "lines") + ", " + in_bytes(file.bytes.size()) +
             '\n');
  return true;
}

}  // namespace

Ending run_verify(const VerifyOptions& options) {
  Output output;
  auto code = Exit::ok;
  for (const auto& path : options.memories) {
    std::string fault;
    LoadedMemory loaded;
    try {
      if (verify_templates(path, output)) continue;
      loaded = read_memory(path);
      fault = fault_of(loaded.cache);
      if (!fault.empty()) fault = path + ": contradicts itself: " + fault;
    } catch (const Damaged& damaged) {
      fault = damaged.what();
    } catch (const Failure& failure) {  // nothing is known about it
      say(std::string("dpcache: ") + failure.what());
      code = failure.code();
      continue;
    }
    if (!fault.empty()) {
      say("dpcache: " + fault);
      if (code == Exit::ok) code = Exit::negative;
      continue;
    }
    const auto stats = loaded.cache.stats();
    output.add(path + ": ok, " + plural(stats.slots, "slot", "slots") + ", " +
               plural(stats.items, "item", "items") + ", saved " +
               plural(loaded.generation, "time", "times") + ", " + in_bytes(loaded.bytes) + '\n');
  }
  output.close();
  return {code};
}

}  // namespace dpcache::cli
