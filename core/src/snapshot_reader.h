// Tensors as they are taken out of a memory file, none of which is trusted.
#ifndef DPCACHE_SRC_SNAPSHOT_READER_H_
#define DPCACHE_SRC_SNAPSHOT_READER_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json.h"
#include "state.h"

namespace dpcache {

inline Status bad(std::string_view detail) {
  return {Error::bad_snapshot, 0, "", std::string(detail)};
}

// A file whose checksum and layout are right.
struct File {
  SafetensorsHeader header;
  std::span<const std::byte> data;  // behind the header
};

// The numbers of a tensor, which need not be aligned in the file.
template <class T>
class Numbers {
 public:
  explicit Numbers(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::size_t size() const { return bytes_.size() / sizeof(T); }
  T operator[](std::size_t i) const {
    T value{};
    std::memcpy(&value, bytes_.data() + i * sizeof(T), sizeof(T));
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
};

// Takes the known tensors out of a file, and remembers what was wrong.
class TensorReader {
 public:
  explicit TensorReader(const File& file) : file_(file) {}

  const Status& status() const { return status_; }
  void refuse(std::string_view detail) {
    if (status_) status_ = bad(detail);
  }

  // The bytes of a tensor of this type and shape; kAny stands for any length.
  static constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
  std::span<const std::byte> take(const char* name, std::string_view dtype,
                                  const std::vector<std::uint64_t>& shape) {
    taken_.emplace_back(name);
    for (const TensorInfo& tensor : file_.header.tensors) {
      if (tensor.name != name) continue;
      bool fits = tensor.dtype == dtype && tensor.shape.size() == shape.size();
      for (std::size_t i = 0; fits && i < shape.size(); ++i) {
        fits = shape[i] == kAny || shape[i] == tensor.shape[i];
      }
      if (!fits) break;
      return file_.data.subspan(static_cast<std::size_t>(tensor.begin),
                                static_cast<std::size_t>(tensor.end - tensor.begin));
    }
    refuse(std::string("tensor ") + name + " is missing or has another type or shape");
    return {};
  }
  // None if they were refused.
  template <class T>
  Numbers<T> numbers(const char* name, std::string_view dtype, std::uint64_t count) {
    return Numbers<T>(take(name, dtype, {count}));
  }

#if DPCACHE_TRUST
  // Whether the file has one of these.
  template <class Names>
  bool has_any(const Names& names) const {
    const std::vector<TensorInfo>& tensors = file_.header.tensors;
    return std::any_of(tensors.begin(), tensors.end(), [&](const TensorInfo& tensor) {
      return std::find(names.begin(), names.end(), tensor.name) != names.end();
    });
  }
#endif

  std::vector<ExtraTensor> others() const {
    std::vector<ExtraTensor> extras;
    for (const TensorInfo& tensor : file_.header.tensors) {
      if (std::find(taken_.begin(), taken_.end(), tensor.name) != taken_.end()) continue;
      const auto bytes = file_.data.subspan(static_cast<std::size_t>(tensor.begin),
                                            static_cast<std::size_t>(tensor.end - tensor.begin));
      extras.push_back({tensor.name, tensor.dtype, tensor.shape, {bytes.begin(), bytes.end()}});
    }
    return extras;
  }

 private:
  const File& file_;
  std::vector<std::string_view> taken_;
  Status status_;
};

template <class T>
bool all_finite(std::span<const T> x) {
  return std::all_of(x.begin(), x.end(), [](T value) { return std::isfinite(value); });
}

// Whether no number is farther from 0 than `most`; NaN is.
template <class T>
bool all_within(std::span<const T> x, T most) {
  return std::all_of(x.begin(), x.end(), [most](T value) { return std::fabs(value) <= most; });
}

// Offsets begin at 0, never fall, and end at the number of bytes.
inline bool are_offsets(const Numbers<std::int64_t>& offsets, std::size_t bytes) {
  if (offsets.size() == 0 || offsets[0] != 0) return false;
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i - 1] > offsets[i]) return false;
  }
  return static_cast<std::uint64_t>(offsets[offsets.size() - 1]) == bytes;
}

inline std::string_view text_between(std::span<const std::byte> bytes, std::int64_t begin,
                                     std::int64_t end) {
  return {reinterpret_cast<const char*>(bytes.data()) + begin,
          static_cast<std::size_t>(end - begin)};
}

// One matrix of the file, read row by row: its rows need not be aligned there.
template <class T>
class RowReader {
 public:
  RowReader(std::span<const std::byte> bytes, std::size_t width)
      : bytes_(bytes), row_(bytes.empty() ? 0 : width) {}
  std::span<const T> next() {
    const std::size_t size = row_.size() * sizeof(T);
    if (size != 0) std::memcpy(row_.data(), bytes_.data() + at_, size);
    at_ += size;
    return row_;
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::vector<T> row_;
};

#if DPCACHE_TRUST
// What stands beside the slots, which have been read.
Status read_ledger(TensorReader& reader, CacheState& state);
#endif

}  // namespace dpcache

#endif  // DPCACHE_SRC_SNAPSHOT_READER_H_
