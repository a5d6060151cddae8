// The cache of a run: new, or out of a memory file, with the settings that the user asked for.
#ifndef DPCACHE_CLI_SESSION_H_
#define DPCACHE_CLI_SESSION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "cli/memory_file.h"
#include "cli/options.h"
#include "dpcache/cache.h"
#include "dpcache/text.h"

namespace dpcache::cli {

class Session {
 public:
  // Locks and reads the memory, if there is one: do this first, as it fails fast.
  Session(const std::optional<std::string>& memory, const CacheOptions& options,
          std::optional<std::int64_t> time);

  // Then one of these. They make a new cache, or check that the memory holds the like and change
  // the settings that were asked for. Failure(usage) or (memory).
  void use_text(const EncoderOptions& options);
  void use_vectors(std::uint32_t dimension, const std::optional<std::string>& made_by);
  // Vectors with these settings, if there is no memory yet; if there is, as use_vectors.
  void use_config(const Config& config);

  Cache& cache() noexcept { return cache_; }
  const Cache& cache() const noexcept { return cache_; }
  const std::optional<Encoder>& encoder() const noexcept { return encoder_; }  // nothing: vectors
  const MemoryFile* memory() const noexcept { return file_ ? &*file_ : nullptr; }
  bool was_loaded() const noexcept { return was_loaded_; }  // there was a memory to go on from
  // Slots with this id or a higher one were opened by this run.
  SlotId first_new() const noexcept { return first_new_; }
  // Milliseconds since 1970: the time that was asked for, or the clock's.
  std::int64_t now() const { return time_ ? *time_ : clock(); }
  static std::int64_t clock();
  // Writes the memory, if there is one and something has changed.
  void save();
  // The metadata has changed, which counts too.
  void mark_changed() noexcept { saved_seq_.reset(); }

 private:
  void check_gate(const std::optional<std::string>& encoder) const;
  void begin(Config config);
  void go_on();

  CacheOptions options_;
  std::optional<std::int64_t> time_;
  std::optional<MemoryFile> file_;
  bool loaded_ = false;
  bool was_loaded_ = false;
  Cache cache_;
  std::optional<Encoder> encoder_;
  SlotId first_new_ = 1;
  std::optional<std::uint64_t> saved_seq_;
};

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_SESSION_H_
