// Bodies that are JSON, read by simdjson.
#include <simdjson.h>

#include <utility>

#include "api/body.h"

namespace dpcache::server {

namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::element_type;
using simdjson::dom::object;

Status bad(std::string pointer, std::string detail, Error code = Error::bad_request) {
  return {code, 0, std::move(pointer), std::move(detail)};
}

// Parses a body; null, and says why, if it is no JSON object. The answer lives until the next call
// on this thread.
std::optional<object> parse(std::string& body, std::string& malformed) {
  static thread_local simdjson::dom::parser parser;
  body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  element root;
  if (const auto error = parser.parse(body.data(), body.size(), false).get(root)) {
    malformed = std::string("the body is no JSON: ") + simdjson::error_message(error);
    return {};
  }
  object fields;
  if (root.get(fields)) {
    malformed = "the body must be a JSON object";
    return {};
  }
  return fields;
}

Status read_vector(const element& from, std::vector<float>& floats, Slice& slice,
                   const std::string& pointer) {
  slice.begin = floats.size();
  std::string_view base64;
  array list;
  if (!from.get(base64)) {
    if (!append_base64(base64, floats)) {
      return bad(pointer, "is not base64 of little-endian float32");
    }
  } else if (!from.get(list)) {
    std::size_t i = 0;
    for (const element one : list) {
      double number = 0;
      if (one.get(number)) {
        return bad(pointer + "/" + std::to_string(i), "must be a number");
      }
      floats.push_back(static_cast<float>(number));
      ++i;
    }
  } else {
    return bad(pointer, "must be an array of numbers or base64");
  }
  slice.size = floats.size() - slice.begin;
  return {};
}

template <class T>
Status read_text(const element& from, T& out, const std::string& pointer) {
  std::string_view text;
  if (from.get(text)) return bad(pointer, "must be a string");
  out = std::string(text);
  return {};
}

template <class T>
Status read_integer(const element& from, std::optional<T>& out, const std::string& pointer) {
  T number = 0;
  if (from.get(number)) return bad(pointer, "must be an integer");
  out = number;
  return {};
}

Status read_bytes(const element& from, std::string& bytes, const std::string& pointer) {
  std::string_view text;
  if (from.get(text)) return bad(pointer, "must be a string");
  auto decoded = from_base64(text);
  if (!decoded) return bad(pointer, "is not base64");
  bytes = std::move(*decoded);
  return {};
}

// What items and queries share; none: another field.
template <class One>
std::optional<Status> read_common(std::string_view name, const element& value, One& one,
                                  std::vector<float>& floats) {
  if (name == "key") return read_vector(value, floats, one.key, "/key");
  if (name == "text") return read_text(value, one.text, "/text");
  if (name == "time") return read_integer(value, one.time, "/time");
  if (name == "encoder") return read_text(value, one.encoder, "/encoder");
  return {};
}

Status read_field(std::string_view name, const element& value, SentItem& item,
                  std::vector<float>& floats) {
  if (const auto status = read_common(name, value, item, floats)) return *status;
  if (name == "value") return read_vector(value, floats, item.value, "/value");
  if (name == "exact_key") return read_text(value, item.exact_key, "/exact_key");
  if (name == "ttl_ms") return read_integer(value, item.ttl_ms, "/ttl_ms");
  if (name == "id") return read_text(value, item.id, "/id");
  if (name == "guard_text") return read_text(value, item.guard_text, "/guard_text");
  if (name == "scope") return read_text(value, item.scope, "/scope");
  if (name == "payload") {
    if (!item.payload.empty()) return bad("/payload", "a payload or its bytes, not both");
    item.payload = simdjson::minify(value);
    return {};
  }
  if (name == "payload_base64") {
    if (!item.payload.empty()) return bad("/payload_base64", "a payload or its bytes, not both");
    return read_bytes(value, item.payload, "/payload_base64");
  }
  return bad("/" + std::string(name), "items have no such field");
}

Status read_field(std::string_view name, const element& value, SentQuery& query,
                  std::vector<float>& floats) {
  if (const auto status = read_common(name, value, query, floats)) return *status;
  if (name == "k") return read_integer(value, query.k, "/k");
  return bad("/" + std::string(name), "queries have no such field");
}

Status read_field(std::string_view name, const element& value, SentLookup& query,
                  std::vector<float>& floats) {
  if (const auto status = read_common(name, value, query, floats)) return *status;
  if (name == "exact_key") return read_text(value, query.exact_key, "/exact_key");
  if (name == "guard_text") return read_text(value, query.guard_text, "/guard_text");
  if (name == "scope") return read_text(value, query.scope, "/scope");
  return bad("/" + std::string(name), "lookups have no such field");
}

bool is_shared_field(std::string_view name) {
  return name == "key" || name == "text" || name == "time" || name == "encoder";
}
bool is_field(std::string_view name, const SentItem& /*item*/) {
  return is_shared_field(name) || name == "value" || name == "exact_key" || name == "ttl_ms" ||
         name == "payload_base64" || name == "id" || name == "guard_text" || name == "scope";
}
bool is_field(std::string_view name, const SentQuery& /*query*/) {
  return is_shared_field(name) || name == "k";
}
bool is_field(std::string_view name, const SentLookup& /*query*/) {
  return is_shared_field(name) || name == "exact_key" || name == "guard_text" || name == "scope";
}

// A null is the same as nothing, where it has no meaning of its own.
void take_null(std::string_view /*name*/, SentItem& /*item*/) {}
void take_null(std::string_view name, SentQuery& query) {
  if (name == "time") query.at_no_time = true;
}

bool has_guard_text(const SentItem& item) {
  return !item.guard_text.empty();
}
bool has_guard_text(const SentLookup& query) {
  return !query.guard_text.empty();
}
bool has_guard_text(const SentQuery& /*query*/) {
  return false;
}

template <class One>
Status read_one(const element& from, One& one, std::vector<float>& floats) {
  object fields;
  if (from.get(fields)) return bad("", "must be an object");
  bool key = false;
  for (const auto field : fields) {
    // As a payload a null is one.
    if (field.value.type() == element_type::NULL_VALUE && is_field(field.key, one)) {
      take_null(field.key, one);
      continue;
    }
    if (Status status = read_field(field.key, field.value, one, floats); !status) return status;
    key |= field.key == "key";
  }
  if (key && one.text) return bad("/text", "a key or a text, not both");
  if (!key && !one.text) return bad("/key", "a key or a text is needed");
  if (one.text && has_guard_text(one)) {
    return bad("/guard_text", "a text is for the guards too: guard_text goes with a key");
  }
  return {};
}

template <class One>
Sent<One> read_batch(std::string& body, std::string_view list_name, bool takes_k) {
  Sent<One> sent;
  const auto fields = parse(body, sent.malformed);
  if (!fields) return sent;
  array list;
  bool found = false;
  for (const auto field : *fields) {
    if (field.key == list_name) {
      if (field.value.get(list)) {
        sent.malformed = "'" + std::string(list_name) + "' must be an array";
        return sent;
      }
      found = true;
    } else if (takes_k && field.key == "k") {
      std::uint64_t k = 0;
      if (field.value.get(k)) {
        sent.malformed = "'k' must be an integer, and not negative";
        return sent;
      }
      sent.k = k;
    } else {
      sent.malformed = "there is no field '" + std::string(field.key) + "' here";
      return sent;
    }
  }
  if (!found) {
    sent.malformed = "the body has no '" + std::string(list_name) + "'";
    return sent;
  }
  std::size_t count = 0;
  for ([[maybe_unused]] const element one : list) ++count;
  if (count == 0 || count > kMostItems) {
    sent.malformed = "'" + std::string(list_name) + "' must have 1 to " +
                     std::to_string(kMostItems) + " members, not " + std::to_string(count);
    return sent;
  }
  sent.list.resize(count);
  std::size_t i = 0;
  for (const element one : list) {
    if (Status status = read_one(one, sent.list[i], sent.floats); !status) {
      sent.list[i] = {};  // which the library refuses too
      status.index = i;
      sent.errors.push_back(std::move(status));
    }
    ++i;
  }
  return sent;
}

}  // namespace

Sent<SentItem> read_items_json(std::string& body) {
  return read_batch<SentItem>(body, "items", false);
}

Result<SentSplit> read_split(std::string& body) {
  std::string malformed;
  const auto fields = parse(body, malformed);
  if (!fields) return bad("", std::move(malformed));
  SentSplit split;
  for (const auto field : *fields) {
    const auto number = [&](std::uint64_t& to) {
      const bool fits = !field.value.get(to) && to >= 1 && to <= std::uint64_t{kMaxInteger};
      return fits ? Status{}
                  : bad("/" + std::string(field.key), "must be an integer from 1 to 2^53 - 1");
    };
    Status status;
    if (field.key == "slot") {
      status = number(split.slot);
    } else if (field.key == "member") {
      status = number(split.member.emplace());
    } else if (field.key == "id") {
      status = read_text(field.value, split.id, "/id");
      if (status && split.id.empty()) status = bad("/id", "must be a string, and not empty");
    } else if (field.key == "item") {
      split.item.list.assign(1, {});
      status = read_one(field.value, split.item.list.back(), split.item.floats);
      if (!status) status.pointer.insert(0, "/item");
    } else {
      status = bad("/" + std::string(field.key), "there is no such field");
    }
    if (!status) return status;
  }
  if (split.slot == 0) return bad("/slot", "is needed");
  if (split.member.has_value() != split.id.empty()) {
    return bad("/member", "a member or its id is needed, not both");
  }
  return split;
}

Sent<SentLookup> read_lookups_json(std::string& body) {
  return read_batch<SentLookup>(body, "queries", false);
}

Sent<SentItem> read_items_lines(std::string& body) {
  static thread_local simdjson::dom::parser parser;
  Sent<SentItem> sent;
  body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  for (std::size_t begin = 0; begin < body.size();) {
    const std::size_t end = std::min(body.find('\n', begin), body.size());
    const std::string_view line = std::string_view(body).substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (sent.list.size() == kMostItems) {
      sent.malformed = "a batch has at most " + std::to_string(kMostItems) + " lines";
      return sent;
    }
    sent.list.emplace_back();
    element root;
    Status status;
    if (const auto error = parser.parse(line.data(), line.size(), false).get(root)) {
      status = bad("", std::string("is no JSON: ") + simdjson::error_message(error));
    } else {
      status = read_one(root, sent.list.back(), sent.floats);
    }
    if (status) continue;
    sent.list.back() = {};  // which the library refuses too
    status.index = sent.list.size() - 1;
    sent.errors.push_back(std::move(status));
  }
  if (sent.list.empty()) sent.malformed = "the body has no line with an item";
  return sent;
}

Sent<SentQuery> read_queries_json(std::string& body) {
  return read_batch<SentQuery>(body, "queries", true);
}

}  // namespace dpcache::server
