// A memory file taken apart, changed, and put together again with a right checksum: what a stranger
// can do who knows the format.
#ifndef DPCACHE_TESTS_NATIVE_MEMORY_FILE_H_
#define DPCACHE_TESTS_NATIVE_MEMORY_FILE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hash.h"

namespace dpcache::testing {

inline constexpr std::string_view kChecksumField = "\"dpcache.checksum\":\"";

// Writes the checksum that the bytes call for, if they have a place for one.
inline void seal(std::vector<std::byte>& file) {
  if (file.size() < 8) return;
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  length = std::min<std::uint64_t>(length, file.size() - 8);
  const std::string_view header(reinterpret_cast<const char*>(file.data()) + 8,
                                static_cast<std::size_t>(length));
  const std::size_t mark = header.find(kChecksumField);
  if (mark == std::string_view::npos) return;
  const std::size_t digits = 8 + mark + kChecksumField.size();
  if (digits + 16 > 8 + header.size()) return;
  const std::uint64_t hash = hash64_with_blank(file, digits, 16);
  for (std::size_t i = 0; i < 16; ++i) {
    file[digits + i] = static_cast<std::byte>("0123456789abcdef"[hash >> (60 - 4 * i) & 15U]);
  }
}

// A file of this header, padded as a memory file is, and these bytes behind it.
inline std::vector<std::byte> assemble(std::string header, std::span<const std::byte> data) {
  header.append((64 - (8 + header.size()) % 64) % 64, ' ');
  const std::uint64_t length = header.size();
  std::vector<std::byte> file(8 + header.size());
  std::memcpy(file.data(), &length, sizeof length);
  std::memcpy(file.data() + 8, header.data(), header.size());
  file.insert(file.end(), data.begin(), data.end());
  seal(file);
  return file;
}

class MemoryFile {
 public:
  using Json = nlohmann::ordered_json;
  struct Tensor {
    std::string name;
    std::string dtype;
    std::vector<std::uint64_t> shape;
    std::vector<std::byte> bytes;

    template <class T>
    std::vector<T> numbers() const {
      std::vector<T> out(bytes.size() / sizeof(T));
      if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
      return out;
    }
    // Replaces bytes and the first dimension, for a tensor of one dimension.
    template <class T>
    void assign(const std::vector<T>& numbers) {
      shape = {numbers.size()};
      bytes.resize(numbers.size() * sizeof(T));
      if (!numbers.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
    }
    template <class T>
    void set(std::size_t i, T value) {
      std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof value);
    }
  };

  explicit MemoryFile(std::span<const std::byte> file) {
    std::uint64_t length = 0;
    std::memcpy(&length, file.data(), sizeof length);
    const auto* text = reinterpret_cast<const char*>(file.data()) + 8;
    const Json header = Json::parse(text, text + length);
    const std::span<const std::byte> data = file.subspan(8 + static_cast<std::size_t>(length));
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") {
        metadata = entry;
        continue;
      }
      const std::size_t begin = entry["data_offsets"][0];
      const std::size_t end = entry["data_offsets"][1];
      const auto bytes = data.subspan(begin, end - begin);
      tensors.push_back(
          {name, entry["dtype"], entry["shape"], std::vector(bytes.begin(), bytes.end())});
    }
  }

  Tensor& tensor(std::string_view name) {
    return *std::find_if(tensors.begin(), tensors.end(),
                         [&](const Tensor& tensor) { return tensor.name == name; });
  }

  // Changes one of the numbers in dpcache.counters.
  void set_counter(const char* name, std::uint64_t value) {
    Json counters = Json::parse(metadata["dpcache.counters"].get<std::string>());
    counters[name] = value;
    metadata["dpcache.counters"] = counters.dump();
  }

  Json header() const {
    Json json;
    json["__metadata__"] = metadata;
    std::uint64_t at = 0;
    for (const Tensor& tensor : tensors) {
      json[tensor.name] = {{"dtype", tensor.dtype},
                           {"shape", tensor.shape},
                           {"data_offsets", {at, at + tensor.bytes.size()}}};
      at += tensor.bytes.size();
    }
    return json;
  }

  std::vector<std::byte> data() const {
    std::vector<std::byte> all;
    for (const Tensor& tensor : tensors) {
      all.insert(all.end(), tensor.bytes.begin(), tensor.bytes.end());
    }
    return all;
  }

  std::vector<std::byte> bytes() const { return assemble(header().dump(), data()); }

  Json metadata;
  std::vector<Tensor> tensors;
};

}  // namespace dpcache::testing

#endif  // DPCACHE_TESTS_NATIVE_MEMORY_FILE_H_
