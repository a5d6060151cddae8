// A memory file on disk: read whole, held by one writer, replaced in one step.
#ifndef DPCACHE_CLI_MEMORY_FILE_H_
#define DPCACHE_CLI_MEMORY_FILE_H_

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

#include "cli/held_file.h"
#include "dpcache/cache.h"

namespace dpcache::cli {

struct LoadedMemory {
  Cache cache;
  std::uint64_t generation = 0;  // how often it has been saved
  std::uint64_t bytes = 0;
  struct stat stat {};
};

// Reads a memory without changing or locking it: what it gets is always a whole generation. Throws
// Failure(memory) if it cannot be read, Damaged if it cannot be used.
LoadedMemory read_memory(const std::string& path);

// One writer's hold on a memory.
class MemoryFile {
 public:
  // Takes the lock and reads the file, if there is one. Throws Failure(memory) if another process
  // has the lock, if the file is damaged, or if it could not be saved here.
  explicit MemoryFile(const std::string& path);

  // What the file held; call once. Nothing if there was no file.
  std::optional<Cache> take() { return std::move(cache_); }
  std::uint64_t bytes() const noexcept { return file_.bytes(); }     // when last read or saved
  const std::string& path() const noexcept { return file_.path(); }  // as given

  // Replaces the file in one step. If somebody who ignores the lock has replaced it since, or
  // anything fails, the file on disk stays as it is: Failure(memory).
  void save(Cache& cache);

 private:
  HeldFile file_;
  std::uint64_t generation_ = 0;
  std::optional<Cache> cache_;
};

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_MEMORY_FILE_H_
