// Payloads and own masks as JSON.
#include "cli/example_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace dpcache::cli {
namespace {

using nlohmann::json;

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

std::string quote(std::string_view text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

// Whether JSON needs no escape in any of it. Most lines of most logs.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; });
}

std::size_t count_replacements(std::string_view text) {
  std::size_t count = 0;
  for (auto at = text.find(kReplacement); at != std::string_view::npos;
       at = text.find(kReplacement, at + kReplacement.size())) {
    ++count;
  }
  return count;
}

std::string latin1_to_utf8(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
    } else {
      out += static_cast<char>(0xC0U | (byte >> 6U));
      out += static_cast<char>(0x80U | (byte & 0x3FU));
    }
  }
  return out;
}

// Nothing if a character is above U+00FF.
std::optional<std::string> utf8_to_latin1(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
      out += text[at];
    } else if ((byte == 0xC2 || byte == 0xC3) && at + 1 < text.size()) {
      const auto next = static_cast<unsigned char>(text[++at]);
      out += static_cast<char>(((byte & 3U) << 6U) | (next & 0x3FU));
    } else {
      return std::nullopt;
    }
  }
  return out;
}

// The first kExampleBytes, without a character cut in two.
std::string_view start_of(std::string_view text) {
  std::size_t size = kExampleBytes;
  for (int back = 0; back < 3 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U;
       ++back) {
    --size;
  }
  return text.substr(0, size);
}

}  // namespace

void ExampleWriter::set_file(std::string_view name) {
  file_ = quote(name);
}

std::string_view ExampleWriter::write(std::string_view text, std::uint64_t line) {
  const auto whole = text.size();
  if (whole > kExampleBytes) text = start_of(text);
  json_ = "{\"text\":";
  bool valid = true;
  if (is_plain(text)) {
    json_.append(1, '"').append(text).append(1, '"');
  } else {
    const auto quoted = quote(text);
    valid = count_replacements(quoted) == count_replacements(text);
    json_ += quoted;
  }
  json_.append(",\"file\":").append(file_).append(",\"line\":").append(std::to_string(line));
  if (text.size() < whole) json_.append(",\"bytes\":").append(std::to_string(whole));
  if (!valid) json_.append(",\"latin1\":").append(quote(latin1_to_utf8(text)));
  json_ += '}';
  return json_;
}

Example read_example(std::string_view payload) {
  Example example;
  const auto parsed = json::parse(payload, nullptr, false);
  const auto text = parsed.is_object() ? parsed.find("text") : parsed.end();
  if (!parsed.is_object() || text == parsed.end() || !text->is_string()) {
    example.text = payload;
    return example;
  }
  example.text = text->get<std::string>();
  if (const auto latin1 = parsed.find("latin1"); latin1 != parsed.end() && latin1->is_string()) {
    if (auto bytes = utf8_to_latin1(latin1->get_ref<const std::string&>())) {
      example.text = std::move(*bytes);
    }
  }
  if (const auto file = parsed.find("file"); file != parsed.end() && file->is_string()) {
    example.file = file->get<std::string>();
  }
  if (const auto line = parsed.find("line"); line != parsed.end() && line->is_number_unsigned()) {
    example.line = line->get<std::uint64_t>();
  }
  if (const auto bytes = parsed.find("bytes");
      bytes != parsed.end() && bytes->is_number_unsigned()) {
    example.bytes = bytes->get<std::uint64_t>();
  }
  return example;
}

std::string write_masks(const std::vector<OwnMask>& masks) {
  auto list = json::array();
  for (const auto& mask : masks) list.push_back({{"name", mask.name}, {"regex", mask.regex}});
  return list.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<std::vector<OwnMask>> read_masks(std::string_view text) {
  const auto parsed = json::parse(text, nullptr, false);
  if (!parsed.is_array()) return std::nullopt;
  std::vector<OwnMask> masks;
  for (const auto& entry : parsed) {
    if (!entry.is_object() || !entry.contains("name") || !entry.contains("regex") ||
        !entry["name"].is_string() || !entry["regex"].is_string()) {
      return std::nullopt;
    }
    masks.push_back({entry["name"].get<std::string>(), entry["regex"].get<std::string>()});
  }
  return masks;
}

}  // namespace dpcache::cli
