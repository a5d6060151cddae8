// What an import did, and where an unfinished one stands.
#ifndef DPCACHE_CLI_IMPORT_REPORT_H_
#define DPCACHE_CLI_IMPORT_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dpcache::cli {

// Kept in the memory's metadata, with the slots that it speaks of.
struct ImportPosition {
  std::string file;        // as it was named, for people
  std::uint64_t rows = 0;  // or lines, that are done
  std::uint64_t imported = 0;
  std::uint64_t bad = 0;
};

std::string write_position(const ImportPosition& position);
std::optional<ImportPosition> read_position(std::string_view json);

struct ImportReport {
  std::string memory;
  ImportPosition done;       // by this run and those that it went on from
  std::uint64_t before = 0;  // rows that were passed over as done
  std::uint64_t opened = 0;  // slots, by this run
  std::uint64_t merged = 0;  // items, by this run
  std::uint64_t slots = 0;   // in the memory now
  std::uint64_t bytes = 0;
};

std::string json_of(const ImportReport& report);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_IMPORT_REPORT_H_
