// Rows for pipes and for people.
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/rows.h"
#include "cli/terminal.h"

namespace dpcache::cli {
namespace {

std::string where(const Example& first, Locate locate) {
  const auto line = first.line == 0 ? std::string("-") : std::to_string(first.line);
  return locate == Locate::line ? line : first.file + ':' + line;
}

// Says that a long line's example is only its start.
std::string cut_mark(const Example& first) {
  return first.bytes ? "... (" + std::to_string(*first.bytes) + " bytes)" : std::string();
}

// COUNT, LINE, example; the bytes as they came.
class Tabbed : public Printer {
 public:
  Tabbed(Output& output, Locate locate) : output_(output), locate_(locate) {}

  void row(const Row& row) override {
    output_.add(row.count);
    output_.add('\t');
    output_.add(where(row.first, locate_));
    output_.add('\t');
    output_.add(row.first.text);
    output_.add(cut_mark(row.first));
    output_.add('\n');
  }

  void assignment(const Assignment& assignment) override {
    output_.add(assignment.decision->slot);
    output_.add('\t');
    output_.add(assignment.bytes);
    output_.add('\n');
  }

 private:
  Output& output_;
  Locate locate_;
};

// The same in columns as wide as they need to be, with a heading, cut to the width of the terminal.
// While following, the widths must be guessed.
class Table : public Printer {
 public:
  Table(Output& output, Locate locate, Stream stream)
      : output_(output), locate_(locate), stream_(stream) {}

  void row(const Row& row) override {
    cells_.push_back({grouped(row.count), printable(where(row.first, locate_)), row.first.text});
    if (stream_ != Stream::nothing) finish();
  }

  void assignment(const Assignment& assignment) override {
    const auto columns = terminal_columns(STDOUT_FILENO);
    const auto slot = std::to_string(assignment.decision->slot);
    put_right(slot, 7);
    output_.add("  ");
    output_.add(printable(assignment.bytes,
                          columns - std::min(columns, std::max<std::size_t>(slot.size(), 7) + 2)));
    output_.add('\n');
  }

  void finish() override {
    if (cells_.empty()) return;
    if (!widths_known_) {
      count_width_ = 7;
      where_width_ = locate_ == Locate::line ? 8 : 16;
      if (stream_ == Stream::nothing) {
        count_width_ = 5;
        where_width_ = 4;
        for (const auto& cell : cells_) {
          count_width_ = std::max(count_width_, cell.count.size());
          where_width_ = std::max(where_width_, columns_of(cell.where));
        }
      }
      widths_known_ = true;
      put({"COUNT", "LINE", "EXAMPLE"});
    }
    for (const auto& cell : cells_) put(cell);
    cells_.clear();
  }

 private:
  struct Cells {
    std::string count;
    std::string where;
    std::string text;
  };

  void put_right(const std::string& text, std::size_t width) {
    for (auto columns = columns_of(text); columns < width; ++columns) output_.add(' ');
    output_.add(text);
  }

  void put(const Cells& cells) {
    put_right(cells.count, count_width_);
    output_.add("  ");
    put_right(cells.where, where_width_);
    output_.add("  ");
    const auto used = std::max(count_width_, cells.count.size()) + 2 +
                      std::max(where_width_, columns_of(cells.where)) + 2;
    // A narrow terminal wraps rather than show nothing.
    const auto columns = std::max(terminal_columns(STDOUT_FILENO), used + 20);
    output_.add(printable(cells.text, columns - used));
    output_.add('\n');
  }

  Output& output_;
  Locate locate_;
  Stream stream_;
  bool widths_known_ = false;
  std::size_t count_width_ = 0;
  std::size_t where_width_ = 0;
  std::vector<Cells> cells_;
};

}  // namespace

std::unique_ptr<Printer> text_printer(Output& output, Locate locate, Stream stream) {
  if (is_terminal(STDOUT_FILENO)) return std::make_unique<Table>(output, locate, stream);
  return std::make_unique<Tabbed>(output, locate);
}

}  // namespace dpcache::cli
