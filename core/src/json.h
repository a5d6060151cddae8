// The one place where core's types meet JSON: see also to_json and config_from_json in config.h.
#ifndef DPCACHE_SRC_JSON_H_
#define DPCACHE_SRC_JSON_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "state.h"

namespace dpcache {

// The header of a safetensors file.
struct TensorInfo {
  std::string name;
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0;  // bytes from the end of the header
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  std::vector<TensorInfo> tensors;
};

std::string to_json(const SafetensorsHeader& header);
// None: not the header of a safetensors file.
std::optional<SafetensorsHeader> header_from_json(std::string_view json);

std::string to_json(const Counters& counters);  // without the state hash
std::optional<Counters> counters_from_json(std::string_view json);

}  // namespace dpcache

#endif  // DPCACHE_SRC_JSON_H_
