// Tables of tab-separated fields.
#include "cli/table.h"

#include <algorithm>
#include <utility>

#include "cli/failure.h"
#include "cli/signals.h"

namespace dpcache::cli {

TableReader::TableReader(Input input, std::vector<std::string> columns)
    : lines_(std::move(input)), columns_(std::move(columns)) {
  if (read()) {
    find_columns();
  } else if (!stopping()) {
    fail("is empty; expected a header line with " + wanted());
  }
}

std::string TableReader::wanted() const {
  std::string names;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (i > 0) names += i + 1 == columns_.size() ? " and " : ", ";
    names += columns_[i];
  }
  return names + ", separated by tabs";
}

void TableReader::fail(const std::string& what) const {
  const auto place = line_ == 0 ? "" : ": line " + std::to_string(line_);
  throw Failure(Exit::input, lines_.input().title() + place + ": " + what);
}

// The fields of the next line that is not empty.
bool TableReader::read() {
  std::string_view line;
  do {
    if (!lines_.next_or_last(line)) return false;
    ++line_;
    if (line.ends_with('\r')) line.remove_suffix(1);
  } while (line.empty());
  fields_.clear();
  for (;;) {
    const auto tab = line.find('\t');
    fields_.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return true;
    line.remove_prefix(tab + 1);
  }
}

void TableReader::find_columns() {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (fields_[0].starts_with(kByteOrderMark)) fields_[0].remove_prefix(kByteOrderMark.size());
  width_ = fields_.size();
  for (const auto& name : columns_) {
    const auto found = std::find(fields_.begin(), fields_.end(), name);
    if (found == fields_.end()) {
      fail("has no column '" + name + "'; expected a header line with " + wanted());
    }
    if (std::find(found + 1, fields_.end(), name) != fields_.end()) {
      fail("has two columns '" + name + "'");
    }
    places_.push_back(static_cast<std::size_t>(found - fields_.begin()));
  }
}

bool TableReader::next() {
  if (stopping() || !read()) return false;
  if (fields_.size() != width_) {
    fail("has " + std::to_string(fields_.size()) + (fields_.size() == 1 ? " field" : " fields") +
         ", the header has " + std::to_string(width_) + " (fields are separated by tabs)");
  }
  return true;
}

}  // namespace dpcache::cli
