// The rows of a file that is to be imported, whatever its format.
#ifndef DPCACHE_CLI_IMPORT_ROWS_H_
#define DPCACHE_CLI_IMPORT_ROWS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "cli/input.h"
#include "cli/item_json.h"
#include "cli/options.h"

namespace dpcache::cli {

// Memory: one row, and 256 KiB; of a memory file all of it.
class ImportRows {
 public:
  virtual ~ImportRows() = default;

  // The next row; false at the end, or when a signal came. A row that cannot be understood has a
  // fault, and the next one can still be read. Throws Failure(input) where none can.
  virtual bool next(ImportRow& row, std::string& fault) = 0;
  // Passes over a row, without looking at it.
  virtual bool skip() = 0;

  std::uint64_t number() const noexcept { return number_; }  // of the last row, from 1
  const char* unit() const noexcept { return unit_; }        // "line" or "row"
  virtual const Input* input() const noexcept = 0;           // nothing: all of it is in memory

 protected:
  explicit ImportRows(const char* unit) : unit_(unit) {}
  void count() noexcept { ++number_; }

 private:
  std::uint64_t number_ = 0;
  const char* unit_;
};

// Opens by content: .npy, safetensors, a memory file, else JSON Lines; each may be gzip, but for a
// memory. Throws Failure for options that do not fit, or a file that cannot be read.
std::unique_ptr<ImportRows> open_rows(const ImportOptions& options);

// What tells one file from another, from its start and its size: 16 hex digits. Nothing: a pipe.
std::optional<std::string> fingerprint_of(const std::string& file);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_IMPORT_ROWS_H_
