// Tensors on their way into a memory file.
#ifndef DPCACHE_SRC_SNAPSHOT_WRITER_H_
#define DPCACHE_SRC_SNAPSHOT_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "digits.h"
#include "hash.h"
#include "json.h"
#include "snapshot.h"

namespace dpcache {

// Lays tensors one behind the other, by two passes of the same calls: the first notes their names
// and sizes, the second, when the header is known, writes their bytes.
class TensorWriter {
 public:
  // Whether the tensor's bytes are to follow now, by append(): false in the first pass.
  bool add(const char* name, const char* dtype, std::vector<std::uint64_t> shape,
           std::uint64_t size) {
    if (!file_.empty()) return true;
    header_.tensors.push_back({name, dtype, std::move(shape), size_, size_ + size});
    size_ += size;
    return false;
  }
  void append(std::span<const std::byte> bytes) {
    file_.insert(file_.end(), bytes.begin(), bytes.end());
  }
  // A tensor whose bytes stand together.
  void add(const char* name, const char* dtype, std::vector<std::uint64_t> shape,
           std::span<const std::byte> bytes) {
    if (add(name, dtype, std::move(shape), bytes.size())) append(bytes);
  }
  template <class T>
  void add_numbers(const char* name, const char* dtype, std::span<const T> numbers) {
    add(name, dtype, {numbers.size()}, std::as_bytes(numbers));
  }

  void end_first_pass(std::map<std::string, std::string> metadata) {
    using namespace snapshot;
    metadata[kChecksum] = std::string(kChecksumDigits, '0');
    header_.metadata = std::move(metadata);
    std::string json = to_json(header_);
    const std::size_t end = kLengthBytes + json.size();
    json.append((kDataAlignment - end % kDataAlignment) % kDataAlignment, ' ');

    const std::uint64_t length = json.size();
    file_.reserve(kLengthBytes + json.size() + static_cast<std::size_t>(size_));
    append(std::as_bytes(std::span(&length, 1)));
    append(std::as_bytes(std::span(json)));
    digits_ = kLengthBytes + json.find(kChecksumMark) + kChecksumMark.size();
  }

  std::vector<std::byte> file() && {
    const std::string checksum = hex(hash64_with_blank(file_, digits_, snapshot::kChecksumDigits));
    std::memcpy(file_.data() + digits_, checksum.data(), snapshot::kChecksumDigits);
    return std::move(file_);
  }

 private:
  SafetensorsHeader header_;
  std::uint64_t size_ = 0;  // bytes of all tensors
  std::vector<std::byte> file_;
  std::size_t digits_ = 0;  // where the checksum's begin
};

// Texts of varying length: offsets, and bytes one behind the other.
struct Texts {
  std::vector<std::int64_t> offsets{0};
  std::vector<std::string_view> texts;

  void append(std::string_view text) {
    texts.push_back(text);
    offsets.push_back(offsets.back() + static_cast<std::int64_t>(text.size()));
  }
  void write(const char* name, TensorWriter& writer) const {
    const auto size = static_cast<std::uint64_t>(offsets.back());
    if (!writer.add(name, "U8", {size}, size)) return;
    for (std::string_view text : texts) writer.append(std::as_bytes(std::span(text)));
  }
};

#if DPCACHE_TRUST
// What a ledger holds, as tensors: in three parts, for numbers of 8 bytes, of 4, and bytes. Each is
// written only where there is something to write.
class LedgerTensors {
 public:
  explicit LedgerTensors(const CacheState& state);
  void write_long(TensorWriter& writer) const;
  void write_short(TensorWriter& writer) const;
  void write_bytes(TensorWriter& writer) const;

 private:
  struct Listed {
    SlotId slot;
    const Entry* entry;
  };
  template <class T, class Get>
  void scalars(TensorWriter& writer, const char* name, const char* dtype, Get get) const;
  template <class Get>
  void matrix(TensorWriter& writer, const char* name, std::size_t width, Get get) const;

  const CacheState& state_;
  std::vector<Listed> entries_;
  std::vector<const Entry::Kept*> kept_;
  Texts ids_;
  Texts payloads_;
  Texts exact_keys_;
  Texts member_texts_;
  Texts member_scopes_;
  Texts texts_;
  Texts scopes_;
  std::vector<std::int64_t> text_slots_;
  std::vector<std::int64_t> centered_;
  std::vector<std::int64_t> apart_;
  std::vector<std::int64_t> reviews_;
  std::vector<float> review_similarities_;
};
#endif

}  // namespace dpcache

#endif  // DPCACHE_SRC_SNAPSHOT_WRITER_H_
