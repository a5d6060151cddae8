// Vectors out of .npy and safetensors files. The header of a .npy file is a Python dict of three
// known keys; what else Python would accept there is refused.
#include "cli/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "cli/failure.h"
#include "cli/safetensors.h"
#include "cli/signals.h"
#include "dpcache/config.h"

namespace dpcache::cli {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kBuffer = 64 * 1024;
constexpr std::size_t kMaxHeader = 64 * 1024;  // numpy itself writes under 200 bytes
constexpr const char* kWanted = "float32, float16 or int8 (in numpy: x.astype('float32'))";

// IEEE 754 half to single precision; exact.
float from_half(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t{half & 0x8000U} << 16U;
  const std::uint32_t exponent = (half >> 10U) & 0x1FU;
  const std::uint32_t fraction = half & 0x3FFU;
  if (exponent == 0) {
    const float tiny = static_cast<float>(fraction) * 0x1p-24F;
    return sign == 0 ? tiny : -tiny;
  }
  const std::uint32_t wide = exponent == 31 ? 255U : exponent + (127U - 15U);
  return std::bit_cast<float>(sign | (wide << 23U) | (fraction << 13U));
}

// Walks over the header's text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool take(std::string_view token) {
    skip_blanks();
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  std::optional<std::string_view> quoted() {
    skip_blanks();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) return std::nullopt;
    const auto end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    const auto inside = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return inside;
  }
  std::optional<std::uint64_t> number() {
    skip_blanks();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc()) return std::nullopt;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return value;
  }
  bool at_end() {
    skip_blanks();
    return text_.empty();
  }

 private:
  void skip_blanks() {
    text_.remove_prefix(std::min(text_.find_first_not_of(" \t\n"), text_.size()));
  }
  std::string_view text_;
};

struct Header {
  std::optional<std::string_view> type;
  std::optional<bool> fortran;
  std::optional<std::vector<std::uint64_t>> shape;
};

std::optional<std::vector<std::uint64_t>> scan_shape(Scanner& scan) {
  std::vector<std::uint64_t> shape;
  if (!scan.take("(")) return std::nullopt;
  while (!scan.take(")")) {
    const auto length = scan.number();
    if (!length || shape.size() == 32) return std::nullopt;
    shape.push_back(*length);
    if (!scan.take(",")) return scan.take(")") ? std::optional(shape) : std::nullopt;
  }
  return shape;
}

// Nothing if this is not a dict of exactly the three keys, each once.
std::optional<Header> scan_header(std::string_view text) {
  Scanner scan(text);
  Header header;
  if (!scan.take("{")) return std::nullopt;
  while (!scan.take("}")) {
    const auto key = scan.quoted();
    if (!key || !scan.take(":")) return std::nullopt;
    if (*key == "descr" && !header.type) {
      header.type = scan.quoted();
      if (!header.type) return std::nullopt;
    } else if (*key == "fortran_order" && !header.fortran) {
      header.fortran = scan.take("True");
      if (!*header.fortran && !scan.take("False")) return std::nullopt;
    } else if (*key == "shape" && !header.shape) {
      header.shape = scan_shape(scan);
      if (!header.shape) return std::nullopt;
    } else {
      return std::nullopt;
    }
    if (!scan.take(",")) {
      if (!scan.take("}")) return std::nullopt;
      break;
    }
  }
  if (!scan.at_end() || !header.type || !header.fortran || !header.shape) return std::nullopt;
  return header;
}

[[noreturn]] void fail(const Input& input, const std::string& what) {
  throw Failure(Exit::input, input.title() + ": " + what);
}

// Fills `to` unless the input ends; how much there was.
std::size_t read_all(Input& input, char* to, std::size_t size) {
  std::size_t filled = 0;
  while (filled < size) {
    const auto got = input.read(to + filled, size - filled);
    if (got == 0) break;
    filled += got;
  }
  return filled;
}

}  // namespace

NpyReader::NpyReader(Input input, OneAxis one_axis) : input_(std::move(input)) {
  read_header(one_axis);
}

std::size_t NpyReader::row_size() const noexcept {
  constexpr std::array<std::size_t, 4> kSizes{4, 2, 1, 2};
  return columns_ * kSizes[static_cast<std::size_t>(type_)];
}

NpyReader::NpyReader(Input input, InTensor tensor) : input_(std::move(input)) {
  read_tensor(tensor.name);
}

NpyReader NpyReader::of_safetensors(Input input, const std::string& name) {
  return {std::move(input), InTensor{name}};
}

void NpyReader::read_tensor(std::string_view name) {
  std::uint64_t length = 0;
  std::array<char, sizeof length> start{};
  if (read_all(input_, start.data(), start.size()) < start.size()) {
    fail(input_, "ends inside its header (the file was cut)");
  }
  std::memcpy(&length, start.data(), sizeof length);
  if (length < 2 || length > kMostHeader) {
    fail(input_, "has a header of " + std::to_string(length) +
                     " bytes; expected 2 to 4 MiB (is it safetensors?)");
  }
  std::string header(static_cast<std::size_t>(length), '\0');
  if (read_all(input_, header.data(), header.size()) < header.size()) {
    fail(input_, "ends inside its header (the file was cut)");
  }
  const Tensor tensor = find_tensor(header, std::string(name), input_.title());
  type_ = tensor.type;
  rows_ = tensor.rows;
  columns_ = tensor.columns;
  others_follow_ = true;
  const auto expected = sizeof length + length + tensor.end;
  if (input_.size() && !input_.is_gzip() && input_.name() != "-" && *input_.size() != expected) {
    fail(input_, "has " + std::to_string(*input_.size()) + " bytes; its header promises " +
                     std::to_string(expected) + (*input_.size() < expected ? ": it was cut" : ""));
  }
  pass_over(tensor.begin);
}

void NpyReader::pass_over(std::uint64_t bytes) {
  std::vector<char> room(kBuffer);
  while (bytes > 0 && !stopping()) {
    const auto got =
        input_.read(room.data(), static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kBuffer)));
    if (got == 0 && !stopping()) fail(input_, "ends before its first row (the file was cut)");
    bytes -= got;
  }
}

void NpyReader::read_header(OneAxis one_axis) {
  std::array<char, 12> start{};
  if (read_all(input_, start.data(), 8) < 8 ||
      !std::string_view(start.data(), 8).starts_with(kNpyMagic)) {
    fail(input_, "is not a .npy file");
  }
  const auto version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3) {
    fail(input_, "is .npy version " + std::to_string(version) + "; versions 1, 2 and 3 are known");
  }
  const std::size_t length_size = version == 1 ? 2 : 4;
  std::uint32_t length = 0;
  if (read_all(input_, start.data() + 8, length_size) < length_size) {
    fail(input_, "ends inside its header (the file was cut)");
  }
  std::memcpy(&length, start.data() + 8, length_size);
  if (length > kMaxHeader) fail(input_, "has a header of more than 64 KiB (is it damaged?)");
  std::string header(length, '\0');
  if (read_all(input_, header.data(), length) < length) {
    fail(input_, "ends inside its header (the file was cut)");
  }
  parse(header, one_axis);
  check_size(8 + length_size + length);
}

void NpyReader::parse(std::string_view text, OneAxis one_axis) {
  const auto header = scan_header(text);
  if (!header) fail(input_, "has a header that is not numpy's (is it damaged?)");
  if (*header->type == "<f4") {
    type_ = Type::float32;
  } else if (*header->type == "<f2") {
    type_ = Type::float16;
  } else if (*header->type == "|i1" || *header->type == "<i1") {
    type_ = Type::int8;
  } else {
    fail(input_, "holds numbers of type " + std::string(header->type->substr(0, 20)) +
                     "; expected " + kWanted);
  }
  const auto& shape = *header->shape;
  if (*header->fortran && shape.size() > 1) {
    fail(input_, "is in Fortran order; expected C order (in numpy: np.ascontiguousarray(x))");
  }
  if (shape.empty() || shape.size() > 2) {
    fail(input_, "has " + std::to_string(shape.size()) + " axes; expected 2: rows of vectors");
  }
  rows_ = shape[0];
  auto columns = shape.back();
  if (shape.size() == 1) (one_axis == OneAxis::vector ? rows_ : columns) = 1;
  if (columns == 0 || columns > kMaxDimension) {
    fail(input_, "has vectors of length " + std::to_string(columns) + "; expected 1 to " +
                     std::to_string(kMaxDimension));
  }
  columns_ = static_cast<std::uint32_t>(columns);
  if (rows_ > std::numeric_limits<std::uint64_t>::max() / 2 / row_size()) {
    fail(input_, "claims more rows than any file can hold (is it damaged?)");
  }
}

// Where the size is known, a wrong one is told before the first row is used.
void NpyReader::check_size(std::uint64_t header_size) const {
  if (!input_.size() || input_.is_gzip() || input_.name() == "-") return;
  const auto expected = header_size + rows_ * row_size();
  if (*input_.size() == expected) return;
  fail(input_, "has " + std::to_string(*input_.size()) + " bytes; its header promises " +
                   std::to_string(expected) + " (" + std::to_string(rows_) + " rows of " +
                   std::to_string(columns_) + (*input_.size() < expected ? "): it was cut" : ")"));
}

bool NpyReader::next(std::span<float> row) {
  const auto size = row_size();
  if (at_ == filled_) {
    const auto left = rows_ - row_;
    if (left == 0 && others_follow_) return false;
    buffer_.resize(std::max(size, kBuffer / size * size));
    const auto wanted = std::min<std::uint64_t>(left * size, buffer_.size());
    at_ = 0;
    filled_ = read_all(input_, buffer_.data(), wanted == 0 ? 1 : static_cast<std::size_t>(wanted));
    if (stopping()) return false;
    if (wanted == 0) {
      if (filled_ > 0) fail(input_, "has bytes behind its last row (is it damaged?)");
      return false;
    }
    if (filled_ < wanted) {
      fail(input_, "ends in row " + std::to_string(row_ + filled_ / size + 1) + " of " +
                       std::to_string(rows_) + " (the file was cut)");
    }
  }
  const char* from = buffer_.data() + at_;
  switch (type_) {
    case Type::float32:
      std::memcpy(row.data(), from, size);
      break;
    case Type::float16:
      for (float& to : row) {
        std::uint16_t half = 0;
        std::memcpy(&half, from, sizeof half);
        from += sizeof half;
        to = from_half(half);
      }
      break;
    case Type::bfloat16:
      for (float& to : row) {  // the upper half of a float32
        std::uint16_t half = 0;
        std::memcpy(&half, from, sizeof half);
        from += sizeof half;
        to = std::bit_cast<float>(std::uint32_t{half} << 16U);
      }
      break;
    case Type::int8:
      for (float& to : row) to = static_cast<float>(static_cast<signed char>(*from++));
      break;
  }
  at_ += size;
  bytes_ += size;
  ++row_;
  return true;
}

}  // namespace dpcache::cli
