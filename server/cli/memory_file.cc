// A memory file on disk. Its generation, a counter in the memory's metadata, and the state's hash
// tell one saved state from another.
#include "cli/memory_file.h"

#include <charconv>
#include <span>
#include <utility>
#include <vector>

#include "cli/template_file.h"

namespace dpcache::cli {
namespace {

constexpr const char* kGeneration = "generation";

std::uint64_t generation_of(const Cache& cache) {
  const auto found = cache.metadata().find(kGeneration);
  if (found == cache.metadata().end()) return 0;
  std::uint64_t generation = 0;
  const auto& text = found->second;
  std::from_chars(text.data(), text.data() + text.size(), generation);
  return generation;
}

Cache load(std::span<const std::byte> bytes, const std::string& path) {
  if (holds_templates(bytes)) {
    throw Failure(Exit::memory, path + ": holds templates (for dpcache distinct --templates)");
  }
  auto cache = Cache::load(bytes);
  if (!cache) {
    throw Damaged(path + ": is damaged, or not a memory: " + cache.status.detail +
                  " (use a copy of it)");
  }
  return std::move(*cache);
}

HeldFile::Identity identity_of(const Cache& cache) {
  return {generation_of(cache), cache.stats().state_hash};
}

}  // namespace

LoadedMemory read_memory(const std::string& path) {
  const FileBytes file = read_file_whole(path);
  LoadedMemory loaded;
  loaded.stat = file.stat;
  loaded.bytes = file.bytes.size();
  loaded.cache = load(file.bytes, path);
  loaded.generation = generation_of(loaded.cache);
  return loaded;
}

MemoryFile::MemoryFile(const std::string& path)
    : file_(path,
            [path](std::span<const std::byte> bytes) { return identity_of(load(bytes, path)); }) {
  const auto bytes = file_.take();
  if (!bytes) return;
  cache_ = load(*bytes, path);
  generation_ = generation_of(*cache_);
  file_.know(identity_of(*cache_));
}

void MemoryFile::save(Cache& cache) {
  file_.check_unchanged();
  cache.metadata()[kGeneration] = std::to_string(generation_ + 1);
  const auto bytes = cache.save();
  file_.save(bytes, {generation_ + 1, cache.stats().state_hash});
  ++generation_;
}

}  // namespace dpcache::cli
