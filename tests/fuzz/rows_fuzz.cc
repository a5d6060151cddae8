// Bytes as a line of items, and as the header of a safetensors file: what is taken is JSON and
// means what a general reader says, and what is written of it reads back the same.
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/failure.h"
#include "cli/item_json.h"
#include "cli/safetensors.h"
#include "fuzz/input.h"

namespace dpcache::cli {
namespace {

using fuzz::require;
using nlohmann::json;

// One rounding here, two there.
bool are_near(float x, double expected) {
  const auto other = static_cast<float>(expected);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return x == other || std::nextafter(x, kInfinity) == other ||
         std::nextafter(x, -kInfinity) == other;
}

void check_key(const ImportRow& row, const json& parsed, const std::string& line) {
  if (row.text) {
    require(parsed.at("text") == *row.text, "another text:", line);
    return;
  }
  const auto& key = parsed.at("key");
  if (!key.is_array()) return;
  require(key.size() == row.key.size(), "another length:", line);
  for (std::size_t i = 0; i < row.key.size(); ++i) {
    require(are_near(row.key[i], key[i].get<double>()), "another number:", line);
  }
}

void check_line(const std::string& line) {
  ImportRow row;
  if (!read_row(line, row).empty()) return;
  const auto parsed = json::parse(line, nullptr, false);
  if (parsed.is_discarded() && line.find_first_of("eE") != std::string::npos) return;  // 1e999
  require(parsed.is_object(), "no JSON, and taken:", line);
  check_key(row, parsed, line);
  if (parsed.contains("payload") && !parsed["payload"].is_null()) {
    require(json::parse(row.payload) == parsed["payload"], "another payload:", line);
  }
  if (row.text || row.key.size() > 64 || row.value.size() > 64) return;

  // Through a cache, out, and in again.
  Config config;
  config.dimension = static_cast<std::uint32_t>(row.key.size());
  config.value_dimension = static_cast<std::uint32_t>(row.value.size());
  Cache cache = std::move(*Cache::create(config));
  Item item;
  item.key = row.key;
  item.value = row.value;
  item.payload = row.payload;
  item.time = row.time.value_or(0);
  item.ttl_ms = row.ttl_ms;
  for (std::size_t i = 0; i < std::max<std::size_t>(1, row.exact_keys.size()); ++i) {
    if (!row.exact_keys.empty()) item.exact_key = row.exact_keys[i];
    if (!cache.observe(item)) return;
  }
  const Slot slot = *cache.slot(1);
  for (const Floats form : {Floats::decimal, Floats::base64}) {
    std::string written;
    write_row(slot, row.encoder, form, written);
    require(written.find('\n') == written.size() - 1, "more than a line:", written);
    require(json::accept(written), "no JSON was written:", written);
    ImportRow again;
    const auto fault = read_row(written, again);
    require(fault.empty(), "what was written is refused:", fault + ' ' + written);
    require(std::equal(slot.key.begin(), slot.key.end(), again.key.begin(), again.key.end()),
            "another key:", written);
    require(
        std::equal(slot.value.begin(), slot.value.end(), again.value.begin(), again.value.end()),
        "another value:", written);
    require(again.payload == slot.payload, "another payload:", written);
    require(again.exact_keys.size() == slot.exact_keys.size(), "other exact keys:", written);
    for (std::size_t i = 0; i < slot.exact_keys.size(); ++i) {
      require(again.exact_keys[i] == slot.exact_keys[i], "another exact key:", written);
    }
    require(again.time == slot.first_time, "another time:", written);
    require(
        again.encoder == row.encoder ||
            !json::accept(json(row.encoder).dump(-1, ' ', false, json::error_handler_t::ignore)),
        "another encoder:", written);
  }
}

void check_header(const std::string& text) {
  looks_like_safetensors(text);
  Tensor tensor;
  try {
    tensor = find_tensor(text, "keys", "file");
  } catch (const Failure& failure) {
    require(std::string_view(failure.what()).starts_with("file: "),
            "no file is named:", failure.what());
    return;
  }
  constexpr std::size_t kSizes[] = {4, 2, 1, 2};
  const auto size = kSizes[static_cast<std::size_t>(tensor.type)];
  require(tensor.columns >= 1 && tensor.columns <= kMaxDimension, "columns out of range:", text);
  require(tensor.begin <= tensor.end &&
              tensor.end - tensor.begin >= tensor.rows * tensor.columns * size,
          "rows where there is no data:", text);
}

}  // namespace
}  // namespace dpcache::cli

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  dpcache::cli::check_line(text);
  dpcache::cli::check_header(text);
  return 0;
}
