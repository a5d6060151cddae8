// A memory file on disk: read whole, held by one writer, replaced in one step.
#ifndef DPCACHE_CLI_MEMORY_FILE_H_
#define DPCACHE_CLI_MEMORY_FILE_H_

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

#include "cli/descriptor.h"
#include "cli/failure.h"
#include "cli/signals.h"
#include "dpcache/cache.h"

namespace dpcache::cli {

struct LoadedMemory {
  Cache cache;
  std::uint64_t generation = 0;  // how often it has been saved
  std::uint64_t bytes = 0;
  struct stat stat {};
};

// The bytes are there, but they are no memory, or no longer.
class Damaged : public Failure {
 public:
  explicit Damaged(const std::string& message) : Failure(Exit::memory, message) {}
};

// Reads a memory without changing or locking it: what it gets is always a whole generation. Throws
// Failure(memory) if it cannot be read, Damaged if it cannot be used.
LoadedMemory read_memory(const std::string& path);

// One writer's hold on a memory. Beside FILE stand .FILE.dpcache-lock while it is held and
// .FILE.dpcache-tmp while it is saved; what a killed process left of them is no obstacle.
class MemoryFile {
 public:
  // Takes the lock and reads the file, if there is one. Throws Failure(memory) if another process
  // has the lock, if the file is damaged, or if it could not be saved here.
  explicit MemoryFile(std::string path);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // What the file held; call once. Nothing if there was no file.
  std::optional<Cache> take() { return std::move(cache_); }
  std::uint64_t bytes() const noexcept { return bytes_; }     // when last read or saved
  const std::string& path() const noexcept { return path_; }  // as given

  // Writes a temporary file, forces it to the disk and renames it over the old one. If somebody who
  // ignores the lock has replaced the file since, or anything fails, the file on disk stays as it
  // is: Failure(memory).
  void save(Cache& cache);

 private:
  void lock();
  void read();
  void check_unchanged() const;
  void write(const std::vector<std::byte>& bytes);

  std::string path_;
  std::string target_;  // the file itself, behind symbolic links
  std::string folder_;
  std::string lock_path_;
  std::string temporary_path_;
  Descriptor lock_;
  std::optional<Unfinished> lock_file_;
  std::optional<struct stat> seen_;  // the file that generation_ is of; nothing: there was none
  std::uint64_t generation_ = 0;
  std::uint64_t state_hash_ = 0;
  std::uint64_t bytes_ = 0;
  std::optional<Cache> cache_;
};

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_MEMORY_FILE_H_
