// The header of a safetensors file.
#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/failure.h"
#include "cli/safetensors.h"
#include "dpcache/config.h"

namespace dpcache::cli {
namespace {

using nlohmann::json;

// The unsigned integer in a member of the array, or nothing.
std::optional<std::uint64_t> unsigned_at(const json& array, std::size_t at) {
  if (!array.is_array() || array.size() <= at || !array[at].is_number_unsigned()) {
    return std::nullopt;
  }
  return array[at].get<std::uint64_t>();
}

std::string names_in(const json& header) {
  constexpr std::size_t kMost = 10;
  std::string names;
  std::size_t count = 0;
  for (const auto& [name, unused] : header.items()) {
    if (name == "__metadata__") continue;
    if (++count > kMost) break;
    names.append(names.empty() ? "" : ", ").append(name.substr(0, 60));
  }
  return names.empty() ? "no tensors" : names + (count > kMost ? ", …" : "");
}

}  // namespace

bool looks_like_safetensors(std::string_view start) {
  std::uint64_t length = 0;
  if (start.size() < sizeof length + 1) return false;
  std::memcpy(&length, start.data(), sizeof length);
  return length >= 2 && length <= kMostHeader && start[sizeof length] == '{';
}

Tensor find_tensor(std::string_view text, const std::string& name, const std::string& title) {
  const auto fail = [&title](const std::string& what) {
    throw Failure(Exit::input, title + ": " + what);
  };
  const auto header = json::parse(text, nullptr, false);
  if (!header.is_object()) fail("has a header that is no JSON object (is it damaged?)");
  const auto found = header.find(name);
  if (found == header.end() || !found->is_object()) {
    fail("has no tensor '" + name + "'; there are: " + names_in(header) + " (--tensor NAME)");
  }
  const auto& one = *found;
  const auto type = one.value("dtype", json());
  Tensor tensor;
  std::uint64_t size = 4;
  if (type == "F32") {
    tensor.type = NpyReader::Type::float32;
  } else if (type == "F16") {
    tensor.type = NpyReader::Type::float16;
    size = 2;
  } else if (type == "BF16") {
    tensor.type = NpyReader::Type::bfloat16;
    size = 2;
  } else if (type == "I8") {
    tensor.type = NpyReader::Type::int8;
    size = 1;
  } else {
    fail("'" + name + "' holds numbers of type " + type.dump().substr(0, 20) +
         "; expected F32, F16, BF16 or I8");
  }
  const auto shape = one.value("shape", json());
  const auto rows = unsigned_at(shape, 0);
  const auto columns = unsigned_at(shape, 1);
  if (!rows || !columns || shape.size() != 2) {
    fail("'" + name + "' is no matrix; expected a shape of two numbers: rows of vectors");
  }
  if (*columns == 0 || *columns > kMaxDimension) {
    fail("'" + name + "' has vectors of length " + std::to_string(*columns) + "; expected 1 to " +
         std::to_string(kMaxDimension));
  }
  const auto offsets = one.value("data_offsets", json());
  const auto begin = unsigned_at(offsets, 0);
  const auto end = unsigned_at(offsets, 1);
  if (!begin || !end || *end < *begin ||
      *rows > std::numeric_limits<std::uint64_t>::max() / 2 / (*columns * size) ||
      *end - *begin != *rows * *columns * size) {
    fail("'" + name + "' has offsets that do not fit its shape (is it damaged?)");
  }
  tensor.rows = *rows;
  tensor.columns = static_cast<std::uint32_t>(*columns);
  tensor.begin = *begin;
  for (const auto& [other, value] : header.items()) {
    if (!value.is_object() || other == "__metadata__") continue;
    const auto last = unsigned_at(value.value("data_offsets", json()), 1);
    if (!last) fail("'" + other.substr(0, 60) + "' has no offsets (is it damaged?)");
    tensor.end = std::max(tensor.end, *last);
  }
  return tensor;
}

}  // namespace dpcache::cli
