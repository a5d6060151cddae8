// Templates for pipes and for people.
#include <unistd.h>

#include <algorithm>

#include "cli/template_rows.h"
#include "cli/terminal.h"

namespace dpcache::cli {
namespace {

std::string where(const TemplateRow& row, Locate locate) {
  const auto line = row.line == 0 ? std::string("-") : std::to_string(row.line);
  return locate == Locate::line ? line : row.file + ':' + line;
}

// COUNT, LINE, template, example.
class Tabbed : public TemplatePrinter {
 public:
  Tabbed(Output& output, Locate locate) : output_(output), locate_(locate) {}

  void row(const TemplateRow& row) override {
    output_.add(row.value.count);
    output_.add('\t');
    output_.add(where(row, locate_));
    output_.add('\t');
    output_.add(row.value.text);
    output_.add('\t');
    if (!row.value.examples.empty()) output_.add(row.value.examples.front());
    output_.add('\n');
  }

  void assignment(const TemplateAssignment& assignment) override {
    output_.add(assignment.learned->id);
    output_.add('\t');
    output_.add(assignment.bytes);
    output_.add('\n');
  }

 private:
  Output& output_;
  Locate locate_;
};

// The same for a terminal: cut to its width, with what the parameters were.
class Table : public TemplatePrinter {
 public:
  Table(Output& output, Locate locate) : output_(output), locate_(locate) {}

  void row(const TemplateRow& row) override {
    put(grouped(row.value.count), row.value.text);
    if (row.value.parameters.empty()) return;
    put("", "  first at " + where(row, locate_) + ": " + row.value.examples.front());
    for (const Parameter& parameter : row.value.parameters) {
      if (parameter.values.empty()) continue;
      std::string text = "  " + parameter.name + ": ";
      std::uint64_t others = parameter.others;
      std::size_t shown = 0;
      for (const auto& value : parameter.values) {
        if (shown == kShown) {
          others += value.count;
          continue;
        }
        if (shown++ > 0) text += ", ";
        text += value.text + " (" + grouped(value.count) + ')';
      }
      if (others > 0) text += ", others (" + grouped(others) + ')';
      put("", text);
    }
  }

  void assignment(const TemplateAssignment& assignment) override {
    put(std::to_string(assignment.learned->id), assignment.bytes);
  }

 private:
  static constexpr std::size_t kShown = 4;
  static constexpr std::size_t kWidth = 9;

  void put(const std::string& left, std::string_view right) {
    for (auto columns = columns_of(left); columns < kWidth; ++columns) output_.add(' ');
    output_.add(left);
    output_.add("  ");
    const auto used = std::max(kWidth, left.size()) + 2;
    const auto columns = std::max(terminal_columns(STDOUT_FILENO), used + 20);
    output_.add(printable(right, columns - used));
    output_.add('\n');
  }

  Output& output_;
  Locate locate_;
};

}  // namespace

std::unique_ptr<TemplatePrinter> text_template_printer(Output& output, Locate locate) {
  if (is_terminal(STDOUT_FILENO)) return std::make_unique<Table>(output, locate);
  return std::make_unique<Tabbed>(output, locate);
}

}  // namespace dpcache::cli
