// What distinct --templates prints, as data: one row a template, one assignment a line.
#ifndef DPCACHE_CLI_TEMPLATE_ROWS_H_
#define DPCACHE_CLI_TEMPLATE_ROWS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/output.h"
#include "cli/rows.h"
#include "dpcache/templates.h"

namespace dpcache::cli {

struct TemplateRow {
  Template value;
  std::uint64_t seen = 0;  // lines, by this run
  bool fresh = false;      // opened by this run
  std::string file;        // where the first line stood
  std::uint64_t line = 0;  // 0: unknown
};

// A line and the template that took it.
struct TemplateAssignment {
  const Learned* learned = nullptr;
  std::string_view file;
  std::uint64_t line = 0;
  std::string_view bytes;               // as they came, without the newline
  std::optional<TemplateMatch> values;  // if the printer asks for them
};

class TemplatePrinter {
 public:
  virtual ~TemplatePrinter() = default;
  virtual bool wants_values() const { return false; }
  virtual void row(const TemplateRow& row) = 0;
  virtual void assignment(const TemplateAssignment& assignment) = 0;
};

// Tab-separated; with the values of the parameters below each row if standard output is a
// terminal.
std::unique_ptr<TemplatePrinter> text_template_printer(Output& output, Locate locate);
std::unique_ptr<TemplatePrinter> json_template_printer(Output& output);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_TEMPLATE_ROWS_H_
