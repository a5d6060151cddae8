// A file that one writer holds: read whole, locked, replaced in one step.
#ifndef DPCACHE_CLI_HELD_FILE_H_
#define DPCACHE_CLI_HELD_FILE_H_

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/descriptor.h"
#include "cli/failure.h"
#include "cli/signals.h"

namespace dpcache::cli {

// The bytes are there, but they are not what they should be, or no longer.
class Damaged : public Failure {
 public:
  explicit Damaged(const std::string& message) : Failure(Exit::memory, message) {}
};

struct FileBytes {
  std::vector<std::byte> bytes;
  struct stat stat {};
};

// Reads a regular file without changing or locking it: always a whole generation. Throws
// Failure(memory), and Damaged if it is empty.
FileBytes read_file_whole(const std::string& path);

// Beside FILE stand .FILE.dpcache-lock while it is held and .FILE.dpcache-tmp while it is saved;
// what a killed process left of them is no obstacle.
class HeldFile {
 public:
  // What tells one saved state from another, however often its file was copied or touched.
  struct Identity {
    std::uint64_t generation = 0;
    std::uint64_t mark = 0;
    bool operator==(const Identity&) const = default;
  };
  // Of bytes that another program may have put there; may throw Failure.
  using Identify = std::function<Identity(std::span<const std::byte>)>;

  // Takes the lock and reads the file, if there is one. Throws Failure(memory) if another process
  // has the lock, or if the file could not be saved here.
  HeldFile(std::string path, Identify identify);
  ~HeldFile();
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;

  // What the file held; call once. Nothing if there was no file.
  std::optional<std::vector<std::byte>> take() { return std::move(content_); }
  // Says what take() turned out to be.
  void know(const Identity& identity) { identity_ = identity; }
  std::uint64_t bytes() const noexcept { return bytes_; }     // when last read or saved
  const std::string& path() const noexcept { return path_; }  // as given

  // If somebody who ignores the lock has replaced the file since, it stays as that left it:
  // Failure(memory).
  void check_unchanged() const;
  // Writes a temporary file, forces it to the disk and renames it over the old one. If anything
  // fails, the file on disk stays as it is: Failure(memory). Check first.
  void save(std::span<const std::byte> bytes, const Identity& identity);

 private:
  void lock();
  void read();
  void write(std::span<const std::byte> bytes);

  std::string path_;
  Identify identify_;
  std::string target_;  // the file itself, behind symbolic links
  std::string folder_;
  std::string lock_path_;
  std::string temporary_path_;
  Descriptor lock_;
  std::optional<Unfinished> lock_file_;
  std::optional<struct stat> seen_;  // the file that identity_ is of; nothing: there was none
  Identity identity_;
  std::uint64_t bytes_ = 0;
  std::optional<std::vector<std::byte>> content_;
};

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_HELD_FILE_H_
