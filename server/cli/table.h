// Tables of tab-separated fields whose first line names the columns.
#ifndef DPCACHE_CLI_TABLE_H_
#define DPCACHE_CLI_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/lines.h"

namespace dpcache::cli {

// Gives the columns that were asked for, in that order, whatever others there are. Any bytes but
// tab and newline are a field's own; a carriage return at the end of a line is not. Empty lines are
// skipped. Throws Failure(input) that names the line and what was expected there.
class TableReader {
 public:
  TableReader(Input input, std::vector<std::string> columns);

  // The next row; false at the end, or when a signal came.
  bool next();
  // Valid until the next row.
  std::string_view field(std::size_t column) const { return fields_[places_[column]]; }
  // Ends the run: "FILE: line 7: what".
  [[noreturn]] void fail(const std::string& what) const;

  const LineReader& lines() const noexcept { return lines_; }

 private:
  bool read();
  void find_columns();
  std::string wanted() const;

  LineReader lines_;
  std::vector<std::string> columns_;
  std::vector<std::size_t> places_;  // of the columns among the fields
  std::vector<std::string_view> fields_;
  std::size_t width_ = 0;  // fields of the header
  std::uint64_t line_ = 0;
};

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_TABLE_H_
