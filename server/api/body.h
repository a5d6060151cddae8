// What clients send: items and queries, as JSON or as plain floats.
#ifndef DPCACHE_SERVER_API_BODY_H_
#define DPCACHE_SERVER_API_BODY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dpcache/cache.h"
#include "dpcache/text.h"

namespace dpcache::server {

inline constexpr std::size_t kMostItems = 4096;  // of a batch

// A part of `floats`.
struct Slice {
  std::size_t begin = 0;
  std::size_t size = 0;
};

struct SentItem {
  Slice key;
  Slice value;
  std::optional<std::string> text;
  std::string payload;  // JSON, other bytes, or nothing
  std::optional<std::string> exact_key;
  std::optional<std::int64_t> time;
  std::optional<std::int64_t> ttl_ms;
  std::string encoder;
  std::string id;
  std::string guard_text;  // for the guards, where the item has a key and no text
  std::string scope;
};

struct SentQuery {
  Slice key;
  std::optional<std::string> text;
  std::optional<std::uint64_t> k;
  std::optional<std::int64_t> time;
  bool at_no_time = false;  // null was sent: nothing has expired
  std::string encoder;
};

struct SentLookup : SentQuery {
  std::optional<std::string> exact_key;
  std::string guard_text;
  std::string scope;
};

template <class One>
struct Sent {
  std::vector<float> floats;
  std::vector<One> list;
  std::optional<std::uint64_t> k;  // of all queries
  std::vector<Status> errors;      // what is wrong with single ones, by index
  std::string malformed;           // what is wrong with the whole; then nothing else counts
};

// {"items": [item, …]}
Sent<SentItem> read_items_json(std::string& body);
// An item a line; empty lines are passed over. A line that is no JSON is an error of its item.
Sent<SentItem> read_items_lines(std::string& body);
// {"queries": [query, …], "k": 10}
Sent<SentQuery> read_queries_json(std::string& body);
// {"queries": [lookup, …]}
Sent<SentLookup> read_lookups_json(std::string& body);
// {"slot": 3, "member": 17}, or {"slot": 3, "id": "a"}; and "item", as one of a batch, where the
// cache does not have it. What is wrong with the item is among its errors.
struct SentSplit {
  SlotId slot = 0;
  std::optional<std::uint64_t> member;  // its number
  std::string id;                       // or its id
  Sent<SentItem> item;                  // a list of one, or none
};
Result<SentSplit> read_split(std::string& body);
// n rows of `dimension` floats, little-endian; of items each with a value behind its key.
Sent<SentItem> read_items_floats(std::string_view body, std::size_t dimension,
                                 std::size_t value_dimension);
Sent<SentQuery> read_queries_floats(std::string_view body, std::size_t dimension);

// The bytes of base64 (RFC 4648 §4, padded); none: it is not.
std::optional<std::string> from_base64(std::string_view text);
std::string to_base64(std::string_view bytes);
// Floats from base64, little-endian; false: they are none.
bool append_base64(std::string_view text, std::vector<float>& floats);

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_API_BODY_H_
