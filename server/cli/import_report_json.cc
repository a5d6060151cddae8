// An import's position and outcome as JSON.
#include <nlohmann/json.hpp>

#include "cli/import_report.h"
#include "cli/json_text.h"

namespace dpcache::cli {

std::string write_position(const ImportPosition& position) {
  nlohmann::ordered_json json;
  json["file"] = position.file;
  json["rows"] = position.rows;
  json["imported"] = position.imported;
  json["bad"] = position.bad;
  return json_text(json);
}

std::optional<ImportPosition> read_position(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto number = [&json](const char* name) -> std::optional<std::uint64_t> {
    const auto found = json.find(name);
    if (found == json.end() || !found->is_number_unsigned()) return std::nullopt;
    return found->get<std::uint64_t>();
  };
  const auto rows = number("rows");
  const auto imported = number("imported");
  const auto bad = number("bad");
  const auto file = json.find("file");
  if (!rows || !imported || !bad || file == json.end() || !file->is_string()) return std::nullopt;
  return ImportPosition{file->get<std::string>(), *rows, *imported, *bad};
}

std::string json_of(const ImportReport& report) {
  nlohmann::ordered_json json;
  json["file"] = report.done.file;
  json["memory"] = report.memory;
  json["rows"] = report.done.rows;
  json["before"] = report.before;
  json["imported"] = report.done.imported;
  json["bad"] = report.done.bad;
  json["opened"] = report.opened;
  json["merged"] = report.merged;
  json["slots"] = report.slots;
  json["bytes"] = report.bytes;
  return json_text(json);
}

}  // namespace dpcache::cli
