// Items and slots as JSON Lines.
//
// A line is walked over once, to find where each field's value stands; then each value is read by
// its kind. So a payload keeps its very bytes, and a number goes from text to float32 with one
// rounding.
#include "cli/item_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <system_error>

#include "api/body.h"
#include "cli/terminal.h"

namespace dpcache::cli {
namespace {

using nlohmann::json;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Walks over one JSON text and finds where things stand; whether they are right is asked later.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }
  // With its quotes; empty: there is none.
  std::string_view string() {
    skip_blanks();
    const auto begin = at_;
    if (at_ >= text_.size() || text_[at_] != '"') return {};
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == '"') {
        ++at_;
        return text_.substr(begin, at_ - begin);
      }
    }
    return {};
  }
  // Up to the comma or bracket behind it; empty: there is none.
  std::string_view value() {
    skip_blanks();
    const auto begin = at_;
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        if (string().empty()) return {};
        continue;
      }
      if (c == '[' || c == '{') ++depth;
      if (c == ']' || c == '}' || c == ',') {
        if (depth == 0) break;
        if (c != ',') --depth;
      }
      ++at_;
    }
    auto end = at_;
    while (end > begin && is_blank(text_[end - 1])) --end;
    return text_.substr(begin, end - begin);
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?
bool is_number(std::string_view text) {
  std::size_t at = 0;
  const auto here = [&] { return at < text.size() ? text[at] : '\0'; };
  const auto digits = [&] {
    const auto begin = at;
    while (is_digit(here())) ++at;
    return at > begin;
  };
  if (here() == '-') ++at;
  if (here() == '0') {
    ++at;
  } else if (!digits()) {
    return false;
  }
  if (here() == '.') {
    ++at;
    if (!digits()) return false;
  }
  if (here() == 'e' || here() == 'E') {
    ++at;
    if (here() == '+' || here() == '-') ++at;
    if (!digits()) return false;
  }
  return at == text.size();
}

// Nothing: it is not a number, or beyond float32.
std::optional<float> float_of(std::string_view text) {
  if (!is_number(text)) return std::nullopt;
  float number = 0;
  const auto* end = text.data() + text.size();
  if (std::from_chars(text.data(), end, number).ec == std::errc()) return number;
  double wide = 0;  // too large, or too small, which is 0
  if (std::from_chars(text.data(), end, wide).ec != std::errc()) return std::nullopt;
  number = static_cast<float>(wide);
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

std::string too_long() {
  return ": has more than " + std::to_string(kMaxDimension) + " components";
}

// What is wrong, or nothing; so do those below.
std::string read_text(std::string_view from, std::string& out, const std::string& field) {
  const auto parsed = json::parse(from, nullptr, false);
  if (!parsed.is_string()) {
    return field + (from.starts_with('"') ? ": is not a string of UTF-8" : ": must be a string");
  }
  out = parsed.get_ref<const std::string&>();
  return {};
}

std::string read_floats(std::string_view from, std::vector<float>& out, const std::string& field) {
  out.clear();
  Walker walk(from);
  if (from[0] == '"') {
    // An escaped slash is a slash.
    if (from.size() > 12 * std::size_t{kMaxDimension}) return field + too_long();
    std::string text;
    if (auto fault = read_text(from, text, field); !fault.empty()) return fault;
    if (!server::append_base64(text, out))
      return field + ": is not base64 of little-endian float32";
    if (out.size() > kMaxDimension) return field + too_long();
    return {};
  }
  if (!walk.take('[')) return field + ": must be an array of numbers, or base64";
  if (walk.take(']')) return {};
  do {
    if (out.size() == kMaxDimension) return field + too_long();
    const auto number = float_of(walk.value());
    if (!number) return field + '/' + std::to_string(out.size()) + ": must be a number";
    out.push_back(*number);
  } while (walk.take(','));
  if (!walk.take(']') || !walk.at_end()) return field + ": is an array that does not end";
  return {};
}

std::string read_bytes(std::string_view from, std::string& out, const std::string& field) {
  std::string text;
  if (auto fault = read_text(from, text, field); !fault.empty()) return fault;
  auto bytes = server::from_base64(text);
  if (!bytes) return field + ": is not base64";
  out = std::move(*bytes);
  return {};
}

template <class Read>
std::string read_list(std::string_view from, std::vector<std::string>& out,
                      const std::string& field, Read read) {
  Walker walk(from);
  if (!walk.take('[')) return field + ": must be an array of strings";
  if (walk.take(']')) return {};
  do {
    const auto place = field + '/' + std::to_string(out.size());
    const auto one = walk.value();
    std::string text;
    if (auto fault = read(one, text, place); !fault.empty()) return fault;
    out.push_back(std::move(text));
  } while (walk.take(','));
  if (!walk.take(']') || !walk.at_end()) return field + ": is an array that does not end";
  return {};
}

std::string read_integer(std::string_view from, std::optional<std::int64_t>& out,
                         const std::string& field) {
  std::int64_t number = 0;
  const auto* end = from.data() + from.size();
  const auto result = std::from_chars(from.data(), end, number);
  if (!is_number(from) || result.ec != std::errc() || result.ptr != end || number > kMaxInteger ||
      number < -kMaxInteger) {
    return field + ": must be an integer within 2^53 of 0";
  }
  out = number;
  return {};
}

// Fields are known by a bit, so that none is given twice.
enum Field : std::uint32_t {
  key_field,
  text_field,
  value_field,
  payload_field,
  payload_base64_field,
  exact_key_field,
  exact_keys_field,
  exact_keys_base64_field,
  time_field,
  first_time_field,
  expires_field,
  ttl_field,
  encoder_field,
  passed_over_field,
  unknown_field,
};

struct Named {
  std::string_view name;
  Field field;
};

constexpr Named kFields[] = {{"key", key_field},
                             {"text", text_field},
                             {"value", value_field},
                             {"payload", payload_field},
                             {"payload_base64", payload_base64_field},
                             {"exact_key", exact_key_field},
                             {"exact_keys", exact_keys_field},
                             {"exact_keys_base64", exact_keys_base64_field},
                             {"time", time_field},
                             {"first_time", first_time_field},
                             {"expires", expires_field},
                             {"ttl_ms", ttl_field},
                             {"encoder", encoder_field},
                             {"id", passed_over_field},
                             {"usage", passed_over_field},
                             {"count", passed_over_field},
                             {"last_time", passed_over_field}};

Field field_of(std::string_view name) {
  for (const auto& [known, field] : kFields) {
    if (known == name) return field;
  }
  return unknown_field;
}

class RowReader {
 public:
  RowReader(std::string_view line, ImportRow& row) : walk_(line), row_(row) {
    row_.key.clear();
    row_.value.clear();
    row_.text.reset();
    row_.payload.clear();
    row_.exact_keys.clear();
    row_.time.reset();
    row_.ttl_ms.reset();
    row_.encoder.clear();
  }

  std::string read() {
    if (!walk_.take('{')) return "is not a JSON object";
    if (!walk_.take('}')) {
      do {
        if (auto fault = read_member(); !fault.empty()) return fault;
      } while (walk_.take(','));
      if (!walk_.take('}')) return "is a JSON object that does not end";
    }
    if (!walk_.at_end()) return "has something behind its JSON object";
    return finish();
  }

 private:
  std::string read_member() {
    const auto quoted = walk_.string();
    if (quoted.empty()) return "is not a JSON object: the name of a field is missing";
    std::string name;
    if (!read_text(quoted, name, "").empty()) return "has a field whose name is no string";
    if (!walk_.take(':')) return '/' + name + ": a colon is missing";
    const auto value = walk_.value();
    if (value.empty()) return '/' + name + ": a value is missing";
    const auto field = field_of(name);
    if (field == unknown_field) return '/' + name.substr(0, 40) + ": rows have no such field";
    if (field != passed_over_field) {
      if ((seen_ >> field & 1U) != 0) return '/' + name + ": is there twice";
      seen_ |= 1U << field;
    }
    if (value == "null") return {};
    return read_value(field, value, '/' + name);
  }

  std::string read_value(Field field, std::string_view from, const std::string& name) {
    switch (field) {
      case key_field:
        return read_floats(from, row_.key, name);
      case value_field:
        return read_floats(from, row_.value, name);
      case text_field:
        return read_text(from, row_.text.emplace(), name);
      case payload_field:
        if (!row_.payload.empty()) return name + ": a payload or its bytes, not both";
        if (!json::accept(from)) return name + ": is not JSON";
        row_.payload = from;
        return {};
      case payload_base64_field:
        if (!row_.payload.empty()) return name + ": a payload or its bytes, not both";
        return read_bytes(from, row_.payload, name);
      case exact_key_field:
        return read_text(from, row_.exact_keys.emplace_back(), name);
      case exact_keys_field:
        return read_list(from, row_.exact_keys, name, read_text);
      case exact_keys_base64_field:
        return read_list(from, row_.exact_keys, name, read_bytes);
      case time_field:
        return read_integer(from, row_.time, name);
      case first_time_field:
        return read_integer(from, first_time_, name);
      case expires_field:
        return read_integer(from, expires_, name);
      case ttl_field:
        return read_integer(from, row_.ttl_ms, name);
      case encoder_field:
        return read_text(from, row_.encoder, name);
      case passed_over_field:
        // A usage can be beyond the largest double, which the server spells 1e999.
        return is_number(from) || json::accept(from) ? "" : name + ": is not JSON";
      case unknown_field:
        break;
    }
    return {};
  }

  std::string finish() {
    if (!row_.key.empty() && row_.text) return "/text: a key or a text, not both";
    if (row_.key.empty() && !row_.text) return "/key: a key or a text is needed";
    if (!row_.time) row_.time = first_time_;
    if (expires_ && !row_.ttl_ms) {
      if (!row_.time) return "/expires: needs a time or first_time to count from";
      row_.ttl_ms = *expires_ - *row_.time;
      if (*row_.ttl_ms < 0) return "/expires: is before the time of the item";
    }
    return {};
  }

  Walker walk_;
  ImportRow& row_;
  std::optional<std::int64_t> first_time_;
  std::optional<std::int64_t> expires_;
  std::uint32_t seen_ = 0;
};

std::string quoted(std::string_view text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

bool is_utf8(std::string_view text) {
  try {
    [[maybe_unused]] const auto dumped = json(text).dump();
    return true;
  } catch (const json::type_error&) {
    return false;
  }
}

void append_floats(std::span<const float> floats, Floats form, std::string& out) {
  if (form == Floats::base64) {
    const std::string_view bytes(reinterpret_cast<const char*>(floats.data()), floats.size_bytes());
    out.append(1, '"').append(server::to_base64(bytes)).append(1, '"');
    return;
  }
  out += '[';
  for (const float x : floats) {
    if (out.back() != '[') out += ',';
    out += shortest(x);
  }
  out += ']';
}

}  // namespace

std::string read_row(std::string_view line, ImportRow& row) {
  return RowReader(line, row).read();
}

void write_row(const Slot& slot, std::string_view encoder, Floats keys, std::string& out) {
  out.append("{\"id\":").append(std::to_string(slot.id));
  if (keys != Floats::none) {
    out += ",\"key\":";
    append_floats(slot.key, keys, out);
  }
  if (!slot.value.empty()) {
    out += ",\"value\":";
    append_floats(slot.value, keys == Floats::base64 ? keys : Floats::decimal, out);
  }
  const auto payload = slot.payload;
  if (!payload.empty() && payload.find_first_of("\n\r") == std::string_view::npos &&
      payload != "null" && json::accept(payload)) {
    out.append(",\"payload\":").append(payload);
  } else if (!payload.empty()) {
    out.append(",\"payload_base64\":\"").append(server::to_base64(payload)).append(1, '"');
  }
  if (!slot.exact_keys.empty()) {
    const bool text = std::all_of(slot.exact_keys.begin(), slot.exact_keys.end(), is_utf8);
    out += text ? ",\"exact_keys\":[" : ",\"exact_keys_base64\":[";
    for (const auto key : slot.exact_keys) {
      if (out.back() != '[') out += ',';
      out += text ? quoted(key) : '"' + server::to_base64(key) + '"';
    }
    out += ']';
  }
  out.append(",\"usage\":").append(std::isfinite(slot.usage) ? json(slot.usage).dump() : "1e999");
  out.append(",\"count\":").append(std::to_string(slot.count));
  out.append(",\"first_time\":").append(std::to_string(slot.first_time));
  out.append(",\"last_time\":").append(std::to_string(slot.last_time));
  if (slot.expires) out.append(",\"expires\":").append(std::to_string(*slot.expires));
  if (!encoder.empty()) out.append(",\"encoder\":").append(quoted(encoder));
  out += "}\n";
}

}  // namespace dpcache::cli
