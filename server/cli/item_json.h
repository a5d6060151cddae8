// Items and slots as JSON Lines: one object a line, with the names of the server's JSON.
#ifndef DPCACHE_CLI_ITEM_JSON_H_
#define DPCACHE_CLI_ITEM_JSON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dpcache/cache.h"

namespace dpcache::cli {

// An item that came from a file.
struct ImportRow {
  std::vector<float> key;           // empty: there is a text
  std::optional<std::string> text;  // to be encoded
  std::vector<float> value;
  std::string payload;  // bytes as they came
  std::vector<std::string> exact_keys;
  std::optional<std::int64_t> time;
  std::optional<std::int64_t> ttl_ms;
  std::string encoder;
};

// Reads {"key": [0.1, …], "value": […], "payload": …, "exact_key": "…", "time": 1700000000000, …};
// "key" and "value" may be base64 of little-endian float32, "text" may stand for "key",
// "payload_base64" and "exact_keys_base64" for bytes. Of a slot as the server lists it and
// write_row() writes it, "first_time" is the time and "expires" the end of the TTL; "id", "usage",
// "count" and "last_time" are passed over. Null is nothing. A payload keeps its bytes. Vectors have
// at most kMaxDimension components, which is checked while they are read. Empty on success; else
// what is wrong: "/key/3: must be a number". `row` keeps its memory from call to call.
std::string read_row(std::string_view line, ImportRow& row);

enum class Floats : std::uint8_t { decimal, base64, none };

// Appends the slot and a newline. A decimal float is the shortest that gives it back. Payloads that
// are no JSON, or have more than one line, go as base64, as do exact keys that are not UTF-8.
void write_row(const Slot& slot, std::string_view encoder, Floats keys, std::string& out);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_ITEM_JSON_H_
